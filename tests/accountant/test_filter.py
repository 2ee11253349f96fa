"""Budgets: what is accepted stays within them, whoever chooses, and what is refused leaves no trace."""

import copy
import json
import math
import pickle
import threading
from fractions import Fraction
from functools import lru_cache

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import logphi as lp
from alterations import STRANGE, altered, places, read, with_checksum
from logphi.accountant.rules import NAMES, rule_of
from logphi.algebra.families import family_of
from logphi.engine.log_moment import finite_log_moment
from logphi.expression import parse
from profiles import gaussian_profile
from refusals import refused

TENTH = Fraction(1, 10)
# what doubles lose in the few sums of a game
GAME = 1e-12
# how far below the exact budget a rounded one may be, relatively
ROUNDED = 1e-12
# how far an upper bound of a log-moment may be above it, relatively
SHARP = 1e-10
# how far a cost of many digits is rounded up, relatively
SHORTENED = Fraction(1, 2**254)

MECHANISMS = [
    lp.Gaussian(20),
    lp.Gaussian(7.5, sensitivity=2),
    lp.Gaussian(1.1).poisson(0.01),
    lp.Gaussian(4).poisson(0.01, adjacency="replace"),
    lp.Laplace(12),
    lp.RandomizedResponse(0.52),
    lp.ExponentialMechanism(Fraction(1, 20)),
    lp.PureDP(Fraction(1, 30)),
    lp.ApproximateDP(Fraction(1, 25), Fraction(1, 10**6)),
    lp.DistanceToInstability(0.1, 1e-6),
    lp.DiscreteGaussian(9),
    lp.RandomizedResponse(0.6).poisson(0.1),
]
UNDER_ADD_REMOVE = [one for one in MECHANISMS if one.adjacency is lp.Adjacency.ADD_REMOVE]
GAUSSIANS = [lp.Gaussian(20), lp.Gaussian(Fraction(15, 2), sensitivity=2), lp.Gaussian(51.3)]
budgets = st.builds(
    lambda epsilon, exponent, share: (epsilon, 10.0**exponent, share * 10.0**exponent),
    st.floats(0.05, 3),
    st.floats(-8, -2),
    st.sampled_from([0.0, 0.3, 1.0]),
)
# beside a Gaussian, whose smooth loss makes answers quick
wishes = st.lists(st.tuples(st.sampled_from(UNDER_ADD_REMOVE), st.integers(0, 40)), min_size=1, max_size=4).map(
    lambda steps: [(lp.Gaussian(90), 1), *steps]
)


def spent_from(budget, requests):
    """Whatever of the requests the budget allows."""
    for mechanism, count in requests:
        if budget.can_spend(mechanism, count):
            budget.spend(mechanism, count)
        else:
            before = budget.to_json()
            with pytest.raises(lp.BudgetExceededError):
                budget.spend(mechanism, count)
            assert budget.to_json() == before
    return budget


@settings(max_examples=8)
@given(budgets, wishes)
def test_what_renyi_sums_accept_composes_to_within_the_budget(numbers, requests):
    epsilon, delta, infinite_mass = numbers
    budget = spent_from(lp.PrivacyFilter(epsilon=epsilon, delta=delta, infinite_mass=infinite_mass), requests)
    assert budget.release.delta(epsilon).lower <= delta
    assert budget.release.delta(epsilon).value <= delta * (1 + GAME)


@settings(max_examples=4)
@given(budgets, wishes)
def test_what_a_schedule_accepts_is_proved_to_be_within_the_budget(numbers, requests):
    epsilon, delta, _ = numbers
    budget = spent_from(lp.PrivacyFilter(epsilon=epsilon, delta=delta, rule="schedule"), requests)
    assert budget.release.delta(epsilon).upper <= delta
    assert budget.spent["delta"] == Fraction(budget.release.delta(epsilon).upper) <= budget.budget["delta"]


@settings(max_examples=8)
@given(budgets, st.lists(st.tuples(st.sampled_from(GAUSSIANS), st.integers(0, 40)), max_size=6))
def test_what_squares_of_mu_accept_composes_to_within_the_budget(numbers, requests):
    epsilon, delta, _ = numbers
    budget = spent_from(lp.PrivacyFilter(epsilon=epsilon, delta=delta, rule="gaussian"), requests)
    assert budget.release.delta(epsilon).lower <= delta
    squares = sum(count * (Fraction(one.sensitivity) / Fraction(one.sigma)) ** 2 for one, count in budget.history)
    assert squares <= budget.spent["mu_squared"] <= squares * (1 + SHORTENED)


@settings(max_examples=8)
@given(budgets, st.sampled_from(UNDER_ADD_REMOVE), st.integers(1, 200), st.sampled_from(["renyi", "schedule"]))
def test_less_may_be_spent_wherever_more_may_and_more_of_a_larger_budget(numbers, mechanism, count, rule):
    epsilon, delta, infinite_mass = numbers
    given_up = infinite_mass if rule == "renyi" else 0.0

    def of(epsilon, delta, order=None):
        return lp.PrivacyFilter(epsilon=epsilon, delta=delta, rule=rule, infinite_mass=given_up, order=order)

    budget = of(epsilon, delta)
    if budget.can_spend(mechanism, count):
        assert budget.can_spend(mechanism, count // 2)
        order = json.loads(budget.to_json())["order"]
        assert of(epsilon * 1.1, delta, order).can_spend(mechanism, count)
        if order is not None or rule == "schedule":
            assert of(epsilon, delta * 1.1, order).can_spend(mechanism, count)


# ------------------------------------------------------------------------------------------ whoever chooses


def outcomes(mechanism):
    """Probabilities with the record, and losses."""
    if isinstance(mechanism, lp.RandomizedResponse):
        loss = math.log(mechanism.p / (1 - mechanism.p))
        return [(float(mechanism.p), loss), (1 - mechanism.p, -loss)]
    truth = (1 - mechanism.guaranteed_delta) / (1 + math.exp(-mechanism.guaranteed_epsilon))
    lie = 1 - mechanism.guaranteed_delta - truth
    atoms = [(truth, float(mechanism.guaranteed_epsilon)), (lie, -mechanism.guaranteed_epsilon)]
    return [*atoms, (mechanism.guaranteed_delta, math.inf)]


def worst_case(rule, mechanisms, epsilon, longest):
    """The delta of the adversary who chooses every next step after looking at all outputs, or stops: by going through all."""

    @lru_cache(None)
    def value(used, loss):
        if loss == math.inf:
            return 1.0
        best = -math.expm1(epsilon - loss) if loss > epsilon else 0.0
        if sum(used) == longest:
            return best
        for k in range(len(mechanisms)):
            further = (*used[:k], used[k] + 1, *used[k + 1 :])
            if allowed(further):
                best = max(best, sum(p * value(further, loss + own) for p, own in outcomes(mechanisms[k])))
        return best

    @lru_cache(None)
    def allowed(used):
        state = rule.nothing
        for one, count in zip(mechanisms, used, strict=True):
            state = rule.after(state, one, count) if count else state
        return rule.fits(state)

    return value((0,) * len(mechanisms), 0.0)


responses = st.builds(lp.RandomizedResponse, st.floats(0.52, 0.95))
guarantees = st.builds(lp.ApproximateDP, st.floats(0.01, 1), st.sampled_from([0.0, 1e-3, 0.02]))


@settings(max_examples=30)
@given(
    st.lists(responses | guarantees, min_size=2, max_size=3),
    st.floats(0.05, 2.5),
    st.floats(0.01, 0.6),
    st.sampled_from([0.0, 0.1, 0.5, 1.0]),
)
def test_renyi_sums_hold_against_the_adversary_who_chooses_adaptively(mechanisms, epsilon, delta, share):
    rule = rule_of("renyi", epsilon, delta, None, share * delta)
    assert worst_case(rule, mechanisms, epsilon, 6) <= delta * (1 + GAME)


def test_a_schedule_does_not_hold_against_that_adversary():
    mechanisms = [lp.RandomizedResponse(0.64), lp.RandomizedResponse(0.72)]
    delta = (2 * mechanisms[0] + mechanisms[1]).delta(0.95).upper
    assert worst_case(rule_of("schedule", 0.95, delta, None, 0.0), mechanisms, 0.95, 5) > 1.15 * delta
    assert worst_case(rule_of("renyi", 0.95, delta, None, 0.0), mechanisms, 0.95, 5) <= delta


# --------------------------------------------------------------------------------------------- exact numbers


def test_ten_tenths_are_one_and_nothing_more_fits():
    budget = lp.PrivacyFilter(epsilon=1, delta=0)
    for _ in range(10):
        budget.spend(lp.PureDP(TENTH))
    assert budget.spent["largest_loss"] == budget.budget["largest_loss"] == 1
    assert not budget.can_spend(lp.PureDP(1e-100))
    assert budget.can_spend(lp.PureDP(0))
    assert budget.can_spend(lp.Gaussian(1), 0)


def test_decimals_of_expressions_add_up_and_doubles_are_what_they_are():
    budget = lp.PrivacyFilter(epsilon=Fraction(3, 10), delta=0)
    assert budget.can_spend(parse("3 * PureDP(epsilon=0.1)"))
    assert not budget.can_spend(lp.PureDP(0.1), 3)
    refused(lp.BudgetExceededError, lambda: budget.spend(lp.PureDP(0.1), 3), "largest_loss", "rounding", "Fraction(1, 10)")
    assert not lp.PrivacyFilter(epsilon=1, delta=0).can_spend(lp.PureDP(0.1), 10)


@pytest.mark.parametrize("rule", ["renyi", "schedule"])
@pytest.mark.parametrize(
    "mechanism",
    [lp.PureDP(TENTH), lp.Laplace(10), lp.ExponentialMechanism(TENTH), lp.DiscreteLaplace(20, sensitivity=2)],
)
def test_without_delta_every_rule_sums_the_largest_losses(rule, mechanism):
    budget = lp.PrivacyFilter(epsilon=1, delta=0, rule=rule)
    budget.spend(mechanism, 10)
    assert budget.remaining["largest_loss"] == 0
    assert not budget.can_spend(mechanism)
    assert not budget.can_spend(lp.Gaussian(1e6))


def test_losses_that_stay_within_epsilon_need_no_delta():
    budget = lp.PrivacyFilter(epsilon=1, delta=1e-5)
    budget.spend(lp.PureDP(TENTH), 10)
    assert not budget.can_spend(lp.PureDP(TENTH), 1)
    assert budget.remaining["log_moment"] < 0 == budget.remaining["largest_loss"]


def test_guarantees_add_up_where_all_of_delta_is_set_aside():
    million = Fraction(1, 10**6)
    budget = lp.PrivacyFilter(epsilon=1, delta=10 * million, infinite_mass=10 * million)
    budget.spend(lp.ApproximateDP(TENTH, million), 10)
    assert budget.remaining == {"largest_loss": 0, "infinite_mass": 0}
    refused(lp.BudgetExceededError, lambda: budget.spend(lp.ApproximateDP(0, million)), "infinite_mass of 1e-05 by 1e-06")
    plain = lp.PrivacyFilter(epsilon=1, delta=1e-5)
    refused(lp.BudgetExceededError, lambda: plain.spend(lp.ApproximateDP(TENTH, million)), "infinite_mass=", "nothing")
    # what is set aside already is not asked for
    refused(lp.BudgetExceededError, lambda: budget.spend(lp.ApproximateDP(0, 1e-30)), "infinite_mass", "of rounding")


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_costs_are_those_of_the_definition(mechanism):
    rule = rule_of("renyi", 1.0, 1e-5, 8.5, 0.0)
    for direction, (loss, mass, moment) in rule.after(rule.nothing, mechanism, 1).items():
        name = direction.value
        if mass == 0:
            exact = mechanism.renyi(8.5, direction=name)
            assert exact.lower * 7.5 * (1 - SHARP) <= moment <= exact.upper * 7.5 * (1 + SHARP)
            top = mechanism.max_divergence(direction=name)
            assert top.lower <= loss <= top.upper
        law = mechanism.loss_law() if name == "remove" else mechanism.loss_law().reflected()
        infinite = mechanism.loss.infinite_mass if name == "remove" else mechanism.dual_loss.infinite_mass
        assert infinite.lower <= mass <= infinite.upper
        if family_of(mechanism) is None:
            assert max(0, finite_log_moment(law, 7.5, 1e-12).lower) <= moment


@pytest.mark.parametrize("order", [1.5, 8.5, 60.0])
def test_log_moments_are_the_integrals_they_stand_for(order):
    rule = rule_of("renyi", 1.0, 1e-5, order, 0.0)
    with mpmath.workdps(50):
        z, p, half = mpmath.mpf(order - 1), mpmath.mpf(0.52), mpmath.mpf(1) / 2
        known = {
            lp.Gaussian(20): z * (z + 1) / 800,
            lp.RandomizedResponse(0.52): mpmath.log(p * (p / (1 - p)) ** z + (1 - p) * ((1 - p) / p) ** z),
            # infinite losses left out: K may be negative, and counts as zero then
            lp.ApproximateDP(0.5, 0.125): mpmath.log(
                mpmath.mpf(7) / 8 * (mpmath.exp((z + 1) * half) + mpmath.exp(-z * half)) / (1 + mpmath.exp(half))
            ),
        }
        for mechanism, exact in known.items():
            for _, _, moment in rule.after(rule.nothing, mechanism, 3).values():
                found = mpmath.mpf(moment.numerator) / moment.denominator
                assert max(3 * exact, 0) <= found <= max(3 * exact, 0) * (1 + SHARP)


@pytest.mark.parametrize("order", [1.001, 2.0, 17.7, 1e6])
@pytest.mark.parametrize(
    ("epsilon", "delta", "part"), [(1.0, 1e-5, 0.0), (0.0, 0.5, 0.1), (30.0, 1e-300, 0.0), (0.01, 1e-9, 5e-10)]
)
def test_the_budget_of_log_moments_is_the_exact_one_rounded_down(order, epsilon, delta, part):
    with mpmath.workdps(60):
        z = mpmath.mpf(order - 1)
        exact = z * epsilon + mpmath.log(mpmath.mpf(delta) - mpmath.mpf(part)) - z * mpmath.log(z) + (1 + z) * mpmath.log1p(z)
        found = rule_of("renyi", epsilon, delta, order, part).budget["log_moment"]
        size = 1 + z * epsilon + abs(mpmath.log(delta)) + (1 + z) * mpmath.log1p(1 / z) + mpmath.log1p(z)
        assert 0 <= exact - mpmath.mpf(found.numerator) / found.denominator <= ROUNDED * size


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (0.0, 0.01), (8.0, 1e-10), (0.1, 0.3)])
def test_the_budget_of_squares_is_that_of_the_tight_gaussian(epsilon, delta):
    with mpmath.workdps(40):
        most = lp.PrivacyFilter(epsilon=epsilon, delta=delta, rule="gaussian").budget["mu_squared"]

        def delta_of(square):
            return gaussian_profile(mpmath.sqrt(mpmath.mpf(square.numerator) / square.denominator))(epsilon)

        assert delta_of(most) <= delta < delta_of(most * Fraction(1_000_001, 1_000_000))


def test_the_order_is_about_that_which_holds_most_gaussians():
    chosen = lp.PrivacyFilter(epsilon=1, delta=1e-5)
    order = json.loads(chosen.to_json())["order"]
    most = [_gaussians(lp.PrivacyFilter(epsilon=1, delta=1e-5, order=1 + (order - 1) * by)) for by in (0.5, 0.99, 1, 1.01, 2)]
    assert max(most) <= most[2] * 1.001


def _gaussians(budget):
    """How many very noisy ones it holds."""
    low, high = 0, 10**9
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if budget.can_spend(lp.Gaussian(10_000), middle) else (low, middle)
    return low


# ------------------------------------------------------------------------------------------ refused, and kept


@pytest.mark.parametrize(
    ("arguments", "needle"),
    [
        ({"epsilon": -0.5}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"epsilon": 1e308}, "at most 1e+100"),
        ({"delta": 1}, "delta"),
        ({"delta": -1e-9}, "delta"),
        ({"rule": "zcdp"}, "rule must be one of"),
        ({"rule": "gaussian", "delta": 0}, "delta"),
        ({"rule": "gaussian", "order": 2}, "order"),
        ({"rule": "schedule", "infinite_mass": 1e-6}, "infinite_mass"),
        ({"order": 1}, "order"),
        ({"order": math.nan}, "order"),
        ({"order": 2, "delta": 0}, "order"),
        ({"infinite_mass": 1e-4}, "infinite_mass"),
        ({"delta": TENTH, "infinite_mass": TENTH - Fraction(1, 10**400)}, "less infinite_mass must be 0"),
        ({"delta": TENTH, "infinite_mass": TENTH - Fraction(3, 10**324)}, "less infinite_mass must be 0"),
        ({"adjacency": "both"}, "adjacency"),
    ],
)
def test_a_budget_that_makes_no_sense_is_refused(arguments, needle):
    refused(ValueError, lambda: lp.PrivacyFilter(**{"epsilon": 1, "delta": 1e-5, **arguments}), needle)


@pytest.mark.parametrize("rule", NAMES)
def test_what_cannot_be_spent_raises_and_leaves_no_trace(rule):
    budget = lp.PrivacyFilter(epsilon=1, delta=1e-5, rule=rule)
    budget.spend(lp.Gaussian(100))
    before = budget.to_json()
    logistic = lp.FromDensities(lambda x: -abs(x - 1) - math.log(2), lambda x: -abs(x) - math.log(2), (-np.inf, np.inf), [0, 1])
    for action in (budget.can_spend, budget.spend):
        refused(ValueError, lambda action=action: action(lp.Gaussian(1, adjacency="replace")), "'replace'")
        refused(ValueError, lambda action=action: action(logistic), "FromDensities" if rule == "gaussian" else "estimate")
        refused(TypeError, lambda action=action: action("Gaussian"), "mechanisms")
        refused(ValueError, lambda action=action: action(lp.Gaussian(100), -1), "count")
        if rule == "gaussian":
            refused(ValueError, lambda action=action: action(lp.Laplace(100)), "rule='renyi'")
    refused(lp.BudgetExceededError, lambda: budget.spend(lp.Gaussian(0.01)), "nothing was recorded")
    refused(lp.BudgetExceededError, lambda: budget.spend(lp.Gaussian(100), 10**8), "nothing was recorded")
    assert budget.to_json() == before


@pytest.mark.parametrize("rule", NAMES)
def test_a_resumed_budget_is_the_same(rule, tmp_path):
    budget = lp.PrivacyFilter(epsilon=Fraction(11, 10), delta=1e-5, rule=rule)
    for sigma in (40, 33.3, Fraction(100, 3)):
        budget.spend(lp.Gaussian(sigma), 3)
    budget.save(tmp_path / "budget.json")
    loaded = lp.PrivacyFilter.load(tmp_path / "budget.json")
    for other in (loaded, copy.copy(budget), copy.deepcopy(budget), pickle.loads(pickle.dumps(budget))):
        assert (other.spent, other.budget, other.to_json(), str(other)) == (
            budget.spent,
            budget.budget,
            budget.to_json(),
            str(budget),
        )
        other.spend(lp.Gaussian(50))
        assert other.spent != budget.spent
    assert lp.PrivacyFilter.from_json(lp.PrivacyFilter(epsilon=1, delta=1e-5, rule=rule).to_json()).history == ()


@pytest.mark.parametrize("rule", NAMES)
def test_what_is_not_released_binds_a_budget_to_no_relation(rule):
    replaced = lp.Gaussian(40, adjacency="replace")
    budget = lp.PrivacyFilter(epsilon=1, delta=1e-5, rule=rule)
    budget.spend(lp.Gaussian(40), 0)
    for empty in (budget, lp.PrivacyFilter.from_json(budget.to_json()), copy.copy(budget)):
        assert empty.can_spend(replaced)
        empty.spend(replaced)
        assert empty.adjacency is lp.Adjacency.REPLACE


@pytest.mark.few(1)
@pytest.mark.parametrize(("rule", "made"), [("gaussian", lp.Gaussian), ("renyi", lp.Laplace)])
def test_sums_stay_short_and_above_however_many_different_costs_they_are_of(rule, made):
    budget = lp.PrivacyFilter(epsilon=1000, delta=0.1, rule=rule)
    scales = np.random.default_rng(6).uniform(30, 50, 300).tolist()
    for scale in scales:
        budget.spend(made(scale))
    power, name = (2, "mu_squared") if rule == "gaussian" else (1, "largest_loss")
    spent, exact = budget.spent[name], sum(1 / Fraction(scale) ** power for scale in scales)
    assert isinstance(spent, Fraction)
    assert spent.denominator.bit_length() < 400
    assert exact < spent <= exact * (1 + SHORTENED)


TEXT = lp.PrivacyFilter(epsilon=1, delta=Fraction(1, 10**5)).to_json()
CONTENT = json.loads(TEXT)


@settings(max_examples=150)
@given(st.sampled_from(list(places(CONTENT))), STRANGE | st.sampled_from(["gaussian", "schedule"]))
def test_altered_content_is_refused_in_one_line_or_is_another_budget(path, value):
    text = with_checksum(altered(CONTENT, path, value)) if path else json.dumps(value)
    found = read(lp.PrivacyFilter, text)
    assert found is None or lp.PrivacyFilter.from_json(found.to_json()).to_json() == found.to_json()


def test_a_filter_is_no_accountant_and_an_accountant_no_filter():
    refused(ValueError, lambda: lp.Accountant.from_json(TEXT), "logphi-accountant")
    refused(ValueError, lambda: lp.PrivacyFilter.from_json(lp.Accountant().to_json()), "logphi-filter")


def test_threads_do_not_spend_the_same_budget_twice():
    budget, done = lp.PrivacyFilter(epsilon=1, delta=0), []

    def work():
        for _ in range(30):
            try:
                budget.spend(lp.PureDP(Fraction(1, 50)))
            except lp.BudgetExceededError:
                continue
            done.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 50
    assert budget.remaining["largest_loss"] == 0


def test_the_budget_tells_what_is_spent():
    budget = lp.PrivacyFilter(epsilon=1, delta=1e-5, order=20)
    budget.spend(lp.Gaussian(40), 5)
    assert str(budget).splitlines() == [
        "budget of epsilon=1.0 and delta=1e-05, rule 'renyi' at order 20",
        "  largest_loss: inf of 1 spent",
        "  infinite_mass: 0 of 0 spent",
        "  log_moment: 0.59375 of 11.4574 spent",
    ]
    assert budget.remaining["largest_loss"] == -math.inf
