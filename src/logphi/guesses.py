"""Names that people try first, answered with the call that was meant."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Guided = TypeVar("_Guided", bound="Guided")

# what other libraries, papers and textbooks call a parameter -> ours
_KEYWORDS: Mapping[str, str] = {
    "noise_multiplier": "sigma= (with sensitivity 1, the standard deviation is the noise multiplier)",
    "standard_deviation": "sigma=",
    "noise": "sigma=",
    "stddev": "sigma=",
    "std": "sigma=",
    "b": "scale=",
    "l1_sensitivity": "sensitivity=",
    "l2_sensitivity": "sensitivity=",
    "sample_rate": "rate: m.poisson(rate)",
    "sampling_rate": "rate: m.poisson(rate)",
    "sampling_probability": "rate: m.poisson(rate)",
    "q": "rate: m.poisson(rate)",
    "eps": "epsilon",
    "target_epsilon": "epsilon, or lp.calibrate(family, epsilon=, delta=) for the noise that meets it",
    "target_delta": "delta",
    "alpha": "order",
    "alphas": "order",
    "orders": "order",
    "relation": "adjacency= of a mechanism, direction= of a question",
    "neighboring_relation": "adjacency=",
    "group_size": "group_size= on a Poisson sample: m.poisson(rate, group_size=...), or m.group(size) of any mechanism",
    "steps": "a count: steps * m",
    "count": "a count: count * m",
}

# what is tried on a mechanism -> what to write
_ATTRIBUTES: Mapping[str, str] = {
    "subsample": "m.poisson(rate) or m.subset(rate, adjacency=...)",
    "sample": "m.poisson(rate) or m.subset(rate, adjacency=...)",
    "sampled": "m.poisson(rate) or m.subset(rate, adjacency=...)",
    "amplify": "m.poisson(rate) or m.subset(rate, adjacency=...)",
    "compose": "m1 + m2, n * m, or lp.compose(mechanisms)",
    "self_compose": "n * m",
    "repeat": "n * m",
    "get_epsilon": "m.epsilon(delta)",
    "get_delta": "m.delta(epsilon)",
    "eps": "m.epsilon(delta)",
    "get_epsilon_for_delta": "m.epsilon(delta)",
    "get_delta_for_epsilon": "m.delta(epsilon)",
    "rdp": "m.renyi(order)",
    "profile": "m.delta(epsilon); lp.plot.profile draws it",
    "group_privacy": "m.group(size)",
    "to_dict": "m.to_json(), which lp.from_json(text) reads again",
    "dumps": "m.to_json(), which lp.from_json(text) reads again",
    "calibrate": "lp.calibrate(family, epsilon=, delta=)",
}

# batches that are not sampled -> why nothing is known to be amplified, and what holds
NOT_AMPLIFIED: Mapping[str, str] = {
    "shuffled": "shuffled batches are refused: a record is in exactly one batch of an epoch, so that the batches are dependent "
    "and the worst case is far from Poisson's, whose answer would be too small; account for one release per epoch "
    "without sampling, or draw Poisson samples",
    "fixed_order": "batches in a fixed order are refused: an adversary may know which batch holds the record, so that nothing "
    "is amplified, and Poisson's answer would be too small; account for one release per epoch without sampling",
}

# what is looked for in the package itself -> what to write
_CALLS: Mapping[str, str] = {
    **_ATTRIBUTES,
    "epsilon": "m.epsilon(delta)",
    "delta": "m.delta(epsilon)",
    "renyi": "m.renyi(order)",
    "poisson": "m.poisson(rate)",
    "subset": "m.subset(rate, adjacency=...)",
    "calibrate_noise": "lp.calibrate(family, epsilon=, delta=), or lp.dp_sgd(target_epsilon=, target_delta=, ...)",
    "dpsgd": "lp.dp_sgd(...)",
    "DPSGD": "lp.dp_sgd(...)",
    "GaussianMechanism": "lp.Gaussian(sigma)",
    "LaplaceMechanism": "lp.Laplace(scale)",
    "SubsampledGaussian": "lp.Gaussian(sigma).poisson(rate)",
    "PoissonSampled": "m.poisson(rate)",
    "RDPAccountant": "lp.Accountant()",
    "RdpAccountant": "lp.Accountant()",
    "PLDAccountant": "lp.Accountant()",
    "PRVAccountant": "lp.Accountant()",
}


def meant_by(name: str, hints: Mapping[str, str]) -> str:
    """What to write for a keyword that is not one of ours, by the hints of a call or those of all; empty if nothing is near."""
    meant = hints.get(name) or _KEYWORDS.get(name)
    return f": write {meant}" if meant else ""


def unexpected(name: str, hints: Mapping[str, str]) -> str:
    """That a keyword is unknown, and what was meant."""
    return f"got an unexpected keyword argument {name!r}{meant_by(name, hints)}"


def attribute_hint(name: str) -> str:
    """The hint for an attribute that mechanisms do not have; empty if nothing is near."""
    if name in NOT_AMPLIFIED:
        return f"; {NOT_AMPLIFIED[name]}"
    return f"; write {_ATTRIBUTES[name]}" if name in _ATTRIBUTES else ""


def package_hint(name: str) -> str:
    """The hint for a name that the package does not have; empty if nothing is near."""
    return f"; write {_CALLS[name]}" if name in _CALLS else ""


def nearest(name: str, known: Iterable[str]) -> str:
    """``did you mean`` followed by what is spelt like a name, whatever its case; empty if nothing is."""
    import difflib

    lowered = {entry.lower(): entry for entry in known}
    near = difflib.get_close_matches(name[:60].lower(), lowered, 3, 0.5)
    return f"did you mean {' or '.join(lowered[entry] for entry in near)}?" if near else ""


def refuse_unknown(call: str, known: Mapping[str, Any], given: Mapping[str, Any], hints: Mapping[str, str]) -> None:
    """Answer a keyword that a call does not have.

    Raises
    ------
    TypeError
        If there is one; the message names it, what was meant, and what there is.
    """
    for name in given:
        if name not in known:
            raise TypeError(f"{call} takes no {name!r}{meant_by(name, hints)}; it takes {', '.join(known)}")


def guided(**hints: str) -> Callable[[_Function], _Function]:
    """A function that answers unknown keywords with the right ones; its signature and docstring stay.

    ``hints`` are what names mean here and nowhere else.
    """

    def guide(function: _Function) -> _Function:
        known = {name: one for name, one in inspect.signature(function).parameters.items() if name != "self"}

        @functools.wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            refuse_unknown(f"{function.__name__}()", known, keywords, hints)
            return function(*arguments, **keywords)

        return call  # type: ignore[return-value]

    return guide


class Guided:
    """A base class whose constructors answer unknown keywords with the right ones; a class may have ``_hints`` of its own."""

    _hints: ClassVar[Mapping[str, str]] = {}

    def __new__(cls: type[_Guided], *arguments: Any, **keywords: Any) -> _Guided:
        """The instance, before its parameters are set."""
        if keywords:
            refuse_unknown(cls.__name__, _parameters(cls.__init__), keywords, cls._hints)
        return super().__new__(cls)


@functools.lru_cache(maxsize=256)
def _parameters(initialize: Callable[..., None]) -> Mapping[str, Any]:
    _, *own = inspect.signature(initialize).parameters.items()
    return dict(own)
