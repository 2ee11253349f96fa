"""The constructors that expressions may use, and for each of the others the reason why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from logphi import mechanisms

if TYPE_CHECKING:
    from logphi.algebra.release import Mechanism

# constructors whose arguments are functions or symbols, which text cannot express
PYTHON_ONLY: Mapping[str, str] = {
    "FromDensities": "its densities are functions",
    "FromLogPhi": "its log-phi is a SymPy expression",
    "FromRenyi": "its divergences are a function",
}


class _Catalogue(Mapping[str, "type[Mechanism]"]):
    """The constructors of the expression language, by name."""

    def __getitem__(self, name: str) -> type[Mechanism]:
        if name not in self:
            raise KeyError(name)
        constructor: type[Mechanism] = getattr(mechanisms, name)
        return constructor

    def __contains__(self, name: object) -> bool:
        # without loading the file, as the mix-in would
        return name in mechanisms._HOME and name not in PYTHON_ONLY

    def __iter__(self) -> Iterator[str]:
        return (name for name in mechanisms._HOME if name not in PYTHON_ONLY)

    def __len__(self) -> int:
        return len(mechanisms._HOME) - len(PYTHON_ONLY)


CATALOGUE = _Catalogue()
