"""Integrals along a bent contour, for few sampled normal pairs."""
