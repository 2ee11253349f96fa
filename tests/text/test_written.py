"""Exact parameters from the text to the transform, each M(z) written out by hand in many digits."""

import copy
import pickle
from fractions import Fraction
from math import comb
from typing import Any

import mpmath
import pytest
from mpmath import cosh, exp, log, mpf, sinh, sqrt

import logphi as lp
from logphi.expression import MOST_BITS, parse, parse_numbers
from logphi.inputs import check
from logphi.text.written import Written, exact, exactly, meant

DIGITS = 60
POINTS = (0, -1, 2, -0.375, 0.25 + 0.75j)


# ---------------------------------------------------------------------------------------------------- numbers
@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("0.1", Fraction(1, 10)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("1_0.0_1", Fraction(1001, 100)),
        ("1e-300", Fraction(1, 10**300)),
        ("0e-99999999999999", Fraction(0)),
        ("-0.3", Fraction(-3, 10)),
        ("0.1+0.2", Fraction(3, 10)),
        ("0.1+0.2-0.3", Fraction(0)),
        ("256/60000", Fraction(8, 1875)),
        ("1/3*3", Fraction(1)),
        ("10**-5", Fraction(1, 10**5)),
        ("1.1**2.0", Fraction(121, 100)),
        ("(2/3)**-2", Fraction(9, 4)),
        ("2**70+0.5", 2**70 + Fraction(1, 2)),
        ("10**22+1", Fraction(10**22 + 1)),
    ],
)
def test_a_number_is_what_was_written(text, meaning):
    (number,) = parse_numbers(text)
    assert exact(number) == meaning
    assert number == float(meaning)
    assert repr(number) == repr(float(meaning))


@pytest.mark.parametrize("text", ["2**0.5", "1.000000001**1e6", "1.23456789**300", "1." + "0" * MOST_BITS + "1"])
def test_what_is_irrational_or_long_is_a_double(text):
    assert type(parse_numbers(text)[0]) is float


def test_nothing_exact_comes_of_what_is_not():
    assert type(parse_numbers("2**0.5 * 0.1")[0]) is float
    assert type(parse_numbers("(2**0.5 - 2**0.5) + 0.1")[0]) is float


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_number_survives_copying(duplicate):
    tenth = Written(Fraction(1, 10))
    assert exact(duplicate(tenth)) == Fraction(1, 10)
    release = duplicate(parse("3 * Gaussian(sigma=0.1).poisson(1/3)"))
    assert release == 3 * lp.Gaussian(sigma=0.1).poisson(1 / 3)
    assert exact(release.counted()[0][0].rate) == Fraction(1, 3)


def test_a_number_is_its_double_otherwise():
    tenth = Written(Fraction(1, 10))
    assert (tenth == 0.1, hash(tenth) == hash(0.1), repr(tenth), str(tenth)) == (True, True, "0.1", "0.1")
    assert type(tenth * 1) is float
    assert exact(0.1) != exact(tenth) == meant(0.1)
    with pytest.raises(OverflowError):
        Written(Fraction(1, 10**400))
    with pytest.raises(OverflowError):
        Written(Fraction(10**400))


def test_fractions_are_parameters():
    assert exact(lp.Gaussian(sigma=Fraction(11, 10)).sigma) == Fraction(11, 10)
    assert exact(lp.Gaussian(sigma=2**60 + 1).sigma) == 2**60 + 1
    thirds = [Fraction(1, 3), Fraction(2, 3)]
    assert tuple(map(exact, lp.Discrete(p=thirds, q=[0.5, 0.5]).p)) == tuple(thirds)
    assert tuple(map(exact, lp.FromTradeoff([0, Fraction(1, 3)], [1, Fraction(1, 3)]).type_one_errors)) == (
        Fraction(0),
        Fraction(1, 3),
    )
    assert type(lp.Gaussian(sigma=1.1).sigma) is type(lp.Gaussian(sigma=3).sigma) is float


@pytest.mark.parametrize(
    ("refuse", "value"),
    [
        (check.real, Fraction(1, 10**400)),
        (check.real, Fraction(10**400)),
        (check.unit, 1 + Fraction(1, 10**30)),
        (check.open_unit, Written(1 - Fraction(1, 10**30))),
        (check.real_array, [0.5, Fraction(1, 10**400)]),
    ],
)
def test_a_number_is_held_to_its_limits_before_it_is_rounded(refuse, value):
    with pytest.raises((ValueError, TypeError), match="x must"):
        refuse("x", value)


# ------------------------------------------------------------------------------------------------- transforms
def cells(*pairs):
    """M(z) of probabilities p, q."""
    return lambda z: mpmath.fsum(p * exp(z * log(p / q)) for p, q in pairs if p and q)


def mixed(rate, *pairs):
    return cells(*(((1 - rate) * q + rate * p, q) for p, q in pairs))


def spliced(rate, *pairs):
    """Corollary 32: where p > q the first law is mixed, where p < q the second, the rest is an atom at zero."""
    above = [((1 - rate) * q + rate * p, q) for p, q in pairs if p > q]
    below = [(p, (1 - rate) * p + rate * q) for p, q in pairs if p < q]
    rest = 1 - mpmath.fsum(a for a, _ in above + below)
    return cells(*above, *below, (rest, rest))


def reflected(pairs):
    return [(q, p) for p, q in pairs]


def response(p):
    return [(p, 1 - p), (1 - p, p)]


def guarantee(epsilon, delta):
    truth = (1 - delta) * exp(epsilon) / (1 + exp(epsilon))
    return [(delta, mpf(0)), (truth, 1 - delta - truth), (1 - delta - truth, truth), (mpf(0), delta)]


def geometric(scale, s):
    """The pmf moved by s, against itself, term by term until nothing is left."""
    half = (1 - exp(-1 / scale)) / (1 + exp(-1 / scale))
    pmf = {x: half * exp(-abs(x) / scale) for x in range(-600, 603)}
    inner = [(pmf[x - s], pmf[x]) for x in range(1, s)]
    tail = exp(-1 / scale) / (1 - exp(-1 / scale)) * half + half
    low, high = (tail * exp(-s / scale), tail), (tail, tail * exp(-s / scale))
    return [low, *inner, high]


def truncated(sigma, s, most):
    weight = {x: exp(-(x**2) / (2 * sigma**2)) for x in range(-most, most + 1)}
    total = mpmath.fsum(weight.values())
    return [(weight.get(x - s, mpf(0)) / total, weight.get(x, mpf(0)) / total) for x in range(-most, most + s + 1)]


def wide(sigma, s):
    def formula(z):
        places = range(-120, 121)
        total = mpmath.fsum(exp(-(mpf(x) ** 2) / (2 * sigma**2)) for x in places)
        moved = mpmath.fsum(exp(-((1 + z) * (mpf(x) - s) ** 2 - z * mpf(x) ** 2) / (2 * sigma**2)) for x in places)
        return moved / total

    return formula


def laplace(w):
    def formula(z):
        u = z + mpf(1) / 2
        return exp(-w / 2) * (cosh(u * w) + sinh(u * w) / (2 * u))

    return formula


def whole_power(rate, base):
    """E_Q[(1 - q + q e^L)^n] by the binomial theorem, E_Q[e^{kL}] = M(k - 1); only for whole n = z + 1."""

    def formula(z):
        if z not in (-1, 0, 2):
            return None
        n = int(mpmath.re(z)) + 1
        return mpmath.fsum(comb(n, k) * (1 - rate) ** (n - k) * rate**k * base(mpf(k - 1)) for k in range(n + 1))

    return formula


def normal(m):
    return lambda z: exp(z * (z + 1) * m**2 / 2)


def normal_pair(m_p, s_p, m_q, s_q):
    def formula(z):
        r, d = s_p / s_q, (m_p - m_q) / s_q
        bend = 1 + z * (1 - r**2)
        return exp(-z * log(r) + z * (z + 1) * d**2 / (2 * bend)) / sqrt(bend)

    return formula


def vectors(n, p, q):
    """Both over their sums, cell by cell."""
    p, q = ([n(entry) for entry in side.split()] for side in (p, q))
    return [(a / mpmath.fsum(p), b / mpmath.fsum(q)) for a, b in zip(p, q, strict=True)]


TENTHS, HOLES = ("0.1 0.3 0.6", "0.3 0.6 0.1"), ("0.1 0.3 0.6 0", "0.3 0 0.6 0.1")
# the expression, and M(z) for a function n that reads a decimal
FORMULAS = {
    "Gaussian(sigma=1.1, sensitivity=0.3)": lambda n: normal(n("0.3") / n("1.1")),
    "Gaussian(sigma=1.1).poisson(256/60000)": lambda n: whole_power(n("256/60000"), normal(1 / n("1.1"))),
    "Gaussian(sigma=1.1, adjacency='replace').subset(0.1, adjacency='remove')": lambda n: whole_power(
        n("0.1"), normal(1 / n("1.1"))
    ),
    "Laplace(scale=1.7)": lambda n: laplace(1 / n("1.7")),
    "Laplace(scale=1.7).poisson(0.1)": lambda n: whole_power(n("0.1"), laplace(1 / n("1.7"))),
    "ExponentialMechanism(epsilon=0.2)": lambda n: lambda z: (
        sinh((z + mpf(1) / 2) * n("0.2")) / (2 * (z + mpf(1) / 2) * sinh(n("0.2") / 2))
    ),
    "DistanceToInstability(epsilon=0.3, delta=0.001)": lambda n: lambda z: (
        (1 - n("0.001")) * laplace(n("0.3") + 2 * log(1 - n("0.001")))(z)
    ),
    "RandomizedResponse(p=0.7)": lambda n: cells(*response(n("0.7"))),
    "RandomizedResponse(p=0.3).poisson(0.02)": lambda n: mixed(n("0.02"), *response(n("0.3"))),
    "RandomizedResponse(p=0.7, adjacency='replace').subset(0.1, adjacency='replace')": lambda n: spliced(
        n("0.1"), *response(n("0.7"))
    ),
    "PureDP(epsilon=0.3)": lambda n: cells(*guarantee(n("0.3"), mpf(0))),
    "PureDP(epsilon=0.3).poisson(0.1)": lambda n: mixed(n("0.1"), *guarantee(n("0.3"), mpf(0))),
    "ApproximateDP(epsilon=0.3, delta=1e-5).poisson(0.1)": lambda n: mixed(n("0.1"), *guarantee(n("0.3"), n("1e-5"))),
    "ApproximateDP(epsilon=0.3, delta=1e-5, adjacency='replace').subset(0.1, adjacency='replace')": lambda n: spliced(
        n("0.1"), *guarantee(n("0.3"), n("1e-5"))
    ),
    "ApproximateDP(epsilon=0.3, delta=1e-5, adjacency='replace').subset(0.1, adjacency='remove')": lambda n: mixed(
        n("0.1"), *reflected(guarantee(n("0.3"), n("1e-5")))
    ),
    "KaryRandomizedResponse(k=5, p=0.7)": lambda n: cells(*symbols(5, n("0.7"))),
    "KaryRandomizedResponse(k=5, p=0.7).subset(0.1, adjacency='replace')": lambda n: spliced(n("0.1"), *symbols(5, n("0.7"))),
    "KaryRandomizedResponse(k=5, p=0.7, adjacency='replace_special')": lambda n: cells(
        (1 - n("0.7") + n("0.7") / 5, mpf(1) / 5), (4 * n("0.7") / 5, mpf(4) / 5)
    ),
    "DiscreteLaplace(scale=1.7, sensitivity=3)": lambda n: cells(*geometric(n("1.7"), 3)),
    "DiscreteLaplace(scale=1.7)": lambda n: cells(*geometric(n("1.7"), 1)),
    "DiscreteLaplace(scale=1.7, sensitivity=4, adjacency='replace').subset(0.1, adjacency='replace')": lambda n: spliced(
        n("0.1"), *geometric(n("1.7"), 4)
    ),
    "DiscreteLaplace(scale=1.7, sensitivity=3).poisson(0.1)": lambda n: mixed(n("0.1"), *geometric(n("1.7"), 3)),
    "DiscreteGaussian(sigma=1.7, sensitivity=2)": lambda n: wide(n("1.7"), 2),
    "DiscreteGaussian(sigma=1.7, truncation=6)": lambda n: cells(*truncated(n("1.7"), 1, 6)),
    "DiscreteGaussian(sigma=1.7, sensitivity=2, truncation=6).poisson(0.1)": lambda n: mixed(
        n("0.1"), *truncated(n("1.7"), 2, 6)
    ),
    "DiscreteGaussian(sigma=1.7, sensitivity=2, truncation=6, adjacency='replace').subset(0.1, adjacency='replace')": (
        lambda n: spliced(n("0.1"), *truncated(n("1.7"), 2, 6))
    ),
    "Discrete(p=[0.1, 0.3, 0.6], q=[0.3, 0.6, 0.1])": lambda n: cells(*vectors(n, *TENTHS)),
    "Discrete(p=[0.1, 0.3, 0.6, 0], q=[0.3, 0, 0.6, 0.1])": lambda n: cells(*vectors(n, *HOLES)[::2]),
    "Discrete(p=[0.1, 0.3, 0.6, 0], q=[0.3, 0, 0.6, 0.1]).poisson(0.2)": lambda n: mixed(n("0.2"), *vectors(n, *HOLES)),
    "GaussianMixture(sigma=1.1, sensitivities=[0, 0.7], probabilities=[0.9, 0.1]).poisson(0.3)": lambda n: whole_power(
        n("0.3") * n("0.1"), normal(n("0.7") / n("1.1"))
    ),
    "GaussianPair(mean_p=0.1, sigma_p=1.1, mean_q=0.3, sigma_q=1.2)": lambda n: normal_pair(
        n("0.1"), n("1.1"), n("0.3"), n("1.2")
    ),
    "FromTradeoff(type_one_errors=[0, 0.1, 0.6], type_two_errors=[0.9, 0.6, 0.1])": lambda n: cells(
        (n("0.9") - n("0.6"), n("0.1")), (n("0.6") - n("0.1"), n("0.6") - n("0.1")), (n("0.1"), 1 - n("0.6"))
    ),
}  # fmt: skip


def symbols(k, p):
    f = p / k
    return [(1 - p + f, f), (f, 1 - p + f), ((k - 2) * f, (k - 2) * f)]


def decimal(text):
    numerator, _, denominator = text.partition("/")
    value = Fraction(numerator) / Fraction(denominator or 1)
    return mpf(value.numerator) / value.denominator


def shortest(text):
    """The decimal that Python shows of what it makes of a text."""
    numerator, _, denominator = text.partition("/")
    return decimal(str(float(numerator) / float(denominator or 1)))


def in_python(text):
    """The same call with the numbers of Python."""
    return eval(text, vars(lp) | {name: getattr(lp, name) for name in dir(lp)})


@pytest.mark.few(1)
@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize(("build", "read"), [(parse, decimal), (in_python, shortest)], ids=["as written", "floats"])
def test_transforms_hold_the_exact_parameters(text, build, read):
    pytest.importorskip("flint")
    from logphi.arith.balls import Balls

    balls, loss = Balls(240, proving=True), build(text).loss_law()
    with mpmath.workdps(DIGITS):
        formula = FORMULAS[text](read)
        for z in POINTS:
            truth = formula(mpmath.mpmathify(z))
            if truth is None:
                continue
            ball = balls.exp(loss.formula(balls, balls.exact(z))).value
            middle = mpmath.mpc(*(mpf(part.mid().str(70, radius=False)) for part in (ball.real, ball.imag)))
            room = mpf(ball.rad().str(5, radius=False)) * (1 + mpf(10) ** -4) if not ball.is_exact() else mpf(0)
            assert ball.is_finite()
            assert abs(middle - truth) <= room + mpf(10) ** (5 - DIGITS) * abs(truth), z
            # a decimal and its double are some 1e-17 apart
            assert room <= mpf(10) ** -30 * abs(truth), z


def test_a_float_is_its_shortest_decimal_and_no_other_number_of_that_double():
    pytest.importorskip("flint")
    from logphi.arith.balls import Balls

    balls = Balls(240, proving=True)
    sigmas = (1.1, Fraction(11, 10), Fraction(1.1))
    plain, written, double = (lp.Gaussian(sigma=one).loss_law().formula(balls, balls.exact(0.5)) for one in sigmas)
    assert (plain - written).value.contains(0)
    assert not (plain - double).value.contains(0)


def test_what_may_mean_two_numbers_is_not_collected():
    tenths = [lp.Laplace(scale=one) for one in (Fraction(1, 10), 0.1, Fraction(0.1))]
    assert [count for _, count in lp.compose(tenths).counted()] == [1, 1, 1]
    assert [count for count, _ in lp.compose(tenths).tree()] == [2, 1]
    assert (lp.Laplace(0.5) + lp.Laplace(Fraction(1, 2)) + lp.Laplace(2) + parse("Laplace(2)")).counted() == (
        (lp.Laplace(0.5), 2),
        (lp.Laplace(2), 2),
    )
    assert len({exactly(0.1), exactly(Written(Fraction(1, 10))), exactly(Written(Fraction(0.1)))}) == 3


@pytest.mark.parametrize(
    ("text", "symmetric"),
    [
        ("RandomizedResponse(p=0.7)", True),
        ("KaryRandomizedResponse(k=5, p=0.7).subset(0.1, adjacency='replace')", True),
        ("DiscreteLaplace(scale=1.7, sensitivity=4, adjacency='replace').subset(0.1, adjacency='replace')", True),
        ("Discrete(p=[0.1, 0.3, 0.6], q=[0.3, 0.1, 0.6])", True),
        ("DiscreteGaussian(sigma=1, adjacency='replace').subset(0.1, adjacency='replace')", True),
        ("RandomizedResponse(p=0.7).poisson(0.1)", False),
        # the doubles of all losses are zero
        ("RandomizedResponse(p=0.7).poisson(1e-20)", False),
    ],
)
def test_whether_both_orders_agree_is_read_off_the_formulas(text, symmetric):
    pytest.importorskip("flint")
    from logphi.certified.laws.registry import in_balls

    assert all(in_balls(law).symmetric for law, _ in parse(text).loss_law().terms) is symmetric


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("PureDP(epsilon=1e-20, adjacency='replace').subset(0.1, adjacency='replace')", "which is larger"),
        ("FromProfile(epsilons=[0, 0.5, 1], deltas=[0.4, 0.2, 0.01])", "known to doubles only"),
        ("FromProfile(epsilons=[0, 0.5, 1], deltas=[0.4, 0.2, 0.01]).poisson(0.1)", "known to doubles only"),
    ],
)
def test_what_has_no_exact_formula_is_refused(text, reason):
    pytest.importorskip("flint")
    from logphi.arith.balls import Balls

    balls = Balls(240, proving=True)
    with pytest.raises(NotImplementedError, match=reason):
        parse(text).loss_law().formula(balls, balls.exact(0.5))


@pytest.mark.parametrize("text", ["RandomizedResponse(p=0.5 + 1e-30, adjacency='replace').subset(0.1, adjacency='replace')"])
def test_an_order_that_doubles_do_not_show_is_refused_in_balls_and_in_rational_numbers(text):
    pytest.importorskip("flint")
    from logphi.arith.balls import Balls
    from logphi.certified.locations import Exact

    law: Any = parse(text).loss_law().terms[0][0]
    for arith in (Balls(240, proving=True), Exact()):
        with pytest.raises(NotImplementedError, match="which is larger"):
            law.cells.under(arith)
