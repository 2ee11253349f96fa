"""Answers of several methods as curves: the exact one with its band, bounds and approximations each in their own dashes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from logphi.arrays import Array
from logphi.comparison import APPROXIMATE, EXACT, LOWER, UPPER, Comparison, Row
from logphi.plot.canvas import COLOURS
from logphi.plot.curve import TINY, Curve, draw, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DASHES = {UPPER: "--", LOWER: "-.", APPROXIMATE: ":"}
AXES = {"delta": r"$\delta$", "epsilon": r"$\varepsilon$ (nats)"}
# chosen: axes whose numbers span more than this are logarithmic
_WIDE = 30.0


def lines(ax: Axes, x: Array, tables: Sequence[Comparison], name: str) -> None:
    """Draw one comparison for each point; a method is left out where it does not apply, and named in the legend."""
    question = tables[0].question
    exact = Curve(name, x, tuple(table.exact for table in tables))
    others, missing = heights_of(tables)
    if wide(x):
        ax.set_xscale("log")
    if wide(np.concatenate([exact.value, *others.values()])):
        ax.set_yscale("log")
    draw(ax, exact, marker=".")
    first = len(ax.get_legend_handles_labels()[1])
    for number, ((method, side), height) in enumerate(others.items(), first):
        ax.plot(x, height, DASHES[side], color=COLOURS[number % len(COLOURS)], linewidth=1.2, label=f"{method} ({side})")
    ax.set_ylabel(AXES[question])
    legend(ax, [exact], *(f"does not apply everywhere: {method}" for method in missing))


def heights_of(tables: Sequence[Comparison]) -> tuple[dict[tuple[str, str], Array], list[str]]:
    """The heights of each method and side, NaN where there is nothing to draw; and the methods that do not apply everywhere."""
    others: dict[tuple[str, str], Array] = {}
    missing: list[str] = []
    for at, table in enumerate(tables):
        for row in table.rows:
            if row.value is None:
                missing += [row.name] if row.name not in missing else []
            elif row.side != EXACT:
                heights = others.setdefault((row.name, row.side), np.full(len(tables), np.nan))
                # zero would leave a logarithmic axis
                heights[at] = row.value if TINY <= row.value < np.inf else np.nan
    return others, missing


def wide(numbers: Array) -> bool:
    """Whether positive numbers differ so much that their axis is logarithmic."""
    known = numbers[np.isfinite(numbers) & (numbers >= TINY)]
    return bool(known.size and np.all(numbers[np.isfinite(numbers)] >= 0) and known.max() > _WIDE * known.min())


def sorted_rows(table: Comparison) -> list[Row]:
    """The exact answer, then bounds from the best to the worst, approximations, and methods that do not apply."""
    order = {EXACT: 0, UPPER: 1, LOWER: 2, APPROXIMATE: 3, "": 4}

    def place(row: Row) -> tuple[int, float]:
        return order[row.side], abs(row.gap) if row.gap is not None else 0.0

    return sorted(table.rows, key=place)
