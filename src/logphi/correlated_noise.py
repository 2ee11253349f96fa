"""Training with correlated noise: matrix mechanisms, and banded ones whose batches are drawn in turn from groups of records."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from logphi.algebra.release import Mechanism
from logphi.algebra.sampled import PoissonSampled
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency, AdjacencyLike
from logphi.inputs.arguments import RealLike, Scalar
from logphi.inputs.guesses import guided
from logphi.mechanisms import Gaussian
from logphi.pairs.pair import UnsupportedError
from logphi.sampling.poisson import poisson_relation
from logphi.strategies import sensitivity
from logphi.strategies.matrix import strategy_of
from logphi.text.written import Written, meant

# derived: under replace a row of the sums moves by up to twice the clipping norm
_REPLACED = 2


@guided(
    C="strategy, the first argument",
    noise_multiplier="sigma=, the standard deviation over the clipping norm",
    k="participations=",
    epochs="participations=, in how many steps one record takes part",
    max_participations="participations=",
    min_sep="separation=",
    b="separation=",
    rate="no sampling; lp.banded_dp_sgd(strategy, dataset_size=, batch_size=, noise_multiplier=)",
)
def matrix_mechanism(
    strategy: Any,
    sigma: RealLike,
    *,
    participations: Scalar | None = None,
    separation: Scalar = 1,
    adjacency: AdjacencyLike = Adjacency.ADD_REMOVE,
) -> Gaussian:
    """C x + Z with independent N(0, sigma^2) entries of Z: a Gaussian mechanism, by how far one record moves C x.

    x has a row for each step, the sum of its contributions, each clipped to norm 1. A run that adds the noise C^-1 Z to these
    sums, or releases B (C x + Z) for a B of any kind, is a function of it. The contributions of a step may depend on what
    was released before, as gradients do: what a record moves is bounded step by step along every course of a run.

    Parameters
    ----------
    strategy
        C, an array with a column for each step, or one of :mod:`logphi.strategies`.
    sigma
        Standard deviation of every entry of Z over the clipping norm.
    participations
        In how many steps a record takes part at most; by default in as many as the separation admits.
    separation
        How many steps lie between the beginnings of two participations at least: with 1 it may take part in any step.
    adjacency
        The relation. Under ``"replace"`` a record takes other values in the same steps, and moves their sums by up to twice the
        clipping norm.

    Returns
    -------
    Gaussian
        With the upper end of :func:`logphi.strategies.sensitivity`, which tells whether that is attained. Where it is not, this
        is an upper bound of the mechanism. ``poisson`` of it draws a record once for all steps, and not for each.

    Raises
    ------
    ValueError, TypeError
        If the matrix or a number is none, or the matrix is too large.

    References
    ----------
    Denisov et al. 2022, *Improved Differential Privacy for SGD via Optimal Private Linear Operators on Adaptive Streams*;
    Choquette-Choo et al. 2023, *Multi-Epoch Matrix Factorization Mechanisms for Private Machine Learning*.

    Examples
    --------
    >>> from logphi.strategies import binary_tree
    >>> release = matrix_mechanism(binary_tree(1024), sigma=10, participations=1)
    >>> release
    Gaussian(sigma=10.0, sensitivity=3.3166247903554)
    >>> round(release.epsilon(1e-6).value, 6)
    1.440113
    """
    relation = Adjacency.of(adjacency)
    moved = sensitivity(strategy, participations=participations, separation=separation).upper
    return Gaussian(sigma, Written(_REPLACED * meant(moved)) if relation is Adjacency.REPLACE else moved, relation)


class CyclicPoissonSampled(PoissonSampled):
    """A block of a banded matrix mechanism on the Poisson sample of one step; made by :func:`banded_dp_sgd`."""

    def _grouped(self, size: int) -> Mechanism:
        raise UnsupportedError(
            f"a group of {size} records of banded_dp_sgd is not known: records of different parts of the data take part in "
            "steps whose columns have rows in common; without sampling take lp.matrix_mechanism(...).group(k)"
        )


@guided(
    sigma="noise_multiplier=",
    noise="noise_multiplier=",
    steps="steps as columns of the strategy: lp.strategies.Toeplitz(coefficients, steps)",
    rate="dataset_size= and batch_size=; a record is drawn with the rate parts * batch_size / dataset_size when it is its turn",
    q="dataset_size= and batch_size=; a record is drawn with the rate parts * batch_size / dataset_size when it is its turn",
    cycle_length="parts=",
    bands="parts=, at least as many as there are bands",
    group_size="nothing: no bound of a group is known",
)
def banded_dp_sgd(
    strategy: Any,
    *,
    dataset_size: Scalar,
    batch_size: Scalar,
    noise_multiplier: RealLike,
    parts: Scalar | None = None,
    adjacency: AdjacencyLike = Adjacency.ADD_REMOVE,
) -> Mechanism:
    """DP-SGD whose noise is correlated by a banded matrix, with cyclic Poisson sampling.

    The records are split into parts, and the steps go through the parts in turn: step t draws each record of part t mod parts
    by itself, with the rate parts * batch_size / dataset_size. C has at most as many bands as there are parts, so that the
    columns of the steps of one record have no row in common: what is known of the rows before, the next ones tell a sampled
    Gaussian, with the norm of its column as the sensitivity. It is the composition of as many as a record has steps.

    Parameters
    ----------
    strategy
        C, lower triangular: an array with a column for each step, or one of :mod:`logphi.strategies`.
    dataset_size
        Records in the data set.
    batch_size
        Records in a batch, on average over all parts.
    noise_multiplier
        Standard deviation of every entry of Z over the clipping norm, where C^-1 Z is added to the sums.
    parts
        Into how many parts the records are split, by default the bands of C. A record keeps its part whatever others there are.
    adjacency
        The relation. Under ``"replace"`` a record takes another value in its part, whose batches are drawn the same way.

    Returns
    -------
    Mechanism
        ceil(steps / parts) times a Poisson sample of the Gaussian whose sensitivity is the largest column norm, rounded up.

    Raises
    ------
    ValueError, TypeError
        If C is not lower triangular or has more bands than there are parts, a part is smaller than a batch, or a number is no
        such number.

    References
    ----------
    Choquette-Choo et al. 2023, *(Amplified) Banded Matrix Factorization: A unified approach to private training*.

    Examples
    --------
    >>> from logphi.strategies import square_root
    >>> run = banded_dp_sgd(square_root(2000, bands=10), dataset_size=60000, batch_size=300, noise_multiplier=2)
    >>> run
    200 * Gaussian(sigma=2.0, sensitivity=1.3384109763395158).poisson(0.05)
    >>> round(run.epsilon(1e-5).value, 6)
    2.362207
    """
    matrix = strategy_of(strategy)
    bands = matrix.diagonals
    if bands is None:
        raise ValueError(
            "the strategy matrix must be lower triangular, a row for each step, for cyclic sampling: a row must not depend on "
            "batches that are drawn after it; without sampling lp.matrix_mechanism takes any matrix"
        )
    number = bands if parts is None else check.whole("parts", parts, 1, 10**9)
    if number < bands:
        raise ValueError(
            f"parts must be at least the {bands} bands of the strategy matrix, got {number}: columns of the same record "
            "would have rows in common, and no proof covers that"
        )
    size = check.whole("dataset_size", dataset_size, 1, 10**15)
    batch = check.whole("batch_size", batch_size, 1, 10**15)
    if batch * number > size:
        raise ValueError(
            f"batch_size * parts must not exceed dataset_size={size}, got {batch} * {number} = {batch * number}: a batch is "
            "drawn from one part of the records; take fewer bands, or lp.matrix_mechanism without sampling"
        )
    relation = Adjacency.of(adjacency)
    base = Gaussian(
        check.nonnegative("noise_multiplier", noise_multiplier),
        sensitivity(matrix, participations=1).upper,
        # replace is stated of the sample alone
        Adjacency.ADD_REMOVE if relation is Adjacency.REPLACE else relation,
    )
    sample = CyclicPoissonSampled(base, Fraction(batch * number, size), 1, poisson_relation(base.adjacency, relation))
    return -(-matrix.steps // number) * sample
