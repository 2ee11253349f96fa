"""``dp-sgd``: the epsilon of a training run, or the noise for an epsilon, from the parameters of a training script."""

from __future__ import annotations

import argparse
import json

from logphi.cli.answers import as_data, as_text
from logphi.cli.exits import MET, WIDE
from logphi.cli.options import number
from logphi.cli.parser import Commands

EXAMPLES = """logphi dp-sgd --dataset-size 60000 --batch-size 256 --steps 14062 --noise-multiplier 1.1 --delta 1e-5
logphi dp-sgd --dataset-size 60000 --batch-size 256 --steps 14062 --epsilon 2 --delta 1e-5"""

_ABOUT = "the epsilon of a training run, or the noise that meets one; rate and steps are derived from its sizes"
_JSON = """print one JSON object: query, rate (exact), steps, noise_multiplier, nearest_miss (the next smaller noise, which
misses the target, if the noise was found), at, lower, value, upper, direction, method, status, ledger"""


def add(commands: Commands) -> None:
    """Add the command."""
    command = commands.add("dp-sgd", _ABOUT, run)
    command.add_argument("--dataset-size", type=int, required=True, metavar="N", help="records in the data set")
    command.add_argument("--batch-size", type=int, required=True, metavar="B", help="records in a batch, on average")
    either = command.add_mutually_exclusive_group(required=True)
    either.add_argument("--epochs", metavar="E", help="passes over the data; may be a fraction")
    either.add_argument("--steps", type=int, metavar="S", help="noisy steps")
    noise = command.add_mutually_exclusive_group(required=True)
    noise.add_argument(
        "--noise-multiplier", metavar="SIGMA", help="standard deviation of the noise, divided by the clipping norm"
    )
    noise.add_argument("--epsilon", metavar="E", help="the target: finds the smallest noise that meets it")
    command.add_argument("--clipped-count-noise", metavar="SIGMA", help="adaptive clipping: noise added to the clipped count")
    command.add_argument("--accumulation", type=int, default=1, metavar="K", help="batches per noisy step (default: 1)")
    command.add_argument(
        "--sampler",
        default="poisson",
        metavar="NAME",
        help="how batches are drawn: poisson (the default), truncated_poisson, without_replacement, balls_in_bins, shuffled or "
        "fixed_order",
    )
    command.add_argument(
        "--truncated-batch-size", type=int, metavar="B", help="the most records in a batch of truncated_poisson"
    )
    command.add_argument("--group-size", type=int, default=1, metavar="G", help="number of records that differ (default: 1)")
    command.add_argument("--adjacency", default="add_remove", help="the relation (default: add_remove)")
    command.add_argument("--delta", required=True, metavar="D", help="the delta of the claim")
    command.add_argument("--json", action="store_true", help=_JSON)


def run(arguments: argparse.Namespace) -> int:
    """Print rate and steps, then noise and epsilon."""
    from logphi.answers.bound import single
    from logphi.training import dp_sgd

    delta = number(arguments, "delta")
    noise, epsilon, epochs, counting = (
        None if getattr(arguments, name.replace("-", "_")) is None else number(arguments, name)
        for name in ("noise-multiplier", "epsilon", "epochs", "clipped-count-noise")
    )
    training = dp_sgd(
        dataset_size=arguments.dataset_size,
        batch_size=arguments.batch_size,
        epochs=epochs,
        steps=arguments.steps,
        noise_multiplier=noise,
        target_epsilon=epsilon,
        target_delta=None if epsilon is None else delta,
        clipped_count_noise=counting,
        accumulation=arguments.accumulation,
        sampler=arguments.sampler,
        truncated_batch_size=arguments.truncated_batch_size,
        group_size=arguments.group_size,
        adjacency=arguments.adjacency,
    )
    calibration = training.calibration
    found = single(training.epsilon(delta))
    if arguments.json:
        derived = {"query": "dp-sgd", "rate": str(training.rate), "steps": training.steps}
        noisy = {"noise_multiplier": training.noise_multiplier, "nearest_miss": calibration and calibration.nearest_miss}
        print(json.dumps({**derived, **noisy, "at": delta, **as_data(found)}, allow_nan=False))
    else:
        print(training)
        print(as_text("epsilon", "delta", delta, found, None))
    return MET if found.status.met and (calibration is None or calibration.status.met) else WIDE
