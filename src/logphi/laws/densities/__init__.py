"""Log-ratios of densities in closed form, of truncated noise, and of densities that are given by functions."""
