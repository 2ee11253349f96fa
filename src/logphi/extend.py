"""What a mechanism of one's own is written with, in one place; ``docs/add-a-mechanism.md`` shows how."""

from logphi import check
from logphi.arith.protocol import Arithmetic, LogOdds, Number, Parameter, Plain, Ratio
from logphi.core.adjacency import Adjacency
from logphi.core.logphi import LogPhi
from logphi.core.pair import Pair, UnsupportedError
from logphi.core.pairs.finite import FinitePair
from logphi.core.pairs.normal import NormalShift
from logphi.numerics.law import Lattice, Law, Pieces, Values
from logphi.numerics.laws.finite import Cells
from logphi.release import Mechanism, Primitive

__all__ = [
    "Adjacency",
    "Arithmetic",
    "Cells",
    "FinitePair",
    "Lattice",
    "Law",
    "LogOdds",
    "LogPhi",
    "Mechanism",
    "NormalShift",
    "Number",
    "Pair",
    "Parameter",
    "Pieces",
    "Plain",
    "Primitive",
    "Ratio",
    "UnsupportedError",
    "Values",
    "check",
]
