"""From mechanisms to laws. The file of each kind states its dominating pair, P with the record against Q without it."""

from __future__ import annotations

from flint import arb

from logphi.checker.arithmetic.balls import cached
from logphi.checker.laws.composition import Composition, Terms
from logphi.checker.laws.law import Law
from logphi.checker.laws.normal import Normal
from logphi.checker.mechanisms.kind import Kind, Node, Stated
from logphi.checker.needed import needed

# the kinds of each file
FILES = {
    "allocation": "allocation",
    "choice": "RandomChoice",
    "curves": "FromTradeoff FromProfile",
    "divergences": "ZCDP RenyiDP",
    "densities": "FromDensities GaussianMixturePair",
    "gaussian": "Gaussian GaussianMixture GaussianPair",
    "integer_noise": "DiscreteLaplace DiscreteGaussian",
    "noise": "Laplace ExponentialMechanism DistanceToInstability TruncatedGaussian TruncatedLaplace",
    "outcomes": "RandomizedResponse KaryRandomizedResponse Discrete PureDP ApproximateDP ShuffledReports",
    "sampling": "poisson subset",
    "selection": "repeat_and_select",
    "sparse_vector": "SparseVector",
    "stability_threshold": "StabilityThreshold",
    "transform": "FromLogPhi",
    "whole_vectors": "VectorDiscreteGaussian Skellam",
}
PLACES = {name: file for file, names in FILES.items() for name in names.split()}


def kind_of(name: str) -> Kind:
    """The kind of a known name."""
    found: Kind = needed(f"mechanisms.{PLACES[name]}:KINDS")[name]
    return found


def law_of(node: Node, stated: Stated) -> Law | None:
    """The law of one release, or a composition of laws; None if its loss is always zero."""
    return kind_of(node.name).law(node, stated, **node.parameters)


def composed(given: tuple[tuple[int, Node], ...], stated: Stated) -> Composition:
    """The law of a composition."""
    known = [(law, count) for count, node in given if (law := law_of(node, stated)) is not None]
    return joined(known)


def joined(terms: Terms) -> Composition:
    """A composition of laws in which the normal laws become one, because squared shifts add."""
    known = list[tuple[Law, int]]()
    for law, count in terms:
        known += [(one, count * number) for one, number in law.terms] if isinstance(law, Composition) else [(law, count)]
    squares = [(law.squared_shift, count) for law, count in known if law.squared_shift is not None]
    found = [(law, count) for law, count in known if law.squared_shift is None]
    if squares:
        found.append((Normal(cached(lambda: sum((count * square() for square, count in squares), arb(0)))), 1))
    return Composition(found)
