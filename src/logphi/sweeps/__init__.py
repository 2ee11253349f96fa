"""Families of mechanisms over grids of their parameters, and where they are computed."""
