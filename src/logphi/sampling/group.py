"""Groups of records: what a release reveals if k records change at once.

From the data set without the group to the one with it, k steps lead from neighbour to neighbour. The guarantee for one record
then implies one for the group:

* **a query of bounded sensitivity** (Gaussian, Laplace and their discrete and truncated variants): by the triangle inequality
  its value changes by at most k times as much: the same noise with k times the sensitivity, under every relation.
* **bounded range** (exponential mechanism): the losses of the k steps add up, and so do their ranges, to k epsilon.
* **epsilon-DP**: by [f-DP] Theorem 2.14 a trade-off function f of one record makes 1 - (1 - f)^k, the k-fold iterate of
  1 - f, that of k. For epsilon-DP that is the trade-off function of two-sided geometric noise of scale 1/epsilon and
  sensitivity k, which is epsilon-DP for one record; no pair for the group is smaller. It promises (k epsilon, 0), and more.
* **(epsilon, delta)-DP**: (k epsilon, (1 + e^eps + ... + e^{(k-1) eps}) delta), Dwork & Roth 2014, Theorem 2.2. An upper bound.
* **randomized responses** of k records are k independent responses: the product pair, at most.
* **a Poisson sample** draws each record independently: ``group_size`` (known for the Gaussian). Under add/remove P is a mixture
  of shifts with binomial weights; under replace Q is one of shifts in the opposite direction, see below.
* **a subset of fixed size**, a share g of all records, holds at least one of the group with probability k g at most. If it
  holds none, the samples with and without the group agree; if it holds some, at most k records are replaced. Hence the bound
  is the group of the base on a subset of the share k g, as a larger share never leaks less. An upper bound.
* **random allocation** of Gaussian noise N(0, s^2), which is the sum of k independent N(0, s^2 / k): give each record a release
  of its own with one of these. The actual release is a function of k such independent allocations. An upper bound, which for
  one batch agrees with the query's. Randomized responses are k independent ones anyway.
* **banded runs** whose batches are drawn from the parts of the records in turn: the same, with a run for each record, as the
  records may be in several parts. An upper bound.
* **shuffled batches**: the group of one release an epoch, which dominates them. An upper bound.
* **a composition**: two data sets are fixed that differ in the group; each release is dominated by the pair of its group, and
  the pairs compose ([AFA] Theorem 10).

Why opposite directions are the worst case of a Poisson sample under replace (Schuchardt et al. 2024 have the same pair): let i
of the group be drawn before, j after, with weights w_i and v_j. Given both, the centres a and b of the outputs are (i + j) s
apart at most. Take any weights M_ij with sums w_i phi(C - i s) over j and g v_j phi(C + j s) over i, at the place C where
sum w_i phi(C - i s) = g sum v_j phi(C + j s), and split w_i in proportion to M_ij / phi(C - i s), g v_j to M_ij / phi(C + j s).
By joint convexity the hockey-stick divergence is at most the sum of those of the parts, which grow with the distance. For
a = i s and b = -j s on a line the likelihood ratio of every part increases and crosses one at C, and so does that of the whole:
the bound is attained for every g.

Other mechanisms are known by the pair of one record only, which does not determine that of a group: these are refused. So is
distance to instability, a test of a threshold that k records fail more easily than one.
"""

from __future__ import annotations

from logphi.pairs.pair import UnsupportedError

# chosen: the largest group
LARGEST_SIZE = 10**9


def refusal(name: str, size: int) -> UnsupportedError:
    """The refusal for a mechanism whose group has no known pair, with a bound to use instead."""
    return UnsupportedError(
        f"a group of {size} records of a {name} is not known: its parameters determine the pair of one record, not that of "
        f"several; state the mechanism of the group itself, or take lp.classical.group.group_guarantee(guarantee, {size}), "
        "which is an upper bound"
    )
