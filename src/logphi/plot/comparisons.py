"""A plot of the answers of all methods to one question."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from logphi.algebra.release import Mechanism
from logphi.answers.display import printed
from logphi.answers.status import Side
from logphi.comparison import APPROXIMATE, EXACT, LOWER, UPPER, Comparison, Row
from logphi.comparison import compare as compared
from logphi.inputs import check
from logphi.plot.canvas import COLOURS, GREY, canvas, mechanisms, named
from logphi.plot.methods import AXES, lines, sorted_rows, wide
from logphi.progress import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# the tip of a triangle points towards the truth
_LOOKS: dict[str, dict[str, Any]] = {
    EXACT: {"marker": "D", "color": COLOURS[6], "markersize": 6},
    UPPER: {"marker": "<", "color": COLOURS[0], "markersize": 6},
    LOWER: {"marker": ">", "color": COLOURS[2], "markersize": 6},
    APPROXIMATE: {"marker": "o", "color": COLOURS[1], "markersize": 6, "fillstyle": "none"},
}
# the side that a number is rounded to, outward
_SIDES = {UPPER: Side.UPPER, LOWER: Side.LOWER}
# chosen: inches for each method
_ROW = 0.27
# derived: the smallest value on a logarithmic axis: with a margin of a tenth of the axis, its lower end is a double too
_LEAST = 1e-270


def compare(
    of: Mechanism | Comparison,
    *,
    epsilon: Any = None,
    delta: Any = None,
    methods: Iterable[str] | None = None,
    labels: Iterable[str] = EXACT,
    ax: Axes | None = None,
) -> Axes:
    """Draw the answers of every method of ``lp.compare`` to one question, or to a range of questions.

    Parameters
    ----------
    of
        A mechanism; or a finished comparison, without a question and methods.
    epsilon, delta
        The question, exactly one of them. One number gives a chart with a row for each method: the exact answer as a line,
        bounds as triangles that point towards the truth, approximations as open circles; methods that do not apply are marked.
        An array gives a curve for each method, the exact one with its band. Epsilon is in nats.
    methods
        Names of the rows; all by default.
    labels
        A name for the exact answer, alone or in a list.
    ax
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes
        Next to every mark is its number; bounds are rounded outward.

    Raises
    ------
    ValueError, TypeError
        If not exactly one question is asked, or a method is unknown.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import logphi as lp
    >>> axes = lp.plot.compare(100 * lp.PureDP(epsilon=0.1), delta=1e-6)
    >>> [tick.get_text() for tick in axes.get_yticklabels()][:2]
    ['exact', 'optimal composition']
    """
    (called,) = named(labels, 1)
    if isinstance(of, Comparison):
        if (epsilon, delta, methods) != (None, None, None):
            raise ValueError("a comparison has its question already: give a mechanism to ask another one")
        return _chart(of, ax, called)
    (one,) = mechanisms((of,))
    asked = None if methods is None else tuple(methods)
    name, given = ("delta", delta) if epsilon is None else ("epsilon", epsilon)
    if np.ndim(given) == 0:
        return _chart(compared(one, epsilon=epsilon, delta=delta, methods=asked), ax, called)
    if epsilon is not None and delta is not None:
        raise ValueError(f"give either epsilon or delta, got epsilon={epsilon!r} and delta={delta!r}")
    points = check.real_array(name, given).ravel()
    tables = [compared(one, **{name: float(at)}, methods=asked) for at in shown(points, "comparisons")]
    ax = canvas(ax)
    ax.set_xlabel(AXES[name])
    lines(ax, points, tables, called)
    return ax


def _chart(table: Comparison, ax: Axes | None, called: str) -> Axes:
    rows = sorted_rows(table)
    ax = canvas(ax, (7.0, 1.3 + _ROW * len(rows)))
    ax.grid(visible=False, axis="y")
    values = np.array([row.value for row in rows if row.value is not None])
    finite = values[np.isfinite(values) & (values >= _LEAST)]
    ax.set_yscale("linear")
    if wide(finite):
        ax.set_xscale("log")
    # zero and infinity are marked at the edges of the picture
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    exact = table.exact
    if low <= exact.value <= high:
        tint = _LOOKS[EXACT]["color"]
        ax.axvspan(max(exact.lower, low), min(exact.upper, high), color=tint, alpha=0.25, linewidth=0)
        ax.axvline(exact.value, color=tint, linewidth=0.8, zorder=1)
    for place, row in enumerate(rows):
        _mark(ax, place, row, low, high)
    ax.set_yticks(range(len(rows)), [called if row.side == EXACT else row.name for row in rows])
    for tick, row in zip(ax.get_yticklabels(), rows, strict=True):
        tick.set_color("black" if row.value is not None else GREY)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.margins(x=0.1)
    given = r"$\delta$" if table.question == "epsilon" else r"$\varepsilon$"
    ax.set_xlabel(f"{AXES[table.question]} at {given} = {table.at:g}")
    for side in dict.fromkeys(row.side for row in rows if row.side):
        ax.plot([], [], linestyle="none", label=side, **_LOOKS[side])
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, fontsize="small", frameon=False)
    return ax


def _mark(ax: Axes, place: int, row: Row, low: float, high: float) -> None:
    """Draw the mark of a row with its number, or say that the method does not apply."""
    across = ax.get_yaxis_transform()
    if row.value is None:
        ax.text(0.02, place, "does not apply", color=GREY, fontsize="small", style="italic", va="center", transform=across)
        return
    number = printed(row.value, _SIDES.get(row.side), 4) if row.value < math.inf else "no bound"
    inside = low <= row.value <= high
    at, transform = (row.value, ax.transData) if inside else (float(row.value > high), across)
    ax.plot(at, place, transform=transform, clip_on=False, **_LOOKS[row.side])
    # the number stands where there is room
    first, here, last = ax.xaxis.get_transform().transform(np.array([low, row.value if inside else at, high]))
    right = here > (first + last) / 2 if inside else bool(at)
    side: dict[str, Any] = {"ha": "right", "xytext": (-6, 0)} if right else {"ha": "left", "xytext": (6, 0)}
    ax.annotate(number, (at, place), xycoords=transform, textcoords="offset points", va="center", fontsize="small", **side)
