"""The loss distribution against closed forms, exact enumeration and integration in output space."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import logphi as lp
from flat import Flat
from logphi import Bound, Bounds, Status
from logphi.arith.scaled import Scaled
from logphi.engine.answer import relatively, worst
from logphi.engine.log_probability import enclosed
from slowly import slowly

SHARP = 1e-9
# what a digit or two beyond the doubles of a reference may differ
REFERENCE = 1e-14


def holds(bound: Bound, truth: float, width: float = SHARP) -> None:
    room = REFERENCE * abs(float(truth))
    assert bound.lower - room <= truth <= bound.upper + room
    assert bound.width <= width * bound.value or bound.upper < 1e-290


def normal_tail(x: float, mean: float, spread: float) -> mpmath.mpf:
    return mpmath.erfc((mpmath.mpf(x) - mean) / (spread * mpmath.sqrt(2))) / 2


@pytest.mark.few(10)
@pytest.mark.parametrize("count", [1, 10, 10**9])
@pytest.mark.parametrize("sigma", [0.3, 3.0, 1e4])
@pytest.mark.parametrize("place", [-30, -6, -1, -1e-3, 0, 0.4, 3, 12, 36])
def test_normal_losses(count: int, sigma: float, place: float) -> None:
    """L of n Gaussians is normal with mean m^2/2 and variance m^2."""
    with mpmath.workdps(40):
        shift = mpmath.sqrt(count) / mpmath.mpf(sigma)
        x = float(shift**2 / 2 + place * shift)
        loss = (count * lp.Gaussian(sigma=sigma)).loss
        exact = (normal_tail(x, shift**2 / 2, shift), normal_tail(-x, -(shift**2) / 2, shift))
        # half an ulp of x, and of sigma, moves the quotient
        slip = 4e-16 * (abs(x) / float(shift) + float(shift)) * (abs(place) + 1)
        for bound, truth in ((loss.sf(x), exact[0]), (loss.cdf(x), exact[1])):
            assert bound.lower <= truth * (1 + 1e-15 + slip)
            assert bound.upper >= truth * (1 - 1e-15 - slip)
            # an exponent of the size of x loses its digits
            assert bound.width <= (SHARP + 10 * slip + 1e-14 * abs(x)) * bound.value or bound.upper < 1e-290
        density = mpmath.npdf(x, shift**2 / 2, shift)
        found = loss.pdf(x)
        assert found.lower <= density * (1 + 1e-14 + slip)
        assert found.upper >= density * (1 - 1e-14 - slip)


def enumerated(pairs: list[tuple[list[Fraction], list[Fraction]]]) -> list[tuple[float, Fraction]]:
    """Every outcome of a composition of finite pairs: its loss and its probability under P."""
    outcomes = []
    for cells in itertools.product(*[list(zip(p, q, strict=True)) for p, q in pairs]):
        p = math.prod((a for a, _ in cells), start=Fraction(1))
        q = math.prod((b for _, b in cells), start=Fraction(1))
        if p and q:
            outcomes.append(
                (float(mpmath.log(mpmath.mpf(p.numerator) * q.denominator / (mpmath.mpf(p.denominator) * q.numerator))), p)
            )
    return outcomes


def test_randomized_response_between_its_atoms() -> None:
    p = Fraction(3, 5)
    outcomes = enumerated([([p, 1 - p], [1 - p, p])] * 7)
    loss = (7 * lp.RandomizedResponse(p=0.6)).loss
    places = sorted({round(place, 9) for place, _ in outcomes})
    for x in [places[0] - 1, *[(a + b) / 2 for a, b in itertools.pairwise(places)], places[-1] + 1]:
        above = sum((mass for place, mass in outcomes if place > x), start=Fraction(0))
        holds(loss.sf(x), float(above))
        holds(loss.cdf(x), float(1 - above))
        assert loss.pdf(x).upper == 0
    assert len(loss.atoms) == 8
    for place, lower, upper in zip(loss.atoms.locations, loss.atoms.lower, loss.atoms.upper, strict=True):
        mass = sum(float(own) for at, own in outcomes if abs(at - place) < 1e-9)
        assert lower <= mass * (1 + 1e-15)
        assert upper >= mass * (1 - 1e-15)


def test_an_atom_at_the_threshold_is_on_both_sides() -> None:
    """The bounds contain both answers, and say that they are wide."""
    loss = (2 * lp.RandomizedResponse(p=0.6)).loss
    bound = loss.cdf(0.0)
    assert bound.status is Status.WIDE
    assert bound.lower <= 0.16 * (1 + 1e-12)
    assert bound.upper >= 0.64 * (1 - 1e-12)


@settings(max_examples=30)
@given(st.data())
def test_finite_pairs(data: st.DataObject) -> None:
    """Random pairs with zeros in either vector, composed with one another, between their atoms."""

    def vector(size: int) -> list[int]:
        return data.draw(st.lists(st.integers(0, 6), min_size=size, max_size=size).filter(lambda v: sum(v) > 0))

    pairs, parts = [], []
    for _ in range(data.draw(st.integers(1, 3))):
        size = data.draw(st.integers(2, 4))
        p, q = vector(size), vector(size)
        if not any(a and b for a, b in zip(p, q, strict=True)):
            return
        own = [[Fraction(v, sum(one)) for v in one] for one in (p, q)]
        pairs.append((own[0], own[1]))
        parts.append(lp.Discrete([float(v) for v in own[0]], [float(v) for v in own[1]]))
    release = lp.compose(parts)
    outcomes = enumerated(pairs)
    infinite = 1 - sum(mass for _, mass in outcomes)
    assert release.loss.infinite_mass.lower <= float(infinite) + 1e-15
    assert release.loss.infinite_mass.upper >= float(infinite) - 1e-15
    places = sorted(place for place, _ in outcomes)
    gaps = [(a + b) / 2 for a, b in itertools.pairwise(places) if b - a > 1e-6]
    for x in [places[0] - 1, *gaps[:4], places[-1] + 1]:
        above = sum((mass for place, mass in outcomes if place > x), start=Fraction(0))
        for bound, truth in ((release.loss.sf(x), above), (release.loss.cdf(x), 1 - infinite - above)):
            assert bound.lower <= float(truth) + 1e-14
            assert bound.upper >= float(truth) - 1e-14
            assert bound.width <= 1e-8
    total = release.loss.atoms
    assert total.lower.sum() <= float(1 - infinite) + 1e-14
    assert total.upper.sum() >= float(1 - infinite) - 1e-14


def laplace_tail(x: float, scale: float, count: int) -> float:
    """P(L > x) by convolution of the flat part's spline with the atoms, by mpmath's own integration for two."""
    width = 1 / mpmath.mpf(scale)
    atom_up, atom_down = mpmath.mpf(1) / 2, mpmath.exp(-width) / 2

    def flat(y: mpmath.mpf) -> mpmath.mpf:
        # the loss is 2|.|-like between: density e^{(y - w)/2} / 4
        return mpmath.exp((y - width) / 2) / 4

    def one(t: mpmath.mpf) -> mpmath.mpf:
        if t >= width:
            return mpmath.mpf(0)
        if t < -width:
            return mpmath.mpf(1)
        return atom_up + mpmath.quad(flat, [t, width])

    if count == 1:
        return float(one(mpmath.mpf(x)))
    cut = sorted({-width, width, *[min(max(x - side * width, -width), width) for side in (1, -1)]})
    mixed = mpmath.quad(lambda y: flat(y) * one(x - y), cut)
    return float(atom_up * one(x - width) + atom_down * one(x + width) + mixed)


@pytest.mark.few(2)
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("scale", [0.5, 2.0, 9.0])
@pytest.mark.parametrize("share", [-0.93, -0.4, 0.013, 0.31, 0.97])
def test_laplace_losses(count: int, scale: float, share: float) -> None:
    x = share * count / scale
    with mpmath.workdps(25):
        truth = laplace_tail(x, scale, count)
    loss = (count * lp.Laplace(scale=scale)).loss
    holds(loss.sf(x), truth)
    holds(loss.cdf(x), 1 - truth)


@pytest.mark.parametrize("count", [2, 3, 5, 9, 40])
def test_laplace_density_is_the_slope_of_its_distribution(count: int) -> None:
    loss = (count * lp.Laplace(scale=3.0)).loss
    for x in (-0.51, 0.07, 0.44):
        step = 1e-5
        slope = (loss.cdf(x + step).value - loss.cdf(x - step).value) / (2 * step)
        found = loss.pdf(x)
        assert found.value == pytest.approx(slope, rel=1e-5)
        assert found.width <= 1e-6 * found.value


def test_laplace_atoms() -> None:
    """Twelve repetitions have thirteen atoms, the topmost of probability 2^-12; the Gaussian beside them removes them."""
    atoms = (12 * lp.Laplace(scale=5.0)).loss.atoms
    assert len(atoms) == 13
    assert atoms.lower[-1] <= 2.0**-12 <= atoms.upper[-1]
    assert atoms.locations[-1] == pytest.approx(2.4)
    assert len((12 * lp.Laplace(scale=5.0) + lp.Gaussian(sigma=9, adjacency="add_remove")).loss.atoms) == 0


@pytest.mark.few(2)
@pytest.mark.parametrize("count", [2, 30])
@pytest.mark.parametrize("direction", ["loss", "dual_loss"])
def test_sampled_gaussians_by_simulation_free_convolution(count: int, direction: str) -> None:
    """The distribution function of two or thirty sampled Gaussians, by a fine convolution in both directions of rounding."""
    sigma, rate, step = 1.3, 0.2, 2e-4
    y = np.linspace(-16, 16, 1 << 18)
    p = (1 - rate) * np.exp(-y * y / 2) + rate * np.exp(-((y - 1 / sigma) ** 2) / 2)
    q = np.exp(-y * y / 2)
    loss = np.log(p / q)
    weight = (p if direction == "loss" else q) * (y[1] - y[0]) / math.sqrt(2 * math.pi)
    loss = loss if direction == "loss" else -loss
    cells = {}
    for side, places in (("low", np.floor(loss / step)), ("high", np.ceil(loss / step))):
        node = places.astype(int)
        line = np.bincount(node - node.min(), weight)
        size = 1 << math.ceil(math.log2(line.size * count))
        total = np.fft.irfft(np.fft.rfft(line, size) ** count, size)
        cells[side] = step * (node.min() * count + np.arange(size)), total
    release = getattr(count * lp.Gaussian(sigma=sigma).poisson(rate), direction)
    for x in (-0.2, 0.11, 0.6):
        ends = [float(total[places > x].sum()) for places, total in cells.values()]
        bound = release.sf(x)
        assert ends[0] - 1e-9 <= bound.upper
        assert bound.lower <= ends[1] + 1e-9
        assert bound.width <= SHARP * bound.value


def test_single_sampled_gaussian_in_output_space() -> None:
    """Chords of the profile contain the truth where the transform does not decay."""
    sigma, rate = 0.8, 0.05
    for x in (-0.04, 0.02, 0.7, 3.0):
        with mpmath.workdps(30):
            shift = 1 / mpmath.mpf(sigma)
            y = shift / 2 + mpmath.log(1 + mpmath.expm1(x) / mpmath.mpf(rate)) / shift
            truth = (1 - mpmath.mpf(rate)) * normal_tail(y, 0, 1) + mpmath.mpf(rate) * normal_tail(y, shift, 1)
        bound = lp.Gaussian(sigma=sigma).poisson(rate).loss.sf(x)
        assert bound.lower <= float(truth) * (1 + 1e-13)
        assert bound.upper >= float(truth) * (1 - 1e-13)
        assert bound.width <= 1e-4 * bound.value


RELEASES = [
    10 * lp.Gaussian(sigma=3),
    20 * lp.RandomizedResponse(p=0.6),
    9 * lp.Laplace(scale=2),
    300 * lp.Gaussian(sigma=2).poisson(0.05),
    4 * lp.DiscreteLaplace(scale=2.0) + lp.Gaussian(sigma=4, adjacency="add_remove"),
    6 * lp.ApproximateDP(epsilon=0.3, delta=1e-3),
    3 * Flat(1.0),
]


@pytest.mark.few(1)
@pytest.mark.parametrize("release", RELEASES, ids=repr)
def test_laws_of_the_distribution(release: lp.Mechanism) -> None:
    """Monotone; both tails add up to the finite mass; quantiles invert; the profile is the integral of the tail."""
    loss = release.loss
    x = np.linspace(-1.03, 2.07, 9)
    down, up = loss.sf(x), loss.cdf(x)
    assert isinstance(down, Bounds)
    assert down.shape == x.shape
    assert np.all(np.diff(down.lower) <= 1e-12)
    assert np.all(np.diff(up.lower) >= -1e-12)
    finite = 1 - loss.infinite_mass.value
    assert np.all(np.abs(down.value + up.value - finite) <= 1e-9)
    for p in (1e-6, 0.2, 0.7, 0.99):
        found = loss.quantile(p)
        room = 1e-6 * max(1.0, abs(found.value))
        assert found.width <= 1e-8 * max(1.0, abs(found.value))
        assert loss.cdf(found.lower - room).lower <= p
        assert loss.cdf(found.upper + room).upper >= p * (1 - 1e-12)
    # delta = P(L = inf) + integral of e^{x - t} P(L > t) over t > x
    low, reach = 0.113, 8.0
    nodes, weights = np.polynomial.legendre.leggauss(60)
    if release.loss_law().support.lattice is None:
        t = low + reach * (nodes + 1) / 2
        integral = float((weights * reach / 2 * np.exp(low - t) * np.asarray(loss.sf(t).value)).sum())
        assert release.delta(low, direction="remove").value == pytest.approx(
            integral + loss.infinite_mass.value, rel=5e-3, abs=1e-4
        )


def test_moments_of_a_distribution() -> None:
    loss = (10 * lp.Gaussian(sigma=3)).loss
    assert 10 / 18 in loss.mean
    assert 10 / 9 in loss.variance
    assert abs(loss.cumulant(3).value) < 1e-9
    assert loss.mean.direction is lp.Direction.REMOVE
    assert (10 * lp.Gaussian(sigma=3)).dual_loss.mean.direction is lp.Direction.ADD


def test_quantiles_at_the_ends() -> None:
    loss = (5 * lp.ApproximateDP(epsilon=0.5, delta=0.01)).loss
    assert loss.quantile(1.0).lower == math.inf
    assert loss.quantile(1.0).status is Status.UNBOUNDED
    assert 2.5 in loss.quantile(0.95)
    assert lp.Gaussian(sigma=1).loss.quantile(1.0).value == math.inf
    top = lp.Laplace(scale=2).loss.quantile(1.0)
    assert 0.5 in top
    assert top.width < 1e-12


def test_probabilistic_privacy() -> None:
    """P(L > eps) of both orders, and its inverse; infinite losses count."""
    release = lp.Gaussian(sigma=2)
    with mpmath.workdps(30):
        truth = float(normal_tail(1.0, mpmath.mpf(1) / 8, mpmath.mpf(1) / 2))
    holds(release.pdp_delta(1.0), truth)
    assert release.pdp_delta(1.0).value > release.delta(1.0).value
    found = release.pdp_epsilon(truth)
    assert found.lower - 1e-12 <= 1.0 <= found.upper + 1e-12
    leaky = 3 * lp.ApproximateDP(epsilon=0.1, delta=0.01)
    holds(leaky.pdp_delta(0.31), 1 - 0.99**3)
    assert leaky.pdp_epsilon(0.01).value == math.inf
    assert leaky.pdp_epsilon(1.0).value == 0
    assert release.pdp_delta([0.5, 1.0]).shape == (2,)
    sampled = 50 * lp.Gaussian(sigma=1).poisson(0.1)
    largest = max(sampled.loss.sf(1.0).value, sampled.dual_loss.sf(1.0).value)
    assert sampled.pdp_delta(1.0).value == pytest.approx(largest, rel=1e-12)


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda loss: loss.cdf(math.nan), ValueError),
        (lambda loss: loss.sf(math.inf), ValueError),
        (lambda loss: loss.cdf("0.5"), TypeError),
        (lambda loss: loss.pdf(None), TypeError),
        (lambda loss: loss.quantile(0.0), ValueError),
        (lambda loss: loss.quantile(1.5), ValueError),
        (lambda loss: loss.quantile(math.nan), ValueError),
        (lambda loss: loss.cdf(0.5, rtol=-1), ValueError),
    ],
)
def test_bad_questions(ask: Any, error: Any) -> None:
    with pytest.raises(error, match=r"\S"):
        ask(lp.Gaussian(sigma=1).loss)


def test_too_many_atoms_are_refused() -> None:
    parts = [lp.RandomizedResponse(p=0.5 + 0.01 * k) for k in range(1, 30)]
    with pytest.raises(ValueError, match="atoms"):
        lp.compose(parts).loss.atoms  # noqa: B018


@pytest.mark.parametrize("failure", [1e-5, 1e-20])
def test_quantiles_at_the_finite_mass(failure: float) -> None:
    """Where it is not known whether the finite mass reaches a probability, the quantile may be infinite."""
    release = lp.ApproximateDP(epsilon=1, delta=failure)
    found = release.pdp_epsilon(failure)
    assert found.upper == math.inf
    assert found.lower <= 1
    # the double next to 0.99999 is above it
    assert release.loss.quantile(1 - failure).upper == math.inf
    # 1 - 1e-20 is one in doubles, and not one
    assert release.loss.quantile(1.0).lower == math.inf
    assert release.pdp_epsilon(failure / 2).lower == math.inf
    holds(release.pdp_epsilon(failure * (1 + 1e-9)), 1.0)
    small = lp.ApproximateDP(epsilon=0, delta=2.215028474834685e-07)
    assert (5 * small).pdp_epsilon(1.1075137467823367e-06).upper == math.inf


def test_quantiles_at_one_where_the_support_is_not_told() -> None:
    """The loss of a logistic density moved by one is at most one, which samples do not say."""

    def logistic(centre):
        return lambda x: -np.abs(x - centre) - 2 * np.log1p(np.exp(-np.abs(x - centre)))

    found = lp.FromDensities(logistic(1.0), logistic(0.0), (-np.inf, np.inf)).loss.quantile(1.0)
    assert found.lower <= 1 <= found.upper
    assert found.status is Status.WIDE
    unbounded = lp.Gaussian(sigma=1).loss.quantile(1.0)
    assert unbounded.lower == math.inf
    assert unbounded.status is Status.UNBOUNDED


def test_tails_left_out_of_a_sampled_discrete_normal_law_are_counted() -> None:
    """Beyond the atoms that are kept both tails are tiny, not zero."""
    loss = lp.DiscreteGaussian(sigma=2).poisson(0.5).loss
    # the loss passes 18 where the noise passes 74.2: a mass of e^-688
    assert 0 < loss.sf(18.5).upper < 1e-280
    assert loss.sf(18.5).lower == 0
    assert loss.quantile(1.0).upper == math.inf


def test_an_atom_within_rounding_of_the_threshold_of_a_law_of_one_atom() -> None:
    """The only finite loss is 3 log(0.810733278228779): doubles beside it may be on either side."""
    one = lp.Discrete(p=[0.189266721771221, 0.810733278228779], q=[0.0, 1.0])
    loss = (3 * one + lp.RandomizedResponse(p=0.5)).loss
    with mpmath.workdps(40):
        place, mass = 3 * mpmath.log(mpmath.mpf("0.810733278228779")), mpmath.mpf("0.810733278228779") ** 3
        near = float(place)
        for x in (near, math.nextafter(near, -1), math.nextafter(near, 0), near - 1e-9, near + 1e-9):
            above = mass if place > x else mpmath.mpf(0)
            assert loss.sf(x).lower <= above <= loss.sf(x).upper
            assert loss.cdf(x).lower <= mass - above <= loss.cdf(x).upper


BEYOND_DOUBLES = [
    lp.Gaussian(sigma=1),
    lp.GaussianPair(mean_p=0, sigma_p=2, mean_q=1, sigma_q=3),
    pytest.param(10**12 * lp.DiscreteGaussian(sigma=2), marks=pytest.mark.slow),
    10**250 * lp.Laplace(scale=2),
    10**250 * lp.DiscreteLaplace(scale=2, sensitivity=2),
    pytest.param(10**250 * lp.DiscreteGaussian(sigma=2), marks=pytest.mark.slow),
]


def shortened(release: Any) -> str:
    return str(release)[-40:]


@pytest.mark.few(1)
@pytest.mark.parametrize("x", [1e150, *slowly(-1e150, 1e308, -1e308, 5e-324)])
@pytest.mark.parametrize("release", BEYOND_DOUBLES, ids=shortened)
def test_thresholds_that_leave_the_doubles(release: Any, x: Any) -> None:
    """Answers without warnings."""
    above, below = release.loss.sf(x), release.loss.cdf(x)
    assert above.lower + below.lower <= 1 <= (above.upper + below.upper) * (1 + 1e-14)
    if abs(x) > 1e100 and release.loss.mean.upper < 1e100:
        assert (above.upper if x > 0 else below.upper) < 1e-300


@pytest.mark.few(1)
@pytest.mark.parametrize("release", BEYOND_DOUBLES, ids=shortened)
def test_quantiles_that_leave_the_doubles(release: Any) -> None:
    for p in (1e-300, 0.5, 1.0):
        assert not math.isnan(release.loss.quantile(p).value)


@pytest.mark.slow
def test_levels_that_no_rounding_tells_from_the_whole_mass() -> None:
    """Nothing is proved on one side, and nothing claimed."""
    for release in (lp.Gaussian(sigma=1e-3), 10**12 * lp.DiscreteGaussian(sigma=2), 10**12 * lp.DiscreteLaplace(scale=2)):
        found = release.pdp_epsilon(1 - 1e-16)
        assert found.lower == 0
        assert found.upper < release.loss.mean.value * 2


@pytest.mark.slow
def test_quantiles_of_wide_losses() -> None:
    """The mean is 5e17, the spread 1e9; far from the mean only Chernoff's bounds are within the doubles."""
    loss = (10**12 * lp.Gaussian(sigma=1e-3)).loss
    median = loss.quantile(0.5)
    assert median.lower <= 5e17 <= median.upper
    assert median.width < 1e10
    assert loss.sf(1e16).lower > 1 - 1e-14
    assert loss.cdf(1e16).upper < 1e-300


@pytest.mark.few(1)
@pytest.mark.parametrize("count", [10**6, 10**9, 10**12])
@pytest.mark.parametrize("place", [-1000, 0, 3, *slowly(-100, -3, 100)])
def test_sums_of_so_many_flat_parts_that_only_the_contour_is_sharp(count: Any, place: Any) -> None:
    """By the theorem of Berry and Esseen: what underflows is not zero, and what is no number is not known."""
    release = count * Flat(1.0)
    mean, spread = release.loss.mean.value, math.sqrt(release.loss.variance.value)
    truth = float(mpmath.ncdf(-place))
    for bound in (release.loss.sf(mean + place * spread), release.delta(mean + place * spread)):
        # a profile is below its tail by about a share 1/spread of the density
        assert bound.lower - 2 / spread <= truth <= bound.upper + 2 / spread
        assert bound.width < 0.01


@pytest.mark.slow
def test_the_median_of_a_sum_of_many_flat_parts() -> None:
    """Near the mean."""
    loss = (10**9 * lp.ExponentialMechanism(epsilon=1)).loss
    median, mean, spread = loss.quantile(0.5), loss.mean.value, math.sqrt(loss.variance.value)
    assert max(abs(median.lower - mean), abs(median.upper - mean)) < 0.01 * spread


def test_no_number_is_no_enclosure() -> None:
    assert enclosed(Scaled(0.0, math.nan))[2] == math.inf
    assert enclosed(Scaled(0.0, 1.0, rounding=math.nan))[0] == -math.inf


def test_the_worse_order_tells_whether_the_answer_is_sharp() -> None:
    """A wide order that may be as large leaves a wide answer; one that is surely smaller does not matter."""
    sharp = Bound(0.5, 0.5, 0.5, direction=lp.Direction.REMOVE)
    wide = Bound(0.1, 0.2, 0.9, Status.WIDE, direction=lp.Direction.ADD)
    found = relatively(worst([sharp, wide]), 1e-9)
    assert (found.lower, found.upper, found.status, found.direction) == (0.5, 0.9, Status.WIDE, lp.Direction.BOTH)
    small = Bound(0.1, 0.2, 0.3, Status.WIDE, direction=lp.Direction.ADD)
    found = relatively(worst([small, sharp]), 1e-9)
    assert (found.lower, found.upper, found.status, found.direction) == (0.5, 0.5, Status.MET, lp.Direction.REMOVE)


# --------------------------------------------------------------------------------------------- the inner distribution


def test_the_inner_distribution_of_known_atoms() -> None:
    """[PLC] Definition 4, by enumeration: each of three losses is finite nine times out of ten."""
    loss = (3 * lp.Discrete([0.1, 0.5, 0.4, 0], [0, 0.3, 0.4, 0.3])).loss
    p, x = np.array([5 / 9, 4 / 9]), np.array([math.log(5 / 3), 0.0])
    exact = [math.comb(3, k) * p[0] ** k * p[1] ** (3 - k) for k in range(4)]
    places = loss.inner.atoms
    np.testing.assert_allclose(places.locations, x[0] * np.arange(4), atol=1e-12)
    assert np.all(places.lower <= np.array(exact) * (1 + 1e-15))
    assert np.all(places.upper >= np.array(exact) * (1 - 1e-15))
    for k in range(4):
        holds(loss.inner.cdf(x[0] * k + 0.1), sum(exact[: k + 1]))
        holds(loss.inner.sf(x[0] * k - 0.1), sum(exact[k:]))
    holds(loss.inner.mean, 3 * float(p @ x))
    holds(loss.inner.variance, 3 * p[0] * p[1] * x[0] ** 2)
    assert loss.inner.infinite_mass.upper == 0
    holds(loss.inner.quantile(0.5), 2 * x[0])
    top = loss.inner.quantile(1.0)
    assert top.lower <= 3 * x[0] <= top.upper <= 3 * x[0] + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("count", [20, *slowly(1)])
def test_the_inner_distribution_divides_by_the_finite_mass(count: int) -> None:
    """One part without infinite losses, one that has them and is constant otherwise: the inner law is that of the first."""
    clean = count * lp.Gaussian(sigma=3)
    mixed = clean + count * lp.ApproximateDP(epsilon=0, delta=0.03)
    x = np.linspace(-1, 3, 7)
    for name in ("cdf", "sf", "pdf"):
        found, truth = getattr(mixed.loss.inner, name)(x), getattr(clean.loss, name)(x)
        assert np.all(found.lower <= truth.upper)
        assert np.all(found.upper >= truth.lower)
        np.testing.assert_allclose(found.value, truth.value, rtol=1e-8)
    np.testing.assert_allclose(
        mixed.loss.inner.quantile([0.01, 0.5, 0.99]).value, clean.loss.quantile([0.01, 0.5, 0.99]).value, rtol=1e-6
    )
    assert mixed.dual_loss.inner.direction is lp.Direction.ADD
    assert clean.loss.inner.cdf(0.3).value == pytest.approx(clean.loss.cdf(0.3).value, rel=1e-12)


def test_no_inner_distribution_of_infinite_losses() -> None:
    # less than any double is left of the finite losses
    with pytest.raises(ValueError, match="no finite loss"):
        _ = (10**6 * lp.ApproximateDP(epsilon=0.5, delta=0.01)).loss.inner
    with pytest.raises(ValueError, match="x must"):
        lp.Gaussian(1).loss.inner.cdf(math.nan)
    with pytest.raises(ValueError, match="probability"):
        lp.Gaussian(1).loss.inner.quantile(0.0)
