"""Bars appear where a person waits for more than a second, and nowhere else."""

from __future__ import annotations

import multiprocessing
import os
import select
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from types import SimpleNamespace

import numpy as np
import pytest

import logphi as lp
from logphi import progress
from logphi.progress import shown

pty = pytest.importorskip("pty", reason="a terminal is needed")
termios = pytest.importorskip("termios", reason="a terminal has a size")
fcntl = pytest.importorskip("fcntl", reason="which is told to it")

# long enough for a bar whose patience is shortened
PATIENCE = 0.02
# what is written to a terminal is there after this many seconds
QUIET = 0.03


@contextmanager
def terminal() -> Iterator[Callable[[], str]]:
    """Standard error is a terminal; what is yielded tells what was written to it since it was last asked."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    said: list[bytes] = []

    def read() -> None:
        # a terminal that nobody reads from stops who writes to it
        while not done.is_set() or select.select([master], [], [], 0)[0]:
            if select.select([master], [], [], QUIET)[0]:
                said.append(os.read(master, 1 << 16))

    done = threading.Event()
    reader = threading.Thread(target=read)
    reader.start()

    def written() -> str:
        screen.flush()
        time.sleep(2 * QUIET)
        found = b"".join(said).decode()
        said.clear()
        return found

    with os.fdopen(slave, "w") as screen, redirect_stderr(screen):
        try:
            yield written
        finally:
            done.set()
            reader.join()
    os.close(master)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS", PATIENCE)


def slow(label: str, steps: int = 6, total: int | None = None) -> None:
    for _ in shown(range(steps), label, total):
        time.sleep(PATIENCE)


def test_the_items_are_passed_on(impatient: None) -> None:
    with terminal():
        assert list(shown(iter("abc"), "letters")) == ["a", "b", "c"]
        assert list(shown([], "nothing")) == []


def test_long_work_has_a_bar_that_disappears(impatient: None) -> None:
    with terminal() as written:
        slow("waiting")
        said = written()
        assert "waiting" in said
        assert "/6" in said
        # the line is left empty
        assert said.endswith("\r")
        assert not said.rstrip("\r").rpartition("\r")[2].strip()


def test_the_second_is_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal() as written:
        assert progress.SECONDS == 1.0
        clock = iter([0.0, 0.5, 0.9, 1.1])
        monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))
        seen = ["late" in written() for _ in shown(range(3), "late")]
        assert seen == [False, False, True]


def test_what_nobody_knows_the_length_of_is_counted(impatient: None) -> None:
    with terminal() as written:
        slow("guesses", total=0)
        said = written()
        assert "guesses: " in said
        assert "it" in said
        assert "%" not in said


def test_short_work_has_no_bar() -> None:
    with terminal() as written:
        slow("quick")
        lp.Gaussian(sigma=1).delta(np.linspace(0, 3, 20))
        assert written() == ""


def test_where_there_is_no_terminal_the_items_are_as_they_were(impatient: None, capsys: pytest.CaptureFixture[str]) -> None:
    items = range(3)
    assert shown(items, "unseen") is items
    slow("unseen")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("closed", [True, False])
def test_where_there_is_no_standard_error_there_is_no_bar(closed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    if closed:
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            pass
        monkeypatch.setattr(sys, "stderr", nowhere)
    assert list(shown([1], "unseen")) == [1]


def test_only_who_waits_in_front_gets_a_bar(impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal() as written:
        worker = threading.Thread(target=slow, args=("behind",))
        worker.start()
        worker.join()
        assert written() == ""
        monkeypatch.setattr(multiprocessing, "parent_process", object)
        slow("a child")
        assert written() == ""


def test_bars_inside_of_bars_have_a_line_each(impatient: None) -> None:
    with terminal() as written:
        for _ in shown(range(3), "outer"):
            slow("inner")
        said = written()
        assert "outer" in said
        # the inner one goes a line down, and back up
        assert "\n" in said
        assert said.count("\n") == said.count("\x1b[A")


def test_work_that_is_broken_off_leaves_no_bar(impatient: None) -> None:
    with terminal() as written:
        for _ in shown(range(100), "broken"):
            if "broken" in written():
                break
        else:
            pytest.fail("there was no bar")
        assert not written().rstrip("\r").rpartition("\r")[2].strip()


def test_arrays_of_questions_have_a_bar(impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal() as written:
        monkeypatch.setattr(progress, "SECONDS", 0.0)
        found = (100 * lp.Gaussian(sigma=10).poisson(0.1)).delta(np.linspace(0, 1, 40))
        assert "answers" in written()
        assert isinstance(found, lp.Bounds)
        assert found.shape == (40,)


TRAINING = 100 * lp.Gaussian(sigma=10).poisson(0.1)


@pytest.mark.parametrize(
    ("label", "work"),
    [
        ("cells", lambda: TRAINING.risk.gaussian_mu(1e-5)),
        ("orders", TRAINING.zcdp),
        ("trials", lambda: lp.calibrate(lp.Gaussian, epsilon=1, delta=1e-5)),
        ("attacks", lambda: lp.report(TRAINING, delta=1e-5)),
    ],
)
def test_searches_have_a_bar(label: str, work: Callable[[], object], impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal() as written:
        monkeypatch.setattr(progress, "SECONDS", 0.0)
        work()
        assert label in written()
