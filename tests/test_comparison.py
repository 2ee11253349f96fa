"""The table of all methods: every row on its side of the exact answer, readable, and the same on the command line."""

import itertools
import json
import math
import re
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import logphi as lp
from logphi.cli import main
from logphi.comparison import APPROXIMATE, EXACT, LOWER, UPPER
from logphi.expression import parse
from refusals import untyped
from slowly import slowly
from some import some

NAMES = [
    "exact",
    "basic composition",
    "advanced composition",
    "advanced composition, sharper",
    "optimal composition",
    "zCDP, tail",
    "zCDP, best order",
    "Renyi, integer orders",
    "Renyi, mironov",
    "Renyi, canonne",
    "Renyi, asoodeh",
    "Renyi, tradeoff",
    "Markov-ADP",
    "Berry-Esseen",
    "Berry-Esseen",
    "Nagaev",
    "Nagaev",
    "central limit theorem",
    "saddle point",
]

RELEASES = [
    "100 * Gaussian(sigma=10)",
    "1000 * Gaussian(sigma=1.1).poisson(0.01)",
    "50 * Gaussian(sigma=5) + 50 * RandomizedResponse(p=0.52)",
    "10 * Laplace(scale=5)",
    "3 * ApproximateDP(epsilon=0.3, delta=1e-6) + PureDP(epsilon=0.1)",
    "5 * DiscreteGaussian(sigma=3)",
    "Discrete(p=[0.1, 0.5, 0.4, 0], q=[0, 0.3, 0.4, 0.3])",
    "20 * KaryRandomizedResponse(k=5, p=0.8)",
    "0 * Gaussian(sigma=1)",
]
# each divergence is an integral over panels
SLOW = [
    "GaussianPair(mean_p=0, sigma_p=1, mean_q=0, sigma_q=2)",
    "Gaussian(sigma=1, adjacency='add').poisson(0.2, adjacency='add')",
    "3 * Laplace(scale=2).poisson(0.1)",
    "5 * DiscreteGaussian(sigma=3) + DiscreteLaplace(scale=2)",
]


def on_their_side(table):
    for row in table.rows:
        assert (row.value is None) == bool(row.reason)
        if row.side == UPPER:
            assert row.value >= table.exact.lower, row
        if row.side == LOWER:
            assert row.value <= table.exact.upper, row


def values(table, side=UPPER):
    return {row.name: row.value for row in table.rows if row.side in (side, EXACT)}


@pytest.mark.slow
def test_advanced_composition_needs_both_orders_of_a_relation_of_one():
    # the loss is at most 1, and 1 nine times out of ten
    p, q = [0.9, 0.1], [0.9 / math.e, 1 - 0.9 / math.e]
    release = 1000 * lp.Discrete(p, q, adjacency="remove")
    unbounded = 30 * lp.Gaussian(sigma=1, adjacency="remove").poisson(0.3, adjacency="remove") + release
    for one in (release, unbounded):
        on_their_side(lp.compare(one, epsilon=700.0))
        on_their_side(lp.compare(one, delta=1e-3))


@pytest.mark.slow
@pytest.mark.parametrize("expression", [*RELEASES, *slowly(*SLOW)])
def test_every_row_is_on_its_side(expression):
    release = parse(expression)
    for table in (lp.compare(release, epsilon=0.7), lp.compare(release, delta=1e-5)):
        assert [row.name for row in table.rows] == NAMES
        assert table.rows[0].value == table.exact.value
        on_their_side(table)
        known = values(table)
        assert known["Renyi, mironov"] >= known["Renyi, canonne"] * (1 - 1e-12)
        assert known["Markov-ADP"] >= known["Renyi, canonne"] * (1 - 1e-9)
        assert known["Renyi, canonne"] >= known["Renyi, asoodeh"] >= known["Renyi, tradeoff"] * (1 - 1e-6) - 1e-8
        assert sum(row.side == APPROXIMATE for row in table.rows) == 2


POINTS: list[dict[str, Any]] = [
    *({"epsilon": epsilon} for epsilon in (-0.5, 0.0, 0.3, 6.0)),
    *({"delta": delta} for delta in (0.0, 1e-12, 0.05, 1.0)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("expression", "first"), list(zip(RELEASES + SLOW, itertools.cycle(range(3)), strict=False)))
def test_every_row_at_many_points(expression, first):
    # every third point for each release: neighbours have the others, and each point four releases or more
    release = parse(expression)
    for point in POINTS[first::3]:
        on_their_side(lp.compare(release, **point))


SHARES = st.floats(0.01, 0.99)
QUICK = (
    lambda x, y: lp.PureDP(4 * x),
    lambda x, y: lp.ApproximateDP(2 * x, y**9),
    lambda x, y: lp.RandomizedResponse(0.5 + x / 2),
    lambda x, y: lp.Discrete([x, 0.99 - x, 0.01], [y, 1 - y, 0.0]),
    lambda x, y: lp.Gaussian(0.2 + 5 * x),
    lambda x, y: lp.FromProfile([0.0, 1.0], [x, x * y / 2]),
    lambda x, y: lp.PureDP(3 * x).poisson(y),
)
PATIENT = (
    *QUICK,
    lambda x, y: lp.Laplace(0.3 + 4 * x),
    lambda x, y: lp.DiscreteLaplace(0.5 + 4 * x),
    lambda x, y: lp.DiscreteGaussian(0.5 + 3 * x),
    lambda x, y: lp.DistanceToInstability(x, x * y / 3),
    lambda x, y: lp.FromTradeoff([0.0, x / 2], [1.0, (1 - x) * y]),
    lambda x, y: lp.GaussianPair(0.0, 1.0, x, 0.7 + 0.6 * y),
    lambda x, y: lp.GaussianMixture(0.5 + 3 * x, [0.0, 1.0], [y, 1 - y]),
    lambda x, y: lp.Gaussian(0.6 + 3 * x).poisson(y / 2),
    lambda x, y: lp.Laplace(0.5 + 3 * x).poisson(y / 2),
)


def compositions(kinds):
    """One to three random releases, each up to a thousand times."""
    part = st.builds(
        lambda kind, x, y, count: round(10**count) * kind(x, y), st.sampled_from(kinds), SHARES, SHARES, st.floats(0, 3)
    )
    return st.lists(part, min_size=1, max_size=3).map(lp.compose)


@pytest.mark.slow
@settings(max_examples=2)
@given(release=compositions(QUICK), epsilon=st.floats(-1, 20), power=st.floats(-15, 0))
def test_every_row_of_a_random_composition(release, epsilon, power):
    on_their_side(lp.compare(release, epsilon=epsilon))
    on_their_side(lp.compare(release, delta=10**power))


@pytest.mark.slow
@settings(max_examples=5)
@given(release=compositions(PATIENT), epsilon=st.floats(-1, 20), power=st.floats(-300, 0))
def test_every_row_of_random_compositions_of_all_kinds(release, epsilon, power):
    on_their_side(lp.compare(release, epsilon=epsilon))
    on_their_side(lp.compare(release, delta=10**power))


@pytest.mark.slow
def test_what_there_is_to_gain():
    """At k = 100 releases of 0.1 each: published figures of each theorem."""
    known = values(lp.compare(100 * lp.PureDP(0.1), delta=1e-6))
    assert known["basic composition"] == pytest.approx(10)
    assert known["advanced composition"] == pytest.approx(5.756522, abs=1e-6)
    assert known["zCDP, best order"] == pytest.approx(5.22, abs=5e-3)
    assert known["exact"] == pytest.approx(4.774568, abs=1e-6)
    tight = values(lp.compare(10 * lp.PureDP(1.0), delta=1e-5))
    assert tight["basic composition"] == tight["advanced composition"]
    assert tight["exact"] == pytest.approx(9.999771, abs=1e-6)


@pytest.mark.slow
def test_sampled_releases_are_as_accountants_have_them():
    """Renyi divergences of integer orders by quadrature, at the conversion that accountants use."""
    rate, sigma, steps, delta = 0.01, 1.1, 1000, 1e-5
    with mpmath.workdps(20):
        best = math.inf
        for order in range(6, 14):
            powers = [
                mpmath.binomial(order, k) * (1 - rate) ** (order - k) * rate**k * mpmath.exp(k * (k - 1) / (2 * sigma**2))
                for k in range(order + 1)
            ]
            own = steps * mpmath.log(mpmath.fsum(powers)) / (order - 1)
            best = min(best, own + mpmath.log(1 - mpmath.mpf(1) / order) - mpmath.log(delta * order) / (order - 1))
    table = lp.compare(steps * lp.Gaussian(sigma).poisson(rate), delta=delta)
    assert values(table)["Renyi, integer orders"] == pytest.approx(float(best), rel=1e-10)


@pytest.mark.slow
def test_the_text_is_a_table():
    text = str(lp.compare(100 * lp.Gaussian(10.0), epsilon=1.0))
    title, header, *lines = text.splitlines()
    assert title == "delta(1.0) of 100 * Gaussian(sigma=10.0)"
    assert header.split() == ["method", "delta", "side", "gap", "source"]
    assert len(lines) == len(NAMES)
    assert lines[0].startswith("  exact                          0.1269367")
    column = header.index("side")
    assert {line[column:].split("  ")[0] for line in lines} == {"exact", "upper bound", "lower bound", "approximation"}
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.slow
def test_printed_bounds_err_to_their_side():
    table = lp.compare(parse(RELEASES[2]), epsilon=0.7)
    for row in table.rows:
        shown = row.cells()[1]
        if row.side == UPPER:
            assert float(shown) >= some(row.value)
        if row.side == LOWER:
            assert float(shown) <= some(row.value)


@pytest.mark.slow
def test_what_does_not_apply_says_why():
    rows = {
        row.name: row for row in lp.compare(parse("GaussianPair(mean_p=0, sigma_p=1, mean_q=0, sigma_q=2)"), delta=0.0).rows
    }
    assert "no rho is known" in rows["zCDP, tail"].reason
    assert "or zero" in rows["basic composition"].reason
    assert "does not apply: no rho" in " ".join(rows["zCDP, tail"].cells())
    infinite = {row.name: row for row in lp.compare(lp.ApproximateDP(1.0, 0.1), epsilon=1.0).rows}
    assert "infinite with positive probability" in infinite["Renyi, integer orders"].reason
    many = lp.compose([lp.Gaussian(20.0 + step) for step in range(257)])
    crowded = {row.name: row for row in lp.compare(many, epsilon=2.0).rows}
    assert "more than 64 distinct parts" in crowded["basic composition"].reason
    assert "more than 64 distinct parts" in crowded["Renyi, integer orders"].reason
    assert "more than 256 distinct losses" in crowded["Berry-Esseen"].reason
    assert some(crowded["Renyi, tradeoff"].value) >= some(crowded["exact"].value)


@pytest.mark.slow
def test_estimates_are_not_sold_as_proofs():
    scale = math.log(2 * math.pi) / 2
    normal = lp.FromDensities(lambda x: -((x - 1) ** 2) / 2 - scale, lambda x: -(x**2) / 2 - scale, (-np.inf, np.inf))
    noted = "Renyi, tradeoff", "Markov-ADP", "Berry-Esseen"
    refused = "basic composition", "advanced composition", "zCDP, tail", "Renyi, integer orders"
    rows = {row.name: row for row in lp.compare(normal, epsilon=1.0, methods=[*noted, *refused]).rows}
    assert all("an error is an estimate" in rows[name].note for name in ("exact", *noted))
    assert all("samples of" in rows[name].reason for name in refused)


@pytest.mark.slow
def test_notebooks_get_a_table():
    shown = lp.compare(lp.Laplace(1.0), epsilon=0.5)._repr_html_()
    assert shown.count("<tr>") == len(NAMES) + 1
    assert shown.startswith("<table><caption>delta(0.5) of Laplace(scale=1.0)</caption>")
    assert "Asoodeh, Liao, Calmon, Kosut &amp; Sankar" in shown


def test_bad_input():
    with pytest.raises(ValueError, match="give either epsilon or delta"):
        lp.compare(lp.Gaussian(1.0))
    with pytest.raises(ValueError, match="give either epsilon or delta"):
        lp.compare(lp.Gaussian(1.0), epsilon=1, delta=0.1)
    with pytest.raises(ValueError, match="delta must lie in"):
        lp.compare(lp.Gaussian(1.0), delta=1.5)
    with pytest.raises(ValueError, match="finite and not NaN"):
        lp.compare(lp.Gaussian(1.0), epsilon=math.nan)
    with pytest.raises(TypeError, match="epsilon must be a real number"):
        untyped(lp.compare)(lp.Gaussian(1.0), epsilon=[1.0, 2.0])
    with pytest.raises(TypeError, match="a mechanism is needed"):
        untyped(lp.compare)(3.0, epsilon=1.0)


@pytest.mark.slow
def test_the_command_line(capsys):
    assert main(["compare", "10 * PureDP(epsilon=0.25)", "--epsilon", "1,-1/2"]) == 0
    out, err = capsys.readouterr()
    assert not err
    assert re.findall(r"^\S.*$", out, re.MULTILINE) == [
        "delta(1.0) of 10 * PureDP(epsilon=0.25)",
        "delta(-0.5) of 10 * PureDP(epsilon=0.25)",
    ]


@pytest.mark.slow
def test_the_command_line_prints_json(capsys):
    assert main(["compare", "GaussianPair(mean_p=0, sigma_p=1, mean_q=0, sigma_q=2)", "--delta", "1e-5", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["name"] for row in rows] == NAMES
    assert all(row["query"] == "epsilon" and row["at"] == 1e-5 for row in rows)
    assert {tuple(row) for row in rows} == {("query", "at", "name", "value", "side", "gap", "source", "note", "reason")}
    assert rows[5]["value"] is None
    assert "no rho is known" in rows[5]["reason"]
    assert "inf" in [row["value"] for row in rows]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["compare", "Gaussian(sigma=1)"], "one of the arguments --epsilon --delta is required"),
        (["compare", "Gaussian(sigma=1)", "--epsilon", "1", "--delta", "1"], "not allowed with"),
        (["compare", "Gaussian(sigma=1)", "--delta", "2"], "delta must lie in"),
        (["compare", "Gaussian(sigma=1)", "--epsilon", "1", "--rtol", "1"], "unrecognized"),
    ],
)
def test_bad_command_lines(argv, said, capsys):
    assert main(argv) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("expression", "delta"),
    [
        # strips that end soon, and a transform below every double: each warned on its way
        ("3 * GaussianPair(mean_p=0, sigma_p=1, mean_q=-0.6025, sigma_q=0.68787, adjacency='add')", 9.5e-36),
        ("10 * GaussianPair(mean_p=0, sigma_p=1, mean_q=-0.27551, sigma_q=1.129038, adjacency='replace')", 7.3e-89),
        (
            "100000 * ExponentialMechanism(epsilon=1.7) + 10 * DiscreteLaplace(scale=3.567) + 100 * DiscreteLaplace(scale=3.9)",
            6e-5,
        ),
    ],
)
def test_extremes_are_answered_in_silence(expression, delta):
    found = parse(expression).epsilon(delta)
    assert 0 < found.lower <= found.upper < math.inf


def test_a_delta_that_cannot_be_shared():
    table = lp.compare(5 * lp.Gaussian(sigma=1), delta=5e-324)
    assert any(row.name == "basic composition" and "hardly larger" in row.reason for row in table.rows)
