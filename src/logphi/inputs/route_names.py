"""The methods by name, for type checkers and for the command line, whose help loads nothing else.

A test compares the routes with the registry.
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

# routes are of doubles; in ball arithmetic a release answers itself, as only it knows how its parameters were written
CERTIFIED = "certified"
Method = RouteName | Literal["certified"]


def is_certified(method: object) -> bool:
    """Whether a method, asked for or of an answer, is ball arithmetic."""
    return method == CERTIFIED
