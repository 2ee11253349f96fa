"""Pictures draw what was proved: lines and bands are compared with the bounds and with closed forms, never pixels."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom, norm

import logphi as lp
from logphi import Bound, Entry, Ledger
from profiles import gaussian_profile
from refusals import untyped
from repository import ROOT, module_of

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from logphi.plot import canvas, curve  # noqa: E402

# pictures ask for no more
ROUGH = curve.RTOL
TEXT = 1e-12


RUN = lp.dp_sgd(dataset_size=1000, batch_size=50, epochs=0.3, noise_multiplier=2)


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before, "settings of matplotlib are the user's"
    plt.close("all")


def band(ax: Any, number: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places, lower and upper edge of a band."""
    corners = ax.collections[number].get_paths()[0].vertices
    places = np.unique(corners[:, 0])
    heights = [corners[corners[:, 0] == place, 1] for place in places]
    return places, np.array([height.min() for height in heights]), np.array([height.max() for height in heights])


def lines(ax: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in ax.lines}


def title(ax: Any) -> str:
    return str(ax.get_legend().get_title().get_text())


@pytest.mark.slow
def test_nothing_is_loaded_before_the_first_picture() -> None:
    code = "import sys, logphi; logphi.plot.profile; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        lp.plot.profile(lp.Gaussian(sigma=1))


@pytest.mark.slow
def test_pictures_go_where_they_are_told_and_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plt, "show", lambda: pytest.fail("a picture was shown"))
    _, ax = plt.subplots()
    m = lp.PureDP(epsilon=0.5)
    drawn = [
        lp.plot.profile(m, ax=ax),
        lp.plot.tradeoff(m, ax=ax),
        lp.plot.loss(m, ax=ax),
        lp.plot.composition(m, [1, 2], delta=0.1, ax=ax),
        lp.plot.compare(m, delta=0.1, methods=["Markov-ADP"], ax=ax),
        lp.plot.training(RUN, delta=0.1, methods=[], ax=ax),
    ]
    assert all(one is ax for one in drawn)
    assert plt.get_fignums() == [1]
    assert lp.plot.profile(m).figure is plt.figure(2)


def test_a_profile_is_its_bounds() -> None:
    m = 10 * lp.GaussianPair(0, 1, 0.3, 1.2)
    points = np.linspace(0, 4, 9)
    ax: Any = lp.plot.profile(m, epsilons=points, labels=["pair"], color="k")
    found = m.delta(points, rtol=ROUGH)
    line = lines(ax)["pair"]
    np.testing.assert_array_equal(line.get_xdata(), points)
    np.testing.assert_array_equal(line.get_ydata(), found.value)
    assert line.get_color() == "k"
    places, lower, upper = band(ax)
    np.testing.assert_array_equal(places, points)
    np.testing.assert_array_equal(lower, found.lower)
    np.testing.assert_array_equal(upper, found.upper)
    assert (ax.get_yscale(), ax.get_xlabel(), ax.get_ylabel()) == ("log", r"$\varepsilon$ (nats)", r"$\delta(\varepsilon)$")


def test_a_profile_finds_its_range_and_bends() -> None:
    ax: Any = lp.plot.profile(lp.Gaussian(sigma=1), lp.PureDP(epsilon=1))
    smooth, steep = ax.lines
    assert smooth.get_xdata()[0] == 0
    assert 1e-11 < smooth.get_ydata()[-1] <= 1.01e-10
    # more points where it falls
    assert np.sum(np.abs(steep.get_xdata() - 1) < 0.2) > 20
    inside = steep.get_xdata() < 1
    exact = -np.expm1(steep.get_xdata()[inside] - 1) / (1 + math.exp(-1))
    # the profile of randomized response: (e^level - e^epsilon) / (1 + e^level)
    np.testing.assert_allclose(steep.get_ydata()[inside], exact, rtol=2 * ROUGH)
    assert ax.get_ylim()[0] == pytest.approx(5e-11)


def test_what_is_below_every_double_is_left_out() -> None:
    ax: Any = lp.plot.profile(100 * lp.Gaussian(sigma=1), epsilons=[100, 300, 450, 600])
    ax.figure.canvas.draw()
    assert (ax.lines[0].get_ydata() > 0).tolist() == [True, True, False, False]


def test_a_profile_far_from_zero_is_drawn_where_it_falls() -> None:
    line: Any = lp.plot.profile(10**4 * lp.Gaussian(sigma=1)).lines[0]
    assert line.get_xdata()[0] > 4000
    assert line.get_ydata()[0] == pytest.approx(0.1, rel=0.1)


def test_profiles_of_both_directions() -> None:
    m = lp.Gaussian(sigma=1).poisson(0.1)
    ax: Any = lp.plot.profile(m, epsilons=[0.1, 0.5], directions=("remove", "add"), labels="one")
    for direction in ("remove", "add"):
        expected = m.delta([0.1, 0.5], direction=direction, rtol=ROUGH).value
        np.testing.assert_array_equal(lines(ax)[f"one, {direction}"].get_ydata(), expected)
    assert ax.lines[0].get_linestyle() != ax.lines[1].get_linestyle()


@pytest.mark.parametrize(
    "mechanism", [lp.ApproximateDP(0.5, 1e-5), lp.ApproximateDP(0.0, 0.99), 0 * lp.Gaussian(1.0)], ids=repr
)
def test_profiles_that_never_vanish_or_always_do(mechanism: lp.Mechanism) -> None:
    ax: Any = lp.plot.profile(mechanism)
    ax.figure.canvas.draw()
    assert 0.4 < ax.lines[0].get_xdata()[-1] < 2


def test_a_tradeoff_is_its_bounds_beside_the_diagonal() -> None:
    m = lp.Laplace(scale=2.0)
    points = np.linspace(0, 1, 7)
    ax: Any = lp.plot.tradeoff(m, type_one_errors=points)
    found = m.tradeoff(points, rtol=ROUGH)
    np.testing.assert_array_equal(lines(ax)["Laplace(scale=2.0)"].get_ydata(), found.value)
    _, lower, upper = band(ax)
    np.testing.assert_array_equal(lower, found.lower)
    np.testing.assert_array_equal(upper, found.upper)
    np.testing.assert_array_equal(lines(ax)["_perfect privacy"].get_ydata(), [1, 0])


@pytest.mark.slow
def test_kinks_of_a_tradeoff_are_sharp() -> None:
    (_, line) = lp.plot.tradeoff(lp.RandomizedResponse(p=0.75)).lines
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    exact = np.maximum(1 - 3 * x, (1 - x) / 3)
    np.testing.assert_allclose(y, exact, atol=2 * ROUGH)
    assert np.abs(x - 0.25).min() < 2e-3


def test_true_positive_rates_are_bounded_from_both_sides() -> None:
    sigma = 2.0
    ax: Any = lp.plot.tradeoff(lp.Gaussian(sigma=sigma), roc=True)
    rates, lower, upper = band(ax)
    assert rates[0] == 1e-6
    assert rates[-1] == 1
    exact = ndtr(ndtri(rates) + 1 / sigma)
    assert np.all(lower <= exact * (1 + TEXT))
    assert np.all(upper >= exact * (1 - TEXT))
    assert np.max((upper - lower) / exact) < 10 * ROUGH
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    np.testing.assert_array_equal(lines(ax)["_perfect privacy"].get_xdata(), lines(ax)["_perfect privacy"].get_ydata())
    with pytest.raises(ValueError, match="must be above 0 on a logarithmic axis"):
        lp.plot.tradeoff(lp.Gaussian(1.0), type_one_errors=[0.0, 0.5], roc=True)


def test_a_density_of_a_normal_loss() -> None:
    ax: Any = lp.plot.loss(lp.Gaussian(sigma=0.5))
    (line,) = ax.lines
    np.testing.assert_allclose(line.get_ydata(), norm.pdf(line.get_xdata(), 2, 2), rtol=2 * ROUGH)
    assert line.get_label() == "either direction"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("privacy loss (nats)", "density (per nat)")


def test_both_orders_are_drawn_where_they_differ() -> None:
    ax: Any = lp.plot.loss(lp.Gaussian(sigma=1).poisson(0.3), losses=np.linspace(-0.3, 0.3, 5))
    m = lp.Gaussian(sigma=1).poisson(0.3)
    for line, law in zip(ax.lines, (m.loss, m.dual_loss), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), law.pdf(np.linspace(-0.3, 0.3, 5), rtol=ROUGH).value)
    assert [line.get_label().split()[-1] for line in ax.lines] == ["(remove)", "(add)"]


@pytest.mark.parametrize("count", [1, 7])
def test_atoms_are_stems_as_high_as_they_are_probable(count: int) -> None:
    ax: Any = lp.plot.loss(count * lp.RandomizedResponse(p=0.7))
    unit = math.log(7 / 3)
    successes = np.arange(count + 1)
    np.testing.assert_allclose(ax.lines[0].get_xdata(), (2 * successes - count) * unit, atol=1e-9)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), binom.pmf(successes, count, 0.7), rtol=2 * ROUGH, atol=1e-9)
    stems, bounds = (collection.get_segments() for collection in ax.collections)
    assert [stem[0, 1] for stem in stems] == [0.0] * (count + 1)
    for successes_, bound in enumerate(bounds):
        mass = Fraction(math.comb(count, successes_)) * Fraction(7, 10) ** successes_ * Fraction(3, 10) ** (count - successes_)
        assert bound[0, 1] <= float(mass) * (1 + TEXT)
        assert bound[1, 1] >= float(mass) * (1 - TEXT)
    assert ax.get_ylabel() == "probability of an atom"


def test_atoms_beside_a_density_have_an_axis_of_their_own() -> None:
    ax: Any = lp.plot.loss(lp.Laplace(scale=1.0))
    (beside,) = [other for other in ax.figure.axes if other is not ax]
    np.testing.assert_allclose(beside.lines[0].get_xdata(), [-1, 1])
    np.testing.assert_allclose(beside.lines[0].get_ydata(), [math.exp(-1) / 2, 0.5])
    inside = np.abs(ax.lines[0].get_xdata()) < 1
    exact = np.exp((ax.lines[0].get_xdata() - 1) / 2) / 4
    np.testing.assert_allclose(ax.lines[0].get_ydata()[inside], exact[inside], rtol=2 * ROUGH)


def test_a_lattice_without_ends_has_stems_too() -> None:
    ax: Any = lp.plot.loss(lp.DiscreteGaussian(sigma=2))
    x, y = ax.lines[0].get_data()
    outputs = np.arange(-40, 41)
    weights = np.exp(-(outputs**2) / 8)
    # the loss at output o is (2 o + 1) / 8, up to its sign
    expected = dict(zip(((2 * outputs + 1) / 8).round(6), weights / weights.sum(), strict=True))
    np.testing.assert_allclose(y, [expected[place] for place in x.round(6)], rtol=1e-3, atol=1e-6)


@pytest.mark.slow
def test_what_has_no_proved_density_is_drawn_in_bins() -> None:
    edges = np.linspace(-0.8, 1.6, 7)
    m = 3 * lp.Laplace(scale=1.0).poisson(0.2)
    ax: Any = lp.plot.loss(m, losses=edges, rtol=1e-2)
    _, lower, upper = band(ax)
    below = m.loss.cdf(edges, rtol=1e-2)
    width = edges[1] - edges[0]
    assert upper.max() == pytest.approx(np.max(below.upper[1:] - below.lower[:-1]) / width, rel=1e-9)
    heights = ax.lines[0].get_ydata()[::2]
    assert np.sum(heights) * width == pytest.approx(float(below.value[-1] - below.value[0]), rel=1e-9)
    assert np.all(lower <= upper)


def test_a_distribution_function_jumps_at_its_atoms_and_tells_what_is_infinite() -> None:
    ax: Any = lp.plot.loss(lp.ApproximateDP(epsilon=1.0, delta=0.25), kind="cdf")
    x, y = ax.lines[0].get_data()
    share = 0.75 / (1 + math.e)
    exact = np.where(x < -1, 0, np.where(x < 1, share, 0.75))
    np.testing.assert_allclose(y, exact, atol=1e-9)
    assert np.min(np.abs(x - 1)) < 1e-8
    assert ax.lines[0].get_label() == "either direction; infinite with probability 0.25"


def test_composition_against_a_closed_form_with_arrows_where_it_is_infinite() -> None:
    ax: Any = lp.plot.composition(lp.Gaussian(sigma=20.0), [1, 10, 100], epsilon=0.5, labels="gauss")
    mu = np.sqrt([1, 10, 100]) / 20
    exact = [float(gaussian_profile(float(one))(0.5)) for one in mu]
    np.testing.assert_allclose(lines(ax)["gauss"].get_ydata(), exact, rtol=1e-6)
    ax = lp.plot.composition(lp.ApproximateDP(0.1, 0.01), range(1, 6), delta=0.025)
    ax.figure.canvas.draw()
    np.testing.assert_array_equal(lines(ax)["_infinite"].get_xdata(), [3, 4, 5])
    assert np.isfinite(lines(ax)["exact"].get_ydata()).tolist() == [True, True, False, False, False]


@pytest.mark.slow
def test_references_are_rows_of_the_comparison() -> None:
    m = lp.PureDP(epsilon=0.1)
    ax: Any = lp.plot.composition(m, [2, 8], delta=1e-3, methods=["basic composition", "saddle point"])
    np.testing.assert_allclose(lines(ax)["basic composition (upper bound)"].get_ydata(), [0.2, 0.8])
    expected = [row.value for row in lp.compare(8 * m, delta=1e-3).rows if row.name == "saddle point"]
    assert lines(ax)["saddle point (approximation)"].get_ydata()[1] == expected[0]
    styles = {line.get_linestyle() for line in ax.lines}
    assert len(styles) == 3


@pytest.mark.slow
def test_training_is_epsilon_against_epochs_beside_the_renyi_accountant() -> None:
    longer = lp.dp_sgd(dataset_size=1000, batch_size=100, epochs=0.75, noise_multiplier=4, clipped_count_noise=20)
    ax: Any = lp.plot.training([RUN, longer], delta=1e-5, labels=["short", "long"])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("epochs", r"$\varepsilon$ (nats) at $\delta$ = 1e-05")
    for number, (run, name) in enumerate(((RUN, "short"), (longer, "long"))):
        exact, renyi = lines(ax)[name], lines(ax)[f"{name}: Renyi, integer orders (upper bound)"]
        epochs = exact.get_xdata()
        assert (epochs[0], epochs[-1]) == (float(run.rate), float(run.steps * run.rate))
        np.testing.assert_array_equal(renyi.get_xdata(), epochs)
        steps = [round(epoch / float(run.rate)) for epoch in epochs]
        found = [(count * run.step).epsilon(1e-5) for count in steps]
        np.testing.assert_array_equal(exact.get_ydata(), [one.value for one in found])
        np.testing.assert_array_equal(band(ax, number)[2], [one.upper for one in found])
        assert np.all(np.diff(exact.get_ydata()) > 0)
        assert np.all(renyi.get_ydata() > exact.get_ydata())
        # Mironov 2017, Proposition 3, at one whole order, is an upper bound too, and a weaker one
        order = 8
        weaker = run.steps * run.step.renyi(order).value + math.log(1e5) / (order - 1)
        assert exact.get_ydata()[-1] < renyi.get_ydata()[-1] < weaker * 1.2
        assert (exact.get_linestyle(), renyi.get_linestyle()) == ("-", "--")
        assert exact.get_color() == renyi.get_color()
    assert ax.lines[0].get_color() != ax.lines[2].get_color()


@pytest.mark.slow
def test_training_alone_and_with_other_methods() -> None:
    one_step = lp.dp_sgd(dataset_size=10, batch_size=10, steps=1, noise_multiplier=3)
    ax: Any = lp.plot.training(one_step, RUN, delta=1e-3, methods=[])
    assert list(lines(ax)) == ["noise 3, batches of 10", "noise 2, batches of 50"]
    assert lines(ax)["noise 3, batches of 10"].get_xdata().tolist() == [1.0]
    ax = lp.plot.training(RUN, delta=1e-3, methods=["saddle point"], labels="mine")
    assert list(lines(ax)) == ["mine", "mine: saddle point (approximation)"]
    with pytest.raises(TypeError, match=r"only training runs have epochs: draw what lp\.dp_sgd makes, got"):
        untyped(lp.plot.training)(5 * lp.Gaussian(1), delta=1e-5)
    with pytest.raises(TypeError, match="there is nothing to draw"):
        lp.plot.training([], delta=1e-5)
    for delta in (0, 1, 2, math.nan):
        with pytest.raises(ValueError, match="delta must"):
            lp.plot.training(RUN, delta=delta)
    with pytest.raises(ValueError, match="methods must be names of rows"):
        lp.plot.training(RUN, delta=1e-5, methods=["naive"])
    with pytest.raises(ValueError, match="labels must be as many as the mechanisms, 1,"):
        lp.plot.training(RUN, delta=1e-5, labels=["one", "two"])


@pytest.mark.slow
def test_labels_name_what_is_drawn_in_every_picture() -> None:
    m = lp.PureDP(epsilon=0.5)
    for labels in ("mine", ["mine"]):
        drawn = [
            lp.plot.profile(m, epsilons=[0.1, 0.2], labels=labels),
            lp.plot.tradeoff(m, type_one_errors=[0.1, 0.2], labels=labels),
            lp.plot.composition(m, [1, 2], delta=0.1, labels=labels),
            lp.plot.training(RUN, delta=0.1, methods=[], labels=labels),
            lp.plot.compare(m, delta=[0.1, 0.2], methods=[], labels=labels),
        ]
        assert all("mine" in lines(ax) for ax in drawn)
        assert "mine: either direction" in lines(lp.plot.loss(m, labels=labels))
        chart = lp.plot.compare(m, delta=0.1, methods=["Markov-ADP"], labels=labels)
        assert [tick.get_text() for tick in chart.get_yticklabels()] == ["mine", "Markov-ADP"]
    for draw in (
        lambda labels: lp.plot.composition(m, [1, 2], delta=0.1, labels=labels),
        lambda labels: lp.plot.loss(m, labels=labels),
        lambda labels: lp.plot.compare(m, delta=0.1, labels=labels),
    ):
        with pytest.raises(ValueError, match="labels must be as many as the mechanisms, 1,"):
            draw(["one", "two"])


def test_a_list_of_mechanisms_is_drawn_like_each_by_itself() -> None:
    both = [lp.PureDP(epsilon=0.5), lp.PureDP(epsilon=1.0)]
    assert list(lines(lp.plot.profile(both, epsilons=[0.1, 0.2]))) == list(lines(lp.plot.profile(*both, epsilons=[0.1, 0.2])))


def test_what_does_not_apply_is_named_in_the_legend() -> None:
    ax: Any = lp.plot.composition(lp.ApproximateDP(0.1, 0.01), [1, 2], delta=0.5, methods=["Renyi, integer orders"])
    assert "does not apply everywhere: Renyi, integer orders" in title(ax)


@pytest.mark.slow
def test_a_chart_has_a_row_for_each_method() -> None:
    table = lp.compare(100 * lp.PureDP(epsilon=0.1), delta=1e-6)
    ax: Any = lp.plot.compare(table)
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert sorted(names) == sorted(row.name for row in table.rows)
    assert names[0] == "exact"
    told = [text.get_text() for text in ax.texts]
    assert len(told) == len(table.rows)
    assert "does not apply" in told or all(row.value is not None for row in table.rows)
    # rounded to its own side
    place = names.index("optimal composition")
    value = next(row.value for row in table.rows if row.name == "optimal composition")
    assert value is not None
    assert Fraction(told[place]) >= Fraction(value)
    assert ax.get_xlabel() == r"$\varepsilon$ (nats) at $\delta$ = 1e-06"
    ax.figure.canvas.draw()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "question"),
    [
        (lp.ApproximateDP(1.0, 0.1), {"delta": 0.01}),
        (0 * lp.Gaussian(1.0), {"epsilon": 1.0}),
        (0 * lp.Gaussian(1.0), {"delta": 0.5}),
        (lp.GaussianPair(0, 1, 0, 2), {"epsilon": 0.5, "methods": ["zCDP, tail", "Markov-ADP"]}),
        (lp.Gaussian(0.01), {"epsilon": 1.0}),
    ],
    ids=lambda one: repr(one)[:30],
)
def test_charts_of_what_is_infinite_or_nothing(mechanism: lp.Mechanism, question: dict[str, Any]) -> None:
    ax: Any = lp.plot.compare(mechanism, **question)
    ax.figure.canvas.draw()
    low, high = ax.get_xlim()
    assert math.isfinite(low)
    assert math.isfinite(high)


def test_comparisons_over_a_range_are_curves() -> None:
    points = np.array([0.5, 1.0, 2.0])
    ax: Any = lp.plot.compare(20 * lp.PureDP(0.1), epsilon=points, methods=["Markov-ADP", "Berry-Esseen"])
    assert list(lines(ax)) == ["exact", "Markov-ADP (upper bound)", "Berry-Esseen (upper bound)", "Berry-Esseen (lower bound)"]
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), points)
    assert np.all(ax.lines[1].get_ydata() >= ax.lines[0].get_ydata())
    assert (ax.get_yscale(), ax.get_ylabel()) == ("log", r"$\delta$")


def test_what_ends_nowhere_is_clipped_and_marked() -> None:
    bounds = (Bound(0, 1, 2), Bound(0, 1, math.inf), Bound(math.inf, math.inf, math.inf), Bound(1, 2, 3))
    drawn = curve.Curve("wild", np.arange(4.0), bounds)
    _, ax = plt.subplots()
    curve.draw(ax, drawn)
    curve.legend(ax, [drawn])
    ax.figure.canvas.draw()
    corners = np.concatenate([path.vertices for path in ax.collections[0].get_paths()])
    assert corners[:, 1].max() == 3
    np.testing.assert_array_equal(lines(ax)["_infinite"].get_xdata(), [2])
    assert title(ax) == "bands from lower to upper bound"


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_bands_too_thin_to_see_are_told(scale: str) -> None:
    proved = (Bound(0.5, 0.5, 0.5 * (1 + 1.23e-9)), Bound(0.25, 0.25, 0.25))
    drawn = curve.Curve("thin", np.arange(2.0), proved)
    _, ax = plt.subplots()
    ax.set_yscale(scale)
    curve.draw(ax, drawn)
    curve.legend(ax, [drawn])
    said, _, width = title(ax).rpartition(" ")
    assert said == ("relative width of the bounds: at most" if scale == "log" else "width of the bounds: at most")
    assert float(width) >= 1.23e-9 * (1 if scale == "log" else 0.5) * (1 - 1e-6)
    assert float(width) < 1.4e-9


def test_estimated_errors_are_told() -> None:
    guess = Ledger(inner=Entry(0.1, proved=False))
    curves = [
        curve.Curve(name, np.arange(2.0), (Bound(0, 1, 2, ledger=ledger),) * 2)
        for name, ledger in (("sure", Ledger()), ("guessed", guess))
    ]
    _, ax = plt.subplots()
    for one in curves:
        curve.draw(ax, one)
    curve.legend(ax, curves)
    assert title(ax).endswith("\nestimated: guessed")
    curve.legend(ax, curves[1:])
    assert title(ax).endswith(", estimated")


@pytest.mark.parametrize(
    ("mechanism", "name"),
    [
        (14062 * lp.Gaussian(sigma=1.1).poisson(256 / 60000), "14062 * Gaussian(sigma=1.1).poisson(0.00426667)"),
        (
            lp.compose(lp.Gaussian(sigma=s) for s in range(1, 11)),
            "Gaussian(sigma=1.0) and 9 more",
        ),
        (
            lp.FromDensities(lambda x: np.log1p(x) - np.log(1.5), lambda x: 0 * x, (0, 1)),
            "FromDensities(log_p=…, log_q=…, support=(0.0, 1.0))",
        ),
    ],
    ids=["rate", "many", "functions"],
)
def test_long_names_are_shortened(mechanism: lp.Mechanism, name: str) -> None:
    assert canvas.short(mechanism) == name


def test_bad_input() -> None:
    with pytest.raises(TypeError, match="there is nothing to draw"):
        lp.plot.profile()
    with pytest.raises(TypeError, match="only mechanisms can be drawn, got 3"):
        untyped(lp.plot.tradeoff)(3)
    with pytest.raises(ValueError, match="labels must be as many as the mechanisms, 2,"):
        lp.plot.profile(lp.PureDP(1), lp.PureDP(2), labels=["one"])
    with pytest.raises(ValueError, match="direction must be 'remove' or 'add', got 'both ways'"):
        lp.plot.profile(lp.PureDP(1), directions=["both ways"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="kind must be 'density' or 'cdf', got 'pdf'"):
        untyped(lp.plot.loss)(lp.PureDP(1), kind="pdf")
    with pytest.raises(ValueError, match="losses must be at least two points in increasing order"):
        lp.plot.loss(lp.PureDP(1), losses=[1, 0])
    with pytest.raises(ValueError, match=r"each at least 1, got \[\]"):
        lp.plot.composition(lp.PureDP(1), [], delta=0.1)
    with pytest.raises(ValueError, match=r"each at least 1, got \[0\]"):
        lp.plot.composition(lp.PureDP(1), [0], delta=0.1)
    with pytest.raises(ValueError, match="give either epsilon or delta"):
        lp.plot.composition(lp.PureDP(1), [1])
    with pytest.raises(ValueError, match="methods must be names of rows, got 'naive'"):
        lp.plot.composition(lp.PureDP(1), [1], delta=0.1, methods=["naive"])
    with pytest.raises(ValueError, match="give either epsilon or delta"):
        lp.plot.compare(lp.PureDP(1), epsilon=[1.0], delta=0.1)
    with pytest.raises(ValueError, match="has its question already"):
        lp.plot.compare(lp.compare(lp.PureDP(1), delta=0.1, methods=[]), delta=0.2)


def gallery() -> Any:
    return module_of(ROOT / "docs" / "gallery.py")


def test_examples_of_the_gallery_have_names_of_their_own() -> None:
    titles = [title for title, _, _ in gallery().EXAMPLES]
    assert len(set(titles)) == len(titles)
    assert all(caption.endswith(".") and "lp.plot." in code for _, caption, code in gallery().EXAMPLES)
    for picture in ("profile", "tradeoff", "loss", "composition", "training", "compare"):
        assert any(f"lp.plot.{picture}(" in code for _, _, code in gallery().EXAMPLES)


def test_a_picture_of_the_gallery_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of them: the site's own test looks at all, which are drawn when it is built."""
    module = gallery()
    monkeypatch.setattr(module, "EXAMPLES", module.EXAMPLES[:1])
    ((_, name, _, _),) = module.draw(tmp_path / "new")
    assert ET.parse(tmp_path / "new" / name).getroot().tag.endswith("svg")
    assert [path.name for path in (tmp_path / "new").iterdir()] == [name]
    assert plt.get_fignums() == []


def test_phi_is_drawn_where_it_is() -> None:
    m, t = lp.RandomizedResponse(p=0.75), [0.0, 0.5, 1.0, 2.5]
    exact = 0.75 * np.exp(1j * np.array(t) * math.log(3)) + 0.25 * np.exp(-1j * np.array(t) * math.log(3))
    parts = {
        "modulus": np.abs(exact),
        "argument": np.unwrap(np.angle(exact)),
        "real": exact.real,
        "imaginary": exact.imag,
        "log modulus": np.log(np.abs(exact)),
    }
    for part, heights in parts.items():
        ax: Any = lp.plot.phi(m, part=part, t=t, labels=["answers"])
        line = lines(ax)["answers"]
        assert line.get_xdata().tolist() == t
        assert np.allclose(line.get_ydata(), heights, rtol=0, atol=1e-12)


def test_phi_without_points_goes_to_where_it_has_fallen() -> None:
    ax: Any = lp.plot.phi(lp.Gaussian(sigma=2.0), lp.PureDP(epsilon=0))
    smooth = ax.lines[0]
    assert smooth.get_xdata()[0] == 0
    assert smooth.get_ydata()[0] == 1
    assert smooth.get_ydata()[-1] < 1e-3
    assert set(ax.lines[1].get_ydata()) == {1.0}


def test_an_argument_ends_where_nobody_knows_it() -> None:
    m = lp.GaussianMixture(sigma=1, sensitivities=[1, 2], probabilities=[0.9, 0.1])
    ax: Any = lp.plot.phi(m, part="argument", t=[0.0, 1.0, 40.0])
    assert ax.lines[0].get_xdata().tolist() == [0.0, 1.0]


def test_an_unknown_part_of_phi_is_refused() -> None:
    with pytest.raises(ValueError, match="part must be one of 'modulus'"):
        lp.plot.phi(lp.Gaussian(sigma=1), part="phase")
