"""Laws of finitely many atoms without their highest ones, where these are too rare to matter.

notation: X = sum of n_i independent X_i, D(x) = E[(1 - e^{x-X})_+]; D_0(x) the same mean where no X_i is above its cut c_i. As
the payoff lies between zero and one,

    D_0(x) <= D(x) <= D_0(x) + sum of n_i P(X_i > c_i).

Large losses of next to no mass are all that a large tilt sees: they hold the saddle back, and make the tilted law wide. Without
them the saddle is that of the losses which decide.
"""

from __future__ import annotations

import math

import numpy as np

from logphi.inversion.kernels import Smooth
from logphi.inversion.saddle import RIGHT, saddle
from logphi.laws.finite import Finite
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform

# measured: what may be left out, as a share of the requested tolerance
_SHARE = 1e-2
# measured: the value falls by several orders with each round; two rounds settle most, and more gain nothing
_ROUNDS = 6
# measured: the rounds end once the logarithm of the value falls by less than this
_SETTLED = 1.0
# measured: the integrand at the saddle is about e^4 times the value
_ABOVE = 4.0


def without_rare_atoms(
    law: LossTransform, x: float, rtol: float, hint: float | None = None
) -> tuple[LossTransform, float, float | None]:
    """The law without atoms that are rare beside the excess at x, and a bound of what that takes away, at every threshold.

    Last, an abscissa near the saddle that is left, which is sought near a hint.
    """
    terms = law.terms if isinstance(law, LogPhi) else ((law, 1),)
    total = sum(count for term, count in terms if isinstance(term, Finite))
    if not total:
        return law, 0.0, hint
    best, omitted, log_value = law, 0.0, math.inf
    for _ in range(_ROUNDS):
        found = saddle(best, Smooth(x), RIGHT, hint)
        hint = found.abscissa if math.isfinite(found.value) else None
        log_mass = found.value + math.log(max(found.abscissa, 1e-300)) - _ABOVE
        if not math.isfinite(found.value) or log_mass > log_value - _SETTLED:
            break
        log_value = log_mass
        most = math.exp(min(log_value + math.log(_SHARE * rtol) - math.log(total), 0.0))
        cut = [(_cut(term, most) if isinstance(term, Finite) else (term, 0.0), count) for term, count in terms]
        omitted = sum(count * mass for (_, mass), count in cut) * (1 + 1e-9)
        if not omitted:
            return law, 0.0, hint
        best = LogPhi.of([(term, count) for (term, _), count in cut])
    return best, omitted, hint


def _cut(law: Finite, most: float) -> tuple[Finite, float]:
    """The law without its highest atoms, of a P-mass up to ``most`` altogether, and a bound of that mass."""
    losses, masses = law.upper_masses
    lowest = max(int(np.argmax(masses <= most)), 1)
    if lowest == losses.size:
        return law, 0.0
    cap = float(losses[lowest - 1])
    return law.capped(cap), math.exp(law.log_mass_above(cap))
