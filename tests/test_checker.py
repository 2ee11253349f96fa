"""Certificates made by hand from the reference values: true ones are accepted, altered ones are not, and nothing crashes."""

import ast
import copy
import decimal
import hashlib
import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

flint = pytest.importorskip("flint")

from logphi.checker import verify  # noqa: E402
from logphi.checker.reading import NOT_COVERED  # noqa: E402

CASES = json.loads((Path(__file__).parent / "reference" / "cases.json").read_text(encoding="utf-8"))["cases"]
# constructors: parameters in their order, and defaults
SIGNATURES = {
    "Gaussian": {"sigma": None, "sensitivity": "1"},
    "Laplace": {"scale": None, "sensitivity": "1"},
    "DiscreteLaplace": {"scale": None, "sensitivity": "1"},
    "DiscreteGaussian": {"sigma": None, "sensitivity": "1", "truncation": None},
    "RandomizedResponse": {"p": None},
    "KaryRandomizedResponse": {"k": None, "p": None},
    "GaussianMixture": {"sigma": None, "sensitivities": None, "probabilities": None},
    "ExponentialMechanism": {"epsilon": None},
    "PureDP": {"epsilon": None},
    "ApproximateDP": {"epsilon": None, "delta": None},
    "DistanceToInstability": {"epsilon": None, "delta": None},
    "GaussianPair": {"mean_p": None, "sigma_p": None, "mean_q": None, "sigma_q": None},
    "Discrete": {"p": None, "q": None},
    "poisson": {"rate": None, "group_size": "1"},
    "subset": {"rate": None},
}


def tree(expression: str) -> list:
    """The counted mechanisms of an expression, as a certificate writes them."""

    def number(node: ast.expr):
        if isinstance(node, ast.List):
            return [number(one) for one in node.elts]
        if isinstance(node, ast.BinOp):
            return f"{Fraction(number(node.left)) / Fraction(number(node.right))}"
        return ast.get_source_segment(expression, node)

    def mechanism(call: ast.Call) -> dict:
        sampled = isinstance(call.func, ast.Attribute)
        base = mechanism(call.func.value) if sampled else None
        name = call.func.attr if sampled else call.func.id
        adjacency = base["adjacency"] if base else "add_remove"
        parameters = dict(SIGNATURES[name])
        parameters.update({key: number(value) for key, value in zip(parameters, call.args, strict=False)})
        for keyword in call.keywords:
            if keyword.arg == "adjacency":
                adjacency = keyword.value.value
            else:
                parameters[keyword.arg] = number(keyword.value)
        node = {"name": name, "adjacency": adjacency, "parameters": parameters}
        return {**node, "base": base} if base else node

    def terms(node: ast.expr) -> list:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return terms(node.left) + terms(node.right)
        if isinstance(node, ast.BinOp):
            return [[node.left.value, mechanism(node.right)]]
        return [[1, mechanism(node)]]

    return terms(ast.parse(expression, mode="eval").body)


def signed(certificate: dict) -> dict:
    body = {key: value for key, value in certificate.items() if key != "sha256"}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return {**body, "sha256": hashlib.sha256(text.encode()).hexdigest()}


def outward(value: str, shift: str = "0", digits: int = 15) -> tuple[str, str]:
    """Decimals around a value moved by a relative shift, with a unit to spare."""
    with decimal.localcontext() as context:
        context.prec = 60
        moved = Decimal(value) * (1 + Decimal(shift))
        unit = Decimal(10) ** (moved.adjusted() - digits - 1)
        low, high = moved / unit, moved / unit
        return (
            str((low.to_integral_value(decimal.ROUND_FLOOR) - 1) * unit),
            str((high.to_integral_value(decimal.ROUND_CEILING) + 1) * unit),
        )


def certificate(case: dict, shift: str = "0", digits: int = 15) -> dict:
    low, high = outward(case["value"], shift, digits)
    mechanism = tree(case["expression"])
    adjacency = case["adjacency"]
    for _, node in mechanism:
        node["adjacency"] = adjacency
    return signed(
        {
            "format": "logphi-certificate",
            "version": 1,
            "made_by": {"logphi": "0.1.0", "python-flint": "0.9.0", "flint": "3.6.0"},
            "mechanism": mechanism,
            "parameters": "as written",
            "adjacency": adjacency,
            "claim": {
                "quantity": case["query"],
                "at": case["at"],
                "direction": case["direction"],
                "attained": case["attained"] or case["direction"] or ("remove" if adjacency == "remove" else "both"),
                "digits": digits,
                "lower": low,
                "upper": high,
            },
            "witness": {"remove": {"route": "pieces"}},
            "not_covered": list(NOT_COVERED),
        }
    )
