"""Random allocation: by quadrature of few batches, the inversion of a Laplace transform, simulation, and its own rules."""

from __future__ import annotations

import math
from itertools import pairwise, product
from typing import Any

import mpmath
import numpy as np
import pytest

import logphi as lp
from directions import DIRECTIONS
from logphi.answers.status import Status
from logphi.arith.protocol import Plain
from logphi.laws.normal.allocated_normal import AllocatedNormal
from logphi.quadrature.values import Line
from logphi.testing import check_mechanism


def two_batches(shift, power):
    """Log E S^w for t = 2: the normal mean splits off, and E cosh(m q / sqrt 2)^w is an integral over q."""
    m, w = mpmath.mpf(shift), mpmath.mpc(power)
    step, end = mpmath.mpf(1) / 16, 14 + int(abs(m * w.real))
    total = mpmath.mpc(0)
    for k in range(-16 * end, 16 * end + 1):
        q = k * step
        total += mpmath.exp(-q * q / 2) * mpmath.cosh(m * q / mpmath.sqrt(2)) ** w
    return w * w * m * m / 4 - w * m * m / 2 + mpmath.log(total * step / mpmath.sqrt(2 * mpmath.pi))


def three_batches(shift, power):
    """The same for t = 3: the mean splits off, and the differences are an integral over a plane."""
    step, end = 0.16, 9.0 + shift * abs(power.real)
    q = step * np.arange(-math.ceil(end / step), math.ceil(end / step) + 1)
    one, other = q[:, None], q[None, :]
    directions = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2.0], [6.0]])
    log_rest = np.log(sum(np.exp(shift * (one * a + other * b)) for a, b in directions.T) / 3)
    total = (np.exp(-(one**2 + other**2) / 2 + power * log_rest)).sum() * step**2 / (2 * np.pi)
    return power * power * shift**2 / 6 - power * shift**2 / 2 + np.log(total)


def put(sigma, batches, strike, digits=22):
    """E[(k - S)_+] by a trapezoidal sum on a hyperbola (Weideman & Trefethen 2007), over trapezoidal sums."""
    with mpmath.workdps(digits):
        m, k, count = 1 / mpmath.mpf(str(sigma)), mpmath.exp(mpmath.mpf(strike)), int(1.15 * digits)
        step, angle, size = mpmath.mpf("1.0818") / count, mpmath.mpf("1.1721"), mpmath.mpf("4.4921") * count / k
        total = mpmath.mpc(0)
        for j in range(count + 1):
            u = size * (1 + mpmath.sin(1j * j * step - angle))
            slope = size * 1j * mpmath.cos(1j * j * step - angle)
            value = mpmath.exp(u * k) * laplace(u / batches, m) ** batches / u**2 * slope
            total += value if j else value / 2
        return 2 * (total / 1j * step / (2 * mpmath.pi)).real


def laplace(u, m):
    """E e^{-uY}, the normal variable moved so that uY is positive."""
    turn, size = mpmath.arg(u), abs(u)
    moved = -turn / m
    distance = min((mpmath.pi / 2 - mpmath.mpf("0.35")) / m, mpmath.mpf(3))
    digits = mpmath.mp.dps * mpmath.log(10)
    step = 2 * mpmath.pi * distance / (digits + (abs(moved) + distance) ** 2 / 2 + 3)
    end = mpmath.sqrt(2 * (digits + moved**2 / 2))
    total = mpmath.mpc(0)
    for k in range(int(-(end + mpmath.log(1 + size) / m + 1) / step), int((end + 1) / step)):
        x = k * step
        y = size * mpmath.exp(m * x - m * m / 2)
        if y < 1.2 * digits:
            total += mpmath.exp(-((x + 1j * moved) ** 2) / 2 - y)
    return total * step / mpmath.sqrt(2 * mpmath.pi)


@pytest.mark.few(5)
@pytest.mark.parametrize("shift", [0.4, 1.0, 2.75])
@pytest.mark.parametrize("power", [-3.25, 0.5, 2.75, 4.25])
def test_two_batches_are_an_integral(shift, power):
    law, heights = AllocatedNormal(Plain(shift), 2), np.array([0.0, 0.5, 2.0])
    values = law.log_transform(power - 1 + 1j * heights)
    for height, mid, radius in zip(heights, values.mid, values.radius, strict=True):
        gap = complex(two_batches(shift, complex(power, height))) - complex(mid)
        turns = round(gap.imag / (2 * math.pi))
        assert abs(gap - 2j * math.pi * turns) <= radius + 1e-14
        assert radius < 1e-10 * math.exp(abs(values.mid[0].real - mid.real))


@pytest.mark.parametrize("shift", [0.5, 1.25])
@pytest.mark.parametrize("power", [-2.5, 1.5, 3.5])
def test_three_batches_are_an_integral_over_a_plane(shift, power):
    law = AllocatedNormal(Plain(shift), 3)
    for height in (0.0, 1.5):
        found = law.log_transform(np.array([power - 1 + 1j * height]))
        gap = np.exp(three_batches(shift, complex(power, height)) - found.mid[0]) - 1
        assert abs(gap) <= np.expm1(found.radius[0]) + 1e-11


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("sigma", "batches", "epsilon"),
    [
        (2, 7, 0.25),
        (1, 2, 1.0),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in [(0.35, 1000, 4.0), (0.5, 30, 2.0), (1, 50, 0.75), (0.3, 3, 9.0)]
        ),
    ],
)
def test_one_epoch_is_the_inversion_of_a_laplace_transform(sigma, batches, epsilon):
    release = lp.Gaussian(sigma=sigma).allocation(batches)
    removed, added = (release.delta(epsilon, direction=one) for one in ("remove", "add"))
    with mpmath.workdps(22):
        call = float(put(sigma, batches, epsilon) + 1 - mpmath.exp(epsilon))
        reverse = float(put(sigma, batches, -epsilon) * mpmath.exp(epsilon))
    for bound, value in ((removed, call), (added, reverse)):
        # the sum itself is known to so many digits
        error = 1e-18 * math.exp(epsilon) + 1e-13 * value
        assert bound.lower - error <= value <= bound.upper + error
        assert bound.width <= 1e-8 * bound.value


def test_many_batches_agree_with_a_simulation():
    sigma, batches, epsilon = 1.0, 100, 0.2
    random = np.random.default_rng(7)
    mean = np.exp(random.standard_normal((40_000, batches)) / sigma - 0.5 / sigma**2).mean(axis=1)
    release = lp.Gaussian(sigma=sigma).allocation(batches)
    removed, added = np.maximum(mean - math.exp(epsilon), 0), np.maximum(1 - math.exp(epsilon) * mean, 0)
    for direction, sample in zip(DIRECTIONS, (removed, added), strict=True):
        bound = release.delta(epsilon, direction=direction)
        assert abs(sample.mean() - bound.value) <= 5 * sample.std() / math.sqrt(sample.size)


def test_epochs_agree_with_a_simulation():
    random = np.random.default_rng(3)
    mean = np.exp(random.standard_normal((200_000, 3, 10)) / 2 - 0.125).mean(axis=2).prod(axis=1)
    sample = np.maximum(mean - math.exp(0.3), 0)
    bound = (3 * lp.Gaussian(sigma=2).allocation(10)).delta(0.3, direction="remove")
    assert abs(sample.mean() - bound.value) <= 5 * sample.std() / math.sqrt(sample.size)


def test_a_line_is_its_points():
    law = AllocatedNormal(Plain(1.25), 40)
    line = Line(2.5, 0.75, 20)
    together, apart = law.on_line(line), law.log_transform(line.points)
    gap = np.abs(np.exp(together.mid - apart.mid) - 1)
    assert (gap <= np.expm1(together.radius + apart.radius) + 1e-15).all()


@pytest.mark.slow
def test_the_conformance_suite_passes():
    check_mechanism(lp.Gaussian(sigma=1).allocation(20))
    check_mechanism(2 * lp.Gaussian(sigma=2, adjacency="add").allocation(3) + lp.Gaussian(sigma=3, adjacency="add"))
    check_mechanism(lp.RandomizedResponse(p=0.7).allocation(5))


def test_one_batch_is_the_release_itself():
    one = lp.Gaussian(sigma=1.1)
    assert one.allocation(1) == one
    assert one.allocation(1, epochs=3) == 3 * one
    assert one.allocation(7, participations=7) == 7 * one
    assert lp.Gaussian(sigma=0).allocation(5).delta(3).upper == 1


def test_batches_that_stay_are_less_noise():
    kept, fresh = lp.Gaussian(sigma=2).allocation(20, epochs=4), 4 * lp.Gaussian(sigma=2).allocation(20)
    less_noise = lp.Gaussian(sigma=1).allocation(20)
    assert kept.epsilon(1e-5).value == pytest.approx(less_noise.epsilon(1e-5).value, rel=1e-11)
    assert kept.epsilon(1e-5).lower > fresh.epsilon(1e-5).upper
    assert kept == (4 * lp.Gaussian(sigma=2)).allocation(20)


def test_several_releases_on_one_allocation_are_one():
    both = (lp.Gaussian(sigma=3) + lp.Gaussian(sigma=4)).allocation(15)
    assert both.delta(1.0).value == pytest.approx(lp.Gaussian(sigma=2.4).allocation(15).delta(1.0).value, rel=1e-11)


def test_several_participations_are_smaller_epochs():
    one: Any = lp.Gaussian(sigma=1.1)
    found = one.allocation(100, participations=3)
    assert found.above == 2 * one.allocation(33) + one.allocation(34)
    assert one.allocation(100, participations=4).above == 4 * one.allocation(25)
    assert found.delta(1.0).upper == found.above.delta(1.0).upper
    # there, a block of one batch hides nothing
    assert one.allocation(3, participations=2).above == one + one.allocation(2)


@pytest.mark.parametrize(
    "release",
    [
        lp.Gaussian(2).allocation(9, participations=2),
        3 * lp.Gaussian(2).allocation(9, participations=2),
        lp.RandomizedResponse(0.6).allocation(6, participations=4),
        lp.Gaussian(2).allocation(9, epochs=2, participations=2),
    ],
    ids=str,
)
def test_several_participations_are_known_by_an_upper_bound(release):
    for found in (release.epsilon(1e-3), release.delta(0.1), release.renyi(2), release.tradeoff(0.1), release.risk.tpr(0.1)):
        assert found.status is Status.DOMINATED
    with pytest.raises(ValueError, match="dominates"):
        release.pdp_delta(0.1)


@pytest.mark.parametrize("base", [lp.RandomizedResponse(0.6), lp.Laplace(5)], ids=str)
def test_several_participations_are_certified_by_the_releases_that_dominate_them(base):
    pytest.importorskip("flint")
    release = base.allocation(6, participations=2)
    made = release.certify(delta=1e-3, digits=3)
    (claim,), ((_, named),) = made.claims, made.releases
    assert [(count, node["name"], node["parameters"]["batches"]) for count, node in named] == [(2, "allocation", "3")]
    assert claim.lower == 0
    assert release.epsilon(1e-3).lower <= float(claim.upper) <= release.epsilon(1e-3).upper * 1.01
    assert lp.verify(made.to_json())


@pytest.mark.parametrize("skew", [0.2, 0.5, 0.8])
def test_lower_ends_of_an_exponential_mechanism_hold_for_fixed_choices(skew):
    """Each member reveals less than the hull, and some member leaks at least as much as the lower end says."""
    bound = lp.ExponentialMechanism(1).allocation(2).delta(0.2, direction="remove")
    p = math.expm1(skew - 1) / math.expm1(-1)
    q = p * math.exp(-skew)
    assert enumerated([p, 1 - p], [q, 1 - q], 2, 0.2, "remove") <= bound.upper
    # chosen after the first output, the best of two members for the second one
    best = max(
        enumerated([b, 1 - b], [b * math.exp(-t), 1 - b * math.exp(-t)], 2, 0.2, "remove")
        for t in np.linspace(0.01, 0.99, 99)
        for b in [math.expm1(t - 1) / math.expm1(-1)]
    )
    assert bound.lower <= best


def test_of_a_bracket_several_participations_have_the_upper_end():
    found = lp.Laplace(5).allocation(6, participations=2).delta(0.1)
    assert found.status is Status.DOMINATED
    assert found.upper == pytest.approx((2 * lp.Laplace(5).allocation(3)).delta(0.1).upper, rel=1e-9)


def test_a_record_in_two_batches_of_three_leaks_less_than_the_bound():
    p, q, k = np.array([0.75, 0.25]), np.array([0.25, 0.75]), math.exp(0.2)
    total = 0.0
    for one in product(range(2), repeat=3):
        mean = sum(math.prod((q if place == left else p)[i] for place, i in enumerate(one)) for left in range(3)) / 3
        total += max(0.0, float(mean - k * math.prod(q[i] for i in one)))
    bound = lp.Discrete(p=p, q=q).allocation(3, participations=2).delta(0.2, direction="remove")
    assert total < bound.upper < 2 * total


def test_a_calibrated_bound_may_not_be_the_best():
    found = lp.calibrate(lambda sigma: lp.Gaussian(sigma).allocation(9, participations=2), epsilon=1, delta=1e-3, rtol=1e-2)
    assert found.status is lp.CalibrationStatus.DOMINATED
    assert found.status.met


def enumerated(p, q, batches, epsilon, direction):
    """The sum over all outcomes of all batches."""
    total = 0.0
    for outcomes in product(range(len(p)), repeat=batches):
        alone = math.prod(q[i] for i in outcomes)
        mixed = math.fsum(p[one] * math.prod(q[i] for k, i in enumerate(outcomes) if k != j) for j, one in enumerate(outcomes))
        with_it, without = (mixed / batches, alone) if direction == "remove" else (alone, mixed / batches)
        total += max(0.0, with_it - math.exp(epsilon) * without)
    return total


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(
    ("p", "q"),
    [
        ((0.75, 0.25), (0.25, 0.75)),
        ((0.5, 0.25, 0.25), (0.25, 0.125, 0.625)),
        ((0.5, 0.5, 0), (0.25, 0.5, 0.25)),
        ((0.5, 0.3, 0.2), (0, 0.5, 0.5)),
    ],
)
def test_few_outcomes_are_listed(p, q, direction):
    for batches, epsilon in ((2, 0.0), (3, 0.1), (5, 0.4)):
        bound = lp.Discrete(p=p, q=q).allocation(batches).delta(epsilon, direction=direction)
        value = enumerated(p, q, batches, epsilon, direction)
        assert bound.lower - 1e-14 <= value <= bound.upper + 1e-14
        assert bound.width <= 1e-12


def test_it_composes_with_other_releases():
    alone = 10 * lp.Gaussian(sigma=2).allocation(10)
    more = alone + lp.Laplace(scale=5) + lp.RandomizedResponse(p=0.6)
    bound = more.epsilon(1e-6)
    assert alone.epsilon(1e-6).upper < bound.lower <= bound.upper < alone.epsilon(1e-6).upper + 0.2 + math.log(1.5)
    # the smaller delta of the same epsilon
    assert more.delta(bound.value).value == pytest.approx(1e-6, rel=1e-4)


def test_more_batches_and_more_noise_cost_less():
    deltas = [lp.Gaussian(sigma=1).allocation(t).delta(0.5) for t in (1, 2, 5, 20, 100)]
    assert all(one.lower > other.upper for one, other in pairwise(deltas))


@pytest.mark.parametrize(
    "text",
    [
        "Gaussian(sigma=1.1).allocation(234)",
        "3 * (Gaussian(sigma=2.0) + Gaussian(sigma=3.0)).allocation(7)",
        "2 * Gaussian(sigma=1.1).allocation(10, participations=3)",
    ],
)
def test_text_and_json_read_back(text):
    release = lp.parse(text)
    assert str(release) == text
    assert lp.from_json(release.to_json()) == release


@pytest.mark.parametrize(
    ("call", "needles"),
    [
        (lambda m: m.allocation(0), ("batches", "0")),
        (lambda m: m.allocation(2.5), ("batches", "integer")),
        (lambda m: m.allocation(3, epochs=0), ("epochs", "0")),
        (lambda m: m.allocation(3, epochs=-1), ("epochs", "-1")),
        (lambda m: m.allocation(3, participations=4), ("participations", "batches=3", "4")),
        (lambda m: m.allocation(3, participations=0), ("participations", "0")),
        (lambda m: lp.Gaussian(sigma=1, adjacency="replace").allocation(3), ("replace", "add/remove")),
        (lambda m: lp.Discrete([0.5, 0.5], [0.25, 0.75]).allocation(3).group(2), ("allocation", "2")),
        (lambda m: lp.Laplace(scale=1).allocation(3).group(2), ("2 records", "mechanism on randomly allocated batches")),
        (lambda m: m.balls_in_bins(3), ("allocation",)),
    ],
)
def test_bad_input_is_refused_by_name(call: Any, needles: Any) -> None:
    with pytest.raises((ValueError, TypeError, AttributeError)) as refusal:
        call(lp.Gaussian(sigma=1))
    assert all(needle in str(refusal.value) for needle in needles)


def test_a_training_run_allocates_afresh_in_each_epoch():
    sizes: dict[str, Any] = {"dataset_size": 1000, "batch_size": 100, "noise_multiplier": 2.0, "sampler": "balls_in_bins"}
    training = lp.dp_sgd(**sizes, epochs=3)
    assert training.epsilon(1e-6).same_as((3 * lp.Gaussian(sigma=2.0).allocation(10)).epsilon(1e-6))
    # an epoch that is begun counts
    assert lp.dp_sgd(**sizes, steps=21).epsilon(1e-6).same_as(training.epsilon(1e-6))
    assert "allocates again" in str(training)
