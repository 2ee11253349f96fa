"""The accountant: what it records, what it refuses, and that nothing is lost on the way through JSON."""

import copy
import itertools
import json
import pickle
import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import logphi as lp
from alterations import STRANGE, altered, places, read, with_checksum
from effort import calls
from logphi.algebra.release import Composition
from logphi.algebra.sampled import PoissonSampled, SubsetSampled
from logphi.expression import parse
from logphi.extend import Primitive
from logphi.text.written import Written, exactly
from own import Own
from refusals import refused
from releases import RELEASES

STEPS = [
    parse("Gaussian(sigma=1.1).poisson(256/60000)"),
    lp.Gaussian(1.1).poisson(256 / 60000),
    lp.Gaussian(1.1),
    parse("Gaussian(sigma=1.1)"),
    lp.Laplace(5.0),
    parse("2 * Gaussian(sigma=1.1) + 3 * Laplace(scale=5)"),
    lp.PureDP(Fraction(1, 3)),
]
counts = st.integers(0, 5)
runs = st.lists(st.tuples(st.sampled_from(STEPS), counts), max_size=12)


def as_doubles(value):
    """The same mechanism, its written numbers taken for their doubles."""
    if isinstance(value, Written):
        return float(value)
    if isinstance(value, tuple):
        return tuple(map(as_doubles, value))
    if isinstance(value, PoissonSampled):
        return as_doubles(value.base).poisson(float(value.rate), group_size=value.group_size, adjacency=value.adjacency)
    if isinstance(value, SubsetSampled):
        return as_doubles(value.base).subset(float(value.rate), adjacency=value.adjacency)
    if isinstance(value, Composition):
        return lp.compose([count * as_doubles(one) for one, count in value.terms])
    if isinstance(value, Primitive):
        return type(value)(**{name: as_doubles(one) for name, one in value._given().items()})
    return value


def holding(*steps):
    accountant = lp.Accountant()
    for mechanism, count in steps:
        accountant.step(mechanism, count)
    return accountant


def kept(accountant):
    """All that an accountant holds, numbers as they are known."""
    return [(repr(one), exactly(one), types_of(exactly(one)), count) for one, count in accountant.history]


def types_of(value):
    return tuple(map(types_of, value)) if isinstance(value, tuple) else type(value)


@pytest.mark.few(3)
@pytest.mark.parametrize("written", [True, False], ids=["written", "floats"])
@pytest.mark.parametrize("expression", RELEASES)
def test_a_resumed_accountant_answers_with_the_same_bits(expression, written):
    accountant = holding(*((one if written else as_doubles(one), count) for one, count in parse(expression).counted()))
    text = accountant.to_json()
    resumed = lp.Accountant.from_json(text)
    assert resumed.to_json() == text
    assert kept(resumed) == kept(accountant)
    assert resumed.adjacency is accountant.adjacency
    assert resumed.epsilon(1e-4).same_as(accountant.epsilon(1e-4))
    assert resumed.delta(0.3).same_as(accountant.delta(0.3))


@pytest.mark.few(2)
@pytest.mark.parametrize("written", [True, False], ids=["written", "floats"])
@pytest.mark.parametrize(
    "expression",
    [
        "3 * Gaussian(sigma=1.1)",
        "14062 * Gaussian(sigma=1.1).poisson(256/60000)",
        "10 * RandomizedResponse(p=0.6)",
        "10 * ApproximateDP(epsilon=0.1, delta=1e-6)",
        "100 * Gaussian(sigma=5) + 3 * Gaussian(sigma=2).poisson(0.01) + 2 * RandomizedResponse(p=0.52) + PureDP(epsilon=0.1)",
    ],
)
def test_a_resumed_accountant_gives_the_same_certificate(expression, written):
    accountant = holding(*((one if written else as_doubles(one), count) for one, count in parse(expression).counted()))
    resumed = lp.Accountant.from_json(accountant.to_json())
    first, second = (one.release.certify(epsilon=Fraction(1, 5), digits=12).to_json() for one in (accountant, resumed))
    assert first == second
    assert json.loads(first)["parameters"] == ("as written" if written else "floats as their shortest decimals")


@settings(max_examples=30)
@given(runs)
def test_the_accountant_is_the_composition_of_its_steps(steps):
    accountant = holding(*steps)
    terms = [(one, own * count) for mechanism, count in steps for one, own in mechanism.counted() if own * count]
    history = accountant.history
    assert sum(count for _, count in history) == sum(count for _, count in terms)
    # neighbours differ, and undoing the merging gives the steps in their order
    assert all(exactly(one) != exactly(other) for (one, _), (other, _) in itertools.pairwise(history))
    if terms:
        composed = lp.compose(count * one for one, count in terms)
        assert repr(accountant.release) == repr(composed)
        assert accountant.release.tree() == composed.tree()
    resumed = lp.Accountant.from_json(accountant.to_json())
    assert kept(resumed) == kept(accountant)
    assert repr(resumed.release) == repr(accountant.release)


def test_questions_have_no_side_effects():
    accountant = holding((STEPS[0], 100))
    before = accountant.to_json()
    accountant.epsilon([1e-5, 1e-6])
    accountant.delta(0.1, direction="add")
    assert str(accountant.release.zcdp())
    assert accountant.to_json() == before
    assert accountant.release is accountant.release


def test_the_answer_is_that_of_all_steps_so_far():
    accountant = lp.Accountant()
    assert (accountant.epsilon(1e-5).upper, accountant.delta(0.0).upper, accountant.adjacency) == (0, 0, None)
    for done in range(1, 4):
        accountant.step(STEPS[0], 100)
        assert accountant.epsilon(1e-5).same_as((100 * done * STEPS[0]).epsilon(1e-5))
    assert accountant.history == ((STEPS[0], 300),)


def test_a_composition_is_recorded_as_its_terms():
    accountant = holding((parse("14062 * Gaussian(sigma=2) + Laplace(scale=3)"), 2))
    assert accountant.history == ((lp.Gaussian(2), 28124), (lp.Laplace(3), 2))


def test_equal_doubles_that_are_known_differently_stay_apart():
    accountant = holding((lp.Gaussian(1.1), 1), (parse("Gaussian(sigma=1.1)"), 1))
    assert len(accountant.history) == 2


def test_the_next_step_of_a_loop_costs_as_little_after_a_hundred_thousand():
    accountant, step = lp.Accountant(), STEPS[0]
    for _ in range(100_000):
        accountant.step(step)
    # seventeen calls of functions; a record that is gone through takes as many as it has steps
    assert calls(lambda: accountant.step(step)) < 50
    assert accountant.history == ((step, 100_001),)


def test_no_step_is_lost_between_threads():
    accountant = lp.Accountant()

    def work(step):
        for _ in range(2000):
            accountant.step(step)

    threads = [threading.Thread(target=work, args=(step,)) for step in STEPS[:5]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(count for _, count in accountant.release.counted()) == [2000] * 5


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_goes_its_own_way(clone):
    accountant = holding((STEPS[0], 3), (STEPS[4], 1))
    other = clone(accountant)
    assert other.to_json() == accountant.to_json()
    other.step(STEPS[4])
    assert other.to_json() != accountant.to_json()
    assert accountant.history[-1] == (STEPS[4], 1)


def test_a_step_under_another_relation_is_refused_and_leaves_no_trace():
    accountant = holding((STEPS[0], 3))
    before = accountant.to_json()
    refused(ValueError, lambda: accountant.step(lp.Gaussian(1, adjacency="replace")), "'replace'", "'add_remove'", "adjacency")
    assert accountant.to_json() == before
    empty = lp.Accountant("replace")
    refused(ValueError, lambda: empty.step(lp.Gaussian(1)), "'replace'")
    empty.step(lp.Gaussian(1, adjacency="replace"))
    assert empty.release == lp.Gaussian(1, adjacency="replace")


@pytest.mark.parametrize(
    ("count", "kind", "needle"),
    [(-1, ValueError, "negative"), (1.5, TypeError, "integer"), (True, TypeError, "integer"), (10**301, ValueError, "1e300")],
)
def test_a_count_that_is_none_is_refused_and_leaves_no_trace(count, kind, needle):
    accountant = holding((STEPS[0], 3))
    before = accountant.to_json()
    refused(kind, lambda: accountant.step(STEPS[0], count), "count", needle)
    refused(kind, lambda: accountant.step(STEPS[4], count), "count", needle)
    assert accountant.to_json() == before


def test_releases_beyond_the_doubles_are_refused_and_leave_no_trace():
    accountant = holding((STEPS[0], 10**300))
    before = accountant.to_json()
    for step in (STEPS[0], STEPS[4], STEPS[5]):
        refused(ValueError, lambda step=step: accountant.step(step), "releases", "1e300")
    assert accountant.to_json() == before
    assert lp.Accountant.from_json(before).to_json() == before


@pytest.mark.parametrize("value", ["Gaussian(1)", None, 1.0, lp.Gaussian])
def test_what_is_no_mechanism_is_a_type_error(value):
    refused(TypeError, lambda: lp.Accountant().step(value), "mechanisms")


class Gaussian(Own):
    """One with the name of another."""


class Unhashable(Own):
    """One whose parameter is a list, say."""

    __hash__ = None  # type: ignore[assignment]


def test_a_mechanism_without_a_hash_is_refused_and_leaves_no_trace():
    accountant = lp.Accountant()
    refused(TypeError, lambda: accountant.step(Unhashable()), "unhashable")
    assert (repr(accountant), accountant.adjacency) == (repr(lp.Accountant()), None)


LOGISTIC = lp.FromDensities(lambda x: -np.abs(x - 1) - np.log(2), lambda x: -np.abs(x) - np.log(2), (-np.inf, np.inf), [0, 1])


@pytest.mark.parametrize(("mechanism", "why"), [(LOGISTIC, "functions"), (Own(), "catalogue"), (Gaussian(), "catalogue")])
def test_what_cannot_be_made_again_is_recorded_but_not_written_down(mechanism, why):
    accountant = holding((mechanism, 2))
    assert accountant.history == ((mechanism, 2),)
    refused(ValueError, accountant.to_json, type(mechanism).__name__, why)


def test_a_number_too_long_to_be_read_again_is_not_written_down():
    refused(ValueError, holding((lp.Gaussian(Fraction(10**5000 + 1, 10**5000)), 1)).to_json, "digits")


def test_an_accountant_is_saved_whole(tmp_path):
    path = tmp_path / "accountant.json"
    accountant = holding((STEPS[0], 3))
    accountant.save(path)
    assert lp.Accountant.load(path).to_json() == accountant.to_json() == path.read_text()
    accountant.step(LOGISTIC)
    refused(ValueError, lambda: accountant.save(path), "FromDensities")
    assert lp.Accountant.load(path).history == ((STEPS[0], 3),)
    assert list(tmp_path.iterdir()) == [path]
    path.write_bytes(b"\xff\xfe\x00")
    refused(ValueError, lambda: lp.Accountant.load(path), "logphi-accountant")
    with pytest.raises(OSError, match="missing"):
        lp.Accountant.load(tmp_path / "missing.json")


TEXT = holding((STEPS[0], 3), (lp.DiscreteGaussian(2, truncation=6), 1), (parse("Laplace(scale=1/3)"), 2)).to_json()


@pytest.mark.parametrize(
    ("text", "needle"),
    [
        ("", "logphi-accountant"),
        ("[]", "object"),
        ("null", "object"),
        ('{"format": "logphi-filter"}', "format"),
        (TEXT.replace('"version": 1', '"version": 2'), "version 2"),
        (TEXT.replace('"version": 1', '"version": true'), "version True"),
        (TEXT.replace('"version": 1', '"version": 1.0'), "version 1.0"),
        (TEXT.replace("3\n", "4\n", 1), "digest"),
        (TEXT.replace("11/10", "12/10"), "digest"),
        (TEXT[:-3], "logphi-accountant"),
        ("[" * 100_000, "deep"),
        ('{"format": ' * 100_000, "deep"),
        ("1" * 10_000, "digits"),
        (TEXT.replace("3\n", "NaN\n", 1), "NaN"),
        (TEXT.replace("3\n", "1e999\n", 1), "digest"),
        (TEXT.replace('"version": 1', '"version": 1, "version": 1'), "twice"),
        (TEXT.replace("add_remove", "add_rem\N{LATIN SMALL LETTER O WITH DIAERESIS}ve"), "digest"),
    ],
)
def test_a_text_that_is_no_accountant_is_refused_in_one_line(text, needle):
    refused(ValueError, lambda: lp.Accountant.from_json(text), needle)


@pytest.mark.parametrize("value", [None, b"{}", 1, ["{}"], {}])
def test_json_that_is_no_string_is_a_type_error(value):
    refused(TypeError, lambda: lp.Accountant.from_json(value), "string")


CONTENT = json.loads(TEXT)


@settings(max_examples=150)
@given(st.sampled_from(list(places(CONTENT))), STRANGE)
def test_altered_content_is_refused_in_one_line_or_is_another_accountant(path, value):
    text = with_checksum(altered(CONTENT, path, value)) if path else json.dumps(value)
    found = read(lp.Accountant, text)
    assert found is None or lp.Accountant.from_json(found.to_json()).to_json() == found.to_json()


def _deep(depth):
    value: Any = 1.0
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("path", "value", "needle"),
    [
        (("steps",), [[0, 3]], "no step"),
        (("steps", 0), [3, 1], "place"),
        (("steps", 0), [-1, 1], "place"),
        (("mechanisms", 0, "parameters", "rate"), _deep(900), "number"),
        (("mechanisms", 0, "adjacency"), "\ud800", "adjacency"),
    ],
)
def test_content_that_does_not_fit_together_is_refused_whatever_its_checksum(path, value, needle):
    refused(ValueError, lambda: lp.Accountant.from_json(with_checksum(altered(CONTENT, path, value))), needle)


@settings(max_examples=60)
@given(st.integers(0, len(TEXT) - 1), st.characters(codec="utf-8"))
def test_a_changed_character_is_noticed(place, character):
    text = TEXT[:place] + character + TEXT[place + 1 :]
    found = read(lp.Accountant, text)
    # white space between the tokens
    assert found is None or found.to_json() == TEXT
