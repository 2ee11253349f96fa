"""``certify`` and ``verify``: a proof to hand on, and its check."""

from __future__ import annotations

import argparse
import sys

from logphi.cli.answers import one_line
from logphi.cli.exits import MET
from logphi.cli.options import add_direction, add_expression, add_question, mechanism, number, question
from logphi.cli.parser import Commands

EXAMPLES = """\
logphi certify "14062 * Gaussian(sigma=1.1).poisson(256/60000)" --delta 1e-5 -o certificate.json
logphi verify certificate.json"""

_CERTIFY = "a proof of epsilon at a delta, or of delta at an epsilon, that anyone can check"
_VERIFY = "whether the claim of a certificate follows from the mechanism in it, proved anew"
# chosen: in bytes, far more than any certificate has
LONGEST_CERTIFICATE = 4_000_000


def add(commands: Commands) -> None:
    """Enter the commands."""
    command = commands.add("certify", _CERTIFY, certify)
    add_expression(command)
    add_question(command)
    command.add_argument("--digits", type=int, default=15, metavar="N", help="how many are claimed at most: 15 unless given")
    add_direction(command)
    command.add_argument("-o", "--output", default="-", metavar="FILE", help="standard output unless given")
    command = commands.add("verify", _VERIFY, verify)
    command.add_argument("file", metavar="FILE", help="the certificate; a lone - reads it from standard input")


def certify(arguments: argparse.Namespace) -> int:
    """Write a certificate."""
    asked = question(arguments)
    point = number(arguments, asked)
    release = mechanism(arguments)
    certificate = release.certify(**{asked: point}, digits=arguments.digits, direction=arguments.direction)
    if arguments.output == "-":
        sys.stdout.write(certificate.to_json())
        print(certificate, file=sys.stderr)
    else:
        certificate.save(arguments.output)
        print(certificate)
    return MET


def verify(arguments: argparse.Namespace) -> int:
    """Say the verdict, whose status is the exit status."""
    from logphi.checker import verify, verify_file

    # one byte more than is allowed, so that a longer file is refused rather than cut off
    verdict = verify(sys.stdin.buffer.read(LONGEST_CERTIFICATE + 1)) if arguments.file == "-" else verify_file(arguments.file)
    print(one_line(verdict.reason))
    return verdict.status
