"""One rare large loss among many small ones: small rates, where a plain contour loses its digits."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import logphi as lp
from logphi.answers.status import Status
from logphi.engine.large_losses import clipping
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.clipped import ClippedNormal
from logphi.laws.normal.mixed_normal import MixedNormal
from profiles import gaussian_profile
from slowly import slowly
from some import some

# what is promised where large losses decide, and what noise of sigma 0.5, whose losses have no scale of their own, leaves
PROMISED, HEAVY = 1e-9, 3e-5
# what rounding leaves of a sum of ten thousand products, a hundred times over
CONVOLVED = 3e-11
# what higher moments of the others add, and what lines lose where the answer is far below their integrand
OTHERS, DEEP = 1e-7, 1e-4
# the width that suffices where a narrower answer is expensive
SUFFICIENT = 5e-7
# what rounding leaves of a transform that is far from one
TRANSFORM = 1e-11


def sampled(count: int, rate: float, sigma: float) -> lp.Mechanism:
    return count * lp.Gaussian(sigma=sigma).poisson(rate)


def convolved(count: int, rate: float, sigma: float, place: int, per_rate: int, top: float) -> tuple[float, float]:
    """Delta at ``place`` steps of rate / per_rate, from the density of one loss on a lattice.

    Sums of a smooth density over a lattice that resolves it are integrals, and products of positive numbers lose no digits. The
    kink of the payoff is on the lattice: what it adds to the last sum is Euler's and Maclaurin's.
    """
    h = rate / per_rate
    first = math.ceil(math.log1p(-rate) / h)
    loss = h * np.arange(first, int(top / h) + 1)
    odds = np.maximum((np.expm1(loss) + rate) / rate, 1e-300)
    x = sigma * (np.log(odds) + 0.5 / sigma**2)
    weight = np.exp(2 * loss - x * x / 2) * sigma / (rate * odds) / math.sqrt(2 * math.pi) * h

    def product(one: tuple[int, np.ndarray], other: tuple[int, np.ndarray]) -> tuple[int, np.ndarray]:
        start = one[0] + other[0]
        return start, np.convolve(one[1], other[1])[: int(top / h) + 1 - start]

    total, power = (0, np.ones(1)), (first, weight)
    while count:
        total = product(total, power) if count & 1 else total
        count >>= 1
        power = product(power, power) if count else power
    start, mass = total
    steps = start + np.arange(mass.size) - place
    above = steps > 0
    value = float(mass[above] @ -np.expm1(-h * steps[above]))
    left, here, right = mass[place - start - 1 : place - start + 2] / h
    third = here - 3 * (right - left) / (2 * h) + 3 * (right - 2 * here + left) / h**2
    return place * h, value + h**2 / 12 * here - h**4 / 720 * third


def test_a_convolution_of_densities_lies_inside_the_bounds():
    epsilon, delta = convolved(100, 0.01, 4.0, 680, 40, 1.3)
    bound = sampled(100, 0.01, 4.0).delta(epsilon, direction="remove", method="clipped")
    assert bound.width <= PROMISED * bound.value
    assert bound.lower * (1 - CONVOLVED) <= delta <= bound.upper * (1 + CONVOLVED)


@pytest.mark.parametrize(
    ("count", "rate", "sigma", "epsilon", "delta"),
    # by the convolution above at 40 to 90 steps to a rate, which agree in all but the last digits given
    [
        (100, 1e-3, 2.0, 0.038, 1.85115357849e-12),
        (1000, 1e-3, 4.0, 0.0497, 1.043580367876e-12),
        (30, 0.01, 2.0, 0.8, 8.5422207053966e-23),
    ],
)
def test_finer_convolutions_lie_inside_the_bounds(count, rate, sigma, epsilon, delta):
    bound = sampled(count, rate, sigma).delta(epsilon, method="clipped")
    assert bound.width <= PROMISED * bound.value
    assert bound.lower * (1 - CONVOLVED) <= delta <= bound.upper * (1 + CONVOLVED)


@pytest.mark.parametrize(("z", "end"), [(3.0, 2.5), (40.0, 4.0), (-2.5, 3.0), (6.0 + 35.0j, 3.0)])
def test_the_transform_below_the_cap_is_its_integral(z, end):
    one = lp.Gaussian(sigma=0.8).poisson(0.03).loss_law().terms[0][0]
    assert isinstance(one, MixedNormal)
    m, q = mpmath.mpf(1) / mpmath.mpf(0.8), mpmath.mpf(0.03)
    with mpmath.workdps(30):
        whole = mpmath.quad(
            lambda x: (1 - q + q * mpmath.exp(m * x - m * m / 2)) ** (z + 1) * mpmath.npdf(x), [-12, -4, 0, 2, end]
        )
    values = ClippedNormal(one, end).log_transform(np.array([z]))
    assert abs(complex(mpmath.exp(values.mid[0]) / whole) - 1) <= values.radius[0] + 1e-15 <= TRANSFORM


@pytest.mark.parametrize("share", [1e-13, 1e-9, 1e-5])
def test_the_cap_does_not_matter(share):
    loss = sampled(1000, 1e-4, 1.0).loss_law()
    usual, other = (clipping.prepare(loss, 0.0954, Demand(rtol)) for rtol in (1e-9, share))
    (low, high), (least, most) = (some(one).at(0.0954).amount.log_ends for one in (usual, other))
    assert max(low, least) <= min(high, most)


@pytest.mark.slow
@settings(max_examples=40)
@given(
    count=st.integers(100, 10**6),
    log_rate=st.floats(-5, -1.5),
    sigma=st.floats(0.8, 5.0),
    share=st.floats(0.2, 4.0),
)
def test_clipped_and_plain_contours_meet(count, log_rate, sigma, share):
    release = sampled(count, 10**log_rate, sigma)
    epsilon = share * math.sqrt(count * math.expm1(sigma**-2)) * 10**log_rate
    one, other = (release.delta(epsilon, direction="remove", method=method) for method in (None, "contour"))
    assert max(one.lower, other.lower) <= min(one.upper, other.upper)


@pytest.mark.slow
def test_small_losses_may_be_of_any_kind():
    release = sampled(300, 1e-4, 1.0) + sampled(500, 3e-4, 1.5) + 20 * lp.RandomizedResponse(p=0.5001)
    one, other = (release.delta(0.09, direction="remove", method=method) for method in ("clipped", "discretized"))
    assert one.width <= PROMISED * one.value
    assert other.lower <= one.lower <= one.upper <= other.upper


def test_a_profile_of_e_to_minus_300_keeps_its_digits():
    clipped, plain = (sampled(1000, 0.01, 8.0).log_delta(1.0, method=method) for method in ("clipped", "contour"))
    assert clipped.upper < -298
    assert clipped.width < PROMISED
    assert max(clipped.lower, plain.lower) <= min(clipped.upper, plain.upper)


def test_epsilon_is_zero_where_delta_at_zero_is_small_enough():
    for release in (sampled(1, 1e-5, 0.5), sampled(1, 1e-5, 4.0)):
        found = release.epsilon(1e-5)
        assert (found.lower, found.upper) == (0.0, 0.0)


COUNTS, RATES, SIGMAS, DELTAS = (1, 100, 1000, 10**6), (1e-5, 1e-4, 1e-3, 1e-2), (0.5, 1.0, 2.0, 4.0), (1e-5, 1e-8, 1e-12)
# one of the deltas for each law, and its neighbours in count, rate and sigma have the others
GRID = [(*law, DELTAS[place % 3]) for place, law in enumerate(itertools.product(COUNTS, RATES, SIGMAS))]


def check(count: int, rate: float, sigma: float, delta: float) -> None:
    """Epsilon is narrow, and at its ends an independent route says that delta is on the right sides."""
    release = sampled(count, rate, sigma)
    found = release.epsilon(delta)
    # an epsilon far below delta is known as delta is
    assert found.width <= (HEAVY if sigma < 1 else PROMISED) * max(found.upper, delta)
    if found.upper > 0 and count < 10**6:
        above, below = release.delta([found.lower, found.upper], method="discretized")
        assert above.upper >= delta * (1 - PROMISED)
        assert below.lower <= delta * (1 + PROMISED)


@pytest.mark.parametrize("case", [(10**6, 1e-5, 4.0, 1e-12), *slowly(((1000, 1e-4, 1.0, 1e-12),))])
def test_epsilon_is_narrow_at_small_rates(case):
    check(*case)


@pytest.mark.slow
@pytest.mark.parametrize("case", GRID)
def test_epsilon_is_narrow_all_over_the_grid(case):
    check(*case)


def test_infinite_losses_have_a_share_of_the_large_ones():
    # the other has an infinite loss with probability 0.3, and else none
    release, other = sampled(1000, 1e-4, 1.0), lp.ApproximateDP(epsilon=0, delta=0.3)
    alone = release.delta(0.09, direction="remove")
    for method in (None, "clipped"):
        found = (release + other).delta(0.09, direction="remove", method=method)
        assert found.lower <= 0.3 + 0.7 * alone.upper
        assert found.upper >= 0.3 + 0.7 * alone.lower
        assert found.width <= 1e-9


@pytest.mark.parametrize("infinite", [1e-300, 1e-7, 0.1])
def test_losses_that_may_be_infinite_or_two_others_leave_the_mean_of_the_profile(infinite):
    # without an infinite loss, the loss of the other is 0.3 or -0.3
    release, at = sampled(50, 1e-3, 0.7), 1.5
    found = (release + lp.ApproximateDP(epsilon=0.3, delta=infinite)).delta(at, direction="remove", method="clipped")
    less, more = (release.delta(at + shift, direction="remove", method="discretized") for shift in (-0.3, 0.3))
    share = 1 / (1 + math.exp(-0.3))
    lower, upper = (
        infinite + (1 - infinite) * (share * one + (1 - share) * other)
        for one, other in zip((less.lower, less.upper), (more.lower, more.upper), strict=True)
    )
    assert found.lower <= upper * (1 + 1e-12)
    assert found.upper >= lower * (1 - 1e-12)
    assert found.width <= 1e-7 * found.upper


def test_a_discrete_gaussian_beside_leaves_the_mean_of_the_profile():
    # its omitted atoms count as infinite losses; the sum is over all atoms of one sample, at 25 digits
    release, other = sampled(4, 1.2e-3, 1.1), lp.DiscreteGaussian(sigma=2).poisson(0.05)
    found = (release + other).delta(0.5, direction="remove", method="clipped")
    with mpmath.workdps(25):
        masses = {k: mpmath.exp(-mpmath.mpf(k * k) / 8) for k in range(-40, 42)}
        total = mpmath.fsum(masses.values())
        ratios = {k: 1 + mpmath.mpf("0.05") * mpmath.expm1(mpmath.mpf(2 * k - 1) / 8) for k in masses}
        atoms = [(float(mpmath.log(ratio)), float(masses[k] / total * ratio)) for k, ratio in ratios.items()]
    profile = release.delta([0.5 - loss for loss, _ in atoms], direction="remove")
    lower, upper = (
        sum(mass * float(end) for (_, mass), end in zip(atoms, ends, strict=True)) for ends in (profile.lower, profile.upper)
    )
    assert found.lower <= upper * (1 + 1e-10)
    assert found.upper >= lower * (1 - 1e-10)
    assert found.width <= 1e-7 * found.upper


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("count", "rate", "sigma", "epsilon"),
    # tails of which no digit is left, differences of tails that are none, and losses without a density
    [(1, 0.1, 1e9, 1.0), (1, 0.5, 1e17, 1e-17), (10**9, 1e-12, 1e17, 50.0), (10**6, 1e-3, 0.03, 1.0)],
)
def test_caps_beyond_the_reach_of_doubles_are_refused(count, rate, sigma, epsilon):
    assert clipping.prepare(sampled(count, rate, sigma).loss_law(), epsilon, Demand(1e-9)) is None


def test_a_rest_is_bounded_by_an_exponent_that_is_known():
    almost_all = sampled(36, 5.64e-5, 116.0)
    prepared = clipping.prepare((sampled(838235066594, 5.7e-28, 4.35) + almost_all).loss_law(), 9.06e-6, Demand(1e-9))
    assert prepared is not None
    low, high = prepared.at(9.06e-6).amount.log_ends
    known = almost_all.delta(9.06e-6, direction="remove")
    # the others move delta by less than the expected number of samples
    others = 838235066594 * 5.7e-28
    assert known.lower - others <= math.exp(high)
    assert math.exp(low) <= known.upper + others
    assert high - low < PROMISED


@pytest.mark.slow
def test_noise_beyond_all_measure_has_a_profile():
    # at most delta(0) <= q / sigma of each release
    found = sampled(10**15, 1e-30, 1e17).log_delta(1e-99, direction="remove")
    assert found.upper <= 0
    assert found.lower <= math.log(1e-32)


def test_a_named_clipped_contour_is_refused_where_nothing_is_sampled():
    with pytest.raises(ValueError, match="'clipped' needs"):
        (20 * lp.Laplace(scale=5.0)).delta(1.0, method="clipped")


def test_the_main_workload_is_not_clipped():
    assert sampled(14062, 256 / 60000, 1.1).epsilon(1e-5).method == "contour"
    assert sampled(1000, 1e-4, 1.0).epsilon(1e-12).status is Status.MET


@pytest.mark.slow
def test_a_lattice_finer_than_the_doubles_is_left_to_a_smoothed_line():
    release = (
        sampled(1, 0.005677659998081226, 0.612237450148677)
        + sampled(5040568, 2.3541633732846738e-09, 8.019322522359301)
        + sampled(582094, 2.1946294570512636e-07, 3.720053006786465)
        + sampled(2761190, 2.3351705718173294e-06, 8.290790456491564)
        + sampled(973, 0.002125272906809874, 3.4549152325765653)
        + sampled(5606040, 1.4647239193354713e-08, 1.4385845282557157)
        + sampled(1, 1.9977302804385558e-05, 0.9212260411364478)
        + sampled(50616, 0.005878571024932286, 10.949796408772142)
    )
    one, other = (release.delta(4.155971089583, direction="remove", method=way) for way in ("discretized", "contour"))
    assert max(one.lower, other.lower) <= min(one.upper, other.upper)
    assert one.width <= PROMISED * one.value


def excess_of_two(rate: float, sigma: float, epsilon: float) -> mpmath.mpf:
    """Delta of two sampled Gaussians: over the first loss, the second one has a closed form."""
    m, q, e = 1 / mpmath.mpf(str(sigma)), mpmath.mpf(str(rate)), mpmath.mpf(str(epsilon))

    def own(x):
        return 1 - q + q * mpmath.exp(m * x - m * m / 2)

    def second(left):
        # delta of one at an epsilon
        odds = (mpmath.expm1(left) + q) / q
        if odds <= 0:
            return -mpmath.expm1(left)
        place = (mpmath.log(odds) + m * m / 2) / m
        upper, tilted = mpmath.ncdf(-place), mpmath.ncdf(m - place)
        return q * (tilted - upper) - mpmath.expm1(left) * upper

    # around the loss with which the second one need not be large, where the integrand bends within a rate
    bend = (mpmath.log((mpmath.expm1(e) + q) / q) + m * m / 2) / m
    near = [bend + side * q * mpmath.mpf(10) ** k for k in range(-2, 7) for side in (-1, 1) if q * mpmath.mpf(10) ** k < 0.3]
    steps = sorted({mpmath.mpf(one) for one in (-16, -8, -4, 0, 2, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 26)} | {bend, *near})
    return mpmath.quad(lambda x: mpmath.npdf(x) * own(x) * second(e - mpmath.log(own(x))), steps)


@pytest.mark.few(1)
@pytest.mark.parametrize(("rate", "sigma", "epsilon"), [(1e-6, 0.5, 0.5), (1e-4, 0.7, 0.2), (1e-3, 0.8, 0.9)])
def test_two_releases_of_which_one_decides(rate, sigma, epsilon):
    with mpmath.workdps(25):
        truth = excess_of_two(rate, sigma, epsilon)
    loss = sampled(2, rate, sigma).loss_law()
    draft = clipping.Draft.in_parts(loss, epsilon, Demand(PROMISED), float(mpmath.log(truth)))
    assert draft is not None
    prepared = draft.laid()
    assert prepared is not None
    low, high = prepared.at(epsilon).amount.log_ends
    assert low <= float(mpmath.log(truth)) <= high
    assert high - low < HEAVY


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("rate", "sigma", "epsilon"), [(1e-3, 0.2, 0.0), (1e-4, 0.15, 0.0), (1e-6, 0.11, 0.002), (1e-6, 0.11, 0.5)]
)
def test_two_releases_with_little_noise(rate, sigma, epsilon):
    """Losses are nearly nothing or large, at epsilon zero, too."""
    with mpmath.workdps(25):
        truth = float(mpmath.log(excess_of_two(rate, sigma, epsilon)))
    draft = clipping.Draft.in_parts(sampled(2, rate, sigma).loss_law(), epsilon, Demand(PROMISED), truth)
    assert draft is not None
    prepared = draft.laid()
    assert prepared is not None
    low, high = prepared.at(epsilon).amount.log_ends
    assert low <= truth <= high
    assert low > truth - DEEP
    assert epsilon == 0 or high - low < PROMISED * 10


def assert_split_elsewhere_agrees(release: lp.Mechanism, epsilon: float, bound: lp.Bound, coin: float) -> None:
    """Other coins split the law elsewhere."""
    draft = clipping.Draft.in_parts(release.loss_law(), epsilon, Demand(PROMISED), math.log(bound.value), coins=(coin,))
    assert draft is not None
    prepared = draft.laid()
    assert prepared is not None
    low, high = prepared.at(epsilon).amount.log_ends
    assert max(math.log(bound.lower), low) <= min(math.log(bound.upper), high)
    assert high - low < PROMISED * 10


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("kinds", "epsilon"),
    [
        ([(173, 0.0038679872281416386, 68.66), (2367, 9.995024633751483e-05, 3.5894)], 0.11083984616480112),
        ([(44, 0.0036129857343623296, 5.673), (2034, 0.004650068767689647, 65.656), (2, 0.039, 44.65)], 0.5232122136148778),
        ([(13, 1.3451464089323417e-05, 1.66), (23, 0.2430415167941137, 91.85)], 0.6488741091690446),
    ],
)
def test_a_few_kinds_of_which_one_large_loss_decides_far_out(kinds: list[tuple[int, float, float]], epsilon: Any) -> None:
    """The small losses are nearly normal, and their sum moves the threshold of the large one."""
    release = lp.compose([sampled(*kind) for kind in kinds])
    bound = release.delta(epsilon, direction="remove")
    assert bound.status is Status.MET
    assert 0 < bound.value < 1e-60
    assert_split_elsewhere_agrees(release, epsilon, bound, coin=1.7)
    # one line for all losses up to a cap loses digits there
    plain = clipping.prepare(release.loss_law(), epsilon, Demand(PROMISED), 0.0)
    assert plain is not None
    low, high = plain.at(epsilon).amount.log_ends
    assert low <= math.log(bound.lower) <= math.log(bound.upper) <= high


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("count", "rate", "sigma", "epsilon"),
    [
        (65679, 0.00021072251681347748, 1.8433394616007508, 0.7463844280362326),
        (290854, 1.2456992382961363e-06, 0.9430237111505573, 2.744888462720328),
        (791, 7.024482607834672e-07, 0.4960442077919575, 0.43909),
    ],
)
def test_one_large_loss_among_many_tiny_ones(count, rate, sigma, epsilon):
    release = sampled(count, rate, sigma)
    bound = release.delta(epsilon, direction="remove")
    assert bound.status is Status.MET
    assert_split_elsewhere_agrees(release, epsilon, bound, coin=1.4)
    rough = release.delta(epsilon, direction="remove", method="discretized")
    assert rough.lower <= bound.lower <= bound.upper <= rough.upper


def test_one_large_loss_among_almost_constant_ones_decides_far_out():
    """The others move the threshold by a mean and a variance that are nearly nothing."""
    count, rate, sigma, epsilon = 887, 1.2e-6, 2.515, 0.3072
    bound = sampled(count, rate, sigma).delta(epsilon, direction="remove")
    with mpmath.workdps(40):
        q, m = mpmath.mpf(str(rate)), 1 / mpmath.mpf(str(sigma))

        def single(x: mpmath.mpf) -> mpmath.mpf:
            t = mpmath.log1p(mpmath.expm1(x) / q)
            return q * gaussian_profile(m)(t)

        x = mpmath.mpf(str(epsilon))
        # of the other losses: E[l^2] = q^2 (e^{m^2} - 1), and E_P[l] is half of it, up to shares of q
        square = (count - 1) * q * q * mpmath.expm1(m * m)
        slope, bend = mpmath.diff(single, x), mpmath.diff(single, x, 2)
        truth = count * (single(x) + square / 2 * (bend - slope))
    assert truth < 1e-200
    assert bound.lower * (1 - OTHERS) <= truth <= bound.upper * (1 + OTHERS)
    assert bound.width <= DEEP * bound.value


def test_the_rest_is_bounded_where_the_best_exponent_is_out_of_reach():
    bound = sampled(520, 1.4e-7, 0.76).delta(0.00109, direction="remove")
    known = sampled(520, 1.4e-7, 0.76).delta(0.00109, direction="remove", method="discretized")
    assert max(bound.lower, known.lower) <= min(bound.upper, known.upper)
    assert bound.width <= DEEP * bound.value < known.width


def composed(*parts: tuple[int, float, float]) -> lp.Mechanism:
    """A composition of (count, sigma, rate)."""
    return lp.compose([sampled(count, rate, sigma) for count, sigma, rate in parts])


# lines on which the transform falls below its own error; one loss far rarer than another
@pytest.mark.parametrize(
    ("release", "epsilon", "other", "far"),
    [
        (composed((2, 45.155, 0.00972), (3, 75.354, 0.06087), (28, 0.75188, 1.3072e-5)), 0.0094, "bent", 1e-5),
        (composed((1, 0.786, 8.5e-4), (1, 6.1, 0.0027)), 0.6768, "discretized", 1e-2),
    ],
    ids=["far below", "far rarer"],
)
def test_a_clipped_answer_is_narrow(release: lp.Mechanism, epsilon: float, other: Any, far: float) -> None:
    """Inside the bounds of a method that clips nothing."""
    bound = release.delta(epsilon, direction="remove", method="clipped")
    wide = release.delta(epsilon, direction="remove", method=other)
    assert bound.width <= PROMISED * 10 * bound.upper
    assert wide.lower <= bound.upper
    assert bound.lower <= wide.upper
    assert wide.width <= far * wide.upper


def test_a_single_line_far_above_the_answer_is_split() -> None:
    """The lines of the parts lie lower, and share no node with it."""
    release, epsilon = composed((7, 2.12659, 8.184e-4), (58, 4.47728, 0.0122582)), 1.47581
    bound = release.delta(epsilon, direction="remove", method="clipped")
    prepared = clipping.prepare(release.loss_law(), epsilon, Demand(PROMISED))
    assert prepared is not None
    single = prepared.at(epsilon).amount
    low, high = (math.exp(end) for end in single.log_ends)
    assert low <= bound.upper
    assert bound.lower <= high
    assert bound.width <= 10 * PROMISED * bound.upper < (high - low) / 10


def test_a_line_is_only_as_long_as_the_whole_answer_requires():
    # the losses up to the cap add e^-6 to the answer, and the edge at the cap makes their transform fall slowly
    single = sampled(1, 0.000638642753042453, 1.9447334634822189)
    loss = (2 * single).loss_law()
    draft = some(clipping.Draft.of(loss, 0.01735, Demand(PROMISED, least=-31.6)))
    assert draft.nodes < 1 << 15
    amount = some(draft.laid()).at(0.01735).amount
    # D(x) of two releases by quadrature over the outputs of one, with the closed profile of the other
    with mpmath.workdps(30):
        m, q = 1 / mpmath.mpf(1.9447334634822189), mpmath.mpf(0.000638642753042453)

        def profile(x):
            odds = (mpmath.exp(x) - 1 + q) / q
            if odds <= 0:
                return 1 - mpmath.exp(x)
            place = (mpmath.log(odds) + m * m / 2) / m
            mass_q = mpmath.ncdf(-place)
            mass_p = (1 - q) * mass_q + q * mpmath.ncdf(m - place)
            return mass_p - mpmath.exp(x) * mass_q

        def density(y):
            w = 1 - q + q * mpmath.exp(m * y - m * m / 2)
            return w * mpmath.npdf(y) * profile(mpmath.mpf(0.01735) - mpmath.log(w))

        exact = mpmath.quad(density, [-12, -4, 0, 2, 4, 5, 5.5, 6, 6.2, 6.4, 6.6, 6.8, 7, 7.2, 7.5, 8, 9, 10, 12, 16, 25])
        low, high = amount.log_ends
        assert low <= float(mpmath.log(exact)) <= high
    assert high - low < 10 * PROMISED


def test_laws_without_losses_near_the_cap_are_left_whole():
    few, many = sampled(1, 4e-4, 0.36), sampled(388, 1e-4, 28.0)
    loss, epsilon = (few + many).loss_law(), 8.0
    draft = some(clipping.Draft.of(loss, epsilon, Demand(PROMISED)))
    (line,) = draft.lines
    assert isinstance(line.law, LogPhi)
    kinds = {type(law).__name__: count for law, count in line.law.terms}
    assert kinds == {"ClippedNormal": 1, "MixedNormal": 388}
    found = some(draft.laid()).at(epsilon).amount
    assert found.relative_width < SUFFICIENT
    # the many losses move the profile of the one by about half its second derivative times their variance
    alone = few.delta(epsilon, direction="remove")
    assert math.exp(found.log_ends[0]) >= alone.lower * (1 - OTHERS)
    assert math.exp(found.log_ends[1]) <= alone.upper * (1 + 1e-3)
