"""Many contours at once: K on each line and the bounds of its decay are those of one law, and mpmath's."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import mpc, mpf

from logphi.inversion.lines import batched_contours
from logphi.inversion.lines.batched_contours import Laws
from logphi.inversion.lines.kernels import Smooth, log_kappa
from logphi.quadrature.mixtures.log_ratio import TwoComponents
from logphi.quadrature.mixtures.mixture_envelope import log_mixture_envelope

# shift, rate, count, abscissa, step
LAWS = np.array(
    [(0.9, 0.004, 14062, 5.9, 0.8), (0.5, 0.01, 1000, 22.0, 2.5), (0.33, 0.002, 3610, 60.0, 9.0), (1.2, 0.03, 300, 0.8, 0.1)]
)
SIZE = 20
FINE = mpf("0.125")


def laws(*, reflected=False):
    return Laws(TwoComponents(LAWS[:, 0], LAWS[:, 1], LAWS[:, 2]), reflected)


def reference(m, q, z):
    """log E[w^{z+1}], w = 1 - q + q e^{m X - m^2/2}: E[w - 1] = 0 is taken out; a sum so fine that it errs by far less."""
    m, q, a = mpf(m), mpf(q), mpc(z) + 1
    low, high = -11 + min(0.0, float(m * a.real)), 11 + max(0.0, float(m * a.real))
    total = mpf(0)
    for x in (FINE * j for j in range(round(low / FINE), round(high / FINE))):
        gain = q * mpmath.expm1(m * x - m * m / 2)
        total += mpmath.npdf(x) * (mpmath.exp(a * mpmath.log1p(gain)) - 1 - a * gain)
    return mpmath.log1p(FINE * total)


@pytest.mark.few(1)
@pytest.mark.parametrize("reflected", [False, True])
def test_k_on_lines_of_their_own(reflected):
    c, steps = LAWS[:, 3], LAWS[:, 4]
    points = np.stack([c, 1.5 * c, 0.5 * c], axis=1)
    found = laws(reflected=reflected).on_lines(points, steps, SIZE, float(steps.max()) * SIZE)
    assert found is not None
    on, real = found
    with mpmath.workdps(30):
        for k, (m, q, count, abscissa, step) in enumerate(LAWS.tolist()):
            for values, place, z in (
                (on, 7, mpc(abscissa, 7 * step)),
                (real, 1, mpf(points[k, 1])),
                (real, 2, mpf(points[k, 2])),
            ):
                exact = count * reference(m, q, -1 - z if reflected else z)
                wrong = abs(mpmath.expm1(mpc(complex(values.mid[k, place])) - exact))
                radius = float((values.rounding + values.inner)[k, place])
                assert wrong <= mpmath.expm1(radius) + mpf(10) ** -18
                assert radius < 1e-7


@pytest.mark.parametrize("reflected", [False, True])
def test_envelopes_of_their_own_are_as_those_of_one(reflected):
    c = LAWS[:, 3]
    heights = LAWS[:, 4:] * np.geomspace(0.5, 20.0, 7)
    many = laws(reflected=reflected).log_envelope(c, heights)
    for k, (m, q, count, abscissa, _) in enumerate(LAWS.tolist()):
        at = -1 - abscissa if reflected else abscissa
        alone = log_mixture_envelope(TwoComponents(np.array([m]), np.array([q]), np.array([count])), at, heights[k])[0]
        # the nodes of both differ
        assert many[k] == pytest.approx(count * alone, rel=0.1, abs=0.02)
        # above the modulus, by a fine sum over the real line
        x = np.linspace(-14, 16, 20001)
        loss = np.log1p(q * np.expm1(m * x - m * m / 2))
        weight = np.exp((at + 1) * loss - x * x / 2)
        for height, bound in zip(heights[k], many[k], strict=True):
            modulus = abs((weight * np.exp(1j * height * loss)).sum()) / weight.sum()
            assert count * math.log(modulus) <= bound + 1e-9 * count


def test_contours_enclose_the_excess():
    """The excess of one law alone, by fine trapezoidal sums along another line: no bound, but many digits."""
    own = Laws(TwoComponents(LAWS[:1, 0], LAWS[:1, 1], LAWS[:1, 2]))
    x = 2.0
    saddle = batched_contours.minimise(own, np.array([8.0]), lambda c, k: k - x * c + Smooth(0.0).log_real(c))
    (contour,) = batched_contours.lay(own, saddle, np.array([x]), math.log(1e-9))
    assert contour is not None
    amount = contour.integral(x, Smooth(x))
    m, q, count, *_ = LAWS[0].tolist()
    z, y = 6.0 + 0.5j * np.arange(60), np.linspace(-12, 18, 601)
    gain = q * np.expm1(m * y - m * m / 2)
    second = np.expm1((z[:, None] + 1) * np.log1p(gain)) - (z[:, None] + 1) * gain
    k = np.log1p(0.05 / math.sqrt(2 * math.pi) * (second * np.exp(-y * y / 2)).sum(axis=1))
    terms = (np.exp(count * k - z * x) / (z * (z + 1))).real
    exact = 0.5 / math.pi * (terms.sum() - terms[0] / 2)
    scale = math.exp(amount.log_scale)
    assert amount.low * scale <= exact * (1 + 1e-10)
    assert amount.high * scale >= exact * (1 - 1e-10)
    assert amount.high - amount.low <= 1e-9 * amount.value


def test_minima_are_found():
    own = laws()
    level = math.log(1e-5)
    guess = math.sqrt(-2 * level) / (LAWS[:, 1] * np.sqrt(LAWS[:, 2] * np.expm1(LAWS[:, 0] ** 2)))
    found = batched_contours.minimise(own, guess, lambda c, k: (k + log_kappa(c) - level) / c)
    for factor in (0.7, 1.4):
        points = np.stack([found, factor * found], axis=1)
        heights = (own.approximate(points) + log_kappa(points) - level) / points
        assert (heights[:, 0] < heights[:, 1]).all()


def test_what_is_out_of_reach_has_no_contour():
    # a shift so large beside its rate that the tilted law is far from normal
    own = Laws(TwoComponents(np.array([6.0, 0.9]), np.array([1e-5, 0.004]), np.array([3.0, 14062.0])))
    found = batched_contours.lay(own, np.array([50.0, 6.0]), np.array([1.0, 2.0]), math.log(1e-9))
    assert found[0] is None
