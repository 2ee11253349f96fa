"""Points of a sweep that are answered in batches: repeated sampled Gaussians, asked for epsilon at one delta."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from logphi.algebra.release import Mechanism
from logphi.answers.bound import Bound
from logphi.engine.search.batched_crossings import Repeated, epsilons
from logphi.inputs.tolerance import Tolerance

# measured: a batch of this size shares the cost of a call; larger ones, or noise that differs by more than a factor of two,
# need nodes that differ too much
_BATCH = 32
# chosen: fewer mechanisms are answered one by one, exactly as single questions
_FEWEST = 16


@dataclass(frozen=True)
class EpsilonOfMany:
    """Epsilon at a delta, to within a tolerance."""

    delta: float
    tolerance: Tolerance

    def answers(self, mechanisms: Sequence[Mechanism]) -> list[Bound | None]:
        """The answers for a batch; None for a mechanism to be asked alone."""
        found: list[Bound | None] = [None] * len(mechanisms)
        places = {place: one for place, mechanism in enumerate(mechanisms) if (one := _repeated(mechanism)) is not None}
        answered = epsilons(list(places.values()), self.delta, self.tolerance) if len(places) > 1 else ()
        for place, bound in zip(places, answered, strict=False):
            found[place] = bound
        return found

    def batches(self, mechanisms: Sequence[Mechanism]) -> list[list[int]]:
        """The indices of mechanisms in batches that need about the same nodes; a mechanism without companions is alone."""
        suited = {place: one for place, mechanism in enumerate(mechanisms) if (one := _repeated(mechanism)) is not None}
        if len(suited) < _FEWEST:
            return alone(mechanisms)
        kinds: dict[int, list[int]] = {}
        for place in sorted(suited, key=lambda place: suited[place].shift / suited[place].normal_mu):
            kinds.setdefault(round(math.log2(suited[place].shift)), []).append(place)
        together = [kind[start : start + _BATCH] for kind in kinds.values() for start in range(0, len(kind), _BATCH)]
        return together + [[place] for place in range(len(mechanisms)) if place not in suited]


def alone(mechanisms: Sequence[Mechanism]) -> list[list[int]]:
    """Every index as a batch of its own."""
    return [[place] for place in range(len(mechanisms))]


def _repeated(mechanism: Mechanism) -> Repeated | None:
    try:
        return Repeated.of(mechanism._loss())
    except ValueError:
        # a single question gives the refusal
        return None
