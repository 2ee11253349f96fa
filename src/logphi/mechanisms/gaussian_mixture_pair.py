"""Two histograms with Gaussian noise."""

from __future__ import annotations

from typing import ClassVar

from logphi.algebra.release import Primitive
from logphi.inputs import check
from logphi.inputs.arguments import ADD_REMOVE, Real, Reals, Relation, frozen
from logphi.laws.normal.mixture_pair import MixturePair
from logphi.pairs.finite import FinitePair
from logphi.pairs.mixtures import NormalMixtures
from logphi.pairs.pair import Pair

# measured: the largest number of values; a hundred within ten sigma take a tenth of a second
MOST_VALUES = 4096
# measured: the largest distance of two values, in sigmas; a thousand values within fifty sigma take ten seconds
LARGEST_RANGE = 50.0


@frozen
class GaussianMixturePair(Primitive):
    """Adds N(0, sigma^2) to a value that is v_i with probability p_i if the record is present, and q_i if it is not.

    Pair: sum of p_i N(v_i, sigma^2) against sum of q_i N(v_i, sigma^2), two mixtures whose densities may cross many times.
    log-phi: K(z) = log E[u^{z+1} w^{-z}], u = sum of p_i e^{m_i X - m_i^2/2}, w likewise of q_i, with X standard normal and
    m_i = (v_i - v_1)/sigma: an integral, finite on the whole plane. Profile of one release: normal masses of the intervals
    where log P/Q exceeds eps.

    Parameters
    ----------
    sigma
        Standard deviation of the noise, in the units of the values; at 0 the values themselves are released.
    values
        The centres v_i of the cells of both histograms: distinct numbers, at most 4096, within 50 sigma.
    p, q
        The probabilities of the values with and without the record, each summing to one.
    adjacency
        The relation that the two laws stand for. Under ``replace``, the pair must dominate the laws of two such data sets in
        either order: which of the two is the first may differ between the mechanisms of a composition.

    Raises
    ------
    ValueError, TypeError
        If sigma is negative or not a finite number, the lists differ in length, values are equal or further apart than 50
        sigma, or p or q are not probabilities.

    References
    ----------
    [PLC] section 6.1.1 and Figure 6 (delays with and without a browser extension).

    Examples
    --------
    >>> one = GaussianMixturePair(sigma=1, values=[0, 1, 2], p=[0.5, 0.3, 0.2], q=[0.4, 0.4, 0.2])
    >>> round((1000 * one).delta(0.5).value, 9)
    0.792573334
    """

    sigma: Real
    values: Reals
    p: Reals
    q: Reals
    adjacency: Relation = ADD_REMOVE
    _distributions: ClassVar = ("p", "q")

    def __post_init__(self) -> None:
        values = check.real_array("values", self.values)
        if values.ndim != 1 or not 1 <= values.size <= MOST_VALUES:
            raise ValueError(f"values must be a list of 1 to {MOST_VALUES} numbers, got an array of shape {values.shape}")
        p, q = (check.probabilities(name, getattr(self, name), check.LEAST_SHARE) for name in ("p", "q"))
        if not len(p) == len(q) == values.size:
            raise ValueError(
                f"values, p and q must have the same length, got {values.size}, {len(p)} and {len(q)}: each probability "
                "belongs to the value at its place"
            )
        self._settle(sigma=check.nonnegative("sigma", self.sigma), values=check.entries(self.values, values), p=p, q=q)
        order = sorted(set(self.values))
        if len(order) < values.size:
            raise ValueError("values must be distinct: add up the probabilities of equal ones")
        if self.sigma and (order[-1] - order[0]) / self.sigma > LARGEST_RANGE:
            raise ValueError(
                f"values must lie within {LARGEST_RANGE:g} sigma of each other, got {order[0]!r} to {order[-1]!r} with "
                f"sigma={self.sigma!r}: so little noise hardly hides them; state the histograms themselves as a Discrete"
            )

    @property
    def _extreme(self) -> Pair | None:
        """The histograms themselves, if there is no noise."""
        return None if self.sigma else FinitePair(tuple(self.p), tuple(self.q))

    def pair(self) -> Pair:
        """The mixtures, without values of weight zero."""
        if extreme := self._extreme:
            return extreme
        cells = sorted(cell for cell in zip(self.values, self.p, self.q, strict=True) if cell[1] or cell[2])
        values, p, q = zip(*cells, strict=True)
        return NormalMixtures(MixturePair(self.sigma, values, p, q))
