"""The exact answer beside what the classical theorems give: what exactness gains."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from logphi import check, display
from logphi.bound import Approximation, Bound, Side
from logphi.classical import composition, concentrated, loss_class, markov, premises, renyi, saddle_point
from logphi.classical.claim import Claim
from logphi.classical.composition import Advanced, Guarantee
from logphi.decimals import plain
from logphi.display import printed
from logphi.engine.directions import Loss
from logphi.laws.log_phi import LogPhi
from logphi.listed import Listed
from logphi.pairs.pair import UnsupportedError
from logphi.progress import shown
from logphi.release import Mechanism

EXACT, UPPER, LOWER, APPROXIMATE = "exact", "upper bound", "lower bound", "approximation"

# the deltas that are tried for releases of unbounded losses: all together spend this much, or this share of what there is
_SPENT = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
_SHARES = (0.9, 0.5, 0.1)
# measured: the moments of a sampled loss take about twenty milliseconds
_MOST_LOSSES = 256
# measured: such a sum takes milliseconds, and is taken some fifty times
_LONGEST_SUM = 1 << 15
# derived: sums of shares stay below what they are shares of
_WITHIN = 1 - 1e-9


@dataclass(frozen=True)
class Row(Listed):
    """One method: its answer, on which side of the truth it is, and how far from the exact one; or why there is none.

    ``side`` is ``"exact"``, ``"upper bound"``, ``"lower bound"`` or ``"approximation"``; ``value`` and ``gap`` (the value less
    the exact one) are None where ``reason`` says why.
    """

    name: str
    value: float | None
    side: str
    gap: float | None
    source: str
    note: str = ""
    reason: str = ""
    _unlisted = frozenset({"cells"})

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data for JSON: infinities are ``"inf"`` and ``"-inf"``."""
        return {name: plain(cell) if isinstance(cell, float) else cell for name, cell in vars(self).items()}

    def cells(self) -> tuple[str, ...]:
        """The row as text; bounds are rounded to their own side."""
        if self.value is None or self.gap is None:
            return (self.name, "-", self.side, "", f"does not apply: {self.reason}")
        side = {UPPER: Side.UPPER, LOWER: Side.LOWER}.get(self.side)
        gap = "" if self.side == EXACT else f"{self.gap:+.3g}"
        return (self.name, printed(self.value, side), self.side, gap, "; ".join(filter(None, (self.source, self.note))))


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Listed):
    """The answers of all methods to one question; ``str`` writes the table. Equal are those with equal fields."""

    mechanism: str
    question: str
    at: float
    exact: Bound
    rows: tuple[Row, ...]

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data for JSON: infinities are ``"inf"`` and ``"-inf"``."""
        return {
            "mechanism": self.mechanism,
            "question": self.question,
            "at": self.at,
            "exact": self.exact.to_dict(),
            "rows": [row.to_dict() for row in self.rows],
        }

    def records(self) -> list[dict[str, Any]]:
        """A table: the fields of each row, after the question. ``pandas.DataFrame`` takes it as it is."""
        return [{"question": self.question, "at": self.at, **vars(row)} for row in self.rows]

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Comparison) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.mechanism, self.question, self.at, self.rows))

    @property
    def _title(self) -> str:
        return f"{self.question}({self.at!r})"

    @property
    def _header(self) -> tuple[str, ...]:
        return ("method", self.question, "side", "gap", "source")

    def __repr__(self) -> str:
        return f"Comparison({self._title} of {self.mechanism}, exact={self.exact!r}, {len(self.rows)} rows)"

    def __str__(self) -> str:
        table = [self._header, *(row.cells() for row in self.rows)]
        widths = [max(len(cells[column]) for cells in table) for column in range(4)]
        lines = [
            "  ".join([*(cell.ljust(width) for cell, width in zip(cells, widths, strict=False)), cells[4]]) for cells in table
        ]
        return "\n".join([f"{self._title} of {self.mechanism}", *(f"  {line}".rstrip() for line in lines)])

    def _repr_html_(self) -> str:
        return display.table((row.cells() for row in self.rows), self._header, f"{self._title} of {self.mechanism}")


def compare(
    mechanism: Mechanism,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    methods: Iterable[str] | None = None,
) -> Comparison:
    """The delta at epsilon, or epsilon at delta, by the exact method and by every classical one.

    Parameters
    ----------
    mechanism
        What is released.
    epsilon, delta
        One of them, one number: the other is compared. Epsilon is in nats.
    methods
        The names of the rows that are wanted beside the exact one; all by default.

    Returns
    -------
    Comparison
        Its ``rows`` are in a fixed order. Bounds are proved and rounded to their own side, approximations are not bounds, and
        a method that does not apply says why.

    Raises
    ------
    ValueError, TypeError
        If not exactly one of epsilon and delta is given, or it is outside its range, if there is no mechanism, or no
        method of a name.

    Examples
    --------
    >>> from logphi.expression import parse
    >>> table = compare(parse("100 * Gaussian(sigma=10)"), epsilon=1)
    >>> [(row.name, round(row.value, 6)) for row in table.rows if row.name in ("exact", "zCDP, tail")]
    [('exact', 0.126937), ('zCDP, tail', 0.882497)]
    """
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"a mechanism is needed, got {mechanism!r} of type {type(mechanism).__name__}")
    if (epsilon is None) == (delta is None):
        raise ValueError(f"give either epsilon or delta, got epsilon={epsilon!r} and delta={delta!r}")
    if epsilon is not None:
        question, at = "delta", check.real("epsilon", epsilon)
        exact = mechanism.delta(at)
    else:
        question, at = "epsilon", check.unit("delta", delta)
        exact = mechanism.epsilon(at)
    if not isinstance(exact, Bound):
        raise TypeError("compare takes one epsilon or one delta, not an array")
    known = list(_Methods(mechanism, question == "delta", at).all())
    wanted = {name for name, _ in known} if methods is None else _wanted(methods, [name for name, _ in known])
    rows = [_row(exact, Claim(exact.value, exact.side, "exact", exact.method), EXACT, _between(exact))]
    for name, method in shown([one for one in known if one[0] in wanted], "methods"):
        try:
            answer = method()
        except UnsupportedError as error:
            rows.append(Row(name, None, "", None, "", reason=str(error)))
            continue
        rows.append(_row(exact, answer, UPPER, "") if isinstance(answer, Claim) else _rough(exact, name, answer))
    return Comparison(repr(mechanism), question, at, exact, tuple(rows))


def _wanted(names: Iterable[str], known: list[str]) -> set[str]:
    wanted = {names} if isinstance(names, str) else set(names)
    if not wanted <= {*known, EXACT}:
        foreign = min(repr(name) for name in wanted - {*known, EXACT})
        raise ValueError(f"methods must be names of rows, got {foreign}: there are {', '.join(dict.fromkeys(known))}")
    return wanted


def _row(exact: Bound, claim: Claim, side: str, note: str) -> Row:
    if side != EXACT:
        side = UPPER if claim.side is Side.UPPER else LOWER
    notes = [claim.note or note, "" if claim.proved else "an error is an estimate"]
    return Row(claim.name, claim.value, side, _gap(claim.value, exact), claim.source, ", ".join(filter(None, notes)))


def _rough(exact: Bound, name: str, answer: Approximation) -> Row:
    return Row(name, answer.value, APPROXIMATE, _gap(answer.value, exact), _SOURCES[name], "no error is known")


def _gap(value: float, exact: Bound) -> float:
    return 0.0 if value == exact.value else value - exact.value


def _between(exact: Bound) -> str:
    proof = "proved" if exact.ledger.proved else "an error is an estimate"
    return f"between {printed(exact.lower, Side.LOWER, 13)} and {printed(exact.upper, Side.UPPER, 13)}, {proof}"


_SOURCES = {
    "Gaussian of the loss class": "Sommer, Meiser & Mohammadi 2019",
    "saddle point": "Alghamdi et al. 2023",
}

Answer = Claim | Approximation


@dataclass(frozen=True)
class _Methods:
    """The methods, in order, each a function without arguments; an UnsupportedError says why one does not apply."""

    mechanism: Mechanism
    asks_delta: bool
    at: float

    def all(self) -> Iterator[tuple[str, Callable[[], Answer]]]:
        """Names and functions."""
        yield "basic composition", self._basic
        for theorem, name in ((Advanced.STEINKE, "advanced composition"), (Advanced.KAIROUZ, "advanced composition, sharper")):
            yield name, lambda theorem=theorem, name=name: self._advanced(theorem, name)  # type: ignore[misc]
        yield "optimal composition", self._optimal
        yield "zCDP, tail", self._tail
        yield "zCDP, best order", self._concentrated
        yield "Renyi, whole orders", self._whole_orders
        for how in renyi.Conversion:
            yield f"Renyi, {how.value}", lambda how=how: self._renyi(how)  # type: ignore[misc]
        yield "Markov-ADP", lambda: (markov.delta if self.asks_delta else markov.epsilon)(self.mechanism, self.at)
        for side in (Side.UPPER, Side.LOWER):
            yield "Berry-Esseen", lambda side=side: self._berry_esseen(side)  # type: ignore[misc]
        for side in (Side.UPPER, Side.LOWER):
            yield "Nagaev", lambda side=side: self._nagaev(side)  # type: ignore[misc]
        yield "Gaussian of the loss class", self._normal
        yield "saddle point", lambda: self._worst(saddle_point.saddle_point_delta, saddle_point.saddle_point_epsilon)

    def _worst(self, delta_of: Callable[[LogPhi, float], Answer], epsilon_of: Callable[[LogPhi, float], Answer]) -> Answer:
        """The largest answer of both orders of the pair: right for upper and lower bounds alike."""
        return max(((delta_of if self.asks_delta else epsilon_of)(law, self.at) for law in self._laws), key=float)

    def _basic(self) -> Answer:
        of = composition.basic_delta if self.asks_delta else composition.basic_epsilon
        return self._best(of, "basic composition", (1.0,))

    def _advanced(self, theorem: Advanced, name: str) -> Answer:
        of = composition.advanced_delta if self.asks_delta else composition.advanced_epsilon
        return self._best(lambda known, at: of(known, at, theorem), name, _SHARES, both=True)

    def _optimal(self) -> Answer:
        of = composition.optimal_delta if self.asks_delta else composition.optimal_epsilon
        if math.prod(count + 1 for _, count in self.mechanism.counted()) > _LONGEST_SUM:
            raise UnsupportedError(f"the best composition of these guarantees is a sum of more than {_LONGEST_SUM} terms")
        return self._best(of, "optimal composition", _SHARES, both=True)

    def _best(
        self, of: Callable[[list[Guarantee], float], Claim], name: str, shares: tuple[float, ...], both: bool = False
    ) -> Claim:
        """The best over the deltas that are tried for releases of unbounded losses."""
        known = premises.guarantees(self.mechanism, both)
        releases = premises.unbounded_releases(self.mechanism, both)
        if releases == 0:
            best, note = of(known(0.0), self.at), "each part at its largest loss"
        else:
            left = max(self.at - premises.bounded_mass(self.mechanism, both), 0.0) * _WITHIN
            tried = _SPENT if self.asks_delta else tuple(left * share for share in shares)
            tried = tuple(total for total in tried if total / releases > 0)
            if not tried:
                raise UnsupportedError("delta is hardly larger than the probability of an infinite loss, or zero")
            found = [(of(known(total / releases), self.at), total / releases) for total in tried]
            best, each = min(found, key=lambda pair: float(pair[0]))
            note = f"each unbounded release at delta {each:.3g}"
        return Claim(best.value, best.side, name, best.source, ", ".join(filter(None, (note, best.note))))

    def _tail(self) -> Answer:
        return (concentrated.tail_delta if self.asks_delta else concentrated.tail_epsilon)(self._budget, self.at)

    def _concentrated(self) -> Answer:
        found = (concentrated.delta if self.asks_delta else concentrated.epsilon)(self._budget, self.at)
        return Claim(found.value, found.side, "zCDP, best order", "Steinke 2022, Proposition 14", found.note, found.proved)

    @cached_property
    def _budget(self) -> concentrated.Concentrated:
        return concentrated.Concentrated.of(self.mechanism)

    def _whole_orders(self) -> Answer:
        curve = premises.whole_order_curve(self.mechanism)
        of = renyi.delta if self.asks_delta else renyi.epsilon
        found = of(curve, self.at, conversion=renyi.Conversion.CANONNE)
        note = f"{found.note} of 2 to {premises.LARGEST_ORDER}" if found.note else ""
        return Claim(found.value, found.side, "Renyi, whole orders", found.source, note)

    def _renyi(self, how: renyi.Conversion) -> Answer:
        return (renyi.delta if self.asks_delta else renyi.epsilon)(self.mechanism, self.at, conversion=how)

    def _berry_esseen(self, side: Side) -> Answer:
        of = loss_class.berry_esseen_delta if self.asks_delta else loss_class.berry_esseen_epsilon
        return self._class(lambda known: of(known, self.at, side))

    def _nagaev(self, side: Side) -> Answer:
        of = loss_class.nagaev_delta if self.asks_delta else loss_class.nagaev_epsilon
        return self._class(lambda known: of(known, self.at, side))

    def _normal(self) -> Answer:
        of = loss_class.normal_delta if self.asks_delta else loss_class.normal_epsilon
        return self._class(lambda known: of(known, self.at))

    @cached_property
    def _laws(self) -> tuple[LogPhi, ...]:
        return tuple(law for _, law in Loss(self.mechanism.loss_law(), self.mechanism.adjacency).orders(None))

    @cached_property
    def _classes(self) -> tuple[loss_class.LossClass, ...]:
        if len(self._laws[0].terms) > _MOST_LOSSES:
            raise UnsupportedError(f"more than {_MOST_LOSSES} distinct losses: a third moment of each takes long")
        return tuple(loss_class.classes(self.mechanism))

    def _class(self, answer: Callable[[loss_class.LossClass], Answer]) -> Answer:
        return max((answer(known) for known in self._classes), key=float)
