"""What a type checker makes of the pages that a user reads first, and of slips."""

import doctest
import os
import re
import subprocess
import sys
from typing import get_args

import pytest

from logphi.answers.status import Direction
from logphi.engine.routes.registry import ROUTES
from logphi.inputs.adjacency import Adjacency, AdjacencyLike
from logphi.inputs.route_names import MethodName, RouteName
from repository import ROOT

PAGES = {"readme": ROOT / "README.md", "tutorial": ROOT / "docs" / "tutorial.md"}
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)

ACCEPTED = """
from decimal import Decimal
from fractions import Fraction
from typing import Any
import numpy as np
from typing_extensions import assert_type
import logphi as lp
from logphi.certified.certificate import Certificate
from logphi.certified.claims import CertifiedClaims

m = lp.Gaussian(1.1, sensitivity=2, adjacency="replace")
one: lp.Bound = m.epsilon(1e-5)
many: lp.Bounds = m.epsilon([1e-5, 1e-6], direction="add")
array: lp.Bounds = m.delta(np.linspace(0, 1, 5), method="exact")
table: lp.Bounds = m.delta([[0, 1], [2, 3]])
exact: lp.Bound = m.delta(Fraction(1, 3), direction=lp.Direction.ADD)
written: lp.Bound = m.delta(Decimal("0.1"), method="certified")
again: lp.Bound = m.delta(one)
real: lp.Bound = m.renyi(2)
box: lp.ComplexBound = m.renyi(2 + 1j, direction="remove")
errors: lp.Bounds = m.tradeoff(many)
relation: lp.Adjacency = m.adjacency
both: lp.Mechanism = 3 * m + m.subset(0.1, adjacency="replace")
text: str = f"{one:.3f}" + one.status.name
rates: lp.Bounds = m.risk.tpr([0.01, 0.1])
above: lp.Bound = m.loss.sf(1)
mu: lp.Bound = m.risk.gaussian_mu()
spent: lp.Bound = lp.Accountant("add_remove").epsilon(1e-5)
end: Decimal = m.certify(delta=1e-5).upper
assert_type(lp.ZCDP(0.1).certify(delta=1e-6), Certificate | Any)
assert_type(m.certify(delta=[1e-5, 1e-6]), Certificate | CertifiedClaims)
all_of_it: CertifiedClaims = lp.report(m, delta=1e-5).certify()
"""

# numbers of every kind that constructors, samples, counts, runs and targets take
KINDS = """
from decimal import Decimal
from fractions import Fraction
import numpy as np
import sympy
import logphi as lp

class Expression:
    # as SymPy's are to a type checker that knows them
    @property
    def free_symbols(self) -> set[str]:
        return {"x"}

s = sympy.Symbol("s", positive=True)
column = np.array([0.5, 0.5])
lp.Gaussian(Fraction(4, 3))
lp.Gaussian(Decimal("1.1"), sensitivity=Fraction(1, 2))
lp.Gaussian(np.float64(1.1), sensitivity=np.int64(2))
lp.Gaussian(np.float32(1.5))
lp.Gaussian(s)
lp.Gaussian(Expression())
lp.Laplace(Fraction(1, 3), adjacency=lp.Adjacency.ADD)
lp.PureDP(Fraction(1, 10))
lp.ApproximateDP(Decimal("0.5"), delta=np.float64(1e-5))
lp.ExponentialMechanism(epsilon=Decimal(1))
lp.DistanceToInstability(Fraction(1, 2), Decimal("1e-6"))
lp.RandomizedResponse(p=Fraction(3, 4))
lp.KaryRandomizedResponse(k=np.int64(4), p=Fraction(1, 2))
lp.DiscreteGaussian(sigma=Fraction(3, 2), sensitivity=2.0, truncation=np.int64(40))
lp.DiscreteLaplace(scale=Decimal(2))
lp.TruncatedLaplace(scale=2, truncation=Fraction(100))
lp.TruncatedGaussian(Fraction(2), 20)
lp.GaussianPair(0, Fraction(1), Decimal(1), np.float64(2))
lp.GaussianMixture(1, [1, Fraction(2)], [Decimal("0.9"), Decimal("0.1")])
lp.GaussianMixturePair(1, range(2), column, (Fraction(1, 3), Fraction(2, 3)))
lp.Discrete(p=column, q=[Fraction(1, 4), Fraction(3, 4)])
lp.FromProfile(epsilons=[1], deltas=[Decimal("1e-5")])
lp.FromTradeoff(type_one_errors=(0, 1), type_two_errors=np.array([1, 0]))
held: float = lp.Gaussian(Fraction(4, 3)).sigma
listed: tuple[float, ...] = lp.Discrete([0.5, 0.5], column).p
whole: int = lp.KaryRandomizedResponse(k=4.0, p=0.5).k
m = lp.Gaussian(1).poisson(Fraction(1, 100))
lp.Gaussian(1).poisson(0.1, group_size=np.int64(2))
n: lp.Mechanism = m.poisson(np.float64(0.1)) + m.poisson(s) + m.group(2.0)
subset: lp.Mechanism = lp.Gaussian(1, adjacency="replace").subset(Decimal("0.01"), adjacency="replace")
counted: lp.Mechanism = 100.0 * m + np.int64(3) * m + np.float64(3) * m + Decimal(2) * m + m * Fraction(2) + s * m
asked: lp.Bound = m.epsilon(Decimal("1e-5"))
told: lp.Bound = m.delta(Fraction(1, 2))
lp.dp_sgd(dataset_size=6e4, batch_size=np.int64(256), noise_multiplier=Fraction(11, 10), epochs=Decimal(3))
lp.dp_sgd(dataset_size=60000, batch_size=256, target_epsilon=Fraction(2), target_delta=Decimal("1e-5"), steps=1e3)
lp.calibrate(lp.Gaussian, epsilon=Fraction(1), delta=Decimal("1e-5"), lower=np.float64(0.1), digits=np.int64(3))
lp.calibrate(lambda sigma: lp.Gaussian(sigma), epsilon=1, delta=1e-5, rtol=Fraction(1, 1000))
lp.Accountant().step(m, count=100.0)
lp.PrivacyFilter(epsilon=Fraction(1), delta=Decimal("1e-5")).spend(lp.PureDP(0.1), np.int64(2))
composed: lp.Bound = lp.compose([lp.Gaussian(1), lp.Laplace(1)]).epsilon(1e-5)
summed: lp.Bound = sum([lp.Gaussian(1), lp.Laplace(1)], start=0 * m).epsilon(1e-5)
"""

# each line on its own is a slip
SLIPS = """
m.epsilon(1e-5, direction="up")
m.epsilon(1e-5, method="fast")
m.delta("1")
m.delta(epsilno=1)
m.epsilno(1e-5)
m.log_delta(1, method="certifed")
m.tradeoff("0.05")
m.renyi("2")
m.zcdp(direction="down")
m.explain(method="quick", delta=1e-5)
m.certify(delta=1e-5, direction="up")
m.poisson(0.1, adjacency="addremove")
m.subset(0.1, adjacency="swap")
m.risk.tpr(0.1, direction="up")
m.risk.advantage(method="fast")
m.unit_pair("down")
lp.Gaussian(1, adjacency="removal")
lp.Gaussian("1")
lp.Gaussian(1, sensitivity="2")
lp.Gaussian([1, 2])
lp.Gaussian(m)
lp.Gaussian(m.epsilon(1e-5))
lp.PureDP("1")
lp.RandomizedResponse(p=None)
lp.KaryRandomizedResponse(k="4", p=0.5)
lp.Discrete(p="ab", q=[1, 0])
lp.Discrete(p=["0.5", "0.5"], q=[0.5, 0.5])
lp.Discrete(p=0.5, q=[0.5, 0.5])
m.poisson("0.1")
m.poisson(0.1, group_size="2")
m.subset("0.1", adjacency="replace")
m.subset(10, 100)
m.group("2")
"3" * m
m * "3"
lp.dp_sgd(dataset_size="9", batch_size=1, noise_multiplier=1, steps=1)
lp.dp_sgd(dataset_size=9, batch_size=1, noise_multiplier="1", steps=1)
lp.calibrate(lp.Gaussian, epsilon="1", delta=1e-5)
lp.Accountant().step(m, "2")
lp.PureDP(1, adjacency="removal")
lp.Laplace(epsilon=1)
lp.Accountant("removal")
lp.PrivacyFilter(epsilon=1, delta=0, rule="renji")
lp.dp_sgd(dataset_size=9, batch_size=1, noise_multiplier=1, steps=1, adjacency="swap")
lp.Gausian(1)
lp.CATALOGUE
m.epsilon(1e-5).uper
""".strip().splitlines()


def page_as_module(text):
    """The blocks of a page in order, sessions without what they show."""
    parser = doctest.DocTestParser()
    parts = (
        "".join(one.source for one in parser.get_examples(block)) if block.startswith(">>>") else block
        for block in BLOCK.findall(text)
    )
    return "\n".join(parts)


@pytest.fixture(scope="module")
def complaints(tmp_path_factory):
    """The lines of each module that mypy refuses, with the project's settings and its cache."""
    folder = tmp_path_factory.mktemp("typed")
    texts = {name: page_as_module(page.read_text(encoding="utf-8")) for name, page in PAGES.items()}
    texts |= {"accepted": ACCEPTED, "kinds": KINDS, "slips": "\n".join(["import logphi as lp", "m = lp.Gaussian(1)", *SLIPS])}
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--no-error-summary",
        *(f"{folder}/{name}.py" for name in texts),
    ]
    found = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "MYPYPATH": "src"}, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert not found.stderr, found.stderr
    lines = re.findall(r"^.*?(\w+)\.py:(\d+): error: (.*)$", found.stdout, re.MULTILINE)
    return {name: {int(number): text for module, number, text in lines if module == name} for name in texts} | {
        "src": [text for module, _, text in lines if module not in texts]
    }


@pytest.mark.few(3)
@pytest.mark.parametrize("name", [*PAGES, "accepted", "kinds"])
def test_what_is_right_is_accepted(complaints, name):
    assert complaints[name] == {}
    assert complaints["src"] == []


def test_numbers_of_every_kind_are_taken():
    exec(KINDS, {})


def test_pages_are_read(complaints):
    for page in PAGES.values():
        text = page.read_text(encoding="utf-8")
        assert len(BLOCK.findall(text)) == text.count("```python\n") > 0
        assert len(page_as_module(text).splitlines()) >= 8


@pytest.mark.parametrize("number", range(len(SLIPS)), ids=lambda number: SLIPS[number])
def test_a_slip_is_caught(complaints, number):
    # below two lines that are right
    assert number + 3 in complaints["slips"]


def test_the_names_are_those_that_are_understood():
    names = {name for part in get_args(MethodName) for name in get_args(part) or (part,)}
    assert set(get_args(RouteName)) == set(ROUTES)
    assert names == {*ROUTES, "certified"}
    relations = next(part for part in get_args(AdjacencyLike) if part is not Adjacency)
    assert set(get_args(relations)) == {one.value for one in Adjacency}


@pytest.mark.parametrize("one", Direction)
def test_a_direction_is_understood_by_name(one):
    from logphi.inputs.arguments import DirectionLike

    assert one.value in get_args(next(part for part in get_args(DirectionLike) if part is not Direction))
