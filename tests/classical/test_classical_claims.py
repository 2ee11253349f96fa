"""Claims and approximations: what may go where a bound is asked for, and the side to which their digits err."""

import math
from fractions import Fraction

import mpmath
import pytest
from mpmath import mpf

import logphi as lp
from logphi.answers.approximation import Approximation
from logphi.answers.display import printed
from logphi.answers.ledger import Entry, Ledger
from logphi.answers.status import Side
from logphi.classical import claim, interval_arithmetic, renyi, sampled_renyi
from logphi.classical.composition import Guarantee
from logphi.classical.concentrated import Concentrated
from logphi.classical.divergence_curve import DivergenceCurve
from logphi.classical.loss_class import LossClass

GUESS = Approximation(0.5, "a guess")


@pytest.mark.parametrize(
    "use",
    [
        Guarantee,
        lambda bound: Guarantee(1.0, bound),
        Concentrated,
        lambda bound: Concentrated(1.0, bound),
        lambda bound: DivergenceCurve.at([2.0], [bound]),
        lambda bound: renyi.delta(lambda order: bound, 1.0),
        lambda bound: renyi.epsilon(2 * DivergenceCurve(lambda order: bound), 0.1),
        lambda bound: sampled_renyi.sampled_divergence([0.1, bound], 0.5),
        lambda bound: sampled_renyi.sampled_curve(lambda order: bound, 0.5, 3),
        lambda bound: LossClass(lp.Bound(1, 1, 1), lp.Bound(1, 1, 1), lp.Bound(0, 0, 0), bound),
    ],
)
def test_an_approximation_is_no_bound(use):
    with pytest.raises(TypeError, match="got an approximation"):
        use(GUESS)
    with pytest.raises(TypeError, match="got a lower one"):
        use(claim.Claim(0.5, Side.LOWER, "x", "y"))
    with pytest.raises(TypeError, match="got 'one'"):
        use("one")


@pytest.mark.parametrize("use", [Guarantee, Concentrated, lambda bound: renyi.delta(lambda order: bound, 1.0)])
def test_an_estimate_is_no_bound(use):
    estimate = lp.Bound(0.1, 0.2, 0.3, ledger=Ledger(rounding=Entry(0.1, proved=False)))
    for one in (estimate, claim.Claim(0.5, Side.UPPER, "x", "y", proved=False)):
        with pytest.raises(TypeError, match="an estimate of an error"):
            use(one)


def test_a_quotient_is_taken_at_the_next_double():
    third, fifth = Fraction(1, 3), Fraction(1, 5)
    assert claim.at_most("x", third) >= third > claim.at_least("x", third)
    assert claim.at_most("x", fifth) > fifth >= claim.at_least("x", fifth)
    assert claim.at_most("x", 10**17 + 1) > 10**17 + 1
    assert claim.at_most("x", 0.1) == claim.at_least("x", 0.1) == 0.1


def test_bounds_and_claims_are_taken_at_their_end():
    assert Guarantee(lp.Bound(0.1, 0.2, 0.3), claim.Claim(0.01, Side.UPPER, "x", "y")) == Guarantee(0.3, 0.01)
    assert Concentrated(lp.Bound(0.1, 0.2, 0.3)).rho == 0.3
    with pytest.raises(ArithmeticError, match="not a number"):
        claim.Claim(math.nan, Side.UPPER, "x", "y")


@pytest.mark.parametrize("value", [1 / 3, 2 / 3, 1e-300 / 7, 123456.789, 0.1, 5e-324, 1.0])
def test_printed_digits_err_to_the_side_of_the_bound(value):
    assert mpf(printed(value, Side.LOWER, 3)) <= mpf(value) <= mpf(printed(value, Side.UPPER, 3))
    assert printed(math.inf, Side.UPPER) == "inf"
    assert "at most 0.3333334" in str(claim.Claim(1 / 3, Side.UPPER, "x", "y"))


@pytest.mark.parametrize("power", [-2000.5, -745, -3.25, 0, 1 / 3, 3, 700, 2000])
def test_ends_are_rounded_outward(power):
    x = interval_arithmetic.intervals().exp(interval_arithmetic.exact(power))
    with mpmath.workdps(80):
        truth = mpmath.exp(mpf(power))
        low, high = interval_arithmetic.down(x), interval_arithmetic.up(x)
        assert mpf(low) <= truth <= mpf(high)
        assert interval_arithmetic.up(-x) == -low
        assert interval_arithmetic.down(-x) == -high
    assert high == low or math.nextafter(low, math.inf) == high
    assert (
        interval_arithmetic.up(interval_arithmetic.decimal(0.1))
        > 0.1
        > interval_arithmetic.down(interval_arithmetic.decimal(0.1))
    )
    # 3e-324 reads back as the least double
    assert interval_arithmetic.decimal(5e-324).a < mpf("3e-324")
