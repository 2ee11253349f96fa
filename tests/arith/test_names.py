"""Equal formulas have equal names."""

from fractions import Fraction

import pytest

from logphi.arith.names import Names
from logphi.laws.atomic.cells import Exchanged, Given, Mixed, same_exchanged
from logphi.text.written import Written


def test_the_same_formula_has_the_same_name():
    names = Names()
    one, other = (1 - names.exp(-names.constant(0.3)) / 2 for _ in range(2))
    assert one == other
    assert one != 1 - names.exp(-names.constant(0.4)) / 2
    assert names.constant(0.5) != names.constant(Written(Fraction("0.50000000000000000001")))


def test_integrals_have_no_names():
    with pytest.raises(NotImplementedError):
        Names().log_normal_mean(lambda x: x)


def test_symmetry_is_read_off_formulas_written_twice():
    class Twice:
        def under(self, arith):
            return [1 - arith.constant(0.3), arith.constant(0.3)], [arith.constant(0.3), 1 - arith.constant(0.3)]

    assert same_exchanged(Twice())
    mixed = Mixed(Given((0.7, 0.3), (0.3, 0.7)), 0.5)
    assert not same_exchanged(mixed)
    assert not same_exchanged(Exchanged(mixed))
