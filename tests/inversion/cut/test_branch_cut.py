"""One random allocation along the branch cut: against two batches, numbers made at many digits, and another contour."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import mpmath as mp
import numpy as np
import pytest

import logphi as lp
from effort import answers
from logphi.engine.routes import branch_cut as branch_cut_route
from logphi.engine.routes.branch_cut import BRANCH_CUT
from logphi.engine.routes.route import NotApplicableError, Request
from logphi.inversion.cut import branch_cut
from logphi.inversion.demand import Demand
from logphi.quadrature.lognormal.mean import LognormalMean

# sigma, batches, epsilon as a double, delta: Laplace's integral for E (k - S)_+ on a line on the right, which loses the digits
# of delta itself, in ball arithmetic at 30 to 74 digits and again at 20 more
FAR_OUT = [
    (1, 1000, 0.2, "2.037249297077378909041e-7"),
    (1, 1000, 0.5, "1.727482480187211217298e-10"),
    (1, 1000, 1.0, "2.269759760302160046416e-13"),
    (2, 1000, 0.1, "5.112471983000408999583e-12"),
    (2, 1000, 0.5, "1.347733514833273031718e-38"),
    (2, 1000, 1.0, "2.324942250778500052365e-50"),
    (4, 1000, 0.1, "5.476333404580473753610e-39"),
    (10, 1000, 0.03, "4.996725455384339974968e-25"),
]


def two(shift: float, x: float) -> mp.mpf:
    """E (S - e^x)_+ for t = 2: S is a lognormal factor times e^{-a^2/2} cosh(aV), a = m / sqrt 2, and the factor integrates."""
    a, k = mp.mpf(shift) / mp.sqrt(2), mp.exp(mp.mpf(x))

    def given(v: mp.mpf) -> mp.mpf:
        forward = mp.exp(-a * a / 2) * mp.cosh(a * v)
        d = mp.log(forward / k) / a
        return (forward * mp.ncdf(d + a / 2) - k * mp.ncdf(d - a / 2)) * mp.npdf(v)

    step, end = min(mp.mpf(1) / 4, mp.mpf("0.12") / a), 13 + 2 * abs(x) / a + a
    return step * mp.fsum(given(k * step) for k in range(int(-end / step), int(end / step) + 1))


@pytest.mark.parametrize(("sigma", "batches", "epsilon", "value"), FAR_OUT)
def test_far_out_the_digits_are_kept(sigma: float, batches: int, epsilon: float, value: str) -> None:
    bound = lp.Gaussian(sigma=sigma).allocation(batches).delta(epsilon, direction="remove")
    assert bound.method == "branch-cut"
    assert bound.lower <= mp.mpf(value) <= bound.upper
    assert bound.width <= 5e-10 * bound.value


@pytest.mark.parametrize("shift", [0.02, 0.1, 0.35, 1.0, 2.5, 4.0])
def test_two_batches_are_one_integral(shift: float) -> None:
    for x in (-1.0, -0.01, 0.0, 0.003, 0.2 * shift, 2 * shift, 5 * shift):
        integral = branch_cut.prepare(LognormalMean(shift, 2), x)
        if integral is None:
            assert x <= 0
            continue
        amount = integral.at(x)
        with mp.workdps(30):
            truth = mp.log(two(shift, x))
        low, high = amount.log_ends
        assert low - 1e-15 <= truth <= high + 1e-15
        assert amount.relative_width < 1e-8 or truth < -600


def test_it_holds_away_from_where_it_was_prepared() -> None:
    """Far away it is wide, and true."""
    integral = branch_cut.prepare(LognormalMean(0.8, 2), 0.7)
    assert integral is not None
    for x in (-3.0, 0.0, 0.5, 0.69, 0.75, 1.5, 4.0):
        with mp.workdps(30):
            truth = mp.log(two(0.8, x))
        low, high = integral.at(x).log_ends
        assert low <= truth <= high
    assert integral.at(0.75).relative_width < 1e-9


@pytest.mark.parametrize("relative_error", [1e-12, 1e-6])
def test_the_error_of_the_shift_is_counted(relative_error: float) -> None:
    integral = branch_cut.prepare(LognormalMean(0.7, 2, relative_error), 1.0)
    assert integral is not None
    low, high = integral.at(1.0).log_ends
    for end in (1 - relative_error, 1 + relative_error):
        with mp.workdps(30):
            truth = mp.log(two(0.7 * end, 1.0))
        assert low <= truth <= high
    assert high - low < 3000 * relative_error


@pytest.mark.parametrize("relative_error", [1e-3, 0.3])
def test_a_shift_known_to_few_digits_gives_a_true_bound(relative_error: float) -> None:
    """Far out the factor e^{eD} overflows; a bound cut off there would be false."""
    integral = branch_cut.prepare(LognormalMean(0.1, 2), 6.0)
    assert integral is not None
    low, high = replace(integral, relative_error=relative_error).at(6.0).log_ends
    with mp.workdps(30):
        truth = mp.log(two(0.1 * (1 + relative_error), 6.0))
    assert low <= truth <= high


def test_what_is_not_known_to_within_one_is_an_upper_bound() -> None:
    """Each node is at most its value times e^{t error}, also where that overflows."""
    integral = branch_cut.prepare(LognormalMean(0.8, 2), 0.7)
    assert integral is not None
    assert integral.along is not None
    known = integral.along
    low, high = integral.at(0.7).log_ends
    for error in (0.4, 1.0, 800.0):
        doubtful = replace(integral, along=replace(known, error=np.full_like(known.error, error)))
        one, other = doubtful.at(0.7).log_ends
        assert one == -math.inf or error < 0.5
        assert one <= low <= high <= other
        assert other >= 2 * error - 60


def test_far_from_where_it_was_prepared_the_route_refuses() -> None:
    profile = BRANCH_CUT.prepare(Request(lp.Gaussian(sigma=1).allocation(20).loss_law(), 1.0, Demand(1e-9)))
    for x in (-800.0, 800.0):
        with pytest.raises(NotApplicableError, match="too long an integral"):
            profile(x)


@pytest.mark.few(4)
@pytest.mark.parametrize("sigma", [0.35, 0.8, 2.0, 5.0])
@pytest.mark.parametrize("batches", [2, 5, 30, 200])
def test_it_agrees_with_the_contour(sigma: float, batches: int) -> None:
    release = lp.Gaussian(sigma=sigma).allocation(batches)
    for epsilon in (0.0, 0.5 / sigma, 2 / sigma):
        one, other = (release.delta(epsilon, direction="remove", method=name) for name in ("branch-cut", "contour"))
        assert max(one.lower, other.lower) <= min(one.upper, other.upper)
        assert one.width <= 1e-9 * one.value or one.value < 1e-290


def test_epsilon_is_found_by_few_integrals() -> None:
    release = lp.Gaussian(sigma=2).allocation(1000)
    prepared = answers(lambda: release.epsilon(1e-12), branch_cut.prepare)
    bound = release.epsilon(1e-12)
    assert bound.status is lp.Status.MET
    assert bound.width < 1e-11
    assert len(prepared) <= 4
    assert release.delta(bound.lower, direction="remove").upper >= 1e-12 >= release.delta(bound.upper, direction="remove").lower


def test_much_noise_and_little_noise_are_served() -> None:
    for sigma, batches in ((50, 1000), (0.2, 20)):
        release = lp.Gaussian(sigma=sigma).allocation(batches)
        bound = release.epsilon(1e-9, direction="remove")
        assert bound.status is lp.Status.MET
        assert release.delta(bound.lower, direction="remove").upper >= 1e-9
        assert release.delta(bound.upper, direction="remove").lower <= 1e-9


def test_far_out_there_is_an_upper_bound() -> None:
    mean, place = LognormalMean(0.1, 1000), 12 * math.sqrt(math.expm1(0.01) / 1000)
    assert branch_cut.prepare(mean, 100.0) is None
    far, near = branch_cut_route._of_one(mean, 100.0), branch_cut.prepare(mean, place)
    assert far is not None
    assert near is not None
    for x in (place, 100.0):
        low, high = far(x).log_ends
        assert low < -1e300
        assert near.at(place).log_ends[0] <= high < -70
    assert far(0.03) == near.at(0.03)


@pytest.mark.parametrize(("sigma", "batches", "x"), [(0.2, 1000, 150), (0.2, 2, 150), (0.35, 1000, 60)])
def test_far_out_one_of_the_variables_is_large_alone(sigma: float, batches: int, x: int) -> None:
    # as the others, about one together, hardly change a threshold of e^x, and two are large with far smaller probability
    with mp.workdps(40):
        shift, strike = 1 / mp.mpf(str(sigma)), batches * mp.exp(x)
        d = shift / 2 - mp.log(strike) / shift
        value = mp.ncdf(d) - strike * mp.ncdf(d - shift)
    bound = lp.Gaussian(sigma).allocation(batches).delta(x, direction="remove")
    assert bound.status is lp.Status.MET
    assert bound.lower <= value <= bound.upper
    assert bound.width <= 1e-10 * bound.value


def test_a_million_batches_take_no_contour() -> None:
    release = lp.Gaussian(sigma=1).allocation(10**6)
    for epsilon in (0.0, 0.001, 0.01):
        assert not answers(partial(release.delta, epsilon, direction="remove"), LognormalMean.at_heights)
        bound = release.delta(epsilon, direction="remove")
        assert bound.status is lp.Status.MET
        assert bound.width <= 2e-8 * bound.value


def test_what_underflows_has_an_upper_end() -> None:
    for sigma, batches, epsilon in ((10, 2, 8.0), (3, 1000, 20.0), (10, 100, 1.0)):
        bound = lp.Gaussian(sigma=sigma).allocation(batches).delta(epsilon, direction="remove")
        assert 0 == bound.lower < bound.upper < 1e-280


def test_explain_says_so() -> None:
    text = str(lp.Gaussian(sigma=1).allocation(1000).explain(epsilon=0.5))
    assert "branch-cut" in text
    assert "along a branch cut" in text


def test_by_name_the_other_order_is_answered_by_a_contour() -> None:
    release = lp.Gaussian(sigma=1).allocation(20)
    one, other = (release.delta(0.5, direction="add", method=name) for name in ("branch-cut", "contour"))
    assert one.value == pytest.approx(other.value, rel=1e-12)
    assert one.method == "contour"


@pytest.mark.parametrize(
    "release",
    [
        201 * lp.Gaussian(sigma=1).allocation(20),
        lp.Gaussian(sigma=100).allocation(20),
        lp.Gaussian(sigma=1),
        lp.Laplace(scale=1),
    ],
)
def test_other_losses_are_refused(release: lp.Mechanism) -> None:
    with pytest.raises(NotApplicableError, match="random allocations"):
        BRANCH_CUT.prepare(Request(release.loss_law(), 1.0, Demand(1e-9)))
    with pytest.raises(NotApplicableError, match="random allocations"):
        BRANCH_CUT.offer(Request(release.loss_law(), 1.0, Demand(1e-9)))


@pytest.mark.slow
def test_random_questions_about_two_batches() -> None:
    random = np.random.default_rng(11)
    for _ in range(40):
        shift = math.exp(random.uniform(math.log(0.02), math.log(8)))
        x = random.choice([-1, 1, 1]) * math.exp(random.uniform(math.log(1e-3), math.log(6 * shift + 0.5)))
        integral = branch_cut.prepare(LognormalMean(shift, 2), x)
        if integral is None:
            continue
        with mp.workdps(30):
            truth = mp.log(two(shift, x))
        low, high = integral.at(x).log_ends
        assert low - 1e-15 <= truth <= high + 1e-15


@pytest.mark.parametrize(("sigma", "batches", "x"), [(2, 2, 0.3), (1.5, 3, 0.01), (2, 5, 0.1), (0.5, 1000, 0.31)])
def test_another_end_of_the_cut_gives_the_same_profile_with_fewer_nodes(sigma: float, batches: int, x: float) -> None:
    epoch = lp.Gaussian(sigma).allocation(batches)
    mean = branch_cut.mean_of(epoch.loss_law())
    assert mean is not None
    usual, quick = branch_cut.prepare(mean, x), branch_cut.prepare(mean, x, quickly=True)
    assert quick is not None
    low, high = quick.at(x).log_ends
    assert high - low < 1e-10
    found = epoch.delta(x, direction="remove", method="contour")
    assert found.lower <= math.exp(high)
    assert math.exp(low) <= found.upper
    if usual is not None:
        assert usual.at(x).log_ends[0] <= high
        assert low <= usual.at(x).log_ends[1]
    # 1080 where the way up is long
    assert nodes(quick) < 600


def nodes(integral: branch_cut.Integral) -> int:
    return sum(part.u.size for part in (integral.along, integral.up) if part is not None)
