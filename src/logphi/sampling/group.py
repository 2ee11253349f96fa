"""Groups of records: the release as k records see it that all change together.

A group of k is k neighbours in a row, from the data set without the group to the one with it. What the mechanism does to a
record then tells what it does to the group:

* **a query of bounded sensitivity** (Gaussian, Laplace and their discrete and truncated kin): by the triangle inequality its
  value moves by at most k times as much. The group sees the same noise with k times the sensitivity, under every relation.
* **bounded range** (exponential mechanism): the losses of the steps add up, and so do their ranges, to k epsilon.
* **epsilon-DP**: by [f-DP] Theorem 2.14 a trade-off function f of one record makes 1 - (1 - f)^k, the k-fold iterate of
  1 - f, that of k. For epsilon-DP that is the trade-off function of two-sided geometric noise of scale 1/epsilon and
  sensitivity k, which is epsilon-DP for one record; no pair for the group is smaller. It promises (k epsilon, 0), and more.
* **(epsilon, delta)-DP**: (k epsilon, (1 + e^eps + ... + e^{(k-1) eps}) delta), Dwork & Roth 2014, Theorem 2.2. An upper bound.
* **randomized responses** of k records are k independent responses: the product pair, at most.
* **a Poisson sample** draws each record by itself: ``group_size`` (of the Gaussian).
* **a composition**: two data sets are fixed that differ in the group; each release is dominated by the pair of its group, and
  the pairs compose ([AFA] Theorem 10).

All others are known by the pair of one record only. What two data sets further apart do does not follow exactly, and it is
refused. That of distance to instability is a test of a threshold, whose failure k records make likelier than one.
"""

from __future__ import annotations

from logphi.pairs.pair import UnsupportedError

# chosen: the largest group that is asked about
LARGEST_SIZE = 10**9


def refusal(name: str, size: int) -> UnsupportedError:
    """Why a mechanism has no group, and what to do."""
    return UnsupportedError(
        f"a group of {size} records of a {name} is not known: its parameters tell what one record does, not what several do "
        f"together; state the mechanism of the group itself, or take lp.classical.group.group_guarantee(guarantee, {size}), "
        "which is an upper bound"
    )
