"""Laws without their infinite part, against finite pairs whose vectors are divided by their sums."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import logphi as lp
from logphi.laws.combined.conditioned import Conditioned


@pytest.mark.parametrize(("p", "q"), [((0.2, 0.3, 0.5, 0.0), (0.5, 0.25, 0.0, 0.25)), ((0.5, 0.25, 0.25), (0.125, 0.875, 0.0))])
def test_a_finite_pair(p, q):
    """K, both ends of the support and the reflected law of the pair without the outcomes that only one law has."""
    law = Conditioned(lp.Discrete(p, q).loss_law().terms[0][0])
    common = [(mpmath.mpf(a), mpmath.mpf(b)) for a, b in zip(p, q, strict=True) if a and b]
    sums = [sum(own) for own in zip(*common, strict=True)]
    pairs = [(a / sums[0], b / sums[1]) for a, b in common]
    z = np.array([-2.0, -1.0, -0.3, 0.0, 0.7, 5.0, 1.5 + 2j])
    found, reflected = law.log_transform(z), law.reflected().log_transform(-1 - z)
    for place, at in enumerate(z):
        exact = mpmath.log(sum(a * (a / b) ** mpmath.mpmathify(complex(at)) for a, b in pairs))
        for values in (found, reflected):
            # K is told up to multiples of 2 pi i
            gap = complex(mpmath.expm1(exact - complex(values.mid[place])))
            assert abs(gap) <= 1.01 * values.radius[place] + 1e-15
        assert found.radius[place] < 1e-13
    losses = [float(mpmath.log(a / b)) for a, b in pairs]
    assert max(losses) <= law.support.upper <= max(losses) + 1e-13
    assert min(losses) - 1e-13 <= law.support.lower <= min(losses)
    assert law.support.masses.certain
