"""Privacy loss distributions of one width against dp-accounting and against masses in many digits; Chernoff's ends; [PLD]."""

import itertools
import math
import warnings
from collections import Counter
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import erfc, exp, log, mpf, ncdf, sqrt

import logphi as lp
from directions import DIRECTIONS
from exact import contains, dec
from logphi.answers.status import Side
from logphi.classical.loss_distribution import (
    buckets_delta,
    chernoff_ends,
    compose_losses,
    connect_the_dots_delta,
    discrete_gaussian_tail,
)
from logphi.expression import parse
from refusals import refused, untyped
from slowly import slowly


# what dp-accounting has of the same mechanisms: expression of one release, its constructor, count, epsilon, width
def theirs():
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    return {
        "Gaussian(sigma=1)": lambda **how: pld.from_gaussian_mechanism(1.0, **how),
        "Gaussian(sigma=20)": lambda **how: pld.from_gaussian_mechanism(20.0, **how),
        "Gaussian(sigma=1.5).poisson(0.2)": lambda **how: pld.from_gaussian_mechanism(1.5, sampling_prob=0.2, **how),
        "Gaussian(sigma=1).poisson(0.001)": lambda **how: pld.from_gaussian_mechanism(1.0, sampling_prob=0.001, **how),
        "Laplace(scale=3)": lambda **how: pld.from_laplace_mechanism(3.0, **how),
        "DiscreteLaplace(scale=2, sensitivity=2)": lambda **how: pld.from_discrete_laplace_mechanism(0.5, 2, **how),
        "DiscreteGaussian(sigma=2, truncation=8)": lambda **how: pld.from_discrete_gaussian_mechanism(
            2.0, truncation_bound=8, **how
        ),
    }


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("text", "count", "epsilon", "width"),
    [
        ("Gaussian(sigma=1)", 1, 0.5, 1e-2),
        ("Gaussian(sigma=1)", 1, 0.5, 1e-4),
        ("Gaussian(sigma=1)", 10, 5.0, 1e-2),
        ("Gaussian(sigma=20)", 400, 1.0, 1e-3),
        ("Gaussian(sigma=1.5).poisson(0.2)", 30, 2.0, 3e-3),
        # rare large losses, whose tail is cut by its mass
        *slowly(("Gaussian(sigma=1).poisson(0.001)", 100, 0.05, 1e-4)),
        ("Laplace(scale=3)", 10, 0.5, 1e-2),
        ("Laplace(scale=3)", 1, 0.1, 0.03),
        ("DiscreteLaplace(scale=2, sensitivity=2)", 5, 0.5, 3e-3),
        ("DiscreteGaussian(sigma=2, truncation=8)", 4, 1.0, 1e-2),
    ],
)
def test_dp_accounting_has_the_same_estimates_at_the_same_width(text, count, epsilon, width):
    release, make = count * parse(text), theirs()[text]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs, of how an optimistic estimate is made
        known = {
            name: make(value_discretization_interval=width, pessimistic_estimate=worst, use_connect_dots=dots).self_compose(
                count
            )
            for name, worst, dots in (("low", False, False), ("high", True, False), ("dots", True, True))
        }
    for direction in DIRECTIONS:
        low, high, dots = (getattr(known[one], f"_pmf_{direction}").get_delta_for_epsilon(epsilon) for one in known)
        ours = buckets_delta(release, epsilon, width=width, direction=direction)
        # their tails are cut at e^-50 and 1e-15, their transform rounds
        assert ours.lower == pytest.approx(low, rel=1e-7, abs=1e-12)
        assert ours.upper == pytest.approx(high, rel=1e-7, abs=1e-12)
        connected = connect_the_dots_delta(release, epsilon, width=width, direction=direction)
        assert float(connected) == pytest.approx(dots, rel=1e-7, abs=1e-12)
        assert connected.side is Side.UPPER


def normal_shift(m):
    """P- and Q-distribution functions of the loss of N(m, 1) against N(0, 1)."""
    return lambda x: ncdf(x / m - m / 2), lambda x: ncdf(x / m + m / 2)


def sampled_normal(m, q):
    def at(x, centre):
        if exp(x) <= 1 - q:
            return mpf(0)
        return ncdf(log((exp(x) - 1 + q) / q) / m + m / 2 - centre)

    return (lambda x: (1 - q) * at(x, 0) + q * at(x, m)), (lambda x: at(x, 0))


def mixed_shifts(shifts, weights):
    def place(x):
        low, high, y = mpf(-64), mpf(64), mpf(0)
        for _ in range(110):
            y = (low + high) / 2
            above = mpmath.fsum(w * exp(c * y - c * c / 2) for c, w in zip(shifts, weights, strict=True)) > exp(x)
            low, high = (low, y) if above else (y, high)
        return y

    def below(x, centre=0):
        bottom = mpmath.fsum(w for c, w in zip(shifts, weights, strict=True) if c == 0)
        return mpf(0) if exp(x) <= bottom else ncdf(place(x) - centre)

    return (lambda x: mpmath.fsum(w * below(x, c) for c, w in zip(shifts, weights, strict=True))), below


def sampled_laplace(scale, q):
    """Of (1 - q) Laplace(0) + q Laplace(1) against Laplace(0)."""
    rate = 1 / scale

    def at(x, centre):
        # the loss grows between the centres, and is constant outside
        ratio = (exp(x) - 1 + q) / q
        if ratio < exp(-rate):
            return mpf(0)
        if ratio >= exp(rate):
            return mpf(1)
        y = (log(ratio) / rate + 1) / 2
        return exp(rate * (y - centre)) / 2 if y < centre else 1 - exp(-rate * (y - centre)) / 2

    return (lambda x: (1 - q) * at(x, 0) + q * at(x, 1)), (lambda x: at(x, 0))


def substituted_normal(q):
    """Of a sample that may hold a record at 1 against one that may hold a record at -1, under N(0, 1)."""

    def place(x):
        # a quadratic equation for e^y
        a, b, c = q * exp(-mpf(1) / 2), (1 - q) * (1 - exp(x)), q * exp(x - mpf(1) / 2)
        return log((sqrt(b * b + 4 * a * c) - b) / (2 * a))

    def below(x, sign):
        y = place(x)
        return (1 - q) * ncdf(y) + q * ncdf(y - sign)

    return (lambda x: below(x, 1)), (lambda x: below(x, -1))


def estimates(p_below, q_below, h, reach, count, eps):
    """Optimistic, pessimistic, and by the dots, from exact masses of cells, convolved in the order of the definition."""
    edges = [h * k for k in range(-reach, reach + 1)]
    p = [b - a for a, b in itertools.pairwise(map(p_below, edges))]
    q = [b - a for a, b in itertools.pairwise(map(q_below, edges))]
    down: Counter[Any] = Counter()
    up: Counter[Any] = Counter()
    dots: Counter[Any] = Counter()
    for k, (a, b) in enumerate(zip(p, q, strict=True), -reach):
        down[k] += a
        up[k + 1] += a
        share = (a - b * exp(h * k)) / (1 - exp(-h))
        dots[k + 1] += share
        dots[k] += a - share
    found = []
    for one in (down, up, dots):
        total = {0: mpf(1)}
        for _ in range(count):
            fresh: Counter[Any] = Counter()
            for i, a in total.items():
                for j, b in one.items():
                    fresh[i + j] += a * b
            total = fresh
        found.append(mpmath.fsum(a * (1 - exp(eps - h * k)) for k, a in total.items() if h * k > eps))
    return found


@pytest.mark.parametrize(
    ("release", "law", "h", "reach", "count", "epsilon"),
    [
        (lp.Gaussian(1), lambda: normal_shift(mpf(1)), 0.25, 64, 1, 0.6),
        (lp.Laplace(2).poisson(0.3), lambda: sampled_laplace(mpf(2), dec(0.3)), 0.0625, 16, 2, 0.1),
        (lp.Laplace(0.5).poisson(0.75), lambda: sampled_laplace(mpf(1) / 2, mpf("0.75")), 0.25, 16, 1, 0.3),
        (lp.Gaussian(1).poisson(0.25, adjacency="replace"), lambda: substituted_normal(mpf("0.25")), 0.25, 40, 1, 0.3),
        *slowly((lp.Gaussian(0.5), lambda: normal_shift(mpf(2)), 0.5, 80, 3, 9.25)),
        *slowly((lp.Gaussian(2).poisson(0.3), lambda: sampled_normal(mpf(1) / 2, dec(0.3)), 0.125, 64, 2, 0.3)),
        *slowly(
            (
                lp.GaussianMixture(1, [0, 1, 2], [0.5, 0.25, 0.25]),
                lambda: mixed_shifts([mpf(0), mpf(1), mpf(2)], [mpf("0.5"), mpf("0.25"), mpf("0.25")]),
                0.25,
                100,
                2,
                0.9,
            )
        ),
    ],
)
def test_both_estimates_are_those_of_masses_in_many_digits(release, law, h, reach, count, epsilon):
    with mpmath.workdps(40):
        below = law()
        low, high, dots = estimates(below[0], below[1], mpf(h), reach, count, mpf(epsilon))
    found = buckets_delta(count * release, epsilon, width=h, direction="remove")
    connected = float(connect_the_dots_delta(count * release, epsilon, width=h, direction="remove"))
    # what lies beyond the cells of the sum above is below 1e-12
    assert found.lower <= low * (1 + mpf(10) ** -12)
    assert found.lower == pytest.approx(float(low), rel=1e-9)
    assert found.upper >= high * (1 - mpf(10) ** -12)
    assert found.upper == pytest.approx(float(high), rel=1e-9)
    assert connected >= dots * (1 - mpf(10) ** -12)
    assert connected == pytest.approx(float(dots), rel=1e-9)


RELEASES = [
    ("Gaussian(sigma=1)", 0.5, 0.05),
    ("Gaussian(sigma=1)", -1.5, 0.05),
    ("200 * Gaussian(sigma=10)", 20.0, 0.01),
    ("50 * Gaussian(sigma=2).poisson(0.05)", 3.0, 0.01),
    ("Gaussian(sigma=1).poisson(0.9)", 1.0, 0.1),
    ("20 * Laplace(scale=5)", 2.0, 0.02),
    ("30 * Laplace(scale=1).poisson(0.1)", 0.7, 0.01),
    ("10 * Gaussian(sigma=1).poisson(0.1, adjacency='replace')", 0.5, 0.01),
    ("5 * TruncatedLaplace(scale=2, truncation=10).poisson(0.2)", 0.3, 0.01),
    ("ExponentialMechanism(epsilon=0.4)", 0.1, 0.01),
    ("50 * RandomizedResponse(p=0.52)", 1.0, 0.001),
    ("4 * RandomizedResponse(p=0.9)", 8.78, 0.01),
    ("10 * KaryRandomizedResponse(k=4, p=0.9, adjacency='replace_special').poisson(0.3)", 0.4, 0.003),
    ("10 * ApproximateDP(epsilon=0.1, delta=0.00001)", 0.5, 0.01),
    ("30 * DiscreteLaplace(scale=10, sensitivity=3)", 4.0, 0.01),
    ("3 * Discrete(p=[0.5, 0.3, 0.2, 0], q=[0.2, 0.3, 0, 0.5])", 0.1, 0.01),
    ("3 * GaussianMixture(sigma=2, sensitivities=[0, 1, 3], probabilities=[0.4, 0.3, 0.3])", 1.0, 0.05),
    ("5 * Laplace(scale=4) + 10 * Gaussian(sigma=5) + 2 * PureDP(epsilon=0.3)", 1.0, 0.02),
    ("2 * DiscreteGaussian(sigma=1).poisson(0.25)", 0.3, 0.01),
]


@pytest.mark.few(1)
@pytest.mark.parametrize("direction", [DIRECTIONS[0], *slowly(*DIRECTIONS[1:])])
@pytest.mark.parametrize(("text", "epsilon", "width"), RELEASES)
def test_the_truth_is_between_and_narrower_buckets_are_sharper(text, epsilon, width, direction):
    release = parse(text)
    sharp = release.delta(epsilon, direction=direction)
    before, room = None, 1e-9
    for h in (width, width / 2, width / 4):
        found = buckets_delta(release, epsilon, width=h, direction=direction)
        connected = float(connect_the_dots_delta(release, epsilon, width=h, direction=direction))
        assert found.lower <= sharp.upper
        assert sharp.lower <= found.upper
        assert sharp.lower <= connected <= found.upper * (1 + room)
        if before is not None:
            # multiples of h are multiples of h / 2
            assert found.lower >= before[0] * (1 - room)
            assert found.upper <= before[1] * (1 + room)
            assert connected <= before[2] * (1 + room)
        before = found.lower, found.upper, connected


@pytest.mark.slow
def test_without_a_direction_the_worse_one_counts():
    release = 5 * lp.Gaussian(sigma=2).poisson(0.1)
    at: dict[str, Any] = {"epsilon": 0.5, "width": 0.01}
    for method in (buckets_delta, connect_the_dots_delta):
        remove, add = (method(release, direction=one, **at) for one in DIRECTIONS)
        assert float(method(release, **at)) == max(float(remove), float(add)) > min(float(remove), float(add))
    assert buckets_delta(release, **at).direction is lp.Direction.REMOVE


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", [0, 1, *slowly(*range(2, 10))])
def test_random_sums_are_between(seed):
    random = np.random.default_rng(1000 + seed)
    makers = [
        lambda: lp.Gaussian(sigma=float(10 ** random.uniform(-0.5, 1.5))),
        lambda: lp.Gaussian(sigma=float(10 ** random.uniform(-0.3, 0.7))).poisson(float(random.uniform(0.001, 0.999))),
        lambda: lp.Laplace(scale=float(10 ** random.uniform(-0.5, 1.5))),
        lambda: lp.RandomizedResponse(p=float(random.uniform(0.1, 0.9))),
        lambda: lp.ApproximateDP(epsilon=float(random.uniform(0, 1)), delta=float(10 ** random.uniform(-9, -1))),
    ]
    release = lp.compose(int(random.integers(1, 6)) * makers[i]() for i in random.integers(0, len(makers), 3))
    epsilon, width = float(random.normal(0, 3)), float(10 ** random.uniform(-3, -1))
    for direction in DIRECTIONS:
        sharp = release.delta(epsilon, direction=direction)
        found = buckets_delta(release, epsilon, width=width, direction=direction)
        connected = float(connect_the_dots_delta(release, epsilon, width=width, direction=direction))
        assert found.lower <= sharp.lower * (1 + 1e-9) + 1e-300
        assert sharp.upper * (1 - 1e-9) <= min(found.upper, connected)
        assert connected <= found.upper * (1 + 1e-8) + 1e-300


def test_small_deltas_keep_their_digits():
    release = 10 * lp.Gaussian(sigma=2)
    sharp = release.delta(40.0)
    assert sharp.value < 1e-80
    found = buckets_delta(release, 40.0, width=1e-4)
    assert found.lower < sharp.value < found.upper < 1.1 * found.lower
    assert float(connect_the_dots_delta(release, 40.0, width=1e-4)) == pytest.approx(sharp.value, rel=1e-5)


def test_beyond_the_support_a_rounded_loss_may_still_be_and_then_is_not():
    release = 4 * lp.PureDP(epsilon=0.25)
    assert release.delta(1.0).upper < 1e-15
    # four losses of 0.25 are 1.2 in buckets of 0.3
    loss, true = 1.2, math.exp(0.25) / (1 + math.exp(0.25))
    assert buckets_delta(release, 1.0, width=0.3).upper == pytest.approx(true**4 * -math.expm1(1.0 - loss), rel=1e-9)
    assert buckets_delta(release, 1.25, width=0.3).upper < 1e-15
    assert float(connect_the_dots_delta(release, 2.3, width=0.3)) == 0


@pytest.mark.parametrize(
    "release", [0 * lp.Gaussian(1), lp.PureDP(0), lp.ApproximateDP(0, 0.1), lp.Gaussian(1).poisson(0), 3 * lp.PureDP(0)]
)
def test_a_release_without_losses_has_its_trivial_profile(release):
    for epsilon in (-1.0, 0.0, 0.3):
        exact = release.delta(epsilon)
        found = buckets_delta(release, epsilon, width=0.1)
        assert found.lower <= exact.upper
        assert exact.lower <= found.upper
        assert found.upper == pytest.approx(exact.value, rel=1e-9, abs=1e-13)
        assert found.lower == pytest.approx(exact.value, rel=1e-9, abs=1e-13)
        assert float(connect_the_dots_delta(release, epsilon, width=0.1)) == found.upper


def test_what_makes_no_distribution_is_refused():
    one = lp.Gaussian(1)
    for width in (0, -0.1, math.nan, math.inf):
        refused(ValueError, lambda width=width: buckets_delta(one, 1.0, width=width), "width")
    refused(TypeError, lambda: untyped(buckets_delta)(one, 1.0, width="1e-3"), "width")
    refused(ValueError, lambda: buckets_delta(one, math.inf, width=0.1), "epsilon")
    refused(ValueError, lambda: buckets_delta(one, 1.0, width=1e-9), "buckets", "take a width of")
    refused(ValueError, lambda: untyped(buckets_delta)(one, 1.0, width=0.1, direction="both ways"), "direction")
    refused(ValueError, lambda: buckets_delta(lp.DiscreteGaussian(2), 1.0, width=0.1), "probabilities of grid cells")
    sampled = lp.FromDensities(lambda x: -abs(x) - math.log(2), lambda x: -abs(x - 1) - math.log(2), (-math.inf, math.inf))
    refused(ValueError, lambda: buckets_delta(sampled, 1.0, width=0.1), "samples")


def test_chernoff_of_normal_losses_is_closed():
    # K(t) - t m = t^2 s^2 / 2: the best t gives m + s sqrt(2 log(1/mass))
    for count, sigma, mass in ((1, 1.0, 1e-10), (100, 10.0, 1e-10), (5, 0.3, 0.2), (10**6, 1e3, 1e-300)):
        low, high = chernoff_ends(count * lp.Gaussian(sigma), mass)
        mean, spread = count / sigma**2 / 2, math.sqrt(count) / sigma
        reach = spread * math.sqrt(-2 * math.log(mass))
        assert float(high) >= (mean + reach) * (1 - 1e-15)
        assert float(high) == pytest.approx(mean + reach, rel=1e-6)
        assert float(low) <= (mean - reach) * (1 - math.copysign(1e-15, mean - reach))
        assert float(low) == pytest.approx(mean - reach, rel=1e-6, abs=1e-6 * spread)
        assert (low.side, high.side) == (Side.LOWER, Side.UPPER)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "text",
    [
        "100 * RandomizedResponse(p=0.6)",
        "30 * Laplace(scale=3)",
        "200 * Gaussian(sigma=2).poisson(0.02)",
        "5 * DiscreteGaussian(sigma=3)",
        "20 * ApproximateDP(epsilon=0.2, delta=0.01)",
        "8 * KaryRandomizedResponse(k=5, p=0.5, adjacency='replace_special')",
    ],
)
def test_no_more_than_the_mass_lies_beyond_the_ends(text):
    release = parse(text)
    for mass in (0.3, 1e-4):
        both = chernoff_ends(release, mass)
        for direction, loss in zip(DIRECTIONS, (release.loss, release.dual_loss), strict=True):
            low, high = (float(end) for end in chernoff_ends(release, mass, direction=direction))
            # an end may be beyond every loss; the probability of a loss at the end itself counts too
            assert loss.sf(math.nextafter(high, -math.inf)).lower <= mass
            assert loss.cdf(low).lower <= mass
            assert float(both[0]) <= low < high <= float(both[1])


def test_the_ends_are_no_wider_than_those_of_twenty_orders():
    common = pytest.importorskip("dp_accounting.pld.common")
    # the losses -1 and 1 as places 0 and 2 of a list
    p, count, mass = 0.7, 50, 1e-6
    release = count * lp.Discrete([p, 1 - p], [1 - p, p])
    low, high = common.compute_self_convolve_bounds(
        [1 - p, 0, p], count, 2 * mass, list(np.arange(-20, 0)) + list(range(1, 21))
    )
    unit = math.log(p / (1 - p))
    ends = [float(end) for end in chernoff_ends(release, mass)]
    assert (low - count) * unit <= ends[0] < ends[1] <= (high - count) * unit


def test_chernoff_refuses():
    for mass in (0, 1, -0.1, math.nan):
        refused(ValueError, lambda mass=mass: chernoff_ends(lp.Gaussian(1), mass), "mass")
    refused(TypeError, lambda: untyped(chernoff_ends)(lp.Gaussian(1), "1e-3"), "mass")
    assert float(chernoff_ends(lp.PureDP(0), 0.5)[0]) <= 0


@pytest.mark.parametrize("sigma", [0.1, 0.37, 1.0, 2.5, 40.0])
def test_discrete_tails_are_below_normal_ones(sigma):
    with mpmath.workdps(60):
        width, far = dec(sigma), int(60 * sigma) + 60
        weights = [exp(-(mpf(x) ** 2) / (2 * width**2)) for x in range(far)]
        total = 2 * mpmath.fsum(weights) - 1
        for reach in (0, 1, 2, 5, int(3 * sigma) + 1, int(8 * sigma) + 2):
            bound = discrete_gaussian_tail(sigma, reach)
            normal = erfc(reach / width / sqrt(mpf(2)))
            assert 2 * mpmath.fsum(weights[reach + 1 :]) / total <= bound.value
            assert normal <= mpf(bound.value) <= normal * (1 + mpf(10) ** -13) + mpf("1e-320")
            assert bound.side is Side.UPPER
    for wrong in (-1, 1.5, "3", None):
        refused((ValueError, TypeError), lambda wrong=wrong: discrete_gaussian_tail(1.0, wrong), "reach")
    refused(ValueError, lambda: discrete_gaussian_tail(0.0, 3), "sigma")


def composed(one, other, epsilon):
    """The double sum of the definition, masses and losses as decimals."""
    (v, m), (w, n) = one, other
    lost = [1 - mpmath.fsum(map(dec, part)) for part in (m, n)]
    found = lost[0] + lost[1] - lost[0] * lost[1]
    for a, b in itertools.product(zip(v, m, strict=True), zip(w, n, strict=True)):
        found += dec(a[1]) * dec(b[1]) * max(1 - exp(dec(epsilon) - dec(a[0]) - dec(b[0])), mpf(0))
    return found


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(12))
def test_two_losses_are_composed_without_their_convolution(seed):
    random = np.random.default_rng(seed)

    def some():
        size = int(random.integers(1, 30))
        losses = np.round(random.normal(0, 2, size), 2)
        return losses.tolist(), (random.dirichlet(np.ones(size)) * random.uniform(0.9, 0.999)).tolist()

    one, other = some(), some()
    # thresholds that are sums of two losses too
    for epsilon in (0.0, 1.3, -4.0, float(round(one[0][0] + other[0][0], 2)), 50.0):
        bound = compose_losses(one, other, epsilon)
        with mpmath.workdps(40):
            exact = composed(one, other, epsilon)
            assert contains(bound, exact)
        assert bound.width <= 1e-12


def test_composed_losses_are_those_of_composed_mechanisms():
    first, second = ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), ([0.6, 0.39, 0.01], [0.3, 0.7, 0.0])
    release = lp.Discrete(*first) + lp.Discrete(*second)
    one, other = (
        ([math.log(a / b) for a, b in zip(*pair, strict=True) if b], [a for a, b in zip(*pair, strict=True) if b])
        for pair in (first, second)
    )
    for epsilon in (-0.5, 0.0, 0.8, 1.6):
        ours, engine = compose_losses(one, other, epsilon), release.delta(epsilon, direction="remove")
        assert max(ours.lower, engine.lower) <= min(ours.upper, engine.upper)
        assert ours.value == pytest.approx(engine.value, rel=1e-12)


def test_many_losses_are_composed_at_once():
    size = 20_001
    losses = np.linspace(-5, 5, size)
    masses = np.full(size, 1 / size)
    # two uniform losses: E (1 - e^{eps - S})_+ of a triangle, at its top
    bound = untyped(compose_losses)((losses, masses), (losses, masses), 0.0)
    exact = float(Fraction(1, 2)) - (math.exp(-10) - 1 + 10) / 100
    assert bound.value == pytest.approx(exact, rel=1e-4)
    assert bound.width < 1e-9


@pytest.mark.parametrize(
    ("one", "needle"),
    [
        (([0.1], [0.5, 0.5]), "equal length"),
        (([0.1, 0.2], [0.7, 0.7]), "at most one"),
        (([0.1, 0.2], [0.7, -0.1]), "masses of one"),
        (([0.1, math.inf], [0.7, 0.1]), "losses of one"),
        (([0.1, 301.0], [0.7, 0.1]), "between -300 and 300"),
        (([[0.1]], [[0.7]]), "equal length"),
        ("losses", "pair of lists"),
    ],
)
def test_what_is_no_distribution_is_refused(one, needle):
    refused((ValueError, TypeError), lambda: compose_losses(one, ([0.0], [1.0]), 0.1), needle)


def test_no_loss_at_all_is_all_infinite():
    assert compose_losses(([], []), ([0.0], [1.0]), 0.3).upper == 1.0
