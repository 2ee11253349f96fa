"""Whether one mechanism dominates another, proved or refuted."""

from __future__ import annotations

from logphi.algebra.families import hulls_are_loose, terms_of
from logphi.algebra.release import Mechanism
from logphi.pairs.pair import UnsupportedError
from logphi.questions.dominance import Dominance, dominance


def dominates(first: Mechanism, second: Mechanism) -> Dominance:
    """Whether H_a(P_2||Q_2) <= H_a(P_1||Q_1) for all a > 0: delta_2(eps) <= delta_1(eps) for all real eps ([AFA] Definition 7).

    The pairs are compared in one direction, with the record against without it; the other direction is the same statement about
    1/a. So under add/remove the profiles of each direction are compared, not the larger of both with the larger of both, which
    would be a weaker relation that composition does not preserve. Composition preserves the relation proved here: given
    ``dominates(a, b)``, ``a + c`` dominates ``b + c`` ([AFA] Theorem 10), and every quantity that grows with the profile is,
    for b, at most that for a.

    The decision is proved, refuted by an epsilon, or left open where the bounds do not decide: for profiles that touch, as
    those of one mechanism written in two ways may, and for tails that are not known. It takes a tenth of a second for most
    pairs, and minutes for some compositions of many sampled releases, whose profiles are slow at large epsilons.

    Parameters
    ----------
    first, second
        Mechanisms under one relation.

    Returns
    -------
    Dominance
        See :class:`logphi.questions.dominance.Dominance`; true only if it is proved.

    Raises
    ------
    ValueError, TypeError
        If an argument is not a mechanism, or their relations differ.

    References
    ----------
    [AFA] Definition 7; [LT] Definition 3.2.

    Examples
    --------
    >>> import logphi as lp
    >>> bool(dominates(lp.Gaussian(sigma=1), 3 * lp.Laplace(scale=10)))
    True
    >>> print(dominates(lp.Gaussian(sigma=1), lp.PureDP(epsilon=1)))
    refuted: the second profile is larger
      at direction 'both', epsilon = 0.1250000000000001:
        log delta of the first mechanism: -1.064881591 (between -1.064881591498 and -1.064881591497)
        log delta of the second mechanism: -0.8525931352 (between -0.8525931352174 and -0.8525931352163)
    """
    for name, one in (("first", first), ("second", second)):
        if not isinstance(one, Mechanism):
            raise TypeError(f"{name} must be a mechanism, got {one!r} of type {type(one).__name__}")
        if hulls_are_loose(terms_of(one)):
            raise UnsupportedError(
                f"{name} stands for a family of mechanisms, several of a bounded range or one known by its divergences, which "
                "has no single pair: compare delta at the epsilons that matter"
            )
    if first.adjacency is not second.adjacency and second.counted() and first.counted():
        raise ValueError(
            f"the mechanisms are stated under {first.adjacency.value!r} and {second.adjacency.value!r}: their pairs are about "
            "different neighbours; state both under one relation"
        )
    return dominance(first.loss_law(), second.loss_law())
