"""The record of all releases. Accountants and budgets are the only objects that change, and only by appending."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import mul
from threading import Lock
from typing import TYPE_CHECKING, Any

from logphi.accountant.checksummed import Checksummed
from logphi.algebra.release import Composition, Mechanism, compose
from logphi.answers.bound import Bound, Bounds
from logphi.answers.status import Direction
from logphi.engine.directions import Loss
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency, AdjacencyLike
from logphi.inputs.arguments import DirectionLike, Scalar
from logphi.inputs.guesses import ACCOUNTANT, Guided, guided
from logphi.questions import delta as delta_view
from logphi.questions import epsilon as epsilon_view
from logphi.serialization import mechanism_from_data
from logphi.text.spelling import short
from logphi.text.strict_json import fields, number_to_json
from logphi.text.written import exactly

if TYPE_CHECKING:
    from logphi.certified.certificate import Certificate
    from logphi.certified.claims import CertifiedClaims

_STEP = "the mechanism: accountant.step(lp.Gaussian(noise_multiplier).poisson(sample_rate))"

Steps = tuple[tuple[Mechanism, int], ...]


class Accountant(Guided, Checksummed):
    """A record of releases that answers for their composition at any time; steps are only ever appended.

    A step takes constant time, however many there were before. Questions change nothing; :attr:`release` is the composition of
    all steps, which answers everything else. Adaptively chosen queries are covered, adaptively chosen noise, rates or numbers
    of steps are not ([AFA] Theorem 10): use :class:`PrivacyFilter` for these. Threads may step at the same time.

    Parameters
    ----------
    adjacency
        The relation between data sets that all steps must be stated under; that of the first step unless given.

    Raises
    ------
    ValueError, TypeError
        If there is no such relation.

    Examples
    --------
    >>> from logphi.expression import parse
    >>> accountant = Accountant()
    >>> for epoch in range(3):
    ...     accountant.step(parse("Gaussian(sigma=1.1).poisson(256/60000)"), 234)
    >>> accountant.step(parse("Laplace(scale=5)"))
    >>> round(accountant.epsilon(1e-5).value, 9)
    0.675221636
    >>> resumed = Accountant.from_json(accountant.to_json())
    >>> resumed.epsilon(1e-5).same_as(accountant.epsilon(1e-5))
    True
    """

    _format = "logphi-accountant"
    _unlisted = Checksummed._unlisted | {"check_relation"}
    _instead = ACCOUNTANT

    def __init__(self, adjacency: AdjacencyLike | None = None) -> None:
        self._adjacency = None if adjacency is None else Adjacency.of(adjacency)
        # in the order of first use; equal mechanisms with differently written numbers are separate
        self._mechanisms: list[Mechanism] = []
        self._counts: list[int] = []
        self._places: dict[tuple[Mechanism, Any], int] = {}
        # the steps in order, by index; equal neighbours form a run
        self._runs: list[tuple[int, int]] = []
        self._total = 0
        self._latest: Mechanism | None = None
        self._release: Mechanism | None = None
        self._lock = Lock()

    @guided(noise_multiplier=_STEP, sample_rate=_STEP, steps="count=", num_steps="count=")
    def step(self, mechanism: Mechanism, count: Scalar = 1) -> None:
        """Record that a mechanism was released ``count`` times.

        A composition is recorded as its terms. In case of an error nothing is recorded.

        Parameters
        ----------
        mechanism
            What was released, under the relation of the steps before.
        count
            How many times, an integer from 0 on.

        Raises
        ------
        TypeError
            If this is not a mechanism, or the count is not an integer.
        ValueError
            If the count is negative or overflows, or the mechanism is stated under another relation than earlier steps.
        """
        count = check.count("count", count)
        with self._lock:
            self.check_relation(mechanism)
            if mechanism is self._latest:
                # the step of a loop, which was checked the first time
                self._total = _sum(self._total, count)
                self._append(self._runs[-1][0], count)
                return
            terms = [(one, exactly(one), own * count) for one, own in mechanism.counted() if own * count]
            if not terms:
                return
            # a user's mechanism may not be hashable: refuse it before anything changes
            hash(tuple(terms))
            self._total = _sum(self._total, *(own for _, _, own in terms))
            # nothing fails from here on
            self._adjacency = mechanism.adjacency
            for one, numbers, own in terms:
                self._append(self._place(one, numbers), own)
            self._latest = mechanism if terms[0][0] is mechanism else None

    def check_relation(self, mechanism: Mechanism) -> None:
        """Raise a TypeError or ValueError if this is not a mechanism, or stated under another relation than earlier steps."""
        if not isinstance(mechanism, Mechanism):
            raise TypeError(f"only mechanisms are released, got {short(mechanism)} of type {type(mechanism).__name__}")
        if self._adjacency not in (None, mechanism.adjacency):
            raise ValueError(
                f"{short(mechanism)} is stated under {mechanism.adjacency.value!r} and the steps of this accountant under "
                f"{self._adjacency.value!r}, which do not compose: state it under the same adjacency, or use another accountant"
            )

    def _place(self, mechanism: Mechanism, numbers: Any) -> int:
        place = self._places.setdefault((mechanism, numbers), len(self._mechanisms))
        if place == len(self._mechanisms):
            self._mechanisms.append(mechanism)
            self._counts.append(0)
        return place

    def _append(self, place: int, count: int) -> None:
        self._counts[place] += count
        if self._runs and self._runs[-1][0] == place:
            self._runs[-1] = (place, self._runs[-1][1] + count)
        else:
            self._runs.append((place, count))
        self._release = None

    @property
    def adjacency(self) -> Adjacency | None:
        """The relation of all steps; None before the first one if none was given."""
        return self._adjacency

    @property
    def history(self) -> Steps:
        """Mechanisms and how often each was released in a row, in the order of the steps."""
        with self._lock:
            return tuple((self._mechanisms[place], count) for place, count in self._runs)

    @property
    def release(self) -> Mechanism:
        """The composition of all steps, in the order of first use; without steps, the composition that leaks nothing.

        Examples
        --------
        >>> import logphi as lp
        >>> accountant = lp.Accountant()
        >>> accountant.step(lp.Laplace(scale=5), count=2)
        >>> round(accountant.release.tradeoff(0.05).value, 9)
        0.925408765
        """
        with self._lock:
            if self._release is None:
                self._release = self._composed()
            return self._release

    def _composed(self) -> Mechanism:
        if not self._mechanisms:
            return Composition((), self._adjacency or Adjacency.ADD_REMOVE)
        return compose(map(mul, self._counts, self._mechanisms))

    # the questions of a mechanism, answered for the composition of all steps
    epsilon = epsilon_view.epsilon
    delta = delta_view.delta

    def certify(
        self,
        *,
        epsilon: Scalar | Sequence[Scalar] | None = None,
        delta: Scalar | Sequence[Scalar] | None = None,
        type_one_error: Scalar | Sequence[Scalar] | None = None,
        order: Scalar | Sequence[Scalar] | None = None,
        advantage: bool = False,
        digits: int = 15,
        direction: DirectionLike | None = None,
    ) -> Certificate | CertifiedClaims:
        """A certificate of the composition of all steps: :meth:`logphi.Mechanism.certify` of :attr:`release`.

        Parameters
        ----------
        epsilon, delta, type_one_error, order, advantage, digits, direction
            As there.

        Returns
        -------
        Certificate or CertifiedClaims
            As there.

        Raises
        ------
        ValueError, TypeError, ImportError
            As there.

        Examples
        --------
        >>> import logphi as lp
        >>> accountant = lp.Accountant()
        >>> accountant.step(lp.Gaussian(sigma=20), count=100)
        >>> print(lp.verify(accountant.certify(delta=1e-5, digits=8)))
        the claim follows:
        of 100 * Gaussian(sigma=20, sensitivity=1), under add_remove:
          epsilon at delta = 0.00001: at most 1.993091406 and more than 1.993091403
        """
        return self.release.certify(
            epsilon=epsilon,
            delta=delta,
            type_one_error=type_one_error,
            order=order,
            advantage=advantage,
            digits=digits,
            direction=direction,
        )

    def _loss(self) -> Loss:
        return self.release._loss()

    def _certified(self, quantity: str, question: Any, direction: Direction | str | None, rtol: float) -> Bound | Bounds:
        return self.release._certified(quantity, question, direction, rtol)

    def content(self) -> dict[str, Any]:
        """The record as plain data; raises as :meth:`to_json`."""
        with self._lock:
            return {
                "adjacency": None if self._adjacency is None else self._adjacency.value,
                "mechanisms": [one._data(number_to_json) for one in self._mechanisms],
                "steps": [list(run) for run in self._runs],
            }

    @classmethod
    def of_content(cls, data: Any) -> Accountant:
        """The accountant in plain data; a ValueError if they describe none."""
        content = fields(data, "an accountant", ("adjacency", "mechanisms", "steps"))
        if not isinstance(content["mechanisms"], list) or not isinstance(content["steps"], list):
            raise ValueError("the mechanisms and the steps of an accountant must be lists")
        mechanisms = [mechanism_from_data(one) for one in content["mechanisms"]]
        accountant = cls(None if content["adjacency"] is None else _relation(content["adjacency"]))
        steps = [_step(data, len(mechanisms)) for data in content["steps"]]
        if len({place for place, _ in steps}) < len(mechanisms):
            raise ValueError("a mechanism of the accountant belongs to no step")
        accountant._take((mechanisms[place], count) for place, count in steps)
        return accountant

    def _take(self, steps: Iterable[tuple[Mechanism, int]]) -> None:
        for mechanism, count in steps:
            self.step(mechanism, count)

    def __getstate__(self) -> tuple[Adjacency | None, Steps]:
        return self._adjacency, self.history

    def __setstate__(self, state: tuple[Adjacency | None, Steps]) -> None:
        adjacency, history = state
        self.__init__(adjacency)  # type: ignore[misc]
        self._take(history)

    def __repr__(self) -> str:
        return f"<Accountant: {self._total} releases, {len(self._mechanisms)} distinct>"


def _sum(*counts: int) -> int:
    return check.count("the number of all releases", sum(counts))


def _relation(data: Any) -> Adjacency:
    if not isinstance(data, str):
        raise ValueError("the adjacency of an accountant must be a name or null")
    return Adjacency.of(data)


def _step(data: Any, places: int) -> tuple[int, int]:
    # a bool does not count as an integer here
    if isinstance(data, list) and [type(entry) for entry in data] == [int, int]:
        place, count = data
        if 0 <= place < places and count > 0:
            return place, count
    raise ValueError("a step must be the place of a mechanism in the list of them, and a count")
