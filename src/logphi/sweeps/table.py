"""The answers over a grid of parameters, as arrays, rows, and files."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.answers.bound import Bound, Bounds
from logphi.answers.display import table
from logphi.arrays import Array
from logphi.listed import Listed
from logphi.text.files import write_whole

COLUMNS = ("lower", "value", "upper", "status", "reason")
# chosen: the number of rows that a notebook shows
_SHOWN = 10


@dataclass(frozen=True, eq=False)
class Sweep(Listed):
    """Answers over a grid: arrays with one axis for each parameter, and one for the question if that was an array.

    ``lower``, ``value``, ``upper`` and ``status`` are arrays of that shape; indexing gives a :class:`Bound`, or Bounds of a
    part; iterating gives each point's parameters with its Bound, the last axis varying fastest; ``numpy.asarray`` gives the
    private side.

    Parameters
    ----------
    quantity
        The question: ``"delta"``, ``"epsilon"``, or the name of the user's function.
    names, values
        The axes, in order.
    bounds
        The answers.
    reasons
        Why a mechanism or an answer was refused, by the index in the grid; only if such points are kept.
    """

    quantity: str
    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    bounds: Bounds
    reasons: Mapping[tuple[int, ...], str]

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self.bounds.shape

    @property
    def lower(self) -> Array:
        """Lower ends."""
        return self.bounds.lower

    @property
    def value(self) -> Array:
        """Best values."""
        return self.bounds.value

    @property
    def upper(self) -> Array:
        """Upper ends."""
        return self.bounds.upper

    @property
    def status(self) -> NDArray[np.object_]:
        """A status for each point."""
        return self.bounds.status

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.bounds, dtype=dtype)

    def __getitem__(self, index: Any) -> Any:
        return self.bounds[index]

    def __len__(self) -> int:
        return math.prod(self.shape)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], Bound]]:
        for index, parameters in zip(np.ndindex(self.shape), points(self.names, self.values), strict=True):
            bound = self.bounds[index]
            assert isinstance(bound, Bound)
            yield parameters, bound

    def __repr__(self) -> str:
        return f"Sweep({self._title})"

    @property
    def _title(self) -> str:
        axes = ", ".join(f"{len(values)} of {name}" for name, values in zip(self.names, self.values, strict=True))
        refused = len(self.reasons)
        wide = sum(not bound.status.met for _, bound in self) - refused
        counts = {"refused": refused, "not as narrow as requested": wide}
        return "; ".join([f"{self.quantity} over {axes}", *(f"{n} of {len(self)} {what}" for what, n in counts.items() if n)])

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns: the parameters, ``lower``, ``value``, ``upper``, ``status`` (its name) and ``reason``; a row for each point.

        ``pandas.DataFrame`` takes it as it is.
        """
        columns: dict[str, list[Any]] = {name: [] for name in (*self.names, *COLUMNS)}
        for index, (parameters, bound) in zip(np.ndindex(self.shape), self, strict=True):
            entries = (bound.lower, bound.value, bound.upper, bound.status.name.lower(), self.reasons.get(index, ""))
            for name, entry in (*parameters.items(), *zip(COLUMNS, entries, strict=True)):
                columns[name].append(entry)
        return columns

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the columns as a table, with numbers in full precision; the file is written as a whole or not at all.

        Parameters
        ----------
        path
            Where; a file that is there is replaced.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        columns, text = self.to_dict(), io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        write_whole(path, text.getvalue().encode())

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write the quantity and the columns as JSON, infinities as ``"inf"`` and ``"-inf"``; as a whole or not at all.

        Parameters
        ----------
        path
            Where; a file that is there is replaced.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        columns = {name: [_plain(entry) for entry in column] for name, column in self.to_dict().items()}
        data = {"quantity": self.quantity, "shape": self.shape, "axes": self.names, "columns": columns}
        write_whole(path, (json.dumps(data, allow_nan=False) + "\n").encode())

    def _repr_html_(self) -> str:
        rows = [[*map(str, parameters.values()), str(bound)] for parameters, bound in itertools.islice(self, _SHOWN)]
        if len(self) > _SHOWN:
            rows.append([f"and {len(self) - _SHOWN} more", *[""] * len(self.names)])
        return table(rows, [*self.names, self.quantity], self._title)


def points(names: Sequence[str], values: Sequence[Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """The parameters of every point of a grid, the last axis first."""
    return (dict(zip(names, point, strict=True)) for point in itertools.product(*values))


def _plain(entry: Any) -> Any:
    """An entry as JSON holds it."""
    if isinstance(entry, (bool, int, str)) or entry is None:
        return entry
    return float(entry) if isinstance(entry, float) and math.isfinite(entry) else str(entry)
