"""The members of a family that have been tried, each value once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from logphi.algebra.release import Mechanism
from logphi.answers.bound import Bound
from logphi.calibration.scale import FARTHEST, Reals, Scale, Wholes
from logphi.calibration.target import Reading, Target

# chosen: closer to the limit, on a logarithmic scale, the question itself is asked instead of a coarse reading
NEAR = 1.0
# chosen: the search for a start tries all powers of two up to this exponent, and every eighth above
_DENSE = 60
# chosen: after this many identical refusals, these are taken not to depend on the value
_ALIKE = 3


@dataclass(frozen=True)
class Trial:
    """One member of the family, and the excess of its answer over the limit."""

    value: Any
    mechanism: Mechanism
    reading: Reading
    answer: Bound | None = None
    """The answer to the question itself; None if only a coarse reading was taken."""


class Trials:
    """The trials of a family. Values that it refuses with a ValueError are outside of its domain."""

    def __init__(
        self, family: Callable[[Any], Mechanism], target: Target, scale: Scale, least: float | None, most: float | None
    ) -> None:
        self.family, self.target, self.scale, self.least, self.most = family, target, scale, least, most
        self.seen: dict[Any, Trial] = {}
        self.evaluations = 0
        self.refusals: list[tuple[Any, str]] = []

    def made(self, value: Any) -> Mechanism | None:
        """A member; None if the family refuses the value."""
        if (self.least is not None and value < self.least) or (self.most is not None and value > self.most):
            return None
        try:
            made = self.family(value)
        except (ValueError, OverflowError) as error:
            self.refusals.append((value, str(error)))
            return None
        if not isinstance(made, Mechanism):
            raise TypeError(f"the family must return a mechanism, got {made!r} of type {type(made).__name__} at {value!r}")
        return made

    @property
    def refusal(self) -> str:
        """The first refusal of the family; empty if it refused nothing."""
        return "at {!r}: {}".format(*self.refusals[0]) if self.refusals else ""

    def at(self, value: Any, *, sharp: bool = False) -> Trial | None:
        """The trial at a value, coarse if that decides; None if the family refuses the value."""
        if value in self.seen:
            return self.proof(self.seen[value]) if sharp else self.seen[value]
        mechanism = self.made(value)
        if mechanism is None:
            return None
        if sharp:
            return self._asked(value, mechanism)
        self.evaluations += 1
        reading = self.target.coarse(mechanism)
        self.seen[value] = found = Trial(value, mechanism, reading)
        far = abs(reading.value) > NEAR and (reading.meets or reading.fails)
        return found if far or reading.uninformative else self.proof(found)

    def proof(self, trial: Trial) -> Trial:
        """The trial at the same value, by the question itself."""
        known = self.seen[trial.value]
        return known if known.answer is not None else self._asked(known.value, known.mechanism)

    def _asked(self, value: Any, mechanism: Mechanism) -> Trial:
        self.evaluations += 1
        answer = self.target.ask(mechanism)
        self.seen[value] = Trial(value, mechanism, self.target.read(answer), answer)
        return self.seen[value]

    def onward(self, value: Any, doublings: int) -> Any:
        """The value doubled, or halved, so many times, kept within the limits; None out of range."""
        found = self.scale.shifted(value, doublings)
        if found is None:
            return None
        kept = max(found, self.least) if doublings < 0 and self.least is not None else found
        kept = min(kept, self.most) if doublings > 0 and self.most is not None else kept
        return self.scale.number(kept)

    def edge(self, inside: Any, outside: Any) -> Any:
        """The last value before a refused one."""
        while (middle := self.scale.middle(inside, outside)) is not None:
            if self.made(middle) is None:
                outside = middle
            else:
                inside = middle
        return inside


def begin(
    family: Callable[[Any], Mechanism], target: Target, whole: bool | None, least: float | None, most: float | None
) -> tuple[Trials, Trial]:
    """The trials of a family, with the first one; whether it takes integers only is found by trying unless given.

    Raises a ValueError if the family refuses all that is tried.
    """
    if not whole:
        trials = Trials(family, target, Reals(), least, most)
        try:
            start = _first(trials)
            if whole is False or (start is not None and not _takes_whole_numbers_only(trials, start)):
                return _begun(trials, start)
        except TypeError:
            # a count must not be a float; any other TypeError is raised again below
            if whole is False:
                raise
    trials = Trials(family, target, Wholes(), least, most)
    return _begun(trials, _first(trials))


def _begun(trials: Trials, start: Any) -> tuple[Trials, Trial]:
    first = None if start is None else trials.at(start)
    if first is None:
        said = [reason for _, reason in trials.refusals]
        if said and said.count(said[0]) >= _ALIKE:
            raise ValueError(f"no value makes a mechanism: {said[0]}")
        raise ValueError(
            f"the family refuses every value that was tried, {trials.refusal or 'all outside of the limits'}; give lower= and "
            "upper= within what it allows"
        )
    return trials, first


def _first(trials: Trials) -> Any:
    """The allowed value nearest to one, but not an end of the range at which everything leaks if there is another."""
    allowed = ((value, made) for value in _candidates(trials) if (made := trials.made(value)) is not None)
    first, made = next(allowed, (None, None))
    if made is None or not made._reveals_all:
        return first
    return next((value for value, other in allowed if not other._reveals_all), first)


def _takes_whole_numbers_only(trials: Trials, start: float) -> bool:
    """Whether 1 and 2 are allowed, and 1.5 is not."""
    if start != 1:
        return False
    try:
        return trials.made(1.5) is None and trials.made(2.0) is not None
    except TypeError:
        return True


def _candidates(trials: Trials) -> Iterator[Any]:
    scale, least, most = trials.scale, trials.least, trials.most
    for doublings in [*range(_DENSE), *range(_DENSE, FARTHEST, 8)]:
        for sign in (-1, 1) if doublings else (1,):
            value = scale.shifted(scale.number(1), sign * doublings) if doublings else scale.number(1)
            if value is not None:
                yield value
    if least is not None and most is not None:
        yield scale.middle(scale.number(least), scale.number(most))
    yield from (scale.number(limit) for limit in (most, least) if limit is not None)
