"""Random allocation: sums of likelihood ratios in the convex order."""
