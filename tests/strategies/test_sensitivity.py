"""Sensitivities of strategy matrices: against all patterns of participation in exact arithmetic, and the published ones."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import logphi as lp
from logphi.strategies import BinaryTree, Matrix, Toeplitz, sensitivity, square_root
from logphi.strategies.participation import Participation
from refusals import refused, untyped

SCHEDULES = [(1, 1), (2, 1), (2, 3), (3, 2), (4, 2), (7, 1), (9, 3)]


def patterns(steps, most, separation):
    for taken in range(1, most + 1):
        for places in itertools.combinations(range(steps), taken):
            if all(after - before >= separation for before, after in itertools.pairwise(places)):
                yield places


def largest_squares(rows, most, separation):
    """The exact largest sum of absolute inner products over a pattern, and the largest square that signs attain."""
    columns = [[Fraction(str(entry)) for entry in column] for column in zip(*rows, strict=True)]
    gram = [[sum(a * b for a, b in zip(one, other, strict=True)) for other in columns] for one in columns]
    bound = attained = Fraction(0)
    for places in patterns(len(columns), most, separation):
        bound = max(bound, sum(abs(gram[i][j]) for i in places for j in places))
        for signs in itertools.product((1, -1), repeat=len(places) - 1):
            signed = list(zip(places, (1, *signs), strict=True))
            attained = max(attained, sum(a * b * gram[i][j] for i, a in signed for j, b in signed))
    return bound, attained


def drawn(kind, steps=7):
    rng = np.random.default_rng(20)
    if kind == "non-negative":
        return np.tril(rng.random((steps, steps)).round(3))
    if kind == "signed":
        return np.tril(rng.normal(size=(steps, steps)).round(3))
    if kind == "rectangular":
        return rng.normal(size=(9, steps)).round(3)
    return np.tril(np.triu(rng.normal(size=(steps, steps)), -1)).round(3)


@pytest.mark.parametrize("kind", ["non-negative", "signed", "rectangular", "banded"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_it_is_between_all_patterns_and_their_signs(kind, schedule):
    matrix = drawn(kind)
    bound, attained = largest_squares(matrix.tolist(), *schedule)
    found = sensitivity(matrix, participations=schedule[0], separation=schedule[1])
    assert Fraction(str(found.upper)) ** 2 >= attained >= Fraction(str(found.lower)) ** 2
    assert Fraction(str(found.upper)) ** 2 >= bound
    # so few patterns are listed
    assert found.upper**2 <= float(bound) * (1 + 1e-13)
    if kind in ("non-negative", "banded") and bound == attained:
        assert found.lower >= found.upper * (1 - 1e-13)
    assert found.steps in set(patterns(7, *schedule))
    assert float(found) == found.upper


def test_gradients_in_space_move_no_more_than_signs_of_inner_products():
    rng = np.random.default_rng(21)
    matrix = np.tril(rng.normal(size=(6, 6)))
    above = sensitivity(matrix, participations=3).upper
    for places in patterns(6, 3, 1):
        for size in (1, 2, 3):
            rows = rng.normal(size=(20, len(places), size))
            rows /= np.linalg.norm(rows, axis=2, keepdims=True)
            moved = np.linalg.norm(np.einsum("rk,ski->sri", matrix[:, places], rows), axis=(1, 2))
            assert np.max(moved) <= above


@pytest.mark.parametrize("kind", ["non-negative", "signed"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_bound_without_listing_holds_for_all_patterns(kind, schedule):
    matrix = drawn(kind)
    bound, _ = largest_squares(matrix.tolist(), *schedule)
    participation = Participation.of(7, *schedule)
    above, places = participation.of_pairs_at_most(np.abs(matrix.T @ matrix))
    assert above >= float(bound) * (1 - 1e-12)
    assert tuple(places) in set(patterns(7, *schedule))
    # without counting predecessors it is no smaller
    uncounted, _ = participation.of_pairs_at_most(np.abs(matrix.T @ matrix), operations=0)
    assert uncounted >= above * (1 - 1e-15)
    if schedule == (7, 1):
        assert uncounted == pytest.approx(float(bound), rel=1e-13)


@pytest.mark.parametrize("coefficients", [[1.0, 0.5, 0.375, 0.3125, 0.2734375, 0.24, 0.2], [3, 2, 2, 1, 0, 0, 0], [1, 1]])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_record_of_a_decreasing_toeplitz_matrix_takes_part_as_early_as_it_may(coefficients, schedule):
    strategy = Toeplitz(coefficients, 7)
    bound, attained = largest_squares(strategy.array().tolist(), *schedule)
    assert bound == attained
    found = sensitivity(strategy, participations=schedule[0], separation=schedule[1])
    assert Fraction(str(found.lower)) ** 2 <= bound <= Fraction(str(found.upper)) ** 2
    assert found.upper - found.lower <= 1e-14 * found.upper
    most = min(schedule[0], -(-7 // schedule[1]))
    assert found.steps == tuple(range(0, most * schedule[1], schedule[1]))
    # the same by the table of all pairs
    assert sensitivity(strategy.array(), participations=schedule[0], separation=schedule[1]).upper == pytest.approx(
        found.upper, rel=1e-13
    )


def test_a_large_table_is_answered():
    strategy = square_root(500)
    for schedule in ({}, {"separation": 20}, {"participations": 9, "separation": 30}):
        by_table, known = sensitivity(strategy.array(), **schedule), sensitivity(strategy, **schedule)
        assert by_table.upper == pytest.approx(known.upper, rel=1e-11)
        assert by_table.lower == pytest.approx(known.upper, rel=1e-11)


def test_other_toeplitz_matrices_are_those_of_a_table_or_bounded():
    wave = [1, -0.5, 0.75, 0.25]
    table = sensitivity(Toeplitz(wave, 12).array(), participations=3, separation=2)
    assert sensitivity(Toeplitz(wave, 12), participations=3, separation=2) == table
    large = sensitivity(Toeplitz(wave, 5000), participations=3, separation=2)
    majorant = sensitivity(Toeplitz([1, 0.75, 0.75, 0.25], 5000), participations=3, separation=2)
    assert large.upper == pytest.approx(majorant.upper, rel=1e-15)
    assert large.lower <= table.upper <= large.upper
    # apart, signs do not matter
    assert sensitivity(Toeplitz(wave, 5000), participations=3, separation=4).upper == pytest.approx(
        math.sqrt(3 * 1.875), rel=1e-14
    )


def test_published_sensitivities():
    # every step by itself: DP-SGD without sampling
    assert sensitivity(np.eye(16), participations=4).upper == 2
    assert sensitivity(Toeplitz([1], 1000), participations=9, separation=100).upper == 3
    # the examples in the tests of JAX Privacy, whose bands are two and three
    banded = [[1, 0, 0, 0], [2, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, -6]]
    assert sensitivity(banded, participations=1).upper == 6
    for separation in (2, 3):
        found = sensitivity(banded, separation=separation)
        assert found.upper == pytest.approx(math.sqrt(41), rel=1e-15)
        assert found.steps == (0, 3)
    dense = np.array([[1, 0, 0, 0], [2, 1, 0, 0], [0.5, 1, 1, 0], [0.4, 0, 1, -6]])
    assert sensitivity(dense).upper == pytest.approx(math.sqrt(np.abs(dense.T @ dense).sum()), rel=1e-14)
    # noise on prefix sums themselves
    ones = np.tri(100)
    assert sensitivity(ones, participations=1).upper == 10
    assert sensitivity(ones).upper == pytest.approx(math.sqrt(sum(row**2 for row in range(101))), rel=1e-15)


@pytest.mark.parametrize("steps", [1, 2, 3, 7, 8, 100, 1024])
def test_the_tree_of_partial_sums(steps):
    tree = BinaryTree(steps)
    depth = math.ceil(math.log2(steps + 1))
    found = sensitivity(tree, participations=1)
    assert found.upper == pytest.approx(math.sqrt(depth), rel=1e-15)
    assert found.upper - found.lower <= 1e-15 * found.upper
    assert Matrix(tree.array()).bands == tree.bands
    # every prefix is a sum of few blocks, as the binary digits say
    blocks = {tuple(np.flatnonzero(row)[[0, -1]]) for row in tree.array()}
    start = 0
    for level in reversed(range(depth)):
        if steps >> level & 1:
            assert (start, start + 2**level - 1) in blocks
            start += 2**level
    assert start == steps


@pytest.mark.parametrize("steps", [5, 8, 13, 16])
@pytest.mark.parametrize("schedule", [(2, 4), (3, 3), (4, 3), (3, 5), (2, 1), (4, 4), (3, 6)])
def test_several_participations_in_a_tree(steps, schedule):
    tree = BinaryTree(steps)
    most = min(schedule[0], -(-steps // schedule[1]))
    columns = tree.array().T
    bound = max(np.sum(columns[list(places)].sum(axis=0) ** 2) for places in patterns(steps, most, schedule[1]))
    found = sensitivity(tree, participations=schedule[0], separation=schedule[1])
    assert found.lower**2 * (1 - 1e-15) <= bound <= found.upper**2 * (1 + 1e-15)
    assert np.sum(columns[list(found.steps)].sum(axis=0) ** 2) == pytest.approx(found.lower**2, rel=1e-15)
    # what collides costs a level at most here
    assert found.upper**2 <= bound + 4


def test_large_trees_are_known_to_some_percent():
    for steps, most, separation in ((2**20, 1, 1), (10**6, 6, 160_000), (2052, 6, 342), (10**6, 100, 10_000)):
        found = sensitivity(BinaryTree(steps), participations=most, separation=separation)
        assert found.upper <= 1.03 * found.lower
        places = np.array(found.steps)
        assert len(places) <= most
        assert np.all(np.diff(places) >= separation)


@pytest.mark.parametrize("kind", ["non-negative", "signed", "banded"])
@pytest.mark.parametrize("period", [1, 2, 3, 5, 7, 10**9])
def test_a_fixed_order_is_one_place_of_every_epoch(kind, period):
    matrix = drawn(kind)
    gram = np.abs(matrix.T @ matrix)
    places = [np.arange(start, 7, period) for start in range(min(period, 7))]
    bound = max(gram[np.ix_(one, one)].sum() for one in places)
    found = sensitivity(matrix, period=period)
    assert found.lower**2 * (1 - 1e-13) <= bound
    assert found.upper**2 == pytest.approx(bound, rel=1e-13)
    assert found.steps in {tuple(one.tolist()) for one in places}
    assert found.upper <= sensitivity(matrix, separation=period).upper


def test_published_sensitivities_of_fixed_epochs():
    for epochs in (1, 2, 4, 8, 16):
        assert sensitivity(np.eye(16), period=16 // epochs).upper == pytest.approx(math.sqrt(epochs), rel=1e-15)
    rows = np.abs(np.random.default_rng(23).normal(size=(16, 16))) * np.tri(16)
    assert sensitivity(rows, period=1).upper == pytest.approx(np.linalg.norm(rows.sum(axis=1)), rel=1e-13)
    strategy = square_root(60)
    assert sensitivity(strategy, period=20) == sensitivity(strategy, separation=20)
    tree = BinaryTree(60)
    assert sensitivity(tree, period=20) == sensitivity(tree, separation=20)


def test_the_square_root_of_prefix_sums():
    strategy = square_root(50)
    assert np.allclose(strategy.array() @ strategy.array(), np.tri(50), rtol=0, atol=1e-13)
    with mpmath.workdps(30):
        for steps in (1, 10, 1000):
            exact = mpmath.sqrt(mpmath.fsum((mpmath.binomial(2 * j, j) / mpmath.mpf(4) ** j) ** 2 for j in range(steps)))
            found = sensitivity(square_root(steps), participations=1)
            assert abs(found.upper - float(exact)) <= 1e-13
            # the squares are below 1 / (pi j)
            assert float(exact) ** 2 <= 1 + (1 + math.log(steps)) / math.pi
    with_bands = square_root(1000, bands=20)
    assert with_bands.bands == with_bands.diagonals == 20
    found = sensitivity(with_bands, separation=20)
    norm = sensitivity(with_bands, participations=1).upper
    assert found.upper == pytest.approx(norm * math.sqrt(50), rel=1e-13)


@pytest.mark.parametrize("scale", [1e-90, 1.0, 1e90])
def test_any_scale_is_rounded_outward(scale):
    matrix = drawn("signed") * scale
    found = sensitivity(matrix, participations=3, separation=2)
    bound, attained = largest_squares(matrix.tolist(), 3, 2)
    assert Fraction(str(found.lower)) ** 2 <= attained <= bound <= Fraction(str(found.upper)) ** 2
    assert found.upper**2 <= float(bound) * (1 + 1e-13)


@pytest.mark.parametrize("square", [1, 2, 3, 5, 7, 1000, 999_999])
def test_roots_are_doubles_next_to_the_true_one(square):
    found = sensitivity(np.ones((square, 1)))
    for low, high in ((Fraction(found.lower), Fraction(found.upper)), (Fraction(str(found.lower)), Fraction(str(found.upper)))):
        assert low**2 <= square <= high**2
    assert found.upper <= math.nextafter(math.nextafter(found.lower, math.inf), math.inf)
    assert found.lower == found.upper or math.isqrt(square) ** 2 != square


def test_tiny_entries_count():
    matrix = [[1.0, 0.0], [1e-200, 1e-200]]
    found = sensitivity(matrix)
    assert Fraction(str(found.upper)) ** 2 >= 1 + 4 * Fraction("1e-400")
    assert found.upper < 1 + 1e-13


def test_numbers_are_what_they_look_like_or_the_double():
    third, tenth = Fraction(1, 3), Decimal("0.1")
    found = sensitivity([[third, 0], [tenth, tenth]], participations=1)
    assert Fraction(str(found.lower)) ** 2 <= third**2 + Fraction(1, 100) <= Fraction(str(found.upper)) ** 2
    almost = 1 + Fraction(1, 2**60)
    assert Fraction(str(sensitivity([[almost]]).upper)) >= almost
    assert Fraction(str(sensitivity(Toeplitz([almost], 3), participations=1).upper)) >= almost
    assert sensitivity([[0, 0], [0, 0]]).upper == sensitivity(Toeplitz([0.0], 3)).upper == 0


def test_what_separation_admits_is_the_most():
    assert Participation.of(5, None, 2) == Participation.of(5, 9, 2) == Participation(5, 3, 2)
    assert Participation.of(5, 2, 7) == Participation(5, 1, 7)
    strategy = square_root(1000)
    assert sensitivity(strategy, separation=100) == sensitivity(strategy, participations=10, separation=100)
    # windows and whole columns of sums agree
    assert sensitivity(strategy, participations=9, separation=100).upper < sensitivity(strategy, separation=100).upper


def test_bad_input_is_refused():
    refused(ValueError, lambda: sensitivity([1, 0.5]), "two dimensions", "(2,)", "Toeplitz")
    refused(TypeError, lambda: sensitivity("tree"), "strategy matrix")
    refused(TypeError, lambda: sensitivity([[1, "a"]]), "strategy matrix")
    refused(ValueError, lambda: sensitivity([[1, math.nan]]), "strategy matrix", "NaN")
    refused(ValueError, lambda: sensitivity([[1e200]]), "largest entry", "1e-100 and 1e100")
    refused(ValueError, lambda: sensitivity(np.eye(3), participations=0), "participations", "0")
    refused(ValueError, lambda: sensitivity(np.eye(3), separation=0), "separation", "0")
    refused(TypeError, lambda: sensitivity(np.eye(3), separation=1.5), "separation", "1.5")
    refused(TypeError, lambda: untyped(sensitivity)(np.eye(3), min_sep=2), "min_sep", "separation=")
    refused(ValueError, lambda: sensitivity(np.ones((1, 5000))), "5000 columns", "4096", "separation of at least 5000")
    assert sensitivity(np.ones((1, 5000)), participations=1).upper == 1
    refused(ValueError, lambda: Toeplitz([], 3), "coefficients", "non-empty")
    refused(ValueError, lambda: Toeplitz([1, 1], 1), "steps=1", "got 2")
    refused(ValueError, lambda: Toeplitz([1, math.inf], 3), "coefficients")
    refused(ValueError, lambda: square_root(10, bands=11), "bands", "11")
    refused(ValueError, lambda: BinaryTree(0), "steps", "0")
    refused(ValueError, lambda: BinaryTree(5000).array(), "5000 steps", "4096")
    refused(ValueError, lambda: sensitivity(np.eye(3), period=2, separation=1), "period alone", "separation=1")
    refused(ValueError, lambda: sensitivity(np.eye(3), period=0), "period", "0")


def test_a_strategy_cannot_be_changed_behind_its_back():
    given = np.eye(3)
    strategy = Matrix(given)
    given[0, 0] = 9
    assert sensitivity(strategy, participations=1).upper == 1
    with pytest.raises(ValueError, match="read-only"):
        strategy.array()[0, 0] = 9


def test_the_room_is_public():
    assert lp.strategies.sensitivity is sensitivity
