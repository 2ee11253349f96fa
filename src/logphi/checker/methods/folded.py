"""D by a line where losses lie on a lattice: see ``contour``.

There e^{-z a} M(z) is periodic: the same sum is one over a single period, with the kernel summed over all periods.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.arithmetic.balls import within
from logphi.checker.arithmetic.work import demand, whole_number
from logphi.checker.laws.composition import Composition
from logphi.checker.methods.contour import Line

# measured: on a finer lattice the sum over the atoms is faster
MOST_FOLDED = 2**15


def enclose(
    whole: Composition, epsilons: Sequence[Fraction], c: Fraction, count: Fraction, right: Fraction, left: Fraction
) -> list[Any]:
    """D at neighbouring epsilons, by an odd number of nodes of one period."""
    nodes, lattice = whole_number(count, MOST_FOLDED), whole.lattice()
    demand(nodes % 2 and lattice is not None, "its losses are on no lattice, or its nodes are even in number")
    assert lattice is not None, "demanded above"
    base, span = lattice.base(), lattice.unit()
    own = Line(whole, epsilons, c, 2 * arb.pi() / (nodes * span), (nodes + 1) // 2, (right, -left))

    def enclosed(epsilon: Any) -> Any:
        # the first loss above epsilon. If the balls do not separate a loss from epsilon, it counts as above: its contribution
        # is at most the error, as its probability is at most M(c) e^{-c first}
        step, last = (end.ceil() for end in (((epsilon - base) / span).lower(), ((epsilon - base) / span).upper()))
        first, error = base + span * step, arb(0)
        if last != step:
            error = within(own.values[0].real * (-own.c * first).exp() * (epsilon - first).expm1())
            demand(last == step + 1, "the precision does not separate neighbours on the lattice")

        def kernel(z: Any) -> Any:
            over = (epsilon - first).exp() / (-(z + 1) * span).expm1()
            return (-z * first).exp() * (over - 1 / (-z * span).expm1())

        return own.total(kernel) / nodes + error

    return own.without_aliases(enclosed)
