"""What is known of a transform to some digits: for choosing where and how to compute, never for an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import NDArray

from logphi.arrays import Array
from logphi.quadrature.sums.approximate_nodes import ApproximateNodes


def _no_nodes() -> None:
    """No nodes at hand."""


def constant_terms(terms: float, abscissa: float, top: float) -> float:
    """The same number of summands on every line."""
    return terms


def _one_term(abscissa: float, top: float) -> float:
    return 1.0


@dataclass(frozen=True, eq=False)
class Approximation:
    """K at real points to some digits, without a bound of its error: called with points, it gives K, infinite on overflow.

    ``nodes`` gives the law as nodes, for approximating many laws together; None if there are none at hand. ``terms_on_line``
    estimates the number of summands of K at each node of a vertical line, from its abscissa and the height of its end.
    """

    at: Callable[[Array], Array]
    nodes: Callable[[], ApproximateNodes | None] = _no_nodes
    terms_on_line: Callable[[float, float], float] = _one_term

    @staticmethod
    def of(nodes: ApproximateNodes, *, summands: int) -> Approximation:
        """From nodes that serve all points; ``summands`` is the number of all summands of K, of which nodes may be merged."""
        return Approximation(nodes.log_transform, partial(_itself, nodes), partial(constant_terms, float(summands)))

    def __call__(self, c: NDArray[Any]) -> Array:
        """K at real points."""
        return self.at(c)

    def reflected(self) -> Approximation:
        """The approximation of K(-1 - z)."""
        nodes = _no_nodes if self.nodes is _no_nodes else partial(_reflected, self.nodes)
        terms = _one_term if self.terms_on_line is _one_term else partial(_terms_of_reflected, self.terms_on_line)
        return Approximation(partial(_at_reflected, self.at), nodes, terms)


# not closures, so that laws can be pickled; nor methods of a law that keeps its approximation, which would be a cycle
def _at_reflected(at: Callable[[Array], Array], c: Array) -> Array:
    return at(-1 - c)


def _itself(nodes: ApproximateNodes) -> ApproximateNodes:
    return nodes


def _reflected(nodes: Callable[[], ApproximateNodes | None]) -> ApproximateNodes | None:
    found = nodes()
    return found and found.reflected()


def _terms_of_reflected(terms: Callable[[float, float], float], abscissa: float, top: float) -> float:
    return terms(-1 - abscissa, top)
