"""The names of the methods, for type checkers and for the help of the command line, which imports nothing else.

A test compares them with the registry of routes.
"""

from typing import Literal

RouteName = Literal[
    "contour",
    "lattice",
    "atoms",
    "exact",
    "exponential",
    "smoothed",
    "discretized",
    "clipped",
    "bent",
    "branch-cut",
    "buckets",
    "levy",
    "levy-sums",
    "levy-quadrature",
]

# this one is not a route: a release answers it itself, in ball arithmetic, as only it knows how its parameters were written
CERTIFIED = "certified"
MethodName = RouteName | Literal["certified"]


def is_certified(method: object) -> bool:
    """Whether a method, as an argument or of an answer, is that of ball arithmetic."""
    return method == CERTIFIED
