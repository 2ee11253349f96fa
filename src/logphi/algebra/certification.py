"""Certificates of a release: claims that are proved, and that anyone can check again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, overload

from logphi.answers.status import Direction
from logphi.engine.directions import HasLoss, direction_of
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike, Scalar
from logphi.text.written import meant

if TYPE_CHECKING:
    from logphi.certified.certificate import Certificate
    from logphi.certified.claims import Asked, CertifiedClaims, Described

# chosen: more digits are taken for a typing mistake
MOST_DIGITS = 1000
# for each argument, the quantity that is claimed there, and the check of the argument
_CLAIMED = {
    "epsilon": ("delta", check.real),
    "delta": ("epsilon", check.open_unit),
    "type_one_error": ("tradeoff", check.open_unit),
    "order": ("renyi", check.real),
}
# chosen: the share of a check's budget that is spent on a claim that is tried
SOON = 0.35


class Describable(HasLoss, Protocol):
    """A release that can be described to others."""

    def tree(self) -> list[tuple[int, dict[str, Any]]]:
        """Counts and distinct mechanisms as plain data."""
        ...

    def _manner(self) -> str: ...

    @property
    def _bracketed(self) -> bool: ...

    @property
    def _certified_by(self) -> Any: ...


# of one question the answer is a Certificate, but for releases of which only bounds are known: Any keeps its attributes at hand
@overload
def certify(
    self: Describable,
    *,
    epsilon: Scalar | None = None,
    delta: Scalar | None = None,
    digits: int = 15,
    direction: DirectionLike | None = None,
) -> Certificate | Any: ...
@overload
def certify(
    self: Describable,
    *,
    epsilon: Scalar | Sequence[Scalar] | None = None,
    delta: Scalar | Sequence[Scalar] | None = None,
    type_one_error: Scalar | Sequence[Scalar] | None = None,
    order: Scalar | Sequence[Scalar] | None = None,
    advantage: bool = False,
    digits: int = 15,
    direction: DirectionLike | None = None,
) -> Certificate | CertifiedClaims: ...
def certify(
    self: Describable,
    *,
    epsilon: Scalar | Sequence[Scalar] | None = None,
    delta: Scalar | Sequence[Scalar] | None = None,
    type_one_error: Scalar | Sequence[Scalar] | None = None,
    order: Scalar | Sequence[Scalar] | None = None,
    advantage: bool = False,
    digits: int = 15,
    direction: DirectionLike | None = None,
) -> Certificate | CertifiedClaims:
    """A proof of delta at an epsilon or of epsilon at a delta, which anyone can check again.

    Every error of the whole chain is enclosed in balls. Parameters and the question are exact: numbers of an expression
    and Fractions as they were written, floats as the shortest decimals that read back as them. A float that was computed
    is such a decimal too: write ``Fraction(256, 60000)``, not ``256 / 60000``. Needs python-flint
    (``pip install python-flint``).

    Parameters
    ----------
    epsilon, delta
        The question, one of the two: an epsilon, in nats, or a delta strictly between 0 and 1. Lists of them, and what follows,
        make one certificate of several claims.
    type_one_error
        Type I errors strictly between 0 and 1, at each of which the trade-off function is claimed.
    order
        Orders above 1, at each of which the Renyi divergence is claimed.
    advantage
        Whether the membership advantage is claimed, delta at 0.
    digits
        How many digits to claim, 1 to 1000. The certificate has fewer if no more can be proved, or checked within the budget of
        ``logphi.verify``; its ``digits`` says how many.
    direction
        One direction, ``"remove"`` or ``"add"``; the larger of both unless given.

    Returns
    -------
    Certificate or CertifiedClaims
        One claim is a :class:`logphi.certified.certificate.Certificate`. Lists, a type I error, an order or the advantage make
        a :class:`logphi.certified.claims.CertifiedClaims`. So does a release with a part that is known by bounds only (ZCDP,
        RenyiDP, VectorDiscreteGaussian, Skellam, StabilityThreshold, SparseVector, ShuffledReports, the best of many runs): it
        claims what the release leaks at most, without a lower end. For random allocation to several batches of an epoch, the
        certificate is about the smaller epochs that dominate it.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range, or none or two are given; if certificates have no name for a mechanism, or its numbers
        are ambiguous.
    NotCertifiedError
        If not a single digit can be certified, or there is no finite answer; a ValueError.
    ImportError
        If python-flint is not installed.

    Examples
    --------
    >>> import logphi as lp
    >>> print((100 * lp.Gaussian(sigma=20)).certify(delta=1e-5, digits=10))
    certified: 1.99309140440 <= epsilon <= 1.99309140443 at delta = 1e-05
      to 10 digits, under add_remove, parameters as written, for 100 releases
    >>> print(lp.GaussianMixture(1, [1, 2], [0.9, 0.1]).certify(delta=1e-5, digits=10))
    certified: 6.76786908797 <= epsilon <= 6.76786908800 at delta = 1e-05
      to 10 digits, under add_remove, floats as their shortest decimals, for 1 release
    >>> print((100 * lp.Gaussian(sigma=20)).certify(delta=[1e-5, 1e-6], type_one_error=0.01, order=8, advantage=True, digits=6))
    certified: 1.9930913 <= epsilon <= 1.9930916 at delta = 1e-05
    certified: 2.2540845 <= epsilon <= 2.2540848 at delta = 1e-06
    certified: 0.966100626 <= type II error <= 0.966101496 at type I error = 0.01
    certified: 0.999999550 <= Renyi divergence <= 1.00000046 at order = 8
    certified: 0.19741264 <= membership advantage <= 0.19741267
      under add_remove, parameters as written, for 100 releases
    """
    given = {"delta": delta, "epsilon": epsilon, "type_one_error": type_one_error, "order": order}
    several = advantage or any(_is_list(one) for one in given.values()) or type_one_error is not None or order is not None

    from logphi.certified.certificate import issue
    from logphi.certified.claims import Known

    own = described(self)
    if several or own.known is not Known.LAW:
        return _claimed(self, own, given, advantage, digits, direction)
    if (epsilon is None) == (delta is None):
        raise ValueError(f"give exactly one of epsilon and delta, got epsilon={epsilon!r} and delta={delta!r}")
    at = check.real("epsilon", epsilon) if delta is None else check.open_unit("delta", delta)
    digits = check.whole("digits", digits, 1, MOST_DIGITS)
    return issue(
        own.loss,
        own.tree,
        own.manner,
        quantity="delta" if delta is None else "epsilon",
        at=meant(at),
        direction=_one_order(direction),
        digits=digits,
        **_checks(),
    )


def certify_together(
    release: Describable,
    given: Mapping[str, Any],
    *,
    advantage: bool,
    digits: int,
    direction: DirectionLike | None = None,
) -> CertifiedClaims:
    """One certificate of all that is given, of upper ends where no more is known."""
    return _claimed(release, described(release), given, advantage, digits, direction)


def _claimed(
    release: Describable,
    own: Described,
    given: Mapping[str, Any],
    advantage: bool,
    digits: int,
    direction: DirectionLike | None,
) -> CertifiedClaims:
    from logphi.certified.claims import Known

    asked = claims_of(own, given, advantage=advantage, direction=direction)
    digits = check.whole("digits", digits, 1, MOST_DIGITS)
    return _together(asked, digits) if own.known is Known.LAW else _above(release, asked, digits)


def described(release: Describable) -> Described:
    """A release as certificates write it; a ValueError if it has no such description."""
    from logphi.certified.certificate import is_above
    from logphi.certified.claims import Described, Known

    whole: Any = release._certified_by
    tree, manner = whole.tree(), whole._manner()
    if not tree:
        raise ValueError("nothing is released, and so there is nothing to certify: compose at least one mechanism")
    above = whole is not release or any(is_above(node) for _, node in tree)
    known = Known.ABOVE if above else Known.BRACKET if whole._bracketed else Known.LAW
    return Described((whole.cover if whole._bracketed else whole)._loss(), tree, manner, known)


def claims_of(
    release: Described, given: Mapping[str, Any], *, advantage: bool, direction: DirectionLike | None = None
) -> list[Asked]:
    """The claims to be made about a release, at the numbers that are given for each quantity."""
    from logphi.certified.claims import Asked

    one_order = _one_order(direction)
    places = [
        (_CLAIMED[name][0], meant(_CLAIMED[name][1](name, one)))
        for name, some in given.items()
        for one in (some if _is_list(some) else [some])
        if some is not None
    ]
    if any(quantity == "renyi" and not at > 1 for quantity, at in places):
        raise ValueError("a certificate holds Renyi divergences of orders above 1: instead of 1 use an order slightly above it")
    if advantage:
        places.append(("advantage", Fraction(0)))
    if not places:
        raise ValueError("there is nothing to certify in empty lists: give an epsilon, a delta or another question")
    return [Asked(release, quantity, at, one_order) for quantity, at in places]


def suffices(release: Describable, miss: Describable | None, epsilon: float, delta: float) -> CertifiedClaims:
    """The certificate that an epsilon suffices for a release at a delta, and that it does not for ``miss``."""
    from logphi.certified.claims import Asked, Known

    end, at = meant(epsilon), meant(delta)
    asked = [Asked(described(release), "epsilon", at, upper=end)]
    other = None if miss is None else described(miss)
    # where only upper bounds are known, nothing shows that the other release leaks more
    if other is not None and other.known is not Known.ABOVE:
        asked.append(Asked(other, "epsilon", at, lower=end))
    return _together(asked, MOST_DIGITS)


def _together(asked: Sequence[Asked], digits: int) -> CertifiedClaims:
    """One certificate of several claims, checked."""
    from logphi.certified.several import issue_several

    return issue_several(asked, digits=digits, **_checks())


def _above(release: Describable, asked: Sequence[Asked], digits: int) -> CertifiedClaims:
    """The private ends: upper ones, and the lower one of a type II error; both ends of a bracket."""
    from logphi.certified.claims import Known
    from logphi.certified.upper_ends import issue_above

    return issue_above(release, asked, digits=digits, both=asked[0].release.known is Known.BRACKET, **_checks())


def _one_order(direction: DirectionLike | None) -> str | None:
    """The name of the one direction that is asked for; None for the larger of both."""
    order = None if direction is None else direction_of(direction)
    return None if order in (None, Direction.BOTH) else order.value


def _checks() -> dict[str, Callable[[Any], Any]]:
    """The check of a certificate, and the quicker one for each number of digits that is tried."""
    from logphi.certified.checked import check as check_with_proofs
    from logphi.checker import verify
    from logphi.checker.arithmetic.work import LARGEST_WORK

    known = partial(check_with_proofs, verify=verify)
    return {"check": partial(known, work=LARGEST_WORK), "check_soon": partial(known, work=SOON * LARGEST_WORK)}


def _is_list(given: Any) -> bool:
    # arrays of no dimension are numbers, and text is none, although its entries are
    return hasattr(given, "__len__") and getattr(given, "ndim", 1) > 0 and not isinstance(given, (str, bytes, bytearray))
