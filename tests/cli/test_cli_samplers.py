"""``dp-sgd`` by other samplers than Poisson's."""

from __future__ import annotations

import json
from typing import Any

import pytest

import logphi as lp
from logphi.cli import main

SIZES: dict[str, Any] = {"dataset_size": 1000, "batch_size": 100, "noise_multiplier": 2.0}
ARGUMENTS = [
    "dp-sgd",
    "--dataset-size",
    "1000",
    "--batch-size",
    "100",
    "--noise-multiplier",
    "2",
    "--epochs",
    "3",
    "--delta",
    "1e-5",
]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("sampler", "more", "code"),
    [
        ("truncated_poisson", {"truncated_batch_size": 120}, 0),
        ("balls_in_bins", {}, 0),
        ("shuffled", {}, 1),
        ("fixed_order", {}, 0),
    ],
)
def test_every_sampler_from_a_shell(capsys, sampler, more, code):
    options = [word for name, value in more.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    assert main([*ARGUMENTS, "--sampler", sampler, *options, "--json"]) == code
    said = json.loads(capsys.readouterr().out)
    run = lp.dp_sgd(**SIZES, epochs=3, sampler=sampler, **more)
    assert said["upper"] == run.epsilon(1e-5).upper
    assert said["lower"] == run.epsilon(1e-5).lower
    assert said["steps"] == run.steps == 30
