"""Lognormal variables: the Laplace transform of one, and the moments of the mean of several."""
