"""Measurements as pictures."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import verdicts
from accountants import Accountant
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator
from workloads import trained

import logphi as lp
from logphi.text.files import write_whole

Row = dict[str, Any]

STYLE: Any = {"font.size": 9, "svg.hashsalt": "logphi", "svg.fonttype": "path", "figure.constrained_layout.use": True}
# Okabe and Ito, which the colour-blind tell apart
COLOURS = ("#0072B2", "#D55E00", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#999999", "#222222")
MARKERS = "osD^vP*X"
# how batches are drawn, with the dashes of a line
SAMPLERS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("poisson", {}, "-"),
    ("truncated_poisson", {"truncated_batch_size": 300}, "-."),
    ("balls_in_bins", {}, "--"),
    ("without_replacement", {}, "-"),
    ("shuffled", {}, ""),
    ("fixed_order", {}, ":"),
)
# from near to far; then below the truth, and none
SHADES = ("#1a7a4c", "#74c476", "#d9e8a0", "#fdd49e", "#fdae6b", "#c51b1b", "#dddddd")
# what the logarithm of an exact answer is drawn as
NEAREST = 1e-13


def accuracy_against_time(rows: Sequence[Row], path: Path) -> None:
    """One point for each answer: how long it took, and how far it is from the truth."""
    with plt.rc_context(STYLE):
        figure, axis = plt.subplots(figsize=(8, 4.8))
        names = list(dict.fromkeys(row["accountant"] for row in rows))
        for name, colour, marker in zip(names, COLOURS, MARKERS, strict=False):
            own = [row for row in rows if row["accountant"] == name and "reported" in row]
            for wrong in (False, True):
                points = [
                    (row["seconds"], max(abs(verdicts.excess(row)), NEAREST)) for row in own if verdicts.below(row) is wrong
                ]
                face = "none" if wrong else colour
                axis.plot(
                    *zip(*points, strict=True) if points else ([], []),
                    marker,
                    color=colour,
                    markerfacecolor=face,
                    label=None if wrong else name,
                )
        axis.plot([], [], "o", color="black", markerfacecolor="none", label="hollow: below the truth")
        axis.set(
            xscale="log", yscale="log", xlabel="seconds", ylabel="distance of the reported number from the truth, relative"
        )
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
        _save(figure, path)


def stress_grid(rows: Sequence[Row], path: Path) -> None:
    """A column for each accountant, a row for each workload, a shade for what the answer is worth."""
    names = list(dict.fromkeys(row["accountant"] for row in rows))
    captions = list(dict.fromkeys(row["workload"] for row in rows))
    grades = [*(name for name, _ in verdicts.GRADES), verdicts.BELOW, verdicts.FAILS]
    cells = [[0] * len(names) for _ in captions]
    for row in rows:
        cells[captions.index(row["workload"])][names.index(row["accountant"])] = grades.index(verdicts.grade(row))
    with plt.rc_context(STYLE):
        figure, axis = plt.subplots(figsize=(9, 0.17 * len(captions) + 1.6))
        axis.imshow(cells, cmap=ListedColormap(SHADES), vmin=-0.5, vmax=len(grades) - 0.5, aspect="auto")
        axis.set_xticks(range(len(names)), [name.replace(" ", "\n", 1) for name in names], fontsize=8)
        axis.xaxis.tick_top()
        axis.set_yticks(
            range(len(captions)), [caption.replace(": epsilon at delta ", ", δ = ") for caption in captions], fontsize=7
        )
        axis.tick_params(length=0)
        axis.hlines([i - 0.5 for i in range(len(captions) + 1)], -0.5, len(names) - 0.5, color="white", linewidth=0.6)
        axis.vlines([i - 0.5 for i in range(len(names) + 1)], -0.5, len(captions) - 0.5, color="white", linewidth=2)
        axis.spines[:].set_visible(False)
        patches = [Patch(color=shade, label=grade) for shade, grade in zip(SHADES, grades, strict=True)]
        figure.legend(handles=patches, loc="outside lower center", ncols=len(grades), fontsize=8, frameon=False)
        _save(figure, path)


def epochs_of_training(accountants: Sequence[Accountant], path: Path) -> None:
    """Epsilon of the main job against its epochs: the band of an accountant that gives one, the value of the others."""
    epochs = [*range(1, 10), *range(10, 61, 5)]
    with plt.rc_context(STYLE):
        figure, axis = plt.subplots(figsize=(7, 3.4))
        for one, colour, dashes in zip(accountants, COLOURS, ("-", "--", ":"), strict=False):
            answers = [one.answer(trained(round(epoch * 60000 / 256))) for epoch in epochs]
            axis.plot(epochs, [answer.reported for answer in answers], dashes, color=colour, linewidth=2, label=one.name)
            if answers[0].width is not None:
                axis.fill_between(epochs, [answer.lower or 0.0 for answer in answers], [answer.reported for answer in answers])
        axis.set(xlabel="epochs", ylabel="epsilon at delta = 1e-5", xlim=(0, epochs[-1]), ylim=(0, None))
        axis.grid(alpha=0.3)
        axis.legend(frameon=False)
        _save(figure, path)


def samplers_of_training(path: Path) -> None:
    """Epsilon of one training run against its noise, by how its batches are drawn; a bracket as the band that it is."""
    noises = np.geomspace(0.7, 4.0, 14)
    sizes: dict[str, Any] = {"dataset_size": 60_000, "batch_size": 256, "epochs": 20}
    with plt.rc_context(STYLE):
        figure, axis = plt.subplots(figsize=(7, 4.2))
        for (sampler, more, dashes), colour in zip(SAMPLERS, COLOURS, strict=False):
            runs = [lp.dp_sgd(**sizes, **more, noise_multiplier=noise, sampler=sampler) for noise in noises]
            found = [run.epsilon(1e-5) for run in runs]
            upper = [float(one) for one in found]
            if found[0].status is lp.Status.BRACKET:
                lower = [one.lower for one in found]
                axis.fill_between(noises, lower, upper, color=colour, alpha=0.2, linewidth=0, label=f"{sampler}: between")
            else:
                axis.plot(noises, upper, dashes, color=colour, linewidth=1.8, label=sampler)
        axis.set(xscale="log", yscale="log", xlabel="noise multiplier", ylabel="epsilon at delta = 1e-5")
        axis.set_xticks([0.7, 1, 2, 4], ["0.7", "1", "2", "4"])
        axis.xaxis.set_minor_locator(NullLocator())
        axis.grid(alpha=0.3)
        axis.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
        _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    drawn = io.BytesIO()
    # no date in it, so that the same measurements are the same file
    figure.savefig(drawn, format="svg", metadata={"Date": None})
    plt.close(figure)
    write_whole(path, drawn.getvalue())
