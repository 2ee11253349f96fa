"""Log-ratios of densities that are given by functions, and of truncated noise."""
