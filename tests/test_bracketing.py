"""Crossings of functions known by enclosures: the sides are proved, and close where the function allows."""

import math
from dataclasses import dataclass
from itertools import product

import pytest

from logphi.bracketing import bisection, crossing

# how far from the crossing an end may be, in widths of the enclosure over the slope
PATIENCE = 1e3


@dataclass(frozen=True)
class Ends:
    lower: float
    value: float
    upper: float


def enclosing(function, width=0.0, bias=0.0):
    """``near(x)`` of a function whose enclosures have a given width, with the truth anywhere inside."""

    def near(*_):
        def at(x):
            truth = function(x)
            middle = truth + bias * width / 2
            return Ends(middle - width / 2, middle, middle + width / 2)

        return at

    return near


# decreasing functions on [0, inf), with their inverses at the level
SMOOTH = {
    "line": (lambda x: -x, lambda level: -level),
    "shallow": (lambda x: -1e-3 * x, lambda level: -level * 1e3),
    "steep": (lambda x: -1e9 * x, lambda level: -level / 1e9),
    "parabola": (lambda x: -0.5 * x * x, lambda level: math.sqrt(-2 * level)),
    "offset": (lambda x: -((x - 3) ** 3), lambda level: 3 + (-level) ** (1 / 3)),
    "logarithm": (lambda x: -math.log1p(x), lambda level: math.expm1(-level)),
    "kink": (
        lambda x: -x if x < 2 else -2 - 100 * (x - 2),
        lambda level: -level if level > -2 else 2 + (-level - 2) / 100,
    ),
    "kink-back": (
        lambda x: -100 * x if x < 1 else -99 - x,
        lambda level: -level / 100 if level > -100 else -level - 99,
    ),
}


LEVELS = (-0.01, -1.0, -2.0, -11.0)
BIASES = (0.0, 0.9, -0.9)


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_functions(name):
    function, inverse = SMOOTH[name]
    for level, start, width, bias in product(LEVELS, (0.0, 0.5, 40.0), (0.0, 1e-12, 1e-4), BIASES):
        case = f"{level=}, {start=}, {width=}, {bias=}"
        found = crossing(enclosing(function, width, bias), level, 0.0, start, math.inf)
        truth = inverse(level)
        slack = 4e-16 * (1 + truth)
        assert found.lower <= truth + slack, case
        assert found.upper >= truth - slack, case
        assert found.lower <= found.value <= found.upper, case
        # proved: the ends of the enclosure are on the right sides
        at = enclosing(function, width, bias)(0)
        assert found.lower == 0.0 or at(found.lower).lower >= level, case
        assert found.upper == math.inf or at(found.upper).upper <= level, case


@pytest.mark.parametrize("name", ["line", "parabola", "logarithm", "kink", "kink-back", "steep"])
@pytest.mark.parametrize("level", [-0.5, -3.0])
@pytest.mark.parametrize("width", [1e-12, 1e-9])
def test_the_ends_are_close(name, level, width):
    function, inverse = SMOOTH[name]
    truth = inverse(level)
    found = crossing(enclosing(function, width), level, 0.0, 1.0, 100.0)
    assert found.upper - found.lower <= PATIENCE * max(width, 1e-14) * max(1.0, truth) * (20 if name == "logarithm" else 1)


@pytest.mark.parametrize("width", [0.0, 1e-9])
def test_flat_parts_are_enclosed_whole(width):
    # the function equals the level on [1, 2]: any point there is a crossing, and both ends must hold
    def function(x):
        return -min(x, 1.0) - max(x - 2.0, 0.0)

    found = crossing(enclosing(function, width), -1.0, 0.0, 0.3, math.inf)
    assert found.lower <= 2.0
    assert found.upper >= 1.0
    assert found.lower == 0.0 or function(found.lower) - width / 2 >= -1.0
    assert found.upper == math.inf or function(found.upper) + width / 2 <= -1.0


@pytest.mark.parametrize("width", [0.0, 1e-9, 1e-3])
@pytest.mark.parametrize("level", [-1.0, -5.0, -20.0])
def test_jumps(width, level):
    # a step at 0.7, as the logarithm of a profile has at the end of its support
    def function(x):
        return -0.1 * x if x < 0.7 else -30.0 - x

    found = crossing(enclosing(function, width), level, 0.0, 0.1, math.inf)
    assert found.lower <= 0.7 <= found.upper
    assert found.upper - found.lower <= 1e-2


def test_minus_infinity_beyond_the_support():
    def function(x):
        return math.log(-math.expm1(x - 2.0)) if x < 2.0 else -math.inf

    for level in (-0.5, -5.0, -30.0):
        found = crossing(enclosing(function), level, 0.0, 1.0, 2.0)
        truth = 2.0 + math.log1p(-math.exp(level))
        assert found.lower <= truth + 1e-15
        assert found.upper >= truth - 1e-15
        assert found.upper <= 2.0


def test_wide_enclosures_fall_back_on_the_floor_and_the_ceiling():
    found = crossing(enclosing(lambda x: -x, 50.0), -1.0, 0.0, 1.0, 8.0)
    assert found.lower == 0.0
    assert found.upper == 8.0
    # nothing known at all
    blind = crossing(lambda *_: lambda x: Ends(-math.inf, -1.0, 0.0), -1.0, 0.0, 0.5, math.inf)
    assert blind.lower == 0.0
    assert blind.upper == math.inf


def test_functions_good_only_near_where_they_were_prepared():
    prepared = []

    def near(centre, _):
        prepared.append(centre)

        def at(x):
            width = 1e-13 + 10 * abs(x - centre) / max(centre, 1e-3)
            return Ends(-x * x - width, -x * x, -x * x + width)

        return at

    found = crossing(near, -400.0, 0.0, 1.0, math.inf)
    assert found.lower <= 20.0 <= found.upper
    assert len(prepared) <= 6


def test_start_outside_the_bracket_is_moved_in():
    found = crossing(enclosing(lambda x: -x), -3.0, 0.0, 1e9, 5.0)
    assert found.lower <= 3.0 <= found.upper
    assert found.upper - found.lower <= 1e-10


@pytest.mark.parametrize("name", SMOOTH)
def test_bisection_encloses_the_crossing(name):
    function, inverse = SMOOTH[name]
    for level, width, bias in product(LEVELS, (0.0, 1e-9, 1e-2), BIASES):
        case = f"{level=}, {width=}, {bias=}"
        truth = inverse(level)
        at = enclosing(function, width, bias)(0)
        ceiling = 2 * truth + 1
        found = bisection(enclosing(function, width, bias), level, 0.0, 0.5, ceiling)
        assert found.lower <= truth <= found.upper, case
        assert found.lower <= found.value <= found.upper, case
        assert found.lower == 0.0 or at(found.lower).lower >= level, case
        assert found.upper == ceiling or at(found.upper).upper <= level, case


@pytest.mark.parametrize("width", [0.0, 1e-9, 1e-2])
def test_the_ends_of_a_bisection_are_close(width):
    found = bisection(enclosing(lambda x: -x, width), -3.0, 0.0, 1.0, 100.0)
    assert found.upper - found.lower <= 1.2 * width + 1e-9


def test_bisection_keeps_an_interval_it_cannot_improve():
    found = bisection(enclosing(lambda x: -x, math.inf), -3.0, 0.0, 1.0, 100.0)
    assert (found.lower, found.upper) == (0.0, 100.0)
    found = bisection(enclosing(lambda x: -x), -3.0, 0.0, 1.0, math.inf)
    assert (found.lower, found.upper) == (0.0, math.inf)


def test_an_end_that_is_unknown_at_the_crossing_is_sought_very_near():
    def near(*_):
        # nothing is known from below within 1e-12 of the crossing
        return lambda x: Ends(-x if x < 3 - 1e-12 else -math.inf, -x, -x)

    found = crossing(near, -3.0, 0.0, 1.0, 100.0)
    assert 3 - 1e-10 < found.lower <= 3 <= found.upper < 3 + 1e-10


def test_a_floor_that_suffices_is_the_answer_whatever_is_known_elsewhere():
    """A profile at zero may come from a method that serves zero alone; a step away from it nothing is known."""
    seen = []

    def near(x, _sharp):
        def at(y):
            seen.append(y)
            return Ends(-7.71, -7.7, -7.69) if y == 0 else Ends(-9.0 - y, -8.0 - y, -5.0)

        return at

    found = crossing(near, -6.0, 0.0, 1.0, 10.0)
    assert (found.lower, found.value, found.upper) == (0.0, 0.0, 0.0)
    assert not any(0 < y < 1e-6 for y in seen)
