"""What is typed first, from memory of another library, and where the answer leads."""

import copy
import inspect
import pickle
import re
from typing import Any

import pytest

import logphi

# what no type checker would accept is what these tests type
lp: Any = logphi


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        (lambda: lp.Gaussian(noise_multiplier=1.1), "sigma="),
        (lambda: lp.Gaussian(1.1, l2_sensitivity=2), "sensitivity="),
        (lambda: lp.Gaussian(1, group_size=4), r"m\.poisson\(rate, group_size="),
        (lambda: lp.Laplace(epsilon=1), "scale=sensitivity/epsilon"),
        (lambda: lp.Gaussian(1).poisson(sample_rate=0.01), r"m\.poisson\(rate\)"),
        (lambda: lp.Gaussian(1, adjacency="replace").subset(sampling_rate=0.01, adjacency="replace"), "rate"),
        (lambda: lp.Gaussian(noise=1.1), "sigma="),
        (lambda: lp.Laplace(sigma=1), "scale="),
        (lambda: lp.RandomizedResponse(epsilon=1), r"p=math\.exp\(epsilon\)"),
        (lambda: lp.Gaussian(1).epsilon(target_delta=1e-5), "write delta; it takes delta, direction"),
        (lambda: lp.Gaussian(1).delta(eps=1), "write epsilon"),
        (lambda: lp.Gaussian(1).renyi(alpha=2), "write order"),
        (lambda: lp.Gaussian(1).epsilon(1e-5, relation="remove"), "direction="),
        (lambda: lp.dp_sgd(noise_multiplier=1.1, sample_rate=0.01, steps=100), "dataset_size= and batch_size="),
        (lambda: lp.dp_sgd(noise=1.1, dataset_size=100, batch_size=1, epochs=1), "noise_multiplier="),
        (lambda: lp.dp_sgd(epsilon=1, delta=1e-5, dataset_size=100, batch_size=1, epochs=1), "target_epsilon="),
        (lambda: lp.calibrate(lp.Gaussian, target_epsilon=1, target_delta=1e-5), "write epsilon="),
        (lambda: lp.Gaussian(1, colour="red"), "it takes sigma, sensitivity, adjacency"),
        (lambda: lp.Gaussian(1).subset(10, 100), r"got 10, 100: write m\.subset\(size / dataset_size, adjacency="),
        (
            lambda: lp.Gaussian(1).epsilon(1e-5, "remove"),
            "only delta without a keyword, got 1e-05, 'remove': write direction=",
        ),
        (
            lambda: lp.dp_sgd(60000, 256, 1.1),
            "keyword arguments only, got 60000, 256, 1.1: write dataset_size=, batch_size=",
        ),
        (lambda: lp.Accountant(neighboring_relation="replace"), "write adjacency="),
        (lambda: lp.Accountant().step(noise_multiplier=1.1, sample_rate=0.01), r"accountant\.step\(lp\.Gaussian\("),
        (lambda: lp.PrivacyFilter(eps=1, delta=1e-5), "write epsilon"),
        (lambda: lp.PrivacyFilter(1, 1e-5), "keyword arguments only, got 1, 1e-05: write epsilon=, delta="),
        (lambda: lp.Gaussian(1, adjacency="replace").subset(0.1), r"subset\(\) needs adjacency=$"),
        (lambda: lp.Gaussian(1).epsilon(), r"epsilon\(\) needs delta$"),
        (lambda: lp.Gaussian(1).epsilon(epsilon=1), r"write m\.delta\(epsilon\)"),
        (lambda: lp.Gaussian(1).delta(delta=1e-5), r"write m\.epsilon\(delta\)"),
    ],
)
def test_keywords(typed, hint):
    with pytest.raises(TypeError, match=hint):
        typed()


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        (lambda: lp.Gaussian(1).poisson(256), "got 256.0: a rate is a share of the records"),
        (lambda: lp.Gaussian(1).epsilon(2), "got 2: a delta is a small probability"),
        (lambda: lp.Gaussian(1).epsilon([1e-5, 2]), "a delta is a small probability"),
        (lambda: lp.RandomizedResponse(p=60), "a percentage is written as a fraction"),
        (lambda: lp.Gaussian(1).risk.ppv(0.01, prior=50), "a percentage is written as a fraction"),
        (lambda: lp.Gaussian(1).epsilon(-1), "got -1$"),
        (lambda: lp.Gaussian(1, adjacency="add-remove"), "did you mean add_remove"),
        (lambda: lp.Gaussian(1, adjacency="substitution"), "did you mean replace"),
        (lambda: lp.Gaussian(1, adjacency="replac"), "did you mean replace"),
        (lambda: lp.Gaussian(1, adjacency="neighbours"), "got 'neighbours'$"),
        (lambda: lp.Gaussian(1).epsilon(1e-5, method="rdp"), "without it logphi chooses"),
        (lambda: lp.parse("Gaussian(sigma=x)"), "write a number, or ask for calibrate or sweep"),
    ],
)
def test_values(typed, hint):
    with pytest.raises(ValueError, match=hint):
        typed()


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        (lambda: lp.Gaussian(1).subsample(0.01), r"m\.poisson\(rate\)"),
        (lambda: lp.Gaussian(1).compose(lp.Laplace(1)), r"m1 \+ m2"),
        (lambda: (lp.Gaussian(1) + lp.Laplace(1)).get_epsilon(1e-5), r"m\.epsilon\(delta\)"),
        (lambda: lp.Gaussian(1).group_privacy(4), r"m\.group\(size\)"),
        (lambda: lp.Gaussian(1).to_dict(), r"m\.to_json\(\)"),
        (lambda: lp.Gaussian(1).colour, "a Gaussian has no 'colour'"),
        (lambda: lp.ExponentialMechanism(1).colour, "an ExponentialMechanism has no 'colour'"),
        (lambda: lp.Gaussian(1).compute_epsilon(1e-5), r"m\.epsilon\(delta\)"),
        (lambda: lp.Gaussian(1).step(), "n steps"),
        (
            lambda: lp.Accountant().get_epsilon(delta=1e-5),
            r"an Accountant has no .* write accountant\.epsilon\(delta\)",
        ),
        (lambda: lp.Accountant().compute_epsilon(1e-5), r"accountant\.epsilon\(delta\)"),
        (lambda: lp.Accountant().get_delta(1), r"accountant\.delta\(epsilon\)"),
        (lambda: lp.Accountant().compose(lp.Gaussian(1)), r"accountant\.step\(mechanism, count\)"),
        (lambda: lp.Accountant().renyi(2), r"accountant\.release"),
        (lambda: lp.PrivacyFilter(epsilon=1, delta=1e-5).step(lp.Gaussian(9)), r"budget\.spend\(mechanism, count\)"),
        (lambda: lp.PrivacyFilter(epsilon=1, delta=1e-5).epsilon(1e-5), r"budget\.spent, or budget\.release\.epsilon"),
    ],
)
def test_attributes(typed, hint):
    with pytest.raises(AttributeError, match=hint):
        typed()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("epsilon", r"m\.epsilon\(delta\)"),
        ("subsample", r"m\.poisson\(rate\)"),
        ("GaussianMechanism", r"lp\.Gaussian\(sigma\)"),
        ("RDPAccountant", r"lp\.Accountant\(\)"),
        ("get_epsilon", r"m\.epsilon\(delta\)"),
        ("compute_epsilon", r"m\.epsilon\(delta\)"),
        ("colour", "has no attribute 'colour'$"),
        ("gausian", "did you mean Gaussian"),
        ("moments_accountant", "did you mean Accountant"),
    ],
)
def test_names_of_the_package(name, hint):
    with pytest.raises(AttributeError, match=hint):
        getattr(lp, name)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("14062 * Gaussian(noise_multiplier=1.1).poisson(256/60000)", "write sigma="),
        ("Gaussian(sigma=1.1).poisson(sample_rate=0.01)", r"m\.poisson\(rate\)"),
        ("Gaussian(sigma=1.1).subsample(0.01)", r"m\.poisson\(rate\) or m\.subset"),
        ("Laplace(epsilon=1)", "scale=sensitivity/epsilon"),
        ("gaussian(1)", "did you mean Gaussian"),
        ("Gaussian(1).poison(0.1)", "did you mean poisson"),
    ],
)
def test_the_command_line_answers_the_same(text, hint, capsys):
    from logphi.cli import main

    assert main(["epsilon", text, "--delta", "1e-5"]) == 2
    told = capsys.readouterr().err
    assert re.search(hint, told)
    assert len(told.splitlines()) == 1


def test_sums_of_lists():
    assert sum([lp.Gaussian(1), lp.Laplace(1)]) == lp.Gaussian(1) + lp.Laplace(1)
    with pytest.raises(TypeError):
        3 + lp.Gaussian(1)


def test_hints_do_not_get_in_the_way():
    mechanism = lp.Gaussian(sigma=1.5).poisson(rate=0.1)
    assert copy.deepcopy(mechanism) == pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert not hasattr(mechanism, "subsample")
    accountant = lp.Accountant()
    accountant.step(mechanism)
    assert copy.deepcopy(accountant).history == pickle.loads(pickle.dumps(accountant)).history == ((mechanism, 1),)
    assert list(inspect.signature(lp.Gaussian).parameters) == ["sigma", "sensitivity", "adjacency"]
