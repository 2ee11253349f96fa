"""The budget of the checker: whatever a file asks for, no more is done than was said beforehand. Work is counted, not timed."""

from functools import partial

import pytest

pytest.importorskip("flint")

from effort import calls
from hostile import HOSTILE, certificate
from logphi.checker import Verdict, verify
from logphi.checker.arithmetic.balls import precision
from logphi.checker.arithmetic.work import MOST_BITS, Undecided, budget, left, spend
from logphi.checker.text.reading import NOT_COVERED
from slowly import slowly

# a hundredth of what a check may cost
SMALL = 10**6
# plain numbers of each method
PROOFS: dict[str, list[str]] = {
    "alone": [],
    "residues": [],
    "averaged": [],
    "line": ["1", "1/4", "100000", "1", "1", "64", "1/2"],
    "folded": ["1", "30001", "1", "1"],
    "bent": ["1"],
    "two": ["1"],
    "cells": ["1/1000", "-1", "2000", "1/2"],
    "nodes": ["1024"],
    "tangents": ["3", "1/100", "1/1000"],
}


@pytest.mark.few(2)
@pytest.mark.parametrize("digits", [15, *slowly(1000)])
@pytest.mark.parametrize("name", HOSTILE)
def test_no_file_takes_more_than_the_budget(name: str, digits: int) -> None:
    bits = 64 + 4 * digits
    for method, numbers in PROOFS.items():
        proof = [method, bits, *numbers]
        text = certificate(HOSTILE[name], NOT_COVERED, digits=digits, proof={"remove": proof, "add": proof})
        # to read it, and to form its laws, is linear in its length
        most = SMALL + 40 * len(text)
        verdicts: list[Verdict] = []
        assert calls(partial(found, text, verdicts)) < most
        assert verdicts[0].status == 1


def found(text: str, verdicts: list[Verdict]) -> None:
    verdicts.append(verify(text, work=SMALL))


def test_a_step_that_does_not_fit_is_not_begun() -> None:
    with budget(100), precision(64):
        spend(50)
        before = left()
        with pytest.raises(Undecided, match="more work than this checker does"):
            spend(51)
        assert left() == before
    assert left() == float("inf")


def test_more_digits_cost_more() -> None:
    costs = []
    for bits in (64, 640, 6400):
        with budget(1e9), precision(bits):
            spend(1)
            costs.append(1e9 - left())
    assert costs == sorted(costs)
    assert costs[2] > 20 * costs[0]
    with pytest.raises(Undecided, match="more digits"), precision(MOST_BITS + 1):
        pass


def test_the_budget_is_the_callers_choice() -> None:
    import logphi as lp

    text = (30 * lp.DiscreteLaplace(scale=2)).certify(epsilon=0.1, digits=6).to_json()
    assert verify(text)
    assert verify(text, work=10).status == 1
