"""A mechanism as text and as JSON: what is written is read back, and nothing else is."""

from __future__ import annotations

import copy
import json
import math
import pickle
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import logphi as lp
from alterations import STRANGE, altered, places
from logphi.algebra.release import Composition
from logphi.extend import LogPhi, Primitive
from logphi.mechanisms.catalogue import PYTHON_ONLY
from logphi.serialization import mechanism_from_data
from logphi.text.spelling import spelled
from logphi.text.written import Written, exactly, meant
from one_of_each import EXAMPLES
from refusals import refused
from releases import RELEASES

MORE = [
    "Gaussian(sigma=1/3)",
    "Laplace(scale=2).poisson(1/7, one_pair=True)",
    "3 * Laplace(scale=2).poisson(0.1, adjacency='remove') + Gaussian(sigma=2, adjacency='remove')",
    "((3 * Gaussian(sigma=3)).poisson(0.1) + Laplace(scale=1)).poisson(0.5)",
    "Gaussian(sigma=1, sensitivity=2, adjacency='replace').subset(1/3, adjacency='add_remove').poisson(0.5)",
    "10**300 * Gaussian(sigma=1e50)",
    "0 * Gaussian(sigma=1)",
    "0 * Gaussian(sigma=1, adjacency='replace_special')",
    "Gaussian(sigma=1, sensitivity=1 + 10**-30)",
    "Laplace(scale=9007199254740993)",
    "PureDP(epsilon=0)",
    "Discrete(p=[1/3, 2/3], q=[0.5, 0.5], adjacency='replace')",
    "Discrete(p=[1], q=[1])",
    "GaussianPair(mean_p=-0.5, sigma_p=1e-20, mean_q=-1/3, sigma_q=2e+20)",
]


def told(value: Any, number: Any = meant) -> Any:
    """All that a mechanism is made of, its numbers as they are meant."""
    if isinstance(value, Composition):
        return value.adjacency, [(told(one, number), count) for one, count in value.terms]
    if isinstance(value, Primitive):
        return type(value), [(name, told(one, number)) for name, one in value._given().items()]
    if isinstance(value, tuple):
        return [told(one, number) for one in value]
    return number(value) if isinstance(value, float) else value


@pytest.mark.parametrize("text", [*RELEASES, *MORE])
def test_what_is_printed_is_read_back(text):
    mechanism = lp.parse(text)
    again = lp.parse(str(mechanism))
    assert again == mechanism
    assert exactly(again) == exactly(mechanism)
    assert str(again) == str(mechanism)
    assert eval(repr(mechanism), {name: getattr(lp, name) for name in dir(lp)}) == mechanism


@pytest.mark.parametrize("text", [*RELEASES, *MORE])
def test_json_is_read_back(text):
    mechanism = lp.parse(text)
    again = lp.from_json(mechanism.to_json())
    assert again == mechanism
    assert exactly(again) == exactly(mechanism)
    assert again.to_json() == mechanism.to_json()
    assert mechanism.to_json().isascii()
    assert "\n" not in mechanism.to_json()


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_mechanism_is_copied_and_pickled(clone):
    for text in (*RELEASES, *MORE):
        mechanism = lp.parse(text)
        assert clone(mechanism) == mechanism, text
        assert exactly(clone(mechanism)) == exactly(mechanism), text


def test_as_it_is_typed():
    training = lp.parse("14062 * lp.Gaussian(sigma=1.1).poisson(256/60000)")
    assert str(training) == "14062 * Gaussian(sigma=1.1).poisson(8/1875)"
    assert repr(training) == "14062 * Gaussian(sigma=1.1).poisson(0.004266666666666667)"
    assert training == 14062 * lp.Gaussian(sigma=1.1).poisson(256 / 60000)
    assert f"{lp.parse('Gaussian(sigma=1/3)'):>20}" == " Gaussian(sigma=1/3)"
    assert lp.parse("x * Gaussian(sigma=s)", variables={"x": 3, "s": 0.5}) == 3 * lp.Gaussian(0.5)
    assert lp.parse(str(lp.Gaussian(0.1))) == lp.Gaussian(0.1)


def test_a_certificate_does_not_notice_the_way_through_text():
    mechanism = lp.parse("10 * Gaussian(sigma=10/3).poisson(1/7) + Laplace(scale=2.5)")
    assert lp.parse(str(mechanism)).tree() == lp.from_json(mechanism.to_json()).tree() == mechanism.tree()


numbers = st.one_of(
    st.floats(0.3, 30),
    st.floats(0.3, 30).map(np.float64),
    st.integers(1, 20),
    st.fractions(Fraction(1, 3), 30, max_denominator=10**30),
)
rates = st.one_of(st.floats(0, 1), st.fractions(0, 1), st.sampled_from([0, 1]))
# a product of two rates that is below every double is refused
moderate = st.one_of(st.floats(1e-150, 1), st.fractions(0, 1, max_denominator=10**30), st.sampled_from([0, 1]))
orders = st.sampled_from(["add_remove", "add", "remove"])
steps = st.one_of(
    st.builds(lp.Gaussian, numbers, numbers),
    st.builds(lp.Laplace, numbers, numbers),
    st.builds(lp.DiscreteLaplace, numbers, st.integers(1, 4)),
    st.builds(lp.DiscreteGaussian, numbers, truncation=st.one_of(st.none(), st.integers(40, 99))),
    st.builds(lp.RandomizedResponse, st.fractions(Fraction(1, 9), Fraction(8, 9), max_denominator=10**9)),
    st.builds(lp.PureDP, numbers),
    st.builds(lp.ApproximateDP, numbers, st.floats(0, 0.5)),
    st.builds(lp.ExponentialMechanism, numbers),
    st.builds(lp.GaussianPair, numbers, numbers, st.integers(40, 99), numbers),
    st.builds(lambda s, c: lp.GaussianMixture(s, [c, 2 * c], [Fraction(1, 3), Fraction(2, 3)]), numbers, st.floats(0.1, 3)),
    st.builds(lambda n: lp.Discrete([Fraction(1, n), Fraction(n - 1, n)], [0.25, 0.75]), st.integers(2, 10**40)),
    st.builds(lambda m, q: m.poisson(q), st.builds(lp.Gaussian, numbers), rates),
    st.builds(lambda m, q, k: m.poisson(q, group_size=k), st.builds(lp.Gaussian, numbers), rates, st.integers(1, 5)),
    st.builds(lambda m, q: m.poisson(q, one_pair=True), st.builds(lp.Laplace, numbers), rates),
    st.builds(lambda a, b, q: (2 * a + b).poisson(q), st.builds(lp.Laplace, numbers), st.builds(lp.PureDP, numbers), rates),
    st.builds(lambda m, p, q: m.poisson(p).poisson(q), st.builds(lp.Gaussian, numbers), moderate, moderate),
)
counts = st.one_of(st.integers(0, 5), st.integers(0, 10**298))
releases = st.lists(st.tuples(counts, steps), min_size=1, max_size=4).map(lambda terms: lp.compose(n * m for n, m in terms))


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(releases)
def test_any_composition_is_read_back(release):
    again = lp.parse(str(release))
    assert again == release
    assert told(again) == told(release)
    resumed = lp.from_json(release.to_json())
    assert resumed == release
    assert exactly(resumed) == exactly(release)
    assert told(resumed, type) == told(release, type)
    assert resumed.to_json() == release.to_json()


@given(st.fractions(), st.integers(-400, 400), st.integers(-400, 400))
def test_numbers_are_spelled_as_they_were_written(fraction, tens, twos):
    number = fraction * Fraction(10) ** tens * Fraction(2) ** twos
    try:
        written = Written(number)
    except OverflowError:
        return
    read: Any = lp.parse(f"Discrete([{spelled(written)}], [1])", {"Discrete": _held})
    (again,) = read.held
    assert float(again) == float(written)
    if max(abs(number.numerator), number.denominator) < 10**308:
        assert Fraction(again) == number if not isinstance(again, Written) else again.exact == number


@dataclass
class _Held:
    held: Any


def _held(p, q):
    return _Held(p)


def test_a_number_with_hundreds_of_digits_is_kept_as_a_decimal_if_it_is_one():
    rate = lp.Gaussian(1).poisson(1.2345678901234567e-135).poisson(1.2345678901234567e-135)
    assert exactly(lp.parse(str(rate))) == exactly(rate)
    odd = lp.Gaussian(Fraction(7**400, 11**324))
    assert lp.parse(str(odd)) == odd
    assert exactly(lp.from_json(odd.to_json())) == exactly(odd)


@dataclass(frozen=True, repr=False)
class Gaussian(Primitive):
    """One of a user's own, with the name and the parameters of another."""

    sigma: float
    adjacency: lp.Adjacency = lp.Adjacency.ADD_REMOVE

    def loss_law(self):
        return LogPhi()


LOGISTIC = lp.FromDensities(lambda x: -np.abs(x - 1) - np.log(2), lambda x: -np.abs(x) - np.log(2), (-np.inf, np.inf), [0, 1])


@pytest.mark.parametrize(
    ("mechanism", "shown", "needles"),
    [
        (LOGISTIC, "FromDensities(log_p=", ["densities are functions", "Python"]),
        (2 * LOGISTIC.poisson(0.1), "FromDensities(log_p=", ["densities are functions", "Python"]),
        (lp.FromRenyi(lambda order: order / 2), "FromRenyi(divergence=", ["divergences are a function"]),
        (Gaussian(1.5), "Gaussian(sigma=1.5)", ["no modules"]),
        (3 * Gaussian(1.5) + lp.Laplace(1), "3 * test_text.Gaussian(sigma=1.5) + Laplace", ["no modules"]),
    ],
)
def test_what_no_text_can_hold_is_shown_and_not_read_back(mechanism, shown, needles):
    assert shown in str(mechanism)
    refused(ValueError, lambda: lp.parse(str(mechanism)), "at character", *needles)
    refused(ValueError, mechanism.to_json, "cannot be written down", "dominates")


# all that certificates know
CERTIFIED = [EXAMPLES[name]() for name in sorted(set(EXAMPLES) - {*PYTHON_ONLY, "Skellam", "VectorDiscreteGaussian"})]


@pytest.mark.parametrize("release", [*CERTIFIED, lp.Laplace(3).repeat_and_select(2, math.inf)], ids=str)
def test_the_mechanisms_of_certificates_are_read_back(release):
    """Infinity is written as "oo" there, and a flag as a number."""
    whole = 3 * release
    assert lp.compose(count * mechanism_from_data(node) for count, node in whole.tree()) == whole


@pytest.mark.slow
def test_a_long_composition_is_read_back_at_once():
    release = lp.compose(lp.Gaussian(1 + n / 7) for n in range(10_000))
    assert lp.parse(str(release)) == release
    assert lp.from_json(release.to_json()) == release


def test_samples_of_samples_take_no_exponential_time():
    release = lp.parse("(" * 24 + "Laplace(1)" + " + Gaussian(2)).poisson(0.9)" * 24)
    assert lp.parse(str(release)) == release
    assert lp.from_json(release.to_json()) == release
    assert hash(lp.from_json(release.to_json())) == hash(release)


def test_messages_stay_short():
    many = lp.Discrete([1 / 2**12] * 2**12, [1 / 2**12] * 2**12)
    with pytest.raises(ValueError, match="different relations") as caught:
        many + lp.Gaussian(1, adjacency="replace")
    assert len(str(caught.value)) < 400


def test_a_training_run_is_the_composition_of_its_steps():
    run = lp.dp_sgd(dataset_size=60000, batch_size=256, epochs=60, noise_multiplier=1.1)
    assert lp.from_json(run.to_json()) == 14063 * run.step
    assert lp.parse(str(14063 * run.step)) == 14063 * run.step
    assert exactly(run.group(3)) == exactly(14063 * run.step.group(3))


CONTENT = json.loads(lp.parse("3 * (2 * Gaussian(sigma=1/3) + Laplace(scale=2)).poisson(0.1)").to_json())


def whole(mechanism: Any) -> str:
    return json.dumps({"format": "logphi-mechanism", "version": 1, "mechanism": mechanism})


def gaussian(**parameters: Any) -> dict[str, Any]:
    return {"name": "Gaussian", "adjacency": "add_remove", "parameters": {"sigma": 1.0, **parameters}}


def nested(depth: int, **inner: Any) -> Any:
    found: Any = gaussian()
    for _ in range(depth):
        together = {"name": "composition", "adjacency": "add_remove", "terms": [[1, found], [1, gaussian(sigma=2.0)]]}
        found = {"name": "poisson", "adjacency": "add_remove", "parameters": {"rate": 0.5}, "base": together}
    return found


@pytest.mark.parametrize(
    ("text", "needle"),
    [
        ("", "logphi-mechanism"),
        ("null", "object"),
        ("{}", "format"),
        ('{"format": "logphi-accountant", "version": 1}', "format"),
        ('{"format": "logphi-mechanism", "version": 2}', "version 2"),
        ('{"format": "logphi-mechanism", "version": true}', "version True"),
        ('{"format": "logphi-mechanism", "version": "a\\nb"}', "version"),
        ('{"format": "logphi-mechanism", "version": 1}', "mechanism"),
        ('{"format": "logphi-mechanism", "version": 1, "version": 1}', "twice"),
        (whole(gaussian())[:-1] + ', "more": 1}', "object of"),
        ("[" * 100_000, "deep"),
        ('{"a": ' * 100_000, "deep"),
        (" " * 10_000_000, "10000000 characters"),
        (whole(nested(60)), "nested deeper than"),
        (whole(None), "object"),
        (whole([]), "object"),
        (whole({**gaussian(), "name": "Gausian"}), "'Gausian'"),
        (whole({**gaussian(), "name": "FromDensities"}), "FromDensities"),
        (whole({**gaussian(), "name": "shuffled"}), "object"),
        (whole({**gaussian(), "name": "RandomChoice"}), "list of mechanisms"),
        (whole({**gaussian(), "name": 3}), "name"),
        (whole({**gaussian(), "name": "__class__"}), "__class__"),
        (whole({**gaussian(), "base": gaussian()}), "Gaussian"),
        (whole({**gaussian(), "adjacency": "substitute"}), "adjacency"),
        (whole({**gaussian(), "adjacency": None}), "adjacency"),
        (whole({**gaussian(), "parameters": [1]}), "parameters"),
        (whole(gaussian(sigma="nan")), "number"),
        (whole(gaussian(sigma="1/0")), "range"),
        (whole(gaussian(sigma="1e5")), "number"),
        (whole(gaussian(sigma="9" * 5000)), "number"),
        (whole(gaussian(sigma=True)), "sigma"),
        (whole(gaussian(sigma=None)), "sigma"),
        (whole(gaussian(sigma=[1.0])), "sigma"),
        (whole(gaussian(sigma=[[1.0]])), "number"),
        (whole(gaussian(sigma={"a": 1})), "number"),
        (whole(gaussian(sigma=-1.0)), "not be negative"),
        (whole(gaussian(self=1)), "do not fit"),
        (whole(gaussian(adjacency="add")), "number"),
        (whole(gaussian()).replace("1.0", "NaN"), "NaN"),
        (whole(gaussian()).replace("1.0", "-Infinity"), "Infinity"),
        (whole(gaussian()).replace("1.0", "1e999"), "finite"),
        (whole(gaussian()).replace("1.0", "9" * 401), "digits"),
        (whole({"name": "poisson", "adjacency": "add_remove", "parameters": {"rate": 0.5}}), "object"),
        (whole({"name": "poisson", "adjacency": "add_remove", "parameters": {"rate": 2.0}, "base": gaussian()}), "rate"),
        (whole({"name": "composition", "adjacency": "add_remove", "terms": {}}), "list"),
        (whole({"name": "composition", "adjacency": "add_remove", "terms": [[1]]}), "list"),
        (whole({"name": "composition", "adjacency": "replace", "terms": [[1, gaussian()]]}), "different relations"),
        (whole({"name": "composition", "adjacency": "add_remove", "terms": [[-1, gaussian()]]}), "negative"),
        (whole({"name": "composition", "adjacency": "add_remove", "terms": [[1.5, gaussian()]]}), "integer"),
        (whole({"name": "composition", "adjacency": "add_remove", "terms": [[10**301, gaussian()]]}), "1e300"),
        (whole({"name": "composition", "adjacency": "add_remove", "terms": [[10**300, gaussian()]] * 2}), "1e300"),
    ],
)
def test_hostile_json_is_refused_in_one_line(text, needle):
    refused(ValueError, lambda: lp.from_json(text), needle)


@pytest.mark.parametrize("value", [None, b"{}", 1, {}])
def test_json_that_is_no_string_is_a_type_error(value):
    refused(TypeError, lambda: lp.from_json(value), "string")


STRANGE_HERE = STRANGE | st.sampled_from(["composition", CONTENT, CONTENT["mechanism"], [CONTENT["mechanism"]], gaussian()])


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(list(places(CONTENT))), STRANGE_HERE)
def test_altered_json_is_refused_in_one_line_or_is_another_mechanism(path, value):
    found = read(json.dumps(altered(CONTENT, path, value)))
    assert found is None or lp.from_json(found.to_json()) == found


def read(text):
    """The mechanism, or None if it is refused in one line."""
    try:
        return lp.from_json(text)
    except ValueError as error:
        message = str(error)
    assert message.isprintable()
    return None


@pytest.mark.slow
def test_a_mechanism_too_long_to_be_read_again_is_not_written():
    many = lp.Discrete([1 / 2**18] * 2**18, [1 / 2**18] * 2**18)
    assert math.fsum(many.p) == 1
    refused(ValueError, many.to_json, "characters", "pickle")
