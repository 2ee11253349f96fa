"""E e^{-wY} for a lognormal Y at many digits, continued to the left half-plane: one line for the whole integral."""

from __future__ import annotations

import mpmath as mp


def transform(w: mp.mpc, shift: mp.mpf, *, turn: mp.mpf | None = None) -> mp.mpc:
    """The trapezoidal sum over x - i turn/m: by default such that wY is positive, and half as much at least on the cut."""
    turn = mp.arg(w) * (1 if abs(mp.arg(w)) < mp.pi / 2 else mp.mpf("0.75")) if turn is None else turn
    room = mp.pi / 2 - abs(mp.arg(w) - turn)
    distance = min(mp.mpf("0.9") * room / shift, mp.mpf(6))
    digits = mp.mp.dps * mp.log(10)
    lift = turn / shift
    step = 2 * mp.pi * distance / (digits + (abs(lift) + distance) ** 2 / 2 + 3)
    end = mp.sqrt(2 * (digits + lift**2 / 2)) + 1
    size, rotation = abs(w), mp.expj(mp.arg(w) - turn)
    total = mp.mpc(0)
    for k in range(int(-end / step), int(end / step) + 1):
        x = k * step
        y = size * mp.exp(shift * x - shift * shift / 2)
        if y * rotation.real < 1.5 * digits:
            total += mp.exp(-((x - 1j * lift) ** 2) / 2 - y * rotation)
    return total * step / mp.sqrt(2 * mp.pi)
