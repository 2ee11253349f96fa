"""A curve with its bounds: more points where it bends, a line with a band, a legend that states widths too small to see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from logphi.answers.bound import Bound
from logphi.answers.display import printed
from logphi.answers.status import Side
from logphi.arrays import Array
from logphi.plot.canvas import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# chosen: the requested relative width of bounds: thinner than the lines; a band shows where bounds are wider
RTOL = 1e-4

# chosen: the number of first points
_FIRST = 33
# chosen: how often the segments at a bend are halved
_ROUNDS = 6
# chosen: in units of the plot: a smaller deviation from a straight line is not seen
_STRAIGHT = 0.002
# chosen: in units of the plot: a shorter segment is not seen
_SHORTEST = 0.001
# derived: the lower end of logarithmic axes, whose margins must be doubles too
TINY = 1e-300
# chosen: factors of ten below the largest value within which bends are looked for
_DECADES = 20.0


@dataclass(frozen=True)
class Curve:
    """Points of a curve, each with its bounds."""

    name: str
    x: Array
    bounds: tuple[Bound, ...]

    @property
    def lower(self) -> Array:
        """Lower ends."""
        return np.array([bound.lower for bound in self.bounds])

    @property
    def value(self) -> Array:
        """The values."""
        return np.array([bound.value for bound in self.bounds])

    @property
    def upper(self) -> Array:
        """Upper ends."""
        return np.array([bound.upper for bound in self.bounds])

    @property
    def proved(self) -> bool:
        """Whether all bounds are proved."""
        return all(bound.ledger.proved for bound in self.bounds)


def traced(
    name: str,
    answer: Callable[[Array], Any],
    at: Array | tuple[float, float],
    *,
    log_x: bool = False,
    log_y: bool = False,
) -> Curve:
    """The curve of answers: at an array of points, or between two ends, with points that are denser where it bends."""
    if isinstance(at, tuple):
        return _refined(name, answer, at, log_x, log_y)
    return Curve(name, at, tuple(answer(at)))


def _refined(name: str, answer: Callable[[Array], Any], ends: tuple[float, float], log_x: bool, log_y: bool) -> Curve:
    low, high = ends

    def place(share: Array) -> Array:
        return np.clip(low * (high / low) ** share if log_x else low + share * (high - low), low, high)

    shares = np.linspace(0, 1, _FIRST)
    found: dict[float, Bound] = {}
    for _ in range(_ROUNDS):
        if shares.size == 0:
            break
        found.update(zip(shares.tolist(), answer(place(shares)), strict=True))
        known = np.array(sorted(found))
        shares = _halves(known, _height(np.array([found[share].value for share in known]), log_y))
    known = np.array(sorted(found))
    return Curve(name, place(known), tuple(found[share] for share in known))


def _height(value: Array, log_y: bool) -> Array:
    """The values as fractions of the height of the plot."""
    known = np.where(np.isfinite(value), value, np.nan)
    if log_y:
        with np.errstate(divide="ignore"):
            known = np.log10(known)
        known = np.clip(known, np.nanmax(known, initial=-_DECADES) - _DECADES, None)
    low, high = np.nanmin(known, initial=np.inf), np.nanmax(known, initial=-np.inf)
    height: Array = np.nan_to_num((known - low) / (high - low)) if high > low else np.zeros(value.size)
    return height


def _halves(x: Array, height: Array) -> Array:
    """The midpoints of the segments at a bend."""
    share = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
    off = np.abs(height[1:-1] - (height[:-2] + share * (height[2:] - height[:-2]))) > _STRAIGHT
    bent = np.append(off, False) | np.append(False, off)
    long = np.diff(x) > _SHORTEST
    halves: Array = ((x[1:] + x[:-1]) / 2)[bent & long]
    return halves


def draw(ax: Axes, curve: Curve, **given: Any) -> None:
    """Draw the line of values and the band from lower to upper bound; an infinite value is an arrow at the top."""
    look = style(ax, given)
    finite = np.isfinite(curve.value)
    least = TINY if ax.get_yscale() == "log" else -np.inf
    # on a logarithmic axis a line to zero leaves the plot
    height = np.where(curve.value >= least, curve.value, 0.0)
    ax.plot(curve.x, np.where(finite, height, np.nan), label=curve.name, **look)
    # infinite ends are drawn at the largest finite one
    known = [end[np.isfinite(end)] for end in (curve.value, curve.upper)]
    top = max((float(end.max()) for end in known if end.size), default=1.0)
    lower, upper = (np.clip(end, -np.inf, top) for end in (curve.lower, curve.upper))
    ax.fill_between(curve.x, lower, upper, where=finite & (curve.upper >= least), color=look["color"], alpha=0.25, linewidth=0)
    if not np.all(finite):
        _arrows(ax, curve.x[~finite], look["color"])


def _arrows(ax: Axes, x: Array, colour: Any) -> None:
    at_the_top = ax.get_xaxis_transform()
    ax.plot(x, np.ones(x.size), "^", color=colour, transform=at_the_top, clip_on=False, markersize=5, label="_infinite")
    ax.annotate("infinite", (float(x[0]), 1.0), (0, 5), xycoords=at_the_top, textcoords="offset points", fontsize="small")


def legend(ax: Axes, curves: Sequence[Curve], *more: str, loc: Literal["best", "upper left"] = "best") -> None:
    """Draw the legend: the names of the curves, what the bands are (or their width if too thin to see), and more lines."""
    ax.autoscale_view()
    line = max(one.get_linewidth() for one in ax.lines) * ax.figure.dpi / 72
    if max(_pixels(ax, curve) for curve in curves) > line:
        said = "bands from lower to upper bound"
    else:
        relative = ax.get_yscale() == "log"
        widest = max(_width(ax, curve, relative) for curve in curves)
        shown = float(printed(widest, Side.UPPER, 2))
        said = f"{'relative width' if relative else 'width'} of the bounds: at most {shown:g}"
    estimates = [curve.name for curve in curves if not curve.proved]
    if estimates:
        said += ", estimated" if len(estimates) == len(curves) else f"\nestimated: {', '.join(estimates)}"
    title = "\n".join((said, *more))
    ax.legend(title=title, title_fontsize="small", fontsize="small", frameon=False, alignment="left", loc=loc)


def _width(ax: Axes, curve: Curve, relative: bool) -> float:
    """The largest width, or relative width, of the bounds that are visible."""
    low, high = sorted(ax.get_ylim())
    widths = [
        bound.width / (bound.value or bound.upper) if relative else bound.width
        for bound in curve.bounds
        if bound.width > 0 and bound.upper >= low and bound.lower <= high
    ]
    return max(widths, default=0.0)


def _pixels(ax: Axes, curve: Curve) -> float:
    """The largest thickness of the band, in pixels."""
    low, high = sorted(ax.get_ylim())
    ends = [
        ax.transData.transform(np.column_stack([curve.x, np.clip(end, low, high)]))[:, 1] for end in (curve.lower, curve.upper)
    ]
    thick = ends[1] - ends[0]
    return float(np.max(thick[np.isfinite(curve.value)], initial=0.0))
