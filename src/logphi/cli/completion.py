"""``completion``: the completions that a shell offers when Tab is pressed, taken from the parser.

The shell's script only passes its words on to ``logphi completion SHELL words WORD...``, which prints the completions of the
last word, one on each line: it need not change when the commands do.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from logphi.cli.exits import MET
from logphi.cli.parser import Commands, Parser

EXAMPLES = "logphi completion bash > ~/.local/share/bash-completion/completions/logphi"

_ABOUT = "print a script with which your shell completes commands, options, their values, and names in expressions"

# where there are no completions, the shell offers file names, as it does without this script
_SCRIPTS = {
    "bash": """\
# logphi completion bash > ~/.local/share/bash-completion/completions/logphi
_logphi() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done < <(logphi completion bash words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    # an expression goes on after a name
    [[ ${COMP_WORDS[COMP_CWORD]} == [\\"\\']* ]] && compopt -o nospace 2>/dev/null
    return 0
}
complete -o default -F _logphi logphi
""",
    "zsh": """\
#compdef logphi
# logphi completion zsh > _logphi, in a directory of $fpath, before compinit
_logphi() {
    local -a found
    found=("${(@f)$(logphi completion zsh words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n $found ]]; then
        _describe -V logphi found
    else
        _files
    fi
}
if [[ $funcstack[1] == _logphi ]]; then _logphi "$@"; else compdef _logphi logphi; fi
""",
    "fish": """\
# logphi completion fish > ~/.config/fish/completions/logphi.fish
function __logphi_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (logphi completion fish words $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        string join \\n -- $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c logphi -f -a '(__logphi_complete)'
""",
}


class _Offer(NamedTuple):
    """A completion, and its description if there is one."""

    word: str
    about: str = ""


def add(commands: Commands) -> None:
    """Add the command."""
    command = commands.add("completion", _ABOUT, run)
    command.add_argument("shell", choices=list(_SCRIPTS), help="your shell")
    command.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    """Print the script, or the completions of the last word."""
    if not arguments.words:
        sys.stdout.write(_SCRIPTS[arguments.shell])
        return MET
    # the first word only separates them from the shell, as argparse has its own use for --
    *before, current = arguments.words[1:] or [""]
    # an expression may begin with a quote that is not closed yet
    typed = current.lstrip("\"'")
    for offer in _offers(arguments.parser, before, typed):
        if offer.word.startswith(typed):
            print(_written(arguments.shell, offer))
    return MET


def _written(shell: str, offer: _Offer) -> str:
    # bash shows no descriptions
    about = " ".join(offer.about.split())
    if shell == "bash" or not about:
        return offer.word
    return f"{offer.word}:{about}" if shell == "zsh" else f"{offer.word}\t{about}"


def _offers(whole: Parser, before: list[str], current: str) -> Iterable[_Offer]:
    """The completions of the word after those in ``before``."""
    (commands,) = (action for action in whole._actions if isinstance(action, argparse._SubParsersAction))
    if not before:
        about = {choice.dest: choice.help or "" for choice in commands._choices_actions}
        return [*(_Offer(name, about[name]) for name in commands.choices), *_options(whole, [])]
    name, *given = before
    if name not in commands.choices:
        return []
    command: argparse.ArgumentParser = commands.choices[name]
    options = {flag: action for action in command._actions for flag in action.option_strings}
    waiting = options.get(given[-1]) if given else None
    if waiting is not None and waiting.nargs != 0:
        return _values(waiting, current)
    if current.startswith("-"):
        return _options(command, given)
    valued = {flag for flag, action in options.items() if action.nargs != 0}
    places = [action for action in command._actions if not action.option_strings]
    filled = sum(word not in options and last not in valued for last, word in zip(["", *given], given, strict=False))
    return _values(places[filled], current) if filled < len(places) else _options(command, given)


def _options(command: argparse.ArgumentParser, given: list[str]) -> Iterator[_Offer]:
    """The long names of options that are not given yet, or may be repeated."""
    for action in command._actions:
        again = isinstance(action, argparse._AppendAction)
        if action.option_strings and (again or not set(action.option_strings).intersection(given)):
            yield _Offer(action.option_strings[-1], action.help or "")


def _values(action: argparse.Action, current: str) -> Iterable[_Offer]:
    """The values of an argument, if they can be listed."""
    if action.choices is not None:
        return [_Offer(str(value)) for value in action.choices]
    listed = _LISTED.get(action.dest)
    return map(_Offer, listed(current)) if listed else []


def _names(current: str) -> list[str]:
    """An expression, with its last name completed to each known name."""
    from logphi.expression import TRANSFORMS
    from logphi.mechanisms.catalogue import CATALOGUE

    begun = re.search(r"(?<!\w)[A-Za-z_]\w*$|$", current)
    assert begun is not None
    before = current[: begun.start()]
    return [before + name for name in (TRANSFORMS if before.endswith(".") else CATALOGUE)]


def _methods(_: str) -> list[str]:
    from logphi.engine.routes.registry import ROUTES
    from logphi.inputs.route_names import CERTIFIED

    return [*ROUTES, CERTIFIED]


def _samplers(_: str) -> list[str]:
    from logphi.loaders import SAMPLERS

    return list(SAMPLERS)


def _adjacencies(_: str) -> list[str]:
    from logphi.inputs.adjacency import Adjacency

    return [one.value for one in Adjacency]


# arguments whose values the library lists, not the parser
_LISTED: dict[str, Callable[[str], list[str]]] = {
    "expression": _names,
    "method": _methods,
    "sampler": _samplers,
    "adjacency": _adjacencies,
}
