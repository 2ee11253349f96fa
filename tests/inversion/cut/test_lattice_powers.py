"""Sums of draws on a lattice, by all convolutions one after the other."""

from __future__ import annotations

import math

import numpy as np

from logphi.inversion.cut.lattice_powers import Row, power


def everything(number: int, uses: int) -> tuple[float, float]:
    return -1e6, 1e6


def test_powers_of_a_row_are_sums_of_draws() -> None:
    random = np.random.default_rng(5)
    value = random.random(7)
    row = Row(value, 1e-3 * value, 0.0)
    for count in (1, 2, 3, 6, 7):
        direct, most = np.ones(1), np.ones(1)
        for _ in range(count):
            direct, most = np.convolve(direct, value), np.convolve(most, 1.001 * value)
        found, first, _ = power(row, -2, count, everything)
        assert first == -2 * count
        scale = math.exp(found.log_scale)
        assert np.allclose(found.value * scale, direct, rtol=1e-13)
        assert (found.error * scale >= (most - direct) * (1 - 1e-12)).all()
        assert (found.error * scale <= 1.01 * (most - direct) + 1e-13 * direct).all()


def test_what_is_cut_off_is_listed() -> None:
    """Each kept law is smaller than the whole one by at most the cut-off parts, as often as they are used."""
    random = np.random.default_rng(6)
    value = random.random(5)
    value /= value.sum()
    for count in (2, 5, 13):
        found, first, cuts = power(Row(value, 0 * value, 0.0), -1, count, lambda number, uses: (0.2 * number, 2.1 * number))
        whole = {number: np.array([1.0]) for number in (0,)}
        for number in range(1, count + 1):
            whole[number] = np.convolve(whole[number - 1], value)
        omitted = 0.0
        for number, uses, low, high in cuts:
            places = np.arange(-number, 3 * number + 1)
            omitted += uses * whole[number][(places < low) | (places > high)].sum()
        assert [one.number for one in cuts] == [count >> shift for shift in range(count.bit_length() - 2, -1, -1)]
        assert cuts[-1].first == first
        kept = found.value.sum() * math.exp(found.log_scale)
        assert 1 - omitted <= kept < 1
        inside = whole[count][first + count : first + count + found.value.size]
        assert (found.value * math.exp(found.log_scale) <= inside * (1 + 1e-12)).all()
