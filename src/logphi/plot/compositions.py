"""A plot of epsilon or delta against the number of repetitions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from logphi.algebra.release import Mechanism
from logphi.comparison import compare
from logphi.inputs import check
from logphi.plot.canvas import canvas, mechanisms, named
from logphi.plot.methods import lines
from logphi.progress import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def composition(
    of: Mechanism,
    counts: Iterable[int],
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    methods: Iterable[str] = (),
    labels: Iterable[str] = "exact",
    ax: Axes | None = None,
) -> Axes:
    """Draw epsilon at a fixed delta, or delta at a fixed epsilon, against the number of repetitions, with its band.

    Parameters
    ----------
    of
        The mechanism that is repeated.
    counts
        Numbers of repetitions, positive integers.
    delta, epsilon
        The one that is fixed, exactly one of them; epsilon is in nats.
    methods
        Names of rows of ``lp.compare`` to be drawn too, such as ``"basic composition"``, ``"advanced composition"`` or
        ``"Renyi, tradeoff"``. Where one does not apply it is left out, and the legend says so.
    labels
        A name for the exact curve, alone or in a list.
    ax
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes
        With the exact curve, its band from lower to upper bound, and a line for each method. Where the answer is infinite
        there is an arrow at the top.

    Raises
    ------
    ValueError, TypeError
        If not exactly one of delta and epsilon is given, a count is not a positive integer, or a method is unknown.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import logphi as lp
    >>> axes = lp.plot.composition(lp.Laplace(scale=20.0), [1, 10, 100], delta=1e-6, methods=["basic composition"])
    >>> axes.get_xlabel(), [line.get_label() for line in axes.lines]
    ('number of releases', ['exact', 'basic composition (upper bound)'])
    """
    (one,) = mechanisms((of,))
    repeated = [check.count("a count", count) for count in counts]
    if not repeated or not all(repeated):
        raise ValueError(f"counts must be numbers of repetitions, one or more and each at least 1, got {repeated!r}")
    asked, (name,) = tuple(methods), named(labels, 1)
    tables = [
        compare(count * one, epsilon=epsilon, delta=delta, methods=asked) for count in shown(repeated, "numbers of releases")
    ]
    ax = canvas(ax)
    ax.set_xlabel("number of releases")
    lines(ax, np.array(repeated, dtype=float), tables, name)
    return ax
