"""A wrapper of laws tells everything that a law tells, or says why not."""

import inspect
from dataclasses import fields, is_dataclass
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import pytest

from logphi import comparators, inversion, laws
from logphi.inversion.pieces.real_space import Rest
from logphi.laws.atomic.finite import Finite
from logphi.laws.combined.conditioned import Conditioned
from logphi.laws.combined.sampled_loss import SampledLoss
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform, Reflected
from logphi.laws.with_omitted_mass import WithOmittedMass
from logphi.quadrature.values import Line

P, Q = (0.5, 0.3, 0.2), (0.2, 0.2, 0.6)
MEMBERS = {name for name in vars(LossTransform) if not name.startswith("_")}

# wrapper -> members that it leaves at what holds of every law, and why
_ONE_CLASS = "asked of a class whose laws are summed, which a wrapper is not"
_ANYWHERE = "the omitted mass may be anywhere"
_A_LINE = "only a line of it is summed, which its own envelope bounds"
LEFT = {
    Reflected: {"batched": _ONE_CLASS},
    LogPhi: {"accept": "routes look at the terms one by one", "batched": _ONE_CLASS},
    Conditioned: {
        "accept": "divergences do not ask for it",
        "closed_form": "divergences do not ask for it",
        "reflected": "who asks turns the law first",
        "batched": _ONE_CLASS,
        "on_line": "by log_transform",
        "on_line_and_real": "by log_transform",
        "log_block": "divergences do not ask for it",
    },
    WithOmittedMass: {
        "accept": "its form is not known",
        "approximate": "by log_transform",
        "on_line": "by log_transform",
        "on_line_and_real": "by log_transform",
        "closed_form": _ANYWHERE,
        "log_envelope": _ANYWHERE,
        "log_block": _ANYWHERE,
        "batched": _ONE_CLASS,
    },
    Rest: dict.fromkeys(MEMBERS - {"formula", "log_transform", "on_line", "log_envelope"}, _A_LINE),
}
# holds a law too, but is another one: that of a sample
OTHERS = {SampledLoss}


@pytest.mark.parametrize("wrapper", LEFT, ids=lambda wrapper: wrapper.__name__)
def test_a_wrapper_tells_everything_or_says_why_not(wrapper):
    told = {
        name for name in MEMBERS if inspect.getattr_static(wrapper, name) is not inspect.getattr_static(LossTransform, name)
    }
    assert MEMBERS - told == set(LEFT[wrapper])
    assert all(LEFT[wrapper].values())


def subclasses(kind):
    return {kind}.union(*(subclasses(one) for one in kind.__subclasses__()))


def test_every_law_that_holds_another_one_is_a_wrapper():
    for room in (comparators, inversion, laws):
        for module in iter_modules(room.__path__):
            import_module(f"{room.__name__}.{module.name}")
    held = {
        one for one in subclasses(LossTransform) if is_dataclass(one) for field in fields(one) if field.type == "LossTransform"
    }
    assert held - OTHERS == set(LEFT) - {LogPhi}


def test_the_reflection_keeps_atoms_and_their_lattice():
    reflected = Reflected(Finite(P, Q))
    # the reflected measure by hand: e^{-x} mu(dx) at -x, so that Q takes the place of P
    places, weights = np.log(np.divide(Q, P)), np.array(Q)
    pieces = reflected.support.pieces
    assert pieces is not None
    order, own = np.argsort(places), np.argsort(pieces.locations)
    assert np.allclose(np.take(pieces.locations, own), places[order])
    assert np.allclose(np.take(pieces.log_weights, own), (np.log(weights) - places / 2)[order])
    heights = np.array([0.0, 0.5, 1.0])
    by_hand = np.log([(weights * np.exp((0.3 + 1j * height) * places)).sum() for height in heights])
    assert np.allclose(reflected.on_line(Line(0.3, 0.5, 3)).mid, by_hand)
    # losses -log 2, 0 and log 4
    lattice = Reflected(Finite((0.1, 0.1, 0.8), (0.2, 0.1, 0.2))).support.lattice
    assert lattice is not None
    assert np.allclose(np.array([lattice.offset, lattice.span]) / np.log(2), np.round([lattice.offset / np.log(2), 1.0]))


def test_reflecting_twice_is_the_law():
    law = Finite(P, Q)
    assert Reflected(law).reflected() == law
