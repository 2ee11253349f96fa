"""Training with correlated noise: matrix mechanisms, and banded ones whose batches are drawn from parts of the records in turn.

C x + Z is released row by row, and the contributions u_i of one record to the rows of x, |u_i| <= 1, may depend on the rows
released before. Up to a rotation of Z, C is lower triangular, so that each row depends on its own step and earlier ones only.

Without sampling a record changes the mean by sum_i C[:, i] u_i, whose norm is at most the sensitivity whatever was released. A
Gaussian whose mean changes by an adaptively chosen amount of bounded total norm is dominated by one whose mean changes by that
norm (Smith & Thakurta 2022).

With cyclic sampling, Bernoulli variables b_t decide whether the record is in the batches of its steps t, which are `parts`
apart. The lower bandwidth of C is at most `parts` (C[s, t] = 0 for s >= t + parts), so that rows t to t + parts - 1 depend on
b_t and no other of these variables. Given all earlier rows and the batches of all other records, they are Gaussian with a
change of mean of b_t C[:, t] u_t: a sampled Gaussian of sensitivity at most |C[:, t]|. The release is their composition.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from logphi.algebra.release import Mechanism
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency, AdjacencyLike
from logphi.inputs.arguments import RealLike, Scalar
from logphi.inputs.guesses import guided
from logphi.mechanisms import Gaussian
from logphi.strategies import sensitivity
from logphi.strategies.matrix import strategy_of
from logphi.text.written import Written, meant

# derived: under replace a sum changes by up to twice the clipping norm
_REPLACED = 2


@guided(
    C="strategy, the first argument",
    noise_multiplier="sigma=, the standard deviation over the clipping norm",
    k="participations=",
    epochs="participations=, in how many steps one record takes part, or period=, the steps of an epoch in a fixed order",
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
    separation: Scalar | None = None,
    period: Scalar | None = None,
    adjacency: AdjacencyLike = Adjacency.ADD_REMOVE,
) -> Gaussian:
    """C x + Z with independent N(0, sigma^2) entries of Z: a Gaussian mechanism whose sensitivity is that of C x.

    x has a row for each step, the sum of its contributions, each clipped to norm 1. A run that adds the noise C^-1 Z to these
    sums, or releases B (C x + Z) for any matrix B, is a function of it. The contributions of a step may depend on what
    was released before, as gradients do: the sensitivity bounds the change of C x whatever they are.

    Parameters
    ----------
    strategy
        C, an array with a column for each step, or one of :mod:`logphi.strategies`.
    sigma
        Standard deviation of every entry of Z over the clipping norm.
    participations
        The largest number of steps in which a record takes part; by default as many as the separation allows.
    separation
        The smallest difference between the numbers of two steps in which a record takes part; by default 1, so that it may take
        part in every step.
    period
        In place of both, the number of steps of an epoch: a record takes part once in every epoch, always at the same position.
    adjacency
        The relation. Under ``"replace"`` a record has other values in the same steps, and changes their sums by up to twice the
        clipping norm.

    Returns
    -------
    Gaussian
        Its sensitivity is the upper end of :func:`logphi.strategies.sensitivity`. If that is not attained, the Gaussian
        dominates the mechanism. ``poisson`` of it samples a record once for all steps, not once for each.

    Raises
    ------
    ValueError, TypeError
        If an argument is not a matrix or a number as described, numbers contradict each other, or the matrix is too large.

    References
    ----------
    Denisov et al. 2022, *Improved Differential Privacy for SGD via Optimal Private Linear Operators on Adaptive Streams*;
    Choquette-Choo et al. 2023, *Multi-Epoch Matrix Factorization Mechanisms for Private Machine Learning*.

    Examples
    --------
    >>> from logphi.strategies import BinaryTree
    >>> release = matrix_mechanism(BinaryTree(1024), sigma=10, participations=1)
    >>> release
    Gaussian(sigma=10.0, sensitivity=3.3166247903554003)
    >>> round(release.epsilon(1e-6).value, 6)
    1.440113
    """
    relation = Adjacency.of(adjacency)
    moved = sensitivity(strategy, participations=participations, separation=separation, period=period).upper
    return Gaussian(sigma, Written(_REPLACED * meant(moved)) if relation is Adjacency.REPLACE else moved, relation)


@guided(
    sigma="noise_multiplier=",
    noise="noise_multiplier=",
    steps="steps as columns of the strategy: lp.strategies.Toeplitz(coefficients, steps)",
    rate="dataset_size= and batch_size=; a record is drawn with the rate parts * batch_size / dataset_size when it is its turn",
    q="dataset_size= and batch_size=; a record is drawn with the rate parts * batch_size / dataset_size when it is its turn",
    cycle_length="parts=",
    bands="parts=, at least as many as there are bands",
    group_size="banded_dp_sgd(...).group(k)",
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
    independently, with the rate parts * batch_size / dataset_size. C has at most as many bands as there are parts, so that the
    columns of the steps of one record have no row in common: given the rows before, those of a column are a sampled Gaussian
    whose sensitivity is the norm of the column. The run is the composition of these, one for each step of a record.

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
        The number of parts of the records, by default the number of bands of C. The part of a record must not depend on others.
    adjacency
        The relation. Under ``"replace"`` a record has another value, in the same part; batches are drawn in the same way.

    Returns
    -------
    Mechanism
        ceil(steps / parts) times a Poisson sample of the Gaussian whose sensitivity is the largest column norm, rounded up.

    Raises
    ------
    ValueError, TypeError
        If C is not lower triangular or has more bands than there are parts, a part is smaller than a batch, or a number is
        outside its range.

    References
    ----------
    Choquette-Choo et al. 2023, *(Amplified) Banded Matrix Factorization: A unified approach to private training*.

    Examples
    --------
    >>> from logphi.strategies import square_root
    >>> run = banded_dp_sgd(square_root(2000, bands=10), dataset_size=60000, batch_size=300, noise_multiplier=2)
    >>> run
    200 * Gaussian(sigma=2.0, sensitivity=1.3384109763395158).poisson(0.05, cyclic=True)
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
        # under replace the relation is that of the sample
        Adjacency.ADD_REMOVE if relation is Adjacency.REPLACE else relation,
    )
    # with one part every step draws from all records
    sample = base.poisson(Fraction(batch * number, size), adjacency=relation, cyclic=number > 1)
    return -(-matrix.steps // number) * sample
