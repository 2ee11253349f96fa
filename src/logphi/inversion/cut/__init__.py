"""Integrals along the branch cut of the transform of a lognormal mean."""
