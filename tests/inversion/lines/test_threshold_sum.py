"""A sum that moves with its threshold: it is the sum formed again."""

from __future__ import annotations

import math

import pytest

from logphi.arith.protocol import Plain
from logphi.inversion.demand import Demand
from logphi.inversion.lines import contour
from logphi.inversion.lines.contour import Part
from logphi.inversion.lines.kernels import Smooth
from logphi.inversion.lines.line_sum import plan
from logphi.inversion.lines.threshold_sum import Summands, SummedContour, ThresholdSum
from logphi.laws.normal.normal import Normal
from profiles import gaussian_profile

LAW = Normal(Plain(1.3))
TRUTH = {x: float(gaussian_profile(1.3)(x)) for x in (0.4, 1.0)}


@pytest.mark.parametrize("x", list(TRUTH))
def test_the_moved_sum_encloses_the_closed_form(x: float) -> None:
    contour = plan(LAW, 1.1, Smooth(0.7), 1e-12)
    assert contour is not None
    found = ThresholdSum.of(contour, 0.7, Summands.of(contour, Smooth(0.7))).at(x)
    low, high = (math.exp(end) for end in found.log_ends)
    assert low * (1 - 1e-14) <= TRUTH[x] * (1 + 1e-13)
    assert TRUTH[x] * (1 - 1e-13) <= high * (1 + 1e-14)
    assert found.relative_width < 1e-9


# between the two poles, to the right of them, and to their left
@pytest.mark.parametrize("x", [-0.9, 0.0, 0.9, 2.5])
@pytest.mark.parametrize("moved", [0.0, 1e-3, -0.2])
def test_each_functional_of_a_contour_moves_with_its_threshold(x: float, moved: float) -> None:
    prepared = contour.prepare(LAW, x, Demand(1e-10))
    assert prepared is not None
    here, there = prepared.at(x + moved), SummedContour.of(prepared, x).at(x + moved)
    assert here.part is there.part
    (low, high), (least, most) = (one.amount.log_ends for one in (here, there))
    assert least <= high
    assert low <= most
    assert there.amount.relative_width <= 2 * here.amount.relative_width + 1e-12


def test_all_three_functionals_are_tried() -> None:
    found = [contour.prepare(LAW, x, Demand(1e-10)) for x in (-0.9, 0.0, 2.5)]
    assert {one.part for one in found if one} == set(Part)
