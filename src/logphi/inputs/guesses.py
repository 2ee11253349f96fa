"""Suggestions for names of other libraries and papers: the call that was meant."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

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

_EPSILON = ("get_epsilon", "compute_epsilon", "get_privacy_spent", "get_epsilon_for_delta", "eps")
_DELTA = ("get_delta", "compute_delta", "get_delta_for_epsilon")

# attributes tried on a mechanism -> what to write
_ATTRIBUTES: Mapping[str, str] = {
    **dict.fromkeys(_EPSILON, "m.epsilon(delta)"),
    **dict.fromkeys(_DELTA, "m.delta(epsilon)"),
    "subsample": "m.poisson(rate) or m.subset(rate, adjacency=...)",
    "sample": "m.poisson(rate) or m.subset(rate, adjacency=...)",
    "sampled": "m.poisson(rate) or m.subset(rate, adjacency=...)",
    "amplify": "m.poisson(rate) or m.subset(rate, adjacency=...)",
    **dict.fromkeys(("balls_in_bins", "balls_and_bins", "random_allocation"), "m.allocation(batches)"),
    "compose": "m1 + m2, n * m, or lp.compose(mechanisms)",
    "self_compose": "n * m",
    "repeat": "n * m",
    "step": "n * m for n steps, or lp.Accountant(), whose step(m) records one",
    "rdp": "m.renyi(order)",
    "profile": "m.delta(epsilon); lp.plot.profile draws it",
    "group_privacy": "m.group(size)",
    "to_dict": "m.to_json(), which lp.from_json(text) reads again",
    "dumps": "m.to_json(), which lp.from_json(text) reads again",
    "calibrate": "lp.calibrate(family, epsilon=, delta=)",
}

# the same for an accountant, and for a budget
ACCOUNTANT: Mapping[str, str] = {
    **dict.fromkeys(_EPSILON, "accountant.epsilon(delta)"),
    **dict.fromkeys(_DELTA, "accountant.delta(epsilon)"),
    **dict.fromkeys(("compose", "self_compose", "add", "append", "record", "spend"), "accountant.step(mechanism, count)"),
    **dict.fromkeys(("renyi", "rdp", "get_rdp", "tradeoff", "risk"), "accountant.release, of which everything can be asked"),
    "to_dict": "accountant.to_json()",
}
BUDGET: Mapping[str, str] = {
    **dict.fromkeys(("epsilon", *_EPSILON), "budget.spent, or budget.release.epsilon(delta)"),
    **dict.fromkeys(("delta", *_DELTA), "budget.spent, or budget.release.delta(epsilon)"),
    **dict.fromkeys(("step", "compose", "add", "append", "record"), "budget.spend(mechanism, count)"),
    "to_dict": "budget.to_json()",
}


# names looked up in the package itself -> what to write
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
    **dict.fromkeys(("dp_ftrl", "DPFTRL", "MatrixMechanism", "matrix_factorization"), "lp.matrix_mechanism(strategy, sigma)"),
    **dict.fromkeys(("BandMF", "banded_matrix_factorization"), "lp.banded_dp_sgd(strategy, ...)"),
    "GaussianMechanism": "lp.Gaussian(sigma)",
    **dict.fromkeys(("DDGauss", "DistributedDiscreteGaussian"), "lp.VectorDiscreteGaussian(sigma, l2_sensitivity, parties=)"),
    "SkellamMechanism": "lp.Skellam(variance, l2_sensitivity)",
    "LaplaceMechanism": "lp.Laplace(scale)",
    "SubsampledGaussian": "lp.Gaussian(sigma).poisson(rate)",
    "PoissonSampled": "m.poisson(rate)",
    "RDPAccountant": "lp.Accountant()",
    "RdpAccountant": "lp.Accountant()",
    "PLDAccountant": "lp.Accountant()",
    "PRVAccountant": "lp.Accountant()",
}


# parameters that take any number of arguments, none as well
_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
# chosen: how alike a name of the package must be to be meant
_SIMILAR = 0.6

# what a number above 1 may mean where a share or a probability is needed
_ABOVE_ONE: Mapping[str, str] = {
    "rate": "a rate is a share of the records: 1 % is 0.01, batches of 256 out of 60000 are 256 / 60000",
    "delta": "a delta is a small probability, such as 1e-5; m.epsilon takes a delta, m.delta takes an epsilon",
}


def beyond_one(name: str, number: float) -> str:
    """The likely cause of a share or probability above 1; empty for other numbers."""
    return f": {_ABOVE_ONE.get(name, 'a percentage is written as a fraction, 5 % as 0.05')}" if number > 1 else ""


def meant_by(name: str, hints: Mapping[str, str]) -> str:
    """What to write for an unknown keyword, by the hints of a call or the general ones; empty if there is no hint."""
    meant = hints.get(name) or _KEYWORDS.get(name)
    return f": write {meant}" if meant else ""


def unexpected(name: str, hints: Mapping[str, str]) -> str:
    """The message that a keyword is unknown, and what to write."""
    return f"got an unexpected keyword argument {name!r}{meant_by(name, hints)}"


def attribute_hint(name: str, instead: Mapping[str, str] = _ATTRIBUTES) -> str:
    """The hint for an unknown attribute, by default one of mechanisms; empty if there is none."""
    return f"; write {instead[name]}" if name in instead else ""


def package_hint(name: str, known: Iterable[str]) -> str:
    """The hint for a name that the package does not have, from those that it has; empty if there is none."""
    near = "" if name in _CALLS or name.startswith("_") else nearest(name, known, _SIMILAR)
    return f"; write {_CALLS[name]}" if name in _CALLS else f"; {near}" if near else ""


def nearest(name: str, known: Iterable[str], similarity: float = 0.5) -> str:
    """``did you mean`` followed by names of similar spelling, whatever the case; empty if there are none."""
    import difflib

    lowered = {entry.lower(): entry for entry in known}
    near = difflib.get_close_matches(name[:60].lower(), lowered, 3, similarity)
    return f"did you mean {' or '.join(lowered[entry] for entry in near)}?" if near else ""


def refuse_unknown(call: str, known: Mapping[str, Any], given: Mapping[str, Any], hints: Mapping[str, str]) -> None:
    """Raise a TypeError for a keyword that a call does not have: the message names it, what was meant, and what there is."""
    for name in given:
        if name not in known:
            raise TypeError(f"{call} takes no {name!r}{meant_by(name, hints)}; it takes {', '.join(known)}")


def guided(instead: str = "", /, **hints: str) -> Callable[[_Function], _Function]:
    """Make a function answer unknown keywords, and too many or too few arguments, with what to write.

    Its signature and docstring stay. ``hints`` are the meanings of names in this call alone; ``instead`` is what to write for
    too many positional arguments.
    """

    def guide(function: _Function) -> _Function:
        parameters = inspect.signature(function).parameters
        known = {name: one for name, one in parameters.items() if name != "self"}
        places = _places(parameters)
        needed = [name for name, one in parameters.items() if one.default is one.empty and one.kind not in _MANY]

        @functools.wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            if keywords:
                refuse_unknown(f"{function.__name__}()", known, keywords, hints)
            if len(arguments) > len(places):
                own = places[:1] == ["self"]
                raise TypeError(
                    _overfull(f"{function.__name__}()", places[own:], arguments[own:], instead or _named(known, places))
                )
            if missing := [name for name in needed if name not in keywords and name not in places[: len(arguments)]]:
                written = " and ".join(name if name in places else f"{name}=" for name in missing)
                raise TypeError(f"{function.__name__}() needs {written}")
            return function(*arguments, **keywords)

        return call  # type: ignore[return-value]

    return guide


def _places(parameters: Mapping[str, inspect.Parameter]) -> list[str]:
    """The names of parameters that may be given without a name."""
    return [name for name, one in parameters.items() if one.kind is not one.KEYWORD_ONLY]


def _named(known: Iterable[str], places: list[str]) -> str:
    """``epsilon=, delta=``: how the parameters that need a name are written."""
    return ", ".join(f"{name}=" for name in known if name not in places)


def _overfull(call: str, places: list[str], given: tuple[Any, ...], meant: str) -> str:
    """The message that there are too many positional arguments, and what was meant."""
    shown = ", ".join(map(repr, given))
    taken = f"only {' and '.join(places)} without a keyword" if places else "keyword arguments only"
    return f"{call} takes {taken}, got {shown}: write {meant}"


class Guided:
    """A base class that answers unknown keywords and attributes with what to write.

    A class may have ``_hints`` for keywords of its constructor, and ``_instead`` for attributes.
    """

    _hints: ClassVar[Mapping[str, str]] = {}
    _instead: ClassVar[Mapping[str, str]] = _ATTRIBUTES

    if not TYPE_CHECKING:  # to type checkers, any attribute would be there

        def __getattr__(self, name: str) -> Any:
            kind = type(self).__name__
            article = "an" if kind[0] in "AEIOU" else "a"
            raise AttributeError(f"{article} {kind} has no {name!r}{attribute_hint(name, self._instead)}")

    def __new__(cls: type[_Guided], *arguments: Any, **keywords: Any) -> _Guided:
        """The instance, before its parameters are set."""
        if keywords:
            refuse_unknown(cls.__name__, _parameters(cls.__init__), keywords, cls._hints)
        if arguments:
            known = _parameters(cls.__init__)
            places = _places(known)
            if len(arguments) > len(places) < len(known):
                raise TypeError(_overfull(cls.__name__, places, arguments, _named(known, places)))
        return super().__new__(cls)


@functools.lru_cache(maxsize=256)
def _parameters(initialize: Callable[..., None]) -> Mapping[str, Any]:
    _, *own = inspect.signature(initialize).parameters.items()
    return dict(own)
