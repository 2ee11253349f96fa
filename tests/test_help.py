"""What help() and dir() tell somebody who has just installed the package."""

import enum
import inspect
import pydoc
import re
from typing import Any

import pytest

import logphi as lp
from logphi.comparison import Comparison
from logphi.questions.dominance import Dominance
from logphi.questions.explain import Explanation
from logphi.questions.loss import InnerLoss, LossDistribution
from logphi.questions.unit_pair import UnitPair

# what answers are made of, beside the public names
BEHIND = (Comparison, Dominance, Explanation, InnerLoss, LossDistribution, UnitPair)
PUBLIC = [getattr(lp, name) for name in dir(lp) if name not in ("__version__", "classical", "plot", "strategies")]
CLASSES = [one for one in (*PUBLIC, *BEHIND) if inspect.isclass(one)]
FUNCTIONS = [one for one in PUBLIC if inspect.isfunction(one)]
# for those who write a mechanism
EXTENDING = {"loss_law", "pair", "counted", "tree"}
SECTION = re.compile(r"^([A-Z][a-z]+)\n-+$", re.MULTILINE)


def shown(thing):
    return pydoc.plain(pydoc.render_doc(thing))


def function_of(member):
    """The function behind a method or a property; None behind what only holds something."""
    member = getattr(member, "__func__", member)
    member = getattr(member, "fget", None) or getattr(member, "func", None) or member
    return inspect.unwrap(member) if inspect.isfunction(member) else None


def methods(kind):
    """Names, and functions of this package, that a class lists."""
    found = {name: function_of(inspect.getattr_static(kind, name)) for name in dir(kind) if not name.startswith("_")}
    return {name: one for name, one in found.items() if one and one.__module__.startswith("logphi")}


def missing(one):
    """The sections that a docstring owes."""
    text, signature = inspect.getdoc(one) or "", inspect.signature(one)
    taken = [name for name in signature.parameters if name not in ("self", "cls")]
    given = signature.return_annotation not in (None, "None")
    owed = {"Parameters": bool(taken), "Returns": bool(taken) and given, "Examples": bool(taken) and given}
    return [name for name, owes in owed.items() if owes and name not in SECTION.findall(text)] if text else ["all"]


def test_the_help_of_epsilon_is_whole():
    text = shown(lp.Gaussian.epsilon)
    for piece in ("Parameters", "Returns", "Raises", "Examples", "in nats", "``float`` gives the upper end", "[AFA]", "rtol"):
        assert piece in text


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_method_says_all(kind):
    assert len(inspect.getdoc(kind) or "") > 30
    owing = {name: missing(one) for name, one in methods(kind).items()}
    assert {name: owed for name, owed in owing.items() if owed} == {}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_every_function_says_all(function):
    assert missing(function) == []


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_only_public_names_are_listed(kind):
    if not issubclass(kind, (enum.Enum, Exception)):
        assert [name for name in dir(kind) if name.startswith("_")] == []
        assert not EXTENDING & set(dir(kind))


@pytest.mark.parametrize(
    "thing",
    [
        lp.Gaussian(1),
        3 * lp.Laplace(2),
        lp.Gaussian(1).epsilon(1e-5),
        lp.Gaussian(1).delta([1, 2]),
        lp.Gaussian(1).renyi(2 + 1j),
        lp.Gaussian(1).loss,
        lp.Gaussian(1).risk,
        lp.Accountant(),
        lp.PrivacyFilter(epsilon=1, delta=0),
        lp.Gaussian(1).explain(delta=1e-5),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_an_instance_lists_what_it_answers(thing):
    assert [name for name in dir(thing) if name.startswith("_") or name in EXTENDING] == []
    assert set(methods(type(thing))) <= set(dir(thing))
    # and all of it is there
    assert all(hasattr(type(thing), name) or name in vars(thing) for name in dir(thing))


@pytest.mark.parametrize("room", [lp.plot, lp.classical, lp.strategies], ids=lambda room: room.__name__)
def test_a_room_lists_its_public_names(room):
    assert dir(room) == sorted(room.__all__)


def test_fields_are_listed():
    assert {"sigma", "sensitivity", "adjacency", "epsilon", "delta", "poisson"} <= set(dir(lp.Gaussian(1)))
    assert {"lower", "value", "upper", "status", "ledger"} <= set(dir(lp.Gaussian(1).epsilon(1e-5)))


def test_a_mechanism_tells_first_what_there_is_to_ask():
    """Right below its docstring, before anything that classes are made of."""
    text = shown(lp.Gaussian)
    begin, end = text.index("Notes\n"), text.index("Method resolution order")
    assert begin < end
    for name in dir(lp.Mechanism):
        assert f"``{name}``" in text[begin:end], f"name {name!r} in the notes of Mechanism"
    for machinery in ("__dataclass", "__abstract", "loss_law", "counted(", "__new__", "__hash__"):
        assert machinery not in text


def test_the_help_of_the_package_fits_on_two_screens():
    text = shown(lp)
    assert len(text.splitlines()) <= 100
    for name in dir(lp):
        assert name in text or name == "__version__", f"name {name!r} in the docstring of the package"


def test_a_star_brings_every_name():
    names: dict[str, Any] = {}
    exec("from logphi import *", names)
    assert set(dir(lp)) <= set(names)


def test_extenders_find_what_they_define():
    from logphi.extend import Primitive

    text = shown(Primitive)
    assert all(f"``{name}()``" in text for name in ("loss_law", "pair", "counted", "tree"))
    assert all(callable(getattr(Primitive, name)) for name in EXTENDING)


def test_a_question_is_the_same_function_everywhere():
    assert lp.Accountant.epsilon is lp.Gaussian.epsilon
    accountant = lp.Accountant()
    accountant.step(lp.Gaussian(1), 10)
    assert accountant.epsilon(1e-5).same_as((10 * lp.Gaussian(1)).epsilon(1e-5))
    assert lp.Gaussian(1)._loss().remove.terms == lp.Gaussian(1)._loss()._loss().remove.terms
