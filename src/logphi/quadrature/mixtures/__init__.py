"""Log-ratios of mixtures of normal densities: their values, trapezoidal sums for their transforms, envelopes, tails."""
