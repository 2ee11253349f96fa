"""Who asks for a method that does not apply reads about mechanisms and methods, not about classes of the library."""

import re
from pathlib import Path

import numpy as np
import pytest

import logphi as lp
from logphi.engine.routes.registry import ROUTES

pytest.importorskip("flint")


def log_normal(mean):
    return lambda x: -((x - mean) ** 2) / 2 - np.log(2 * np.pi) / 2


MECHANISMS = {
    "Gaussian": lp.Gaussian(1),
    "sampled Gaussian": lp.Gaussian(1).poisson(0.1),
    "response": 3 * lp.RandomizedResponse(0.25),
    "pair": lp.GaussianPair(0.1, 1.1, 0.3, 1.2).poisson(0.1),
    "mixtures": lp.GaussianMixturePair(1.1, [0, 1], [0.3, 0.7], [0.6, 0.4]),
    "densities": lp.FromDensities(log_normal(1), log_normal(0), support=(-np.inf, np.inf)),
    "divergences": lp.FromRenyi(lambda order: order / 2),
    "one sample": 2 * (lp.Laplace(1) + lp.Gaussian(1)).poisson(0.1),
    "curve": lp.FromTradeoff([0, 0.1, 0.6], [0.9, 0.6, 0.1]),
}
UNCERTIFIED = [name for name in MECHANISMS if name not in ("Gaussian", "sampled Gaussian", "response", "curve")]
# whose certificates rest on the answers in doubles
CHECKED = ("truncated", "sampled truncated", "mixtures")
REFUSED = {"ValueError", "UnsupportedError", "NotApplicableError", "NotAnsweredError", "NotCertifiedError"}
_WORD = re.compile(r"\b[A-Z][a-z]+(?:[A-Z][A-Za-z]*)+\b")


@pytest.fixture(scope="module")
def private():
    """The names of all classes of the library that nobody is given by ``import logphi``."""
    texts = (one.read_text(encoding="utf-8") for one in Path(lp.__file__).parent.rglob("*.py"))
    return {name for text in texts for name in re.findall(r"^class (\w+)", text, re.MULTILINE)} - set(dir(lp))


def test_private_classes_are_found(private):
    assert {"SampledLoss", "MixedTruncated", "NotThisRouteError", "TwoPoint"} <= private
    assert "Gaussian" not in private


# these answer most of what they are asked for, in seconds; all others refuse at once what they do not serve
_ANSWERING = {"contour", "smoothed", "discretized", "levy", "levy-quadrature"}
_QUICK = ("certified", *(name for name in ROUTES if name not in _ANSWERING))
# answered, in many seconds
_SLOW = [
    pytest.param("one sample", "levy", marks=pytest.mark.slow),
    ("one sample", "contour"),
    ("one sample", "discretized"),
    ("divergences", "discretized"),
]


def refusal(name, method):
    """Of a question by a method; None if it is answered."""
    try:
        MECHANISMS[name].delta(0.5, method=method)
    except ValueError as found:
        return found
    return None


@pytest.mark.few(41)
@pytest.mark.parametrize(("name", "method"), [*((name, method) for name in MECHANISMS for method in _QUICK), *_SLOW])
def test_a_refusal_names_no_class_of_the_library(name, method, private):
    found = refusal(name, method)
    assert found is None or type(found).__name__ in REFUSED
    assert not private & set(_WORD.findall(str(found)))
    assert not re.search(r"<function|object at 0x", str(found))


def test_what_is_refused_here():
    assert all(refusal(name, "certified") for name in UNCERTIFIED)
    assert refusal("one sample", "lattice")


@pytest.mark.parametrize("name", [name for name in UNCERTIFIED if name not in CHECKED])
def test_what_has_no_certificate_is_refused_with_a_reason(name, private):
    with pytest.raises(ValueError, match="certificate") as caught:
        MECHANISMS[name].certify(epsilon=0.5)
    assert type(caught.value).__name__ in REFUSED
    assert not private & set(_WORD.findall(str(caught.value)))
