"""Speed and width beside other accountants: ``python bench/run.py [--json FILE]`` prints Markdown tables.

Everything runs in one process on one thread. A time is the median over fresh computations: each of them builds its
mechanisms anew, so nothing is carried from one to the next. An accountant that is not installed is skipped.
"""

from __future__ import annotations

import os

# Read when NumPy is first imported, hence up here.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", VECLIB_MAXIMUM_THREADS="1")

import argparse
import importlib
import json
import platform
import statistics
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from peers import CERTIFIED, OURS, PEERS, Accountant, UnsupportedError, release_of
from workloads import JOB, VIEWS, WORKLOADS, Gaussian, Workload, distinct, repeated

BUDGET = 1.5  # seconds spent on repeating one measurement; a single computation may take longer
REPETITIONS = 15  # at most

NOTE = (
    f"Time: median of up to {REPETITIONS} fresh computations. Width: upper end less lower end of what the accountant "
    "vouches for; dp-accounting gives one pessimistic value. An answer misses the truth if the truth is outside the "
    "interval or above the pessimistic value."
)
WARM_UP = Workload("one Gaussian", ((Gaussian(sigma=1.0), 1),), "delta", 1.0, 0.1)


def measure(accountant: Accountant, workload: Workload) -> dict[str, Any]:
    """One row: the answer and the median time, or the reason why there is none."""
    row: dict[str, Any] = {"workload": workload.caption, "accountant": accountant.name}
    try:
        times: list[float] = []
        while not times or (len(times) < REPETITIONS and sum(times) < BUDGET):
            start = time.perf_counter()
            answer = accountant.answer(workload)
            times.append(time.perf_counter() - start)
    except UnsupportedError as reason:
        return {**row, "remark": f"not offered: {reason}"}
    except Exception as problem:
        said = " ".join(str(problem).split()).replace("|", "/")
        return {**row, "remark": f"refused: {said or type(problem).__name__}"}
    row |= {"value": answer.value, "lower": answer.lower, "upper": answer.upper, "width": answer.width}
    row |= {"seconds": statistics.median(times), "repetitions": len(times)}
    if workload.truth is not None:
        row |= {"truth": workload.truth, "misses": answer.misses(workload.truth)}
    return row


def obstacle(accountant: Accountant) -> str | None:
    """Why it cannot be measured here, if so; otherwise it is imported and warm."""
    try:
        importlib.import_module(accountant.module)
    except ImportError:
        return "not installed"
    try:
        accountant.answer(WARM_UP)
    except Exception as problem:
        return f"does not run here ({problem})"
    return None


def compare(accountants: list[Accountant]) -> list[dict[str, Any]]:
    """Every workload by every accountant that is asked for it, ours first."""
    rows = []
    for workload in WORKLOADS:
        ours = measure(OURS, workload)
        rows.append(ours)
        for accountant in accountants:
            if workload.question in accountant.questions:
                row = measure(accountant, workload)
                if "seconds" in row and "seconds" in ours:
                    row["times_ours"] = row["seconds"] / ours["seconds"]
                rows.append(row)
    return rows


def import_seconds() -> float:
    """Time of ``import logphi`` in a fresh interpreter, less that of a bare one."""

    def start(code: str) -> float:
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - begin

    start("import logphi")  # fill the disk cache
    return statistics.median(start("import logphi") - start("pass") for _ in range(5))


def spread(seconds: float) -> str:
    """A time as a reader wants it."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.2f} s"


def comparison_table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown; a caption stands once."""
    lines = ["| workload | accountant | answer | width | time | x logphi |", "|---|---|---|---|---|---|"]
    caption = None
    for row in rows:
        shown = "" if row["workload"] == caption else row["workload"]
        caption = row["workload"]
        if "remark" in row:
            lines.append(f"| {shown} | {row['accountant']} | {row['remark']} | | | |")
            continue
        answer = f"{row['value']:.10g}" + (" **misses the truth**" if row.get("misses") else "")
        width = "none given" if row["width"] is None else f"{row['width']:.1e}"
        ratio = f"{row['times_ours']:.3g}" if "times_ours" in row else "1" if row["accountant"] == OURS.name else ""
        lines.append(f"| {shown} | {row['accountant']} | {answer} | {width} | {spread(row['seconds'])} | {ratio} |")
    return "\n".join(lines)


def scaling() -> list[dict[str, Any]]:
    """The other views, what the cost of an answer depends on, and what it does not."""
    scaled = (repeated(10**3), repeated(10**12), distinct(10_000), distinct(100_000))
    rows = [measure(OURS, workload) for workload in (*VIEWS, *scaled)] + in_bulk()
    rows += [{**measure(one, JOB), "workload": f"{JOB.caption}, {one.name}"} for one in CERTIFIED]
    return [*rows, {"workload": "`import logphi`, less a bare interpreter", "seconds": import_seconds()}]


def in_bulk() -> list[dict[str, Any]]:
    """Arrays of questions to the main job, and a sweep; the time of the whole."""
    import numpy as np

    import logphi as lp

    job = release_of(JOB)
    grid = {"sigma": np.linspace(1.0, 3.0, 10), "rate": np.linspace(0.01, 0.05, 10)}
    whole = {
        f"{JOB.name}: delta at 1000 epsilons": lambda: job.delta(np.linspace(0.1, 4.0, 1000)),
        f"{JOB.name}: epsilon at 1000 deltas": lambda: job.epsilon(np.geomspace(1e-10, 1e-2, 1000)),
        "sweep of 100 points, 1000 x sampled Gaussian: epsilon": lambda: lp.sweep(
            lambda sigma, rate: 1000 * lp.Gaussian(sigma).poisson(rate), grid, delta=1e-5
        ),
    }
    rows = []
    for name, work in whole.items():
        start = time.perf_counter()
        work()
        rows.append({"workload": name, "seconds": time.perf_counter() - start})
    return rows


def scaling_table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = ["| logphi alone | answer | width | time |", "|---|---|---|---|"]
    for row in rows:
        if "remark" in row:
            lines.append(f"| {row['workload']} | {row['remark']} | | |")
            continue
        answer = f"{row['value']:.10g} | {row['width']:.1e}" if "value" in row else " | "
        lines.append(f"| {row['workload']} | {answer} | {spread(row['seconds'])} |")
    return "\n".join(lines)


def machine() -> str:
    """The processor and the versions."""
    about = Path("/proc/cpuinfo")
    named = [line for line in about.read_text().splitlines() if line.startswith("model name")] if about.exists() else []
    processor = named[0].split(":", 1)[1].strip() if named else platform.processor() or platform.machine()
    names = ("logphi", "numpy", "scipy", "dp-accounting", "prv-accountant")
    versions = ", ".join(f"{name} {version_of(name)}" for name in names)
    return f"{processor}, one thread; Python {platform.python_version()}, {versions}."


def version_of(package: str) -> str:
    """The installed version, if it can be told."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "(version unknown)"


def main() -> None:
    """Measure, print, and save if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="FILE", help="also save every number here")
    arguments = parser.parse_args()

    OURS.answer(WARM_UP)
    obstacles = {accountant.name: obstacle(accountant) for accountant in PEERS}
    compared = compare([accountant for accountant in PEERS if obstacles[accountant.name] is None])
    scaled = scaling()

    print(comparison_table(compared), NOTE, scaling_table(scaled), machine(), sep="\n\n")
    for name, reason in obstacles.items():
        if reason is not None:
            print(f"Skipped: {name}, {reason}.")
    if arguments.json:
        saved = {"machine": machine(), "comparison": compared, "scaling": scaled}
        arguments.json.write_text(json.dumps(saved, indent=2) + "\n")


if __name__ == "__main__":
    main()
