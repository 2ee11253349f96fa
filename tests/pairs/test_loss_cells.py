"""Two finite pairs around cells of which the masses and the range of the loss are known."""

import math

import numpy as np
import pytest

from logphi.pairs.finite import FinitePair
from logphi.pairs.loss_cells import LossCells


def excess(p: np.ndarray, q: np.ndarray, a: float) -> float:
    return math.fsum(np.maximum(p - a * q, 0.0).tolist())


def made(seed: int, cells: int, step: float, flat: bool) -> tuple[np.ndarray, np.ndarray, LossCells]:
    """Outcomes of random masses, and the cells that hold five of them each."""
    rng = np.random.default_rng(seed)
    loss = np.sort(rng.normal(0.0, 1.0, (cells, 5)), axis=0)
    loss = np.sort(loss.ravel()).reshape(cells, 5)
    if flat:
        loss[cells // 3 : cells // 2] = loss[cells // 3, 0]
    q = rng.random((cells, 5))
    p = q * np.exp(loss)
    p, q = p / p.sum(), q / q.sum()
    loss = np.log(p / q)
    room = 1e-13
    errors = np.full(cells, 1e-13)
    found = LossCells(
        p.sum(axis=1), q.sum(axis=1), errors, errors, loss.min(axis=1) - room, loss.max(axis=1) + room, (0.0, 0.0), (0.0, 0.0),
        (0.0, 0.0), (0.0, 0.0), 0.0, 0.0, step,
    )  # fmt: skip
    return p.ravel(), q.ravel(), found


def sides(pair: FinitePair) -> tuple[np.ndarray, np.ndarray, float]:
    return np.array(pair.p), np.array(pair.q), pair.relative_error + 2 * pair.omitted_mass + 1e-14


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_both_pairs_hold_the_excess_in_both_orders(seed: int, flat: bool) -> None:
    p, q, cells = made(seed, 300, 0.01, flat)
    (low_p, low_q, low), (high_p, high_q, high) = sides(cells.below()), sides(cells.above())
    for a in np.exp(np.linspace(-4, 4, 81)):
        for one, two, below, above in ((p, q, (low_p, low_q), (high_p, high_q)), (q, p, (low_q, low_p), (high_q, high_p))):
            exact = excess(one, two, a)
            room = 1 + a
            assert excess(*below, a) <= exact + low * room
            assert exact <= excess(*above, a) + high * room


def test_they_are_close_and_sum_to_one() -> None:
    p, q, cells = made(1, 3000, 0.005, False)
    for pair in (cells.below(), cells.above()):
        assert math.fsum(pair.p) == pytest.approx(1, abs=1e-12)
        assert math.fsum(pair.q) == pytest.approx(1, abs=1e-12)
        assert pair.relative_error < 1e-8
        for a in (0.5, 1.0, 2.0):
            assert excess(np.array(pair.p), np.array(pair.q), a) == pytest.approx(excess(p, q, a), abs=2e-5)


def test_ratios_are_on_equally_spaced_nodes() -> None:
    _, _, cells = made(2, 500, 0.01, False)
    origin, step = cells.nodes
    for pair in (cells.below(), cells.above()):
        place = (np.log(np.array(pair.p) / np.array(pair.q)) - origin) / step
        errors = np.array(pair.cell_errors[2])
        assert np.all(np.abs(place - np.rint(place)) * step <= errors)


def test_mass_of_unknown_loss_is_infinite_above_and_finite_below() -> None:
    _, _, cells = made(3, 300, 0.01, False)
    share = 0.9
    with_vague = LossCells(
        cells.p * share, cells.q, cells.p_error, cells.q_error, cells.low + math.log(share), cells.high + math.log(share),
        (0.0, 0.0), (0.0, 0.0), (0.1, 0.0), (1e-13, 0.0), 1e-50, 1e-50, cells.step,
    )  # fmt: skip
    above, below = with_vague.above(), with_vague.below()
    assert (0.1, 0.0) in zip(above.p, above.q, strict=True)
    assert min(below.q) > 0
    assert math.fsum(below.p) == pytest.approx(1, abs=1e-12)
