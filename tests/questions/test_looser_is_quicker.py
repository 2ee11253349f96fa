"""A looser tolerance takes no more work: the nodes of all lines that are laid for an answer, and the places of all sums."""

from __future__ import annotations

import itertools
from functools import partial

import pytest

import logphi as lp
from effort import answers
from logphi.inversion.lines import line_sum
from logphi.inversion.pieces.box_sums import BoxSums
from logphi.inversion.smoothing import smoothed
from logphi.quadrature.values import Line

# from coarse to sharp; a coarser line may be a little longer where another route is taken
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
ROOM = 1.1
# lines of fewer nodes take no time
FEW = 4096
RELEASES = {
    "sampled Laplace": lambda: 30 * lp.Laplace(scale=3.0).poisson(0.2),
    "sampled discrete Gaussian": lambda: 40 * lp.DiscreteGaussian(sigma=3.0).poisson(0.05),
    "sampled Laplace and a discrete Gaussian": lambda: (
        20 * lp.Laplace(scale=2.0).poisson(0.2) + 3 * lp.DiscreteGaussian(sigma=3)
    ),
    "a Gaussian pair and responses": lambda: lp.GaussianPair(1, 1, 0, 1.2) + 8 * lp.RandomizedResponse(p=0.6),
    "sampled discrete Gaussians of two kinds": lambda: lp.compose(
        [8 * lp.DiscreteGaussian(sigma=5.5).poisson(0.2), 30 * lp.DiscreteGaussian(sigma=3.1).poisson(0.1)]
    ),
}


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts what is summed."""
    done = [0]

    class Counted(Line):
        def __post_init__(self) -> None:
            done[0] += self.size

    monkeypatch.setattr(line_sum, "Line", Counted)
    return done


@pytest.mark.few(3)
@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("question", ["delta", "epsilon"])
def test_a_looser_tolerance_takes_no_more_work(name: str, question: str, work: list[int]) -> None:
    spent = []
    for rtol in TOLERANCES:
        work[0] = 0
        release = RELEASES[name]()
        found = release.delta(0.5, rtol=rtol) if question == "delta" else release.epsilon(1e-5, rtol=rtol)
        assert found.status.name == "MET"
        spent.append(work[0])
    for looser, sharper in itertools.pairwise(spent):
        assert looser <= ROOM * sharper + FEW, spent


@pytest.mark.parametrize("question", ["delta", "epsilon"])
def test_flat_parts_are_not_all_listed_where_a_line_is_shorter(question: str, work: list[int]) -> None:
    release = 118 * lp.Laplace(scale=14.31) + 4 * lp.RandomizedResponse(p=0.5666)
    spent = []
    for rtol in (1e-2, 1e-4, 1e-6, 1e-8):
        work[0] = 0

        def ask(rtol: float = rtol) -> None:
            found = release.delta(2.0, rtol=rtol) if question == "delta" else release.epsilon(4e-10, rtol=rtol)
            assert found.status.name == "MET"

        tables = [given["self"] for given, _ in answers(ask, BoxSums.total)]
        spent.append(work[0] + sum(one.location.size * one.multiplicity.shape[1] for one in tables))
    for looser, sharper in itertools.pairwise(spent):
        assert looser <= ROOM * sharper, spent


def test_two_orders_that_a_coarse_answer_does_not_tell_apart_are_not_both_solved() -> None:
    release = 153 * lp.Laplace(scale=57.65565477512525).poisson(0.6045369120285032)
    lines = [
        len(answers(partial(release.epsilon, 1.5263922423006085e-08, rtol=rtol), smoothed.prepare))
        for rtol in (1e-2, 1e-3, 1e-4)
    ]
    assert lines == sorted(lines), lines
    # the other order may be the larger one, by less than what was asked
    coarse, sharp = (release.epsilon(1.5263922423006085e-08, rtol=rtol) for rtol in (1e-2, 1e-6))
    assert coarse.lower <= sharp.lower
    assert sharp.upper <= coarse.upper
    assert coarse.status.name == "MET"


def test_a_bound_that_reaches_down_to_zero_is_an_answer() -> None:
    release = 24 * lp.Laplace(scale=88.68681413461634).poisson(0.010286874213665885)
    coarse, sharp = (release.epsilon(7.563873396542266e-10, rtol=rtol) for rtol in (1e-2, None))
    assert coarse.lower == 0
    assert sharp.upper <= coarse.upper < 1e-2
