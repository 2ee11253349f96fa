"""``certify`` and ``verify``: a proof to pass on, and its check."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from logphi.cli.answers import one_line
from logphi.cli.exits import MET
from logphi.cli.options import add_direction, add_expression, add_question, mechanism, number, numbers, question
from logphi.cli.parser import Commands

EXAMPLES = """\
logphi certify "14062 * Gaussian(sigma=1.1).poisson(256/60000)" --delta 1e-5 -o certificate.json
logphi certify "100 * Laplace(scale=20)" --delta 1e-5 --type-one-error 0.01 --advantage -o certificate.json
logphi verify certificate.json"""

_CERTIFY = "a proof of epsilon at a delta, or of delta at an epsilon, that anyone can check"
_VERIFY = "whether the claims of a certificate follow, by an independent proof"
# the arguments of further claims, and what each claim is about
_ALSO = {
    "type-one-error": "the smallest type II error of a test at this type I error",
    "order": "the Renyi divergence of this order, above 1",
}
# chosen: in bytes, far more than any certificate has
LONGEST_CERTIFICATE = 4_000_000


def add(commands: Commands) -> None:
    """Add the commands."""
    command = commands.add("certify", _CERTIFY, certify)
    add_expression(command)
    add_question(command)
    for name, about in _ALSO.items():
        command.add_argument(f"--{name}", metavar="X[,X...]", help=f"in the same file, also {about}")
    command.add_argument("--advantage", action="store_true", help="in the same file, also the membership advantage")
    command.add_argument("--digits", type=int, default=15, metavar="N", help="the most digits to claim (default: 15)")
    add_direction(command)
    command.add_argument("-o", "--output", default="-", metavar="FILE", help="default: standard output")
    command = commands.add("verify", _VERIFY, verify)
    command.add_argument("file", metavar="FILE", help="the certificate, or - to read it from standard input")
    command.add_argument("--files", action="store_true", help="also list the files of the checker that were loaded for it")
    command.add_argument("--work", metavar="N", help="the budget in multiplications (default: 1e8, about ten seconds)")


def certify(arguments: argparse.Namespace) -> int:
    """Write a certificate."""
    asked = question(arguments)
    places: dict[str, Any] = {asked: number(arguments, asked)}
    for name in _ALSO:
        key = name.replace("-", "_")
        if getattr(arguments, key) is not None:
            places[key] = numbers(arguments, name)
    how = {"advantage": arguments.advantage, "digits": arguments.digits, "direction": arguments.direction}
    _hand_over(arguments, mechanism(arguments).certify(**places, **how))
    return MET


def _hand_over(arguments: argparse.Namespace, certificate: Any) -> None:
    if arguments.output == "-":
        sys.stdout.write(certificate.to_json())
        print(certificate, file=sys.stderr)
    else:
        certificate.save(arguments.output)
        print(certificate)


def verify(arguments: argparse.Namespace) -> int:
    """Print the verdict; its status is the exit status."""
    from logphi.checker import verify, verify_file

    budget = {} if arguments.work is None else {"work": float(number(arguments, "work"))}
    if arguments.file == "-":
        # one byte more than is allowed, so that a longer input is refused rather than truncated
        verdict = verify(sys.stdin.buffer.read(LONGEST_CERTIFICATE + 1), **budget)
    else:
        verdict = verify_file(arguments.file, **budget)
    print(one_line(verdict.reason))
    # one line for each of several claims
    for line in str(verdict).splitlines()[1:]:
        print(f"{'  ' if line.startswith('  ') else ''}{one_line(line)}")
    if arguments.files:
        from logphi.checker.needed import loaded

        files = loaded()
        print(f"by {len(files)} files of logphi/checker, {sum(files.values()):,} lines:")
        for name, lines in files.items():
            print(f"  {name} {lines}")
    return verdict.status
