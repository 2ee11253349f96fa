"""Second-order exponential sums over nodes: E[e^{itl} - 1 - itl], which keeps its digits for small t."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.summation import product
from logphi.arrays import Array
from logphi.quadrature.values import Line

# measured: on shorter lines, exponentials are as fast as a matrix product
_SHORT = 32
# a function of heights, losses and weights: the sums of w (e^{itl} - 1 - itl)
SecondMoments = Callable[[Array, Array, Array], NDArray[np.complex128]]


def along_line(line: Line) -> SecondMoments:
    """Second moments at all heights of a line."""
    return one_by_one if line.size <= _SHORT else along_lines(line.step, line.size)


def along_lines(step: float | Array, size: int) -> SecondMoments:
    """Second moments at ``size`` heights of a line, or of one for each mixture, whose steps are (mixture, 1, 1).

    With heights t = r + s, e^{itl} - 1 = A + B + AB makes the sums one matrix product: only about 2 sqrt(size) complex
    numbers are formed per node, by doubling from the logarithm of that many exponentials.
    """

    def moments(_: Array, loss: Array, weight: Array) -> NDArray[np.complex128]:
        half = int(np.ceil(np.log2(size) / 2))
        fine = 1 << half
        coarse = -(-size // fine)
        # the angles of all doublings at once
        angles = step * 2.0 ** np.arange(half + coarse.bit_length())[None, :, None] * loss[:, None, :]
        second = second_exp_imaginary(angles)
        full = second + 1j * angles
        full_fine, second_fine = _powers(full[:, :half], second[:, :half], fine)
        full_coarse, second_coarse = _powers(full[:, half:], second[:, half:], coarse)
        sums = product(full_coarse * weight[:, None, :], full_fine.transpose(0, 2, 1))
        sums += product(second_coarse, weight[:, :, None]) + product(second_fine, weight[:, :, None]).transpose(0, 2, 1)
        return sums.reshape(loss.shape[0], -1)[:, :size]

    return moments


def one_by_one(heights: Array, loss: Array, weight: Array) -> NDArray[np.complex128]:
    """Second moments at heights in any order, the same for all or (mixture, height)."""
    rotated = second_exp_imaginary(heights[..., None] * loss[:, None, :])
    result: NDArray[np.complex128] = product(rotated, weight[:, :, None])[:, :, 0]
    return result


def second_exp(x: Array) -> Array:
    """``e^x - 1 - x`` to about twenty ulps."""
    found: Array = np.expm1(x) - x
    near = np.abs(x) < 0.06
    small = x[near]
    series = small / 9 + 1
    for k in range(8, 2, -1):
        series *= small
        series /= k
        series += 1
    found[near] = small * small / 2 * series
    return found


def second_exp_imaginary(angle: NDArray[Any]) -> NDArray[np.complex128]:
    """``e^{i angle} - 1 - i angle`` to about twenty ulps, for real angles or above the real axis."""
    if np.iscomplexobj(angle):
        inside = np.abs(angle) < 0.5
        turn = np.where(inside, 1j * angle, 0)
        tail = np.ones_like(turn)
        for k in range(15, 2, -1):
            tail = 1 + turn / k * tail
        return np.where(inside, turn * turn / 2 * tail, np.exp(1j * angle) - 1 - 1j * angle)
    near = np.abs(angle) < 0.2
    small = np.where(near, angle, 0)
    square = small * small
    series = np.full_like(small, 1.0)
    for k in range(10, 2, -2):
        series = 1 - square / (k * (k + 1)) * series
    odd = np.where(near, -small * square / 6 * series, np.sin(angle) - angle)
    sine = np.sin(0.5 * angle)
    result: NDArray[Any] = -2 * sine * sine + 1j * odd
    return result


def _powers(
    full: NDArray[np.complex128], second: NDArray[np.complex128], size: int
) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """``e^{i j angle} - 1``, and the same less ``i j angle``, for j = 0 .. size - 1 along the second axis.

    From both for j = 1, 2, 4, ..: with A = e^{ia} - 1 and R = A - ia, those of a sum are A + B + AB and R + S + AB.
    """
    shape = (full.shape[0], size, full.shape[2])
    all_full, all_second = np.zeros(shape, dtype=complex), np.zeros(shape, dtype=complex)
    done = 1
    for level in range((size - 1).bit_length()):
        more = min(done, size - done)
        cross = all_full[:, :more] * full[:, [level]]
        all_second[:, done : done + more] = all_second[:, :more] + second[:, [level]] + cross
        all_full[:, done : done + more] = all_full[:, :more] + full[:, [level]] + cross
        done += more
    return all_full, all_second
