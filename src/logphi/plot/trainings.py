"""A plot of epsilon against the epochs of training runs, with the Renyi accountant for comparison."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from logphi.algebra.release import Mechanism
from logphi.comparison import compare
from logphi.inputs import check
from logphi.plot.canvas import COLOURS, canvas, mechanisms, names
from logphi.plot.curve import Curve, draw, legend
from logphi.plot.methods import AXES, DASHES, heights_of
from logphi.progress import shown
from logphi.training import Training

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# chosen: the number of steps at which epsilon is computed, denser at the beginning, where it rises fastest
_POINTS = 20
# the method of most accountants of training
RENYI = "Renyi, integer orders"


def training(
    *of: Training | Iterable[Training],
    delta: float,
    methods: Iterable[str] = (RENYI,),
    labels: Iterable[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw epsilon at a fixed delta against the epochs of training runs, with its band, and other methods as dashed lines.

    Parameters
    ----------
    *of
        Runs, as :func:`logphi.dp_sgd` makes them, or one list of them; a curve for each, from its first step to its last.
    delta
        In (0, 1).
    methods
        Names of rows of ``lp.compare``, in the colour of their run: by default the Renyi accountant, with integer orders. Where
        one does not apply it is left out, and the legend says so. An empty list draws the exact curves only.
    labels
        Names for the legend, one for each run.
    ax
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes
        With a line and a band from lower to upper bound for each run, and a dashed line for each method.

    Raises
    ------
    ValueError, TypeError
        If delta is not within its range, something is not a training run, or a method is unknown.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import logphi as lp
    >>> run = lp.dp_sgd(dataset_size=1000, batch_size=50, epochs=4, noise_multiplier=2)
    >>> axes = lp.plot.training(run, delta=1e-5, labels=["noise 2"])
    >>> axes.get_xlabel(), [line.get_label() for line in axes.lines]
    ('epochs', ['noise 2', 'noise 2: Renyi, integer orders (upper bound)'])
    """
    drawn = [_run(one) for one in mechanisms(of)]
    named = names(drawn, [_name(one) for one in drawn] if labels is None else labels)
    level = float(check.unit("delta", delta))
    if not 0 < level < 1:
        raise ValueError(f"delta must lie between 0 and 1, got {delta!r}: Gaussian noise has no largest loss")
    asked = tuple(methods)
    points = [(one, count) for one in drawn for count in _counts(one)]
    tables = {
        (one, count): compare(one.after(count), delta=level, methods=asked) for one, count in shown(points, "steps of training")
    }
    ax = canvas(ax)
    curves, missing = [], dict[str, None]()
    for number, (one, name) in enumerate(zip(drawn, named, strict=True), len(ax.get_legend_handles_labels()[1])):
        own = [tables[one, count] for count in _counts(one)]
        epochs = np.array([float(count * one.rate) for count in _counts(one)])
        curve = Curve(name, epochs, tuple(table.exact for table in own))
        colour = COLOURS[number % len(COLOURS)]
        draw(ax, curve, color=colour, linestyle="-")
        curves.append(curve)
        others, absent = heights_of(own)
        for (method, side), height in others.items():
            ax.plot(epochs, height, DASHES[side], color=colour, linewidth=1.2, label=f"{name}: {method} ({side})")
        missing.update(dict.fromkeys(absent))
    ax.set(xlabel="epochs", ylabel=f"{AXES['epsilon']} at $\\delta$ = {level:g}")
    legend(ax, curves, *(f"does not apply everywhere: {method}" for method in missing))
    return ax


def _run(one: Mechanism) -> Training:
    if not isinstance(one, Training):
        raise TypeError(
            f"only training runs have epochs: draw what lp.dp_sgd makes, got {one!r}; lp.plot.composition draws others"
        )
    return one


def _name(run: Training) -> str:
    return f"noise {run.noise_multiplier:g}, batches of {run.logical_batch}"


def _counts(run: Training) -> list[int]:
    last = _POINTS - 1
    return sorted({1 + (run.steps - 1) * at**2 // last**2 for at in range(_POINTS)})
