"""Log-ratios of normal densities and of their mixtures."""
