"""The algebra of mechanisms as text: numbers, lists, constructors, transforms, and nothing else.

The text is read by a small parser with its own tokens rather than by Python's: nothing is ever evaluated as
code, a sum of any length is a loop rather than a deep tree, and every error message is one line that names the token, the
rule and what to do. Numbers are exact as long as they are rational (:mod:`logphi.expression.arithmetic`); the grammar is in
:mod:`logphi.expression.grammar`.
"""

from logphi.expression.arithmetic import MOST_BITS
from logphi.expression.grammar import DEEPEST, LONGEST, TRANSFORMS
from logphi.expression.parsing import parse, parse_number, parse_numbers, unknowns

__all__ = ["DEEPEST", "LONGEST", "MOST_BITS", "TRANSFORMS", "parse", "parse_number", "parse_numbers", "unknowns"]
