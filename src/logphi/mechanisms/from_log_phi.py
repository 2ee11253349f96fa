"""A mechanism given by the symbolic log-phi of its loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from logphi.algebra.release import Primitive
from logphi.inputs.arguments import ADD_REMOVE, Relation, frozen
from logphi.laws.expression import Expression
from logphi.laws.log_phi import LogPhi
from logphi.mechanisms.formulas.formula_text import decimals, floats, plain
from logphi.text.description import node, rational

# chosen: the tolerated rounding of a mass, of a symmetry, and of a second difference
TOLERANCE = 1e-9


@frozen
class FromLogPhi(Primitive):
    """A mechanism given by a SymPy expression of log phi(alpha), alpha = -i z. All errors are estimates.

    log-phi: K(z) = expression at alpha = -i z, so that phi(alpha) = E_P[e^{i alpha L}; L < inf]; the other direction follows as
    K(-1 - z). The finite masses are e^{K(0)} and e^{K(-1)}. Removable singularities are filled in; K matters only up to
    multiples of 2 pi i, but must be continuous along vertical lines. Apart from what is refused below, the library cannot check
    that the expression is the log-phi of any pair.

    Parameters
    ----------
    expression
        The log-phi, in the symbol ``alpha`` alone.
    alpha
        The symbol.
    adjacency
        The relation that the pair stands for.

    Raises
    ------
    ValueError, TypeError
        If there are other symbols, a finite mass is above one, K is not real on [-1, 0] or not convex there, or values at
        conjugate points are not conjugate.

    References
    ----------
    [AFA] Definition 12.

    Examples
    --------
    >>> import sympy
    >>> alpha = sympy.Symbol("alpha")
    >>> gaussian = FromLogPhi((sympy.I * alpha - alpha**2) / 2, alpha)
    >>> round(gaussian.delta(0.5).value, 9)
    0.238421708
    """

    expression: Any
    alpha: Any
    adjacency: Relation = ADD_REMOVE

    def __post_init__(self) -> None:
        import sympy

        if not isinstance(self.alpha, sympy.Symbol):
            raise TypeError(f"alpha must be a sympy.Symbol, got {self.alpha!r} of type {type(self.alpha).__name__}")
        try:
            expression = sympy.sympify(self.expression, strict=True)
        except sympy.SympifyError:
            expression = None
        if not isinstance(expression, sympy.Expr):
            raise TypeError(
                f"expression must be a SymPy expression, got {self.expression!r} of type {type(self.expression).__name__}"
            )
        others = sorted(map(str, expression.free_symbols - {self.alpha}))
        if others:
            raise ValueError(
                f"expression must hold no symbol but {self.alpha}, got {', '.join(others)}: put numbers in with .subs"
            )
        self._settle(expression=expression, alpha=self.alpha)
        self._examine()

    def _examine(self) -> None:
        """Check the properties of every log-phi."""
        law = Expression(self.expression, self.alpha)
        c = np.linspace(-1.0, 0.0, 9)
        values, _ = law.evaluated(c.astype(complex))
        argument = values.imag - 2 * np.pi * np.round(values.imag / (2 * np.pi))
        bad = ~(np.isfinite(values) & (np.abs(argument) <= TOLERANCE * (1 + np.abs(values))))
        if bad.any():
            k = int(np.argmax(bad))
            raise ValueError(
                "K(z), the expression at alpha = -i z, must be real and finite for z in [-1, 0], got "
                f"{complex(values[k])!r} at z = {c[k]:g}: check the sign of alpha, phi(alpha) = E[e^(i alpha L)]"
            )
        for place, k in ((0, -1), (-1, 0)):
            if values[k].real > TOLERANCE:
                raise ValueError(
                    f"K({place}) is the logarithm of a mass and must not be positive, got {values[k].real:.9g}: phi is not "
                    "that of a privacy loss; normalize it, and check the sign of alpha"
                )
        bends = np.diff(values.real, 2)
        if bends.min() < -TOLERANCE * (1 + float(np.abs(values.real).max())):
            raise ValueError(
                f"K must be convex on [-1, 0], got a second difference of {float(bends.min()):.3g} near z = "
                f"{c[1 + int(np.argmin(bends))]:g}: the logarithm of a Laplace transform is; check the sign of the expression"
            )
        z = np.array([-0.3 + 0.7j, -0.8 + 2.1j, -0.5 + 5.3j])
        gap = law.asymmetry(z)
        if not np.all(np.abs(gap) <= TOLERANCE * 100):
            k = int(np.argmax(np.abs(gap)))
            raise ValueError(
                f"K must take conjugate values at conjugate points, got a difference of {abs(gap[k]):.3g} at "
                f"z = {complex(z[k])!r}: phi is not that of a real loss; look for a conjugate, a modulus, or a missing I"
            )

    def _transform(self) -> str:
        """M(z) = e^{K(z)}, in which logarithms cancel, in the grammar of certificates; a ValueError if it cannot be written."""
        import sympy

        z = sympy.Symbol("z")
        return str(plain(sympy.exp(decimals(self.expression).subs(self.alpha, -sympy.I * z)), z))

    def _uncertified(self) -> str:
        try:
            self._transform()
        except ValueError as wrong:
            return f"certificates do not know this log-phi: {wrong}"
        return ""

    def _data(self, write: Callable[[str, Any], Any]) -> dict[str, Any]:
        if write is not rational:
            return super()._data(write)
        return node("FromLogPhi", self.adjacency.value, {"transform": self._transform()}, lambda _, value: value)

    def _numbers(self) -> Iterator[float]:
        return iter(floats(self.expression))

    def loss_law(self) -> LogPhi:
        """The law of the expression."""
        return LogPhi.of([(Expression(self.expression, self.alpha), 1)])
