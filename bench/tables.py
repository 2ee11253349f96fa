"""Measurements as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import verdicts
from accountants import OURS

Row = dict[str, Any]


def spread(seconds: float) -> str:
    """A time as a reader wants it."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.2f} s"


def comparison(rows: Sequence[Row]) -> str:
    """Every workload by every accountant; a caption stands once."""
    lines = ["| workload | accountant | answer | width | time | x logphi |", "|---|---|---|---|---|---|"]
    caption = None
    for row in rows:
        shown = "" if row["workload"] == caption else row["workload"]
        caption = row["workload"]
        if "remark" in row:
            lines.append(f"| {shown} | {row['accountant']} | {row['remark']} | | | |")
            continue
        wrong = " **below the truth**" if verdicts.below(row) else " **misses the truth**" if verdicts.misses(row) else ""
        width = "none given" if row["width"] is None else f"{row['width']:.1e}"
        ratio = f"{row['times_ours']:.3g}" if "times_ours" in row else "1" if row["accountant"] == OURS.name else ""
        answer = f"{row['value']:.10g}{wrong}"
        lines.append(f"| {shown} | {row['accountant']} | {answer} | {width} | {spread(row['seconds'])} | {ratio} |")
    return "\n".join(lines)


def catalogue(rows: Sequence[Row]) -> str:
    """This library and one peer side by side, a line for each workload; the error of the peer is relative to the truth."""
    lines = ["| release | logphi | width | time | dp-accounting | error | time | logphi / it |", f"|{'---|' * 8}"]
    for ours, peer in zip(rows[::2], rows[1::2], strict=True):
        told = [ours["workload"], *_told(ours, f"{ours['width'] / max(1.0, ours['value']):.1e}" if "width" in ours else "")]
        told += _told(peer, f"{verdicts.excess(peer):+.1e}")
        ratio = f"{ours['seconds'] / peer['seconds']:.2g}" if "seconds" in ours and "seconds" in peer else ""
        lines.append(f"| {' | '.join([*told, ratio])} |")
    return "\n".join(lines)


def _told(row: Row, error: str) -> list[str]:
    return [row["remark"], "", ""] if "remark" in row else [f"{row['value']:.10g}", error, spread(row["seconds"])]


def families(rows: Sequence[Row]) -> str:
    """How quick and how narrow the answers to random releases are."""
    lines = ["| family | questions | median | nine in ten within | slowest | slow | wide | unresolved |", f"|{'---|' * 8}"]
    for row in rows:
        times = [spread(row[name]) for name in ("median", "nine in ten", "slowest")]
        counts = [str(row[name] or "") for name in ("slow", "wide", "unresolved")]
        lines.append(f"| {' | '.join([row['family'], str(row['questions']), *times, *counts])} |")
    return "\n".join(lines)


def alone(rows: Sequence[Row]) -> str:
    """What only this library was asked."""
    lines = ["| logphi alone | answer | width | time |", "|---|---|---|---|"]
    for row in rows:
        if "remark" in row:
            lines.append(f"| {row['workload']} | {row['remark']} | | |")
            continue
        answer = f"{row['value']:.10g} | {row['width']:.1e}" if "value" in row else " | "
        lines.append(f"| {row['workload']} | {answer} | {spread(row['seconds'])} |")
    return "\n".join(lines)


def grades(rows: Sequence[Row]) -> str:
    """How often each accountant got how near on the grid, and its slowest answer."""
    names = [*(name for name, _ in verdicts.GRADES), verdicts.BELOW, verdicts.FAILS]
    lines = [f"| accountant | {' | '.join(names)} | median time | slowest |", f"|---|{'---|' * (len(names) + 2)}"]
    for accountant in dict.fromkeys(row["accountant"] for row in rows):
        own = [row for row in rows if row["accountant"] == accountant]
        found = [verdicts.grade(row) for row in own]
        times = sorted(row["seconds"] for row in own if "seconds" in row)
        told = f"{spread(times[len(times) // 2])} | {spread(times[-1])}" if times else " | "
        lines.append(f"| {accountant} | {' | '.join(str(found.count(name) or '') for name in names)} | {told} |")
    return "\n".join(lines)


def below(rows: Sequence[Row]) -> str:
    """Where an accountant reports less than the truth."""
    lines = ["| accountant | workload | reported | truth |", "|---|---|---|---|"]
    lines += [
        f"| {row['accountant']} | {row['workload']} | {row['reported']:.10g} | {row['truth'][0]:.10g} |"
        for row in sorted(filter(verdicts.below, rows), key=lambda row: row["accountant"])
    ]
    return "\n".join(lines)


def failures(rows: Sequence[Row]) -> str:
    """Where an accountant has no answer, in its own words, with the first of the workloads."""
    told: dict[tuple[str, str], list[str]] = {}
    for row in sorted(rows, key=lambda row: row["accountant"]):
        if "remark" in row and not row["remark"].startswith("not offered"):
            told.setdefault((row["accountant"], row["remark"]), []).append(row["workload"])
    lines = ["| accountant | says | workloads | the first |", "|---|---|---|---|"]
    lines += [f"| {accountant} | {remark} | {len(all_)} | {all_[0]} |" for (accountant, remark), all_ in told.items()]
    return "\n".join(lines)
