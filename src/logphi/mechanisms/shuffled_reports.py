"""Shuffled reports of many records, each by a local randomizer."""

from __future__ import annotations

from logphi.algebra.families import Dominated
from logphi.inputs import check
from logphi.inputs.arguments import ADD_REMOVE, Real, Relation, Whole, frozen
from logphi.laws.log_phi import LogPhi
from logphi.pairs.clones import clones

# derived: for smaller epsilons the losses of many reports are below the rounding of their probabilities
SMALLEST_EPSILON = 1e-6
# derived: for larger epsilons the probability of a clone underflows in products
LARGEST_EPSILON = 300.0
# measured: this many records take four seconds, a million two
MOST_RECORDS = 10**9


@frozen
class ShuffledReports(Dominated):
    """The reports of n records, each by one local randomizer that is epsilon-DP, in random order: an upper bound.

    With probability e^-eps, each other record sends a clone: a report drawn as if its value were one of the two values of the
    record in question.
    Pair: with C ~ Bin(n - 1, e^-eps) clones, a + b = C + 1 reports of the two kinds, P(a, b) proportional to
    Bin(C + 1, 1/2)(a) (a + e^-eps b), and Q the same with a and b exchanged. Losses log((a + e^-eps b) / (e^-eps a + b)).
    :mod:`logphi.pairs.clones` has the proof. Lower ends are those of the pair, which perhaps no randomizer attains: answers
    have the status ``DOMINATED``.

    With up to some 16,000 outcomes the pair is exactly that of the clones. With more it is rounded up: epsilon is larger by
    less than 1e-6 of it up to 100,000 records, and by less than 1e-5 up to a billion (measured). Deltas below 1e-30 are larger
    by more.

    All records use the same randomizer, chosen beforehand, and their number is public: neighbours differ in the value of one
    report. For a record that may be absent, a fixed value is reported. k rounds in which all records report again, with fresh
    randomness and in a new order, are ``k * m``; later randomizers may depend on the shuffled reports of earlier rounds.

    Parameters
    ----------
    local_epsilon
        The epsilon of the randomizer, in nats, for any two values: 0, where nothing leaks, or between 1e-6 and 300.
    records
        The number n of reports, from 1 to 10^9.
    adjacency
        The relation under which one record's value may become another one.

    Raises
    ------
    ValueError, TypeError
        If a parameter is outside its range.

    References
    ----------
    Feldman, McMillan & Talwar 2021, *Hiding Among the Clones*.

    Examples
    --------
    >>> round(ShuffledReports(local_epsilon=1, records=10_000).epsilon(1e-6).value, 7)
    0.0530053
    """

    local_epsilon: Real
    records: Whole
    adjacency: Relation = ADD_REMOVE
    _no_pair = (
        "shuffled reports of a sample are not known, as their number is random or differs from the stated one: state the "
        "reports of all records, which is an upper bound"
    )

    def __post_init__(self) -> None:
        epsilon = check.nonnegative("local_epsilon", self.local_epsilon)
        if epsilon and not SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON:
            raise ValueError(
                f"local_epsilon must be 0 or lie between {SMALLEST_EPSILON:g} and {LARGEST_EPSILON:g}, got {epsilon!r}: "
                "otherwise state a single report, PureDP(epsilon), which is an upper bound"
            )
        self._settle(local_epsilon=epsilon, records=check.whole("records", self.records, 1, MOST_RECORDS))

    @property
    def _need_not_attain(self) -> bool:
        """Whether the pair need not be attained; a single report may be the randomized response of the pair."""
        return self.local_epsilon > 0 and self.records > 1

    def loss_law(self) -> LogPhi:
        """The loss of the two counts."""
        return clones(float(self.local_epsilon), self.records).loss()
