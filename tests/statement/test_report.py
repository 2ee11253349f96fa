"""Privacy statements: what they must say, rounded to the safe side, and the same bytes each time."""

import json
import math
import re
from decimal import Decimal
from typing import Any

import pytest

import logphi as lp
from effort import answers
from logphi.questions.risk import AttackRisk
from logphi.statement.words import Term, neighbours, not_checked
from some import some

TRAINING = 14062 * lp.Gaussian(sigma=1.1).poisson(256 / 60000)


@pytest.fixture(scope="module")
def statement():
    release = TRAINING + 2 * lp.Laplace(scale=5.0)
    return lp.report(release, delta=1e-5, unit="one user", dataset_size=60_000, notes=["Tuned on  public data."])


def flat(report):
    return " ".join(str(report).split())


@pytest.mark.slow
def test_it_says_what_a_claim_should_come_with(statement):
    text = flat(statement)
    for said in (
        "at delta = 1e-05",
        "unit: one user",
        "differ in one user, present in one and absent from the other; both directions count",
        "size of the data set: 60000",
        "14062 x Gaussian(sigma=1.1)",
        "fresh Poisson sample: one user takes part with probability 0.004266666666666667",
        "2 x Laplace(scale=5.0)",
        "all data: no sampling is counted on",
        "TPR - FPR: at most",
        "Shuffled batches",
        "tuning of hyper-parameters",
        "floating-point",
        "Tuned on public data.",
        f"logphi {lp.__version__}",
        "numpy",
        "(proved)",
    ):
        assert said in text
    assert "Warnings" not in text
    assert max(map(len, str(statement).splitlines())) <= 100


def test_every_number_is_rounded_to_the_safe_side(statement):
    text = flat(statement)
    claimed = Decimal(some(re.search(r"with epsilon = (\S+)", text))[1])
    assert Decimal(statement.epsilon.upper) <= claimed <= Decimal(statement.epsilon.upper) * Decimal("1.0001")
    low, high = some(re.search(r"smallest epsilon is between (\S+) and (\S+)", text)).groups()
    assert Decimal(low) <= Decimal(statement.epsilon.lower) <= Decimal(statement.epsilon.upper) <= Decimal(high)
    curve = [*statement.epsilons, *statement.deltas, *statement.tpr, *statement.reconstruction]
    printed = [Decimal(number) for number in re.findall(r"at most ([\d.e+-]+)", text)]
    bounds = [statement.advantage, *(bound for _, bound in statement.tpr), *(bound for _, bound in statement.reconstruction)]
    bounds = [*(bound for _, bound in (*statement.epsilons, *statement.deltas)), *bounds]
    assert len(printed) == len(bounds) == len(curve) + 1
    for number, bound in zip(printed, bounds, strict=True):
        assert Decimal(bound.upper) <= number <= Decimal(bound.upper) * Decimal("1.0001")


@pytest.mark.slow
def test_the_numbers_are_those_of_the_release(statement):
    release = TRAINING + 2 * lp.Laplace(scale=5.0)
    assert statement.epsilon.same_as(release.epsilon(1e-5))
    assert dict(statement.epsilons)[1e-5].same_as(statement.epsilon)
    assert [at for at, _ in statement.deltas] == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert statement.advantage.same_as(release.delta(0.0))
    assert dict(statement.tpr)[0.01].same_as(release.risk.tpr(0.01, rtol=1e-6))


@pytest.mark.slow
def test_json_is_versioned_and_the_same_bytes_each_time():
    release = 100 * lp.Gaussian(sigma=30) + 2 * lp.RandomizedResponse(p=0.6)
    first, again = (
        lp.report(release, delta=1e-5, notes=notes) for notes in (["Tuned on  public data."], ["Tuned on public data."])
    )
    text = first.to_json()
    assert again.to_json() == text
    content = json.loads(text)
    assert (content["format"], content["version"]) == ("logphi-privacy-statement", 1)
    assert content["guarantee"]["epsilon"]["upper"] == first.epsilon.upper
    assert content["guarantee"]["epsilon"]["proved"] is True
    assert content["unit"] == "one record"
    assert content["adjacency"] == "add_remove"
    assert [term["count"] for term in content["terms"]] == [100, 2]
    assert [count for count, _ in content["parameters"]] == [100, 2]
    assert text.isascii()


def test_saved_whole_as_its_name_asks(statement, tmp_path):
    statement.save(tmp_path / "statement.json")
    statement.save(tmp_path / "statement.txt")
    assert (tmp_path / "statement.json").read_text() == statement.to_json()
    assert (tmp_path / "statement.txt").read_text() == f"{statement}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["statement.json", "statement.txt"]
    with pytest.raises(OSError, match="nowhere"):
        statement.save(tmp_path / "nowhere" / "statement.txt")


def test_html_is_escaped():
    page = lp.report(lp.Gaussian(sigma=1), delta=1e-5, unit="<b>one</b> & only")._repr_html_()
    assert "&lt;b&gt;one&lt;/b&gt; &amp; only" in page
    assert "<b>" not in page


def test_a_delta_that_allows_releasing_a_record_is_warned_of():
    text = flat(lp.report(lp.RandomizedResponse(p=0.6), delta=1e-4, dataset_size=10_000))
    assert "Warnings delta = 0.0001 is not below one over the size of the data set, 10000" in text
    assert "which was not given" not in text
    assert "which was not given" in flat(lp.report(lp.RandomizedResponse(p=0.6), delta=1e-4))


def test_no_finite_epsilon_is_said_so():
    report = lp.report(lp.ApproximateDP(epsilon=1, delta=1e-3), delta=1e-5)
    assert "No finite epsilon can be claimed at delta = 1e-05." in flat(report)
    assert "The probability of an infinite loss is at least delta" in flat(report)
    content = json.loads(report.to_json())
    assert content["guarantee"]["epsilon"]["upper"] == "inf"
    assert content["gaussian_mu"]["upper"] == "inf"


@pytest.mark.slow
def test_estimates_are_called_estimates():
    release = lp.FromRenyi(lambda order: order / 2, (-math.inf, math.inf), "add_remove")
    report = lp.report(release, delta=1e-5, epsilons=[1.0], deltas=[])
    assert "An error in these numbers is an estimate" in flat(report)
    assert "(estimated)" in flat(report)
    assert report.tree is None


@pytest.mark.slow
def test_relations_and_samplers_in_words():
    base = lp.Gaussian(sigma=4, sensitivity=2, adjacency="replace")
    subset = flat(lp.report(base.subset(0.125, adjacency="replace"), delta=1e-5, epsilons=[1.0], deltas=[]))
    assert "of the same size that differ in the value of one record" in subset
    assert "random subset of fixed size, 0.125 of the data set" in subset
    assert "That subsets are drawn as stated" in subset
    assert "may be known: it is no secret" in subset
    added = lp.report(lp.Gaussian(sigma=4, adjacency="add"), delta=1e-5, epsilons=[], deltas=[])
    assert added.reconstruction is None
    assert "one record added; only this direction counts" in flat(added)
    group = lp.report(lp.Gaussian(sigma=4).poisson(0.01, group_size=3), delta=1e-5, epsilons=[], deltas=[])
    assert "for a group of 3 at once" in flat(group)


def test_random_allocation_says_how_batches_are_drawn_also_where_only_bounds_are_known():
    for base in (lp.Gaussian(sigma=2), lp.Laplace(scale=2)):
        release = base.allocation(4)
        assert "each time on 4 batches" in Term.of(release, 1, "one record").sampling
        assert any("put into one batch as stated" in line for line in not_checked(release, "one record", None))


def test_many_terms_are_counted_in_the_text_and_listed_in_the_json():
    release = lp.compose([lp.Gaussian(sigma=10 + step) for step in range(25)])
    report = lp.report(release, delta=1e-5, epsilons=[], deltas=[])
    assert "and 5 more" in flat(report)
    assert len(json.loads(report.to_json())["terms"]) == 25


@pytest.mark.slow
def test_an_accountant_is_reported_by_its_release():
    accountant = lp.Accountant()
    assert "What was released nothing" in flat(lp.report(accountant, delta=1e-5))
    accountant.step(lp.RandomizedResponse(p=0.6), 7)
    assert lp.report(accountant, delta=1e-5) == lp.report(7 * lp.RandomizedResponse(p=0.6), delta=1e-5)


def test_the_claim_can_be_certified():
    pytest.importorskip("flint")
    report = lp.report(10 * lp.Gaussian(sigma=10), delta=1e-5, method="certified", epsilons=[1.0], deltas=[])
    assert "(certified in ball arithmetic)" in flat(report)
    assert report.advantage.method == "certified"


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"delta": 0.0}, ValueError, "delta must lie strictly between 0 and 1"),
        ({"delta": 1e-5, "unit": "  "}, ValueError, "unit must not be empty"),
        ({"delta": 1e-5, "unit": 3}, TypeError, "unit must be text"),
        ({"delta": 1e-5, "dataset_size": 0}, ValueError, "dataset_size must be an integer from 1"),
        ({"delta": 1e-5, "notes": "one sentence"}, TypeError, "notes must be a list"),
        ({"delta": 1e-5, "deltas": [2]}, ValueError, "deltas must lie strictly between"),
        ({"delta": 1e-5, "epsilons": [-1]}, ValueError, "epsilons must not have negative entries"),
        ({"delta": 1e-5, "method": "lattice"}, ValueError, "lattice"),
    ],
)
def test_bad_options_are_refused(options, error, text):
    with pytest.raises(error, match=text):
        lp.report(lp.Gaussian(sigma=1), **options)


def test_something_else_is_refused():
    with pytest.raises(TypeError, match="a mechanism or an accountant is needed, got 3"):
        lp.report(3, delta=1e-5)


def test_a_filter_is_not_reported_on_as_if_its_steps_had_been_fixed():
    budget = lp.PrivacyFilter(epsilon=1, delta=1e-5)
    budget.spend(lp.Gaussian(sigma=30.0))
    with pytest.raises(TypeError, match=r"a filter guarantees its budget.*epsilon=1"):
        lp.report(budget, delta=1e-5)
    assert lp.report(budget.release, delta=1e-5).epsilon.same_as(lp.Gaussian(sigma=30.0).epsilon(1e-5))


def test_a_group_is_named_where_a_group_is_protected():
    step, other = (lp.Gaussian(sigma=5.0).poisson(0.1, group_size=size) for size in (4, 1))
    group = "a group of 4 (each one visit)"
    assert f"differ in {group}, present in one and absent from the other" in neighbours(step, "one visit")
    assert f"That {group} is all that a person contributes." in " ".join(not_checked(step, "one visit", None))
    assert "stated for the whole group too" not in " ".join(not_checked(step, "one visit", None))
    assert "stated for the whole group too" in " ".join(not_checked(step + lp.Laplace(5.0), "one visit", None))
    # a larger group leaks more, so that the smallest one is protected
    assert "differ in one visit, present" in neighbours(step + other, "one visit")


@pytest.mark.slow
def test_an_estimate_is_put_down_to_what_makes_it_one():
    release = 400 * lp.Gaussian(sigma=2.0).poisson(0.1)
    (warning,) = lp.report(release, delta=1e-3, method="levy-quadrature", epsilons=[], deltas=[]).warnings
    assert "estimate" in warning
    assert "by this method" in warning


@pytest.mark.parametrize("text", ["one\x1b[31m user", "one\x07user", "one \udc80 user"])
def test_words_that_a_terminal_would_obey_are_refused(text):
    release = lp.Gaussian(sigma=5.0)
    with pytest.raises(ValueError, match="unit must not have control characters"):
        lp.report(release, delta=1e-5, unit=text)
    with pytest.raises(ValueError, match="notes must not have control characters"):
        lp.report(release, delta=1e-5, notes=[text])


@pytest.mark.parametrize("attack", [AttackRisk.tpr, AttackRisk.reconstruction])
def test_no_attack_is_asked_for_more_digits_than_its_statement_can_use(attack):
    """Each took sixteen seconds, of two normal laws, where it was asked for all that doubles have."""
    asked = [given["rtol"] for given, _ in answers(lambda: lp.report(lp.Gaussian(sigma=2.0), delta=1e-5), attack)]
    assert asked
    assert min(asked) >= 1e-6


@pytest.mark.parametrize(
    ("lower", "upper"), [(1 / 3, 2 / 3), (-2 / 3, -1 / 3), (0.1, 0.2), (1e-300 / 3, 1e300 / 3), (2 / 3, math.inf)]
)
def test_a_bound_is_printed_with_its_ends_rounded_outward(lower, upper):
    low, high = some(re.search(r"between (\S+) and ([^\s)]+)", str(lp.Bound(lower, lower, upper)))).groups()
    assert Decimal(low) <= Decimal(lower)
    assert Decimal(upper) <= Decimal(high)
    assert str(lp.Bound(0.1, 0.1, 0.1)) == "0.1"
    assert float(str(lp.Bound(lower, lower, lower))) == lower


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "needles"),
    [
        (
            lp.Gaussian(4).poisson(0.1, truncated_batch_size=5, dataset_size=20),
            ("5 records, drawn uniformly, are kept", "truncated"),
        ),
        (3 * lp.Gaussian(4).allocation(10), ("on 10 batches: one record is in exactly one", "put into one batch as stated")),
        (
            lp.dp_sgd(dataset_size=100, batch_size=10, epochs=2, noise_multiplier=4, sampler="shuffled"),
            (
                "on all 10 batches of a freshly shuffled data set",
                "its place stays empty",
                "The bounds of epsilon are wide",
            ),
        ),
    ],
)
def test_how_batches_are_drawn_is_said_in_words(release, needles):
    said = lp.report(release, delta=1e-5, epsilons=(), deltas=())
    text = " ".join(str(said).split())
    assert all(needle in text for needle in needles)
    assert "Gaussian(sigma=4.0) - Adds" in text


def test_attacks_on_a_bracket_lie_between_a_known_one_and_those_on_what_covers_it():
    release: Any = 2 * lp.Gaussian(4).shuffled(10)
    said = lp.report(release, delta=1e-5, epsilons=(), deltas=())
    assert said.epsilon.status is said.advantage.status is lp.Status.BRACKET
    # the attack on each epoch by its largest coordinate
    assert 0 < said.advantage.lower == release.attack.risk.advantage().lower
    assert said.advantage.upper == (2 * lp.Gaussian(4)).risk.advantage().upper


@pytest.mark.parametrize(
    "made", [lambda m: m.repeat_and_select(5), lambda m: lp.RandomChoice([m, lp.Laplace(scale=5)], [0.5, 0.5])]
)
def test_sampling_inside_of_another_mechanism_is_stated(made):
    inside = made(lp.Gaussian(sigma=4).poisson(0.1))
    assert "takes part with probability 0.1" in Term.of(inside, 1, "one user").sampling
    said = " ".join(not_checked(inside, "one user", None))
    assert "Shuffled batches" in said
    assert "whatever the data are" in said or "does not depend on the data" in said
