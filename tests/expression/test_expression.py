"""The language of mechanisms: what it means, and that everything else is refused in one line, at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import logphi.algebra.release
import logphi.expression.grammar
from effort import calls
from logphi.expression import DEEPEST, LONGEST, parse, parse_numbers
from logphi.text.written import exact
from refusals import untyped


def quick(effort: int, text: str) -> bool:
    """Whether a text was read by few calls for each of its characters: 23 for the worst of those below."""
    return effort < 5_000 + 50 * len(text)


@dataclass(frozen=True)
class Fake:
    """Records what was asked of it, in the place of a mechanism."""

    sigma: Any
    scale: Any = 1.0
    adjacency: str = "add_remove"
    did: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if self.sigma == -13.03125:
            raise ValueError("sigma must not be -13.03125,\ngot -13.03125")

    def __mul__(self, count: int) -> Fake:
        assert type(count) is int
        return Fake(self.sigma, self.scale, self.adjacency, (*self.did, count))

    def poisson(self, rate: float, *, group_size: int = 1) -> Fake:
        return Fake(self.sigma, self.scale, self.adjacency, (*self.did, ("poisson", rate, group_size)))


FAKES: dict[str, Callable[..., Any]] = {"Fake": Fake, "Laplace": Fake}


@pytest.fixture(autouse=True, scope="module")
def composed_as_a_tuple() -> Iterator[None]:
    """Fakes compose to the tuple of their terms; tests of the real library keep the real composition."""

    def compose(mechanisms: Iterable[Any]) -> Any:
        terms = list(mechanisms)
        return ("sum", *terms) if isinstance(terms[0], (Fake, tuple)) else logphi.algebra.release.compose(terms)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logphi.expression.grammar, "compose", compose)
        yield


def fake(text: str, **variables: float) -> Any:
    return parse(text, FAKES, variables)


def refusal(text: str, **variables: float) -> str:
    def refused() -> None:
        with pytest.raises(ValueError, match=r"\S") as caught:
            fake(text, **variables)
        messages.append(str(caught.value))

    messages: list[str] = []
    assert quick(calls(refused), text)
    (message,) = messages
    assert message.isascii()
    assert message.isprintable(), "one line"
    assert len(message) < 400
    return message


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("Fake(2)", Fake(2)),
        ("  ( Fake ( sigma = 2 , ) ) \n", Fake(2)),
        ("Fake(2, scale=3, adjacency='replace')", Fake(2, 3, "replace")),
        ('Fake(2, adjacency="replace")', Fake(2, adjacency="replace")),
        ("3 * lp.Fake(1).poisson(1) + logphi.Fake(2)", ("sum", Fake(1, did=(("poisson", 1, 1), 3)), Fake(2))),
        ("3 * Fake(1)", Fake(1, did=(3,))),
        ("Fake(1) * 3", Fake(1, did=(3,))),
        ("60*234 * Fake(1)", Fake(1, did=(14040,))),
        ("2 * Fake(1) * 3", Fake(1, did=(2, 3))),
        ("1e12 * Fake(1)", Fake(1, did=(10**12,))),
        ("0 * Fake(1)", Fake(1, did=(0,))),
        ("10**20 * Fake(1)", Fake(1, did=(10**20,))),
        ("2.0**53 * Fake(1)", Fake(1, did=(2**53,))),
        ("Fake(1).poisson(1/4)", Fake(1, did=(("poisson", 0.25, 1),))),
        ("3*Fake(1).poisson(rate=.5, group_size=2)", Fake(1, did=(("poisson", 0.5, 2), 3))),
        ("Fake([1, -2, 3.5,])", Fake([1, -2, 3.5])),
        ("Fake([])", Fake([])),
        ("Fake((1, 2))", Fake([1, 2])),
        ("Fake((1,))", Fake([1])),
        ("Fake((1))", Fake(1)),
        ("Fake(1) + Fake(2)", ("sum", Fake(1), Fake(2))),
        ("Fake(1) + 2*Fake(2) + Fake(3)", ("sum", Fake(1), Fake(2, did=(2,)), Fake(3))),
        ("Fake(1) + (Fake(2) + Fake(3))", ("sum", Fake(1), ("sum", Fake(2), Fake(3)))),
    ],
)
def test_meaning(text: str, meaning: Any) -> None:
    assert fake(text) == meaning


@pytest.mark.parametrize(
    "text",
    [
        "1", "-1", "--1", "+-+1", "1_000", "1.5", ".5", "5.", "1e-5", "1E+5", "1_0.0_1", "0", "0.0", "00.5",
        "1+2*3", "(1+2)*3", "7-2-1", "8/4/2", "2**3**2", "-2**2", "(-2)**2", "2**-1", "2*-3", "2**-2**2",
        "256/60000", "1/3", "10**-5", "10**22", "0**0", "(-1)**3", "2.5**2", "2**0.5", "10**300", "1e308",
        "(-1)**10**300", "1**10**300", "0.1+0.25", "2**60+1.5",
    ],
)  # fmt: skip
def test_numbers_mean_what_they_mean_in_python(text: str) -> None:
    expected = eval(text)
    assert fake(f"Fake({text})").sigma == expected
    assert parse_numbers(text) == [float(expected)]


@pytest.mark.parametrize("text", ["256/60000", "10**-300", "10**-23", "3**-40", "60*234/7", "(10**40+1)/10**40"])
def test_quotients_of_whole_numbers_are_rounded_once(text: str) -> None:
    numerator, _, denominator = text.rpartition("/")
    if "**-" in text:
        base, _, power = text.partition("**-")
        numerator, denominator = "1", f"{base}**{power}"
    assert parse_numbers(text) == [float(Fraction(eval(numerator), eval(denominator)))]


def test_variables() -> None:
    assert fake("n*Fake(x/2)", x=3.0, n=4) == Fake(1.5, did=(4,))
    assert "did you mean sigma" in refusal("Fake(sigm)", sigma=1.0)
    for bad in (float("nan"), float("inf"), True, "1"):
        with pytest.raises((TypeError, ValueError), match="x must be a real number"):
            untyped(fake)("Fake(x)", x=bad)


@pytest.mark.slow
def test_ten_thousand_distinct_steps() -> None:
    text = " + ".join(f"{n % 7 + 1} * Fake(sigma={1 + n / 7})" for n in range(10_000))
    read: list[Any] = []
    assert quick(calls(lambda: read.extend(fake(text))), text)
    _, *terms = read
    assert terms == [Fake(1 + n / 7, did=(n % 7 + 1,)) for n in range(10_000)]


def test_brackets_up_to_the_limit() -> None:
    deep = DEEPEST - 2
    assert fake("(" * deep + "Fake(1)" + ")" * deep) == Fake(1)
    assert "nested deeper" in refusal("(" * 10_000 + "Fake(1)" + ")" * 10_000)
    assert len(fake("Fake(1)" + ".poisson(1)" * DEEPEST).did) == DEEPEST
    assert "in a row" in refusal("Fake(1)" + ".poisson(1)" * 10_000)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "end of the text: expected a number"),
        ("   \n", "end of the text"),
        ("3", "the number 3, not a mechanism"),
        ("[1]", "a list, not a mechanism"),
        ("Fake(1", "expected ')'"),
        ("Fake(1))", "')' at character 8: expected an operator"),
        ("Fake(1) Fake(2)", "character 9: expected an operator"),
        ("Fake(1)(2)", "expected an operator"),
        ("Fake(1) +", "end of the text"),
        ("Fake", "needs its parameters: Fake(sigma, scale=1.0, adjacency='add_remove'"),
        ("Fakke(1)", "did you mean Fake?"),
        ("LAPLACE(1)", "did you mean Laplace?"),
        ("zzz(1)", "known here: Fake, Laplace"),
        ("np.Fake(1)", "no modules here"),
        ("lp.lp.Fake(1)", "no modules here"),
        ("lp.parse(1)", "unknown name"),
        ("lp.__class__", "'__class__' at character 4: unknown name"),
        ("lp.Fake", "needs its parameters: Fake("),
        ("lp", "unknown name"),
        ("lp.", "no modules here"),
        ("lp.1", "unknown name"),
        ("lp.(Fake(1))", "no modules here"),
        ("Fake()", "missing a required argument: 'sigma'; it is written Fake(sigma, scale=1.0"),
        ("Fake(1, sgma=1)", "unexpected keyword argument 'sgma'; it is written Fake("),
        ("Fake(1, sigma=1)", "multiple values for argument 'sigma'"),
        ("Fake(True)", "unknown name"),
        ("Fake(sigma=True)", "unknown name"),
        ("Fake(1, one_pair=None)", "unknown name"),
        ("Fake(1, one_pair=True + 1)", "expected ')'"),
        ("Fake(1, one_pair=True)", "unexpected keyword argument 'one_pair'"),
        ("Fake(1).poisson()", "missing a required argument: 'rate'; it is written poisson(rate, *, group_size=1)"),
        ("Fake(-13.03125)", "'Fake' at character 1: sigma must not be -13.03125, got -13.03125"),
        ("Fake(sigma=1, sigma=2)", "'sigma' at character 15: this argument is given twice"),
        ("Fake(sigma=1, 2)", "cannot follow a keyword argument"),
        ("Fake(sigma==1)", "'=' at character 12"),
        ("Fake(*[1])", "'*' at character 6"),
        ("Fake(**[1])", "'**' at character 6"),
        ("Fake(Fake(1))", "not a mechanism"),
        ("Fake([Fake(1)])", "a number belongs here, not a mechanism"),
        ("Fake([[1]])", "a number belongs here, not a list"),
        ("Fake(([1], 2))", "a number belongs here, not a list"),
        ("Fake(())", "expected a number"),
        ("Fake(,)", "',' at character 6"),
        ("Fake([1,,2])", "',' at character 9"),
        ("Fake(1).poison(1)", "did you mean poisson or allocation?"),
        ("Fake(1).poisson", "expected '('"),
        ("Fake(1).did", "unknown transform"),
        ("Fake(1).__class__", "unknown transform"),
        ("Fake(1).__init__(2)", "unknown transform"),
        ("Fake(1).poisson.__globals__", "'.' at character 16: expected '('"),
        ("(1).poisson(2)", "only a mechanism has transforms, not the number 1"),
        ("[1].poisson(2)", "only a mechanism has transforms, not a list"),
        ("().__class__", "')' at character 2"),
        ("__import__('os')", "unknown name"),
        ("Fake.__class__", "there are no modules"),
        ("lambda: 1", "unknown name"),
        ("lambda x: x", "unknown name"),
        ("[x for x in Fake]", "unknown name"),
        ("f'{1}'", "unknown name"),
        ("(x := 1)", "unknown name"),
        ("1 if 2 else 3", "expected an operator"),
        ("1if 2else 3", "not a number"),
        ("Fake(1) if 1 else 2", "expected an operator"),
        ("not 1", "unknown name"),
        ("None", "unknown name"),
        ("True * Fake(1)", "unknown name"),
        ("inf * Fake(1)", "unknown name"),
        ("Fake(nan)", "unknown name"),
        ("Fake(...)", "'.' at character 6"),
        ("1 < Fake(1)", "not in the language"),
        ("{1: 2}", "not in the language"),
        ("Fake(1) @ Fake(2)", "not in the language"),
        ("Fake(2^3)", "not in the language"),
        ("Fake(1) # comment", "not in the language"),
        ("Fake(1);Fake(2)", "not in the language"),
        ("Fake(1)\x00", "'\\x00' at character 8: not in the language"),
        ("Fake(1)\\\n", "not in the language"),
        ("F\u0430ke(1)", "'F\\u0430ke' at character 1: unknown name; did you mean Fake?"),
        ("Fake(\uff11)", "unknown name"),
        ("Fake(1\u0660)", "expected ')'"),
        ("Fake(1)\u00a0", "expected an operator"),
        ("Fake(1)\ud800", "\\ud800"),
        ("'Fake(1)'", "a string may only be the value of adjacency="),
        ("Fake('1')", "a string may only be"),
        ("Fake(sigma='1')", "a string may only be"),
        ("Fake(1, adjacency='a' 'b')", "a string may only be"),
        ("Fake(1, adjacency='a' + 'b')", "expected ')'"),
        ("Fake(1, adjacency=('a'))", "a string may only be"),
        ("Fake(1, adjacency=b'a')", "unknown name"),
        ("Fake(1, adjacency='a", "not in the language"),
        ("1j * Fake(1)", "'1j' at character 1: not a number"),
        ("0x10 * Fake(1)", "not a number"),
        ("010 * Fake(1)", "not a number"),
        ("1__0 * Fake(1)", "not a number"),
        ("1.2.3 * Fake(1)", "not a number"),
        ("1e * Fake(1)", "not a number"),
        ("Fake(1).5", "expected an operator"),
        ("1.real", "not a number"),
        ("7 // 2 * Fake(1)", "'/' at character 4"),
        ("7 % 2 * Fake(1)", "not in the language"),
        ("Fake(1/0)", "division by zero, 1 / 0"),
        ("Fake(0.0**-1)", "division by zero"),
        ("Fake((-8)**0.5)", "not a real number"),
        ("Fake(1e400)", "too large"),
        ("Fake(1e308*10)", "too large"),
        ("Fake(-1e308-1e308)", "too large"),
        ("Fake(9.0**999)", "too large"),
        ("Fake(10**308/1e-10)", "too large"),
        ("Fake(1e-400)", "too small"),
        ("Fake(1e-200**2)", "too small"),
        ("Fake(1e-200*1e-200)", "too small"),
        ("Fake(1e-200/1e200)", "too small"),
        ("Fake(10**-400)", "too small"),
        ("Fake(10**-10**10)", "too small"),
        ("Fake(10**309)", "too large"),
        ("Fake(10**10**10)", "too large"),
        ("Fake(9**9**9**9)", "too large"),
        ("Fake((-10)**10**10)", "too large"),
        ("Fake(10**200*10**200)", "too large"),
        ("Fake(" + "9" * 310 + ")", "too large"),
        ("Fake(" + "9" * 100_000 + ")", "too large"),
        ("1.5 * Fake(1)", "an integer of times, got 1.5"),
        ("-1 * Fake(1)", "an integer of times, got -1"),
        ("1e16 * Fake(1)", "write the count as an integer"),
        ("-Fake(1)", "a number belongs here, not a mechanism"),
        ("+Fake(1)", "a number belongs here, not a mechanism"),
        ("Fake(1) * Fake(2)", "cannot join a mechanism and a mechanism"),
        ("Fake(1) - Fake(2)", "cannot join a mechanism and a mechanism"),
        ("Fake(1) + 2", "cannot join a mechanism and the number 2"),
        ("2 + Fake(1)", "cannot join the number 2 and a mechanism"),
        ("Fake(1) / 2", "cannot join a mechanism and the number 2"),
        ("Fake(1) ** 2", "cannot join a mechanism and the number 2"),
        ("2 ** Fake(1)", "cannot join the number 2 and a mechanism"),
        ("Fake([1] * 3)", "cannot join a list and the number 3"),
        ("Fake([1] + [2])", "cannot join a list and a list"),
    ],
)  # fmt: skip
def test_everything_else_is_refused_in_one_line(text: str, said: str) -> None:
    assert said in refusal(text)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "piece", ["-", "1+", "(", "[", ".", "9", "e+", "1e+", "'", "'\n", "a", "2**", " ", "Fake(", "\u0430", "1,", "\\'"]
)
def test_long_nonsense_is_refused_in_linear_time(piece: str) -> None:
    refusal(piece * (20_000 // len(piece)))


def test_the_length_has_a_limit() -> None:
    assert "more than" in refusal("1" * (LONGEST + 1))


def test_only_text_is_read() -> None:
    with pytest.raises(TypeError, match="must be a string"):
        untyped(parse)(b"Fake(1)", FAKES)


@pytest.mark.parametrize("text", ["", "1,", ",1", "1,,2", "1 2", "[1]", "x", "nan", "inf", "(1,2)", "1;2", "Gaussian(1)"])
def test_lists_of_numbers_are_refused_in_one_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"at character|end of the text") as caught:
        parse_numbers(text)
    assert str(caught.value).isprintable()


def test_lists_of_numbers() -> None:
    assert parse_numbers("1e-5, 256/60000 ,-2") == [1e-5, 256 / 60000, -2.0]
    assert all(isinstance(number, float) for number in parse_numbers("1, 2.0, 2**3"))


NAMES = ["Fake", "poisson", "sigma", "adjacency", "'replace'", "x", "__class__", "lambda"]
PIECES = st.sampled_from([*NAMES, "0", "1", "2.5", "1e300", "9" * 40, "**", *"()[],=.+-*/ \n\x00\u0430'\"#"])


@given(st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join), st.binary().map(lambda b: b.decode("latin1"))))
@example("2**2**2**2**2**2**2")
@example("1e300**1e300")
def test_any_text_is_a_mechanism_or_a_refusal(text: str) -> None:
    try:
        meaning = fake(text, x=0.5)
    except ValueError:
        refusal(text, x=0.5)
    else:
        assert isinstance(meaning, (Fake, tuple))


# Sixty-fourths keep every intermediate number far from the ends of the range of doubles.
numbers = st.integers(-99, 99).map(str) | st.integers(-9999, 9999).map(lambda number: repr(number / 64))
formulas = st.recursive(
    numbers,
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda parts: f"({''.join(parts)})"),
    max_leaves=20,
)


@given(formulas)
def test_arithmetic_is_that_of_fractions(text: str) -> None:
    try:
        expected = eval(re.sub(r"[\d.]+", r'Fraction("\g<0>")', text))
    except ZeroDivisionError:
        assert "division by zero" in refusal(f"Fake({text})")
        return
    number = fake(f"Fake({text})").sigma
    assert number == float(expected)
    assert exact(number) == expected


def test_the_real_catalogue() -> None:
    from logphi import Gaussian, Laplace, RandomizedResponse

    text = "14062 * Gaussian(sigma=1.1).poisson(256/60000) + Laplace(scale=5.0) + 10 * RandomizedResponse(p=0.52)"
    training = 14062 * Gaussian(sigma=1.1).poisson(256 / 60000)
    assert parse(text) == training + Laplace(scale=5.0) + 10 * RandomizedResponse(p=0.52)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Gaussian(sigma=-1)", "'Gaussian' at character 1: sigma must not be negative, got -1.0"),
        ("Gaussian(sgma=1)", "it is written Gaussian(sigma, sensitivity=1.0"),
        ("Gaussian([1])", "sigma must be"),
        ("Gausian(1)", "did you mean Gaussian"),
        ("Gaussian(1, adjacency='substitute')", "adjacency must be one of"),
        ("Gaussian(1).poisson(2)", "'poisson' at character 13"),
        ("Gaussian(1) + Gaussian(1, adjacency='replace')", "'+' at character 13"),
    ],
)
def test_the_real_catalogue_refuses_in_one_line(text: str, said: str) -> None:
    with pytest.raises(ValueError, match="at character") as caught:
        parse(text)
    assert said in str(caught.value)
    assert str(caught.value).isprintable()
