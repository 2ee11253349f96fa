"""What is known of a law reflects with it, twice to itself, and adds as laws do."""

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy.stats import norm

from exact import dec
from logphi.arith.protocol import Plain
from logphi.laws.atomic.finite import Finite
from logphi.laws.closed_form import ClosedForm
from logphi.laws.combined.parameters import as_mixture, normal_shift
from logphi.laws.combined.sampled_loss import SampledLoss
from logphi.laws.flat.flat_pair import FlatPair
from logphi.laws.flat.mixed_flat import MixedFlat
from logphi.laws.flat.two_point import TwoPoint
from logphi.laws.flat.uniform import UniformWithAtoms
from logphi.laws.growth import Growth, OneSided
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.normal.normal import Normal
from logphi.laws.normal.normal_pair import NormalPair
from logphi.laws.shift_bound import shift_bound, shift_bound_of_sum
from logphi.laws.support import PROBABILITIES, Lattice, LogMasses, Omitted, Pieces, Support
from logphi.laws.traits import Traits
from logphi.laws.transform import Reflected
from logphi.laws.zero_or_infinite import ZeroOrInfinite
from some import some

P, Q = (0.5, 0.3, 0.2), (0.2, 0.2, 0.6)
PIECES, LATTICE = Pieces((-1.0, 2.0), (-0.1, -0.2), 0.5, -1.0, 1e-16, 1e-15), Lattice(0.5, 2.0, 1e-15, 1e-16)
OBJECTS = [
    Support(-1.0, 2.0, 1e-15, atomless=True),
    Support(-1.0, 2.0, 1e-15, False, PIECES, LATTICE, Omitted(1e-20, 3.0)),
    PIECES,
    LATTICE,
    Growth(OneSided(0.5, 1.0, 0.0), OneSided(0.0, math.inf, 0.0, 3.0)),
]


@pytest.mark.parametrize("known", OBJECTS, ids=lambda known: type(known).__name__)
def test_reflecting_twice_changes_nothing(known):
    assert known.reflected() != known
    assert known.reflected().reflected() == known


def test_the_support_of_a_sum_holds_every_sum_of_atoms():
    law = Finite(P, Q)
    found = LogPhi(((law, 2), (law.reflected(), 1))).support
    sums = [a + b - c for a, b, c in product(law.losses, repeat=3)]
    assert found.lower <= min(sums) <= found.lower + found.error + 1e-15
    assert found.upper - found.error - 1e-15 <= max(sums) <= found.upper
    assert not found.atomless


def test_a_sum_with_an_atomless_term_has_no_atoms():
    assert LogPhi(((Finite(P, Q), 1), (MixedNormal(Plain(1.0), Plain(0.1)), 3))).support.atomless


def test_a_lattice_of_a_sum_carries_every_sum_of_atoms():
    law = Finite((0.1, 0.1, 0.8), (0.2, 0.1, 0.2))
    found = LogPhi(((law, 2), (law.reflected(), 3))).support.lattice
    assert found is not None
    assert found.span == pytest.approx(math.log(2))
    steps = (np.array([sum(one[:2]) - sum(one[2:]) for one in product(law.losses, repeat=5)]) - found.offset) / found.span
    assert np.abs(steps - np.round(steps)).max() < 1e-12


def test_lattices_without_a_common_span_add_to_none():
    assert Lattice.of_sum([(Lattice(0.0, 1.0), 2.0, 1), (Lattice(0.0, math.sqrt(2)), 2.0, 1)]) is None


def test_k_is_infinite_where_its_growth_says_so_on_both_sides():
    # P wider than Q: 1 + z v vanishes at z = 1 / (r^2 - 1)
    law = NormalPair(0.0, 1.5, 0.0, 1.0)
    end = 1 / (1.5**2 - 1)
    assert law.growth.right.end == pytest.approx(end, rel=1e-14)
    assert law.growth.right.end >= end
    assert law.growth.left.end == math.inf
    assert Reflected(law).growth == law.growth.reflected()
    assert law.growth.reflected().strip == pytest.approx((-1 - end, math.inf))
    both = LogPhi(((law, 3), (law.reflected(), 2))).growth
    assert both.strip == pytest.approx((-1 - end, end))


def test_the_closed_form_of_a_reflected_law_is_that_of_the_pair_exchanged():
    law, reflected = Finite(P, Q), Finite(Q, P)
    for x, tilted in product((-1.2, -0.3, 0.1, 0.7), (False, True)):
        found = law.closed_form.reflected().partial_masses(x, tilted=tilted)
        exact = reflected.closed_form.partial_masses(x, tilted=tilted)
        for one, other in zip(some(found), some(exact), strict=True):
            assert one.low * math.exp(one.log_scale) == pytest.approx(other.low * math.exp(other.log_scale), rel=1e-13)


def test_a_sum_is_symmetric_and_continuous_if_all_terms_are_and_estimated_if_any_is():
    symmetric, continuous, estimated = Traits(symmetric=True), Traits(True, True), Traits(True, True, True)
    assert symmetric + continuous == symmetric
    assert continuous + estimated == estimated
    assert LogPhi().traits + continuous == continuous
    assert LogPhi(((Normal(Plain(1.0)), 2), (ZeroOrInfinite(0.1), 1))).traits == continuous
    assert LogPhi(((Normal(Plain(1.0)), 2), (TwoPoint(Plain(1.0)), 1))).traits == symmetric
    assert LogPhi(((Normal(Plain(1.0)), 2), (Finite(P, Q), 1))).traits == Traits()


def test_omitted_masses_add_and_are_in_the_transforms_of_the_whole():
    law = Finite(P, Q, omitted_mass=1e-6)
    loss = LogPhi(((law, 3), (Normal(Plain(1.0)), 1)))
    assert loss.support.omitted.mass == pytest.approx(3e-6)
    assert loss.support.omitted.mass >= 3e-6
    assert loss.reflected().support.omitted == loss.support.omitted
    z = np.array([-0.5])
    added = loss.with_omitted_mass().log_transform(z).radius - loss.log_transform(z).radius
    assert 3e-6 < added[0] < 1e-5
    alone = LogPhi(((Normal(Plain(1.0)), 1),))
    assert alone.with_omitted_mass() is alone


@pytest.mark.parametrize("m", [0.3, 4.0])
def test_shift_bounds_are_the_shifts_of_normal_laws_and_of_sums_their_length(m):
    mixed = MixedNormal(Plain(m), Plain(0.1))
    assert shift_bound(Normal(Plain(m))) == shift_bound(mixed) == shift_bound(Reflected(mixed)) == pytest.approx(m, rel=1e-14)
    assert shift_bound_of_sum(LogPhi(((mixed, 9), (Normal(Plain(4 * m)), 1)))) == pytest.approx(5 * m, rel=1e-14)
    assert shift_bound_of_sum(LogPhi()) == 0
    # odds of e^l to one, for a test that errs with probability 1 / (1 + e^l) on either side
    assert shift_bound(TwoPoint(Plain(m))) == pytest.approx(-2 * norm.ppf(1 / (1 + math.exp(m))), rel=1e-12)
    assert shift_bound(NormalPair(0.0, 1.5, 0.0, 1.0)) == shift_bound(ZeroOrInfinite(0.1)) == math.inf


def test_parameters_are_read_off_the_form():
    m, q = Plain(0.5), Plain(0.1)
    normal, flat = Normal(m), FlatPair(m, with_atoms=True)
    assert normal_shift(normal) is m
    assert normal_shift(MixedNormal(m, q)) is normal_shift(TwoPoint(m)) is normal_shift(Finite(P, Q)) is None
    assert as_mixture(MixedNormal(m, q)) == (normal, q)
    assert as_mixture(SampledLoss(normal, q)) == (normal, q)
    assert as_mixture(MixedFlat(flat, 0.1)) == (UniformWithAtoms(m), q)
    assert as_mixture(MixedFlat(FlatPair(m, with_atoms=True, failure=0.1), 0.1)) is None
    assert as_mixture(Reflected(MixedNormal(m, q))) is as_mixture(normal) is None


def test_only_one_law_alone_has_a_closed_form():
    law = NormalPair(0.0, 1.5, 0.0, 1.0)
    assert LogPhi(((law, 1),)).closed_form.has_profile
    assert not LogPhi(((law, 2),)).closed_form.has_profile
    assert not Finite(P, Q).closed_form.has_profile
    assert not ClosedForm().reflected().has_profile
    assert ClosedForm().partial_masses(0.0, tilted=True) is None


def test_masses_of_a_sum_are_products_and_those_of_a_reflected_law_are_exchanged():
    one, other = (law.support.masses for law in (Finite((0.5, 0.4), (0.3, 0.4), 0.1, 0.3), ZeroOrInfinite(0.01)))
    total = LogMasses.of_sum([(one, 3), (other, 2), (PROBABILITIES, 5)])
    with mpmath.workdps(30):
        for found, truth in zip(total, (dec(0.9) ** 3, dec(0.7) ** 3), strict=True):
            exact = mpmath.log(truth * dec(0.99) ** 2)
            assert abs(float(found.mid[0]) - exact) <= found.radius[0]
            assert found.radius[0] < 1e-13
    assert one.reflected() == (one.tilted, one.own)
    assert not total.certain


def test_sums_of_probabilities_are_probabilities():
    assert LogMasses.of_sum([(PROBABILITIES, 3), (PROBABILITIES.reflected(), 1)]).certain
    assert LogMasses.of_sum([]).certain
    assert Finite((0.5, 0.5), (0.4, 0.6)).support.masses.certain
