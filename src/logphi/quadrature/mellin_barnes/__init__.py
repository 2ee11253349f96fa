"""Moments of a mixture of likelihood ratios by Mellin-Barnes integrals, from the transform of the loss alone."""
