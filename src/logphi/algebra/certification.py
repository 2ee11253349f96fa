"""The question of a certificate: a claim about one release, with its proof."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from logphi.answers.bound import Direction
from logphi.engine.directions import HasLoss, direction_of
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike
from logphi.text.written import meant

if TYPE_CHECKING:
    from logphi.certified.certificate import Certificate

# chosen: more digits are taken for a typing error
MOST_DIGITS = 1000
# chosen: of the work that a check may be, what is spent on each number of digits that is tried
SOON = 0.12


class Certifiable(HasLoss, Protocol):
    """A release that can be described to others."""

    def tree(self) -> list[tuple[int, dict[str, Any]]]:
        """Counts and distinct mechanisms as plain data."""
        ...

    def _manner(self) -> str: ...


def certify(
    self: Certifiable,
    *,
    epsilon: float | Fraction | None = None,
    delta: float | Fraction | None = None,
    digits: int = 15,
    direction: DirectionLike | None = None,
) -> Certificate:
    """A proof of delta at an epsilon or of epsilon at a delta, which anyone can check again.

    Every error of the whole chain is enclosed in balls. Parameters and the question are exact: numbers of an expression
    and Fractions as they were written, floats as the shortest decimals that read back as them. A float that was computed
    is such a decimal too: write ``Fraction(256, 60000)``, not ``256 / 60000``. Needs python-flint
    (``pip install python-flint``).

    Parameters
    ----------
    epsilon, delta
        The question, exactly one of the two: an epsilon, in nats, or a delta strictly between 0 and 1.
    digits
        How many digits are claimed, 1 to 1000: fewer where no more can be proved, or checked within the budget of
        ``logphi.verify``; the ``digits`` of the certificate say how many.
    direction
        One order of the neighbours, ``"remove"`` or ``"add"``; the larger of both unless given.

    Returns
    -------
    Certificate
        See :class:`logphi.certified.certificate.Certificate`.

    Raises
    ------
    ValueError, TypeError
        If the question is not such a number, or not exactly one is given; if a mechanism cannot be described to others or
        its numbers are ambiguous.
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
    """
    if (epsilon is None) == (delta is None):
        raise ValueError(f"give exactly one of epsilon and delta, got epsilon={epsilon!r} and delta={delta!r}")
    at = check.real("epsilon", epsilon) if delta is None else check.open_unit("delta", delta)
    digits = check.whole("digits", digits, 1, MOST_DIGITS)
    order = None if direction is None else direction_of(direction)
    tree, manner = self.tree(), self._manner()
    if not tree:
        raise ValueError("nothing is released, so that there is nothing to certify: compose at least one mechanism")

    from logphi.certified.certificate import issue
    from logphi.checker import verify
    from logphi.checker.work import LARGEST_WORK

    return issue(
        self._loss(),
        tree,
        manner,
        quantity="delta" if delta is None else "epsilon",
        at=meant(at),
        direction=None if order in (None, Direction.BOTH) else order.value,
        digits=digits,
        check=verify,
        check_soon=partial(verify, work=SOON * LARGEST_WORK),
    )
