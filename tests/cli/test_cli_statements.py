"""What a person hands on: the privacy statement, the risk, and the epsilon of a training run, from the command line."""

import json

import pytest

import logphi as lp
from logphi.cli import main
from logphi.expression import parse

TRAINING = "10 * Gaussian(sigma=5)"
RELEASE = parse(TRAINING)


def run(capsys, *argv):
    code = main(argv)
    out, err = capsys.readouterr()
    return code, out, err


def test_a_report_is_printed_and_saved(capsys, tmp_path):
    given = (
        "report",
        TRAINING,
        "--delta",
        "1e-6",
        "--unit",
        "one user",
        "--dataset-size",
        "50000",
        "--note",
        "Nothing was tuned.",
    )
    code, text, err = run(capsys, *given)
    assert (code, err) == (0, "")
    expected = lp.report(RELEASE, delta=1e-6, unit="one user", dataset_size=50_000, notes=["Nothing was tuned."])
    assert text == f"{expected}\n"
    assert run(capsys, *given, "--json")[1] == expected.to_json()
    saved = tmp_path / "statement.json"
    assert run(capsys, *given, "-o", str(saved))[:2] == (0, "")
    assert saved.read_text() == expected.to_json()


@pytest.mark.slow
def test_risks_are_those_of_the_library(capsys):
    asked = ("--fpr", "0.01,0.1", "--prior", "0.5", "--baseline", "0.001", "--slack", "1e-6", "--json")
    code, text, err = run(capsys, "risk", TRAINING, *asked)
    assert (code, err) == (0, "")
    found = [json.loads(line) for line in text.splitlines()]
    risk = RELEASE.risk
    expected = [
        ("advantage", risk.advantage()),
        ("tpr", risk.tpr(0.01)),
        ("tpr", risk.tpr(0.1)),
        ("success", risk.success(0.5)),
        ("reconstruction", risk.reconstruction(0.001)),
        ("gaussian_mu", risk.gaussian_mu(1e-6)),
    ]
    assert [(one["query"], one["lower"], one["upper"]) for one in found] == [
        (name, bound.lower, bound.upper) for name, bound in expected
    ]


SIZES = ("dp-sgd", "--dataset-size", "60000", "--batch-size", "256", "--noise-multiplier", "1.1", "--delta", "1e-5")


def test_a_training_run_tells_rate_and_steps_first(capsys):
    code, text, err = run(capsys, *SIZES, "--epochs", "60")
    assert (code, err) == (0, "")
    lines = text.splitlines()
    assert lines[0].startswith("sampling rate: 8/1875")
    assert lines[1].startswith("steps: 14063, 60 epochs of 1875/8 = 234.375, rounded up")
    assert lines[-1].startswith("epsilon = 2.38168")
    found = json.loads(run(capsys, *SIZES, "--steps", "14062", "--json")[1])
    assert (found["rate"], found["steps"]) == ("8/1875", 14062)
    assert found["lower"] <= 2.38159692142439725468 <= found["upper"]
    assert (found["noise_multiplier"], found["nearest_miss"]) == (1.1, None)


@pytest.mark.slow
def test_the_noise_of_a_training_run_is_found(capsys):
    budget = (*SIZES[:5], "--steps", "14062", "--epsilon", "2", "--delta", "1e-5")
    code, text, err = run(capsys, *budget)
    assert (code, err) == (0, "")
    assert text.splitlines()[2:4] == [
        "noise: standard deviation 1.22415 times the clipping norm, one draw for each step",
        "  found, to 6 digits: the smallest that meets epsilon <= 2.0 at delta = 1e-05; 1.22414 misses it",
    ]
    assert text.splitlines()[-1].startswith("epsilon = 1.99998")
    found = json.loads(run(capsys, *budget, "--json")[1])
    assert (found["noise_multiplier"], found["nearest_miss"], found["upper"] <= 2) == (1.22415, 1.22414, True)
    more = json.loads(run(capsys, *budget, "--clipped-count-noise", "10", "--group-size", "2", "--json")[1])
    assert more["noise_multiplier"] > 1.5 * found["noise_multiplier"]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ((*SIZES, "--epochs", "none"), "--epochs: "),
        ((*SIZES, "--steps", "10", "--sampler", "with_replacement"), "with_replacement"),
        ((*SIZES, "--steps", "10", "--epsilon", "1"), "not allowed with argument"),
        ((*SIZES[:5], "--steps", "10", "--delta", "1e-5"), "one of the arguments --noise-multiplier --epsilon is required"),
        ((*SIZES[:5], "--steps", "10", "--epsilon", "1", "--delta", "0"), "target_delta must lie between 0 and 1"),
        ((*SIZES[:5], "--steps", "10", "--epsilon", "much", "--delta", "1e-5"), "--epsilon: "),
        (("dp-sgd", *SIZES[1:3], "--batch-size", "70000", *SIZES[5:], "--steps", "1"), "must not exceed dataset_size"),
        (("risk", TRAINING, "--fpr", "2"), "fpr must lie in"),
        (("report", TRAINING, "--delta", "0"), "delta must lie strictly between"),
    ],
)
def test_bad_sizes_and_places_are_one_line(capsys, argv, said):
    code, out, err = run(capsys, *argv)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_a_report_asked_for_as_json_is_saved_as_json_whatever_the_name(capsys, tmp_path):
    saved = tmp_path / "statement.txt"
    assert run(capsys, "report", "Gaussian(sigma=5)", "--delta", "1e-6", "--json", "-o", str(saved))[:2] == (0, "")
    assert saved.read_text() == lp.report(parse("Gaussian(sigma=5)"), delta=1e-6).to_json()
