"""DP-SGD as it is run: rate and steps are those of its sizes, said first, and what is not covered is refused."""

import math
import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import logphi as lp
from refusals import refused
from repository import ROOT
from slowly import slowly
from some import some

MNIST: dict[str, Any] = {"dataset_size": 60000, "batch_size": 256, "epochs": 60, "noise_multiplier": 1.1}


def test_it_is_the_composition_of_its_steps():
    training = lp.dp_sgd(**MNIST)
    step = lp.Gaussian(1.1).poisson(Fraction(256, 60000))
    assert training.counted() == ((step, 14063),)
    assert training.epsilon(1e-5).same_as((14063 * step).epsilon(1e-5))
    assert training.tree() == (14063 * step).tree()
    assert repr(training) == repr(14063 * step)
    # the figure of dp-accounting's PLD accountant for the same number of steps, which is rounded up
    assert 2.3816 < training.epsilon(1e-5).value < 2.3818


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/tutorial.md", "docs/dp-sgd.md", "docs/command-line.md"])
def test_every_page_has_the_figure_of_the_same_run(page):
    """The reference value of 14062 steps, printed by whichever way is shown: the algebra, the sizes, the command line."""
    run = lp.dp_sgd(dataset_size=60000, batch_size=256, steps=14062, noise_multiplier=1.1)
    found = run.epsilon(1e-5)
    assert found.lower <= 2.38159692142439725468 <= found.upper
    printed = re.findall(r"^(?:epsilon = )?(2\.38\d+) ", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert printed
    assert set(printed) == {f"{found.value:.10g}"}


def test_rate_and_steps_are_told_first():
    lines = str(lp.dp_sgd(**{**MNIST, "batch_size": 128, "accumulation": 2})).splitlines()
    assert lines[:4] == [
        "sampling rate: 8/1875 = 0.00426667, batches of 256 (2 x 128, accumulated) out of 60000 records",
        "steps: 14063, 60 epochs of 1875/8 = 234.375, rounded up",
        "noise: standard deviation 1.1 times the clipping norm, one draw for each step",
        "relation: add_remove, for one record",
    ]
    for epochs, told in ((2.3456789, "2.3456789"), (Fraction(1, 3), "1/3 = 0.333333"), (7, "7"), (0.1, "0.1")):
        assert f", {told} epochs of" in str(lp.dp_sgd(**{**MNIST, "epochs": epochs}))
    text = "\n".join(lines)
    for word in ("Poisson", "clipped", "accumulated batches are parts of one sample", "not checked"):
        assert word in text
    assert str(lp.dp_sgd(dataset_size=100, batch_size=10, steps=7, noise_multiplier=1)).splitlines()[:2] == [
        "sampling rate: 1/10 = 0.1, batches of 10 out of 100 records",
        "steps: 7, 0.7 epochs of 10",
    ]


def test_adaptive_clipping_releases_two_sums_of_one_batch():
    run = lp.dp_sgd(dataset_size=1000, batch_size=50, steps=1000, noise_multiplier=1.1, clipped_count_noise=2.2)
    assert run.step == (lp.Gaussian(1.1) + lp.Gaussian(2.2)).poisson(Fraction(1, 20))
    alone = lp.dp_sgd(dataset_size=1000, batch_size=50, steps=1000, noise_multiplier=1.1 / 1.25**0.5)
    assert run.epsilon(1e-5).value == pytest.approx(alone.epsilon(1e-5).value, rel=1e-12)
    assert "counted on the same batch" in str(run)
    subsets = lp.dp_sgd(
        dataset_size=1000, batch_size=50, steps=9, noise_multiplier=3, clipped_count_noise=4, sampler="without_replacement"
    )
    assert subsets.delta(0.5).value == pytest.approx(
        lp.dp_sgd(dataset_size=1000, batch_size=50, steps=9, noise_multiplier=12 / 5, sampler="without_replacement")
        .delta(0.5)
        .value,
        rel=1e-12,
    )
    refused(ValueError, lambda: lp.dp_sgd(**{**MNIST, "clipped_count_noise": -1}), "clipped_count_noise", "negative")


SCRIPT: dict[str, Any] = {"dataset_size": 60000, "batch_size": 256, "epochs": 15}


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"clipped_count_noise": 10},
        {"accumulation": 4},
        *slowly({"group_size": 3}, {"adjacency": "replace"}, {"sampler": "without_replacement"}),
    ],
    ids=repr,
)
def test_the_noise_for_a_budget_is_found(more):
    found = lp.dp_sgd(**SCRIPT, **more, target_epsilon=1, target_delta=1e-5)
    given = lp.dp_sgd(**SCRIPT, **more, noise_multiplier=found.noise_multiplier)
    assert found == given
    assert found.epsilon(1e-5).same_as(given.epsilon(1e-5))
    # six digits, and the next smaller decimal misses the target
    calibration = some(found.calibration)
    missed = calibration.nearest_miss
    assert float(f"{found.noise_multiplier:.6g}") == found.noise_multiplier
    assert 0 < found.noise_multiplier - missed < 1.01 * 10 ** (math.floor(math.log10(missed)) - 5)
    assert float(given.epsilon(1e-5)) <= 1 + 1e-9
    assert float(given.delta(1)) <= 1e-5 < lp.dp_sgd(**SCRIPT, **more, noise_multiplier=missed).delta(1).lower
    assert float(calibration.answer) <= 1 <= some(calibration.nearest_miss_answer).lower
    assert calibration.status is lp.CalibrationStatus.TIGHT
    assert f"  found, to 6 digits: the smallest that meets epsilon <= 1.0 at delta = 1e-05; {missed!r} misses it" in str(found)
    assert given.calibration is None
    assert "found" not in str(given)


@pytest.mark.slow
def test_it_is_the_noise_that_calibration_finds():
    found = lp.dp_sgd(**SCRIPT, target_epsilon=2, target_delta=1e-5)
    own = lp.calibrate(lambda x: 3516 * lp.Gaussian(x).poisson(256 / 60000), epsilon=2, delta=1e-5, digits=6)
    assert (found.noise_multiplier, some(found.calibration).nearest_miss) == (own.value, own.nearest_miss)
    assert some(found.calibration).name == "noise_multiplier"
    composed = found + lp.Laplace(5)
    assert composed.epsilon(1e-5).lower > 2 - 1e-3


@pytest.mark.parametrize(
    ("arguments", "needles"),
    [
        ({}, ["either noise_multiplier, or both", "target_epsilon=None"]),
        ({"target_epsilon": 1}, ["both target_epsilon and target_delta", "target_delta=None"]),
        ({"target_delta": 1e-5}, ["both target_epsilon and target_delta", "target_epsilon=None"]),
        ({"target_epsilon": 1, "target_delta": 1e-5, "noise_multiplier": 1.1}, ["noise_multiplier=1.1", "target_epsilon=1 "]),
        ({"target_delta": 1e-5, "noise_multiplier": 1.1}, ["noise_multiplier=1.1", "target_delta=1e-05"]),
        ({"target_epsilon": 1, "target_delta": 0}, ["target_delta must lie between 0 and 1, got 0.0", "no largest loss"]),
        ({"target_epsilon": 1, "target_delta": 1}, ["target_delta must lie between 0 and 1"]),
        ({"target_epsilon": -1, "target_delta": 1e-5}, ["target_epsilon must not be negative"]),
        ({"target_epsilon": math.nan, "target_delta": 1e-5}, ["target_epsilon"]),
        (
            {"target_epsilon": 1, "target_delta": 1e-5, "sampler": "with_replacement"},
            ["no useful proved bound of batches with replacement"],
        ),
        (
            {"target_epsilon": 0.1, "target_delta": 1e-5, "clipped_count_noise": 0.5, "batch_size": 10**8},
            ["no noise multiplier that was tried meets epsilon <= 0.1", "more clipped_count_noise"],
        ),
        # a record is drawn with probability 1e-6 at all
        *slowly(
            (
                {"target_epsilon": 1, "target_delta": 1e-5, "epochs": 1e-6},
                ["every noise multiplier that was tried meets epsilon <= 1.0 at delta = 1e-05", "without noise"],
            )
        ),
    ],
    ids=repr,
)
def test_a_budget_that_makes_no_sense_is_refused_in_words(arguments, needles):
    refused(ValueError, lambda: lp.dp_sgd(**{"dataset_size": 10**8, "batch_size": 256, "epochs": 1, **arguments}), *needles)


@pytest.mark.slow
def test_it_composes_certifies_is_recorded_and_spent_like_any_other():
    training = lp.dp_sgd(dataset_size=1000, batch_size=100, steps=50, noise_multiplier=2)
    step = lp.Gaussian(2).poisson(Fraction(1, 10))
    assert training + lp.Laplace(5) == 50 * step + lp.Laplace(5)
    assert 2 * training == 100 * step
    accountant = lp.Accountant()
    accountant.step(training)
    assert accountant.history == ((step, 50),)
    assert lp.PrivacyFilter(epsilon=5, delta=1e-5).can_spend(training)
    assert training.certify(delta=Fraction(1, 10**5), digits=9).parameters == "as written"
    once = training.poisson(0.1)
    assert once.delta(0.5).upper < training.delta(0.5).lower
    assert (2 * once).delta(0.5).upper >= once.delta(0.5).lower


@settings(max_examples=60)
@given(st.integers(1, 500), st.integers(1, 40), st.integers(1, 5), st.fractions(Fraction(1, 10), 8, max_denominator=20))
def test_every_record_is_drawn_as_often_as_epochs_say_or_once_more(size, batch, accumulation, epochs):
    if batch * accumulation > size:
        refused(ValueError, lambda: made(size, batch, accumulation, epochs), "dataset_size", str(batch * accumulation))
        return
    training = made(size, batch, accumulation, epochs)
    assert training.rate == Fraction(batch * accumulation, size)
    assert epochs <= training.steps * training.rate < epochs + training.rate
    (step, count), *rest = training.counted()
    assert (count, rest) == (training.steps, [])
    assert step == lp.Gaussian(1).poisson(training.rate)


def made(size, batch, accumulation, epochs):
    return lp.dp_sgd(dataset_size=size, batch_size=batch, accumulation=accumulation, epochs=epochs, noise_multiplier=1)


def test_a_decimal_of_epochs_is_what_it_reads():
    # the double 0.1 is above a tenth, which must not cost a step
    assert lp.dp_sgd(dataset_size=1000, batch_size=10, epochs=0.1, noise_multiplier=1).steps == 10


def test_a_batch_of_all_records_is_not_sampled():
    training = lp.dp_sgd(dataset_size=10, batch_size=10, epochs=3, noise_multiplier=2)
    assert training.epsilon(1e-5).same_as((3 * lp.Gaussian(2)).epsilon(1e-5))


def test_other_relations_groups_and_samplers():
    known: dict[str, Any] = {"dataset_size": 1000, "batch_size": 10, "steps": 20, "noise_multiplier": 3}
    rate = Fraction(1, 100)
    cases: list[tuple[dict[str, Any], lp.Mechanism]] = [
        ({"adjacency": "replace"}, lp.Gaussian(3).poisson(rate, adjacency="replace")),
        ({"adjacency": "remove"}, lp.Gaussian(3, adjacency="remove").poisson(rate)),
        ({"group_size": 4}, lp.Gaussian(3).poisson(rate, group_size=4)),
        (
            {"sampler": "without_replacement"},
            lp.Gaussian(3, sensitivity=2, adjacency="replace").subset(rate, adjacency="add_remove"),
        ),
        (
            {"sampler": "without_replacement", "adjacency": "replace"},
            lp.Gaussian(3, sensitivity=2, adjacency="replace").subset(rate, adjacency="replace"),
        ),
    ]
    for arguments, step in cases:
        training = lp.dp_sgd(**known, **arguments)
        assert training.counted() == ((step, 20),)
        assert training.adjacency is step.adjacency
    cut_off = lp.dp_sgd(**known, sampler="truncated_poisson", truncated_batch_size=15, adjacency="replace")
    step = lp.Gaussian(3).poisson(rate, truncated_batch_size=15, dataset_size=1000, adjacency="replace")
    assert cut_off.counted() == ((step, 20),)
    assert "batches of 10, 15 at most, out of 1000" in str(cut_off)
    assert "a group of 4 records" in str(lp.dp_sgd(**known, group_size=4))
    assert "without replacement" in str(lp.dp_sgd(**known, sampler="without_replacement"))


@pytest.mark.parametrize(
    ("arguments", "needle"),
    [
        ({"batch_size": 60001}, "dataset_size=60000"),
        ({"accumulation": 235}, "235"),
        ({"batch_size": 0}, "batch_size"),
        ({"dataset_size": 0}, "dataset_size"),
        ({"dataset_size": 10**16}, "dataset_size"),
        ({"accumulation": 0}, "accumulation"),
        ({"epochs": 0}, "epochs"),
        ({"epochs": -1}, "epochs"),
        ({"epochs": math.nan}, "epochs"),
        ({"epochs": 1e300}, "steps"),
        ({"epochs": None}, "epochs"),
        ({"steps": 5}, "exactly one"),
        ({"epochs": None, "steps": 0}, "nothing is trained"),
        ({"noise_multiplier": -1.0}, "noise_multiplier"),
        ({"sampler": "with_replacement"}, "no useful proved bound of batches with replacement"),
        ({"sampler": "truncated_poisson"}, "truncated_batch_size is missing"),
        ({"truncated_batch_size": 300}, "truncated_batch_size is for sampler='truncated_poisson'"),
        ({"sampler": "truncated_poisson", "truncated_batch_size": 60001}, "truncated_batch_size"),
        ({"sampler": "truncated_poisson", "truncated_batch_size": 0}, "truncated_batch_size"),
        ({"sampler": "balls_in_bins", "adjacency": "replace"}, "add/remove"),
        ({"sampler": "uniform"}, "sampler must be one of"),
        ({"group_size": 0}, "group_size"),
        ({"sampler": "truncated_poisson", "truncated_batch_size": 300, "group_size": 2}, "truncated"),
        ({"adjacency": "replace_special"}, "replace_special"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(arguments, needle):
    refused(ValueError, lambda: lp.dp_sgd(**{**MNIST, **arguments}), needle)


@pytest.mark.parametrize("name", ["dataset_size", "batch_size", "accumulation", "group_size", "steps"])
@pytest.mark.parametrize("value", [2.5, 1.5, "2", True, None])
def test_a_size_that_is_not_whole_is_a_type_error(name, value):
    if name == "steps" and value is None:
        return
    arguments = {**MNIST, name: value}
    if name == "steps":
        arguments["epochs"] = None
    refused(TypeError, lambda: lp.dp_sgd(**arguments), name, "integer")


PASSES: dict[str, Any] = {"dataset_size": 1000, "batch_size": 300, "noise_multiplier": 3}


@pytest.mark.parametrize(
    ("sampler", "adjacency", "epoch", "per_epoch"),
    [
        ("balls_in_bins", "add_remove", lp.Gaussian(3).allocation(3), 3),
        ("shuffled", "add_remove", lp.Gaussian(3).shuffled(4), 4),
        ("shuffled", "replace", lp.Gaussian(3, sensitivity=2, adjacency="replace").shuffled(4), 4),
        ("fixed_order", "remove", lp.Gaussian(3, adjacency="remove"), 4),
        ("fixed_order", "replace", lp.Gaussian(3, sensitivity=2, adjacency="replace"), 4),
    ],
)
def test_of_a_sampler_that_goes_through_all_records_epochs_are_counted(sampler, adjacency, epoch, per_epoch):
    def run(**length):
        return lp.dp_sgd(**PASSES, sampler=sampler, adjacency=adjacency, **length)

    whole = run(epochs=5)
    assert (whole.counted(), whole.steps) == (((epoch, 5),), 5 * per_epoch)
    # one that is begun counts, and of steps it is not known whether an epoch has three or four
    assert run(epochs=4.01).counted() == ((epoch, 5),)
    assert run(steps=12).counted() == ((epoch, 4),)
    assert run(steps=13).counted() == ((epoch, 5),)
    assert run(steps=13).after(3) == epoch
    assert "counted as 5 whole epochs of 3 steps" in str(run(steps=13))
    assert "counted as" not in str(lp.dp_sgd(**PASSES, epochs=5))


def test_shuffled_training_is_a_bracket_and_noise_is_found_for_its_upper_end():
    run = lp.dp_sgd(**PASSES, epochs=2, sampler="shuffled")
    found = run.epsilon(1e-5)
    assert found.status is lp.Status.BRACKET
    assert found.upper == (2 * lp.Gaussian(3)).epsilon(1e-5).upper
    assert (run + lp.Laplace(5)).epsilon(1e-5).status is lp.Status.BRACKET
    assert run.zcdp().upper == pytest.approx(2 / 18)


@pytest.mark.slow
def test_noise_for_shuffled_batches_meets_the_target():
    sizes: dict[str, Any] = {"dataset_size": 1000, "batch_size": 300, "epochs": 2}
    found, fixed = (
        lp.dp_sgd(**sizes, sampler=sampler, target_epsilon=2, target_delta=1e-5) for sampler in ("shuffled", "fixed_order")
    )
    assert found.noise_multiplier == fixed.noise_multiplier
    assert some(found.calibration).status is lp.CalibrationStatus.WIDE
    assert found.epsilon(1e-5).upper <= 2
