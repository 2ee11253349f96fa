"""Noisy values of the partitions that are in the data, where they reach a threshold (stability-based histograms)."""

from __future__ import annotations

from typing import ClassVar

from logphi.algebra.release import Mechanism, Primitive
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

# chosen: more partitions are no contribution of one record
_MOST_PARTITIONS = 10**6
# derived: chances above the first keep all their digits; with less than the second to be missed nearly everything leaks
_LEAST, _LEAST_MISSED = 1e-290, 1e-6
# chosen: the least delta that a threshold is found for
_LEAST_DELTA = 1e-240
# derived: halvings that leave two neighbouring doubles; from so many widths of Laplace noise, or of normal noise
_HALVINGS, _FARTHEST, _FARTHEST_NORMAL = 200, 600.0, 34.0


@frozen
class StabilityThreshold(Primitive):
    """Releases the partitions of the data whose noisy value reaches a threshold, with that value (partition selection).

    Partitions are what the data happen to hold: words, places, the keys of a GROUP BY. One record gives at most k partitions a
    value of at most s each, or changes it by that much. A partition that only this record has is released with probability p,
    that of noise of at least threshold - s, and then tells that the record is there. The values of all others are noisy.

    Pair: for each of the k partitions that of the noise moved by s, together with {seen with probability p, or missed} against
    {missed}. A partition is old or new, so that both together are an upper bound: delta is at least the larger of 1 - (1 -
    p)^k, where all are new, and that of the noise, where all are old. log-phi: K(z) = k K_noise(z) + k (1 + z) log(1 - p);
    P(L = inf) = 1 - (1 - p)^k, in the order remove, beside that of truncated noise.

    Parameters
    ----------
    threshold
        The least noisy value that is released, in the units of the values.
    scale
        Scale of Laplace noise; or give
    sigma
        the standard deviation of Gaussian noise.
    truncation
        The largest absolute value of the noise, which is conditioned on it; None for no truncation. Where it is less than
        threshold - s, p is zero.
    sensitivity
        The largest value s that one record gives a partition, and by which it changes one.
    partitions
        The number k of partitions that one record may contribute to, from 1 to 10^6.
    adjacency
        ``"add_remove"``, or one order of it. A record that takes another value leaves its partitions and enters others: that is
        the group of two records, ``m.group(2)``.

    Raises
    ------
    ValueError, TypeError
        If a parameter is outside its range, not exactly one noise is given, or nearly every partition of one record is seen.

    References
    ----------
    Korolova, Kenthapadi, Mishra & Ntoulas 2009, *Releasing Search Queries and Clicks Privately*. Where partitions alone are
    released, by the probabilities of Desfontaines, Voss, Gipson & Mandayam 2022, *Differentially Private Partition
    Selection*, it is ``k * ApproximateDP(epsilon, delta)``.

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
                f"adjacency must be 'add_remove' or one order of it, got {self.adjacency.value!r}: a record that takes another "
                "value leaves its partitions and enters others; state it under 'add_remove' and ask for m.group(2)"
            )
        self._noise()
        if not self._extreme:
            self._examine(self._chances_at(self.threshold))

    def _examine(self, one: Chances) -> None:
        if 0 < one.seen < _LEAST:
            raise ValueError(
                f"threshold must leave a partition of one record a probability of {_LEAST:g} to be seen, or none, got "
                f"{self.threshold!r}: it is below every delta; take a lower threshold, which is an upper bound"
            )
        if one.missed**self.partitions < _LEAST_MISSED:
            raise ValueError(
                f"threshold must leave partitions of one record a probability of {_LEAST_MISSED:g} to be missed, got "
                f"{self.threshold!r}: nearly every release tells everything; raise the threshold"
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
        """The mechanism whose threshold is the least one at which new partitions are seen with probability delta at most.

        Parameters
        ----------
        delta
            Bound of the probability that any of the k partitions that only one record has is seen, from 1e-240 to 1 - 1e-6.
            What the noise leaks comes on top.
        scale, sigma, truncation, sensitivity, partitions
            As of the mechanism; with some noise.

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
            raise ValueError(f"delta must lie between {_LEAST_DELTA:g} and {1 - _LEAST_MISSED:g}, got {wanted!r}")
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
        """Without noise values tell everything."""
        return None if self._width else disjoint()

    @property
    def _width(self) -> float:
        return (self.scale if self.sigma is None else self.sigma) or 0.0

    def _noise(self) -> Mechanism:
        """What a partition that others have gets."""
        if self.truncation is None:
            return (Laplace if self.sigma is None else Gaussian)(self._width, self.sensitivity)
        kind = TruncatedLaplace if self.sigma is None else TruncatedGaussian
        return kind(self._width, self.truncation, self.sensitivity)

    def _chances_at(self, threshold: float) -> Chances:
        gap = meant(threshold) - meant(self.sensitivity)
        return chances(gap, self._width, self.truncation, normal=self.sigma is not None)

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

    def _grouped(self, size: int) -> Mechanism:
        given = self._given()
        given["sensitivity"] = size * meant(self.sensitivity)
        given["partitions"] = size * self.partitions
        return type(self)(**given)
