"""Every reference value of a profile: its certificate holds it, the bound in doubles holds that, and the checker agrees."""

import hashlib
import json
import random
from decimal import Decimal
from fractions import Fraction

import pytest

from cases import HULLS, asking
from logphi.expression import parse
from logphi.text.written import Written

pytest.importorskip("flint")

from logphi.checker import verify

# compositions of sampled Laplace mechanisms: their transform neither has a closed form nor falls, and cells prove few digits
FEW = {"100*Laplace(scale=1).poisson(0.05)", "20*Laplace(scale=2).poisson(0.2)"}
CASES = asking("delta", "epsilon")
SCOPE = [case for case in CASES if case.expression not in FEW]
# some seconds each
SLOW = {"p007", "p014", "p026"}


def named(case):
    return f"{case.id}-{case.query}"


def marked(case):
    return pytest.param(case, id=named(case), marks=[pytest.mark.slow] if case.id in SLOW else [])


def certified(case, digits=15):
    given = {"delta": "epsilon", "epsilon": "delta"}[case.query]
    return parse(case.expression).certify(**{given: Fraction(case.at)}, digits=digits, direction=case.direction)


def test_all_but_two_have_all_digits():
    assert len(SCOPE) == len(CASES) - 2 >= 80


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in CASES if case.expression in FEW], ids=named)
def test_two_have_some_digits(case):
    certificate = certified(case)
    assert certificate.lower < Decimal(case.value) < certificate.upper
    assert 3 <= certificate.digits < 15
    assert verify(certificate)


@pytest.mark.few(4)
@pytest.mark.parametrize("case", [marked(case) for case in SCOPE])
def test_certificates(case):
    certificate = certified(case)
    assert certificate.lower < Decimal(case.value) < certificate.upper
    assert Fraction(certificate.upper) - Fraction(certificate.lower) <= Fraction(certificate.upper) / 10**15
    assert certificate.parameters == "as written"
    if case.attained is not None:
        assert certificate.attained == case.attained
    verdict = verify(certificate.to_json())
    assert verdict.status == 0, verdict.reason


@pytest.mark.few(3)
@pytest.mark.parametrize("case", [marked(case) for case in SCOPE if case.id not in HULLS])
def test_the_bound_in_doubles_holds_the_certified_one(case):
    question = getattr(parse(case.expression), case.query)
    sharp = question(Written(Fraction(case.at)), direction=case.direction, method="certified")
    wide = question(float(case.at), direction=case.direction)
    assert wide.lower <= sharp.lower <= sharp.upper <= wide.upper
    assert sharp.width <= 1e-15 * sharp.upper
    assert Fraction(sharp.lower) <= Fraction(case.value) <= Fraction(sharp.upper)


def leaves(content, path=()):
    """Every place of a JSON value that holds no container."""
    if isinstance(content, dict):
        for key in sorted(content):
            yield from leaves(content[key], (*path, key))
    elif isinstance(content, list):
        for place, one in enumerate(content):
            yield from leaves(one, (*path, place))
    else:
        yield path, content


def tampered(value, generator):
    """Something else of the same kind, near or far."""
    if isinstance(value, int):
        return max(1, value + generator.choice([-1, 1, 7, 1000]))
    if value is None:
        return generator.choice(["remove", "add"])
    try:
        number = Fraction(value)
    except ValueError:
        others = [
            one for one in ("remove", "add", "both", "replace", "epsilon", "delta", "Gaussian", "lattice") if one != value
        ]
        return generator.choice(others)
    factor = 1 + Fraction(generator.choice([-1, 1]), 10 ** generator.choice([1, 3, 6]))
    moved = number * factor if number else Fraction(1, 10**6)
    return str(moved) if "/" in value or moved.denominator > 10**40 else str(Decimal(moved.numerator) / moved.denominator)


def resealed(content):
    """With the digest of what it holds now."""
    rest = {key: value for key, value in content.items() if key != "sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return json.dumps({**rest, "sha256": hashlib.sha256(text.encode()).hexdigest()})


EXPRESSIONS = [
    ("14062 * Gaussian(sigma=1.1).poisson(256/60000)", {"delta": Fraction(1, 10**5)}),
    ("1500 * Gaussian(sigma=2).poisson(0.01)", {"epsilon": Fraction(1)}),
    ("20 * Laplace(scale=5) + 3 * RandomizedResponse(p=0.6)", {"delta": Fraction(1, 10**6)}),
    ("100 * DiscreteGaussian(sigma=5, sensitivity=2)", {"epsilon": Fraction(28)}),
    ("Gaussian(sigma=1).poisson(0.01)", {"epsilon": Fraction(1, 2)}),
    ("30 * KaryRandomizedResponse(k=10, p=0.9, adjacency='replace_special')", {"epsilon": Fraction(2)}),
    ("9 * KaryRandomizedResponse(k=3, p=0.5, adjacency='replace_special').poisson(0.25)", {"epsilon": Fraction(1)}),
]


@pytest.mark.few(2)
@pytest.mark.parametrize("times", [8, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("expression", "question"), EXPRESSIONS)
def test_altered_certificates_are_rejected(expression, question, times):
    """Any field; and any of the claim and the mechanism even with a new digest, but for a claim that is wider."""
    content = json.loads(parse(expression).certify(**question).to_json())
    places = list(leaves(content))
    generator = random.Random(f"{times} {expression}")
    accepted = []
    for _ in range(times):
        path, value = generator.choice(places)
        altered = json.loads(json.dumps(content))
        parent = altered
        for key in path[:-1]:
            parent = parent[key]
        parent[path[-1]] = tampered(value, generator)
        if parent[path[-1]] == value:
            continue
        assert verify(json.dumps(altered)).status != 0, (path, value, parent[path[-1]])
        (before,), (after,) = content["claims"], altered["claims"]
        wider = {**before, "lower": after["lower"], "upper": after["upper"]} == after and all(
            sign * Fraction(after[end]) >= sign * Fraction(before[end]) for end, sign in (("lower", -1), ("upper", 1))
        )
        # a true claim may follow by other numbers of its proof, too
        proved = path[0] == "releases" or (path[0] == "claims" and not wider and "proof" not in path)
        # one direction of two may be the larger one
        if proved and path[-1] != "direction" and verify(resealed(altered)).status == 0:
            accepted.append((path, value, parent[path[-1]]))
    assert not accepted


@pytest.mark.parametrize(
    ("expression", "question"),
    [
        ("ExponentialMechanism(epsilon=0.1)", {"epsilon": Fraction(9, 2)}),
        ("5*DiscreteLaplace(scale=5.5, sensitivity=2)", {"epsilon": Fraction(27, 5)}),
        ("ApproximateDP(epsilon=1, delta=0.001)", {"epsilon": Fraction(2)}),
        ("3*PureDP(epsilon=1)", {"delta": Fraction(1, 10**25)}),
        ("5*RandomizedResponse(p=0.65).poisson(0.48)", {"delta": Fraction(1, 10**12)}),
    ],
)
def test_at_and_beyond_the_largest_loss(expression, question):
    assert verify(parse(expression).certify(**question).to_json()).status == 0
