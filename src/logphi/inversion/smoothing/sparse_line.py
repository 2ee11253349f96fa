"""Lines without the nodes at which the transform is proved negligible, for sums of many different atoms.

The transform of such a sum is small nearly everywhere, although it never decays: what is left of a line that resolves a
narrow window may be a few percent of its nodes.
"""

from __future__ import annotations

import math

import numpy as np

from logphi.arith.summation import log_sum
from logphi.inversion.atoms.atomic import atomic
from logphi.inversion.lines.kernels import Kernel
from logphi.inversion.lines.layout import Layout
from logphi.inversion.lines.line_sum import MAX_NODES, SEARCHED, Contour, ValuesOn, contour_of, neighbours, with_envelope
from logphi.inversion.lines.truncation import LONG, length
from logphi.laws.log_phi import terms_of
from logphi.laws.negligible_nodes import relevant_blocks, relevant_share
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import SparseLine

# chosen: the number of nodes of a run, which share tabulated exponentials; runs beside a relevant block are kept whole
_RUN = 16
# chosen: the number of heights of the Riemann sum that bounds the sum of the kernel's size
_HEIGHTS = 64
# measured: with a larger share of its nodes, a line takes as long as one with all of them
_SPARSE = 0.25
# measured: the number of nodes that a sparse line may leave out for each one that it keeps
_LEFT_OUT = 64.0
# measured: the exponentials of the atoms at the first nodes of runs take half a second if there are this many
_MOST_EXPONENTIALS = 1e7


def longest(law: LossTransform, layout: Layout, kernel: Kernel, size: int) -> float:
    """An estimate of the number of nodes of the longest line, negligible nodes included, that is worth its time."""
    most = _most_nodes(law, layout, size)
    if not most:
        return MAX_NODES
    share = relevant_share(law, layout.abscissa, layout.step, size, _log_floor(layout, kernel, size)[0])
    return max(MAX_NODES, most / max(2 * share, 1 / _LEFT_OUT)) if share < _SPARSE else MAX_NODES


def lay_sparse(law: LossTransform, layout: Layout, kernel: Kernel, values_on: ValuesOn) -> Contour | None:
    """The line of a layout without its negligible nodes, with the values of K; None if it would save nothing.

    The omitted nodes count in the truncation error.
    """
    size, log_tail = length(law, layout, SEARCHED, kernel)
    # most lines are short, and need no look at their laws
    if size <= LONG or not (most := min(_SPARSE * size, _most_nodes(law, layout, size))):
        return None
    log_floor, log_kernel = _log_floor(layout, kernel, size)
    found = relevant_blocks(law, layout.abscissa, layout.step, size, log_floor)
    if found is None:
        return None
    firsts = np.unique(found[0] // _RUN) * _RUN
    if firsts.size * _RUN > most:
        return None
    line = SparseLine(layout.abscissa, layout.step, firsts, _RUN)
    values = law.log_transform(line.points) if values_on is None else values_on(law, line)
    log_tail = float(np.logaddexp(log_tail, log_floor + log_kernel))
    real = law.log_transform(neighbours(layout))
    return with_envelope(law, contour_of(line, values, real, layout.shift, log_tail, kernel))


def _most_nodes(law: LossTransform, layout: Layout, size: int) -> float:
    """The number of nodes that are worth computing one by one; zero for a law that has other parts than atoms."""
    if any(atomic(term) is None for term, _ in terms_of(law)):
        return 0.0
    atoms = law.approximate.terms_on_line(layout.abscissa, layout.step * size)
    return min(MAX_NODES, _RUN * _MOST_EXPONENTIALS / atoms)


def _log_floor(layout: Layout, kernel: Kernel, size: int) -> tuple[float, float]:
    """Logarithms of the |M|/M(c) with which all nodes make a third of the target, and of the kernel's sum over the nodes."""
    heights = np.geomspace(layout.step, layout.step * size, _HEIGHTS)
    cells = kernel.log_size(heights, layout.abscissa) + np.log(np.diff(heights, prepend=0.0, append=2 * heights[-1]))[1:]
    first = float(kernel.log_size(heights[:1], layout.abscissa)[0]) + math.log(layout.step)
    log_kernel = float(np.logaddexp(log_sum(cells), first)) - math.log(math.pi)
    return layout.log_target - 1 - log_kernel, log_kernel
