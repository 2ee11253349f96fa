"""Transforms that are integrals: sums over nodes, with a bound of every error."""
