"""Everything that is needed to write a mechanism of your own; ``docs/add-a-mechanism.md`` shows how."""

from logphi.algebra.release import Mechanism, Primitive
from logphi.arith.protocol import Arithmetic, LogOdds, Number, Parameter, Plain, Ratio
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency
from logphi.laws.atomic.cells import Cells
from logphi.laws.closed_form import ClosedForm
from logphi.laws.growth import Growth, OneSided
from logphi.laws.log_phi import LogPhi
from logphi.laws.support import Lattice, LogMasses, Omitted, Pieces, Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform
from logphi.pairs.finite import FinitePair
from logphi.pairs.normal import NormalShift
from logphi.pairs.pair import Pair, UnsupportedError
from logphi.quadrature.values import Values

__all__ = [
    "Adjacency",
    "Arithmetic",
    "Cells",
    "ClosedForm",
    "FinitePair",
    "Growth",
    "Lattice",
    "LogMasses",
    "LogOdds",
    "LogPhi",
    "LossTransform",
    "Mechanism",
    "NormalShift",
    "Number",
    "Omitted",
    "OneSided",
    "Pair",
    "Parameter",
    "Pieces",
    "Plain",
    "Primitive",
    "Ratio",
    "Support",
    "Traits",
    "UnsupportedError",
    "Values",
    "check",
]
