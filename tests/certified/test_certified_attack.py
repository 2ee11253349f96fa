"""Certified answers where doubles mislead: masses below them, equal ones of different numbers, answers too small, kinks."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from logphi.expression import parse

pytest.importorskip("flint")

from logphi.certified.answer import certify
from logphi.certified.route import NotCertifiedError
from slowly import slowly


def claim(expression, **question):
    found = parse(expression).certify(**question)
    return Fraction(found.lower), Fraction(found.upper)


def test_infinite_losses_below_every_double_count():
    """Beyond all finite losses delta is P(X = 60) for the truncated law, about e^-1800."""
    lower, upper = claim("DiscreteGaussian(sigma=1, truncation=60)", epsilon=1000)
    # e^-1800 / (1 + 2 e^-1/2 + 2 e^-2 + ...), by mpmath
    reference = Fraction("7.42749960952070946e-783")
    assert lower < reference < upper


@pytest.mark.parametrize("failure", ["1e-300", "1e-18"])
def test_a_rare_failure_is_known_to_all_digits(failure):
    lower, upper = claim(f"ApproximateDP(epsilon=1, delta={failure})", epsilon=2)
    assert lower < Fraction(failure) < upper


def test_lost_mass_of_written_vectors_is_exact():
    """7/17 is no double: at 0 the profile is 7/17 + (6/17 - 2/7), beyond all finite losses 7/17."""
    mechanism = "Discrete(p=[2/17, 6/17, 2/17, 7/17], q=[2/7, 2/7, 3/7, 0])"
    for epsilon, truth in ((0, Fraction(7, 17) + Fraction(6, 17) - Fraction(2, 7)), (3, Fraction(7, 17))):
        for other in ("", " + ApproximateDP(epsilon=0.01, delta=0.5)" if epsilon else ""):
            lower, upper = claim(mechanism + other, epsilon=epsilon, direction="remove", digits=30)
            assert lower < (1 - (1 - truth) / 2 if other else truth) < upper


@pytest.mark.parametrize(
    "expression",
    [
        "RandomizedResponse(p=0.6) + RandomizedResponse(p=0.60000000000000000001)",
        "Gaussian(sigma=1) + 2 * Gaussian(sigma=1.00000000000000000001)",
        "Gaussian(sigma=1.5).poisson(0.1) + Gaussian(sigma=1.5).poisson(0.10000000000000000000001)",
        "Discrete(p=[0.6, 0.4], q=[0.3, 0.7]) + Discrete(p=[0.60000000000000000001, 0.39999999999999999999], q=[0.3, 0.7])",
    ],
)
def test_equal_doubles_of_different_numbers_are_not_one_term(expression):
    mechanism = parse(expression)
    with pytest.raises(ValueError, match="stands for two different numbers"):
        mechanism.certify(epsilon=0, digits=30)
    # in doubles they are equal all the same
    one, other = expression.split(" + ")
    assert mechanism == parse(f"{other} + {one}")
    assert hash(mechanism) == hash(parse(f"{other} + {one}"))


@pytest.mark.parametrize(
    "expression", ["Gaussian(sigma=1)", "2 * Gaussian(sigma=1).poisson(0.1)", *slowly("3*DiscreteGaussian(sigma=2)")]
)
def test_answers_too_small_to_write_out_are_refused_at_once(expression):
    with pytest.raises(NotCertifiedError, match="too small to write"):
        parse(expression).certify(epsilon=10**6)


def proved(expression, quantity, at, direction=None, digits=15):
    """What balls prove, before anybody checks it."""
    return certify(parse(expression)._loss(), quantity=quantity, at=Fraction(at), direction=direction, digits=digits)


def test_two_releases_far_out_are_decided_but_not_written_down():
    """The checker reads no number so small, and what it does not accept is not written."""
    answer = proved("2 * Gaussian(sigma=1).poisson(0.1)", "delta", 200, digits=5)
    assert 0 < Fraction(answer.lower) < Fraction(answer.upper) < Fraction(10) ** -4000
    with pytest.raises(NotCertifiedError, match=r"is about 3\.2e-4508, and certificates hold no number below 1e-1100"):
        claim("2 * Gaussian(sigma=1).poisson(0.1)", epsilon=200, digits=5)


def test_numbers_are_refused_exactly_where_the_format_ends():
    """Delta falls from 4e-1097 to 6e-1102 here; with two digits more than are claimed it has up to 1113 decimals."""
    for epsilon, digits in (("71.42", 15), ("71.5", 13), ("71.54", 1)):
        assert claim("Gaussian(sigma=1)", epsilon=Fraction(epsilon), digits=digits)
    for epsilon, digits in (("71.42", 16), ("71.5", 15), ("71.58", 1)):
        with pytest.raises(NotCertifiedError, match="of more than 1113 decimals: ask at a smaller epsilon"):
            claim("Gaussian(sigma=1)", epsilon=Fraction(epsilon), digits=digits)


@pytest.mark.parametrize(("expression", "largest"), [("Laplace(scale=1)", 1), ("10 * DiscreteLaplace(scale=2)", 5)])
def test_an_epsilon_at_the_largest_loss_is_found(expression, largest):
    lower, upper = claim(expression, delta=Fraction("1e-300"))
    assert lower < largest <= upper


def test_far_below_the_least_loss_nothing_breaks():
    with pytest.raises(NotCertifiedError):
        proved("Laplace(scale=1)", "delta", -(10**6))
    assert claim("Laplace(scale=1)", epsilon=-1000)[0] > 1 - Fraction(1, 10**15)


@pytest.mark.slow
def test_threads_do_not_change_each_others_precision():
    """One precision belongs to all threads: certificates at two of them at once are those of one thread."""
    questions = [
        ("300 * Gaussian(sigma=1.1).poisson(0.01)", {"delta": 1e-5}),
        ("2 * Laplace(scale=3)", {"epsilon": 1, "digits": 60}),
    ]

    def text(k):
        expression, question = questions[k % 2]
        return parse(expression).certify(**question).to_json()

    alone = [text(k) for k in (0, 1)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(text, range(12))) == alone * 6


def test_lines_next_to_the_largest_loss_are_refused_before_they_take_memory():
    with pytest.raises(NotCertifiedError, match="falls too slowly"):
        proved("1000 * Gaussian(sigma=1).poisson(1/1000000)", "epsilon", Fraction(1, 10**12))
    with pytest.raises(NotCertifiedError, match="next to the largest loss"):
        proved("1000 * Gaussian(sigma=1).poisson(1/10000)", "delta", "0.0954", "add")
