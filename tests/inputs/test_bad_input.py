"""Bad input is refused in one line that names the value and the rule; odd but lawful input is answered."""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import logphi as lp
from logphi.classical.exact_composition import compose_profiles
from refusals import refused, untyped
from slowly import slowly

NAN, INF = math.nan, math.inf
GAUSSIAN = lp.Gaussian(sigma=2)
# one value of each kind that is no real number, with what the message calls it
NOT_REAL = [
    ("1", "'1'"),
    (True, "True"),
    (None, "None"),
    (1j, "1j"),
    ([1.0], "[1.0]"),
    (np.array([1.0]), "array([1.])"),
]
# parameter, a maker from its value, values outside its range
RANGES: list[tuple[str, Callable[..., Any], Any]] = [
    ("sigma", lp.Gaussian, [-1.5, INF, -INF, NAN]),
    ("sigma", lambda v: lp.GaussianMixture(v, [0, 1, 2], [0.5, 0.25, 0.25]), [-1.5, INF, NAN]),
    ("sensitivity", lambda v: lp.Gaussian(1, sensitivity=v), [-1.5, INF, NAN]),
    ("scale", lp.Laplace, [-1.5, INF, NAN]),
    ("sensitivity", lambda v: lp.Laplace(1, sensitivity=v), [-1.5, INF, NAN]),
    ("p", lp.RandomizedResponse, [1 - 1e-16, -0.5, 1.5, INF, NAN]),
    ("epsilon", lp.PureDP, [-0.5, -INF, NAN]),
    ("epsilon", lambda v: lp.ApproximateDP(v, 0.1), [-0.5, -INF, NAN]),
    ("delta", lambda v: lp.ApproximateDP(1, v), [-0.5, 1.5, INF, NAN]),
    ("epsilon", lp.ExponentialMechanism, [-0.5, INF, NAN]),
    ("rate", GAUSSIAN.poisson, [-0.5, 1.5, INF, NAN]),
    ("rtol", lambda v: GAUSSIAN.delta(1, rtol=v), [0, -1e-9, INF, NAN]),
    ("rtol", lambda v: GAUSSIAN.epsilon(0.1, rtol=v), [0, -1e-9, INF, NAN]),
]


@pytest.mark.parametrize(("name", "make", "value"), [(n, m, v) for n, m, values in RANGES for v in values])
def test_a_value_out_of_range_is_named_with_its_rule(name, make, value):
    number = float(value)
    refused(ValueError, lambda: make(value), name, repr(number), "must")


@pytest.mark.parametrize(("value", "shown"), NOT_REAL)
def test_what_is_no_real_number_is_a_type_error(value, shown):
    for name, make, _ in RANGES:
        # no tolerance is the default one
        if name != "rtol" or value is not None:
            refused(TypeError, partial(make, value), name, "must be", shown, type(value).__name__)


def test_an_integer_beyond_the_doubles_is_refused_as_too_large():
    refused(ValueError, lambda: lp.Gaussian(10**400), "sigma", "finite")


@pytest.mark.parametrize("value", [Fraction(10**400), Decimal("1e5000"), Decimal("1e-5000"), [0.1, Fraction(10**400)]])
@pytest.mark.parametrize("question", ["delta", "hockey_stick", "renyi", "phi", "tradeoff"])
def test_a_question_outside_the_range_of_doubles_is_refused(question, value):
    refused(ValueError, lambda: getattr(GAUSSIAN, question)(value), "must be", "range of doubles")


def test_questions_that_are_no_arrays_are_refused_by_name():
    for question, name in (("hockey_stick", "order"), ("renyi", "order"), ("phi", "t"), ("tradeoff", "type_one_error")):
        refused(TypeError, partial(getattr(GAUSSIAN, question), [[1], [2, 3]]), name, "must be", "[[1], [2, 3]]")
    refused(ValueError, lambda: GAUSSIAN.phi(10**400), "t must be", "range of doubles")
    # whose entries are numbers
    refused(TypeError, lambda: GAUSSIAN.certify(epsilon=b"1"), "epsilon", "must be", "b'1'")


@pytest.mark.parametrize("value", [np.float32(2), np.float64(2), np.int64(2), 2])
def test_any_real_scalar_is_a_parameter(value):
    assert lp.Gaussian(value) == GAUSSIAN


@pytest.mark.parametrize("value", [True, np.True_, "a", None, 1j])
def test_a_count_that_is_no_number_is_a_type_error(value):
    refused(TypeError, lambda: GAUSSIAN * value, "number of repetitions", "integer", repr(value))


def test_a_negative_count_is_refused():
    refused(ValueError, lambda: -1 * GAUSSIAN, "number of repetitions", "negative", "-1")


@pytest.mark.parametrize("mechanism", [lp.Gaussian(2), lp.RandomizedResponse(0.6), lp.Laplace(3), lp.PureDP(1)])
def test_a_count_beyond_the_doubles_is_refused_by_value_and_rule(mechanism):
    refused(ValueError, lambda: (10**400 * mechanism).delta(1), "repetitions", "must")


@pytest.mark.parametrize("count", [0, np.int64(0)])
def test_no_repetition_leaks_nothing(count):
    nothing = count * GAUSSIAN
    assert (nothing.delta(0).lower, nothing.delta(0).upper) == (0, 0)
    assert (nothing.epsilon(0).lower, nothing.epsilon(0).upper) == (0, 0)


def test_a_rate_is_zero_or_its_inverse_is_a_double():
    subset = partial(lp.Gaussian(1, adjacency="replace").subset, adjacency="replace")
    for make in (GAUSSIAN.poisson, subset, lambda rate: GAUSSIAN.poisson(1e-200).poisson(rate * 1e200)):
        refused(ValueError, lambda make=make: make(rate=1e-301), "rate", "at least 1e-300")
    assert GAUSSIAN.poisson(1e-300).delta(0.0).upper > 0
    assert GAUSSIAN.poisson(0).delta(0.0).upper == 0


def test_a_rate_of_zero_leaks_nothing_and_one_is_the_identity():
    assert GAUSSIAN.poisson(0).delta(0).upper == 0
    assert GAUSSIAN.poisson(1).delta(1).upper == GAUSSIAN.delta(1).upper


@pytest.mark.parametrize("question", ["delta", "log_delta", "epsilon"])
@pytest.mark.parametrize("value", ["0.1", True, None, 1j, [0.1, None], [[0.1, 0.2], [0.3]], [True, False], {0.1}, "nan"])
def test_a_question_that_is_no_number_is_a_type_error(question, value):
    name = "delta" if question == "epsilon" else "epsilon"
    refused(TypeError, lambda: getattr(GAUSSIAN, question)(value), name, "must be", "real number", repr(value))


@pytest.mark.parametrize("question", ["delta", "log_delta", "epsilon"])
@pytest.mark.parametrize("value", [NAN, INF, -INF, [[0.1, NAN]], np.array([INF])])
def test_a_question_that_is_not_finite_is_refused(question, value):
    name = "delta" if question == "epsilon" else "epsilon"
    refused(ValueError, lambda: getattr(GAUSSIAN, question)(value), name, "finite", repr(value))


@pytest.mark.parametrize("value", [-1e-9, 1.0000001, 2, [0.1, 2.0], [[-1.0]]])
def test_a_delta_outside_the_unit_interval_is_refused(value):
    refused(ValueError, lambda: GAUSSIAN.epsilon(value), "delta must lie in [0, 1]", repr(value))


def test_delta_one_asks_for_nothing():
    assert GAUSSIAN.epsilon(1).upper == 0


@pytest.mark.parametrize("mechanism", [GAUSSIAN, lp.ApproximateDP(1, 0.1)])
def test_delta_zero_has_no_finite_answer_where_losses_are_unbounded(mechanism):
    answer = mechanism.epsilon(0)
    assert (answer.lower, answer.value, answer.upper) == (INF, INF, INF)
    assert answer.status is lp.Status.UNBOUNDED


@pytest.mark.parametrize(
    ("mechanism", "top"),
    [
        (lp.Laplace(2), 0.5),
        (lp.PureDP(1.25), 1.25),
        (3 * lp.Laplace(2), 1.5),
        (lp.ExponentialMechanism(0.75), 0.75),
        (lp.PureDP(0), 0.0),
        (lp.Discrete([0.5, 0.5, 0], [0.5, 0.5, 0]), 0.0),
    ],
)
def test_delta_zero_asks_for_the_largest_finite_loss(mechanism, top):
    answer = mechanism.epsilon(0)
    assert answer.lower <= top <= answer.upper
    assert answer.upper - answer.lower <= 1e-9 * max(1, top)


def test_a_delta_below_the_infinite_mass_has_no_finite_answer():
    answer = lp.ApproximateDP(1, 0.1).epsilon(0.05)
    assert answer.lower == INF
    assert answer.status is lp.Status.UNBOUNDED


@pytest.mark.parametrize("shape", [(0,), (1,), (3,), (2, 3), (0, 4), (1, 1, 2)])
@pytest.mark.parametrize("question", ["delta", "log_delta", "epsilon"])
def test_an_array_keeps_its_shape(question, shape):
    answer = getattr(GAUSSIAN, question)(np.full(shape, 0.25))
    assert isinstance(answer, lp.Bounds)
    assert answer.shape == answer.lower.shape == answer.value.shape == answer.upper.shape == shape
    one = getattr(GAUSSIAN, question)(0.25)
    assert np.all(np.asarray(answer) == float(one))


@pytest.mark.parametrize("point", [1, 1.0, np.float32(1), np.float64(1), np.int64(1), np.array(1.0)])
def test_a_number_or_a_0d_array_gives_one_bound(point):
    answer = GAUSSIAN.delta(point)
    assert isinstance(answer, lp.Bound)
    assert float(answer) == float(GAUSSIAN.delta(1.0))


def test_nested_lists_are_arrays():
    assert GAUSSIAN.delta([[0, 1], [2, 3]]).shape == (2, 2)
    assert GAUSSIAN.delta([1, 2])[0].same_as(GAUSSIAN.delta(1))


@pytest.mark.parametrize("method", ["nope", "", "Contour", 3, []])
@pytest.mark.parametrize("point", [0.5, [0.5]])
@pytest.mark.parametrize("question", ["delta", "epsilon"])
def test_an_unknown_method_is_refused_and_the_known_ones_are_listed(question, point, method):
    refused(
        (ValueError, TypeError), lambda: getattr(GAUSSIAN, question)(point, method=method), "method", "'contour'", repr(method)
    )


@pytest.mark.parametrize(
    ("mechanism", "method"),
    [
        (GAUSSIAN, "lattice"),
        (GAUSSIAN, "exponential"),
        (2 * GAUSSIAN.poisson(0.1), "exact"),
        (lp.Laplace(1), "lattice"),
        (lp.RandomizedResponse(0.6), "levy-sums"),
        (lp.Gaussian(1.0), "levy-quadrature"),
        (lp.RandomizedResponse(0.6) + lp.RandomizedResponse(0.7), "lattice"),
    ],
)
def test_a_method_that_does_not_apply_says_so_under_its_own_name(mechanism, method):
    refused(ValueError, lambda: mechanism.delta(0.1, method=method), f"method {method!r}")


@pytest.mark.parametrize("question", ["delta", "epsilon", "log_phi"])
@pytest.mark.parametrize("direction", ["sideways", "", 3])
def test_an_unknown_direction_is_refused(question, direction):
    refused(ValueError, lambda: getattr(GAUSSIAN, question)(0.5, direction=direction), "direction must be", repr(direction))


@pytest.mark.parametrize(("own", "foreign"), [("add", "remove"), ("remove", "add")])
def test_a_direction_foreign_to_the_relation_is_refused(own, foreign):
    mechanism = lp.Gaussian(1, adjacency=own)
    refused(ValueError, lambda: mechanism.delta(1, direction=foreign), repr(foreign), repr(own), "does not exist")
    refused(ValueError, lambda: mechanism.epsilon(0.1, direction=foreign), repr(foreign), repr(own), "does not exist")


@pytest.mark.parametrize("options", [{"rtol": -1}, {"direction": "sideways"}, {"method": "nope"}])
def test_no_points_do_not_excuse_bad_options(options):
    refused(ValueError, lambda: GAUSSIAN.delta([], **options), repr(next(iter(options.values()))))


def test_relations_do_not_mix():
    other = lp.Laplace(1, adjacency="replace")
    for action in (lambda: GAUSSIAN + other, lambda: lp.compose([GAUSSIAN, other])):
        refused(ValueError, action, "do not compose", "add_remove", "replace", "Laplace")


@pytest.mark.parametrize(("value", "kind"), [("nope", ValueError), (3, TypeError), (None, TypeError)])
def test_an_unknown_relation_is_refused(value, kind):
    refused(kind, lambda: lp.Gaussian(1, adjacency=value), "adjacency must be", repr(value))


def test_batches_that_are_not_samples_take_a_number_of_batches_and_no_rate():
    mechanism: Any = lp.Gaussian(1)
    for batches in (mechanism.shuffled, mechanism.fixed_order):
        refused(TypeError, lambda of=batches: of(0.1), "batches", "integer")
        refused(ValueError, lambda of=batches: of(0), "batches", "1")


CUT: dict[str, Any] = {"truncated_batch_size": 2, "dataset_size": 4}


@pytest.mark.parametrize(
    ("options", "needles"),
    [
        ({**CUT, "truncated_batch_size": 5}, ["truncated_batch_size", "at most the dataset_size", "5 of 4"]),
        ({**CUT, "truncated_batch_size": 0}, ["truncated_batch_size", "0"]),
        ({**CUT, "dataset_size": 0}, ["dataset_size", "0"]),
        ({"truncated_batch_size": 2}, ["dataset_size is missing"]),
        ({"dataset_size": 2}, ["truncated_batch_size is missing"]),
        ({**CUT, "group_size": 2}, ["group_size"]),
        ({**CUT, "one_pair": True}, ["one_pair"]),
    ],
)
def test_a_batch_that_cannot_be_cut_off_is_refused_by_name(options, needles):
    refused(ValueError, lambda: lp.Gaussian(1).poisson(0.5, **options), *needles)


def test_only_gaussians_are_cut_off_and_only_once():
    refused(ValueError, lambda: lp.Laplace(1).poisson(0.5, **CUT), "Gaussian")
    refused(ValueError, lambda: lp.Gaussian(1).poisson(0.5, **CUT).poisson(0.5), "cannot be sampled again")


@pytest.mark.parametrize(
    ("mechanisms", "probabilities", "kind", "needles"),
    [
        ([lp.Gaussian(1), lp.Gaussian(2)], [0.5, 0.4], ValueError, ["probabilities", "sum to one"]),
        ([lp.Gaussian(1), lp.Gaussian(2)], [1.5, -0.5], ValueError, ["probabilities", "negative"]),
        ([lp.Gaussian(1)], [0.5, 0.5], ValueError, ["mechanisms and probabilities", "1 and 2"]),
        ([], [], ValueError, ["mechanisms", "empty"]),
        ([lp.Gaussian(1), lp.Gaussian(2)], [1 - 1e-300, 1e-300], ValueError, ["1e-290"]),
        ([lp.Gaussian(1), lp.Gaussian(1, adjacency="replace")], [0.5, 0.5], ValueError, ["one relation", "replace"]),
        ([lp.Gaussian(1), 2.0], [0.5, 0.5], TypeError, ["mechanisms", "float"]),
        (lp.Gaussian(1), [1.0], TypeError, ["list of mechanisms"]),
    ],
)
def test_a_choice_of_nothing_or_of_what_does_not_belong_together_is_refused(mechanisms, probabilities, kind, needles):
    refused(kind, lambda: lp.RandomChoice(mechanisms, probabilities), *needles)


def test_a_choice_has_the_relation_of_its_mechanisms():
    refused(ValueError, lambda: lp.RandomChoice([lp.Gaussian(1)], [1], adjacency="replace"), "adjacency", "leave it out")


def test_relations_that_do_not_follow_are_refused_with_what_does():
    refused(ValueError, lambda: lp.Gaussian(1).subset(0.1, adjacency="add_remove"), "stated under 'replace'", "poisson")
    replace = lp.Gaussian(1, adjacency="replace")
    refused(ValueError, lambda: replace.poisson(0.1), "add/remove", "subset")
    refused(ValueError, lambda: replace.subset(0.1, adjacency="replace_special"), "replace_special", "add_remove")
    refused(TypeError, lambda: untyped(replace.subset)(0.1), "adjacency")
    refused(ValueError, lambda: lp.Gaussian(1).poisson(0.1, group_size=0), "group_size")
    refused(ValueError, lambda: lp.PureDP(1).poisson(0.1, group_size=2), "Gaussian", "1 - (1 - rate)^size")
    refused(ValueError, lambda: lp.PureDP(1).poisson(0.1, adjacency="replace"), "Gaussian", "subset")
    refused(ValueError, lambda: lp.Gaussian(1, adjacency="add").poisson(0.1, adjacency="remove"), "add", "remove")


def test_only_mechanisms_compose():
    refused(TypeError, lambda: lp.compose([GAUSSIAN, 3]), "mechanisms", "3", "int")  # type: ignore[list-item]
    refused(ValueError, lambda: lp.compose([]), "nothing to compose")
    with pytest.raises(TypeError):
        GAUSSIAN + 1  # type: ignore[operator]
    with pytest.raises(TypeError):
        GAUSSIAN * GAUSSIAN  # type: ignore[operator]


@pytest.mark.parametrize(
    ("p", "q", "kind", "needles"),
    [
        ([0.5, 0.5], [1.0], ValueError, ["same outcomes", "2", "1"]),
        ([0.5, 0.6], [0.5, 0.5], ValueError, ["p must sum to one", "1.1"]),
        ([0.5, 0.5], [0.5, 0.4], ValueError, ["q must sum to one", "0.9"]),
        ([0.3333333333] * 3, [0.5, 0.25, 0.25], ValueError, ["p must sum to one", "0.9999999999", "more digits"]),
        ([1.5, -0.5], [0.5, 0.5], ValueError, ["p must not have negative", "-0.5"]),
        ([], [], ValueError, ["p must be a non-empty list", "[]"]),
        ([[0.5, 0.5]], [[0.5, 0.5]], ValueError, ["p must be a non-empty list", "[[0.5, 0.5]]"]),
        (1.0, 1.0, ValueError, ["p must be a non-empty list", "1.0"]),
        ([NAN, 1], [0.5, 0.5], ValueError, ["p must be finite", "nan"]),
        ([0.5, 0.5], [INF, 0], ValueError, ["q must be finite", "inf"]),
        (["a", "b"], [0.5, 0.5], TypeError, ["p must be", "'a'"]),
        ([True, False], [0.5, 0.5], TypeError, ["p must be", "True"]),
        (None, [1.0], TypeError, ["p must be", "None"]),
    ],
)
def test_a_discrete_pair_must_be_two_laws_on_the_same_outcomes(p, q, kind, needles):
    refused(kind, lambda: lp.Discrete(p, q), *needles)


@pytest.mark.parametrize(
    ("sensitivities", "probabilities", "kind", "needles"),
    [
        ([0, 1], [1.0], ValueError, ["sensitivities and probabilities", "2", "1"]),
        ([0, 1], [0.5, 0.6], ValueError, ["probabilities must sum to one", "1.1"]),
        ([0, 1], [1.5, -0.5], ValueError, ["probabilities must not have negative", "-0.5"]),
        ([0, -1], [0.5, 0.5], ValueError, ["sensitivities must not have negative", "-1"]),
        ([], [], ValueError, ["sensitivities must be a non-empty list", "[]"]),
        ([[0, 1]], [[0.5, 0.5]], ValueError, ["sensitivities must be a non-empty list", "[[0, 1]]"]),
        (1.0, 1.0, ValueError, ["sensitivities must be a non-empty list", "1.0"]),
        ([0, NAN], [0.5, 0.5], ValueError, ["sensitivities must be finite", "nan"]),
        ([0, INF], [0.5, 0.5], ValueError, ["sensitivities must be finite", "inf"]),
        ([0, "a"], [0.5, 0.5], TypeError, ["sensitivities must be", "'a'"]),
        (None, [1.0], TypeError, ["sensitivities must be", "None"]),
        ([0, 1, 2], [0.5, 0.5, 1e-300], ValueError, ["probabilities must be zero or at least", "1e-300"]),
        ([0, 1, 1e-200], [0.5, 0.25, 0.25], ValueError, ["sensitivity / sigma", "1e-200"]),
        (range(1, 1003), [1 / 1002] * 1002, ValueError, ["sensitivities must be 1001 at most", "1002"]),
    ],
)
def test_a_mixture_must_be_sensitivities_and_their_probabilities(sensitivities, probabilities, kind, needles):
    refused(kind, lambda: lp.GaussianMixture(1, sensitivities, probabilities), *needles)


def test_samplings_that_are_not_known_are_refused():
    refused(ValueError, lambda: lp.GaussianMixture(1, [1, 2], [0.5, 0.5]).poisson(0.1, group_size=2), "Gaussian", "group_size")
    refused(ValueError, lambda: lp.Gaussian(1).poisson(0.1, group_size=1001), "group_size", "1001")
    refused(ValueError, lambda: lp.Gaussian(1).poisson(0.1, group_size=2, one_pair=True), "one_pair", "group_size=2")
    refused(ValueError, lambda: lp.Gaussian(1).poisson(0.1, adjacency="remove", one_pair=True), "one_pair", "'remove'")
    refused(ValueError, lambda: lp.Discrete([0.5, 0.5], [0.2, 0.8]).poisson(0.1, one_pair=True), "one_pair", "leave it out")
    refused(TypeError, lambda: untyped(lp.Gaussian(1).poisson)(0.1, one_pair=1), "one_pair", "True or False")
    refused(ValueError, lambda: lp.Gaussian(1).poisson(0.1, one_pair=True).certify(epsilon=1), "one_pair")


def test_explain_takes_one_question():
    refused(ValueError, GAUSSIAN.explain, "either epsilon or delta")
    refused(ValueError, lambda: GAUSSIAN.explain(epsilon=1, delta=0.1), "either epsilon or delta", "1", "0.1")
    refused(TypeError, lambda: untyped(GAUSSIAN.explain)(epsilon=[1, 2]), "not an array")


@pytest.mark.few(6)
@pytest.mark.parametrize("epsilon", [1e17, 1e150, 1e308])
@pytest.mark.parametrize(
    "release",
    [
        lp.Gaussian(sigma=1),
        lp.Laplace(scale=1).poisson(0.1),
        lp.GaussianPair(mean_p=0, sigma_p=1, mean_q=1, sigma_q=2),
        *slowly(lp.Gaussian(sigma=1).poisson(0.1, group_size=3) + lp.Laplace(scale=1)),
    ],
)
def test_absurd_thresholds_get_valid_answers(release, epsilon):
    for direction in ("remove", "add"):
        assert release.delta(epsilon, direction=direction).lower == 0
        assert release.delta(-epsilon, direction=direction).lower > 1 - 1e-14
        assert release.log_delta(-epsilon, direction=direction).upper == 0


@pytest.mark.parametrize("bad", [NAN, None, "ab", [], [1.0], {}, np.float64(1)])
def test_profiles_that_are_no_pairs_of_lists(bad):
    with pytest.raises((TypeError, ValueError), match="got"):
        compose_profiles(bad, ([1.0], [0.1]), 0.5)


def test_the_budget_of_no_mechanism():
    with pytest.raises(TypeError, match="a mechanism is needed, got 3"):
        untyped(lp.classical.Concentrated.of)(3)


def test_the_largest_epsilon_is_answered_in_silence():
    assert lp.classical.renyi.delta(lp.Gaussian(sigma=1), 1e308).value <= 1


@pytest.mark.parametrize("x", [1.7e308, -1.7e308])
def test_densities_and_certificates_out_of_reach_are_unknown_in_silence(x):
    some = 3 * GAUSSIAN.poisson(0.1)
    for law in (GAUSSIAN.loss, some.loss, some.dual_loss):
        assert (law.pdf(x).lower, law.pdf(x).upper) in ((0, math.inf), (0, 0))
    if x > 0:
        with pytest.raises(ValueError, match="ask at a smaller"):
            some.certify(epsilon=x, digits=3)


def test_a_question_may_be_a_fraction():
    half, risk = Fraction(1, 2), GAUSSIAN.risk
    for question in (GAUSSIAN.delta, GAUSSIAN.epsilon, GAUSSIAN.tradeoff, risk.tpr, risk.success, risk.reconstruction):
        assert question(half).same_as(question(0.5))


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("answer", "truth"),
    [
        # g TV(N(0, 1), N(2, 1))
        (lambda: lp.Gaussian(1, 2, "replace").subset(1e-100, adjacency="replace").delta(0.0), 6.826894921370859e-101),
        (lambda: lp.Gaussian(1, 2, "replace").subset(1e-100, adjacency="replace").epsilon(1e-5), 0.0),
        # where the record takes part it is seen
        pytest.param(lambda: lp.Gaussian(sigma=1e-3).poisson(0.1).tradeoff(0.1), 0.81, marks=pytest.mark.slow),
        (lambda: lp.Gaussian(sigma=1e60).poisson(0.1).delta(0.0), 3.989422804014327e-62),
        (lambda: lp.Gaussian(sigma=1e-60).epsilon(1e-5), 5e119),
        # the corner of its trade-off function is e^-1e60 away from both sides
        *slowly((lp.Laplace(scale=1e-60).risk.gaussian_mu, 8e60**0.5)),
        (lambda: lp.GaussianPair(0, 1, 1e100, 1).delta(1.0), 1.0),
    ],
)
def test_extreme_parameters_are_answered_in_silence(answer, truth):
    found = answer()
    assert found.lower <= truth * (1 + 1e-12)
    assert found.upper >= truth * (1 - 1e-12)
