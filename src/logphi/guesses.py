"""Names that people try first, answered with the call that was meant."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

_Method = TypeVar("_Method", bound=Callable[..., Any])
_Guided = TypeVar("_Guided", bound="Guided")

# what other libraries, papers and textbooks call a parameter -> ours
_KEYWORDS: Mapping[str, str] = {
    "noise_multiplier": "sigma= (with sensitivity 1, the standard deviation is the noise multiplier)",
    "standard_deviation": "sigma=",
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
    "relation": "adjacency=",
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


def meant_by(name: str) -> str:
    """The hint for a keyword that is not one of ours; empty if nothing is near."""
    return f": write {_KEYWORDS[name]}" if name in _KEYWORDS else ""


def attribute_hint(name: str) -> str:
    """The hint for an attribute that mechanisms do not have; empty if nothing is near."""
    return f"; write {_ATTRIBUTES[name]}" if name in _ATTRIBUTES else ""


def refuse_unknown(call: str, known: Mapping[str, Any], given: Mapping[str, Any], hints: Mapping[str, str]) -> None:
    """Answer a keyword that a call does not have.

    Raises
    ------
    TypeError
        If there is one; the message names it, what was meant, and what there is.
    """
    for name in given:
        if name not in known:
            hint = f": write {hints[name]}" if name in hints else meant_by(name)
            raise TypeError(f"{call} takes no {name!r}{hint}; it takes {', '.join(known)}")


def guided(method: _Method) -> _Method:
    """A method that answers unknown keywords with the right ones; its signature and docstring stay."""
    known = {name: one for name, one in inspect.signature(method).parameters.items() if name != "self"}

    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **keywords: Any) -> Any:
        refuse_unknown(f"{method.__name__}()", known, keywords, {})
        return method(self, *arguments, **keywords)

    return call  # type: ignore[return-value]


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
