"""Reading a text: as a mechanism, as numbers, or for its unknown names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from logphi.algebra.release import Mechanism
from logphi.expression.grammar import Reader
from logphi.expression.tokens import described, is_mechanism, number_of
from logphi.inputs.check import real
from logphi.mechanisms.catalogue import CATALOGUE


def parse(
    text: str,
    constructors: Mapping[str, Callable[..., Mechanism]] | None = None,
    variables: Mapping[str, float] | None = None,
) -> Mechanism:
    """The mechanism that a text describes.

    Parameters
    ----------
    text
        An expression such as ``"14062 * Gaussian(sigma=1.1).poisson(256/60000)"``. Decimals and their sums, products, quotients
        and integer powers are exact, and rounded to doubles once; an integer-valued float up to 2**53 may count repetitions.
    constructors
        The functions that may be called, by name; by default the catalogue of the library.
    variables
        Names that stand for numbers; none unless given.

    Returns
    -------
    Mechanism
        Equal to any mechanism whose ``str`` is the text.

    Raises
    ------
    ValueError
        If the text is not in the language, a number leaves the range of doubles, or a constructor refuses its
        arguments; the message is one line.

    Examples
    --------
    >>> parse("1e3 * Gaussian(sigma=2)") == parse("10*100 * Gaussian(2.0)")
    True
    """
    reader = Reader(text, CATALOGUE if constructors is None else constructors, variables or {})
    value = reader.sum()
    reader.finish()
    if not is_mechanism(value):
        raise ValueError(f"the expression is {described(value)}, not a mechanism: write one, e.g. Gaussian(sigma=1)")
    return value  # type: ignore[no-any-return]


def parse_numbers(text: str) -> list[float]:
    """The numbers in a text, separated by commas, each in the grammar of :func:`parse`.

    Raises
    ------
    ValueError
        If the text is anything else; always one line.

    Examples
    --------
    >>> parse_numbers("-0.5, 2**-2")
    [-0.5, 0.25]
    >>> parse_numbers("0.1 + 0.2")[0].exact
    Fraction(3, 10)
    """
    reader = Reader(text, {}, {})
    numbers = [number_of(reader.token, reader.sum())]
    while reader.accept(","):
        numbers.append(number_of(reader.token, reader.sum()))
    reader.finish()
    return [real("a number", number) for number in numbers]


def parse_number(text: str) -> int | float:
    """The only number in a text, in the grammar of :func:`parse`; an int if it is written as one.

    Raises
    ------
    ValueError
        If the text is anything else; always one line.

    Examples
    --------
    >>> parse_number("10**3"), parse_number("1e3"), parse_number("1/4")
    (1000, 1000.0, 0.25)
    """
    reader = Reader(text, {}, {})
    number = number_of(reader.token, reader.sum())
    reader.finish()
    return number


def unknowns(text: str) -> list[str]:
    """The names in a text that must be ``variables`` of :func:`parse`, each once, in their order.

    Examples
    --------
    >>> unknowns("1000 * Gaussian(sigma=x).poisson(0.01)")
    ['x']
    """
    tokens = Reader(text, {}, {}).tokens
    return list(
        dict.fromkeys(
            token.text
            for before, token, after in zip([None, *tokens], tokens, tokens[1:], strict=False)
            if token.kind == "name"
            and after.text not in ("(", "=", ".")
            and (before is None or before.text != ".")
            and token.text not in (*CATALOGUE, "inf")
        )
    )
