"""The precision of FLINT and that of mpmath are global: whoever sets one is alone with it and restores it."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread

import mpmath
import pytest

import logphi as lp
from logphi.arith import mp
from logphi.expression import parse

flint = pytest.importorskip("flint")

from logphi.arith import ball  # noqa: E402
from logphi.certified.route import NotCertifiedError  # noqa: E402
from logphi.checker import verify  # noqa: E402
from logphi.checker.arithmetic import balls  # noqa: E402

RELEASES = ["100 * Gaussian(sigma=20)", "20 * Laplace(scale=5)", "10 * RandomizedResponse(p=0.6)"]
DIGITS = (6, 40)


def claim(text, digits):
    return parse(text).certify(epsilon=1, digits=digits).to_json()


def test_threads_with_different_digits_find_and_prove_what_each_finds_alone():
    questions = [(text, digits) for text in RELEASES for digits in DIGITS]
    alone = [claim(*question) for question in questions]
    start = Barrier(len(questions))

    def together(question):
        start.wait()
        found = claim(*question)
        return found, verify(found).status

    with ThreadPoolExecutor(len(questions)) as pool:
        assert list(pool.map(together, questions)) == [(one, 0) for one in alone]


def fail() -> None:
    raise ZeroDivisionError


@pytest.mark.parametrize("precision", [ball.precision, balls.precision], ids=["producer", "checker"])
def test_flint_has_its_own_precision_again(precision):
    before = flint.ctx.prec
    with precision(200):
        assert flint.ctx.prec == 200
        with pytest.raises(ZeroDivisionError), precision(300):
            fail()
        assert flint.ctx.prec == 200
    assert flint.ctx.prec == before


def test_producer_and_checker_wait_for_each_other():
    entered = Event()

    def other():
        with balls.precision(100):
            entered.set()

    thread = Thread(target=other)
    with ball.precision(200):
        thread.start()
        assert not entered.wait(0.05)
        assert flint.ctx.prec == 200
    thread.join(10)
    assert entered.is_set()


def test_refusals_leave_the_precision_alone():
    before = flint.ctx.prec, mpmath.mp.prec
    with pytest.raises(NotCertifiedError):
        lp.ApproximateDP(epsilon=1, delta=0.125).certify(delta=0.0625)
    assert not verify(claim(RELEASES[0], 6).replace('"upper": "', '"upper": "9'))
    assert (flint.ctx.prec, mpmath.mp.prec) == before


def test_mpmath_has_its_own_precision_again():
    before = mpmath.mp.prec
    with mp.precision(300):
        assert mpmath.mp.prec == 300
        with pytest.raises(ZeroDivisionError), mp.precision(400):
            fail()
        assert mpmath.mp.prec == 300
    assert mpmath.mp.prec == before


def test_threads_with_different_bits_of_mpmath_do_not_mix():
    start = Barrier(2)

    def root(bits):
        start.wait()
        found = set()
        for _ in range(200):
            with mp.precision(bits):
                found.add(mpmath.sqrt(2)._mpf_)
        return found

    with ThreadPoolExecutor(2) as pool:
        coarse, fine = pool.map(root, (60, 400))
    assert len(coarse) == len(fine) == 1
