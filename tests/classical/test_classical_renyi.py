"""From Renyi divergences to profiles, by one order and by all: against pairs of laws that attain the bounds."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy.optimize import brentq, minimize_scalar

import logphi as lp
from exact import dec
from finite import divergence, hockey_stick, random_pairs
from logphi.classical import concentrated, loss_class, renyi
from logphi.classical.concentrated import Concentrated
from logphi.classical.divergence_curve import DivergenceCurve
from logphi.classical.loss_class import LossClass
from logphi.classical.renyi import Conversion
from refusals import untyped

CONVERSIONS = list(Conversion)
# what the searches leave of a minimum
SHARP = 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("number", [6, pytest.param(40, marks=pytest.mark.slow)])
def test_conversions_hold_of_random_pairs(number):
    for index, (p, q) in enumerate(random_pairs(number)):
        order = (1.2, 2.0, 5.5, 20.0)[index % 4]
        epsilon = (0.0, 0.2, 1.0)[index % 3]
        known = DivergenceCurve.at([order], [max(divergence(p, q, order), divergence(q, p, order))])
        truth = hockey_stick(p, q, epsilon)
        claims = [renyi.delta(known, epsilon, conversion=one).value for one in CONVERSIONS]
        assert all(claimed >= truth - 1e-15 for claimed in claims)
        assert all(b <= a + 1e-12 for a, b in itertools.pairwise(claims))
        level = max(truth, 1e-3)
        for one in CONVERSIONS:
            found = renyi.epsilon(known, level, conversion=one).value
            assert hockey_stick(p, q, found) <= level + 1e-12


def best_two_points(order, bound, epsilon):
    """The largest p - e^eps q over two-point pairs of a divergence that is bounded, by a nested search."""
    level = math.exp((order - 1) * bound)

    def farthest(q):
        def over(p):
            return p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order) - level

        return brentq(over, q, 1 - 1e-15) if over(1 - 1e-15) > 0 else 1.0

    found = minimize_scalar(
        lambda x: -(farthest(math.exp(x)) - math.exp(epsilon + x)),
        bounds=(-20, -1e-6),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return -found.fun


@pytest.mark.parametrize(
    ("order", "bound", "epsilon"), [(2.0, 0.5, 0.3), (5.0, 1.0, 0.6433), (1.2, 0.001, 0.01), (3.0, 0.2, 1.0), (1.5, 2.0, 0.0)]
)
def test_asoodeh_is_attained_by_two_points(order, bound, epsilon):
    attained = best_two_points(order, bound, epsilon)
    claimed = renyi.delta(DivergenceCurve.at([order], [bound]), epsilon, conversion="asoodeh").value
    assert attained * (1 - 1e-9) <= claimed <= attained * (1 + SHARP)
    back = renyi.epsilon(DivergenceCurve.at([order], [bound]), attained, conversion="asoodeh").value
    assert back == pytest.approx(epsilon, abs=1e-6)


def test_figures_of_one_order():
    table = {(5.0, 1.0, 0.3): 0.67549, (10.0, 0.5, 0.2): 0.31762, (3.0, 1.0, 0.4): 0.50337}
    for (order, bound, delta), canonne in table.items():
        known = DivergenceCurve.at([order], [bound])
        # the best pair is at the corner p = 1, q = e^-D
        assert renyi.epsilon(known, delta, conversion="asoodeh").value == pytest.approx(bound + math.log1p(-delta), abs=1e-8)
        assert renyi.epsilon(known, delta, conversion="canonne").value == pytest.approx(canonne, abs=1e-5)
        with mpmath.workdps(30):
            a, d = dec(order), dec(delta)
            formula = dec(bound) + (mpmath.log(1 / d) + (a - 1) * mpmath.log(1 - 1 / a) - mpmath.log(a)) / (a - 1)
            assert formula <= renyi.epsilon(known, delta, conversion="canonne").value
            plain = dec(bound) + mpmath.log(1 / d) / (a - 1)
            assert plain <= renyi.epsilon(known, delta, conversion="mironov").value <= plain + mpf("1e-13")


@pytest.mark.slow
def test_the_figure_of_zhu_dong_and_wang():
    """Both numbers of [AFA] Figure 1 are of the exact profile; no conversion of the Gaussian's divergences can give them."""
    answer, noise = lp.RandomizedResponse(math.e / (1 + math.e)), lp.Gaussian(1.0)
    assert noise.delta(0.277).upper <= 0.3
    assert noise.epsilon(0.3).value == pytest.approx(0.276617398897, abs=1e-11)
    assert answer.epsilon(0.3).value == pytest.approx(0.471750402699, abs=1e-11)
    assert answer.delta(0.471).lower > 0.3
    # all divergences of the response are below those of the noise: what they imply for the noise holds for the response
    orders = np.array([0.5, 1.5, 2.0, 5.0, 20.0])
    response = np.log((np.exp(orders) + np.exp(1 - orders)) / (1 + math.e)) / (orders - 1)
    assert (response <= orders / 2).all()
    found = {one: renyi.epsilon(noise, 0.3, conversion=one).value for one in CONVERSIONS}
    assert min(found.values()) > 0.4717
    assert found[Conversion.TRADEOFF] == pytest.approx(0.6467, abs=1e-4)
    assert found[Conversion.CANONNE] == pytest.approx(0.81764, abs=1e-5)
    assert found[Conversion.MIRONOV] == pytest.approx(2.05176, abs=1e-5)
    # of the response itself nothing is lost by the trade-off function
    assert renyi.epsilon(answer, 0.3, conversion="tradeoff").value == pytest.approx(0.471750402699, abs=1e-6)
    assert renyi.epsilon(answer, 0.3, conversion="canonne").value == pytest.approx(0.48329, abs=1e-5)


@pytest.mark.few(1)
@pytest.mark.parametrize(("epsilon", "implied"), [(0.0, 0.4703), (0.277, 0.3966), (0.8, 0.2620), (1.5, 0.11663)])
def test_orders_below_one_sharpen_the_trade_off(epsilon, implied):
    """A grid of orders and of types of error, in doubles, beside the claim."""
    claimed = renyi.delta(lp.Gaussian(1.0), epsilon, conversion="tradeoff").value
    assert claimed == pytest.approx(implied, abs=2e-4)
    x = np.linspace(1e-4, 1 - 1e-4, 400)[:, None]
    y = np.linspace(1e-4, 1 - 1e-4, 1500)[None, :]
    allowed = x + y <= 1
    for order in (0.5, 0.7, 0.83, 0.9, 1.05, 1.3, 1.7, 2.5, 4.0):
        size = math.exp((order - 1) * order / 2)
        for first, second in ((x, 1 - y), (1 - y, x)):
            value = first**order * second ** (1 - order) + (1 - first) ** order * (1 - second) ** (1 - order)
            allowed &= (value <= size * (1 + 1e-3)) if order > 1 else (value >= size * (1 - 1e-3))
    grid = np.where(allowed, 1 - y - math.exp(epsilon) * x, -1.0).max()
    assert claimed == pytest.approx(grid, abs=8e-3)
    alone = renyi.delta(lp.Gaussian(1.0), epsilon, conversion="asoodeh").value
    assert claimed <= alone * (1 + 1e-9)
    assert epsilon > 0.5 or claimed < alone - 1e-3


@pytest.mark.few(2)
@pytest.mark.parametrize("orders", [[0.3], [0.3, 0.7], [0.1, 0.808443134199903, 3.0], [0.25, 0.5, 0.75, 2.0]])
def test_a_few_orders_below_one(orders):
    p, q = [mpf("0.38"), mpf("0.62")], [mpf("0.05"), mpf("0.95")]
    bounds = [max(float(divergence(*pair, mpf(order))) for pair in ((p, q), (q, p))) * (1 + 1e-15) for order in orders]
    curve = DivergenceCurve.at(orders, bounds)
    for epsilon in (0.1, 1.0, 4.0):
        for how in Conversion:
            found = renyi.delta(curve, epsilon, conversion=how).value
            assert max(hockey_stick(p, q, mpf(epsilon)), hockey_stick(q, p, mpf(epsilon))) <= found <= 1
    assert renyi.delta(curve, 0.1).value < 1


def test_numbers_of_numpy_are_numbers():
    known = LossClass.of(lp.Laplace(scale=1).loss_law())
    assert untyped(loss_class.berry_esseen_delta)(known, np.int64(3)).value == loss_class.berry_esseen_delta(known, 3).value


@pytest.mark.slow
def test_a_function_of_the_order_is_as_good_as_the_mechanism():
    for one in CONVERSIONS:
        own = renyi.delta(lp.Gaussian(1.0), 0.5, conversion=one).value
        given = renyi.delta(DivergenceCurve(lambda order: order / 2, (0.0, math.inf)), 0.5, conversion=one).value
        assert given == pytest.approx(own, rel=1e-6)
        ten = 10 * DivergenceCurve(lambda order: order / 200, (0.0, math.inf)) + DivergenceCurve(lambda order: 0.45 * order)
        assert renyi.delta(ten, 0.5, conversion=one).value >= own * (1 - 1e-9)


@pytest.mark.slow
def test_infinite_losses_are_set_aside():
    release = lp.Discrete([0.1, 0.5, 0.4, 0.0], [0.0, 0.3, 0.4, 0.3])
    budget = Concentrated.of(release)
    assert (budget.infinite_mass, budget.tilt) == pytest.approx((0.3, -math.log(0.7) + math.log(0.9)))
    for epsilon in (-0.5, 0.0, 0.3, 1.0, 3.0):
        exact = release.delta(epsilon).lower
        for one in CONVERSIONS:
            assert renyi.delta(release, epsilon, conversion=one).value >= exact
            assert concentrated.delta(budget, epsilon, conversion=one).value >= exact
        assert concentrated.tail_delta(budget, epsilon).value >= exact
    assert renyi.delta(release, 3.0).value == pytest.approx(0.3, rel=1e-9)
    assert renyi.epsilon(release, 0.25).value == math.inf
    assert renyi.epsilon(release, 0.31).value >= release.epsilon(0.31).lower
    assert concentrated.epsilon(budget, 0.31).value >= release.epsilon(0.31).lower
    assert concentrated.epsilon(budget, 0.25).value == math.inf
    assert concentrated.tail_epsilon(budget, 0.25).value == math.inf


def test_bad_input_of_the_renyi_accountant():
    with pytest.raises(TypeError, match="a mechanism, a RenyiCurve or a function"):
        untyped(renyi.delta)(3.0, 1.0)
    with pytest.raises(ValueError, match="conversion must be one of 'mironov'"):
        renyi.delta(lp.Gaussian(1.0), 1.0, conversion="nonsense")
    with pytest.raises(ValueError, match="epsilon must be"):
        renyi.delta(lp.Gaussian(1.0), math.nan)
    with pytest.raises(ValueError, match="delta must lie in"):
        renyi.epsilon(lp.Gaussian(1.0), 1.5)
    with pytest.raises(ValueError, match="never negative"):
        renyi.delta(lambda order: -1.0, 1.0)
    with pytest.raises(ValueError, match="other than 1"):
        DivergenceCurve.at([1.0, 2.0], [0.1, 0.2])
    with pytest.raises(ValueError, match="no order in common"):
        DivergenceCurve.at([2.0], [0.1]) + DivergenceCurve.at([3.0], [0.1])
    with pytest.raises(ValueError, match="reaches beyond 1"):
        DivergenceCurve(lambda order: order, (0.2, 0.9))
