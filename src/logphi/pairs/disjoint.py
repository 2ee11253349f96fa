"""Two laws without a common outcome: every loss is infinite."""

from __future__ import annotations

from dataclasses import dataclass

from logphi.laws.log_phi import LogPhi
from logphi.pairs.finite import FinitePair
from logphi.pairs.pair import UnsupportedError
from logphi.text.written import Written, meant

# derived: below it, probabilities lose their digits
LEAST_MISSED = 1e-300


@dataclass(frozen=True)
class Disjoint(FinitePair):
    """Two laws without a common outcome: a sample reveals whether it contains the record."""

    p: tuple[float, ...] = (1.0, 0.0)
    q: tuple[float, ...] = (0.0, 1.0)

    def doubled(self) -> Disjoint:
        """The same pair."""
        return self

    def grouped_loss(self, rate: float, size: int) -> LogPhi:
        """The group is revealed if any of its records takes part.

        Raises
        ------
        UnsupportedError
            If the probability that none takes part underflows.
        """
        if rate == 1:
            return self.loss()
        # exact, as one minus a double would lose the probability that no record is drawn
        missed = (1 - meant(rate)) ** size
        if missed < LEAST_MISSED:
            raise UnsupportedError(
                f"a group of {size} records is sampled at rate {rate!r} and released without noise, and the probability that "
                "none of them is drawn is too small for a double: take rate 1, which is an upper bound, or a smaller group"
            )
        return FinitePair((Written(1 - missed), Written(missed)), (0.0, 1.0)).loss()

    def replaced_loss(self, rate: float) -> LogPhi:
        """A record that takes part is revealed, with its old value or its new one."""
        if rate == 1:
            return self.loss()
        # half an ulp of the rate, which 1 - rate inherits
        relative_error = 2.0**-53 * (rate / (1 - rate) + 4)
        return FinitePair((rate, 0.0, 1 - rate), (0.0, rate, 1 - rate), relative_error).loss()


DISJOINT = Disjoint()
