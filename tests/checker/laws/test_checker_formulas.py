"""Densities that are formulas: the grammar, bounds far out, and masses, against mpmath."""

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

pytest.importorskip("flint")

import mpmath
from flint import acb, arb

from logphi.certified.witness.ranges import atoms, loss_range
from logphi.checker import verify
from logphi.checker.arithmetic.balls import ball, precision
from logphi.checker.arithmetic.work import Undecided
from logphi.checker.formulas.asymptotic import Asymptotic, AsymptoticArithmetic
from logphi.checker.formulas.formula import Complex, NotAFormula, Piece, read, series
from logphi.checker.mechanisms.densities import Densities
from logphi.checker.text.reading import NOT_COVERED
from proven import proven


def piece(low: Any, high: Any, log_p: Any, log_q: Any) -> Piece:
    first, last = (None if end is None else Fraction(end) for end in (low, high))
    return Piece(first, last, *(one and read(one, "x") for one in (log_p, log_q)))


LAWS = {
    "cauchy": (piece(None, None, "-log(1 + (x - 1)**2)", "-log(1 + x**2)"),),
    "student": (piece(None, None, "-2*log(3 + (x - 1/2)**2)", "-2*log(3 + x**2)"),),
    "laplace": (piece(None, 0, "x - 1", "x"), piece(0, 1, "x - 1", "-x"), piece(1, None, "1 - x", "-x")),
    "gamma": (piece(0, None, "-x - log(x)/2", "-2*x + log(x)/2"),),
    "two humps": (piece(None, None, "-(x**2 - 1)**2", "-x**4/2"),),
    "parts alone": (piece("-1", "1/3", "x", None), piece("1/3", 2, "x", "-x**2"), piece(2, "11/5", None, "0")),
}
EPSILONS = ("-1/2", "0", "7/10")


def of(pieces: Any) -> Densities:
    return Densities(lambda: (pieces, [arb(0), arb(0)]))


def log_of(law: Any, side: int) -> Any:
    """The density in mpmath, not divided by its integral."""

    def density(x):
        for one in law:
            inside = (one.low is None or x >= one.low.numerator / mpmath.mpf(one.low.denominator)) and (
                one.high is None or x < one.high.numerator / mpmath.mpf(one.high.denominator)
            )
            formula = (one.log_p, one.log_q)[side]
            if inside:
                return mpmath.exp(eval(formula.text, {"x": x, "log": mpmath.log})) if formula else mpmath.mpf(0)
        return mpmath.mpf(0)

    return density


def edges(law: Any) -> list[Any]:
    ends = {end for one in law for end in (one.low, one.high) if end is not None}
    inner = [mpmath.mpf(end.numerator) / end.denominator for end in ends]
    near = [x for x in (-8, -3, -1, 0, 1, 3, 8) if min(inner, default=-9) < x < max(inner, default=9) or law[-1].high is None]
    outside = [-mpmath.inf] * (law[0].low is None) + [mpmath.inf] * (law[-1].high is None)
    return sorted({*inner, *(x for x in near if law[0].low is None or x > min(inner)), *outside})


@pytest.mark.few(1)
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("side", [0, 1])
def test_the_excess_is_that_of_a_quadrature(name: str, side: int) -> None:
    """Of both orders; where the loss crosses epsilon is found on a grid and by bisection."""
    law = LAWS[name]
    densities = [log_of(law, k) for k in (0, 1)]
    with mpmath.workdps(15), precision(110):
        cuts = edges(law)
        wholes = [mpmath.quad(one, cuts) for one in densities]
        p, q = ((lambda x, k=k: densities[k](x) / wholes[k]) for k in ((0, 1) if side == 0 else (1, 0)))
        ours = of(law) if side == 0 else of(law).reversed()
        for epsilon in EPSILONS:
            level = mpmath.exp(Fraction(epsilon).numerator / mpmath.mpf(Fraction(epsilon).denominator))
            crossings = roots(lambda x, level=level: p(x) - level * q(x), cuts)
            found = mpmath.quad(lambda x, level=level: max(p(x) - level * q(x), 0), sorted({*cuts, *crossings}))
            mine = ours.single_excess(ball(Fraction(epsilon))) + ours.infinite()
            assert abs(mpmath.mpf(str(mine.mid().str(25, radius=False))) - found) < 1e-8, epsilon
            assert mine.rad() < 1e-15


def roots(function: Any, cuts: Any) -> list[Any]:
    """Where a function changes its sign between the cuts, infinite ends moved to 60."""
    found = []
    inside = [min(max(cut, mpmath.mpf(-60)), mpmath.mpf(60)) for cut in cuts]
    for low, high in pairwise(inside):
        grid = [low + (high - low) * (k + mpmath.mpf("0.37")) / 60 for k in range(60)]
        for a, b in pairwise(grid):
            if function(a) * function(b) < 0:
                found.append(mpmath.findroot(function, (a, b), solver="anderson", tol=1e-25, verify=False))
    return found


@pytest.mark.parametrize("name", LAWS)
def test_tails_and_excess_agree(name: str) -> None:
    """Two ways of adding up the same parts; and the reverse of the reverse is itself."""
    law = of(LAWS[name])
    with precision(110):
        for epsilon in map(ball, map(Fraction, EPSILONS)):
            for own in (law, law.reversed()):
                p, q = own.tails(epsilon)
                assert (p - epsilon.exp() * q).overlaps(own.single_excess(epsilon))
                assert -1e-15 < q <= p * (-epsilon).exp() + 1e-15 <= 1 + (-epsilon).exp()
        low, high = loss_range(law, -20.0)
        assert law.tails(arb(high) + 1e-6)[0].abs_upper() < 1e-6 or name == "gamma"
        assert low <= 0 <= high


def test_an_atom_is_between_the_values_on_its_sides():
    with precision(110):
        law = of(LAWS["laplace"])
        p, _ = law.tails(arb(1))
        assert p.contains(arb("0.25"))
        assert p.lower() < 1e-15
        assert p.upper() > 0.5 - 1e-15
        assert [round(float(one)) for one in atoms(law)] == [-1, 1]
        assert law.single_excess(arb(1)).abs_upper() < 1e-15


@pytest.mark.parametrize(
    "text",
    [
        "-log(1+x**2)",
        "x**(1/2)*exp(-x)",
        "x**-3",
        "2*x/3/4 - -x",
        "-x**2",
        "sqrt(x)*pi - E",
        "(1.25 - x)*(x)",
        "x**(-3/2)",
        "1 - 2 - 3",
    ],
)
def test_formulas_are_read_as_python_reads_them(text: str) -> None:
    formula, x = read(text, "x"), 1.75
    known = {"x": x, "log": math.log, "exp": math.exp, "sqrt": math.sqrt, "pi": math.pi, "E": math.e}
    with precision(100):
        assert abs(float(formula.at(acb(x), Complex(True)).real.mid()) - eval(text, known)) < 1e-13
        values, step = series(formula, arb(x), 3), 1e-4
        slope = (eval(text, {**known, "x": x + step}) - eval(text, {**known, "x": x - step})) / (2 * step)
        assert abs(float(values[1].mid()) - slope) < 1e-5


@pytest.mark.parametrize(
    "text",
    [
        "", "x x", "x +", "(x", "x)", "y", "x**x", "x**(1/0)", "x**1001", "x**2.5", "sin(x)", "Abs(x)", "exp", "exp x", "1e5",
        "I", "x[0]", "__import__('os')", "x;1", "x**2**3**4 +", "0x10", "x\n+1", "1_000", ".5", "5.", "\u00b2", "+x", "lambda",
        "(" * 300 + "x" + ")" * 300, "-" * 100 + "x", "1" * 400, "x+" * 3000 + "x",
    ],
)  # fmt: skip
def test_whatever_else_is_no_formula(text: str) -> None:
    with pytest.raises(NotAFormula):
        read(text, "x")


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("-log(1+(x-3)**2)", 1),
        ("-log(1+(x-3)**2)", -1),
        ("-(x-1)**2/2 - log(x**2)", 1),
        ("-x-2*log(1+exp(-x))", 1),
        ("-3*log(x)/2", 1),
    ],
)
def test_bounds_far_out(text: str, sign: int) -> None:
    """The integral from a place on is below its bound, and near it."""
    formula, start = read(text, "x"), 32
    with precision(80), mpmath.workdps(20):
        bound = formula.at(Asymptotic(arb(start), arb(sign), Fraction(1)), AsymptoticArithmetic(arb(start))).integral()
        value = mpmath.quad(
            lambda y: mpmath.exp(eval(text, {"x": sign * y, "log": mpmath.log, "exp": mpmath.exp})),
            [start, start + 1, 2 * start, 8 * start, 100 * start, mpmath.inf],
        )
        assert value <= mpmath.mpf(bound.str(18, radius=False)) <= max(
            value * 2, mpmath.mpf(10) ** -20 if "exp" in text else 0
        ) or ("/2" in text and "3*" not in text)


@pytest.mark.parametrize("text", ["x", "-log(x)", "0", "exp(x)", "-log(log(x))", "-1/x", "-log(exp(x)+1)", "x*log(x)"])
def test_what_has_no_integral_far_out_has_no_bound(text: str) -> None:
    with precision(80), pytest.raises(Undecided):
        read(text, "x").at(Asymptotic(arb(32), arb(1), Fraction(1)), AsymptoticArithmetic(arb(32))).integral()


def signed(pieces: Any, lower: str, upper: str, at: str = "1/2", count: int = 1, work: float = 2e7) -> str:
    node = {"name": "FromDensities", "adjacency": "add_remove", "parameters": {"pieces": pieces}}
    claim = {"quantity": "delta", "at": at, "direction": None, "release": 0}
    body = {
        "format": "logphi-certificate",
        "version": 3,
        "made_by": {},
        "releases": [{"adjacency": "add_remove", "mechanism": [[count, node]], "hulls": []}],
        "parameters": "as written",
        "claims": [{**claim, "lines": {}, "proof": {}, "lower": lower, "upper": upper}],
        "not_covered": list(NOT_COVERED),
    }
    return proven(body, work)


CAUCHY = [["-oo", "oo", "-log(1 + (x - 1)**2)", "-log(1 + x**2)"]]
LAPLACE = [["-oo", "0", "x - 1", "x"], ["0", "1", "x - 1", "-x"], ["1", "oo", "1 - x", "-x"]]


@pytest.mark.slow
def test_claims_about_formulas():
    """delta of the Cauchy mechanism at 1/2 is 0.119071652945...; a neighbouring claim is refused, and so is another density."""
    verdict = verify(signed(CAUCHY, "0.1190716529452", "0.1190716529453"))
    assert verdict.status == 0
    assert "-log(1 + (x - 1)**2)" in str(verdict)
    assert verify(signed(CAUCHY, "0.1190716529453", "0.1190716529454")).status == 1
    assert verify(signed(CAUCHY, "0.1190716529451", "0.1190716529452")).status == 1
    other = [["-oo", "oo", "-log(1 + (x - 1)**2)", "-log(1 + 1.000001*x**2)"]]
    assert verify(signed(other, "0.1190716529452", "0.1190716529453")).status == 1
    # three releases of Laplace noise
    assert verify(signed(LAPLACE, "0.2939", "0.2942", at="11/10", count=3), work=2e7).status == 0
    assert verify(signed(LAPLACE, "0.2942", "0.2945", at="11/10", count=3), work=2e7).status == 1


@pytest.mark.parametrize(
    "pieces",
    [
        [], [["-oo", "oo", None, None]], [["-oo", "oo", "x", None]], [["oo", "-oo", "x", "x"]], [["1", "0", "x", "x"]],
        [["0", "1", "x"]], [["0", "oo", "x", "x"], ["1", "2", "x", "x"]], [["0", "2", "x", "x"], ["1", "3", "x", "x"]], "x",
        [[0, 1, "x", "x"]], [["0", "1", "x", 0]], [["0", "1", "exit()", "x"]], [["0", "1", ["x"], "x"]],
        [["0", "1", "x", "x"]] * 101,
    ],
)  # fmt: skip
def test_what_is_no_pair_of_densities(pieces):
    assert verify(signed(pieces, "0.1", "0.2")).status == 2


HOSTILE = {
    "no integral": [["-oo", "oo", "0", "0"]],
    "no value": [["0", "1", "log(-1 - x)", "x"]],
    "a kink": [["-1", "1", "sqrt(x**2)", "x"]],
    "a pole": [["-1", "1", "1/(x - 1/3)**2", "x"]],
    "an essential singularity": [["-1", "1", "-1/x**2", "x"]],
    "a high power": [["0", "1", "x**1000*" * 100 + "x", "x"]],
    "towers": [["0", "1", "exp(" * 50 + "x" + ")" * 50, "x"]],
    "narrow": [["-oo", "oo", "-(10**300 * x - 1)**2".replace("10**300", "1" + "0" * 290), "-x**2"]],
    "far": [["-oo", "oo", "-(x - " + "9" * 290 + ")**2", "-x**2"]],
    "many": [[str(k), str(k + 1), "-x**2" + " + x" * 900, "-x**2" + " - x/3" * 600] for k in range(40)],
    "equal": [["-oo", "oo", "-x**2", "-x**2"]],
    "a slow tail": [["1", "oo", "-1001*log(x)/1000", "-2*log(x)"]],
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("count", [1, 10**9])
def test_hostile_formulas_keep_the_budget(name: str, count: int) -> None:
    verdict = verify(signed(HOSTILE[name], "0.3", "0.3", count=count, work=1e6), work=1e6)
    assert verdict.status == 1, verdict.reason
