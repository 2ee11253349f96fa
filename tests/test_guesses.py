"""What is typed first, from memory of another library, and where the answer leads."""

import copy
import inspect
import pickle

import pytest

import logphi as lp


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        (lambda: lp.Gaussian(noise_multiplier=1.1), "sigma="),
        (lambda: lp.Gaussian(1.1, l2_sensitivity=2), "sensitivity="),
        (lambda: lp.Gaussian(1, group_size=4), r"m\.poisson\(rate, group_size="),
        (lambda: lp.Laplace(epsilon=1), "scale=sensitivity/epsilon"),
        (lambda: lp.Gaussian(1).poisson(sample_rate=0.01), r"m\.poisson\(rate\)"),
        (lambda: lp.Gaussian(1, adjacency="replace").subset(sampling_rate=0.01, adjacency="replace"), "rate"),
        (lambda: lp.Gaussian(1, colour="red"), "it takes sigma, sensitivity, adjacency"),
    ],
)
def test_keywords(typed, hint):
    with pytest.raises(TypeError, match=hint):
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
    ],
)
def test_attributes(typed, hint):
    with pytest.raises(AttributeError, match=hint):
        typed()


def test_sums_of_lists():
    assert sum([lp.Gaussian(1), lp.Laplace(1)]) == lp.Gaussian(1) + lp.Laplace(1)
    with pytest.raises(TypeError):
        3 + lp.Gaussian(1)


def test_hints_do_not_get_in_the_way():
    mechanism = lp.Gaussian(sigma=1.5).poisson(rate=0.1)
    assert copy.deepcopy(mechanism) == pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert not hasattr(mechanism, "subsample")
    assert list(inspect.signature(lp.Gaussian).parameters) == ["sigma", "sensitivity", "adjacency"]
