"""Batches of sampled Laplace mechanisms on common panels: the same numbers as term by term, and as mpmath."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import logphi as lp
from exact import dec
from logphi.laws.log_phi import LogPhi
from logphi.quadrature.values import Line, Values
from slowly import slowly


def batch(seed: int, size: int = 70) -> LogPhi:
    rng = np.random.default_rng(seed)
    scale, rate = 10 ** rng.uniform(-0.3, 1), 10 ** rng.uniform(-3, -0.3)
    return lp.compose(
        int(n) * lp.Laplace(scale=float(b * scale)).poisson(float(q * rate))
        for b, q, n in zip(rng.uniform(1, 2, size), rng.uniform(0.1, 1, size), rng.integers(1, 5, size), strict=True)
    ).loss_law()


def one_by_one(loss: LogPhi, line: Line) -> Values:
    parts = [law.on_line(line, count).times(count) for law, count in loss.terms]
    return sum(parts[1:], parts[0])


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", [*range(4), *slowly(*range(4, 10))])
@pytest.mark.parametrize("turned", [False, True])
def test_panels_agree_with_the_terms(seed: int, turned: bool) -> None:
    loss = batch(seed).reflected() if turned else batch(seed)
    rng = np.random.default_rng(seed)
    c = rng.choice([rng.uniform(-0.9, -0.1), 10 ** rng.uniform(-1, 1.5), -1 - 10 ** rng.uniform(-1, 1)])
    line = Line(c, 10 ** rng.uniform(-2, 0.5), 24)
    together, apart = loss.on_line(line), one_by_one(loss, line)
    gap = together.mid - apart.mid
    gap -= 2j * np.pi * np.round(gap.imag / (2 * np.pi))
    assert np.all(np.abs(gap) <= together.radius + apart.radius)
    # little is lost to panels that many laws share
    assert together.radius[0] <= 30 * apart.radius[0] + 1e-11
    at = np.array([c, 0.9 * c, 1.1 * c])
    real, singly = loss.log_transform(at), [law.log_transform(at, count).times(count) for law, count in loss.terms]
    wrong = np.abs(real.mid - sum(one.mid for one in singly))
    assert np.all(wrong <= real.radius + sum(one.radius for one in singly))


def power(rate: mpmath.mpf, x: mpmath.mpf, z: complex) -> mpmath.mpc:
    return (1 - rate + rate * mpmath.exp(x)) ** (mpmath.mpc(z) + 1)


@pytest.mark.slow
def test_panels_agree_with_mpmath() -> None:
    scales, q, z = [float(b) for b in np.linspace(1.0, 3.0, 64)], 0.05, 1.5 + 4j
    loss = lp.compose(lp.Laplace(scale=b).poisson(q) for b in scales).loss_law()
    values = loss.on_line(Line(1.5, 2.0, 3))
    with mpmath.workdps(25):
        total = mpmath.mpf(0)
        for b in scales:
            w, rate = 1 / dec(b), dec(q)

            # under Q the loss is w with probability e^-w / 2, -w with 1 / 2, and of density e^{-(x + w)/2} / 4 between
            total += mpmath.log(
                mpmath.exp(-w) / 2 * power(rate, w, z)
                + power(rate, -w, z) / 2
                + mpmath.quad(lambda x, w=w, rate=rate: power(rate, x, z) * mpmath.exp(-(x + w) / 2) / 4, [-w, w])
            )
        gap = complex(total) - values.mid[2]
        gap -= 2j * np.pi * round(gap.imag / (2 * np.pi))
        assert abs(gap) <= values.radius[2] + 1e-15
    assert np.all(values.radius < 1e-11)


@pytest.mark.parametrize("c", [-0.5, 1.3, 20.0, -6.0])
def test_the_envelope_bounds_the_transform_and_is_that_of_the_terms(c: float) -> None:
    loss, heights = batch(7), np.geomspace(0.1, 3e3, 16)
    envelope = loss.log_envelope(c, heights)
    values = loss.log_transform(c + 1j * np.append(0.0, heights))
    assert np.all(values.mid.real[1:] - values.mid.real[0] <= envelope + values.radius[1:] + values.radius[0])
    apart = sum(count * law.log_envelope(c, heights) for law, count in loss.terms)
    np.testing.assert_allclose(envelope, apart, rtol=0.01, atol=1e-9)


def test_laws_of_very_different_sizes_are_summed_apart() -> None:
    loss = lp.compose(
        lp.Laplace(scale=float(b)).poisson(float(q))
        for b, q in zip(np.geomspace(0.02, 1e3, 70), np.geomspace(0.9, 1e-6, 70), strict=True)
    ).loss_law()
    line = Line(9.0, 30.0, 8)
    together, apart = loss.on_line(line), one_by_one(loss, line)
    known = np.isfinite(together.radius) & np.isfinite(apart.radius)
    gap = together.mid - apart.mid
    gap -= 2j * np.pi * np.round(gap.imag / (2 * np.pi))
    assert known[0]
    assert np.all(np.abs(gap)[known] <= (together.radius + apart.radius)[known])


@pytest.mark.slow
def test_a_batch_is_answered_between_its_ends() -> None:
    many = lp.compose(lp.Laplace(scale=4 + i / 100).poisson(0.02 + i * 1e-6) for i in range(100))
    spent = many.epsilon(1e-6)
    assert spent.status is lp.Status.MET
    assert spent.width < 1e-6
    low, high = 100 * lp.Laplace(scale=5.0).poisson(0.02), 100 * lp.Laplace(scale=4.0).poisson(0.0201)
    assert low.epsilon(1e-6).upper < spent.lower <= spent.upper < high.epsilon(1e-6).lower
