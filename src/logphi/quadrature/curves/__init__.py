"""Losses that are curves over one variable: Gauss-Legendre sums on panels, and bounds of their decay."""
