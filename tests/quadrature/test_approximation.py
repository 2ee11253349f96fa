import numpy as np
import pytest

from logphi.arith.protocol import Plain
from logphi.laws.atomic.finite import Finite
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.normal.normal import Normal
from logphi.laws.transform import Reflected

P, Q = (0.5, 0.3, 0.15), (0.2, 0.2, 0.5)
LAW = Finite(P, Q, infinite_p=0.05, infinite_q=0.1)


def test_the_approximation_of_a_reflected_law_is_that_of_the_pair_exchanged():
    c = np.array([-2.0, -0.5, 0.3, 4.0])
    by_hand = [np.log(sum(q * (q / p) ** one for p, q in zip(P, Q, strict=True))) for one in c]
    assert Reflected(LAW).approximate(c) == pytest.approx(by_hand, rel=1e-9)


def test_the_nodes_of_a_reflected_law_have_the_masses_of_the_other_measure():
    nodes = Reflected(LAW).approximate.nodes()
    assert nodes is not None
    assert nodes.loss == pytest.approx(np.log(np.divide(Q, P)))
    assert np.exp(nodes.log_mass) == pytest.approx(P)
    assert nodes.omitted == (0.1, 0.05)


def test_the_terms_on_a_line_of_a_reflected_sum_are_those_at_the_reflected_abscissa():
    loss = LogPhi.of([(MixedNormal(Plain(0.9), Plain(0.004)), 100), (Normal(Plain(0.5)), 1)])
    for top in (1.0, 1000.0):
        terms = loss.approximate.terms_on_line(6.0, top)
        assert terms == loss.reflected().approximate.terms_on_line(-7.0, top)
        assert terms > 10
    assert loss.approximate.terms_on_line(6.0, 1000.0) > loss.approximate.terms_on_line(6.0, 1.0)
    # each atom is a term
    assert LAW.approximate.terms_on_line(6.0, 1.0) == 3
    assert LogPhi.of([(Normal(Plain(0.5)), 3)]).approximate.terms_on_line(6.0, 1.0) == 1
