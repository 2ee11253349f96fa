"""No bound of a mechanism contradicts the answer that is called exact."""

import math

import pytest

import logphi as lp
from logphi.comparison import LOWER, UPPER
from one_of_each import EXAMPLES
from some import some


def assert_consistent(release, **question):
    table = lp.compare(release, **question)
    for row in table.rows:
        if row.value is None or math.isnan(row.value):
            continue
        if row.side == UPPER:
            assert row.value >= table.exact.lower * (1 - 1e-12) - 1e-15, (row, table.exact)
        if row.side == LOWER:
            assert row.value <= table.exact.upper * (1 + 1e-12) + 1e-15, (row, table.exact)


def test_the_conversions_of_a_bounded_range():
    table = lp.compare(10 * lp.ExponentialMechanism(1), delta=1e-6, methods=["zCDP, best order", "Berry-Esseen"])
    exact, zcdp, upper, lower = table.rows
    assert some(exact.value) < 7.7164 < some(zcdp.value) < some(upper.value)
    # a lower bound of the hulls is none of the mechanisms
    assert lower.value is None
    assert "hulls" in lower.reason


@pytest.mark.few(1)
@pytest.mark.parametrize("rho", [1e-4, 0.1, 50])
def test_the_conversion_of_a_declared_rho_by_one_order(rho):
    for delta in (1e-3, 1e-12):
        table = lp.compare(lp.ZCDP(rho), delta=delta, methods=["zCDP, best order"])
        assert table.exact.lower < table.exact.upper <= some(table.rows[1].value)


@pytest.mark.parametrize(
    "release", [lp.ExponentialMechanism(0.0583) + lp.ZCDP(0.356), lp.ExponentialMechanism(1) + lp.ZCDP(0.01)]
)
def test_no_conversion_is_below_the_upper_end(release):
    table = lp.compare(release, delta=1.645e-6, methods=["zCDP, best order"])
    assert table.exact.upper <= some(table.rows[1].value)


@pytest.mark.slow
@pytest.mark.parametrize(
    "release",
    [
        12 * lp.ExponentialMechanism(0.2),
        3 * lp.ExponentialMechanism(0.5) + 2 * lp.Gaussian(3),
        4 * lp.ExponentialMechanism(0.4).poisson(0.3),
        lp.ExponentialMechanism(1),
    ],
    ids=str,
)
def test_bounded_ranges(release):
    assert_consistent(release, delta=1e-5)


# few and many releases, small and large epsilons and deltas; methods are the same for any law, so that each law has two of
# the questions, one of either kind, and its neighbours the others
QUESTIONS: list[list[tuple[int, dict[str, float]]]] = [
    [(1, {"epsilon": 0.1}), (15, {"delta": 1e-8})],
    [(15, {"epsilon": 2.0}), (2, {"delta": 1e-3})],
]
NAMES = sorted(set(EXAMPLES) - {"FromDensities", "FromLogPhi", "FromRenyi"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "count", "question"), [(name, *one) for k, name in enumerate(NAMES) for one in QUESTIONS[k % 2]], ids=str
)
def test_the_catalogue(name, count, question):
    assert_consistent(count * EXAMPLES[name](), **question)
