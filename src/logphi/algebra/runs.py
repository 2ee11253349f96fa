"""A mechanism that is run many times, and its best output released."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import Scalar
from logphi.inputs.guesses import guided
from logphi.pairs.pair import UnsupportedError

if TYPE_CHECKING:
    from logphi.algebra.release import Mechanism

# chosen: beyond them no bound is below that of releasing all outputs
LARGEST_MEAN, LARGEST_SHAPE = 1e9, 1e6


@guided()
def repeat_and_select(self: Mechanism, mean: Scalar, shape: Scalar = 1.0) -> Mechanism:
    """The best of a random number of runs of the mechanism, as in tuning hyperparameters: a bracket.

    The number of runs is drawn from a truncated negative binomial law, which does not depend on the data and is not told. Each
    output has a score, which is a function of it alone; only the output with the best score is released. Every run may be
    another mechanism of a family, chosen at random, as long as the one mechanism that chooses and runs has this pair.

    The upper end holds for every score: the mean number of runs times the delta of one run at a smaller epsilon
    (:mod:`logphi.algebra.selection` has the proof, and how much smaller). The lower end is an attack: runs whose score is
    their own likelihood ratio. Answered are ``delta``, ``epsilon``, trade-off functions, divergences and zCDP, also of
    compositions with it.

    Parameters
    ----------
    mean
        The mean number of runs: 1 or more, at most 10^9; with an infinite shape any positive number.
    shape
        Above -1, at most 10^6, or infinite: 1 for the geometric law, 0 for the logarithmic one, infinite for the Poisson law,
        where there may be no run at all. The smaller, the smaller is epsilon and the more uneven the number of runs.

    Returns
    -------
    Mechanism
        Its answers have the status ``BRACKET``; ``float`` gives the upper end.

    Raises
    ------
    ValueError, TypeError
        If a number is outside its range, or the profile of the mechanism is estimated only.

    References
    ----------
    Papernot & Steinke 2022, *Hyperparameter Tuning with Renyi Differential Privacy* (the law of the number of runs).

    Examples
    --------
    >>> import logphi as lp
    >>> print(f"{float(lp.Gaussian(sigma=2).repeat_and_select(mean=10).epsilon(1e-6)):.4f}")
    3.3825
    """
    law = check.positive("mean", mean), shape if shape == math.inf else check.real("shape", shape)
    if not law[0] <= LARGEST_MEAN:
        raise ValueError(f"mean must be at most {LARGEST_MEAN:g}, got {law[0]!r}: so many runs leave nothing private")
    if law[1] != math.inf and not -1 < law[1] <= LARGEST_SHAPE:
        raise ValueError(
            f"shape must lie above -1 and be at most {LARGEST_SHAPE:g}, or be infinite, got {law[1]!r}: 1 is the geometric law"
        )
    if law[0] < 1 and law[1] != math.inf:
        raise ValueError(f"mean must be at least 1 unless shape=inf, got {law[0]!r}: there is always one run")
    if self.adjacency in (Adjacency.ADD, Adjacency.REMOVE):
        raise UnsupportedError(
            f"the best of many runs under {self.adjacency.value!r} alone is not known: its bound needs both orders; state the "
            "mechanism under 'add_remove'"
        )
    if not self._bracketed:
        loss = self.loss_law()
        if loss.traits.estimated:
            raise UnsupportedError(
                "the best of many runs is known for mechanisms whose profile is proved; errors of this one are estimates"
            )
        if loss.empty or not loss.terms:
            return self
    if law[0] == 1 and law[1] != math.inf:
        return self
    from logphi.algebra.selection import Selected
    from logphi.sampling.repetitions import Repetitions

    Repetitions.of(*map(float, law))
    return Selected(self, *law, self.adjacency)
