"""Laws that every answer obeys, on random mechanisms, against truths in fifty digits that share no code with logphi."""

import contextlib
import math
from pkgutil import iter_modules

import mpmath
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import logphi as lp
from logphi import comparators
from logphi.engine.routes.registry import ROUTES
from profiles import gaussian_profile, laplace_profile

DIGITS = 50


def examples(number):
    return settings(max_examples=number, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


def log_uniform(low, high):
    return st.floats(math.log(low), math.log(high)).map(math.exp)


def exponential_profile(reach):
    """(e^{r/2} - e^{eps/2})^2 / (e^r - 1) on the range."""

    def inside(e):
        return (mpmath.exp(reach / 2) - mpmath.exp(e / 2)) ** 2 / mpmath.expm1(reach)

    return lambda e: inside(e) if abs(e) < reach else nothing(e)


def sampled(profile, rate, direction):
    """From (qP + (1-q-e^eps) Q)_+ and ((1 - e^eps (1-q)) Q - e^eps q P)_+, for a symmetric base."""

    def remove(e):
        share = mpmath.expm1(e) / rate + 1
        return rate * profile(mpmath.log(share)) if share > 0 else -mpmath.expm1(e)

    def add(e):
        share = 1 - mpmath.exp(e) * (1 - rate)
        return share * profile(e + mpmath.log(rate / share)) if share > 0 else mpmath.mpf(0)

    return remove if direction == "remove" else add


def nothing(e):
    return max(mpmath.mpf(0), -mpmath.expm1(e))


def two_cells(p, count):
    """The law of count answers, each (p, 1-p) against (1-p, p): a binomial sum."""
    step = mpmath.log(p / (1 - p))
    return {(2 * k - count) * step: mpmath.binomial(count, k) * p**k * (1 - p) ** (count - k) for k in range(count + 1)}


def beside(law, infinite, profile):
    """The profile of a loss law composed with another release: a mean over the law's finite losses."""
    return lambda e: infinite + mpmath.fsum(mass * profile(e - loss) for loss, mass in law.items())


def truth(profile, e):
    with mpmath.workdps(DIGITS):
        return min(profile(mpmath.mpf(e)), mpmath.mpf(1))


def encloses(bound, exact):
    return mpmath.mpf(bound.lower) <= exact <= mpmath.mpf(bound.upper)


def inverts(bound, profile, d):
    return truth(profile, bound.upper) <= d and (bound.lower == 0 or truth(profile, bound.lower) >= d)


# those of the sources are far slower, and have tests of their own
OWN_ROUTES = ROUTES.keys() - {module.name.replace("_", "-") for module in iter_modules(comparators.__path__)}
EPSILONS = st.one_of(st.just(0.0), st.floats(-3, 3), st.floats(3, 40), log_uniform(1e-9, 1e-2))
DELTAS = log_uniform(1e-100, 0.5)
SIGMAS = log_uniform(0.1, 1e4)
RATES = st.one_of(log_uniform(1e-7, 0.9), log_uniform(1e-12, 0.1).map(lambda rest: 1 - rest))
COUNTS = st.one_of(st.integers(1, 20), st.sampled_from([10**3, 10**6, 10**9, 10**12]))


@st.composite
def two_point_releases(draw):
    """A composition of equal binary mechanisms, its loss law and its infinite mass, all parameters taken as exact."""
    count = draw(st.integers(1, 40))
    kind = draw(st.sampled_from(["response", "pure", "approximate"]))
    with mpmath.workdps(DIGITS):
        if kind == "response":
            p = draw(st.one_of(st.floats(0.01, 0.99), log_uniform(1e-12, 0.4).map(lambda gap: 0.5 + gap)))
            assume(p != 0.5)
            return count * lp.RandomizedResponse(p), two_cells(mpmath.mpf(p), count), mpmath.mpf(0)
        e = draw(log_uniform(1e-4, 20))
        p = 1 / (1 + mpmath.exp(-mpmath.mpf(e)))
        if kind == "pure":
            return count * lp.PureDP(e), two_cells(p, count), mpmath.mpf(0)
        lost = draw(log_uniform(1e-15, 0.3))
        kept = (1 - mpmath.mpf(lost)) ** count
        law = {loss: kept * mass for loss, mass in two_cells(p, count).items()}
        return count * lp.ApproximateDP(e, lost), law, 1 - kept


@st.composite
def smooth_releases(draw):
    """One release of a smooth mechanism (many for the Gaussian), and its profile in one direction."""
    kind = draw(st.sampled_from(["gaussian", "sampled", "laplace", "exponential"]))
    direction = draw(st.sampled_from(["remove", "add"]))
    with mpmath.workdps(DIGITS):
        if kind == "gaussian":
            sigma, count = draw(SIGMAS), draw(COUNTS)
            assume(count / sigma**2 < 1e4)
            return count * lp.Gaussian(sigma), gaussian_profile(mpmath.sqrt(count) / mpmath.mpf(sigma)), direction
        if kind == "sampled":
            sigma, rate = draw(log_uniform(0.1, 100)), draw(RATES)
            base = gaussian_profile(1 / mpmath.mpf(sigma))
            return lp.Gaussian(sigma).poisson(rate), sampled(base, mpmath.mpf(rate), direction), direction
        if kind == "laplace":
            scale = draw(log_uniform(0.05, 1e3))
            return lp.Laplace(scale), laplace_profile(1 / mpmath.mpf(scale)), direction
        reach = draw(log_uniform(1e-3, 30))
        return lp.ExponentialMechanism(reach), exponential_profile(mpmath.mpf(reach)), direction


@st.composite
def releases(draw):
    """Any smooth release, alone or beside a two-point one."""
    mechanism, profile, direction = draw(smooth_releases())
    if draw(st.booleans()):
        other, law, infinite = draw(two_point_releases())
        return mechanism + other, beside(law, infinite, profile), direction
    return mechanism, profile, direction


@examples(60)
@given(smooth_releases(), EPSILONS)
def test_the_closed_profile_lies_within_the_bounds(release, e):
    """lower <= delta(eps) <= upper for one release with a closed profile, in each direction."""
    mechanism, profile, direction = release
    assert encloses(mechanism.delta(e, direction=direction), truth(profile, e))


@examples(30)
@given(two_point_releases(), EPSILONS)
def test_the_binomial_sum_lies_within_the_bounds(release, e):
    """lower <= delta(eps) <= upper for n binary mechanisms, whose profile is a binomial sum."""
    mechanism, law, infinite = release
    assert encloses(mechanism.delta(e), truth(beside(law, infinite, nothing), e))


@pytest.mark.slow
@examples(100)
@given(releases(), EPSILONS)
def test_a_mean_over_atoms_lies_within_the_bounds(release, e):
    """delta of (X, Y) = E_X[delta_Y(eps - L_X)] + P(L_X = inf), within the bounds, for X with finitely many losses."""
    mechanism, profile, direction = release
    assert encloses(mechanism.delta(e, direction=direction), truth(profile, e))


@examples(25)
@given(log_uniform(1e-9, 3), RATES, st.sampled_from(["remove", "add"]), st.floats(-1, 1))
def test_a_sampled_guarantee_has_its_closed_profile(guarantee, rate, direction, place):
    """delta(eps) of sampled eps-DP, at weak guarantees and low rates too, where two cells are nearly equal."""
    with mpmath.workdps(DIGITS):
        base = beside(two_cells(1 / (1 + mpmath.exp(-mpmath.mpf(guarantee))), 1), 0, nothing)
        exact = sampled(base, mpmath.mpf(rate), direction)
    e = place * guarantee * rate
    assert encloses(lp.PureDP(guarantee).poisson(rate).delta(e, direction=direction), truth(exact, e))


@pytest.mark.parametrize(("guarantee", "e"), [(500.0, 495.0), (590.0, 580.0)])
def test_large_guarantees_survive_sampling(guarantee, e):
    """delta(eps) of sampled eps0-DP does not vanish below log(1 + q (e^eps0 - 1))."""
    with mpmath.workdps(400):
        odds = mpmath.exp(mpmath.mpf(guarantee))
        at = 1 + mpmath.expm1(mpmath.mpf(e)) / mpmath.mpf(0.5)
        exact = max(0.5 * (odds - at) / (1 + odds), 0)
    assert encloses(lp.PureDP(guarantee).poisson(0.5).delta(e, direction="remove"), exact)


@pytest.mark.parametrize(("sigma", "e"), [(0.01, 800.0), (0.1, 709.9), (1.0, 1e4), (1.0, -800.0)])
def test_a_sampled_gaussian_answers_at_every_epsilon(sigma, e):
    """lower <= delta(eps) <= upper where e^eps is no double."""
    with mpmath.workdps(DIGITS):
        base = gaussian_profile(1 / mpmath.mpf(sigma))
        found = [sampled(base, mpmath.mpf(0.5), direction)(mpmath.mpf(e)) for direction in ("remove", "add")]
    assert encloses(lp.Gaussian(sigma).poisson(0.5).delta(e), min(max(found), mpmath.mpf(1)))


@pytest.mark.slow
@examples(2)
@given(log_uniform(0.5, 5), log_uniform(1e-3, 0.9), st.sampled_from(["remove", "add"]), st.floats(0, 2))
def test_two_sampled_gaussians_agree_with_a_convolution(sigma, rate, direction, e):
    """delta_2(eps) = E_x[delta_1(eps - L(x))], the mean by quadrature over the outcome of the first release."""
    with mpmath.workdps(18):
        s, q = 1 / mpmath.mpf(sigma), mpmath.mpf(rate)
        one = sampled(gaussian_profile(s), q, direction)

        def integrand(x):
            ratio = 1 - q + q * mpmath.exp(s * x - s * s / 2)
            weight, loss = (ratio, mpmath.log(ratio)) if direction == "remove" else (1, -mpmath.log(ratio))
            return mpmath.npdf(x) * weight * one(mpmath.mpf(e) - loss)

        # where the second release has no loss that is small enough, or large enough, the integrand is hardly smooth
        ends = mpmath.linspace(-9 - s, 9 + s, 5)
        share = mpmath.exp(e if direction == "remove" else -e) / (1 - q) - 1 + q
        if share > 0:
            bend = mpmath.log(share / q) / s + s / 2
            around = [bend, *(bend + side * mpmath.mpf(4) ** -k for k in range(-1, 5) for side in (-1, 1))]
            ends = sorted([*ends, *(at for at in around if ends[0] < at < ends[-1])])
        exact = mpmath.quad(integrand, ends)
    found = (2 * lp.Gaussian(sigma).poisson(rate)).delta(e, direction=direction)
    assert found.lower * (1 - 1e-9) <= exact <= found.upper * (1 + 1e-9)


@examples(30)
@given(SIGMAS, COUNTS, DELTAS)
def test_epsilon_of_gaussians_inverts_their_closed_profile(sigma, count, d):
    """delta(upper) <= delta <= delta(lower) for n Gaussians, the profile in closed form."""
    assume(count / sigma**2 < 1e4)
    with mpmath.workdps(DIGITS):
        profile = gaussian_profile(mpmath.sqrt(count) / mpmath.mpf(sigma))
    assert inverts((count * lp.Gaussian(sigma)).epsilon(d), profile, d)


@pytest.mark.slow
@examples(30)
@given(smooth_releases(), DELTAS)
def test_epsilon_inverts_delta(release, d):
    """The true profile is at most delta at the upper end of epsilon, and at least delta at a positive lower end."""
    mechanism, profile, direction = release
    assert inverts(mechanism.epsilon(d, direction=direction), profile, d)


@pytest.mark.slow
@examples(12)
@given(log_uniform(0.5, 10), st.integers(2, 10**9), log_uniform(1e-6, 0.5), st.floats(0, 20), log_uniform(1.001, 3))
def test_more_noise_fewer_steps_and_lower_rates_leak_no_more(sigma, count, rate, e, factor):
    """delta(eps) never rises with the noise, never falls with the count or the rate."""
    assume(count * (rate / sigma) ** 2 < 1e3)

    def asked(sigma, count, rate):
        return (count * lp.Gaussian(sigma).poisson(rate)).delta(e, rtol=1e-6)

    most = asked(sigma, count, rate).upper
    for less in ((sigma * factor, count, rate), (sigma, -(-count // 2), rate), (sigma, count, rate / factor)):
        assert asked(*less).lower <= most


@examples(20)
@given(releases(), st.floats(-2, 20), st.floats(0.01, 5), st.floats(0.01, 0.99))
def test_delta_falls_and_is_convex_in_e_to_the_epsilon(release, left, span, weight):
    """delta(eps) decreases, is convex in e^eps, and lies between (1 - e^eps)_+ and 1."""
    mechanism, _, direction = release
    right = left + span
    middle = math.log(weight * math.exp(left) + (1 - weight) * math.exp(right))
    at = [mechanism.delta(e, direction=direction, rtol=1e-6) for e in (left, middle, right)]
    assert at[2].lower <= at[1].upper
    assert at[1].lower <= at[0].upper
    assert at[1].lower <= (weight * at[0].upper + (1 - weight) * at[2].upper) * (1 + 1e-13)
    assert all(max(0.0, -math.expm1(e)) <= b.upper <= 1 for e, b in zip((left, middle, right), at, strict=True))


@examples(20)
@given(st.integers(1, 30), st.integers(1, 30), smooth_releases())
def test_repetition_is_addition(first, second, release):
    """n m is m + ... + m, (a + b) m = a m + b m, and a (b m) = (a b) m, as values and as answers."""
    mechanism = release[0]
    assert (first + second) * mechanism == first * mechanism + second * mechanism == lp.compose([mechanism] * (first + second))
    assert first * (second * mechanism) == (first * second) * mechanism


@pytest.mark.slow
@examples(30)
@given(smooth_releases(), EPSILONS, st.integers(1, 4))
def test_every_method_that_applies_overlaps_with_the_others(release, e, count):
    """The enclosures of all routes hold one common number."""
    mechanism, _, direction = release
    found = [(count * mechanism).delta(e, direction=direction, rtol=1e-6)]
    for method in OWN_ROUTES:
        with contextlib.suppress(ValueError):
            found.append((count * mechanism).delta(e, direction=direction, method=method, rtol=1e-6))
    assert max(b.lower for b in found) <= min(b.upper for b in found)


@examples(15)
@given(smooth_releases(), EPSILONS, log_uniform(1e-12, 1e-2))
def test_a_met_status_means_met(release, e, rtol):
    """MET implies upper - lower <= rtol * value for delta, where delta is a normal double."""
    found = release[0].delta(e, rtol=rtol)
    if found.status is lp.Status.MET and found.upper > 1e-300:
        assert found.upper - found.lower <= (rtol + 5e-15) * found.upper


@st.composite
def sampled_gaussians(draw):
    """One to three distinct sampled Gaussians with counts, over the whole range that the library serves."""
    terms = [
        draw(st.one_of(st.integers(1, 30), log_uniform(1, 1e9).map(round)))
        * lp.Gaussian(draw(SIGMAS)).poisson(draw(log_uniform(1e-7, 1)))
        for _ in range(draw(st.integers(1, 3)))
    ]
    return lp.compose(terms)


def check_answers(mechanism, e, d):
    """Finite, ordered, in the range; the whole is the larger of its directions; epsilon inverts delta."""
    whole = mechanism.delta(e, rtol=1e-6)
    assert 0 <= whole.lower <= whole.value <= whole.upper <= 1
    parts = [mechanism.delta(e, direction=one, rtol=1e-6) for one in ("remove", "add")]
    assert whole.lower <= max(part.upper for part in parts)
    assert max(part.lower for part in parts) <= whole.upper
    spent = mechanism.epsilon(d, rtol=1e-6)
    assert 0 <= spent.lower <= spent.value <= spent.upper
    assert math.isfinite(spent.upper) or spent.status is not lp.Status.MET
    if math.isfinite(spent.upper):
        # half an ulp of delta may be all that lies between
        assert mechanism.delta(spent.upper, rtol=1e-6).lower <= d * (1 + 1e-15)
    if spent.lower > 0:
        assert mechanism.delta(spent.lower, rtol=1e-6).upper >= d * (1 - 1e-15)


@examples(2)
@given(sampled_gaussians(), st.floats(-10, 1e4), DELTAS)
def test_any_composition_is_answered(mechanism, e, d):
    """No exception, no NaN and no warning, and answers that agree with each other."""
    check_answers(mechanism, e, d)


@pytest.mark.slow
@examples(8)
@given(sampled_gaussians(), st.one_of(st.floats(-10, 10), st.floats(-10, 1e4)), DELTAS)
def test_every_composition_is_answered(mechanism, e, d):
    """The same, of many more."""
    check_answers(mechanism, e, d)


@pytest.mark.slow
@examples(3)
@given(releases(), sampled_gaussians(), st.floats(-10, 100), DELTAS)
def test_mixtures_are_answered(release, sampled_ones, e, d):
    """The same, of sampled Gaussians beside other mechanisms."""
    check_answers(release[0] + sampled_ones, e, d)
