"""The command line: the same algebra, the same answers, and an exit status that a script can trust."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from logphi.bound import Bound
    from logphi.comparison import Comparison
    from logphi.release import Mechanism

MET, WIDE, REFUSED, BROKEN, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 70, 130, 141

_EPILOG = """\
examples:
  logphi epsilon "14062 * Gaussian(sigma=1.1).poisson(256/60000)" --delta 1e-5
  logphi delta "50*Gaussian(sigma=5) + 50*RandomizedResponse(p=0.52)" --epsilon 0.5,1,2
  logphi explain "Laplace(scale=5) + Gaussian(sigma=2, adjacency='add_remove')" --epsilon 2
  logphi compare "1000 * Gaussian(sigma=20)" --delta 1e-5
  logphi tradeoff "100 * Laplace(scale=20)" --type-one-error 0.01,0.1
  logphi renyi "PureDP(epsilon=1)" --order 1,2,32.5
  logphi certify "14062 * Gaussian(sigma=1.1).poisson(256/60000)" --delta 1e-5 -o certificate.json
  logphi verify certificate.json

EXPR is parsed, never run: numbers, + - * / **, brackets, lists, mechanisms, .poisson(...) and .subset(...); a lone -
reads it from standard input. The number to claim is the upper end, of a tradeoff the lower: both are rounded outward.
exit status: 0 answered within tolerance, 1 valid but wider than asked, 2 bad input (one line on standard error);
of verify: 0 the claim follows, 1 it does not, 2 not a certificate"""
_METHODS = """the route, chosen for you unless given: contour, lattice, exact, exponential, smoothed, discretized; certified,
which is in ball arithmetic and takes all numbers as they are written; and, for comparison, levy-quadrature, levy-sums, levy,
buckets"""
_JSON = """print one JSON object for each point, in full precision: query, at, lower, value, upper, direction
(null where none was told apart), method, status, ledger; an infinite number is the string "inf" or "-inf" """

# what is asked for, at what, and in words
_QUESTIONS = {
    "epsilon": ("delta", "the smallest epsilon at each delta"),
    "delta": ("epsilon", "the smallest delta at each epsilon"),
    "tradeoff": ("type-one-error", "the least type II error of a test at each type I error"),
    "renyi": ("order", "the Renyi divergence at each order"),
}
# routes are told apart for these
_ROUTED = ("epsilon", "delta")
_CERTIFY = "a proof of epsilon at a delta, or of delta at an epsilon, that anyone can check"
_VERIFY = "whether the claim of a certificate follows from the mechanism in it, proved anew"
# far above the certificates there are
LONGEST_CERTIFICATE = 4_000_000
_DIRECTIONS, _ONE_ORDER = ["add", "remove"], "one order of the neighbours only"

_ROWS = """print one JSON object for each method, in full precision: query, at, name, value, side (exact, upper bound,
lower bound or approximation), gap (value less the exact one), source, note, and the reason where it does not apply"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message} (see {self.prog} --help)")


class _Version(argparse.Action):
    """Looks the version up only when asked: reading package metadata is slower than everything else here."""

    def __call__(self, *_: Any) -> NoReturn:
        from importlib.metadata import version

        print(f"logphi {version('logphi')}")
        raise SystemExit(MET)


def main(argv: Sequence[str] | None = None) -> int:
    """Answer one command line and give its exit status.

    Parameters
    ----------
    argv
        The arguments after the name of the program; those of the process unless given.

    Returns
    -------
    int
        0 for an answer within tolerance, 1 for a valid answer that is wider than asked, 2 for bad input, with one
        line on standard error; of ``verify`` 0 if the claim follows, 1 if not, 2 if there is none; 130 after Ctrl-C,
        141 when the reader of the output has gone, 70 with a traceback for an internal error.

    Examples
    --------
    >>> main(["epsilon", "PureDP(epsilon=1)", "--delta", "unknown"])
    2
    """
    try:
        code = _run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The interpreter flushes once more at exit, and would complain there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except (ValueError, NotImplementedError, ImportError, OSError) as error:
        print(f"logphi: {_one_line(str(error))}", file=sys.stderr)
        return REFUSED
    except Exception:
        traceback.print_exc()
        return BROKEN


def _run(argv: Sequence[str]) -> int:
    try:
        arguments = _parser().parse_args(_glued(argv))
    except SystemExit:
        # Only --help and --version leave this way.
        return MET

    if arguments.query == "verify":
        return _verify(arguments)

    from logphi.expression import LONGEST, parse, parse_numbers

    def numbers(option: str) -> list[float]:
        try:
            return parse_numbers(getattr(arguments, option.replace("-", "_")))
        except ValueError as error:
            raise ValueError(f"--{option}: {error}") from None

    def number(option: str) -> float:
        given = numbers(option)
        if len(given) != 1:
            raise ValueError(f"--{option}: one number is needed, got {len(given)}")
        return given[0]

    asked = _QUESTIONS[arguments.query][0] if arguments.query in _QUESTIONS else _given(arguments)
    points = [number(asked)] if arguments.query == "certify" else numbers(asked)
    expression = sys.stdin.read(LONGEST + 1) if arguments.expression == "-" else arguments.expression
    mechanism = parse(expression)
    if arguments.query == "explain":
        for point in points:
            print(mechanism.explain(epsilon=point) if asked == "epsilon" else mechanism.explain(delta=point))
        return MET
    if arguments.query == "compare":
        return _compare(arguments, mechanism, asked, points)
    if arguments.query == "certify":
        return _certify(arguments, mechanism, {asked: points[0]})
    options: dict[str, Any] = {"method": arguments.method} if arguments.query in _ROUTED else {}
    if arguments.rtol is not None:
        options["rtol"] = number("rtol")
    question = partial(getattr(mechanism, arguments.query), direction=arguments.direction, **options)
    # an array would hold the doubles alone
    bounds = [question(point) for point in points] if options.get("method") == "certified" else question(points)
    for point, bound in zip(points, bounds, strict=True):
        print(_as_json(arguments, point, bound) if arguments.json else _as_text(arguments, point, bound))
    return MET if all(bound.status.met for bound in bounds) else WIDE


def _parser() -> _Parser:
    layout: dict[str, Any] = {"allow_abbrev": False, "formatter_class": argparse.RawDescriptionHelpFormatter}
    parser = _Parser("logphi", description="Tight differential-privacy accounting with bounds.", epilog=_EPILOG, **layout)
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and stop")
    queries = parser.add_subparsers(dest="query", required=True, metavar="QUERY")
    for query, (given, about) in _QUESTIONS.items():
        command = queries.add_parser(query, help=about, description=about, epilog=_EPILOG, **layout)
        command.add_argument("expression", metavar="EXPR", help="the mechanism")
        command.add_argument(f"--{given}", required=True, metavar="X[,X...]", help="numbers, or 1/60000, 2**-20")
        command.add_argument("--json", action="store_true", help=_JSON)
        if query in _ROUTED:
            command.add_argument("--method", help=_METHODS)
        command.add_argument("--rtol", metavar="R", help="the relative width asked for")
        command.add_argument("--direction", choices=_DIRECTIONS, help=_ONE_ORDER)
    for query, about in [
        ("explain", "how an answer is reached, and where its width comes from"),
        ("compare", "the exact answer beside what classical theorems give"),
        ("certify", _CERTIFY),
    ]:
        command = queries.add_parser(query, help=about, description=about, epilog=_EPILOG, **layout)
        command.add_argument("expression", metavar="EXPR", help="the mechanism")
        either = command.add_mutually_exclusive_group(required=True)
        either.add_argument("--epsilon", metavar="E[,E...]", help=f"{query} delta at this epsilon")
        either.add_argument("--delta", metavar="D[,D...]", help=f"{query} epsilon at this delta")
        if query == "compare":
            command.add_argument("--json", action="store_true", help=_ROWS)
        if query == "certify":
            command.add_argument("--digits", type=int, default=15, metavar="N", help="how many are claimed: 15 unless given")
            command.add_argument("--direction", choices=_DIRECTIONS, help=_ONE_ORDER)
            command.add_argument("-o", "--output", default="-", metavar="FILE", help="standard output unless given")
    command = queries.add_parser("verify", help=_VERIFY, description=_VERIFY, epilog=_EPILOG, **layout)
    command.add_argument("file", metavar="FILE", help="the certificate; a lone - reads it from standard input")
    return parser


def _given(arguments: argparse.Namespace) -> str:
    return "delta" if arguments.delta is not None else "epsilon"


def _certify(arguments: argparse.Namespace, mechanism: Mechanism, question: Mapping[str, float]) -> int:
    certificate = mechanism.certify(**question, digits=arguments.digits, direction=arguments.direction)
    if arguments.output == "-":
        sys.stdout.write(certificate.to_json())
        print(certificate, file=sys.stderr)
    else:
        certificate.save(arguments.output)
        print(certificate)

    from logphi.checker import verify

    verdict = verify(certificate.to_json())
    if verdict.status != MET:
        # proved here, and not there: whoever hands it on should know
        print(f"logphi: the certificate is made, but logphi verify says: {_one_line(verdict.reason)}", file=sys.stderr)
    return MET


def _verify(arguments: argparse.Namespace) -> int:
    from logphi.checker import verify, verify_file

    # one character more than there may be, so that what is longer is refused and not cut
    verdict = verify(sys.stdin.buffer.read(LONGEST_CERTIFICATE + 1)) if arguments.file == "-" else verify_file(arguments.file)
    print(_one_line(verdict.reason))
    return verdict.status


def _compare(arguments: argparse.Namespace, mechanism: Mechanism, asked: str, points: Sequence[float]) -> int:
    from logphi.comparison import compare

    tables = [compare(mechanism, **{asked: point}) for point in points]
    for table in tables:
        print("\n".join(map(json.dumps, _rows(table))) if arguments.json else table)
    return MET if all(table.exact.status.met for table in tables) else WIDE


def _rows(table: Comparison) -> Iterator[dict[str, Any]]:
    """What there is in a row, under the names of its fields, and the question."""
    for row in table.rows:
        cells = {name: _plain(cell) if isinstance(cell, float) else cell for name, cell in asdict(row).items()}
        yield {"query": table.question, "at": table.at, **cells}


def _glued(argv: Sequence[str]) -> list[str]:
    """The arguments with ``--epsilon -0.5,1`` as ``--epsilon=-0.5,1``: argparse takes the number for an option."""
    numeric = {"--rtol", *(f"--{given}" for given, _ in _QUESTIONS.values())}
    glued: list[str] = []
    for argument in argv:
        if glued and glued[-1] in numeric and re.match(r"-[\d.(]", argument):
            glued[-1] += f"={argument}"
        else:
            glued.append(argument)
    return glued


def _direction(arguments: argparse.Namespace, bound: Bound) -> str | None:
    return bound.direction.value if bound.direction else arguments.direction


def _as_json(arguments: argparse.Namespace, point: float, bound: Bound) -> str:
    ledger = bound.ledger.as_dict()
    answer = {
        "query": arguments.query,
        "at": point,
        "lower": _plain(bound.lower),
        "value": _plain(bound.value),
        "upper": _plain(bound.upper),
        "direction": _direction(arguments, bound),
        "method": bound.method,
        "status": bound.status.name.lower(),
        "ledger": {name: {**entry, "amount": _plain(entry["amount"])} for name, entry in ledger.items()},
    }
    return json.dumps(answer, allow_nan=False)


def _plain(number: float) -> float | str:
    return str(float(number)) if math.isinf(number) else float(number)


def _as_text(arguments: argparse.Namespace, point: float, bound: Bound) -> str:
    given = _QUESTIONS[arguments.query][0].replace("-", " ")
    how = ", ".join(filter(None, [bound.method, _direction(arguments, bound)]))
    word = "proved" if bound.ledger.proved else "estimated"
    if bound.lower == bound.upper:
        value, range_ = f"{float(bound.value)!r}", "exact"
    else:
        value, range_ = f"{bound.value:.10g}", "between {} and {}".format(*_outward(bound.lower, bound.upper))
    line = f"{arguments.query} = {value} at {given} = {point!r}   {word}: {range_} ({how})"
    return line if bound.status.name == "MET" else f"{line}\n  {bound.status.value}"


def _outward(lower: float, upper: float) -> tuple[str, str]:
    """Both ends rounded away from each other, to as many digits as tell them apart with two to spare."""
    size, width = max(abs(lower), abs(upper)), upper - lower
    # Seventeen digits tell all doubles apart.
    digits = 17 if 0 < width < size * 1e-14 else 10
    if math.isfinite(width) and width >= size * 1e-14:
        digits = max(3, math.ceil(math.log10(size) - math.log10(width)) + 2)
    down = Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(Decimal(lower))
    up = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(upper))
    return f"{down:g}".replace("Infinity", "inf"), f"{up:g}".replace("Infinity", "inf")


def _one_line(message: str) -> str:
    # Control characters from the arguments must not reach the terminal.
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in " ".join(message.split()))
