"""``report``: the privacy statement of a release."""

from __future__ import annotations

import argparse
import sys

from logphi.cli.exits import MET, WIDE
from logphi.cli.options import add_expression, mechanism, number
from logphi.cli.parser import Commands

EXAMPLES = 'logphi report "1000 * Gaussian(sigma=1.2).poisson(0.01)" --delta 1e-6 --unit "one user" --dataset-size 50000'

_ABOUT = "a privacy statement: what is released, what is promised, and what nobody has checked"


def add(commands: Commands) -> None:
    """Add the command."""
    command = commands.add("report", _ABOUT, run)
    add_expression(command)
    command.add_argument("--delta", required=True, metavar="D", help="the delta of the claim")
    command.add_argument("--unit", default="one record", help='what one record is (default: "one record")')
    command.add_argument("--dataset-size", type=int, metavar="N", help="the number of records, if that is public")
    command.add_argument("--method", help="a route for all answers; certified uses ball arithmetic")
    command.add_argument("--note", action="append", default=[], help="a sentence to add; may be repeated")
    command.add_argument("--certificate", metavar="FILE", help="also write a certificate of all its claims")
    command.add_argument("--json", action="store_true", help="print one JSON object, in full precision")
    command.add_argument(
        "-o", "--output", default="-", metavar="FILE", help="JSON if it ends in .json; default: standard output"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print or save the statement; the exit status says whether its epsilon is within tolerance."""
    from logphi.statement.report import report
    from logphi.text.files import write_whole

    found = report(
        mechanism(arguments),
        delta=number(arguments, "delta"),
        unit=arguments.unit,
        dataset_size=arguments.dataset_size,
        method=arguments.method,
        notes=arguments.note,
    )
    if arguments.certificate is not None:
        found.certify().save(arguments.certificate)
    if arguments.output == "-":
        sys.stdout.write(found.to_json() if arguments.json else f"{found}\n")
    elif arguments.json:
        write_whole(arguments.output, found.to_json().encode("ascii"))
    else:
        found.save(arguments.output)
    return MET if found.epsilon.status.met else WIDE
