"""``dp-sgd``: epsilon of a training run, from what a training script knows."""

from __future__ import annotations

import argparse
import json

from logphi.cli.answers import as_data, as_text
from logphi.cli.exits import MET, WIDE
from logphi.cli.options import number
from logphi.cli.parser import Commands

EXAMPLES = "logphi dp-sgd --dataset-size 60000 --batch-size 256 --epochs 60 --noise-multiplier 1.1 --delta 1e-5"

_ABOUT = "the epsilon of a training run, after the sampling rate and the number of steps that follow from its sizes"
_JSON = "print one JSON object: query, rate (exact), steps, at, lower, value, upper, direction, method, status, ledger"


def add(commands: Commands) -> None:
    """Enter the command."""
    command = commands.add("dp-sgd", _ABOUT, run)
    command.add_argument("--dataset-size", type=int, required=True, metavar="N", help="records in the data set")
    command.add_argument("--batch-size", type=int, required=True, metavar="B", help="records in a batch, on average")
    either = command.add_mutually_exclusive_group(required=True)
    either.add_argument("--epochs", metavar="E", help="passes over the data, not necessarily whole")
    either.add_argument("--steps", type=int, metavar="S", help="noisy steps")
    command.add_argument("--noise-multiplier", required=True, metavar="SIGMA", help="standard deviation over the clipping norm")
    command.add_argument("--clipped-count-noise", metavar="SIGMA", help="adaptive clipping: noise of the clipped count")
    command.add_argument("--accumulation", type=int, default=1, metavar="K", help="batches to one noisy step: 1 unless given")
    command.add_argument("--sampler", default="poisson", help="poisson unless given, or without_replacement")
    command.add_argument("--adjacency", default="add_remove", help="the relation: add_remove unless given")
    command.add_argument("--delta", required=True, metavar="D", help="the delta of the claim")
    command.add_argument("--json", action="store_true", help=_JSON)


def run(arguments: argparse.Namespace) -> int:
    """Rate and steps first, then epsilon."""
    from logphi.bound import single
    from logphi.training import dp_sgd

    delta = number(arguments, "delta")
    training = dp_sgd(
        dataset_size=arguments.dataset_size,
        batch_size=arguments.batch_size,
        epochs=None if arguments.epochs is None else number(arguments, "epochs"),
        steps=arguments.steps,
        noise_multiplier=number(arguments, "noise-multiplier"),
        clipped_count_noise=None if arguments.clipped_count_noise is None else number(arguments, "clipped-count-noise"),
        accumulation=arguments.accumulation,
        sampler=arguments.sampler,
        adjacency=arguments.adjacency,
    )
    found = single(training.epsilon(delta))
    if arguments.json:
        derived = {"query": "dp-sgd", "rate": str(training.rate), "steps": training.steps, "at": delta}
        print(json.dumps({**derived, **as_data(found)}, allow_nan=False))
    else:
        print(training)
        print(as_text("epsilon", "delta", delta, found, None))
    return MET if found.status.met else WIDE
