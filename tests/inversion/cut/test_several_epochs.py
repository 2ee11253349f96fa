"""Several random allocations by their densities: against integrals over few batches, another number, and a contour."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import log_ndtr

import logphi as lp
from logphi.inversion.cut import branch_cut, one_epoch, several_epochs
from logphi.inversion.cut.one_epoch import Epoch, Kind, Values
from logphi.quadrature.lognormal.mean import LognormalMean

# two epochs of Gaussian(2) on 1000 batches at 0.2: Gauss-Legendre sums of the density and the profile of one epoch, each a
# Laplace integral on a line on the right in ball arithmetic at 70 digits
FAR_OUT = 1.07165814751783e-19


# what the sums below are wrong by, relatively
SUMS = 1e-12
# what those over four coordinates are wrong by, relatively
QUADRATURE = 1e-11


def places(a: float, x: float) -> np.ndarray:
    """The nodes of a trapezoidal sum for two batches."""
    step = min(0.25, 0.12 / a)
    return step * np.arange(-math.ceil((13 + 2 * abs(x) / a + a) / step), math.ceil((13 + 2 * abs(x) / a + a) / step) + 1)


def two_epochs(one: float, other: float, x: float) -> float:
    """Log E (S_1 S_2 - e^x)_+ for two batches each.

    S = e^{-a^2/2} cosh(aV) times a lognormal factor, a = m / sqrt 2; both such factors are one, which integrates.
    """
    a, b = one / math.sqrt(2), other / math.sqrt(2)
    size = math.hypot(a, b)
    v, w = places(a, x)[:, None], places(b, x)[None, :]
    mean = np.logaddexp(a * v, -a * v) + np.logaddexp(b * w, -b * w) - math.log(4) - size * size / 2
    density = (v[1, 0] - v[0, 0]) * (w[0, 1] - w[0, 0]) * np.exp(-(v * v + w * w) / 2) / (2 * math.pi)
    d = (mean - x) / size
    return math.log((density * (np.exp(mean + log_ndtr(d + size / 2)) - np.exp(x + log_ndtr(d - size / 2)))).sum())


def density(shift: float, x: float) -> float:
    """The logarithm of the density of S at e^x for two batches."""
    a = shift / math.sqrt(2)
    v = places(a, x)
    d = (x + a * a - np.logaddexp(a * v, -a * v) + math.log(2)) / a
    return math.log(((v[1] - v[0]) * np.exp(-(v * v + d * d) / 2) / (2 * math.pi)).sum()) - math.log(a) - x


def kinds(*shifts: float, batches: int = 2) -> list[Kind]:
    return [Kind(Epoch(LognormalMean(one, batches)), 1) for one in shifts]


@pytest.mark.parametrize("shift", [0.1, 0.5, 1.0, 2.5])
def test_the_density_of_two_batches_is_an_integral(shift: float) -> None:
    for x in (-0.6 * shift, -0.05, 0.3 * shift, shift, 4 * shift):
        integral = branch_cut.prepare(LognormalMean(shift, 2), x)
        if integral is None:
            assert x <= 0
            continue
        amount, truth = integral.density_at(x), density(shift, x)
        low, high = amount.log_ends
        assert low - SUMS <= truth <= high + SUMS
        assert amount.relative_width < 1e-8


def test_the_density_far_from_where_it_was_prepared_is_wide_and_true() -> None:
    integral = branch_cut.prepare(LognormalMean(0.8, 2), 0.7)
    assert integral is not None
    for x in (-2.0, -0.5, 0.0, 0.5, 1.5, 3.0):
        low, high = integral.density_at(x).log_ends
        assert low - SUMS <= density(0.8, x) <= high + SUMS


def test_the_density_of_a_heavy_tail_has_an_upper_bound_or_none() -> None:
    for x in (0.5, 3.0, 9.0):
        integral = branch_cut.prepare(LognormalMean(4.0, 2), x)
        assert integral is not None
        amount = integral.density_at(x)
        low, high = amount.log_ends if math.isfinite(amount.spread) else (-math.inf, math.inf)
        assert low - SUMS <= density(4.0, x) <= high + SUMS


@pytest.mark.few(3)
@pytest.mark.parametrize(("one", "other"), [(0.5, 0.5), (1.0, 1.0), (0.4, 0.9), (0.2, 0.2), (1.5, 0.3)])
def test_two_epochs_of_two_batches_are_an_integral_over_a_plane(one: float, other: float) -> None:
    x = 1.2 * (one + other)
    profile = several_epochs.prepare(kinds(one, other), x)
    assert profile is not None
    amount, truth = profile.at(x), two_epochs(one, other, x)
    low, high = amount.log_ends
    assert low - SUMS <= truth <= high + SUMS
    assert amount.relative_width < 2e-9
    # far from where it was prepared it is wide, and true
    for place in (0.0, 0.5 * x, 1.01 * x, 2 * x):
        low, high = profile.at(place).log_ends
        assert low - SUMS <= two_epochs(one, other, place) <= high + SUMS


def spread_of_three(shift: float) -> tuple[np.ndarray, np.ndarray]:
    """For three batches S = e^{m A - m^2/2} F, A the mean of three normal variables: log F and weights, by two coordinates."""
    # derived: the sum is wrong by about e^{-(2 pi / step)^2 / 6}
    step = min(0.45, 0.4 / shift)
    size = math.ceil((9 + shift) / step)
    u, v = np.meshgrid(*[step * np.arange(-size, size + 1)] * 2)
    parts = (u * math.sqrt(2 / 3), -u / math.sqrt(6) + v / math.sqrt(2), -u / math.sqrt(6) - v / math.sqrt(2))
    weight = step * step * np.exp(-(u * u + v * v) / 2) / (2 * math.pi)
    log_mean = np.logaddexp.reduce([shift * part for part in parts]) - math.log(3)
    near = u * u + v * v < (9 + shift) ** 2
    return log_mean[near], weight[near]


def two_epochs_of_three(one: float, other: float, x: float) -> tuple[float, float]:
    """Both E (S_1 S_2 - e^x)_+ and E (1 - e^x S_1 S_2)_+ for three batches each."""
    (log_f, weight), (log_g, others) = spread_of_three(one), spread_of_three(other)
    size = math.sqrt((one * one + other * other) / 3)
    # the normal factors are one, whose mean is e^{size^2/2} without the shifts
    mean = log_f[:, None] + log_g - (one * one + other * other) / 3
    weights = weight[:, None] * others
    d = (mean - x) / size
    remove = np.exp(mean + log_ndtr(d + size / 2)) - np.exp(x + log_ndtr(d - size / 2))
    d = -(mean + x) / size
    add = np.exp(log_ndtr(d + size / 2)) - np.exp(x + mean + log_ndtr(d - size / 2))
    return float((weights * remove).sum()), float((weights * add).sum())


def test_two_epochs_of_three_batches_are_an_integral_over_four_coordinates() -> None:
    random = np.random.default_rng(19)
    for _ in range(2):
        one, other = np.exp(random.uniform(math.log(0.2), math.log(0.9), 2))
        x = float(random.uniform(0.1, 1.4) * (one + other))
        release = lp.Gaussian(sigma=1 / one).allocation(3) + lp.Gaussian(sigma=1 / other).allocation(3)
        remove, add = two_epochs_of_three(one, other, x)
        bound = release.delta(x, direction="remove", method="branch-cut")
        assert bound.lower * (1 - QUADRATURE) <= remove <= bound.upper * (1 + QUADRATURE)
        assert bound.width < 1e-9 * remove
        for bound, truth in ((release.delta(x, direction="remove"), remove), (release.delta(x, direction="add"), add)):
            assert bound.lower * (1 - QUADRATURE) - 1e-15 <= truth <= bound.upper * (1 + QUADRATURE) + 1e-15


@pytest.mark.parametrize("relative_error", [1e-12, 1e-7])
def test_the_error_of_a_shift_is_counted(relative_error: float) -> None:
    own = [Kind(Epoch(LognormalMean(0.7, 2, relative_error)), 2)]
    profile = several_epochs.prepare(own, 1.5)
    assert profile is not None
    low, high = profile.at(1.5).log_ends
    for end in (1 - relative_error, 1 + relative_error):
        assert low - SUMS <= two_epochs(0.7 * end, 0.7 * end, 1.5) <= high + SUMS
    assert high - low < 6000 * relative_error + 1e-9


def test_what_a_sum_leaves_out_is_counted() -> None:
    """With few places, and with places far apart, the bounds are wide, and true."""
    truth = two_epochs(0.6, 0.6, 1.0)
    whole = several_epochs.prepare(kinds(0.6, 0.6), 1.0)
    assert whole is not None
    low, high = whole.at(1.0).log_ends
    assert low - SUMS <= truth <= high + SUMS
    part = whole.sampled[0]
    for cut in (1, 3, 6):
        fewer = part._replace(first=part.first + cut, last=part.last - cut)
        law = Values(whole.law.log[cut:-cut], whole.law.log_error[cut:-cut])
        found = several_epochs.Profile(whole.step, (fewer,), ((),), whole.last, whole.first + cut, law).at(1.0).log_ends
        assert found[0] - SUMS <= truth <= found[1] + SUMS
    for every in (2, 3):
        wider = Values(*(one[-whole.first % every :: every] + math.log(every) for one in (whole.law.log, whole.law.log_error)))
        first = -(-whole.first // every)
        spread = part._replace(first=first, last=first + wider.log.size - 1)
        found = several_epochs.Profile(every * whole.step, (spread,), ((),), whole.last, first, wider).at(1.0).log_ends
        assert found[0] - SUMS <= truth <= found[1] + SUMS
        assert found[1] > high + 1e-9


def test_what_is_cut_off_of_a_law_is_counted() -> None:
    own = [Kind(Epoch(LognormalMean(0.8, 12)), 5)]
    whole = several_epochs.prepare(own, 1.5)
    assert whole is not None
    low, high = whole.at(1.5).log_ends
    assert high - low < 1e-9
    ((*others, last),) = whole.cuts
    for least, most in ((-1.2, 1.6), (-0.9, 9.0), (-9.0, 1.5), (-1.5, 3.0)):
        first, end = max(last.first, math.ceil(least / whole.step)), min(last.last, math.floor(most / whole.step))
        kept = slice(first - whole.first, end - whole.first + 1)
        law = Values(whole.law.log[kept], whole.law.log_error[kept])
        cuts = ((*others, last._replace(first=first, last=end)),)
        found = several_epochs.Profile(whole.step, whole.sampled, cuts, whole.last, first, law).at(1.5)
        assert math.log(found.value) + found.log_scale < low
        assert found.log_ends[1] >= high


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("release", "epsilon"),
    [
        (3 * lp.Gaussian(sigma=1).allocation(20), 2.0),
        (5 * lp.Gaussian(sigma=2).allocation(10), 1.5),
        (2 * lp.Gaussian(sigma=0.5).allocation(100), 3.0),
        (lp.Gaussian(sigma=1.1).allocation(30) + 2 * lp.Gaussian(sigma=3).allocation(8), 1.5),
        (100 * lp.Gaussian(sigma=1.1).allocation(234), 5.0),
        (150 * lp.Gaussian(sigma=3).allocation(20) + 7 * lp.Gaussian(sigma=2).allocation(30), 5.0),
    ],
)
def test_it_agrees_with_the_contour(release: lp.Mechanism, epsilon: float) -> None:
    one, other = (release.delta(epsilon, direction="remove", method=name) for name in ("branch-cut", "contour"))
    assert max(one.lower, other.lower) <= min(one.upper, other.upper)
    assert other.width <= 1e-8 * other.value


@pytest.mark.slow
def test_no_digits_are_lost_where_the_contour_loses_all() -> None:
    release = 2 * lp.Gaussian(sigma=2).allocation(1000)
    bound = release.delta(0.2, direction="remove")
    assert bound.method == "branch-cut"
    assert bound.lower <= FAR_OUT <= bound.upper
    assert bound.width <= 2e-9 * bound.value
    epsilon = release.epsilon(1e-12)
    assert epsilon.width <= 1e-9
    assert release.delta(epsilon.lower).upper >= 1e-12 >= release.delta(epsilon.upper).lower


def test_questions_share_integrals() -> None:
    release = 2 * lp.Gaussian(sigma=1.2).allocation(40)
    prepared = []
    for epsilon in (1.0, 1.001, 1.001):
        before = one_epoch._integral.cache_info().misses
        release.delta(epsilon, direction="remove", method="branch-cut")
        prepared.append(one_epoch._integral.cache_info().misses - before)
    assert prepared[0] > prepared[1]
    assert prepared[1] <= 2
    assert prepared[2] == 0


def test_too_many_epochs_are_refused() -> None:
    with pytest.raises(ValueError, match="up to 200"):
        (201 * lp.Gaussian(sigma=1).allocation(20)).delta(1.0, direction="remove", method="branch-cut")
    assert several_epochs.kinds_of((10**9 * lp.Gaussian(sigma=1).allocation(20)).loss_law()) is None
    assert several_epochs.kinds_of((lp.Gaussian(sigma=1).allocation(20) + lp.Gaussian(sigma=1)).loss_law()) is None
