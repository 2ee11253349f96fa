"""Many finite laws at once are the sum of the laws, within its own bounds."""

import mpmath
import numpy as np
import pytest

import logphi as lp
from logphi.laws.atomic.batched_finite import BatchedFinite
from logphi.laws.atomic.finite import Finite
from logphi.quadrature.values import Line

DIGITS = 40


def drawn(rng, omitted):
    """A law on a few atoms with masses at infinite losses; some mass is at unknown losses."""
    size = int(rng.integers(1, 9))
    q = rng.dirichlet(np.ones(size)) * (1 - 2e-3 - omitted)
    p = q * np.exp(rng.normal(0, 0.3, size))
    p *= (1 - 1e-3 - omitted) / p.sum()
    return Finite(tuple(p.tolist()), tuple(q.tolist()), 1e-3, 2e-3, omitted_mass=omitted)


@pytest.mark.parametrize("omitted", [0.0, 1e-9])
def test_values_contain_the_truth(omitted):
    rng = np.random.default_rng(8)
    terms = tuple((drawn(rng, omitted), int(rng.integers(1, 7))) for _ in range(90))
    ((batch, count),) = Finite.batched(terms)
    assert isinstance(batch, BatchedFinite)
    assert count == 1
    line = Line(1.3, 0.7, 12)
    for z, values in (
        (line.points, batch.on_line(line)),
        (np.array([-1.0, -0.4, 0.0, 3.0]), batch.log_transform(np.array([-1.0, -0.4, 0.0, 3.0]))),
    ):
        with mpmath.workdps(DIGITS):
            for point, mid, radius in zip(z, values.mid, values.radius, strict=True):
                at = mpmath.mpmathify(complex(point))
                truth = mpmath.fsum(
                    n
                    * mpmath.log(
                        mpmath.fsum(mpmath.mpf(p) ** (1 + at) * mpmath.mpf(q) ** -at for p, q in zip(law.p, law.q, strict=True))
                    )
                    for law, n in terms
                )
                gap = mpmath.mpmathify(complex(mid)) - truth
                gap -= 2j * mpmath.pi * mpmath.nint(gap.imag / (2 * mpmath.pi))
                assert abs(gap) <= radius
                assert radius < 1e-9 + 1e4 * omitted


def test_few_laws_are_left_as_they_are():
    terms = tuple((drawn(np.random.default_rng(seed), 0.0), 1) for seed in range(9))
    assert Finite.batched(terms) == terms


def test_many_distinct_sampled_steps_lie_between_equal_ones():
    sigmas = np.linspace(5, 6, 100).tolist()
    found = lp.compose(lp.DiscreteGaussian(sigma).poisson(0.05) for sigma in sigmas).epsilon(1e-6)
    low, high = (100 * lp.DiscreteGaussian(sigma).poisson(0.05) for sigma in (6.0, 5.0))
    assert low.epsilon(1e-6).lower <= found.upper
    assert found.lower <= high.epsilon(1e-6).upper
    assert found.width < 2e-6
