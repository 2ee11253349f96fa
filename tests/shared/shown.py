"""What an example prints, compared with what a page shows of it: the text to the letter, the numbers as far as machines agree.

A page shows all the digits that were printed. The last of them depend on the processor and on the libraries of the machine, and
so does the size of an error; no reader should find ``...`` in their place.
"""

import doctest
import re

# machines agree to more digits than these; a number that is shown with fewer is compared in those
AGREED = 1e-9
# more digits than a double has are proved, and the same everywhere
PROVED = 1e-15
# the size of an error is a sum of roundings, a time a guess: they stay within this factor
SAME_SIZE = 10.0

_NUMBER = r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
# where an explanation measures an error, or promises one and a time
_ERROR = r"(?:width|aliasing|truncation|inner|rounding|discretization)[ ]{2,}|kept its promise, with |relative width of |about "
_PARTS = re.compile(rf"(?:(?P<error>{_ERROR})|(?<![\w.]))(?P<number>{_NUMBER})(?!\w)|(?P<gap>\.\.\.)|(?P<space>\s+)")


class Shown(doctest.OutputChecker):
    """``...`` stands for any text and white space for any other, as with ELLIPSIS and NORMALIZE_WHITESPACE.

    >>> 2 / 3  # a last digit of another machine
    0.6666666666666671
    """

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Whether an example printed what is shown."""
        return super().check_output(want, got, optionflags) or same(want, got)


def same(shown: str, printed: str) -> bool:
    """Whether a text is the one that is shown, but for digits that differ from machine to machine."""
    pattern, parts, end = "", [], 0
    for part in _PARTS.finditer(shown.strip()):
        pattern += re.escape(part.string[end : part.start()])
        if part["number"]:
            parts.append((part["number"], bool(part["error"])))
            pattern += rf"{re.escape(part['error'] or '')}({_NUMBER})(?!\w)"
        else:
            pattern += ".*?" if part["gap"] else r"\s+"
        end = part.end()
    pattern += re.escape(shown.strip()[end:])
    found = re.fullmatch(pattern, printed.strip(), re.DOTALL)
    return found is not None and all(
        _same_size(one, other) if is_error else _close(one, other)
        for (one, is_error), other in zip(parts, found.groups(), strict=True)
    )


def _close(shown: str, printed: str) -> bool:
    """Within a unit of the last decimal that is shown, or to the digits in which machines agree."""
    mantissa, _, exponent = shown.partition("e")
    decimals = len(mantissa.partition(".")[2])
    unit = 10.0 ** (int(exponent or 0) - decimals) if decimals else 0.0
    agreed = PROVED if len(mantissa.strip("+-").replace(".", "").lstrip("0")) > 17 else AGREED
    return abs(float(shown) - float(printed)) <= max(unit, agreed * abs(float(shown)))


def _same_size(shown: str, printed: str) -> bool:
    one, other = float(shown), float(printed)
    return one / SAME_SIZE <= other <= one * SAME_SIZE
