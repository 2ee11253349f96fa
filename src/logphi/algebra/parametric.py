"""Releases with SymPy symbols among their parameters: they have a log-phi, and other answers once all symbols are numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from logphi.text.written import Named

# chosen: trial values of parameters are multiples of one over this number, within (0, 1)
_TRIALS = 1009
# chosen: factors of the trial values, in case a mechanism refuses the values themselves
_SCALES = (Fraction(1), Fraction(1, 10), Fraction(10))


def symbolic(value: Any) -> bool:
    """Whether a value is a SymPy expression with symbols, a release that has some, or a list that holds one."""
    # every mechanism asks this when it is made, so that no set of symbols is built
    return any(map(symbolic, value)) if isinstance(value, (list, tuple)) else bool(getattr(value, "free_symbols", ()))


def _symbols(value: Any) -> frozenset[Any]:
    if isinstance(value, (list, tuple)):
        return frozenset().union(*map(_symbols, value))
    return frozenset(getattr(value, "free_symbols", ()))


def _given(value: Any, number: Callable[[Any], Any]) -> Any:
    """A value with numbers in the place of its symbols."""
    if isinstance(value, tuple):
        return tuple(_given(one, number) for one in value)
    if not symbolic(value):
        return value
    return value.made(number) if isinstance(value, Parametric) else number(value)


def _plain(expression: Any) -> Any:
    """A number of SymPy as one of Python; what has symbols stays."""
    if symbolic(expression):
        return expression
    if expression.is_Rational:
        return int(expression.p) if expression.is_Integer else Fraction(int(expression.p), int(expression.q))
    return float(expression)


@dataclass(frozen=True)
class Call:
    """A function that makes a release, and its arguments, some of which are symbolic."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...] = ()

    def made(self, number: Callable[[Any], Any]) -> Any:
        """What the function makes where ``number`` gives a value to each symbolic argument."""
        arguments = [_given(one, number) for one in self.arguments]
        return self.function(*arguments, **{name: _given(one, number) for name, one in self.keywords})

    @staticmethod
    def of(function: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Call:
        """A call with lists as tuples, so that equal calls are equal values."""
        given = [tuple(one) if isinstance(one, list) else one for one in (*arguments, *keywords.values())]
        return Call(function, tuple(given[: len(arguments)]), tuple(zip(keywords, given[len(arguments) :], strict=True)))

    @property
    def free_symbols(self) -> frozenset[Any]:
        """Those of all arguments."""
        return _symbols((*self.arguments, *dict(self.keywords).values()))

    def formula(self, alpha: Any, direction: Any) -> Any:
        """The log-phi, by two trials with different numbers: where both have the same formula, it is free of the numbers."""
        failure: Exception | None = None
        for scale in _SCALES:
            try:
                one, other = (self.made(self._trial(scale, step)).log_phi(alpha, direction=direction) for step in (0, 1))
            except (ValueError, TypeError) as error:
                failure = failure or error
                continue
            if one == other:
                return one
            raise ValueError(f"no formula of {self!r} is known for symbols: it computes with the numbers of its parameters")
        raise ValueError(f"no formula of {self!r} is known for symbols: {str(failure).partition(', got')[0]}")

    def _trial(self, scale: Fraction, step: int) -> Callable[[Any], Named]:
        import sympy

        numbers = {
            symbol: sympy.Rational(scale * Fraction((400 + 37 * k) % _TRIALS + step, _TRIALS))
            for k, symbol in enumerate(sorted(self.free_symbols, key=str))
        }
        return lambda expression: Named(expression, Fraction(_plain(expression.subs(numbers))))

    def __repr__(self) -> str:
        given = [*map(repr, self.arguments), *(f"{name}={one!r}" for name, one in self.keywords)]
        if isinstance(self.function, type):
            return f"{self.function.__name__}({', '.join(given)})"
        # of a method the first argument is the release
        first, *rest = given
        name = self.function.__name__
        return first if self.function is _itself else f"({first}).{name}({', '.join(rest)})"


@dataclass(frozen=True, repr=False)
class Parametric:
    """A release with symbols among its parameters or counts; mechanisms that are given SymPy symbols make one.

    It composes and is sampled as other releases are, and answers :meth:`log_phi`. :meth:`subs` puts numbers in the place of
    symbols; where no symbol is left, it gives a mechanism, which answers all questions.

    Examples
    --------
    >>> import sympy
    >>> from logphi.mechanisms.gaussian import Gaussian
    >>> n, sigma = sympy.symbols("n sigma", positive=True)
    >>> release = n * Gaussian(sigma=sigma)
    >>> release.log_phi()
    I*alpha*n*(I*alpha + 1)/(2*sigma**2)
    >>> release.subs({n: 10, sigma: 1.5})
    10 * Gaussian(sigma=1.5)
    """

    terms: tuple[tuple[Call, Any], ...]

    @staticmethod
    def of(function: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Parametric:
        """What a function makes of arguments that are symbols."""
        return Parametric(((Call.of(function, arguments, keywords), 1),))

    @property
    def free_symbols(self) -> frozenset[Any]:
        """The symbols that have no number yet."""
        return frozenset().union(*(_symbols((call, count)) for call, count in self.terms))

    def log_phi(self, alpha: Any = None, *, direction: Any = "remove") -> Any:
        """The log-characteristic function K(i alpha) as an expression; see :func:`logphi.questions.characteristic.log_phi`.

        Parameters
        ----------
        alpha
            A symbol or an expression, a name as text, or nothing for a real symbol ``alpha``.
        direction
            ``"remove"`` or ``"add"``.

        Raises
        ------
        ValueError
            If alpha is a number or the name of a parameter, or no formula is known for symbols.
        """
        name = "alpha" if alpha is None else alpha
        if isinstance(name, str):
            if any(symbol.name == name for symbol in self.free_symbols):
                raise ValueError(f"{name} is a parameter of {self!r}: name the argument of phi otherwise, m.log_phi('t')")
        elif not symbolic(alpha):
            raise ValueError(self._unknown("log_phi"))
        return sum(count * call.formula(alpha, direction) for call, count in self.terms)

    def subs(self, values: Mapping[Any, Any] | None = None, **named: Any) -> Any:
        """The same release with numbers, or other expressions, in the place of symbols.

        Parameters
        ----------
        values
            ``{symbol: number}``.
        **named
            The same by the names of symbols: ``m.subs(sigma=1.1)``.

        Returns
        -------
        Mechanism or Parametric
            A mechanism if no symbol is left.

        Raises
        ------
        ValueError, TypeError
            If there is no such symbol, or the numbers are not parameters of the release.
        """
        by_name = {symbol.name: symbol for symbol in self.free_symbols}
        given = {by_name.get(getattr(key, "name", key)): value for key, value in {**(values or {}), **named}.items()}
        if None in given:
            raise ValueError(f"{self!r} has the symbols {', '.join(sorted(by_name))}, got {[*(values or {}), *named]!r}")

        def number(expression: Any) -> Any:
            # a number is taken as it was given
            return given[expression] if expression in given else _plain(expression.subs(given))

        return self.made(number)

    def made(self, number: Callable[[Any], Any]) -> Any:
        """What it is where ``number`` gives a value to each symbolic argument."""
        first, *others = (_given(count, number) * call.made(number) for call, count in self.terms)
        return sum(others, first)

    def poisson(self, rate: Any, **options: Any) -> Parametric:
        """The release on a Poisson sample; see :meth:`logphi.Mechanism.poisson`."""
        return Parametric.of(poisson, (self, rate), options)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, int) and other == 0:
            return self
        if isinstance(other, Parametric):
            return Parametric(_collected((*self.terms, *other.terms)))
        if not hasattr(type(other), "counted"):
            return NotImplemented
        return Parametric(_collected((*self.terms, *((Call(_itself, (one,)), count) for one, count in other.counted()))))

    __radd__ = __add__

    def __mul__(self, count: Any) -> Any:
        if not (symbolic(count) or (isinstance(count, int) and count >= 0)):
            raise ValueError(f"the number of repetitions must be an integer, zero or more, or a symbol, got {count!r}")
        return Parametric(tuple((call, own * count) for call, own in self.terms))

    __rmul__ = __mul__

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(self._unknown(name) if name[0] != "_" else name)

    def _unknown(self, question: str) -> str:
        names = sorted(str(symbol) for symbol in self.free_symbols)
        each = ", ".join(f"{name}: ..." for name in names)
        advice = "is a symbol: give it a number" if len(names) == 1 else "are symbols: give them numbers"
        return f"{', '.join(names)} {advice} with m.subs({{{each}}}), then ask for {question}"

    def __repr__(self) -> str:
        return " + ".join(repr(call) if count == 1 else f"{count} * {call!r}" for call, count in self.terms)

    def _repr_latex_(self) -> str:
        import sympy

        name = next(one for one in ("alpha", "t", "u") if one not in {symbol.name for symbol in self.free_symbols})
        return rf"$\displaystyle \log\varphi({sympy.latex(sympy.Symbol(name))}) = {sympy.latex(self.log_phi(name))}$"


def poisson(release: Any, rate: Any, **options: Any) -> Any:
    """A release on a Poisson sample, for symbolic rates.

    Raises
    ------
    ValueError
        If one pair for both directions is asked for, or cyclic samples.
    """
    if options.get("one_pair"):
        raise ValueError("one pair for both directions has no one formula for all numbers: leave one_pair out")
    if options.get("cyclic"):
        raise ValueError("cyclic samples have the same formula as others: leave cyclic out")
    return release.poisson(rate, **options)


def _itself(release: Any) -> Any:
    return release


def _collected(terms: tuple[tuple[Call, Any], ...]) -> tuple[tuple[Call, Any], ...]:
    counts: dict[Call, Any] = {}
    for call, count in terms:
        counts[call] = counts.get(call, 0) + count
    return tuple(counts.items())
