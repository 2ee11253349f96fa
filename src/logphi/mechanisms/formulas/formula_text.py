"""SymPy expressions as texts in the grammar of certificates."""

from __future__ import annotations

from typing import Any


def decimals(expression: Any) -> Any:
    """The expression with floats replaced by their shortest decimals."""
    import sympy

    return expression.xreplace({one: sympy.Rational(repr(float(one))) for one in expression.atoms(sympy.Float)})


def floats(expression: Any) -> list[float]:
    """Its floating-point numbers."""
    import sympy

    return [float(one) for one in expression.atoms(sympy.Float)]


def plain(expression: Any, variable: Any) -> Any:
    """The expression in what certificates can hold; a ValueError that names a part that they cannot."""
    import sympy

    hyperbolic = sympy.functions.elementary.hyperbolic.HyperbolicFunction
    expression = expression.replace(lambda one: isinstance(one, hyperbolic), lambda one: one.rewrite(sympy.exp))
    expression = expression.replace(
        lambda one: isinstance(one, sympy.Pow) and not one.exp.is_Rational, lambda one: sympy.exp(one.exp * sympy.log(one.base))
    )
    known = (sympy.Add, sympy.Mul, sympy.Pow, sympy.exp, sympy.log, type(sympy.pi), type(sympy.E))
    for one in sympy.preorder_traversal(expression):
        if not (one == variable or one.is_Rational or isinstance(one, known)):
            raise ValueError(f"{one} is not among what a certificate can hold: + - * / **, exp, log, sqrt and rational numbers")
    return expression
