"""One question to a family of mechanisms over a grid of their parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count
from operator import methodcaller
from typing import Any

import numpy as np

from logphi.algebra.release import Mechanism
from logphi.answers.bound import Bound, Bounds
from logphi.answers.status import Side
from logphi.engine.answer import unresolved
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike, Scalar
from logphi.inputs.route_names import MethodName
from logphi.inputs.tolerance import Tolerance
from logphi.sweeps.parallel_map import parallel_map
from logphi.sweeps.sharing import EpsilonOfMany, alone
from logphi.sweeps.table import COLUMNS, Sweep, points

_RAISE, _KEEP = "raise", "keep"
# the trivial bounds of a refused answer, by the given quantity
_NOTHING_KNOWN = {"epsilon": (0.0, 1.0), "delta": (0.0, math.inf), "": (-math.inf, math.inf)}


def sweep(
    make: Callable[..., Mechanism],
    grid: Mapping[str, Any],
    *,
    epsilon: Any = None,
    delta: Any = None,
    ask: Callable[[Mechanism], Bound] | None = None,
    direction: DirectionLike | None = None,
    method: MethodName | None = None,
    rtol: Scalar | None = None,
    executor: Executor | None = None,
    errors: str = "raise",
) -> Sweep:
    """The answers of a family of mechanisms at every point of a grid of parameters.

    All mechanisms are made first, in this process: ``make`` may be a lambda, and its refusals come before any computation. On
    one machine, the answers are the same to the last digit for every executor. For repeated sampled Gaussians, epsilon at one
    delta is computed in batches of some dozens; such an answer may differ from that of a single question, within the bounds of
    both.

    Parameters
    ----------
    make
        A function that is called with the parameters of a point by name, and returns its mechanism.
    grid
        The axes: names and lists of values, in order.
    epsilon, delta, ask
        The question, exactly one of the three: delta at an epsilon in nats, epsilon at a delta, or any function of a mechanism
        that gives a :class:`Bound`, such as ``operator.methodcaller("zcdp")``. An array of epsilons or deltas is one more axis,
        and quicker than an axis of the grid, as a mechanism answers it at once.
    direction, method, rtol
        Options of the question for epsilon or delta: see :meth:`Mechanism.epsilon`.
    executor
        Any ``concurrent.futures.Executor``: a thread pool, a process pool, or ``client.get_executor()`` of a Dask client.
        Mechanisms and ``ask`` are pickled for other processes. By default everything runs in this thread.
    errors
        ``"raise"``, or ``"keep"``: a point whose mechanism or question is refused with a ValueError then gets trivial bounds,
        and ``Sweep.reasons`` says why.

    Returns
    -------
    Sweep
        In the order of the grid.

    Raises
    ------
    ValueError, TypeError
        If the grid or the question is invalid, or a mechanism or question is refused: the message names the point.

    Examples
    --------
    >>> from logphi.mechanisms.gaussian import Gaussian
    >>> found = sweep(
    ...     lambda sigma, rate: 1000 * Gaussian(sigma).poisson(rate), {"sigma": [1.0, 2.0], "rate": [0.001, 0.01]}, delta=1e-5
    ... )
    >>> found.value.round(6).tolist()
    [[0.148902, 1.828237], [0.049987, 0.62203]]
    """
    names, values = _axes(grid)
    options = {"direction": direction, "method": method, "rtol": rtol}
    question = _Question.of(epsilon, delta, ask, {name: one for name, one in options.items() if one is not None})
    if errors not in (_RAISE, _KEEP):
        raise ValueError(f"errors must be {_RAISE!r} or {_KEEP!r}, got {errors!r}")
    taken = sorted({question.given, *COLUMNS}.intersection(names))
    if taken:
        raise ValueError(f"an axis is called {taken[0]!r}, which is the name of the question or of a column: choose another")
    kept = errors == _KEEP
    asked = [_made(make, parameters, kept) for parameters in points(names, values)]
    mechanisms = [one for one in asked if isinstance(one, _Asked)]
    batches = question.batches([one.mechanism for one in mechanisms])
    found = parallel_map(
        partial(_answers, question, kept),
        [[mechanisms[place] for place in batch] for batch in batches],
        executor,
        question.quantity,
    )
    answers = dict(zip(chain.from_iterable(batches), chain.from_iterable(found), strict=True))
    places = count()
    cells = [answers[next(places)] if isinstance(one, _Asked) else one for one in asked]
    if question.axis is not None:
        names, values = (*names, question.given), (*values, question.axis)
    return _collected(question, names, values, cells)


@dataclass(frozen=True)
class _Question:
    """The question to every mechanism: its name, and as ``axis`` the array of points of the question, if there is one.

    ``many`` answers the question for many mechanisms at once, if that is quicker.
    """

    quantity: str
    ask: Callable[[Mechanism], Any]
    given: str = ""
    axis: tuple[float, ...] | None = None
    many: EpsilonOfMany | None = None

    @staticmethod
    def of(epsilon: Any, delta: Any, ask: Callable[[Mechanism], Any] | None, options: dict[str, Any]) -> _Question:
        """The question that was given."""
        if sum(one is not None for one in (epsilon, delta, ask)) != 1:
            raise ValueError(
                f"give exactly one of epsilon, delta and ask, got epsilon={epsilon!r}, delta={delta!r}, ask={ask!r}"
            )
        if ask is not None:
            if not callable(ask):
                raise TypeError(f"ask must be a function of a mechanism, got {ask!r}; for a method use operator.methodcaller")
            if options:
                raise ValueError(f"{', '.join(options)} go with epsilon or delta: with ask, let that function pass them on")
            return _Question(getattr(ask, "__name__", "answer"), ask)
        quantity, given, asked = ("epsilon", "delta", delta) if epsilon is None else ("delta", "epsilon", epsilon)
        points = check.unit_array(given, asked) if epsilon is None else check.real_array(given, asked)
        if points.ndim > 1:
            raise ValueError(f"{given} must be a number or a list of them, got an array of shape {points.shape}")
        axis = tuple(points.tolist()) if points.ndim else None
        # each number as it was written, as certificates need it
        written = asked if axis is None else check.entries(asked, points)
        own_way = epsilon is not None or axis is not None or not {"rtol"}.issuperset(options)
        many = None if own_way else EpsilonOfMany(float(points), Tolerance.of(options.get("rtol")))
        return _Question(quantity, methodcaller(quantity, written, **options), given, axis, many)

    def batches(self, mechanisms: Sequence[Mechanism]) -> list[list[int]]:
        """The indices of mechanisms that are answered together."""
        return alone(mechanisms) if self.many is None else self.many.batches(mechanisms)

    def at_once(self, mechanisms: Sequence[Mechanism]) -> list[Bound | None]:
        """The answers of a batch; None for a mechanism to be asked alone."""
        return [None] * len(mechanisms) if self.many is None or len(mechanisms) == 1 else self.many.answers(mechanisms)

    def __call__(self, mechanism: Mechanism) -> list[Bound]:
        """All answers."""
        found = self.ask(mechanism)
        if self.axis is None:
            if not isinstance(found, Bound):
                raise TypeError(f"the question must give a Bound, got {found!r} of type {type(found).__name__}")
            return [found]
        return list(found)


@dataclass(frozen=True)
class _Refused:
    reason: str


@dataclass(frozen=True)
class _Asked:
    """A mechanism, and the name of its point for error messages."""

    point: str
    mechanism: Mechanism


def _axes(grid: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
    """The names and values of the axes, NumPy's numbers as Python's."""
    if not hasattr(grid, "items") or not grid:
        raise TypeError(f"grid must be a non-empty mapping of parameter names to lists of values, got {grid!r}")
    values = []
    for name, axis in grid.items():
        plain = axis.tolist() if isinstance(axis, np.ndarray) else axis
        if isinstance(plain, (str, bytes)) or not hasattr(plain, "__len__"):
            raise TypeError(f"the values of {name!r} must be a list or an array, got {axis!r}; give one value as [value]")
        listed = tuple(value.item() if isinstance(value, np.generic) else value for value in plain)
        if not listed:
            raise ValueError(f"the axis {name!r} has no values: give at least one")
        values.append(listed)
    return tuple(grid), tuple(values)


def _made(make: Callable[..., Mechanism], parameters: dict[str, Any], kept: bool) -> _Asked | _Refused:
    point = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    try:
        mechanism = make(**parameters)
        if not isinstance(mechanism, Mechanism):
            raise TypeError(f"a mechanism is needed, got {mechanism!r} of type {type(mechanism).__name__}")
    except Exception as error:
        return _refusal(point, error, kept)
    return _Asked(point, mechanism)


def _answers(question: _Question, kept: bool, batch: Sequence[_Asked]) -> list[list[Bound] | _Refused]:
    found = question.at_once([one.mechanism for one in batch])
    return [_answer(question, kept, one) if bound is None else [bound] for one, bound in zip(batch, found, strict=True)]


def _answer(question: _Question, kept: bool, asked: _Asked) -> list[Bound] | _Refused:
    try:
        return question(asked.mechanism)
    except Exception as error:
        return _refusal(asked.point, error, kept)


def _refusal(point: str, error: Exception, kept: bool) -> _Refused:
    """The refusal of a ValueError where these are kept; anything else is raised with the point at which it happened."""
    if kept and isinstance(error, ValueError):
        return _Refused(str(error))
    for kind in (ValueError, TypeError):
        if isinstance(error, kind):
            raise kind(f"at {point}: {error}") from error
    raise RuntimeError(f"at {point}: {type(error).__name__}: {error}") from error


def _collected(
    question: _Question, names: tuple[str, ...], values: tuple[tuple[Any, ...], ...], cells: list[list[Bound] | _Refused]
) -> Sweep:
    lower, upper = _NOTHING_KNOWN[question.given]
    side = next((bound.side for cell in cells if not isinstance(cell, _Refused) for bound in cell), Side.UPPER)
    unknown = replace(unresolved(lower, upper, upper, "refused"), side=side)
    shape, each = tuple(map(len, values)), 1 if question.axis is None else len(question.axis)
    bounds, reasons = np.empty(math.prod(shape), dtype=object), {}
    for place, cell in enumerate(cells):
        own = range(place * each, (place + 1) * each)
        for at, bound in zip(own, [unknown] * each if isinstance(cell, _Refused) else cell, strict=True):
            bounds[at] = bound
            if isinstance(cell, _Refused):
                reasons[tuple(int(k) for k in np.unravel_index(at, shape))] = cell.reason
    return Sweep(question.quantity, names, values, Bounds(bounds.reshape(shape)), reasons)
