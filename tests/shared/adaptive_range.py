"""The best adaptive picks of two-point pairs, from the definition: on the whole line, one pick after the other."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def on_grid(epsilon: float, count: int, parts: int) -> tuple[Array, Array]:
    """Thresholds from -k eps to k eps, and the best profile there by picks that are multiples of eps / parts: a lower bound."""
    step = epsilon / parts
    x = np.arange(-count * parts, count * parts + 1).astype(float) * step
    profile: Array = np.maximum(-np.expm1(x), 0.0)
    for _ in range(count):
        left = -np.expm1(x[0] - step * np.arange(parts, 0, -1))
        padded = np.concatenate([left, profile, np.zeros(parts)])
        best: Array = np.zeros_like(profile)
        for pick in range(parts + 1):
            p = math.expm1(pick * step - epsilon) / math.expm1(-epsilon)
            low, high = padded[parts - pick : parts - pick + x.size], padded[2 * parts - pick : 2 * parts - pick + x.size]
            best = np.maximum(best, p * low + (1 - p) * high)
        profile = best
    return x, profile


def by_chords(epsilon: float, count: int, parts: int) -> tuple[Array, Array]:
    """The same with picks on a grid ten times as fine and the profile before it linear in e^x: nearly an upper bound."""
    step, fine = epsilon / parts, 10
    x = np.arange(-count * parts, count * parts + 1).astype(float) * step
    profile: Array = np.maximum(-np.expm1(x), 0.0)
    for _ in range(count):

        def at(places: Array, known: Array = profile) -> Array:
            inside = np.interp(np.exp(places), np.exp(x), known)
            return np.where(places < x[0], -np.expm1(places), np.where(places > x[-1], 0.0, inside))

        best: Array = np.zeros_like(profile)
        for pick in np.linspace(0, epsilon, fine * parts + 1):
            p = math.expm1(pick - epsilon) / math.expm1(-epsilon)
            best = np.maximum(best, p * at(x - pick) + (1 - p) * at(x - pick + epsilon))
        profile = best
    return x, profile


def fixed(epsilon: float, count: int, threshold: float, picks: int = 200) -> float:
    """The best profile by one pick for all steps: a lower bound."""
    i = np.arange(count + 1)
    log_binomial = np.array([math.lgamma(count + 1) - math.lgamma(j + 1) - math.lgamma(count - j + 1) for j in i])
    best = 0.0
    for pick in np.linspace(0, epsilon, picks + 1)[1:-1]:
        p = math.expm1(pick - epsilon) / math.expm1(-epsilon)
        masses = np.exp(log_binomial + (count - i) * math.log(p) + i * math.log1p(-p))
        best = max(best, float(masses @ np.maximum(-np.expm1(np.minimum(threshold - count * pick + i * epsilon, 0.0)), 0.0)))
    return best


def in_any_order(epsilons: tuple[int, ...], counts: tuple[int, ...], step: float, fine: int = 1) -> tuple[Array, Array]:
    """Thresholds, and the best profile there by any next step, whose range is a whole number of ``step``.

    By picks on the grid it is a lower bound. By finer ones, with profiles linear in e^x, it is nearly an upper bound.
    """
    size = sum(e * count for e, count in zip(epsilons, counts, strict=True))
    x = np.arange(-size, size + 1).astype(float) * step

    @cache
    def profile(left: tuple[int, ...]) -> Array:
        best: Array = np.maximum(-np.expm1(x), 0.0)
        for place, (parts, count) in enumerate(zip(epsilons, left, strict=True)):
            if not count:
                continue
            after = profile((*left[:place], count - 1, *left[place + 1 :]))

            def at(shift: float, known: Array = after) -> Array:
                places = x + shift * step
                inside = np.interp(np.exp(places), np.exp(x), known)
                return np.where(places < x[0], -np.expm1(places), np.where(places > x[-1], 0.0, inside))

            for pick in np.linspace(0, parts, fine * parts + 1):
                p = math.expm1((pick - parts) * step) / math.expm1(-parts * step)
                best = np.maximum(best, p * at(-pick) + (1 - p) * at(parts - pick))
        return best

    return x, profile(counts)
