"""The two orders of a pair, as words."""

from typing import Literal

OneDirection = Literal["remove", "add"]
DIRECTIONS: tuple[OneDirection, OneDirection] = ("remove", "add")
