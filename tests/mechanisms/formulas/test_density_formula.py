"""Densities and transforms that are written as formulas: their pieces, and their certificates."""

import math
from typing import Any

import pytest

pytest.importorskip("flint")
sympy = pytest.importorskip("sympy")

import logphi as lp  # noqa: E402

X, ALPHA, LINE = sympy.Symbol("x"), sympy.Symbol("alpha"), (-math.inf, math.inf)


def pieces(log_p, log_q, support=LINE, **more):
    return lp.FromDensities(log_p, log_q, support, **more).tree()[0][1]["parameters"]["pieces"]


def test_kinks_and_branches_are_ends():
    half = sympy.log(2)
    assert pieces(-sympy.Abs(X - 1) - half, -sympy.Abs(X) - half) == [
        ["-oo", "0", "x - 1 - log(2)", "x - log(2)"],
        ["0", "1", "x - 1 - log(2)", "-x - log(2)"],
        ["1", "oo", "-x - log(2) + 1", "-x - log(2)"],
    ]
    inside = sympy.Piecewise((0, sympy.And(X > 0.25, X < 1.25)), (-sympy.oo, True))
    assert pieces(inside, sympy.Piecewise((0, X < 1), (-sympy.oo, True)), (0, 1.25)) == [
        ["0", "1/4", None, "0"],
        ["1/4", "1", "0", "0"],
        ["1", "5/4", "0", None],
    ]


def test_any_name_of_the_output_and_floats_as_decimals():
    y = sympy.Symbol("y")
    found = lp.FromDensities(
        -((y - 0.1) ** 2) / 2 - sympy.log(2 * sympy.pi) / 2, -(y**2) / 2 - sympy.log(2 * sympy.pi) / 2, LINE
    )
    ((_, node),) = found.tree()
    assert "(x - 1/10)**2" in node["parameters"]["pieces"][0][2]
    certificate = found.certify(epsilon=0.01, digits=8)
    assert certificate.parameters == "floats as their shortest decimals"
    other = lp.Gaussian(sigma=10).delta(0.01)
    assert float(certificate.lower) <= other.lower <= other.upper <= float(certificate.upper)


@pytest.mark.parametrize(
    ("log_p", "message"),
    [
        (-sympy.Abs(X**2 - 2) - 1.1437, "no rational number|integrate to one"),
        (-(X**2) / 2 - sympy.log(2 * sympy.pi) / 2 + sympy.sin(X) / 10**9, "among what a certificate"),
    ],
)
def test_what_cannot_be_written_is_refused(log_p: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lp.FromDensities(log_p, -(X**2) / 2 - sympy.log(2 * sympy.pi) / 2, LINE).certify(epsilon=0.1)


def test_two_symbols_are_refused():
    with pytest.raises(ValueError, match=r"one symbol.*numbers with \.subs"):
        lp.FromDensities(-(X**2), -(sympy.Symbol("y") ** 2), LINE)


@pytest.mark.slow
def test_a_transform_is_certified_beside_noise():
    own = lp.FromLogPhi(lp.Laplace(scale=2).log_phi(ALPHA), ALPHA)
    found = (2 * own + lp.Gaussian(sigma=1)).certify(epsilon=0.7, digits=6)
    other = (2 * lp.Laplace(scale=2) + lp.Gaussian(sigma=1)).delta(0.7)
    assert float(found.lower) <= other.lower <= other.upper <= float(found.upper)
    assert lp.verify(found)


def test_histograms_with_noise_and_groups_under_replace():
    for release in (
        lp.GaussianMixturePair(sigma=1, values=[0, 1, 2], p=[0.5, 0.3, 0.2], q=[0.4, 0.4, 0.2]),
        lp.Gaussian(sigma=4).poisson(0.1, group_size=3, adjacency="replace"),
    ):
        found, other = release.certify(epsilon=0.05, digits=7), release.delta(0.05)
        assert float(found.lower) <= other.lower <= other.upper <= float(found.upper)
