"""Sweeps: the same answers whatever computes them, and what goes wrong is told with its point."""

import csv
import json
import math
import operator
import os
import pickle
import re
import subprocess
import sys
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from operator import methodcaller
from typing import Any

import numpy as np
import pytest

import logphi as lp
from logphi.mechanisms.catalogue import CATALOGUE
from logphi.sweeps.parallel_map import parallel_map
from logphi.text.written import exactly
from one_of_each import EXAMPLES
from refusals import untyped
from repository import ROOT

GRID = {"sigma": [1.0, 1.3, 2.0], "rate": [0.02, 0.05]}
WIDE_GRID = {"sigma": np.linspace(1.0, 3.0, 10), "rate": [0.02, 0.03, 0.05]}
DELTA = 1e-5
# seconds for what comes at once, or never
A_MINUTE = 60

replaced: dict[str, Any] = {"adjacency": "replace"}
MECHANISMS = [
    *(EXAMPLES[name]() for name in CATALOGUE),
    lp.Gaussian(sigma=Fraction(11, 10)),
    lp.Gaussian(sigma=1.1).poisson(Fraction(1, 100)),
    lp.Gaussian(sigma=1.1).poisson(0.01, group_size=3),
    lp.Gaussian(sigma=1.0, sensitivity=2.0, **replaced).subset(0.1, adjacency="add_remove"),
    lp.Gaussian(sigma=1.0, sensitivity=2.0, **replaced).subset(0.1, adjacency="replace"),
    lp.Laplace(scale=2.0).poisson(0.1),
    lp.DiscreteGaussian(sigma=2.0, truncation=20),
    10 * lp.Gaussian(sigma=1.1).poisson(0.05) + lp.RandomizedResponse(p=0.6),
]


def family(sigma, rate):
    return 100 * lp.Gaussian(sigma=sigma).poisson(rate)


def sides(bounds):
    return bounds.lower.tolist(), bounds.value.tolist(), bounds.upper.tolist()


class Reversed(Executor):
    """Does the last first, when nobody expects any more."""

    def __init__(self):
        self.waiting = []

    def submit(self, function, /, *given, **named):
        future: Future[Any] = Future()
        self.waiting.append((future, partial(function, *given, **named)))
        threading.Timer(0.05, self.work).start() if len(self.waiting) == 1 else None
        return future

    def work(self):
        while self.waiting:
            future, call = self.waiting.pop()
            future.set_result(call())


class Patient(Executor):
    """Begins nothing."""

    def __init__(self):
        self.futures = []

    def submit(self, function, /, *given, **named):
        self.futures.append(Future())
        return self.futures[-1]


def test_a_sweep_has_the_answers_of_its_points_in_the_order_of_the_grid():
    found = lp.sweep(family, GRID, delta=DELTA)
    assert found.shape == (3, 2)
    assert found.names == ("sigma", "rate")
    assert found.values == ((1.0, 1.3, 2.0), (0.02, 0.05))
    for parameters, bound in found:
        assert bound.same_as(family(**parameters).epsilon(DELTA))
    assert found[1, 1].same_as(family(1.3, 0.05).epsilon(DELTA))
    assert np.array_equal(found[2].upper, found.upper[2])
    assert np.array_equal(np.asarray(found), found.upper)
    assert len(found) == 6
    assert (found.status == lp.Status.MET).all()


def test_an_array_of_questions_is_the_last_axis():
    found = lp.sweep(lp.Gaussian, {"sigma": np.array([1.0, 2.0])}, epsilon=[0.0, 1.0, 2.0])
    assert found.shape == (2, 3)
    assert found.names == ("sigma", "epsilon")
    assert sides(found[1]) == sides(lp.Gaussian(2.0).delta([0.0, 1.0, 2.0]))
    assert [parameters["epsilon"] for parameters, _ in found] == [0.0, 1.0, 2.0] * 2


def test_options_of_the_question_reach_it():
    options: dict[str, Any] = {"direction": "add", "rtol": 1e-3}
    found = lp.sweep(family, GRID, delta=DELTA, **options)
    assert found[0, 0].same_as(family(1.0, 0.02).epsilon(DELTA, **options))
    # a proof is of the number that was written
    pytest.importorskip("flint")
    certified = lp.sweep(lp.Gaussian, {"sigma": [2.0]}, delta=[Fraction(1, 3), DELTA], method="certified")
    assert certified[0, 0].same_as(lp.Gaussian(2.0).epsilon(Fraction(1, 3), method="certified"))


def test_options_do_not_go_with_ask():
    with pytest.raises(ValueError, match="rtol go with epsilon or delta"):
        lp.sweep(family, GRID, ask=methodcaller("zcdp"), rtol=1e-3)


def test_any_question_may_be_asked():
    found = lp.sweep(family, GRID, ask=methodcaller("tradeoff", 0.05))
    assert found[0, 0].same_as(family(1.0, 0.02).tradeoff(0.05))
    assert np.array_equal(np.asarray(found), found.lower)
    assert (
        lp.sweep(family, GRID, ask=lambda m: m.epsilon(DELTA)).upper.tolist()
        == np.asarray(lp.sweep(family, GRID, delta=DELTA)).tolist()
    )


@pytest.mark.parametrize(
    "grid",
    # a grid of more points is sent in chunks
    [GRID, *(pytest.param({**WIDE_GRID, "sigma": np.linspace(1.0, 3.0, size)}, marks=pytest.mark.slow) for size in (10, 43))],
    ids=lambda grid: str(len(grid["sigma"])),
)
def test_every_executor_and_every_chunk_gives_the_same_bits(grid):
    ask: dict[str, Any] = {"delta": [1e-6, 1e-5]}
    alone = sides(lp.sweep(family, grid, **ask))
    with ThreadPoolExecutor(2) as threads:
        assert sides(lp.sweep(family, grid, **ask, executor=threads)) == alone
    assert sides(lp.sweep(family, grid, **ask, executor=Reversed())) == alone


@pytest.mark.slow
def test_processes_give_the_same_bits():
    grid = {**WIDE_GRID, "sigma": np.linspace(1.0, 3.0, 30)}
    with ProcessPoolExecutor(2) as processes:
        for ask in ({"delta": DELTA}, {"epsilon": [0.5, 1.0]}, {"ask": methodcaller("renyi", 4.0)}):
            found = lp.sweep(lambda sigma, rate: 100 * lp.Gaussian(sigma=sigma).poisson(rate), grid, **ask, executor=processes)
            assert sides(found) == sides(lp.sweep(family, grid, **ask))
        with pytest.raises(TypeError, match=r"cannot be sent to another process.*lambda"):
            lp.sweep(family, grid, ask=lambda m: m.delta(1.0), executor=processes)
        with pytest.raises(ValueError, match=r"^at sigma=1\.0, rate=0\.02: delta"):
            lp.sweep(family, grid, ask=methodcaller("epsilon", 2.0), executor=processes)


@pytest.mark.slow
# the cluster's own web page has no part in this; sockets of a closed cluster are collected late
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_cluster_gives_the_same_bits():
    distributed = pytest.importorskip("distributed")
    grid = {**WIDE_GRID, "sigma": np.linspace(1.0, 3.0, 30)}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = lp.sweep(
            lambda sigma, rate: 100 * lp.Gaussian(sigma=sigma).poisson(rate), grid, delta=DELTA, executor=client.get_executor()
        )
        assert sides(found) == sides(lp.sweep(family, grid, delta=DELTA))
        with pytest.raises(TypeError, match="get_executor"):
            lp.sweep(family, grid, delta=DELTA, executor=client)


@pytest.mark.few(6)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_a_mechanism_survives_the_way_to_a_worker(mechanism):
    before = pickle.dumps(mechanism)
    mechanism.delta(0.3)
    after = pickle.dumps(mechanism)
    # answers leave nothing behind that would be sent too
    assert len(after) == len(before)
    there = pickle.loads(after)
    assert there == mechanism
    assert repr(there) == repr(mechanism)
    # as doubles or as they were written
    assert exactly(there) == exactly(mechanism)
    assert there.delta(0.3).same_as(mechanism.delta(0.3))


def test_what_is_refused_is_told_with_its_point_before_anything_is_asked():
    asked: list[Any] = []
    with pytest.raises(ValueError, match=r"at sigma=-1\.0, rate=0\.01: sigma must not be negative"):
        untyped(lp.sweep)(family, {"sigma": [1.0, -1.0], "rate": [0.01]}, ask=asked.append)
    assert not asked


def test_what_is_refused_may_be_kept():
    grid = {"sigma": [1.0, -1.0], "rate": [0.01, 0.02]}
    found = lp.sweep(family, grid, delta=[1e-5, 1e-6], errors="keep")
    assert found[0, 1, 1].same_as(family(1.0, 0.02).epsilon([1e-5, 1e-6])[1])
    assert set(found.reasons) == {(1, rate, k) for rate in (0, 1) for k in (0, 1)}
    assert "sigma must not be negative" in found.reasons[1, 0, 0]
    assert found[1, 0, 0].status is lp.Status.UNRESOLVED
    assert repr(found) == "Sweep(epsilon over 2 of sigma, 2 of rate, 2 of delta; 4 of 8 refused)"
    assert (found[1, 0, 0].lower, float(found[1, 0, 0])) == (0.0, math.inf)
    assert lp.sweep(family, grid, epsilon=1.0, errors="keep")[1, 0].upper == 1.0
    # on the private side of the others
    assert float(lp.sweep(family, grid, ask=methodcaller("tradeoff", 0.1), errors="keep")[1, 0]) == -math.inf


def test_a_mistake_is_never_kept():
    with pytest.raises(RuntimeError, match=r"at sigma=1\.0, rate=0\.02: ZeroDivisionError"):
        lp.sweep(lambda sigma, rate: operator.truediv(1, 0), GRID, delta=DELTA, errors="keep")
    with pytest.raises(TypeError, match="Gaussian takes no 'rate'"):
        lp.sweep(lp.Gaussian, GRID, delta=DELTA, errors="keep")


def arrays(mechanism):
    return mechanism.delta([1.0, 2.0])


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({}, ValueError, "exactly one of epsilon, delta and ask"),
        ({"epsilon": 1.0, "delta": 0.1}, ValueError, "exactly one"),
        ({"epsilon": math.nan}, ValueError, "epsilon must be finite"),
        ({"delta": 2.0}, ValueError, "delta must lie in"),
        ({"delta": [[0.1]]}, ValueError, "a number or a list"),
        ({"ask": "delta"}, TypeError, "methodcaller"),
        ({"ask": arrays}, TypeError, "at sigma=1.0, rate=0.02: the question must give a Bound"),
        ({"ask": repr}, TypeError, "the question must give a Bound"),
        ({"delta": 0.1, "grid": {}}, TypeError, "non-empty mapping"),
        ({"delta": 0.1, "grid": [1.0]}, TypeError, "non-empty mapping"),
        ({"delta": 0.1, "grid": {"sigma": 1.0}}, TypeError, r"give one value as \[value\]"),
        ({"delta": 0.1, "grid": {"sigma": np.array(1.0)}}, TypeError, r"give one value as \[value\]"),
        ({"delta": 0.1, "grid": {"sigma": "12"}}, TypeError, "must be a list"),
        ({"delta": 0.1, "grid": {"sigma": []}}, ValueError, "has no values"),
        ({"delta": 0.1, "grid": {"delta": [1.0]}}, ValueError, "choose another"),
        ({"delta": 0.1, "grid": {"upper": [1.0]}}, ValueError, "choose another"),
        ({"delta": 0.1, "errors": "ignore"}, ValueError, "'raise' or 'keep'"),
        ({"delta": 0.1, "executor": 2}, TypeError, "concurrent.futures.Executor"),
        ({"delta": 0.1, "make": lambda **_: 1.0}, TypeError, "a mechanism is needed"),
    ],
)
def test_bad_sweeps_are_refused(given, kind, said):
    make, grid = given.pop("make", family), given.pop("grid", GRID)
    with pytest.raises(kind, match=said):
        lp.sweep(make, grid, **given)


def test_an_interruption_cancels_what_has_not_begun():
    class Interrupted(Patient):
        def submit(self, function, /, *given, **named):
            future = super().submit(function, *given, **named)
            if len(self.futures) == 1:
                future.set_exception(KeyboardInterrupt())
            return future

    patient = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        lp.sweep(family, GRID, delta=DELTA, executor=patient)
    assert len(patient.futures) == 6
    assert all(future.cancelled() for future in patient.futures[1:])


def test_the_first_failure_cancels_the_rest():
    def failing(item):
        if item == 0:
            raise ValueError("the first")
        assert refused.wait(A_MINUTE)
        done.append(item)

    done: list[Any] = []
    refused = threading.Event()
    with ThreadPoolExecutor(1) as threads:
        with pytest.raises(ValueError, match="the first"):
            parallel_map(failing, range(60), threads, "failing")
        refused.set()
    # what the only worker had begun by then
    assert done in ([], [1])


def test_quick_points_are_sent_many_at_a_time():
    sizes = []

    class Counting(ThreadPoolExecutor):
        def submit(self, function, /, *given, **named):
            sizes.append(len(given[1]))
            return super().submit(function, *given, **named)

    with Counting(2) as threads:
        assert parallel_map(abs, range(10_000), threads, "counting") == list(range(10_000))
    assert max(sizes) == 10_000 // 64
    assert sum(sizes) == 10_000 - 5


def test_a_sweep_is_written_whole_and_read_back(tmp_path):
    found = lp.sweep(family, {**GRID, "sigma": [1.0, -1.0]}, delta=[1e-5, 0.0], errors="keep")
    columns = found.to_dict()
    assert list(columns) == ["sigma", "rate", "delta", "lower", "value", "upper", "status", "reason"]
    assert {len(column) for column in columns.values()} == {8}
    found.to_csv(tmp_path / "found.csv")
    with (tmp_path / "found.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["upper"]) for row in rows] == found.upper.ravel().tolist()
    assert [row["status"] for row in rows][:2] == ["met", "unbounded"]
    found.to_json(tmp_path / "found.json")
    read = json.loads((tmp_path / "found.json").read_text())
    assert read["shape"] == [2, 2, 2]
    assert [float(upper) for upper in read["columns"]["upper"]] == columns["upper"]
    assert sorted(os.listdir(tmp_path)) == ["found.csv", "found.json"]


def test_numbers_of_numpy_in_a_list_are_plain_numbers(tmp_path):
    found = lp.sweep(
        lambda count, rate: count * lp.Gaussian(2.0).poisson(rate),
        {"count": [np.int64(1)], "rate": [np.float64(0.1)]},
        delta=DELTA,
    )
    assert [type(value) for (value,) in found.values] == [int, float]
    found.to_json(tmp_path / "found.json")
    columns = json.loads((tmp_path / "found.json").read_text())["columns"]
    assert (columns["count"], columns["rate"]) == ([1], [0.1])


def test_a_sweep_prints_short():
    found = lp.sweep(family, {"sigma": [1.0, 2.0, 3.0], "rate": [0.02, 0.03, 0.04, 0.05]}, delta=DELTA)
    assert repr(found) == "Sweep(epsilon over 3 of sigma, 4 of rate)"
    shown = found._repr_html_()
    assert shown.count("<tr>") == 12
    assert "and 2 more" in shown
    assert "&lt;" not in shown


@pytest.mark.slow
@pytest.mark.parametrize("which", ["ProcessPoolExecutor", "LocalCluster"])
def test_the_scripts_of_the_page_run(which, tmp_path):
    if which == "LocalCluster":
        pytest.importorskip("distributed")
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    (script,) = [
        block for block in re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE) if f"{which}(" in block
    ]
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    ran = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    largest = (1000 * lp.Gaussian(1.0).poisson(0.05)).epsilon(DELTA)
    assert ran.stdout.split() == f"Sweep(epsilon over 10 of sigma, 10 of rate) {largest.upper:.4f}".split(), ran.stderr
