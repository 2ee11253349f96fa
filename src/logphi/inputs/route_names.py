"""The routes of the registry by name, for type checkers and for the command line, whose help loads nothing else.

A test compares them with the registry.
"""

from typing import Literal

RouteName = Literal[
    "contour",
    "lattice",
    "exact",
    "exponential",
    "smoothed",
    "discretized",
    "clipped",
    "buckets",
    "levy",
    "levy-sums",
    "levy-quadrature",
]
