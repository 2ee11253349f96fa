"""The log-phi of a release in LaTeX."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform

# chosen: the number of terms that are written out; the others are counted
_TERMS = 4
# chosen: the longest term, in characters
_LONGEST = 1200
# measured: a term with more numbers takes seconds to write
_LARGEST = 128


def latex(loss: LogPhi) -> str | None:
    r"""The logarithm log phi(alpha) = K(i alpha) in LaTeX; None if there is no symbolic form, or no short one.

    The first few terms of a long sum are written out. A term without a closed form is an integral.

    Examples
    --------
    >>> from logphi.mechanisms.gaussian import Gaussian
    >>> print(latex((2 * Gaussian(sigma=3)).loss_law()))
    $\displaystyle \log\varphi(\alpha) = 2 \left(\frac{i \alpha \left(i \alpha + 1\right)}{18}\right)$
    """
    written = [_term(law, count) for law, count in loss.terms[:_TERMS]]
    if any(term is None for term in written):
        return None
    more = len(loss.terms) - len(written)
    rest = [rf"\cdots\;\text{{({more} more)}}"] if more else []
    total = " + ".join([*filter(None, written), *rest]) or "0"
    return rf"$\displaystyle \log\varphi(\alpha) = {total}$"


def _term(law: LossTransform, count: int) -> str | None:
    if _size(law) > _LARGEST:
        return None
    import sympy

    from logphi.arith.symbolic import SYMBOLIC

    alpha = sympy.Symbol("alpha", real=True)
    try:
        text = str(sympy.latex(sympy.sympify(law.formula(SYMBOLIC, sympy.I * alpha))))
    except NotImplementedError:
        return None
    if len(text) > _LONGEST:
        return None
    return text if count == 1 else rf"{count} \left({text}\right)"


def _size(part: Any) -> int:
    """An estimate of the number of terms of a formula: its numbers, and integers that may count terms."""
    if isinstance(part, tuple):
        return sum(map(_size, part))
    if is_dataclass(part):
        return sum(_size(getattr(part, field.name)) for field in fields(part))
    return max(abs(part), 1) if isinstance(part, int) else 1
