"""Accuracy and speed beside other accountants: ``python bench/run.py [--json FILE] [--quick]``.

Writes ``docs/benchmarks.md`` with its tables and pictures. Everything runs on one thread. A time is the median over fresh
computations: each of them builds its mechanisms afresh, so nothing is carried from one to the next. An accountant that is not
installed is skipped.
"""

from __future__ import annotations

import os

# Read when NumPy is first imported, hence up here.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", VECLIB_MAXIMUM_THREADS="1")

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import random_releases
import tables
from accountants import CATALOGUED, DRAWN, OURS, PEERS, SAMPLING, STRESSED, Accountant, truth
from alone import of_this_library
from sandbox import LIMIT, REPETITIONS, Sandbox, obstacle, warm
from workloads import CATALOGUE, SAMPLERS, STRESS, WORKLOADS, Workload

from logphi.text.files import write_whole

DOCS = Path(__file__).resolve().parent.parent / "docs"
PACKAGES = ("logphi", "numpy", "scipy", "dp-accounting", "prv-accountant", "autodp", "pld-accounting")

PAGE = """# Benchmarks

Accuracy against time, beside other accountants, each with its defaults unless its name says otherwise; written by `make bench`.

{machine}

A time is the median of up to {repetitions} fresh computations; what takes longer than {limit:.0f} s in all is stopped. The
truth is known from closed forms and independent computations, else it is a certificate of 15 digits that the checker accepts,
else its proved bounds. *Reported* is what a careful user would hand on: the upper end of an interval, or the value of an
accountant that gives one number only. The characteristic functions of autodp need a quadrature that SciPy 1.15 dropped, and run
with SciPy 1.13; an epsilon of sampled releases takes them minutes, so that the stress grid asks for none.

## Workloads of the sources

From {sources}.

![accuracy against time](benchmarks/accuracy.svg)

A hollow mark reports less privacy loss than there is: a promise that does not hold.

{comparison}

Width is the upper end less the lower end of what the accountant vouches for; dp-accounting and autodp give one value. The
last column is the time of the accountant over that of logphi, in the same run.

## A stress grid

Epsilon from one release to a million, from hardly any noise to much, from rare samples to frequent ones, at a usual delta and a
small one: {stressed} questions.

![what the answers are worth](benchmarks/stress.svg)

{grades}

## Where an accountant is below the truth

{below}

## Where an accountant has no answer

In its own words, or what stopped it.

{failures}

## The catalogue beside dp-accounting

Each kind of noise, sampled and whole, and sums of two kinds. The width is relative to delta, or to the larger of 1 and
epsilon; the error of dp-accounting, at its default grid, is relative to the truth. The last column is the time of logphi over
that of dp-accounting.

{catalogue}

## Other batches than Poisson samples

Truncated samples, for which every accountant gives an upper bound, and random allocation. PLD_accounting was asked for random
allocation only.

{samplers}

## Random releases

{releases} releases of each family, two questions to each: delta at an epsilon and epsilon at a delta, with the defaults. *Slow*
is more than {slow:g} s; *wide* more than 1e-6, of delta or of the larger of 1 and epsilon; *unresolved* more than a half.

{families}

## What only logphi was asked

{alone}
"""


def compared(workloads: Sequence[Workload], accountants: Sequence[Accountant]) -> list[dict[str, Any]]:
    """Every workload by every accountant that is asked for it, ours first."""
    everyone = (OURS, *accountants)
    sandboxes = {
        beside: Sandbox({one.name: one for one in everyone if one.beside == beside}, older(beside))
        for beside in {accountant.beside for accountant in everyone}
    }
    rows = []
    for workload in workloads:
        known = truth(workload)
        ours: dict[str, Any] = {}
        for accountant in everyone:
            if workload.question not in accountant.questions:
                continue
            row: dict[str, Any] = {"workload": workload.caption, "accountant": accountant.name, "truth": known}
            row |= sandboxes[accountant.beside].measure(accountant.name, workload)
            ours = ours or row
            if accountant is not OURS and "seconds" in row and "seconds" in ours:
                row["times_ours"] = row["seconds"] / ours["seconds"]
            rows.append(row)
        print(f"{workload.caption}: measured", file=sys.stderr)
    for sandbox in sandboxes.values():
        sandbox.close()
    return rows


def older(packages: str) -> Path | None:
    """Where older packages stand that an accountant needs, if they could be installed."""
    place = Path(sys.prefix) / packages
    return place if packages and place.is_dir() else None


def machine() -> str:
    """The processor and the versions."""
    about = Path("/proc/cpuinfo")
    named = [line for line in about.read_text().splitlines() if line.startswith("model name")] if about.exists() else []
    processor = named[0].split(":", 1)[1].strip() if named else platform.processor() or platform.machine()
    versions = ", ".join(f"{name} {version_of(name)}" for name in PACKAGES)
    return f"{processor}, one thread; Python {platform.python_version()}, {versions}."


def version_of(package: str) -> str:
    """The installed version, if it can be told."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "(version unknown)"


def main() -> None:
    """Measure, print, write the page, and save if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="FILE", help="also save every number here")
    parser.add_argument("--quick", action="store_true", help="only workloads of the sources and samplers, printed, not written")
    arguments = parser.parse_args()

    warm()
    obstacles = {accountant.name: obstacle(accountant) for accountant in dict.fromkeys((*PEERS, *SAMPLING))}
    sources = compared(WORKLOADS, [accountant for accountant in PEERS if obstacles[accountant.name] is None])
    skipped = "\n".join(f"Skipped: {name}, {reason}." for name, reason in obstacles.items() if reason is not None)
    samplers = compared(SAMPLERS, [accountant for accountant in SAMPLING if obstacles[accountant.name] is None])
    print(tables.comparison(sources), tables.comparison(samplers), skipped, sep="\n\n")
    if arguments.quick:
        return
    stress = compared(STRESS, [accountant for accountant in STRESSED if obstacles[accountant.name] is None])
    catalogue = compared(CATALOGUE, [accountant for accountant in CATALOGUED if obstacles[accountant.name] is None])
    families = random_releases.by_family()
    alone = of_this_library()
    if arguments.json:
        saved = {"machine": machine(), "sources": sources, "stress": stress, "alone": alone}
        saved |= {"catalogue": catalogue, "samplers": samplers, "families": families}
        write_whole(arguments.json, (json.dumps(saved, indent=2) + "\n").encode())
    publish(sources, stress, catalogue, samplers, families, alone, skipped)


def publish(
    sources: list[dict[str, Any]],
    stress: list[dict[str, Any]],
    catalogue: list[dict[str, Any]],
    samplers: list[dict[str, Any]],
    families: list[dict[str, Any]],
    alone: list[dict[str, Any]],
    skipped: str,
) -> None:
    """The page and its pictures."""
    import pictures

    (DOCS / "benchmarks").mkdir(exist_ok=True)
    pictures.accuracy_against_time(sources, DOCS / "benchmarks" / "accuracy.svg")
    pictures.stress_grid(stress, DOCS / "benchmarks" / "stress.svg")
    pictures.samplers_of_training(DOCS / "benchmarks" / "samplers.svg")
    pictures.epochs_of_training((OURS, *DRAWN), DOCS / "benchmarks" / "training.svg")
    page = PAGE.format(
        machine="\n".join(filter(None, (machine(), skipped))),
        repetitions=REPETITIONS,
        limit=LIMIT,
        sources="; ".join(dict.fromkeys(workload.source for workload in WORKLOADS if workload.source)),
        comparison=tables.comparison(sources),
        stressed=len(STRESS),
        grades=tables.grades(stress),
        below=tables.below([*sources, *stress]),
        failures=tables.failures([*sources, *stress]),
        catalogue=tables.catalogue(catalogue),
        samplers=tables.comparison(samplers),
        releases=random_releases.RELEASES,
        slow=random_releases.SLOW,
        families=tables.families(families),
        alone=tables.alone(alone),
    )
    write_whole(DOCS / "benchmarks.md", page.encode("utf-8"))


if __name__ == "__main__":
    main()
