"""A privacy accountant of dp-accounting whose answers are proved bounds."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from dp_accounting.dp_event import SelfComposedDpEvent
from dp_accounting.privacy_accountant import NeighboringRelation, PrivacyAccountant

from logphi.adapters.dp_accounting.events import adjacency_of, composed, read
from logphi.adapters.dp_accounting.leaves import UnreadableEventError
from logphi.algebra.release import Mechanism
from logphi.answers.bound import Bound, single
from logphi.engine.answer import unresolved
from logphi.inputs import check
from logphi.pairs.pair import UnsupportedError


class LogPhiAccountant(PrivacyAccountant):  # type: ignore[misc]
    """An accountant that can replace any other ``dp_accounting.PrivacyAccountant``.

    ``get_epsilon`` and ``get_delta`` return upper bounds; :meth:`bound_epsilon` and :meth:`bound_delta` return the enclosures
    of which these are the upper ends. An event that is not supported is refused with the reason; ``supports`` says beforehand.

    Parameters
    ----------
    neighboring_relation
        A ``dp_accounting.NeighboringRelation``.

    Raises
    ------
    TypeError
        If it is not one.

    Examples
    --------
    >>> from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
    >>> accountant = LogPhiAccountant()
    >>> step = PoissonSampledDpEvent(256 / 60000, GaussianDpEvent(noise_multiplier=1.1))
    >>> round(accountant.compose(step, 14062).get_epsilon(1e-5), 8)
    2.38159692
    """

    def __init__(self, neighboring_relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE_ONE) -> None:
        self._adjacency = adjacency_of(neighboring_relation)
        super().__init__(neighboring_relation)
        self._terms: dict[Mechanism, int] = {}
        self._private = True

    @property
    def mechanism(self) -> Mechanism:
        """The composition of all events so far.

        Raises
        ------
        UnsupportedError
            If an event that is not private was composed.
        """
        if not self._private:
            raise UnsupportedError("an event that is not private was composed: nothing is left to account for")
        return composed(self._terms, self._adjacency)

    def compose(self, event: Any, count: int = 1) -> LogPhiAccountant:
        """Compose an event any number of times; the count may be a NumPy integer.

        Raises
        ------
        UnsupportedEventError
            If the event is not supported.
        TypeError, ValueError
            If it is not an event, or the count is not an integer above zero.
        """
        count = check.count("count", count)
        # dp-accounting's own ledger takes Python's int only, and recurses once for each nested repetition
        while type(event) is SelfComposedDpEvent and isinstance(event.count, Integral) and int(event.count) > 0:
            event, count = event.event, count * int(event.count)
        super().compose(event, count)
        return self

    def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Any:
        try:
            terms = read(event, self._adjacency)
            grown = {
                one: check.count("the number of all repetitions", self._terms.get(one, 0) + own * count)
                for one, own in (terms or {}).items()
            }
        except UnreadableEventError as error:
            return self.CompositionErrorDetails(invalid_event=error.event, error_message=str(error))
        except ValueError as error:
            return self.CompositionErrorDetails(invalid_event=event, error_message=str(error))
        if do_compose:
            self._terms |= grown
            self._private = self._private and terms is not None
        return None

    def get_epsilon(self, target_delta: float) -> float:
        """The upper end of :meth:`bound_epsilon`."""
        return float(self.bound_epsilon(target_delta))

    def get_delta(self, target_epsilon: float) -> float:
        """The upper end of :meth:`bound_delta`."""
        return float(self.bound_delta(target_epsilon))

    def bound_epsilon(self, target_delta: float) -> Bound:
        """The smallest non-negative epsilon at a delta in [0, 1], in nats; infinite where there is none."""
        delta = check.unit("target_delta", target_delta)
        if not self._private:
            return _unknown(float("inf"))
        return single(self.mechanism.epsilon(delta))

    def bound_delta(self, target_epsilon: float) -> Bound:
        """The privacy profile at an epsilon, in nats; at infinity the probability of an infinite loss."""
        if not self._private:
            return _unknown(1.0)
        if target_epsilon == float("inf"):
            return single(self.mechanism.hockey_stick(target_epsilon))
        return single(self.mechanism.delta(check.real("target_epsilon", target_epsilon)))


def _unknown(most: float) -> Bound:
    """The trivial bound, for compositions with an event that is not private, even if that event is sampled."""
    return unresolved(0.0, most, most, "trivial")
