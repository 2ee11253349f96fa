"""Where a transform is small: bounds on blocks of heights, lines that end early for it, and matrices of many laws."""

import math
from typing import Any

import mpmath
import numpy as np
import pytest

import logphi as lp
from logphi.arith.protocol import Plain
from logphi.grid.node_sums import values_on
from logphi.inversion.demand import Demand
from logphi.inversion.smoothing import smoothed
from logphi.laws.atomic.finite import Finite
from logphi.laws.atomic.integers import NormalOnIntegers
from logphi.laws.block_envelope import log_block
from logphi.laws.flat.two_point import TwoPoint
from logphi.laws.flat.uniform import Uniform, UniformWithAtoms
from logphi.laws.log_phi import LogPhi
from logphi.laws.negligible_nodes import negligible_from
from logphi.quadrature.values import SparseLine, Values

DIGITS = 30
# what a bound of a transform may be off by, in its logarithm, where it is not sharp because of the block's length
SHARP = 1e-3
LAWS: dict[str, tuple[Any, Any]] = {
    "two points": (TwoPoint, lambda u, w: mpmath.cosh(u * w)),
    "flat": (Uniform, lambda u, w: mpmath.sinh(u * w) / u),
    "flat with atoms": (UniformWithAtoms, lambda u, w: mpmath.cosh(u * w) + mpmath.sinh(u * w) / (2 * u)),
}


def log_ratio(transform, width, c, t):
    """Log |M(c + it) / M(c)|."""
    half = mpmath.mpf(1) / 2
    up, down = (transform(mpmath.mpc(c + half, height), mpmath.mpf(width)) for height in (t, 0))
    return float(mpmath.log(abs(up / down)))


@pytest.mark.few(2)
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("seed", range(6))
def test_a_block_is_below_its_bound(name, seed):
    make, transform = LAWS[name]
    rng = np.random.default_rng(seed)
    width, c = float(10 ** rng.uniform(-2, 0.7)), float(rng.uniform(-3, 4))
    law = make(Plain(width))
    centres = rng.uniform(0, 30, 12) / width
    for radius in (0.0, 0.05 / width, 0.5 / width):
        bounds = law.log_block(c, centres, radius)
        with mpmath.workdps(DIGITS):
            for centre, bound in zip(centres, bounds, strict=True):
                truth = max(log_ratio(transform, width, c, t) for t in centre + radius * np.linspace(-1, 1, 9))
                assert truth <= bound
                assert radius > 0 or bound <= truth + SHARP


def test_blocks_of_a_turned_law_and_of_a_sum():
    law = Finite((0.5, 0.3, 0.2), (0.2, 0.3, 0.5))
    centres = np.linspace(0.1, 9, 20)
    heights = 1j * (centres + 0.2)
    for one, c in ((law, 0.7), (law.reflected(), 0.7), (LogPhi(((law, 3), (TwoPoint(Plain(0.4)), 2))), 0.7)):
        bounds = one.log_block(c, centres, 0.25)
        found = one.log_transform(c + heights).mid.real - one.log_transform(np.array([c])).mid
        assert (found <= bounds).all()
        assert bounds.min() < 0


@pytest.mark.parametrize("name", LAWS)
def test_many_laws_at_once_are_the_sum_of_the_formulas(name):
    make, transform = LAWS[name]
    rng = np.random.default_rng(3)
    # either of two opposite points tells both
    signs = rng.choice([-1, 1], 40) if name == "two points" else 1
    drawn = zip(signs * 10 ** rng.uniform(-3, 0, 40), rng.integers(1, 9, 40), strict=True)
    terms: tuple[Any, ...] = tuple((make(Plain(float(width))), int(count)) for width, count in drawn)
    ((whole, _),) = make.batched(terms)
    c, t = 0.8, np.array([0.0, 0.3, 4.0, 90.0])
    values = whole.log_transform(c + 1j * t)
    with mpmath.workdps(DIGITS):
        half = mpmath.mpf(1) / 2
        for k, height in enumerate(t):
            u = mpmath.mpc(c + half, height)
            widths = [(mpmath.mpf((law.point if name == "two points" else law.width).value), count) for law, count in terms]
            truth = mpmath.fsum(n * (mpmath.log(transform(u, w)) - mpmath.log(transform(half, w))) for w, n in widths)
            gap = mpmath.mpc(complex(values.mid[k])) - truth
            gap -= 2j * mpmath.pi * mpmath.nint(gap.imag / (2 * mpmath.pi))
            assert abs(gap) <= values.radius[k] < 1e-9
    apart = LogPhi(terms[:4])
    ((some, _),) = make.batched(terms[:4] * 3)
    heights = np.geomspace(0.1, 1e3, 9)
    for of in ("log_envelope", "log_block"):
        extra = (heights,) if of == "log_envelope" else (heights, 0.01)
        assert getattr(some, of)(c, *extra) == pytest.approx(3 * getattr(apart, of)(c, *extra), rel=1e-9, abs=1e-300)
    assert some.approximate(np.array([0.3, 2.0])) == pytest.approx(3 * apart.approximate(np.array([0.3, 2.0])), rel=1e-9)


def sums_of_responses(steps, unit):
    """The loss law of distinct responses with odds e^{k u}, on the multiples of 2u from the lowest."""
    law = np.ones(1)
    for step in steps:
        p, rest = 1 / (1 + math.exp(-step * unit)), np.zeros(step)
        law = np.concatenate([(1 - p) * law, rest]) + np.concatenate([rest, p * law])
    return unit * (2 * np.arange(law.size) - sum(steps)), law


@pytest.mark.slow
def test_a_line_of_many_responses_keeps_few_nodes_and_holds_the_truth():
    unit = 3e-5
    steps = np.random.default_rng(8).choice(np.arange(1_300, 6_600), 300, replace=False).tolist()
    release = lp.compose([lp.RandomizedResponse(1 / (1 + math.exp(-step * unit))) for step in steps])
    reflected = lp.compose([lp.RandomizedResponse(1 / (1 + math.exp(step * unit))) for step in steps])
    losses, masses = sums_of_responses(steps, unit)
    for one, epsilon in ((release, 0.5), (reflected, 4.0)):
        truth = float((masses * -np.expm1(np.minimum(epsilon - losses, 0.0))).sum())
        found = smoothed.prepare(one.loss_law(), epsilon, Demand(1e-6), values_on)
        assert found is not None
        line = found.payoff.contour.line
        # no decreasing function bounds the transform: with all its nodes the line would have thousands
        assert isinstance(line, SparseLine)
        assert line.size < 100
        amount = found.at(epsilon).amount
        scale = math.exp(amount.log_scale)
        assert amount.low * scale * (1 - 1e-11) <= truth <= amount.high * scale * (1 + 1e-11)
        assert amount.relative_width < 1e-5


def test_what_is_never_quiet_keeps_its_line():
    law = LogPhi(((TwoPoint(Plain(0.5)), 40),))
    assert negligible_from(law, 0.5, 0.1, 20_000, -20.0) > 19_000
    assert negligible_from(LogPhi(()), 0.5, 0.1, 20_000, -20.0) == 20_000


@pytest.mark.slow
@pytest.mark.parametrize("kind", [lp.Laplace, lambda scale: lp.RandomizedResponse(0.5 + 0.4 / scale)])
def test_a_thousand_distinct_steps(kind):
    """As sharp as a few, and between compositions of equal ones with a little more and less noise."""
    scales = np.linspace(50.0, 150.0, 1000)
    release = lp.compose([kind(float(scale)) for scale in scales])
    found = release.delta(1.0)
    assert found.width < 1e-6 * found.value
    cells = scales.reshape(20, 50)
    above, below = (lp.compose([50 * kind(float(part[end])) for part in cells]).delta(1.0) for end in (0, -1))
    assert below.lower <= found.upper
    assert found.lower <= above.upper
    assert above.upper < 4 * below.lower


def test_many_atoms_are_bounded_on_blocks_too():
    rng = np.random.default_rng(5)
    q = rng.dirichlet(np.ones(60))
    p = q * np.exp(rng.normal(0, 0.5, 60))
    p /= p.sum()
    law = Finite(tuple(p.tolist()), tuple(q.tolist()))
    loss = np.log(p) - np.log(q)
    c, radius = 1.7, 0.3
    weights = p * np.exp(c * loss)
    for centres in (0.5 + 2 * radius * np.arange(40.0), np.sort(rng.uniform(1, 60, 30))):
        bounds = law.log_block(c, centres, radius)
        for centre, bound in zip(centres, bounds, strict=True):
            heights = centre + radius * np.linspace(-1, 1, 15)
            truth = np.log(np.abs(np.exp(1j * heights[:, None] * loss) @ weights).max() / weights.sum())
            assert truth <= bound
    # at a point the bound is the value
    sharp = law.log_block(c, np.array([20.0]), 0.0)[0]
    assert sharp == pytest.approx(np.log(np.abs(np.exp(20j * loss) @ weights) / weights.sum()), abs=1e-6)


@pytest.mark.parametrize("signs", [(-1, -1, 1), (1, -1, -1), (-1, 1, 1)])
def test_blocks_hold_for_all_losses_within_their_errors(signs):
    """A large tilt turns the error of a loss into one of its mass."""
    c, error, loss = 300.0, 0.1 / 300, np.array([0.0, 0.1, 1.0])
    p = np.array([0.475, 0.475, 0.05]) * np.exp(-c * loss)
    p /= p.sum()
    q = p * np.exp(-loss)
    law = Finite(tuple(p.tolist()), tuple(q.tolist()), relative_error=error / 2, cell_errors=((1e-16,) * 3, (error,) * 3))
    moved = loss + error * np.array(signs)
    weights = p * np.exp(c * moved)
    for centre in (3.0, 10 * math.pi, 80.0):
        heights = centre + 0.3 * np.linspace(-1, 1, 41)
        truth = np.log(np.abs(np.exp(1j * heights[:, None] * moved) @ weights).max() / weights.sum())
        assert truth <= law.log_block(c, np.array([centre]), 0.3)[0]


@pytest.mark.parametrize(("sigma", "shift"), [(1.3, 1), (7.0, 3)])
def test_blocks_of_a_normal_law_on_the_integers_know_its_period(sigma, shift):
    law, c, rng = NormalOnIntegers(sigma, shift), 0.7, np.random.default_rng(11)
    period = 2 * math.pi * sigma**2 / shift

    def size(t):
        top = math.ceil(13 * sigma) + 3 * shift
        z = mpmath.mpc(c, t)
        tilted = (((x - shift) ** 2 - z * shift * (2 * x - shift)) / (2 * mpmath.mpf(sigma) ** 2) for x in range(-top, top + 1))
        return abs(mpmath.fsum(mpmath.exp(-one) for one in tilted))

    for radius in (0.0, 0.1 * sigma / shift, sigma / shift):
        centres = period * rng.uniform(0, 4, 3)
        bounds = law.log_block(c, centres, radius)
        with mpmath.workdps(DIGITS):
            for centre, bound in zip(centres, bounds, strict=True):
                truth = max(mpmath.log(size(t) / size(0)) for t in centre + radius * np.array([-1, 0.3, 1]))
                # the digits of the sum end there
                assert truth <= max(bound, -50)
                assert radius > 0 or bound <= max(truth, -50) + math.log(2)


def test_of_a_sum_as_many_bounds_are_added_as_suffice():
    ((intervals, _),) = UniformWithAtoms.batched(
        tuple((UniformWithAtoms(Plain(w)), 1) for w in np.linspace(0.5, 0.9, 200).tolist())
    )
    q = (0.2, 0.3, 0.5)
    atoms = LogPhi(tuple((Finite((0.5 + moved, 0.3, 0.2 - moved), q), 1) for moved in np.linspace(0.0, 0.05, 100).tolist()))
    for law in (intervals, atoms, atoms.reflected()):
        whole, some = (law.log_block(0.3, np.linspace(8.9, 9.0, 3000), 0.01, enough) for enough in (-np.inf, -8.0))
        assert (np.maximum(whole, -8.0) == np.maximum(some, -8.0)).all()
        assert (some > whole).any()


@pytest.mark.parametrize("radius", [0.7, math.log(3), np.inf])
def test_a_first_value_of_which_only_the_size_is_known_bounds_nothing(radius):
    """A sum below its own error may be zero, and the ratio to it anything."""
    values = Values(np.array([0j, -30.0 + 0j]), np.array([radius, 1e-12]), np.zeros(2))
    assert log_block(values, 1.0, 1e-6)[0] == 0.0
    known = Values(values.mid, np.array([0.5, 1e-12]), np.zeros(2))
    assert -30 < log_block(known, 1.0, 1e-16)[0] < -20
