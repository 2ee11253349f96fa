"""The exact answer compared with those of classical theorems."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from logphi.algebra.release import Mechanism
from logphi.answers import display
from logphi.answers.bound import Bound
from logphi.answers.decimals import plain
from logphi.answers.display import printed
from logphi.answers.status import Side
from logphi.classical.claim import Claim
from logphi.classical.methods import SOURCES, Answer, Methods
from logphi.inputs import check
from logphi.listed import Listed
from logphi.pairs.pair import UnsupportedError
from logphi.progress import shown

EXACT, UPPER, LOWER, APPROXIMATE = "exact", "upper bound", "lower bound", "approximation"


@dataclass(frozen=True)
class Row(Listed):
    """One method: its answer, on which side of the truth it is, and its distance from the exact one; or why there is none.

    ``side`` is ``"exact"``, ``"upper bound"``, ``"lower bound"`` or ``"approximation"``; ``value`` and ``gap`` (the value minus
    the exact one) are None if the method does not apply; ``reason`` then says why.
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
        """The row as text; bounds are rounded outward."""
        if self.value is None or self.gap is None:
            return (self.name, "-", self.side, "", f"does not apply: {self.reason}")
        side = {UPPER: Side.UPPER, LOWER: Side.LOWER}.get(self.side)
        gap = "" if self.side == EXACT else f"{self.gap:+.3g}"
        return (self.name, printed(self.value, side), self.side, gap, "; ".join(filter(None, (self.source, self.note))))


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Listed):
    """The answers of all methods to one question; ``str`` writes a table. Comparisons are equal if all fields are."""

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
        """A table for ``pandas.DataFrame``: the question and the fields of each row."""
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
        The release.
    epsilon, delta
        Exactly one of them, one number: the other is compared. Epsilon is in nats.
    methods
        The names of the rows that are wanted besides the exact one; all by default.

    Returns
    -------
    Comparison
        Its ``rows`` are in a fixed order. Bounds are proved and rounded outward, approximations are not bounds, and the row of
        a method that does not apply says why.

    Raises
    ------
    ValueError, TypeError
        If not exactly one of epsilon and delta is given, it is outside its range, the first argument is not a mechanism, or a
        method is unknown.

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
    known = list(Methods(mechanism, question == "delta", at).all())
    wanted = {name for name, _ in known} if methods is None else _wanted(methods, [name for name, _ in known])
    rows = [Row(EXACT, exact.value, EXACT, 0.0, exact.method, _between(exact))]
    for name, method in shown([one for one in known if one[0] in wanted], "methods"):
        try:
            answer = method()
        except UnsupportedError as error:
            rows.append(Row(name, None, "", None, "", reason=str(error)))
            continue
        rows.append(_row(exact, name, answer))
    return Comparison(repr(mechanism), question, at, exact, tuple(rows))


def _wanted(names: Iterable[str], known: list[str]) -> set[str]:
    wanted = {names} if isinstance(names, str) else set(names)
    if not wanted <= {*known, EXACT}:
        foreign = min(repr(name) for name in wanted - {*known, EXACT})
        rows = ", ".join(map(repr, dict.fromkeys(known)))
        raise ValueError(f"methods must be names of rows, got {foreign}: the rows are {rows}")
    return wanted


def _row(exact: Bound, name: str, answer: Answer) -> Row:
    gap = _gap(answer.value, exact)
    if not isinstance(answer, Claim):
        return Row(name, answer.value, APPROXIMATE, gap, SOURCES[name], "no error is known")
    side = UPPER if answer.side is Side.UPPER else LOWER
    notes = [answer.note, "" if answer.proved else "an error is an estimate"]
    return Row(name, answer.value, side, gap, answer.source, ", ".join(filter(None, notes)))


def _gap(value: float, exact: Bound) -> float:
    return 0.0 if value == exact.value else value - exact.value


def _between(exact: Bound) -> str:
    proof = "proved" if exact.ledger.proved else "an error is an estimate"
    return f"between {printed(exact.lower, Side.LOWER, 13)} and {printed(exact.upper, Side.UPPER, 13)}, {proof}"
