"""Plots of privacy profiles, trade-off functions, losses and comparisons: the bounds as bands, drawn by matplotlib.

Every function draws into ``ax`` (into a new figure if there is none) and returns the axes. None of them shows a window or
changes a setting of matplotlib, which is imported by the first plot: ``pip install matplotlib``.
"""

from __future__ import annotations

from logphi.plot.characteristics import phi
from logphi.plot.comparisons import compare
from logphi.plot.compositions import composition
from logphi.plot.losses import loss
from logphi.plot.profiles import profile
from logphi.plot.tradeoffs import tradeoff
from logphi.plot.trainings import training

__all__ = ["compare", "composition", "loss", "phi", "profile", "tradeoff", "training"]


def __dir__() -> list[str]:
    return __all__
