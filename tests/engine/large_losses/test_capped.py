"""Samples under replacement at small rates: against integrals over outputs at 40 digits, and against other routes."""

import mpmath
import numpy as np
import pytest

import logphi as lp
from logphi.answers.ledger import Ledger
from logphi.arith.protocol import Plain
from logphi.engine.large_losses.capped import Capped
from logphi.engine.log_probability import LogProbability
from logphi.engine.method import EXACT
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.capped import CappedNormal
from logphi.laws.normal.curved_normal import ReplacedNormal, SplicedNormal


def tail(place):
    return mpmath.erfc(place / mpmath.sqrt(2)) / 2


def replaced(m, q):
    """The density of P and the loss at an output, and the profile of one release: the loss increases with the output."""
    rest, low = 1 - q, q * mpmath.e ** (-m * m / 2)

    def profile(x):
        u = mpmath.e**x
        half = rest * (1 - u) / 2
        place = mpmath.log((-half + mpmath.sqrt(half * half + u * low * low)) / low) / m
        return rest * (1 - u) * tail(place) + q * (tail(place - m) - u * tail(place + m))

    def density(y):
        return rest * mpmath.npdf(y) + q * mpmath.npdf(y, m)

    return density, lambda y: mpmath.log((rest + low * mpmath.e ** (m * y)) / (rest + low * mpmath.e ** (-m * y))), profile


def of_two_replaced(m, q, x):
    density, loss, profile = replaced(m, q)
    return mpmath.quad(lambda y: density(y) * profile(x - loss(y)), list(range(-14, 15, 2)))


def of_two_spliced(m, q, x):
    """The larger of both orders for one release, of which the loss is positive, negative, or zero."""
    rest = (1 - q) * mpmath.erf(m / mpmath.sqrt(8))

    def profile(x):
        if x < 0:
            return 1 - mpmath.e**x + mpmath.e**x * profile(-x)
        u = mpmath.e**x
        place = mpmath.log((u - 1 + q) / q) / m
        return q * tail(place - m / 2) - (u - 1 + q) * tail(place + m / 2)

    def integrand(s):
        w = 1 - q + q * mpmath.e ** (m * s)
        return (w * profile(x - mpmath.log(w)) + profile(x + mpmath.log(w))) * mpmath.npdf(s + m / 2)

    kink = mpmath.log((mpmath.e**x - 1 + q) / q) / m
    return rest * profile(x) + mpmath.quad(integrand, sorted({mpmath.mpf(0), kink, *(mpmath.mpf(k) for k in range(1, 15, 2))}))


@pytest.mark.parametrize(
    ("truth", "release", "sigma", "rate", "epsilon"),
    [
        (of_two_replaced, lambda one, q: one.poisson(q, adjacency="replace"), 2.0, 1e-4, 0.0),
        (of_two_replaced, lambda one, q: one.poisson(q, adjacency="replace"), 0.7, 0.01, 0.01),
        (of_two_replaced, lambda one, q: one.poisson(q, adjacency="replace"), 6.7, 3.9e-6, 5e-6),
        (of_two_spliced, lambda one, q: one.poisson(q, one_pair=True), 0.7, 0.01, 0.1),
    ],
)
def test_deltas_of_two_releases_are_integrals_over_outputs(truth, release, sigma, rate, epsilon):
    found = (2 * release(lp.Gaussian(sigma=sigma), rate)).delta(epsilon)
    with mpmath.workdps(40):
        exact = truth(1 / mpmath.mpf(repr(sigma)), mpmath.mpf(repr(rate)), mpmath.mpf(repr(epsilon)))
        assert found.lower <= exact <= found.upper
    assert found.width < 1e-4 * found.value


def test_a_deciding_large_loss_has_a_closed_form():
    x, law = 0.25, ReplacedNormal(Plain(1.0), 2.0**-10)
    capped = Capped.of(LogPhi(((law, 2),)), x, 1e-9)
    part = capped.loss.terms[0][0]
    assert isinstance(part, CappedNormal)
    assert capped.rest is not None
    with mpmath.workdps(40):
        m, q = mpmath.mpf(1), mpmath.mpf(2) ** -10
        density, loss, profile = replaced(m, q)
        end = mpmath.mpf(part.end)
        cap, under_p, under_q = loss(end), *((1 - q) * tail(end) + q * tail(end - side) for side in (m, -m))

        def up_to_the_cap(y):
            return profile(y) - under_p + mpmath.e**y * under_q

        # the profile of the other release changes fast where that of this one is x; below the start it exceeds its cap
        near = mpmath.findroot(lambda y: loss(y) - x, 6)
        start = mpmath.findroot(lambda y: loss(y) - x + cap, -6)
        steps = [-4, 0, 3, *(near + d for d in (-0.7, -0.2, -0.05, -0.01, 0, 0.01, 0.05, 0.2, 0.7))]
        within = [start, *(start + d for d in (0.01, 0.05, 0.2, 0.7)), *steps, end]
        inside = mpmath.quad(lambda y: density(y) * up_to_the_cap(x - loss(y)), within)
        known = float(mpmath.log(1 - (1 - under_p - under_q) ** 2 + inside))
        exact = float(mpmath.log(mpmath.quad(lambda y: density(y) * profile(x - loss(y)), [-14, -8, *steps, 10, 14])))
    doubt = 1e-15 * abs(known)
    found = capped.without(LogProbability.outward((known - doubt, known, known + doubt), EXACT, Ledger()), x)
    assert found.lower <= exact * (1 - 1e-15)
    assert exact * (1 + 1e-15) <= found.upper
    assert found.relative_width < 1e-9
    # far more than that is left out
    assert capped.log_lost > exact - 5


def test_a_deciding_loss_among_many_agrees_with_other_routes():
    release = 5505 * lp.Gaussian(sigma=0.63, adjacency="replace").subset(3.4e-6, adjacency="replace")
    found, whole = release.delta(3.0), release.delta(3.0, method="smoothed")
    assert found.width < 1e-5 * found.value
    assert found.lower <= whole.upper
    assert whole.lower <= found.upper


@pytest.mark.parametrize(
    ("sigma", "rate", "count"), [(9.7, 1.67e-4, 2107), (6.7, 3.9e-6, 20), (6.7, 3.9e-6, 6), (1.0, 1e-4, 100_000)]
)
@pytest.mark.parametrize("kind", ["poisson", "subset"])
def test_compositions_at_small_rates_are_sharp(kind, sigma, rate, count):
    base = lp.Gaussian(sigma=sigma, adjacency="replace") if kind == "subset" else lp.Gaussian(sigma=sigma)
    release = count * getattr(base, kind)(rate, adjacency="replace")
    found = release.epsilon(1e-9)
    assert found.width < 1e-6
    assert release.delta(found.upper).lower <= 1e-9 * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.4, 1.0])
def test_contours_of_whole_losses_agree(epsilon):
    release = 50_000 * lp.Gaussian(sigma=1.0, adjacency="replace").subset(2e-4, adjacency="replace")
    found, whole = release.delta(epsilon), release.delta(epsilon, method="contour")
    assert found.lower <= whole.upper
    assert whole.lower <= found.upper


@pytest.mark.parametrize("law", [SplicedNormal, ReplacedNormal])
@pytest.mark.parametrize(
    ("m", "q", "end", "z"), [(0.4, 0.02, 5.0, 3 + 9j), (0.15, 4e-6, 9.5, 1.4e6 + 3e6j), (1.5, 0.1, 3.0, -0.3)]
)
def test_transforms_and_envelopes_of_capped_laws(law, m, q, end, z):
    capped = CappedNormal(law(Plain(m), q), end)
    values = capped.log_transform(np.array([z]))
    with mpmath.workdps(40):

        def moment(z):
            steps = [mpmath.mpf(end) * k / 12 for k in range(13)]
            z, shift, rate = mpmath.mpmathify(z), mpmath.mpf(m), mpmath.mpf(q)

            def pair(s):
                return 1 - rate + rate * mpmath.e ** (shift * s), mpmath.npdf(s + shift / 2)

            if law is SplicedNormal:
                total = mpmath.quad(lambda s: (pair(s)[0] ** (z + 1) + pair(s)[0] ** (-z)) * pair(s)[1], steps)
                return total + (1 - rate) * mpmath.erf(shift / mpmath.sqrt(8))

            def both(s):
                one, other = (pair(side * s - shift / 2)[0] for side in (1, -1))
                return (one ** (z + 1) * other ** (-z) + other ** (z + 1) * one ** (-z)) * mpmath.npdf(s)

            return mpmath.quad(both, steps)

        truth = mpmath.log(moment(z))
        difference = mpmath.mpmathify(complex(values.mid[0])) - truth
        turns = mpmath.nint(mpmath.im(difference) / (2 * mpmath.pi)) if isinstance(z, complex) else 0
        assert abs(difference - 2j * mpmath.pi * turns) <= values.radius[0]
        if isinstance(z, complex):
            fall = mpmath.re(truth) - mpmath.log(mpmath.re(moment(z.real)))
            envelope = capped.log_envelope(z.real, np.array([z.imag]))[0]
            assert fall <= envelope < 0.1 * fall


def test_what_is_left_out_may_be_all_to_all_digits():
    # their logarithms differ by less than half an ulp of one, and by the rounding that is allowed for
    log_delta, log_lost = -0.6734024291912293, -0.6734024291912314
    capped = Capped(LogPhi(()), log_lost, (-np.inf, log_lost), np.inf)
    found = capped.without(LogProbability(log_delta, log_delta, log_delta, EXACT, Ledger()), 0.0)
    assert found.lower < log_delta - 30
