"""One of several mechanisms, by a public coin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, ClassVar

from logphi.algebra.attacks import attained_part
from logphi.algebra.families import FamilyAnswers, family_of
from logphi.algebra.parametric import Parametric
from logphi.algebra.release import Mechanism, Primitive
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import Mechanisms, Reals, RelationOrNone, default, frozen
from logphi.laws.combined.convex_combination import ConvexCombination
from logphi.laws.log_phi import LogPhi
from logphi.pairs.choice import ChosenPair
from logphi.pairs.pair import Pair
from logphi.text.description import CHOICE, node
from logphi.text.spelling import short


@frozen
class RandomChoice(FamilyAnswers, Primitive):
    """Runs one of several mechanisms, chosen at random; the choice is public and does not depend on the data.

    Pair: sum of p_i P_i against sum of p_i Q_i, each output with its i. log-phi: M(z) = sum of p_i M_i(z). The profile of one
    release is, in each direction, the sum of p_i delta_i, as the integral of (p - e^eps q)_+ is a sum over i. A secret choice
    leaks no more. In a composition every release tosses a new coin.

    A mechanism that stands for many, or is known by bounds only, counts with its dominating pair, which the choice need not
    attain. Answers are then brackets, if some attack gives a lower end, and otherwise have the status ``DOMINATED``.
    ``pdp_delta`` and ``pdp_epsilon`` are refused.

    Parameters
    ----------
    mechanisms
        The mechanisms, compositions and samples among them, all under one relation.
    probabilities
        Their probabilities: zero or at least 1e-290. As doubles they must sum to one to within 1e-14, and are divided by the
        sum; certificates want a sum of exactly one.
    adjacency
        The relation of the mechanisms; another one is refused.

    Raises
    ------
    ValueError, TypeError
        If a list is empty, the lists differ in length or hold anything else, or the mechanisms are stated under different
        relations.

    Examples
    --------
    >>> from logphi.mechanisms.gaussian import Gaussian
    >>> coin = RandomChoice([Gaussian(sigma=1), Gaussian(sigma=4)], [0.25, 0.75])
    >>> print(f"{coin.delta(1).value:.9f}")
    0.031736378
    """

    mechanisms: Mechanisms
    probabilities: Reals
    adjacency: RelationOrNone = default(None)
    _one_formula: ClassVar = True
    _distributions: ClassVar = ("probabilities",)
    _hints: ClassVar = {"weights": "probabilities=", "p": "probabilities="}

    def __post_init__(self) -> None:
        mechanisms = _listed(self.mechanisms)
        probabilities = check.probabilities("probabilities", self.probabilities, check.LEAST_SHARE)
        if len(mechanisms) != len(probabilities):
            raise ValueError(
                f"mechanisms and probabilities must have the same length, got {len(mechanisms)} and {len(probabilities)}: each "
                "probability belongs to the mechanism at its place"
            )
        relations = {one.adjacency: one for one in mechanisms}
        if len(relations) > 1:
            names = " and ".join(f"{short(one)} ({relation.value})" for relation, one in list(relations.items())[:2])
            raise ValueError(f"a choice is between mechanisms under one relation, got {names}; state all under one adjacency")
        own = mechanisms[0].adjacency
        given: Adjacency | None = self.adjacency
        if given is not None and Adjacency.of(given) is not own:
            raise ValueError(
                f"adjacency of a choice is that of its mechanisms, {own.value!r}, got {Adjacency.of(given).value!r}: "
                "leave it out"
            )
        self._settle(mechanisms=mechanisms, probabilities=probabilities, adjacency=own)

    def loss_law(self) -> LogPhi:
        """The convex combination of the losses."""
        return ConvexCombination.of([one.loss_law() for one in self.mechanisms], self.probabilities)

    def pair(self) -> Pair:
        """The choice of a pair; a sample mixes each pair separately."""
        kept = [(one.pair(), p) for one, p in zip(self.mechanisms, self.probabilities, strict=True) if p]
        pairs, probabilities = zip(*kept, strict=True)
        return ChosenPair(pairs, probabilities)

    @property
    def _need_not_attain(self) -> bool:
        return self._of_families or any(one._need_not_attain for one in self.mechanisms)

    @property
    def _of_families(self) -> bool:
        return any(family_of(one) is not None for part in self.mechanisms for one, _ in part.counted())

    def _attacks(self, *, sampled: bool = False) -> list[Mechanism]:
        """A choice between first attacks; none where a mechanism stands for a family."""
        if self._of_families:
            return []
        return [RandomChoice([attained_part(one, sampled=sampled) for one in self.mechanisms], self.probabilities)]

    def _parts(self) -> tuple[Mechanism, ...]:
        return self.mechanisms

    def _assumptions(self) -> Iterator[str]:
        yield "That the mechanism is chosen at random, afresh each time, and that the choice does not depend on the data."

    def _grouped(self, size: int) -> Mechanism:
        return RandomChoice([one.group(size) for one in self.mechanisms], self.probabilities)

    def _text(self, spell: Callable[[Any], str]) -> str:
        listed = ", ".join(one._text(spell) for one in self.mechanisms)
        return f"{spell(type(self))}(mechanisms=[{listed}], probabilities={spell(self.probabilities)})"

    def _data(self, write: Callable[[str, Any], Any]) -> dict[str, Any]:
        parts = [one._data(write) for one in self.mechanisms]
        return node(CHOICE, self.adjacency.value, {"probabilities": self.probabilities}, write, parts)

    def _numbers(self) -> Iterator[float]:
        own = super()._numbers()
        return chain(own, *(one._numbers() for part in self.mechanisms for one, _ in part.counted()))


def _listed(mechanisms: Any) -> tuple[Mechanism, ...]:
    """The mechanisms of a list, checked."""
    if isinstance(mechanisms, Mechanism) or not isinstance(mechanisms, (list, tuple)):
        raise TypeError(f"mechanisms must be a list of mechanisms, got {short(mechanisms)} of type {type(mechanisms).__name__}")
    for one in mechanisms:
        if isinstance(one, Parametric) or not isinstance(one, Mechanism):
            raise TypeError(f"mechanisms must be a list of mechanisms, and holds {short(one)} of type {type(one).__name__}")
    if not mechanisms:
        raise ValueError("mechanisms must not be an empty list: give at least one mechanism")
    return tuple(mechanisms)
