"""Axes, and how curves are distinguished: by colours that colour-blind readers can distinguish, dashes, and names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from logphi.algebra.release import Mechanism

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe & Ito 2008, *Color Universal Design*, without the yellow, which is too light for a line
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES = ("-", "--", "-.", ":")
GREY = "0.45"

# chosen: a name longer than this leaves no room for the curves
_LONGEST = 56
# numbers of seven digits or more are shortened, and the text of functions is left out
_LONG_NUMBER = re.compile(r"\d+\.\d{7,}(?:e-?\d+)?")
_FUNCTION = re.compile(r"<[^<>]*(?:<[^<>]*>)?[^<>]*>")


def canvas(ax: Axes | None, size: tuple[float, float] = (6.4, 4.4)) -> Axes:
    """The axes that were given, or those of a new figure of that size, in inches.

    Raises an ImportError if matplotlib is not installed.
    """
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as missing:
        raise ImportError("pictures need matplotlib: pip install matplotlib") from missing
    fresh = plt.subplots(figsize=size, layout="constrained")[1]
    fresh.spines[["top", "right"]].set_visible(False)
    fresh.grid(alpha=0.25, linewidth=0.6)
    return fresh


def style(ax: Axes, given: dict[str, Any]) -> dict[str, Any]:
    """The style of the next curve: as the user gives it, by default the next colour and dashes."""
    number = len(ax.get_legend_handles_labels()[1])
    own: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)]}
    return {"linewidth": 1.6, **own, **given}


def mechanisms(given: Sequence[Any]) -> Sequence[Mechanism]:
    """The mechanisms to draw, which are given as separate arguments or as one list.

    Raises a TypeError if something is not a mechanism, or there is none.
    """
    if len(given) == 1 and isinstance(given[0], Iterable) and not isinstance(given[0], str):
        given = list(given[0])
    if not given:
        raise TypeError("there is nothing to draw: give at least one mechanism")
    for one in given:
        if not isinstance(one, Mechanism):
            raise TypeError(f"only mechanisms can be drawn, got {one!r} of type {type(one).__name__}")
    return given


def names(given: Sequence[Mechanism], labels: Iterable[str] | None) -> list[str]:
    """A name for each mechanism: as the user gives it, by default its expression, shortened.

    Raises a ValueError if there are more or fewer names than mechanisms.
    """
    if labels is None:
        return [short(one) for one in given]
    return named(labels, len(given))


def named(labels: Iterable[str], number: int) -> list[str]:
    """The names that the user gives, in a list, or alone if there is only one.

    Raises a ValueError if their number is not that of the mechanisms.
    """
    listed = [labels] if isinstance(labels, str) else list(labels)
    if len(listed) != number:
        raise ValueError(f"labels must be as many as the mechanisms, {number}, got {listed!r}")
    return listed


def short(mechanism: Mechanism) -> str:
    """The expression of a mechanism; if it is long, its beginning and the number of further terms."""
    text = _plain(repr(mechanism))
    if len(text) <= _LONGEST:
        return text
    terms = mechanism.counted()
    one, count = terms[0]
    first = _plain(repr(one) if count == 1 else f"{count} * {one!r}")
    rest = f" and {len(terms) - 1} more" if len(terms) > 1 else ""
    room = _LONGEST - len(rest)
    return (first if len(first) <= room else first[: room - 1] + "…") + rest


def _plain(text: str) -> str:
    return _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.6g}", _FUNCTION.sub("…", text))
