"""Sums of positive variables on few nodes, against all sums of their atoms."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from logphi.grid.nonnegative_sums import NonnegativeAtoms


def atoms(places, masses):
    order = np.argsort(places)
    return NonnegativeAtoms(np.asarray(places, float)[order], np.asarray(masses, float)[order], 0.0, 0.0, 0.0)


def excess(places, masses, strikes):
    return (masses * np.maximum(places - strikes[:, None], 0)).sum(axis=1)


def check_ends(own, count, places, masses, width):
    """The excess of the sum lies between those of both laws, which are close."""
    below, above = (own.sum_of(count, upper=upper) for upper in (False, True))
    strikes = np.quantile(places, np.linspace(0, 1, 101))
    low, exact, high = (
        excess(x, w, strikes) for x, w in ((below.places, below.masses), (places, masses), (above.places, above.masses))
    )
    mean = (places * masses).sum()
    assert (low <= exact + 1e-13 * mean).all()
    assert (exact <= high + 1e-13 * mean).all()
    assert ((high - low)[:-1] <= width * exact[:-1] + 1e-12 * mean).all()
    for law in (below, above):
        assert law.masses.sum() == pytest.approx(1, rel=1e-12)
        assert (law.places * law.masses).sum() == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("spread", [0.01, 1.0, 8.0])
def test_a_sum_of_two_lies_between_both_laws(spread):
    random = np.random.default_rng(1)
    places, masses = np.exp(spread * random.standard_normal(250)), random.dirichlet(np.ones(250))
    sums, weights = np.add.outer(places, places).ravel(), np.multiply.outer(masses, masses).ravel()
    check_ends(atoms(places, masses), 2, sums, weights, 2e-2)


@pytest.mark.parametrize("count", [2, 3, 5, 6, 7, 11])
def test_few_atoms_are_counted(count):
    places, masses = [Fraction(1, 64), Fraction(1), Fraction(300)], [Fraction(5, 8), Fraction(5, 16), Fraction(1, 16)]
    law = {Fraction(0): Fraction(1)}
    for _ in range(count):
        longer: dict[Fraction, Fraction] = {}
        for x, w in law.items():
            for y, v in zip(places, masses, strict=True):
                longer[x + y] = longer.get(x + y, Fraction(0)) + w * v
        law = longer
    sums, weights = (np.array([float(one) for one in part]) for part in (law, law.values()))
    check_ends(atoms([float(x) for x in places], [float(w) for w in masses]), count, sums, weights, 1e-4)


def test_masses_below_the_doubles_are_counted_as_left_out():
    own = atoms([1.0, 2.0], [1 - 1e-200, 1e-200])
    total = own.sum_of(3, upper=True)
    # two rare places of three have a mass of 3e-400
    assert total.masses.sum() == pytest.approx(1, rel=1e-12)
    assert 0 < total.omitted < 1e-290
