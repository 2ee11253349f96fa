"""Partition selection with values: the noisy values that reach a threshold are released (stability-based histograms)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from logphi.algebra.attacks import Attack
from logphi.algebra.families import Dominated
from logphi.algebra.release import Mechanism
from logphi.inputs import check
from logphi.inputs.adjacency import PRESENCE
from logphi.inputs.arguments import ADD_REMOVE, Real, RealLike, RealOrNone, Relation, Scalar, Whole, default, frozen
from logphi.laws.log_phi import LogPhi
from logphi.mechanisms.gaussian import Gaussian
from logphi.mechanisms.laplace import Laplace
from logphi.mechanisms.truncated_noise import TruncatedGaussian, TruncatedLaplace
from logphi.pairs.extremes import disjoint, product
from logphi.pairs.new_partition import Chances, chances
from logphi.pairs.pair import Pair
from logphi.text.written import meant

# chosen: the most partitions of one record
_MOST_PARTITIONS = 10**6
# derived: probabilities above this keep all their digits
_LEAST = 1e-290
# chosen: if partitions are missed with less than this, nearly everything leaks
_LEAST_MISSED = 1e-6
# chosen: the smallest delta for which a threshold is found
_LEAST_DELTA = 1e-240
# derived: this many scales of Laplace noise away, less than the smallest delta is left
_FARTHEST = 600.0
# derived: this many standard deviations of normal noise away, less than the smallest delta is left
_FARTHEST_NORMAL = 34.0
# derived: halvings of such a range that leave two neighbouring doubles
_HALVINGS = 200


@frozen
class StabilityThreshold(Dominated):
    """Releases the partitions of the data whose noisy value reaches a threshold, with that value (partition selection).

    Partitions are words, places, or the keys of a GROUP BY: which ones there are depends on the data. One record contributes to
    at most k partitions and changes the value of each by at most s. A partition that only this record has is released with
    probability p, that of noise of at least threshold - s, and then reveals the record. The values of other partitions are
    noisy.

    Pair: for each of the k partitions, the noise shifted by s against the noise, times {seen with probability p, or missed}
    against {missed}. As a partition is either old or new, this is an upper bound. Answers are brackets, whose lower end is the
    larger of two deltas: 1 - (1 - p)^k, if all partitions are new, and that of the noise, if all are old. On samples only the
    first counts, as which partitions are old depends on the sample. For a group, no lower end is known (status ``DOMINATED``).
    log-phi: K(z) = k K_noise(z) + k (1 + z) log(1 - p). In direction remove, P(L = inf) = 1 - (1 - p)^k, apart from infinite
    losses of truncated noise.

    Parameters
    ----------
    threshold
        The smallest noisy value that is released, in the units of the values.
    scale
        Scale of Laplace noise; or give
    sigma
        the standard deviation of Gaussian noise.
    truncation
        The largest absolute value of the noise, whose law is conditioned on it; None for no truncation. At threshold - s, or
        below it, p is zero.
    sensitivity
        The largest amount s by which one record changes the value of a partition.
    partitions
        The number k of partitions that one record may contribute to, from 1 to 10^6.
    adjacency
        ``"add_remove"``, or one direction of it. A record that takes another value leaves some partitions and enters others:
        take the group of two records, ``m.group(2)``.

    Raises
    ------
    ValueError, TypeError
        If a parameter is outside its range, not exactly one noise is given, or partitions of one record are nearly always seen.

    References
    ----------
    Korolova, Kenthapadi, Mishra & Ntoulas 2009, *Releasing Search Queries and Clicks Privately*. Partitions without values,
    released by the probabilities of Desfontaines, Voss, Gipson & Mandayam 2022, *Differentially Private Partition Selection*,
    are ``k * ApproximateDP(epsilon, delta)``.

    Examples
    --------
    >>> histogram = StabilityThreshold.for_delta(1e-8, scale=4, partitions=3)
    >>> print(f"{histogram.threshold:.4f} {histogram.epsilon(1e-6).upper:.6f}")
    76.3046 0.749992
    """

    threshold: Real
    scale: RealOrNone = default(None)
    sigma: RealOrNone = default(None)
    truncation: RealOrNone = default(None)
    sensitivity: Real = default(1.0)
    partitions: Whole = default(1)
    adjacency: Relation = ADD_REMOVE
    _grows: ClassVar = ("sensitivity", "partitions")
    _hints: ClassVar = {
        "tau": "threshold=",
        "epsilon": "scale=sensitivity/epsilon",
        "delta": "StabilityThreshold.for_delta(delta, scale=...)",
    }

    def __post_init__(self) -> None:
        if (self.scale is None) is (self.sigma is None):
            raise ValueError(
                f"exactly one of scale and sigma must be given, got scale={self.scale!r} and sigma={self.sigma!r}: the "
                "noise is Laplace or Gaussian"
            )
        given = {name: getattr(self, name) for name in ("scale", "sigma", "truncation")}
        self._settle(
            **{name: None if one is None else check.nonnegative(name, one) for name, one in given.items()},
            threshold=check.real("threshold", self.threshold),
            sensitivity=check.nonnegative("sensitivity", self.sensitivity),
            partitions=check.whole("partitions", self.partitions, 1, _MOST_PARTITIONS),
        )
        if self.adjacency not in PRESENCE:
            raise ValueError(
                f"adjacency must be 'add_remove' or one direction of it, got {self.adjacency.value!r}: a record that takes "
                "another value leaves some partitions and enters others; state it under 'add_remove' and ask for m.group(2)"
            )
        self._noise()
        if not self._extreme:
            self._examine(self._chances_at(self.threshold))

    def _examine(self, one: Chances) -> None:
        if 0 < one.seen < _LEAST:
            raise ValueError(
                f"threshold must leave a partition of one record a probability of at least {_LEAST:g} to be seen, or none, got "
                f"{self.threshold!r}: smaller ones do not matter; take a lower threshold, which is an upper bound"
            )
        if one.missed**self.partitions < _LEAST_MISSED:
            raise ValueError(
                f"threshold must leave partitions of one record a probability of {_LEAST_MISSED:g} to be missed, got "
                f"{self.threshold!r}: nearly every release reveals everything; raise the threshold"
            )

    @classmethod
    def for_delta(
        cls,
        delta: Scalar,
        *,
        scale: RealLike | None = None,
        sigma: RealLike | None = None,
        truncation: RealLike | None = None,
        sensitivity: RealLike = 1.0,
        partitions: int = 1,
    ) -> StabilityThreshold:
        """The mechanism with the smallest threshold at which new partitions are seen with probability at most delta.

        Parameters
        ----------
        delta
            Bound of the probability that any of k partitions that only one record has is seen, from 1e-240 to 1 - 1e-6. The
            noise leaks besides.
        scale, sigma, truncation, sensitivity, partitions
            Those of the mechanism; there must be noise.

        Returns
        -------
        StabilityThreshold
            Its ``threshold`` is rounded up: the bound is proved, rounding included.

        Raises
        ------
        ValueError, TypeError
            If a parameter is outside its range.

        Examples
        --------
        >>> round(StabilityThreshold.for_delta(1e-6, scale=2).threshold, 6)
        27.244727
        """
        wanted = check.open_unit("delta", delta)
        if not _LEAST_DELTA <= wanted <= 1 - _LEAST_MISSED:
            raise ValueError(
                f"delta must lie between {_LEAST_DELTA:g} and {1 - _LEAST_MISSED:g}, got {wanted!r}: with a larger one nearly "
                "every release reveals everything, and no release needs a smaller one"
            )
        # half of the noise is above the value itself
        model = cls(sensitivity, scale, sigma, truncation, sensitivity)
        size, width = model.sensitivity, check.positive("scale" if sigma is None else "sigma", model._width)
        count = check.whole("partitions", partitions, 1, _MOST_PARTITIONS)
        reach = width * (_FARTHEST if sigma is None else _FARTHEST_NORMAL)
        low, high = size - reach, size + reach
        for _ in range(_HALVINGS):
            middle = low + (high - low) / 2
            if middle in (low, high):
                break
            enough = model._chances_at(middle).any_seen_at_most(count) <= wanted
            low, high = (low, middle) if enough else (middle, high)
        return cls(high, scale, sigma, truncation, sensitivity, partitions)

    @property
    def _extreme(self) -> Pair | None:
        """The pair without noise, where values reveal everything."""
        return None if self._width else disjoint()

    @property
    def _width(self) -> float:
        return (self.scale if self.sigma is None else self.sigma) or 0.0

    def _noise(self) -> Mechanism:
        """The mechanism of a partition that other records have, too."""
        if self.truncation is None:
            return (Laplace if self.sigma is None else Gaussian)(self._width, self.sensitivity, self.adjacency)
        kind = TruncatedLaplace if self.sigma is None else TruncatedGaussian
        return kind(self._width, self.truncation, self.sensitivity, self.adjacency)

    @property
    def _need_not_attain(self) -> bool:
        """Whether the pair need not be attained; it is if new partitions are never seen."""
        return super()._need_not_attain and self._chances_at(self.threshold).seen > 0

    def _attacks(self, *, sampled: bool = False) -> list[Mechanism]:
        """All partitions are new, or all are old, with values far above the threshold.

        The values of old ones depend on which other records are in a sample.
        """
        new = self.partitions * Attack(self._chances_at(self.threshold).pair(), self.adjacency)
        return [new] if sampled else [self.partitions * self._noise(), new]

    def _grouped(self, size: int) -> Mechanism:
        grouped = super()._grouped(size)
        assert isinstance(grouped, StabilityThreshold), "of the same class"
        return ThresholdForGroup(**grouped._given())

    def _chances_at(self, threshold: float) -> Chances:
        gap = meant(threshold) - meant(self.sensitivity)
        far = None if self.truncation is None else meant(self.truncation)
        return chances(gap, self._width, far, normal=self.sigma is not None)

    def pair(self) -> Pair:
        """The product over the partitions."""
        if extreme := self._extreme:
            return extreme
        return product([self._noise().pair(), self._chances_at(self.threshold).pair()]).repeated(self.partitions)

    def loss_law(self) -> LogPhi:
        """The sum over the partitions."""
        if extreme := self._extreme:
            return extreme.loss()
        return self.partitions * (self._noise().loss_law() + self._chances_at(self.threshold).pair().loss())


class ThresholdForGroup(StabilityThreshold):
    """The release for a group of records, as they change it at most: either more partitions, or fewer by more, but not both."""

    def _attacks(self, *, sampled: bool = False) -> list[Mechanism]:
        return []

    def _text(self, spell: Callable[[Any], str]) -> str:
        return StabilityThreshold(**self._given())._text(spell)

    def _data(self, write: Callable[[str, Any], Any]) -> dict[str, Any]:
        return StabilityThreshold(**self._given())._data(write)
