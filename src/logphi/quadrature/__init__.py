"""Integrals inside of a transform: sums over nodes, with a bound of every error."""
