"""The command line: the same expressions and answers as in Python, and an exit status for scripts.

Each group of commands is a file with ``EXAMPLES``, lines of the help, and ``add``, which adds the commands to the parser. A new
group is a new file and an entry of ``GROUPS``.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

from logphi.cli import calibrate, certificates, compare, completion, dp_sgd, explain, questions, report, risk, sweep
from logphi.cli.answers import one_line
from logphi.cli.exits import BROKEN, INTERRUPTED, MET, PIPE_CLOSED, REFUSED
from logphi.cli.options import glued
from logphi.cli.parser import parser
from logphi.cli.unreadable import explained

GROUPS = (questions, explain, compare, sweep, calibrate, dp_sgd, risk, report, certificates, completion)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status.

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
        # the interpreter flushes again at exit, which would fail
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        print(f"logphi: {one_line(explained(error))}", file=sys.stderr)
        return REFUSED
    except (ValueError, NotImplementedError, ImportError) as error:
        print(f"logphi: {one_line(str(error))}", file=sys.stderr)
        return REFUSED
    except Exception:
        traceback.print_exc()
        return BROKEN


def _run(argv: Sequence[str]) -> int:
    try:
        arguments = parser(GROUPS).parse_args(glued(argv))
    except SystemExit:
        # only --help and --version raise it
        return MET
    code: int = arguments.run(arguments)
    return code
