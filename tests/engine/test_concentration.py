"""So many releases that the loss is its mean: no warning, no error, and bounds that hold what is known in closed form."""

import math

import mpmath
import pytest
from mpmath import mpf

import logphi as lp
from logphi.engine.concentration import at_once, epsilon_of_many
from logphi.engine.log_probability import masses
from logphi.inputs.tolerance import Tolerance
from one_of_each import EXAMPLES
from profiles import gaussian_profile

HUGE = 10**300
DELTA = 1e-5
# of one release, in nats: KL divergences from their closed forms
MEANS = {
    "gaussian": (lp.Gaussian(sigma=2.0), lambda: mpf(1) / 8),
    "laplace": (lp.Laplace(2.0), lambda: mpf(1) / 2 + mpmath.exp(-mpf(1) / 2) - 1),
    "responses": (lp.RandomizedResponse(p=0.75), lambda: mpmath.log(3) / 2),
}


# their samples are answered one at a time only
KNOWN_ALONE = ("FromLogPhi", "FromRenyi")


def with_samples(name):
    """The example and, where there is one that composes, its sample."""
    release = EXAMPLES[name]()
    if name in KNOWN_ALONE:
        return [release]
    try:
        return [release, release.poisson(0.01)]
    except (ValueError, TypeError):
        # what has no sample says so
        return [release]


@pytest.mark.few(5)
@pytest.mark.parametrize("name", EXAMPLES)
def test_huge_counts_of_anything_are_answered(name):
    for release in with_samples(name):
        many = HUGE * release
        found = many.epsilon(DELTA)
        assert 0 <= found.lower <= found.value <= found.upper
        assert not math.isnan(found.upper)
        assert found.status is not lp.Status.UNRESOLVED
        profile = many.delta(1.0)
        assert profile.lower == pytest.approx(1.0, abs=1e-12)
        assert profile.upper <= 1.0


@pytest.mark.parametrize("name", MEANS)
@pytest.mark.parametrize("count", [10**30, HUGE], ids=["many", "huge"])
def test_the_mean_is_enclosed(name, count):
    release, mean = MEANS[name]
    found = (count * release).epsilon(DELTA)
    with mpmath.workdps(40):
        exact = count * mean()
        assert found.lower <= exact <= found.upper
    assert found.width <= 1e-6 * found.value
    assert found.status is lp.Status.MET
    # on either side of it
    assert (count * release).delta(0.9 * found.value).lower == pytest.approx(1.0, abs=1e-12)
    assert (count * release).delta(1.1 * found.value).upper < 1e-300


def test_the_profile_of_many_gaussians_is_enclosed():
    """Against the closed form at forty digits, also where the bounds say little."""
    count = 10**17
    loss = (count * lp.Gaussian(sigma=1.0)).loss_law()
    with mpmath.workdps(40):
        mu = mpmath.sqrt(count)
        profile = gaussian_profile(mu)
        for away in (-40, -5, -0.5, 0, 0.5, 5, 40):
            x = float(mu * mu / 2 + away * mu)
            exact = profile(x)
            found = at_once(loss, masses(loss), x)
            if found is not None:
                assert found.lower <= mpmath.log(exact) + mpf(10) ** -15
                assert mpmath.log(exact) <= found.upper + mpf(10) ** -15
        bound = epsilon_of_many(loss, DELTA, Tolerance.of(1e-6))
        assert bound is not None
        assert profile(mpf(bound.lower)) >= DELTA >= profile(mpf(bound.upper))


@pytest.mark.parametrize("release", [10**8 * lp.Gaussian(sigma=1e-5), 10**30 * lp.Gaussian(sigma=1e15), lp.Laplace(1e-9)])
def test_ordinary_losses_have_other_ways(release):
    loss = release.loss_law()
    assert epsilon_of_many(loss, DELTA, Tolerance.of(1e-6)) is None
    assert (10**30 * lp.Gaussian(sigma=1e15)).delta(0.5).status is lp.Status.MET


def test_the_answer_never_falls_below_what_may_be_infinite():
    assert (HUGE * lp.ApproximateDP(epsilon=0.1, delta=1e-3)).epsilon(DELTA).upper == math.inf
    assert (HUGE * lp.ApproximateDP(epsilon=0.1, delta=1e-3)).delta(1e200).lower == pytest.approx(1.0)
