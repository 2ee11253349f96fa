"""Classical bounds: each formula against an independent one, each bound on its side of the exact answer."""

import itertools
import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import norm

import logphi as lp
from exact import dec
from finite import divergence, hockey_stick
from logphi.algebra.families import hulls_are_loose, terms_of
from logphi.answers.approximation import Approximation
from logphi.answers.display import printed
from logphi.answers.ledger import Entry, Ledger
from logphi.answers.status import Side
from logphi.classical import (
    claim,
    composition,
    concentrated,
    gaussian,
    interval_arithmetic,
    loss_class,
    markov,
    renyi,
    saddle_point,
    sampled_renyi,
)
from logphi.classical.composition import Advanced, Guarantee
from logphi.classical.concentrated import Concentrated
from logphi.classical.divergence_curve import DivergenceCurve
from logphi.classical.loss_class import LossClass
from logphi.classical.renyi import Conversion
from logphi.pairs.pair import UnsupportedError
from refusals import untyped

CONVERSIONS = list(Conversion)
GUESS = Approximation(0.5, "a guess")
# what the searches leave of a minimum
SHARP = 1e-7


# ------------------------------------------------------------------------------------------------ claims


@pytest.mark.parametrize(
    "use",
    [
        Guarantee,
        lambda bound: Guarantee(1.0, bound),
        Concentrated,
        lambda bound: Concentrated(1.0, bound),
        lambda bound: DivergenceCurve.at([2.0], [bound]),
        lambda bound: renyi.delta(lambda order: bound, 1.0),
        lambda bound: renyi.epsilon(2 * DivergenceCurve(lambda order: bound), 0.1),
        lambda bound: sampled_renyi.sampled_divergence([0.1, bound], 0.5),
        lambda bound: sampled_renyi.sampled_curve(lambda order: bound, 0.5, 3),
        lambda bound: LossClass(lp.Bound(1, 1, 1), lp.Bound(1, 1, 1), lp.Bound(0, 0, 0), bound),
    ],
)
def test_an_approximation_is_no_bound(use):
    with pytest.raises(TypeError, match="got an approximation"):
        use(GUESS)
    with pytest.raises(TypeError, match="got a lower one"):
        use(claim.Claim(0.5, Side.LOWER, "x", "y"))
    with pytest.raises(TypeError, match="got 'one'"):
        use("one")


@pytest.mark.parametrize("use", [Guarantee, Concentrated, lambda bound: renyi.delta(lambda order: bound, 1.0)])
def test_an_estimate_is_no_bound(use):
    estimate = lp.Bound(0.1, 0.2, 0.3, ledger=Ledger(rounding=Entry(0.1, proved=False)))
    for one in (estimate, claim.Claim(0.5, Side.UPPER, "x", "y", proved=False)):
        with pytest.raises(TypeError, match="an estimate of an error"):
            use(one)


def test_a_quotient_is_taken_at_the_next_double():
    third, fifth = Fraction(1, 3), Fraction(1, 5)
    assert claim.at_most("x", third) >= third > claim.at_least("x", third)
    assert claim.at_most("x", fifth) > fifth >= claim.at_least("x", fifth)
    assert claim.at_most("x", 10**17 + 1) > 10**17 + 1
    assert claim.at_most("x", 0.1) == claim.at_least("x", 0.1) == 0.1


def test_bounds_and_claims_are_taken_at_their_end():
    assert Guarantee(lp.Bound(0.1, 0.2, 0.3), claim.Claim(0.01, Side.UPPER, "x", "y")) == Guarantee(0.3, 0.01)
    assert Concentrated(lp.Bound(0.1, 0.2, 0.3)).rho == 0.3
    with pytest.raises(ArithmeticError, match="not a number"):
        claim.Claim(math.nan, Side.UPPER, "x", "y")


@pytest.mark.parametrize("value", [1 / 3, 2 / 3, 1e-300 / 7, 123456.789, 0.1, 5e-324, 1.0])
def test_printed_digits_err_to_the_side_of_the_bound(value):
    assert mpf(printed(value, Side.LOWER, 3)) <= mpf(value) <= mpf(printed(value, Side.UPPER, 3))
    assert printed(math.inf, Side.UPPER) == "inf"
    assert "at most 0.3333334" in str(claim.Claim(1 / 3, Side.UPPER, "x", "y"))


@pytest.mark.parametrize("power", [-2000.5, -745, -3.25, 0, 1 / 3, 3, 700, 2000])
def test_ends_are_rounded_outward(power):
    x = interval_arithmetic.intervals().exp(interval_arithmetic.exact(power))
    with mpmath.workdps(80):
        truth = mpmath.exp(mpf(power))
        low, high = interval_arithmetic.down(x), interval_arithmetic.up(x)
        assert mpf(low) <= truth <= mpf(high)
        assert interval_arithmetic.up(-x) == -low
        assert interval_arithmetic.down(-x) == -high
    assert high == low or math.nextafter(low, math.inf) == high
    assert (
        interval_arithmetic.up(interval_arithmetic.decimal(0.1))
        > 0.1
        > interval_arithmetic.down(interval_arithmetic.decimal(0.1))
    )
    # 3e-324 reads back as the least double
    assert interval_arithmetic.decimal(5e-324).a < mpf("3e-324")


# ------------------------------------------------------------------------------------------- composition


def exact_guarantees(parts, epsilon):
    """The exact composition of guarantees, over all subsets: Murtagh & Vadhan."""
    listed = [(dec(e), dec(d)) for e, d, count in parts for _ in range(count)]
    total = mpf(0)
    for signs in itertools.product((1, -1), repeat=len(listed)):
        up = sum(e for (e, _), sign in zip(listed, signs, strict=True) if sign > 0)
        down = sum(e for (e, _), sign in zip(listed, signs, strict=True) if sign < 0)
        total += max(mpf(0), mpmath.exp(up) - mpmath.exp(dec(epsilon) + down))
    pure = total / mpmath.fprod(1 + mpmath.exp(e) for e, _ in listed)
    return 1 - mpmath.fprod(1 - d for _, d in listed) * (1 - pure)


PARTS = [[(0.1, 0.0, 8)], [(0.3, 1e-3, 3), (0.5, 0.0, 2), (0.05, 1e-6, 4)], [(2.0, 0.1, 1)], [(0.01, 1e-9, 10)]]


@pytest.mark.few(1)
@pytest.mark.parametrize("parts", PARTS)
def test_composition_is_above_the_exact_one(parts):
    guarantees = [Guarantee(*part) for part in parts]
    with mpmath.workdps(40):
        for epsilon in (0.0, 0.1, 0.31, 0.8, 2.2, 5.0):
            exact = exact_guarantees(parts, epsilon)
            claims = [composition.basic_delta(guarantees, epsilon)]
            claims += [composition.advanced_delta(guarantees, epsilon, theorem) for theorem in Advanced]
            assert all(mpf(one.value) >= exact for one in claims)
        for delta in (1e-12, 1e-5, 0.01, 0.2, 0.6):
            for theorem in Advanced:
                found = composition.advanced_epsilon(guarantees, delta, theorem).value
                assert found == math.inf or exact_guarantees(parts, found) <= mpf(delta)
            found = composition.basic_epsilon(guarantees, delta).value
            assert found == math.inf or exact_guarantees(parts, found) <= mpf(delta)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("delta", [1e-4, 0.15, 0.5])
def test_advanced_composition_is_its_formula_and_both_forms_agree(parts, delta):
    guarantees = [Guarantee(*part) for part in parts]
    with mpmath.workdps(40):
        survival = mpmath.fprod((1 - dec(d)) ** count for _, d, count in parts)
        slack = 1 - (1 - dec(delta)) / survival
        squares = sum(count * dec(e) ** 2 for e, _, count in parts)
        drifts = (squares / 2, sum(count * dec(e) * mpmath.tanh(dec(e) / 2) for e, _, count in parts))
        for theorem, drift in zip(Advanced, drifts, strict=True):
            found = composition.advanced_epsilon(guarantees, delta, theorem)
            if slack < 0:
                assert found.value == math.inf
                continue
            truth = min(drift + mpmath.sqrt(2 * squares * mpmath.log(1 / slack)), sum(count * dec(e) for e, _, count in parts))
            assert truth <= mpf(found.value) <= truth * (1 + mpf("1e-13"))
            back = composition.advanced_delta(guarantees, found.value, theorem)
            assert back.value == pytest.approx(delta, rel=1e-11) or (back.value < delta and "sum" in back.note)


def test_published_figures_of_composition():
    hundred = [Guarantee(0.1, count=100)]
    assert composition.basic_epsilon(hundred, 1e-6).value == pytest.approx(10)
    assert composition.advanced_epsilon(hundred, 1e-6).value == pytest.approx(5.756522, abs=1e-6)
    ten = [Guarantee(1.0, count=10)]
    # the tail alone gives 20.174271 here
    assert composition.advanced_epsilon(ten, 1e-5).value == 10
    assert concentrated.tail_epsilon(10 * Concentrated.of_pure(1.0), 1e-5).value == pytest.approx(20.174271, abs=1e-6)
    many = [Guarantee(0.1, 1e-7, count=20), Guarantee(0.3, 1e-8, count=5)]
    assert composition.advanced_epsilon(many, 1e-5).value == pytest.approx(3.5, rel=1e-15)
    assert composition.advanced_delta(many, 3.6).value == pytest.approx(20e-7 + 5e-8, rel=1e-6)
    # the slack is what is left of delta
    spent = [Guarantee(0.1, 1e-8, count=100)]
    assert composition.advanced_epsilon(spent, 2e-6).value == pytest.approx(5.756522, abs=1e-5)


def test_corners_of_composition():
    assert composition.basic_epsilon([], 0.0).value == 0
    assert composition.basic_delta([], 0.0).value == 0
    assert composition.advanced_epsilon([], 0.0).value == 0
    assert composition.basic_epsilon([Guarantee(0.3, 1e-5)], 1e-5).value == 0.3
    assert composition.basic_delta([Guarantee(0.3, 1e-5)], 0.3).value == 1e-5
    assert composition.basic_delta([Guarantee(0.3, 1e-5)], 0.29).value == 1
    assert composition.advanced_epsilon([Guarantee(0.3)], 0.0).value == 0.3
    assert composition.advanced_epsilon([Guarantee(0.3, 1e-3)], 1e-4).value == math.inf
    assert composition.advanced_epsilon([Guarantee(0.0, 1.0)], 0.5).value == math.inf
    assert composition.advanced_epsilon([Guarantee(0.0, 1.0)], 1.0).value == 0
    assert composition.advanced_delta([Guarantee(0.3)], -1.0).value == 1
    for bad in ((-0.1, 0), (math.inf, 0), (1.0, 1.5), (1.0, -0.1), (1.0, 0.1, -1)):
        with pytest.raises(ValueError, match=r"must|finite"):
            Guarantee(*bad)
    with pytest.raises(TypeError, match="only guarantees compose here"):
        composition.basic_delta([(0.1, 0.0)], 1.0)  # type: ignore[list-item]


# ---------------------------------------------------------------------------------------- one order of Renyi


def pairs(number, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        size = int(rng.integers(2, 5))
        p, q = (rng.dirichlet(np.full(size, rng.choice([0.5, 1.0, 5.0]))) for _ in "pq")
        yield p, q


@pytest.mark.slow
@pytest.mark.parametrize("number", [6, pytest.param(40, marks=pytest.mark.slow)])
def test_conversions_hold_of_random_pairs(number):
    for index, (p, q) in enumerate(pairs(number)):
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


# ------------------------------------------------------------------------------------------ all orders of Renyi


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


# ------------------------------------------------------------------------------------------------ zCDP


@pytest.mark.parametrize(
    ("release", "rho"),
    [
        (lp.Gaussian(2.0), 1 / 8),
        (lp.RandomizedResponse(0.75), math.log(3) / 2),
        (7 * lp.PureDP(0.3), 7 * 0.3 * math.tanh(0.15)),
        (lp.Laplace(2.0), 0.5 + math.exp(-0.5) - 1),
        (3 * lp.Laplace(1.0) + lp.Gaussian(1.0), 3 * math.exp(-1) + 0.5),
        (lp.Gaussian(1.0).poisson(0.01), 0.5),
        (lp.DiscreteGaussian(2.0), 1 / 8),
    ],
)
def test_rho_is_the_supremum_over_orders(release, rho):
    """Harrison & Manurangsi 2025: the supremum is the Kullback-Leibler divergence for Laplace and randomized response."""
    found = Concentrated.of(release).rho
    assert rho * (1 - 1e-12) <= found <= rho * (1 + 2e-4)


def test_rho_of_a_finite_pair_by_a_grid():
    for p, q in pairs(10, seed=3):
        orders = 1 + np.geomspace(1e-5, 1e4, 4000)
        log = np.log(np.array([p, q]))
        forward = np.logaddexp.reduce(orders[:, None] * log[0] + (1 - orders[:, None]) * log[1], axis=1)
        backward = np.logaddexp.reduce(orders[:, None] * log[1] + (1 - orders[:, None]) * log[0], axis=1)
        truth = (np.maximum(forward, backward) / (orders * (orders - 1))).max()
        found = Concentrated.of(lp.Discrete(list(p / p.sum()), list(q / q.sum()))).rho
        assert truth * (1 - 1e-9) <= found <= truth * (1 + 1e-3)


def test_a_budget_of_one_order_says_nothing_of_the_other():
    release = lp.Discrete([0.977, 0.023], [0.009, 0.991], adjacency="remove")
    budget = Concentrated.of(release)
    assert not (2 * budget + Concentrated(0.1)).both
    assert Concentrated.of(lp.Gaussian(sigma=1), "remove").both
    # H = p - e^eps q of the first cell
    least = 0.977 - math.exp(0.3) * 0.009
    for how in Conversion:
        assert concentrated.delta(budget, 0.3, conversion=how).value >= least
        assert concentrated.epsilon(budget, least * 0.999, conversion=how).value >= 0.3
    with pytest.raises(ValueError, match="both orders"):
        sampled_renyi.sampled_concentrated(Concentrated(0.1, both=False), 0.01)


def test_published_figures_of_concentration():
    for rho, delta, tail, best in ((0.1, 1e-6, 2.450788, 2.141939), (0.5, 1e-5, 5.298526, 4.728387)):
        budget = Concentrated(rho)
        assert concentrated.tail_epsilon(budget, delta).value == pytest.approx(tail, abs=1e-6)
        assert concentrated.epsilon(budget, delta).value == pytest.approx(best, abs=1e-6)
        assert concentrated.tail_delta(budget, tail).value == pytest.approx(delta, rel=1e-5)
        assert (
            concentrated.epsilon(budget, delta, conversion="tradeoff").value
            >= lp.Gaussian(1 / math.sqrt(2 * rho)).epsilon(delta).lower
        )


def test_corners_of_concentration():
    none = Concentrated(0.0)
    assert concentrated.tail_delta(none, 0.1).value == 0
    assert concentrated.tail_epsilon(none, 0.0).value == 0
    assert concentrated.tail_epsilon(Concentrated(0.1), 0.0).value == math.inf
    assert concentrated.tail_delta(Concentrated(0.1, xi=0.2), 0.25).value == 1
    assert (3 * Concentrated(0.1, xi=0.2) + Concentrated(1.0)).xi == pytest.approx(0.6)
    with pytest.raises(ValueError, match="must not be negative"):
        Concentrated(-0.1)
    with pytest.raises(UnsupportedError, match="no rho is known"):
        Concentrated.of(lp.GaussianPair(mean_p=0, sigma_p=1, mean_q=0, sigma_q=2))


# -------------------------------------------------------------------------------------- sampled Renyi divergences


@pytest.mark.parametrize(("rate", "order", "sigma"), [(0.1, 4, 1.0), (0.02, 8, 2.0), (0.5, 3, 0.7)])
def test_sampled_divergence_is_that_of_the_sampled_gaussian(rate, order, sigma):
    found = sampled_renyi.sampled_divergence([k / (2 * sigma**2) for k in range(2, order + 1)], rate).value
    with mpmath.workdps(25):
        q, s = mpf(rate), mpf(sigma)

        def ratio(x):
            return 1 - q + q * mpmath.exp((x - mpf(1) / 2) / s**2)

        places = [-12 * s, 0, 1, order, order + 12 * s]
        for power, exact in ((order, True), (1 - order, False)):
            mean = mpmath.quad(lambda x, power=power: mpmath.npdf(x, 0, s) * ratio(x) ** power, places)
            truth = mpmath.log(mean) / (order - 1)
            assert found >= truth - mpf("1e-15")
            assert not exact or found == pytest.approx(float(truth), rel=1e-12)


def test_sampled_divergence_holds_of_random_pairs_in_both_orders():
    rng = np.random.default_rng(5)
    for p, q in pairs(300, seed=5):
        rate, order = float(rng.choice([0.01, 0.3, 0.9])), int(rng.integers(2, 9))
        base = [max(divergence(p, q, k), divergence(q, p, k)) for k in range(2, order + 1)]
        found = sampled_renyi.sampled_divergence(base, rate).value
        mixed = (1 - rate) * q + rate * p
        assert found >= max(divergence(mixed, q, order), divergence(q, mixed, order)) - 1e-13


@pytest.mark.parametrize("rate", [1e-6, 0.01, 0.3, 0.9, 0.999999])
@pytest.mark.parametrize("order", [2, 3, 7, 64])
def test_the_inequality_behind_the_reversed_order_of_a_sample(rate, order):
    with mpmath.workdps(60):
        q = mpf(rate)
        share = 3 * (1 - q) / (3 + 2 * (order - 2) * q)
        # the slopes agree at r = 1
        slope = (1 - order) * q - share * order * q - (1 - share) * (1 - order * q)
        for power in [*np.linspace(-60, 60, 61), *np.linspace(-0.5, 0.5, 21), 1e-4, -1e-4]:
            r = mpmath.exp(mpf(power))
            w = 1 - q + q * r
            assert w ** (1 - order) <= (
                share * w**order + (1 - share) * r * (1 - q + q / r) ** order + slope * (r - 1) + mpf(10) ** -50
            )


def test_the_analytic_form_is_above_the_sharp_one():
    for rho in (0.01, 0.1, 1.0):
        for rate in (1e-6, 1e-3, 0.01):
            simple = sampled_renyi.sampled_concentrated(Concentrated(rho), rate)
            last = simple.interval[1]
            for order in {2, 3, 5, 17, math.floor(last)}:
                if 2 <= order < min(last, 200):
                    sharp = sampled_renyi.sampled_divergence([rho * k for k in range(2, order + 1)], rate).value
                    assert sharp <= simple.divergence(float(order))
    with pytest.raises(ValueError, match="use sampled_curve"):
        sampled_renyi.sampled_concentrated(Concentrated(2.0), 0.01)
    with pytest.raises(ValueError, match="no order above 1"):
        sampled_renyi.sampled_concentrated(Concentrated(1.0), 0.5)


def test_sampling_at_the_ends_of_the_rate():
    assert sampled_renyi.sampled_divergence([1.0, 1.5], 0.0).value == 0
    assert sampled_renyi.sampled_divergence([1.0, 1.5], 1.0).value == pytest.approx(1.5)
    assert sampled_renyi.sampled_divergence([math.inf], 0.5).value == math.inf
    guarantee = sampled_renyi.sampled_guarantee(Guarantee(1.0, 1e-5, 3), 0.1)
    assert guarantee.count == 3
    assert guarantee.delta == pytest.approx(1e-6)
    assert guarantee.epsilon == pytest.approx(math.log1p(0.1 * math.expm1(1)))


# ------------------------------------------------------------------------------------------ loss classes


@pytest.mark.parametrize(
    ("n", "epsilon", "exact", "normal", "error"),
    [(256, 1.0, 0.3591, 0.3596, 2.98e-2), (64, 2.0, 3.650e-3, 4.041e-3, 5.96e-2), (16, 1.0, 7.667e-4, 1.287e-3, 0.119)],
)
def test_published_figures_of_the_class_of_randomized_response(n, epsilon, exact, normal, error):
    known = LossClass.of((n * lp.PureDP(0.1)).loss_law())
    assert (n * lp.PureDP(0.1)).delta(epsilon).value == pytest.approx(exact, rel=1e-3)
    about = loss_class.normal_delta(known, epsilon)
    assert isinstance(about, Approximation)
    assert about.value == pytest.approx(normal, rel=1e-3)
    above = loss_class.berry_esseen_delta(known, epsilon).value
    assert above - about.value == pytest.approx(error, rel=5e-3)


def third_of(release):
    return loss_class.third(release.loss_law().terms[0][0])


def is_just_above(bound, truth):
    assert truth * (1 - 1e-12) <= bound <= truth * (1 + 1e-4)


@pytest.mark.parametrize("scale", [1e-20, 1e-6, 1e-3, 1.0, 30.0])
def test_third_moments_of_normal_losses(scale):
    is_just_above(third_of(lp.Gaussian(1 / scale)), math.sqrt(8 / math.pi) * scale**3)


def test_third_moments_of_atoms():
    for one, other in pairs(30, seed=8):
        p, q = one / one.sum(), other / other.sum()
        x = np.log(p / q)
        is_just_above(third_of(lp.Discrete(list(p), list(q))), p @ np.abs(x - p @ x) ** 3)


def test_third_moments_are_those_of_the_finite_part():
    t = 0.7
    up = 1 / (1 + math.exp(-t))
    truth = 4 * t**3 * 2 * (up * (1 - up) ** 3 + (1 - up) * up**3)
    is_just_above(third_of(lp.ApproximateDP(t, 0.2)), truth)


@pytest.mark.parametrize("t", [0.01, 0.5, 5.0])
def test_third_moments_of_laplace_losses(t):
    """Two atoms and the density e^{(x - t)/2} / 4 between them."""
    with mpmath.workdps(30):
        mean = t - 1 + mpmath.exp(-t)
        inside = mpmath.quad(lambda x: abs(x - mean) ** 3 * mpmath.exp((x - t) / 2) / 4, [-t, mean, t])
        truth = inside + abs(t - mean) ** 3 / 2 + abs(t + mean) ** 3 * mpmath.exp(-t) / 2
    is_just_above(third_of(lp.Laplace(1 / t)), float(truth))


@pytest.mark.parametrize(("rate", "sigma"), [(0.01, 4.0), (0.3, 0.7)])
@pytest.mark.parametrize("reflected", [False, True])
def test_third_moments_of_sampled_losses(rate, sigma, reflected):
    law = lp.Gaussian(sigma).poisson(rate).loss_law().terms[0][0]
    x = np.linspace(-14, 14 + 1 / sigma, 400_001) * sigma
    p, q = (1 - rate) * norm.pdf(x, 0, sigma) + rate * norm.pdf(x, 1, sigma), norm.pdf(x, 0, sigma)
    under, loss = (q, np.log(q / p)) if reflected else (p, np.log(p / q))
    mean = np.trapezoid(under * loss, x)
    is_just_above(
        loss_class.third(law.reflected() if reflected else law), float(np.trapezoid(under * np.abs(loss - mean) ** 3, x))
    )


def test_third_moments_that_do_not_exist():
    assert third_of(cauchy()) >= 0


def test_third_moments_of_losses_that_are_all_but_nothing():
    """Nearly normal, of deviation rate / sigma; the quick bound is sqrt(3) times its cube."""
    tiny = 1e-4 / 40
    assert tiny**3 * math.sqrt(8 / math.pi) <= third_of(lp.Gaussian(40.0).poisson(1e-4)) <= 1.74 * tiny**3


def test_many_losses_are_bounded_quickly():
    many = lp.compose([lp.Laplace(1 + k / 10) for k in range(20)])
    exact = math.fsum(loss_class.third(law) for law, _ in many.loss_law().terms)
    assert exact <= LossClass.of(many.loss_law()).third <= 1.1 * exact


def test_the_theorem_by_its_formula():
    """[PLC] Theorem 6, its terms by scipy."""
    release, n, epsilon = 400 * lp.ApproximateDP(0.1, 1e-5), 400, 8.0
    (known,) = loss_class.classes(release)
    up = 1 / (1 + math.exp(-0.1))
    mu, s = 0.1 * (2 * up - 1), 0.2 * math.sqrt(up * (1 - up))
    gamma = up * (0.1 - mu) ** 3 + (1 - up) * (0.1 + mu) ** 3
    mass = 1 - (1 - 1e-5) ** n
    z = (epsilon - n * mu) / (math.sqrt(n) * s)
    lifted = math.exp(epsilon - n * mu + n * s * s / 2) * norm.sf(z + math.sqrt(n) * s)
    middle = mass + (1 - mass) * (norm.sf(z) - lifted)
    errors = [(1 - mass) * c * gamma / (s**3 * math.sqrt(n)) for c in (0.4748, 25.80 / (1 + z**3))]
    for of, error in zip((loss_class.berry_esseen_delta, loss_class.nagaev_delta), errors, strict=True):
        assert of(known, epsilon).value == pytest.approx(middle + error, rel=1e-4)
    assert loss_class.class_delta(known, epsilon).value == pytest.approx(middle + min(errors), rel=1e-4)
    assert loss_class.class_delta(known, epsilon, Side.LOWER).value == max(mass * (1 - 1e-9), known.infinite_mass.lower)


def test_markov_bounds_far_away():
    release = lp.Gaussian(1.0)
    assert markov.delta(release, 1.7e308).value == pytest.approx(0, abs=1e-200)
    assert markov.delta(release, -1.7e308).value == 1
    assert markov.delta(release, 1.0, points=[1.7e308, -1.7e308]).value >= release.delta(1.0).lower


def test_published_figures_of_sampled_gradients():
    """[PLC] Figure 7, left, at epsilon 2."""
    known = loss_class.classes(65536 * lp.Gaussian(4.0).poisson(0.01))
    assert max(float(loss_class.nagaev_delta(one, 2.0)) for one in known) == pytest.approx(0.00861, abs=5e-6)
    assert max(float(loss_class.berry_esseen_delta(one, 2.0)) for one in known) == pytest.approx(0.00375, abs=5e-6)


def test_a_bound_of_the_inner_distribution_becomes_one_of_the_whole():
    release = 30 * lp.ApproximateDP(0.2, 1e-3)
    inner = (30 * lp.PureDP(0.2)).delta(1.0)
    whole = loss_class.whole_delta(inner, release.loss.infinite_mass)
    assert whole.side is Side.UPPER
    assert whole.value == pytest.approx(release.delta(1.0).value, rel=1e-8)
    for wrong in (-0.1, 1.5, math.nan):
        with pytest.raises(ValueError, match="inner"):
            loss_class.whole_delta(wrong, release.loss.infinite_mass)
    with pytest.raises(TypeError, match="approximation"):
        untyped(loss_class.whole_delta)(GUESS, release.loss.infinite_mass)
    with pytest.raises(ValueError, match="infinite_mass"):
        loss_class.whole_delta(0.5, -0.1)
    # an upper end may be rounded beyond one
    assert loss_class.whole_delta(0.5, 1.000000000000001).value == 1
    assert loss_class.whole_delta(0.5, lp.Bound(0.1, 0.2, 0.3)).value == pytest.approx(0.65)


def test_a_class_needs_both_ends():
    ones = lp.Bound(1, 1, 1)
    for wrong in (GUESS, 1.0, claim.Claim(0.5, Side.UPPER, "x", "y")):
        with pytest.raises(TypeError, match="variance must be a Bound"):
            untyped(LossClass)(ones, wrong, lp.Bound(0, 0, 0), 1.0)


def test_the_third_moment_of_tiny_losses_is_above_zero():
    """Where doubles hold the variance and not its power 3/2."""
    for law in [law for law, _ in lp.PureDP(1e-100).poisson(1e-9).loss_law().terms]:
        assert loss_class.third(law) >= 1e-300
    assert loss_class.third(lp.ApproximateDP(0.0, 0.5).loss_law().terms[0][0]) == 0


# ------------------------------------------------------------------------------------------ Markov's bounds of the tail


def by_the_theorem(log_moment, epsilon, points):
    """[PLC] Theorem 3 as its proof has it, T by a search."""
    y = [epsilon, *points]

    def tail(at):
        found = minimize_scalar(lambda t: log_moment(math.exp(t)) - math.exp(t) * at, bounds=(-8, 8), method="bounded")
        return min(1.0, math.exp(found.fun))

    tails = [tail(at) for at in y]
    return tails[-1] + sum((1 - math.exp(epsilon - y[i])) * (tails[i - 1] - tails[i]) for i in range(1, len(y)))


@pytest.mark.parametrize("points", [[], [2.0], [1.5, 2.0, 3.0, 4.5, 6.0], list(np.linspace(1.01, 8, 200))])
def test_the_markov_bound_is_its_theorem(points):
    def log_moment(z):
        up = 1 / (1 + math.exp(-0.1))
        return 100 * math.log(up * math.exp(0.1 * z) + (1 - up) * math.exp(-0.1 * z))

    found = markov.delta(100 * lp.PureDP(0.1), 1.0, points=points)
    truth = by_the_theorem(log_moment, 1.0, points)
    assert truth * (1 - 1e-6) <= found.value <= truth * 1.02


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("release", "epsilon"),
    [
        (lp.Gaussian(1.0), 2.0),
        (500 * lp.Laplace(40.0), 0.7),
        (100 * lp.ApproximateDP(0.1, 1e-6), 1.0),
        (30 * lp.RandomizedResponse(0.6), 2.0),
        (lp.GaussianPair(0, 1, 0, 2), 1.0),
        (4096 * lp.Gaussian(4.0).poisson(0.01), 0.7),
        (10**6 * lp.Gaussian(9e5), 1e-3),
    ],
    ids=repr,
)
def test_the_markov_bound_is_between_two_conversions(release, epsilon):
    found = markov.delta(release, epsilon)
    assert release.delta(epsilon).upper <= found.value
    assert renyi.delta(release, epsilon, conversion="canonne").value * (1 - 1e-9) <= found.value
    assert found.value <= renyi.delta(release, epsilon, conversion="mironov").value * (1 + 1e-9)
    level = found.value if found.value < 0.5 else 0.1
    back = markov.epsilon(release, level)
    assert back.value >= release.epsilon(level).lower
    assert markov.delta(release, back.value).value <= level * 1.01


def test_corners_of_the_markov_bound():
    assert lp.Gaussian(1.0).delta(-3.0).upper <= markov.delta(lp.Gaussian(1.0), -3.0).value <= 1
    assert markov.delta(0 * lp.Gaussian(1.0), 0.5).value <= 1e-290
    assert markov.epsilon(lp.Gaussian(1.0), 1.0).value == 0
    assert markov.epsilon(lp.Gaussian(1.0), 0.0).value == math.inf
    assert markov.epsilon(lp.ApproximateDP(0.1, 0.01), 0.01).value == math.inf
    assert markov.delta(cauchy(), 1.0).value == 1
    few = markov.delta(DivergenceCurve.at([2.0, 8.0], [0.1, 0.4]), 2.0)
    assert few.value <= math.exp(7 * (0.4 - 2.0)) * (1 + 1e-9)
    assert few.value >= renyi.delta(DivergenceCurve.at([2.0, 8.0], [0.1, 0.4]), 2.0, conversion="canonne").value


def test_bad_input_of_the_markov_bound():
    for wrong in (math.nan, math.inf, "1"):
        with pytest.raises((ValueError, TypeError), match="epsilon"):
            untyped(markov.delta)(lp.Gaussian(1.0), wrong)
        with pytest.raises((ValueError, TypeError), match="points"):
            markov.delta(lp.Gaussian(1.0), 1.0, points=[2.0, wrong])
    with pytest.raises(ValueError, match="delta"):
        markov.epsilon(lp.Gaussian(1.0), 2.0)
    with pytest.raises(TypeError, match="a mechanism"):
        untyped(markov.delta)(3.0, 1.0)


def test_the_class_without_variance():
    nothing = LossClass.of((0 * lp.Gaussian(1.0)).loss_law())
    assert loss_class.berry_esseen_delta(nothing, 0.5).value == 1
    assert loss_class.normal_delta(nothing, 0.5).value == 0
    assert loss_class.berry_esseen_epsilon(nothing, 0.5).value == math.inf


# ------------------------------------------------------------------------------------------ the Gaussian


@pytest.mark.parametrize(("sigma", "epsilon", "count"), [(1.0, 0.277, 1), (50.0, 1.0, 1000), (0.1, 30.0, 1), (3.0, -0.5, 2)])
def test_the_gaussian_in_closed_form(sigma, epsilon, count):
    with mpmath.workdps(40):
        mu, e = mpmath.sqrt(count) / dec(sigma), dec(epsilon)
        adp = mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)
        found = gaussian.gaussian_adp(sigma, epsilon, count=count)
        assert found.lower <= adp <= found.upper
        assert found.width <= 1e-13 * found.value
        if epsilon >= 0:
            pdp = gaussian.gaussian_pdp(sigma, epsilon, count=count)
            assert pdp.lower <= mpmath.ncdf(mu / 2 - e / mu) <= pdp.upper
            assert found.upper <= pdp.lower
    assert (count * lp.Gaussian(sigma)).delta(epsilon).value == pytest.approx(found.value, rel=1e-9)


@pytest.mark.few(3)
@pytest.mark.parametrize("power", [-300, -100, -20, -8, 8, 20, 60, 100, 300])
@pytest.mark.parametrize("ahead", [-60.0, -44.0, -1.0, 0.0, 0.5, 37.0])
def test_the_gaussian_in_closed_form_where_digits_cancel(power, ahead):
    with mpmath.workdps(700):
        mu = 1 / dec(float(f"1e{power}"))
        epsilon = float(mu * ahead + mu * mu / 2) if power > -150 else 5e299
        x, y = (epsilon / mu + side * mu / 2 for side in (-1, 1))
        found = gaussian.gaussian_adp(float(f"1e{power}"), epsilon)
        if y > 1e6:
            # 1 / y - 1 / y^3 < tail / density < 1 / y
            density = mpmath.npdf(x)
            tail = mpmath.ncdf(-x) if abs(x) < 100 else mpf(x < 0)
            assert found.lower <= max(tail - density * (1 / y - 1 / y**3), 0)
            assert found.upper >= tail - density / y
        else:
            assert found.lower <= mpmath.ncdf(-x) - mpmath.exp(mpf(epsilon)) * mpmath.ncdf(-y) <= found.upper
        # half an ulp of epsilon moves the threshold by more than the deviation for huge mu
        assert power < 0 or found.width <= 1e-12 * found.value + 5e-324
        assert math.copysign(1, found.upper) == 1
    assert gaussian.gaussian_adp(1e-20, 1e300).upper == 5e-324


def test_large_whole_numbers_are_decimals_too():
    interval = interval_arithmetic.decimal(1e23)
    assert interval.a <= 10**23 <= interval.b
    assert interval_arithmetic.decimal(2.0**53).delta == 0


@pytest.mark.parametrize(
    ("count", "epsilon", "delta", "sigma"),
    [
        (1, 1.0, 1e-5, 4.379070),
        (64, 0.5, 1e-6, 76.887177),
        (512, 0.3, 1e-4, 283.515618),
        (1, 1.0, 0.9, None),
        (1, 5.0, 1e-200, None),
    ],
)
def test_the_noise_for_probabilistic_privacy(count, epsilon, delta, sigma):
    found = gaussian.gaussian_pdp_sigma(epsilon, delta, count=count)
    assert sigma is None or found.value == pytest.approx(sigma, abs=1e-6)
    assert gaussian.gaussian_pdp(found.value, epsilon, count=count).lower <= delta
    assert gaussian.gaussian_pdp(found.value * (1 - 1e-12), epsilon, count=count).upper >= delta
    with mpmath.workdps(40):
        mu = mpmath.sqrt(count) / mpf(found.value)
        assert mpmath.ncdf(mu / 2 - mpf(epsilon) / mu) <= mpf(delta) * (1 + mpf("1e-15"))


# ------------------------------------------------------------------------------------------ the saddle point


@pytest.mark.parametrize(
    ("release", "epsilon", "width"),
    [
        (14062 * lp.Gaussian(1.1).poisson(256 / 60000), 2.0, 1e-3),
        (200 * lp.Laplace(10.0), 2.0, 7e-3),
        (100 * lp.Gaussian(10.0) + 10 * lp.ApproximateDP(0.1, 1e-6), 3.0, 2e-3),
    ],
)
def test_the_saddle_point_is_near_and_no_bound(release, epsilon, width):
    exact = release.delta(epsilon).value
    about = saddle_point.saddle_point_delta(release.loss_law(), epsilon)
    assert isinstance(about, Approximation)
    assert about.value == pytest.approx(exact, rel=width)
    plain = saddle_point.saddle_point_delta(release.loss_law(), epsilon, corrected=False).value
    assert abs(about.value - exact) < abs(plain - exact)
    back = saddle_point.saddle_point_epsilon(release.loss_law(), about.value).value
    assert back == pytest.approx(epsilon, abs=1e-6)


def cauchy():
    """The Cauchy law against the normal one: no divergence of an order above one is finite, in either order."""
    return lp.FromDensities(
        lambda x: -np.log(np.pi * (1 + x * x)), lambda x: -x * x / 2 - math.log(2 * math.pi) / 2, (-np.inf, np.inf)
    )


@pytest.mark.slow
def test_orders_below_one_alone_promise_something():
    found = renyi.delta(cauchy(), 1.0)
    # the total variation is more than the profile at one; the errors of a quadrature are estimates
    assert 0.15 < found.value < 0.25
    assert not found.proved
    assert renyi.delta(cauchy(), 1.0, conversion="canonne").value == 1
    assert renyi.epsilon(cauchy(), 0.3, conversion="canonne").value == math.inf
    assert renyi.epsilon(cauchy(), found.value).value == pytest.approx(1.0, abs=1e-6)
    with pytest.raises(UnsupportedError, match="samples of its densities only"):
        Concentrated.of(cauchy())


def test_the_saddle_point_needs_an_order_above_one():
    pair = cauchy()
    with pytest.raises(UnsupportedError, match="order above 1"):
        saddle_point.saddle_point_delta(pair.loss_law(), 1.0)


# --------------------------------------------------------------------------- random compositions, all on their side


def primitives(rng):
    def between(low, high):
        return float(np.exp(rng.uniform(math.log(low), math.log(high))))

    p, q = next(pairs(1, seed=int(rng.integers(1 << 30))))
    return [
        lambda: lp.Gaussian(between(0.5, 100)),
        lambda: lp.Laplace(between(0.3, 100)),
        lambda: lp.RandomizedResponse(float(rng.uniform(0.501, 0.95))),
        lambda: lp.Gaussian(between(0.6, 5)).poisson(between(1e-3, 0.5)),
        lambda: lp.ApproximateDP(between(0.01, 2), between(1e-9, 0.01)),
        lambda: lp.Discrete(list(p / p.sum()), list(q / q.sum())),
        lambda: lp.DiscreteLaplace(between(0.5, 20)),
        lambda: lp.ExponentialMechanism(between(0.05, 2)),
        lambda: lp.DiscreteGaussian(between(1, 20)),
    ]


def compositions(number, seed):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        kinds = rng.choice(9, size=int(rng.integers(1, 3)), replace=False)
        counts = [int(10 ** rng.uniform(0, 4)) for _ in kinds]
        yield lp.compose([count * primitives(rng)[kind]() for kind, count in zip(kinds, counts, strict=True)]), rng


def classes(release):
    return [LossClass.of(law) for law in {release.loss_law(), release.loss_law().reflected()}]


def sides(release):
    """A lower bound for the hulls is not one for mechanisms that are chosen adaptively."""
    return [side for side in Side if side is not Side.LOWER or not hulls_are_loose(terms_of(release))]


def claims_of(release, epsilon, conversions):
    """Every claim about delta; the larger of both orders of the pair where the claim is of one."""
    yield from (renyi.delta(release, epsilon, conversion=one) for one in conversions)
    yield markov.delta(release, epsilon)
    budget, known = Concentrated.of(release), classes(release)
    yield concentrated.tail_delta(budget, epsilon)
    yield concentrated.delta(budget, epsilon)
    for side in sides(release):
        for method in (loss_class.berry_esseen_delta, loss_class.nagaev_delta, loss_class.class_delta):
            yield max((method(one, epsilon, side) for one in known), key=float)


def claims_of_epsilon(release, delta, conversions):
    yield from (renyi.epsilon(release, delta, conversion=one) for one in conversions)
    budget, known = Concentrated.of(release), classes(release)
    yield concentrated.tail_epsilon(budget, delta)
    yield concentrated.epsilon(budget, delta)
    for side in sides(release):
        yield max((loss_class.berry_esseen_epsilon(one, delta, side) for one in known), key=float)


def on_their_side(claims, exact):
    for one in claims:
        if one.side is Side.UPPER:
            assert one.value >= exact.lower, one
        else:
            assert one.value <= exact.upper, one


QUICK = (Conversion.MIRONOV, Conversion.CANONNE)


def check_random(number, seed, conversions):
    for release, rng in compositions(number, seed):
        epsilon = float(rng.choice([0.0, rng.uniform(0, 10), 10 ** rng.uniform(-3, 1)]))
        on_their_side(claims_of(release, epsilon, conversions), release.delta(epsilon))


def check_random_epsilon(number, seed, conversions):
    for release, rng in compositions(number, seed):
        delta = float(10 ** rng.uniform(-12, -0.3))
        on_their_side(claims_of_epsilon(release, delta, conversions), release.epsilon(delta))


@pytest.mark.slow
def test_random_compositions():
    check_random(2, 11, QUICK)
    check_random_epsilon(1, 13, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 104))
def test_many_random_compositions(seed):
    check_random(15, seed, CONVERSIONS)
    check_random_epsilon(5, seed + 1000, CONVERSIONS)


@pytest.mark.slow
def test_small_deltas_keep_their_side():
    for release in (lp.Gaussian(10.0), 100 * lp.Laplace(10.0), 10 * lp.Gaussian(2.0).poisson(0.01)):
        for epsilon in (0.5, 3.0, 8.0):
            exact = release.log_delta(epsilon)
            for one in CONVERSIONS:
                claimed = renyi.delta(release, epsilon, conversion=one).value
                assert claimed > 0
                assert math.log(claimed) >= exact.lower


def test_normal_numbers_agree_with_scipy():
    known = LossClass(lp.Bound(0.3, 0.3, 0.3), lp.Bound(0.9, 0.9, 0.9), lp.Bound(0, 0, 0), 1.0)
    s, m, e = math.sqrt(0.9), 0.3, 0.5
    truth = norm.sf((e - m) / s) - math.exp(e - m + 0.45) * norm.sf((e - m) / s + s)
    assert loss_class.normal_delta(known, e).value == pytest.approx(truth, rel=1e-12)


def test_optimal_composition_is_that_of_known_guarantees():
    """Between the engine's exact answer for mechanisms that are guarantees, and advanced composition; and its inverse."""
    guarantees = [Guarantee(0.2, 1e-4, count=12), Guarantee(0.5, 0.0, count=3)]
    release = 12 * lp.ApproximateDP(epsilon=0.2, delta=1e-4) + 3 * lp.PureDP(epsilon=0.5)
    for at in (0.0, 0.7, 2.5):
        found = composition.optimal_delta(guarantees, at).value
        assert found == pytest.approx(release.delta(at).value, rel=1e-9)
        assert found >= release.delta(at).lower
        assert found <= composition.advanced_delta(guarantees, at).value
    level = composition.optimal_epsilon(guarantees, 0.01)
    assert level.value == pytest.approx(release.epsilon(0.01).value, abs=1e-8)
    assert level.value >= release.epsilon(0.01).lower
    assert composition.optimal_epsilon(guarantees, 1e-4).value == math.inf
    with pytest.raises(ValueError, match="delta"):
        composition.optimal_epsilon(guarantees, math.nan)


def test_more_digits_of_one_thread_are_no_concern_of_another():
    with interval_arithmetic.digits().workdps(90), ThreadPoolExecutor(1) as other:
        assert other.submit(lambda: interval_arithmetic.digits().dps).result() == 60
