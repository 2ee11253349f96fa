"""Certified answers: the parts of a contour against mpmath, whole answers against exact sums and closed forms."""

import math
import pkgutil
from fractions import Fraction
from importlib import import_module
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpc, mpf

import logphi as lp
from logphi.answers.status import Direction
from logphi.arith.ball import precision
from logphi.arith.protocol import Plain
from logphi.expression import parse
from logphi.laws.normal.curved_normal import ReplacedNormal
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.normal.mixture_of_shifts import MixtureOfShifts
from logphi.laws.weights import Listed
from logphi.text.written import Written

flint = pytest.importorskip("flint")
from flint import acb, arb, fmpq  # noqa: E402

from logphi.certified import bent_contour, contour, laws  # noqa: E402
from logphi.certified.answer import certify, worst  # noqa: E402
from logphi.certified.exponential_sums import exponential_sums  # noqa: E402
from logphi.certified.laws.law import LawInBalls  # noqa: E402
from logphi.certified.laws.registry import _KNOWN, in_balls  # noqa: E402
from logphi.certified.laws.spliced_normal import SplicedTransform  # noqa: E402
from logphi.certified.mixture_transform import Mixture, NormalRatio  # noqa: E402
from logphi.certified.route import Demand, NotCertifiedError  # noqa: E402
from profiles import gaussian_profile  # noqa: E402
from slowly import slowly  # noqa: E402

BITS = 120


def written(text):
    return Written(Fraction(text))


def number(ball):
    """The middle of a ball as an mpmath number, and its radius."""
    mid, rad = acb(ball).mid(), max(acb(ball).real.rad(), acb(ball).imag.rad())
    exact = [mpf(int(part.man_exp()[0])) * mpf(2) ** int(part.man_exp()[1]) for part in (mid.real, mid.imag)]
    return mpc(*exact), float(rad)


def assert_holds(ball, value):
    middle, radius = number(ball)
    # what the reference may be off
    room = radius + mpf(10) ** (12 - 2 * mpmath.mp.dps // 3) * (1 + abs(middle))
    assert abs(middle.real - mpmath.re(value)) <= room
    assert abs(middle.imag - mpmath.im(value)) <= room


def ratio_transform(up, down, z):
    """E[u^{1+z} v^{-z}] by quadrature; ``up`` and ``down`` are lists of (weight, shift)."""

    def log(parts, x):
        return mpmath.log(sum(p * mpmath.exp(c * x - c * c / 2) for p, c in parts))

    def integrand(x):
        return mpmath.npdf(x) * mpmath.exp((1 + z) * log(up, x) - z * log(down, -x))

    c = mpmath.re(z)
    ends = (-16 - c * max(d for _, d in down), 16 + (1 + c) * max(c for _, c in up))
    return mpmath.quad(integrand, mpmath.linspace(*ends, 40), method="gauss-legendre")


RATIOS: dict[str, Any] = {
    "sampled": ([(Fraction(9, 10), 0), (Fraction(1, 10), Fraction(2))], [(1, 0)]),
    "added": ([(1, 0)], [(Fraction(9, 10), 0), (Fraction(1, 10), Fraction(2))]),
    "mixture": ([(Fraction(1, 3), Fraction(1, 2)), (Fraction(2, 3), Fraction(3, 2))], [(1, 0)]),
    "mixture added": ([(1, 0)], [(Fraction(1, 3), Fraction(1, 2)), (Fraction(2, 3), Fraction(3, 2))]),
    "replaced": ([(Fraction(4, 5), 0), (Fraction(1, 5), 1)], [(Fraction(4, 5), 0), (Fraction(1, 5), 1)]),
}
# the laws in doubles, which only choose lines
LAWS = {
    "sampled": MixedNormal(Plain(2.0), Plain(0.1)),
    "mixture": MixtureOfShifts((Plain(0.5), Plain(1.5)), Listed(((1 / 3,), (2 / 3,)))),
    "replaced": ReplacedNormal(Plain(1.0), 0.2),
}
LAWS |= {"added": LAWS["sampled"].reflected(), "mixture added": LAWS["mixture"].reflected()}


def mixture(parts):
    balls = [[arb(fmpq(Fraction(x).numerator, Fraction(x).denominator)) for x in column] for column in zip(*parts, strict=True)]
    return Mixture(*map(tuple, balls))


@pytest.mark.few(1)
@pytest.mark.parametrize("name", RATIOS)
@pytest.mark.parametrize(("c", "top"), [("0.3", 2), *slowly(("4", 12))])
@pytest.mark.slow
def test_transforms_of_mixtures_on_a_line(name, c, top):
    up, down = RATIOS[name]
    size = 9
    with precision(BITS), mpmath.workdps(60):
        step = arb(top) / (size - 1)
        values = NormalRatio(mixture(up), mixture(down), LAWS[name]).on_line(arb(c), step, size)
        above, below = (
            [(mpf(p.numerator) / p.denominator, mpf(x.numerator) / x.denominator) for p, x in side] for side in (up, down)
        )
        for j in (0, size - 1):
            value = ratio_transform(above, below, mpc(mpf(c), mpf(top) * j / (size - 1)))
            # relative to the value at the real point, as the error of the rule is
            assert_holds(values[j], value)
            assert number(values[j])[1] <= 1e-30 * abs(number(values[0])[0])


@pytest.mark.few(2)
@pytest.mark.parametrize("name", RATIOS)
@pytest.mark.parametrize("c", [0.3, 4.0, pytest.param(11.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("height", [0.5, 3.0, 30.0, pytest.param(300.0, marks=pytest.mark.slow)])
def test_ceilings_of_mixtures(name, c, height):
    up, down = RATIOS[name]
    heights = height * np.array([1, 1.1, 1.5, 2, 3, 10])
    with precision(BITS):
        ratio = NormalRatio(mixture(up), mixture(down), LAWS[name])
        whole = ratio.at(arb(c)).upper()
        ceiling = ratio.ceiling(arb(c), arb(height), 10, whole)
        assert ceiling <= whole * (1 + arb(10) ** -3)
        for t in heights:
            value = ratio.on_line(arb(c), arb(float(t)), 2)[1]
            assert value.abs_lower() <= ceiling


def test_ceilings_are_sharp_for_many_repetitions():
    up, down = RATIOS["sampled"]
    with precision(BITS):
        ratio = NormalRatio(mixture(up), mixture(down), LAWS["sampled"])
        value, whole = ratio.on_line(arb(2), arb("0.01"), 2)[1], ratio.at(arb(2))
        count = 10**6
        best = count * float((value.abs_upper() / whole).log())
        found = count * float((ratio.ceiling(arb(2), arb("0.01"), count, whole.upper()) / whole).log())
        assert best <= found <= 0.1 * best


@pytest.mark.slow
@pytest.mark.parametrize(("m", "g"), [("0.5", "0.1"), ("0.05", "0.001"), *slowly(("2", "0.6"))])
def test_spliced_transforms_and_ceilings(m, g):
    c, size, step = mpf(3), 5, mpf(4)
    with precision(BITS), mpmath.workdps(45):
        part = SplicedTransform(arb(m), arb(g))
        values = part.on_line(arb(3), arb(4), size)
        m, g = mpf(m), mpf(g)

        def integrand(x, z):
            w = 1 - g + g * mpmath.exp(m * x)
            return mpmath.npdf(x + m / 2) * (w ** (1 + z) + w ** (-z))

        for j in (0, 4):
            z = mpc(c, step * j)
            inside = mpmath.quad(lambda x, z=z: integrand(x, z), mpmath.linspace(0, 14 + 4 * m, 30), method="gauss-legendre")
            assert_holds(values[j], (1 - g) * mpmath.erf(m / mpmath.sqrt(8)) + inside)
            assert number(values[j])[1] <= 1e-28 * abs(number(values[0])[0])
        whole = values[0].real.upper()
        for height in (1, 20, 100):
            ceiling = part.ceiling(arb(3), arb(height), 10, whole)
            for t in height * np.linspace(1, 3, 9):
                assert part.on_line(arb(3), arb(float(t)), 2)[1].abs_lower() <= ceiling


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "expression",
    [
        "Gaussian(sigma=0.7)",
        "GaussianPair(mean_p=0, sigma_p=10, mean_q=1, sigma_q=11)",
        "GaussianPair(mean_p=1, sigma_p=2, mean_q=0, sigma_q=1)",
        "Laplace(scale=2)",
        "ExponentialMechanism(epsilon=1.5)",
        "RandomizedResponse(p=0.6)",
        "DiscreteGaussian(sigma=2)",
        "Gaussian(sigma=1).poisson(0.3, group_size=2)",
    ],
)
def test_nothing_rises_above_its_ceiling(expression):
    for loss in (parse(expression).loss_law(), parse(expression).loss_law().reflected()):
        with precision(BITS):
            part, c = in_balls(loss.terms[0][0]).transform(), arb(min(0.4 * loss.strip[1], 2.0))
            whole = part.at(c).upper()
            for height in (0.1, 2.0, 15.0):
                ceiling = part.ceiling(c, arb(height), 3, whole)
                assert all(part.on_line(c, arb(float(t)), 2)[1].abs_lower() <= ceiling for t in height * np.linspace(1, 5, 12))


def test_runs_of_powers():
    rng = np.random.default_rng(7)
    angles, weights = rng.uniform(-3, 3, 5), rng.uniform(0, 1, 5)
    with precision(BITS), mpmath.workdps(40):
        found = list(exponential_sums([arb(w) for w in weights], [acb(0, arb(a)).exp() for a in angles], 83))
        assert len(found) == 83
        for n in (0, 1, 15, 16, 17, 82):
            exact = sum(mpf(w) * mpmath.expj(mpf(a) * n) for w, a in zip(weights, angles, strict=True))
            assert_holds(found[n], exact)
            assert number(found[n])[1] < 1e-30


def ask(expression, quantity, at, digits=15, direction=None):
    found = certify(parse(expression)._loss(), quantity=quantity, at=Fraction(at), direction=direction, digits=digits)
    return Fraction(found.lower), Fraction(found.upper), found


@pytest.mark.parametrize("digits", [1, 15, 50, 200])
def test_as_many_digits_as_asked(digits):
    lower, upper, _ = ask("3 * Gaussian(sigma=2) + Gaussian(sigma=4)", "delta", "1.5", digits)
    assert 0 < upper - lower <= upper / 10**digits
    with mpmath.workdps(digits + 10):
        exact = gaussian_profile(mpmath.sqrt(mpf(3) / 4 + mpf(1) / 16))(mpf("1.5"))
        assert mpf(lower.numerator) / lower.denominator < exact < mpf(upper.numerator) / upper.denominator


def test_long_loops_are_shown_to_who_asks():
    labels = []

    def shown(items, label, total=None):
        labels.append(label)
        return items

    loss = parse("20 * Gaussian(sigma=2).poisson(0.1) + 20 * Laplace(scale=3)")._loss()
    found = certify(loss, quantity="epsilon", at=Fraction(1, 1000), direction="remove", digits=6, shown=shown)
    assert set(labels) == {"parts", "secants"}
    assert found == certify(loss, quantity="epsilon", at=Fraction(1, 1000), direction="remove", digits=6)


@pytest.mark.parametrize(
    ("balls", "order"),
    [
        ([("1", "0.1"), ("2", "0.1")], "add"),
        ([("2", "0.1"), ("1", "0.1")], "remove"),
        ([("1", "0.1"), ("1.05", "0.1")], "both"),
        ([("1", "0.5"), ("1.05", "0.1")], "both"),
    ],
)
def test_the_worse_order_of_balls(balls, order):
    with precision(BITS):
        found = [arb(middle, radius) for middle, radius in balls]
        largest, attained = worst(dict(zip((Direction.REMOVE, Direction.ADD), found, strict=True)))
        assert attained.value == order
        lower, upper = (max(float(end(one)) for one in found) for end in (lambda one: one.lower(), lambda one: one.upper()))
        # a radius has thirty bits
        assert lower - 1e-9 <= float(largest.lower()) <= lower
        assert upper <= float(largest.upper()) <= upper + 1e-9
        assert worst({Direction.ADD: found[0]}) == (found[0], Direction.ADD)


@pytest.mark.parametrize("delta", ["1e-2", "1e-13", "1e-100", "1e-1000"])
def test_epsilon_at_any_delta(delta):
    if float(delta) == 0:
        with pytest.raises(NotCertifiedError):
            ask("10000 * Gaussian(sigma=100)", "epsilon", delta)
        return
    lower, upper, _ = ask("10000 * Gaussian(sigma=100)", "epsilon", delta)
    with mpmath.workdps(60):
        low, high = (gaussian_profile(mpf(1))(mpf(x.numerator) / x.denominator) for x in (lower, upper))
        assert high <= mpf(delta) < low
    assert upper - lower <= upper / 10**15


def test_a_published_value_lies_below_the_truth():
    lower, _, _ = ask("10000 * Gaussian(sigma=100)", "epsilon", "1e-13")
    assert lower > Fraction("7.486")
    assert round(float(lower), 3) == 7.56


@pytest.mark.parametrize(("p", "count", "epsilon"), [("0.75", 1, "0.5"), ("0.6", 10, 1), ("0.51", 1000, 2), ("0.9", 7, 0)])
def test_lattices_against_binomial_sums(p, count, epsilon):
    lower, upper, _ = ask(f"{count} * RandomizedResponse(p={p})", "delta", epsilon, 25)
    with mpmath.workdps(60):
        p = mpf(p)
        total = mpf(0)
        for k in range(count + 1):
            loss = (2 * k - count) * mpmath.log(p / (1 - p))
            gain = 1 - mpmath.exp(mpf(epsilon) - loss)
            total += mpmath.binomial(count, k) * p**k * (1 - p) ** (count - k) * max(gain, 0)
        assert mpf(lower.numerator) / lower.denominator <= total <= mpf(upper.numerator) / upper.denominator


def test_epsilon_exactly_at_a_place_of_the_lattice():
    # the places are 0, +-0.2, +-0.4: nothing of the atom at 0.2 counts there
    lower, upper, _ = ask("4 * PureDP(epsilon=0.1)", "delta", "0.2", 20)
    with mpmath.workdps(50):
        truth = 1 / (1 + mpmath.exp(-mpf(1) / 10))
        exact = truth**4 * (1 - mpmath.exp(-mpf(1) / 5))
        assert mpf(lower.numerator) / lower.denominator <= exact <= mpf(upper.numerator) / upper.denominator


@pytest.mark.parametrize(("epsilon", "reflected"), [("0.3", False), ("0.3", True), ("-1", True), ("1", False)])
@pytest.mark.slow
def test_rays_and_a_line_agree(epsilon, reflected):
    loss = parse("12 * GaussianPair(mean_p=0, sigma_p=10, mean_q=1, sigma_q=11)").loss_law()
    loss = loss.reflected() if reflected else loss
    with precision(160):
        bent, straight = (one.prepare(loss, arb(epsilon), Demand(15))(arb(epsilon)) for one in (bent_contour, contour))
        assert bent.overlaps(straight)
        assert bent.rad() <= abs(bent) * arb(10) ** -30
        assert straight.rad() <= abs(straight) * arb(10) ** -14


def test_rays_by_output_space():
    loss = parse("GaussianPair(mean_p=0, sigma_p=1, mean_q=1, sigma_q=2)").loss_law()
    with precision(BITS):
        found = bent_contour.prepare(loss, arb("0.5"), Demand(20))(arb("0.5"))
    with mpmath.workdps(30):

        def gain(x):
            return max(mpmath.npdf(x, 0, 1) - mpmath.exp(mpf(1) / 2) * mpmath.npdf(x, 1, 2), 0)

        # p/q exceeds e^{1/2} between the roots of 3 x^2 + 2 x - (1 + 8 log 2 - 4) = 0
        half = mpmath.sqrt(4 + 12 * (8 * mpmath.log(2) - 3)) / 6
        assert_holds(found, mpmath.quad(gain, [-mpf(1) / 3 - half, -mpf(1) / 3, -mpf(1) / 3 + half]))


def test_directions_and_the_one_that_attains():
    mechanism = "1500 * Gaussian(sigma=2).poisson(0.01)"
    remove, add, both = (ask(mechanism, "delta", 1, direction=one) for one in ("remove", "add", None))
    assert both[:2] == remove[:2]
    assert both[2].attained == "remove"
    assert add[1] < remove[0]


def test_epsilon_zero():
    assert ask("Gaussian(sigma=100)", "epsilon", "0.5")[:2] == (0, 0)


@pytest.mark.parametrize(
    ("expression", "quantity", "at", "reason"),
    [
        ("10 * ApproximateDP(epsilon=1, delta=0.001) + Gaussian(sigma=1)", "epsilon", "0.001", "infinite"),
        ("100 * Laplace(scale=1).poisson(0.05)", "delta", "1", "single release"),
    ],
)
def test_refusals_say_why(expression, quantity, at, reason):
    with pytest.raises(NotCertifiedError, match=reason):
        ask(expression, quantity, at)


def test_the_same_question_has_the_same_answer():
    first, second = (ask("100 * Gaussian(sigma=3).poisson(0.1)", "epsilon", "1e-6")[2] for _ in range(2))
    assert first == second


def test_certified_bounds_of_the_views():
    training = 14062 * lp.Gaussian(written("1.1")).poisson(written("256/60000"))
    bound, wide = training.epsilon(1e-5, method="certified"), training.epsilon(1e-5)
    assert bound.method == "certified"
    assert bound.status is lp.Status.MET
    assert 0 < bound.width <= 1e-15 * bound.upper
    assert wide.lower <= bound.lower <= bound.upper <= wide.upper
    assert bound.direction is lp.Direction.REMOVE
    array = training.delta([0.5, 1.0], method="certified")
    assert array.shape == (2,)
    assert array[1].upper == pytest.approx(training.delta(1.0).value, rel=1e-9)
    with pytest.raises(ValueError, match="finite"):
        training.delta(math.nan, method="certified")


@pytest.mark.parametrize("reflected", [False, True])
def test_the_transform_of_a_pair_is_not_known_outside_of_its_strip(reflected):
    law = parse("GaussianPair(mean_p=0, mean_q=0, sigma_p=2, sigma_q=1)").loss_law().terms[0][0]
    law = law.reflected() if reflected else law
    with precision(100):
        transform, end = in_balls(law).transform(), 1 / arb(3)
        assert transform.at(end - arb("0.001")).is_finite()
        # the formula has a value there, and the moment has none
        assert transform.at(end + arb("0.001")).is_finite() == reflected


def test_every_class_that_knows_a_law_is_found():
    """A new file of laws is listed in the registry."""
    files = [import_module(f"{laws.__name__}.{one.name}") for one in pkgutil.iter_modules(laws.__path__)]
    classes = {one for file in files for one in vars(file).values() if isinstance(one, type) and issubclass(one, LawInBalls)}
    assert {one for one in classes if one.kinds} == set(_KNOWN.values())
    assert len(_KNOWN) == sum(len(one.kinds) for one in classes), "no law is known twice"
