"""Bars appear where a person waits for more than a second, and nowhere else."""

from __future__ import annotations

import multiprocessing
import os
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from itertools import count
from queue import SimpleQueue
from types import SimpleNamespace

import numpy as np
import pytest

import logphi as lp
from logphi import progress
from logphi.progress import shown

pty = pytest.importorskip("pty", reason="a terminal is needed")
termios = pytest.importorskip("termios", reason="a terminal has a size")
fcntl = pytest.importorskip("fcntl", reason="which is told to it")

# what no bar writes
MARK = b"\0"
# for what comes at once, or never
A_MINUTE = 60


@contextmanager
def terminal() -> Iterator[Callable[[], str]]:
    """Standard error is a terminal; what is yielded tells what was written to it since it was last asked."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    read: SimpleQueue[str] = SimpleQueue()

    def reading() -> None:
        # a terminal that nobody reads from stops who writes to it
        said = b""
        # one whose other end is closed cannot be read
        with suppress(OSError):
            while piece := os.read(master, 1 << 16):
                *parts, said = (said + piece).split(MARK)
                for part in parts:
                    read.put(part.decode())

    reader = threading.Thread(target=reading)
    reader.start()
    try:
        with os.fdopen(slave, "w") as screen, redirect_stderr(screen):

            def written() -> str:
                screen.write(MARK.decode())
                screen.flush()
                return read.get(timeout=A_MINUTE)

            yield written
    finally:
        reader.join()
        os.close(master)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[Iterator[float]], None]:
    """Sets the clock by which bars are drawn; unless told, each look at it finds that two seconds have passed."""

    def tell(seconds: Iterator[float]) -> None:
        # no test waits for the machine's own clock
        monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(seconds)))

    tell(count(step=2.0))
    return tell


def work(label: str, total: int | None = None) -> None:
    for _ in shown(range(6), label, total):
        pass


def test_the_items_are_passed_on() -> None:
    with terminal():
        assert list(shown(iter("abc"), "letters")) == ["a", "b", "c"]
        assert list(shown([], "nothing")) == []


def test_long_work_has_a_bar_that_disappears() -> None:
    with terminal() as written:
        work("waiting")
        said = written()
        assert "waiting" in said
        assert "/6" in said
        # the line is left empty
        assert said.endswith("\r")
        assert not said.rstrip("\r").rpartition("\r")[2].strip()


def test_the_second_is_a_second(clock: Callable[[Iterator[float]], None]) -> None:
    with terminal() as written:
        clock(iter([0.0, 0.5, 0.9, 1.1]))
        seen = ["late" in written() for _ in shown(range(3), "late")]
        assert seen == [False, False, True]


def test_what_nobody_knows_the_length_of_is_counted() -> None:
    with terminal() as written:
        work("guesses", total=0)
        said = written()
        assert "guesses: " in said
        assert "it" in said
        assert "%" not in said


def test_short_work_has_no_bar(clock: Callable[[Iterator[float]], None]) -> None:
    with terminal() as written:
        clock(count(step=0.1))
        work("quick")
        clock(count(step=0.01))
        lp.Gaussian(sigma=1).delta(np.linspace(0, 3, 20))
        assert written() == ""


def test_where_there_is_no_terminal_the_items_are_as_they_were(capsys: pytest.CaptureFixture[str]) -> None:
    items = range(3)
    assert shown(items, "unseen") is items
    work("unseen")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("closed", [True, False])
def test_where_there_is_no_standard_error_there_is_no_bar(closed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    if closed:
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            pass
        monkeypatch.setattr(sys, "stderr", nowhere)
    assert list(shown([1], "unseen")) == [1]


def test_only_who_waits_in_front_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal() as written:
        worker = threading.Thread(target=work, args=("behind",))
        worker.start()
        worker.join()
        assert written() == ""
        monkeypatch.setattr(multiprocessing, "parent_process", object)
        work("a child")
        assert written() == ""


def test_bars_inside_of_bars_have_a_line_each() -> None:
    with terminal() as written:
        for _ in shown(range(3), "outer"):
            work("inner")
        said = written()
        assert "outer" in said
        # the inner one goes a line down, and back up
        assert "\n" in said
        assert said.count("\n") == said.count("\x1b[A")


def test_work_that_is_broken_off_leaves_no_bar() -> None:
    with terminal() as written:
        for _ in shown(range(100), "broken"):
            if "broken" in written():
                break
        else:
            pytest.fail("there was no bar")
        assert not written().rstrip("\r").rpartition("\r")[2].strip()


def test_arrays_of_questions_have_a_bar() -> None:
    with terminal() as written:
        found = (100 * lp.Gaussian(sigma=10).poisson(0.1)).delta(np.linspace(0, 1, 40))
        assert "answers" in written()
        assert isinstance(found, lp.Bounds)
        assert found.shape == (40,)


TRAINING = 100 * lp.Gaussian(sigma=10).poisson(0.1)


@pytest.mark.parametrize(
    ("label", "search"),
    [
        ("cells", lambda: lp.Gaussian(sigma=2).risk.gaussian_mu(1e-5)),
        ("orders", TRAINING.zcdp),
        ("steps", lambda: TRAINING.epsilon(1e-5)),
        ("steps", lambda: TRAINING.epsilon(1e-5, method="levy")),
        ("steps", lambda: lp.Gaussian(sigma=2).loss.quantile(0.9)),
        ("trials", lambda: lp.calibrate(lp.Gaussian, epsilon=1, delta=1e-5)),
        ("attacks", lambda: lp.report(lp.Gaussian(sigma=2), delta=1e-5)),
    ],
)
def test_searches_have_a_bar(label: str, search: Callable[[], object]) -> None:
    with terminal() as written:
        search()
        assert label in written()
