"""Arrays of bounds, and answers as JSON, tables and pickles."""

from __future__ import annotations

import copy
import json
import math
import pickle
from typing import Any

import numpy as np
import pytest

import logphi as lp
from logphi import Bound, Bounds, ComplexBound, Entry, Ledger, Status, UndecidedError
from logphi.answers.status import Side
from logphi.classical.claim import Claim
from logphi.expression import parse
from some_bounds import spent, wide

# quick ones, of which the last one does not apply to Gaussians
METHODS = ["basic composition", "zCDP, tail", "optimal composition"]


profile = lp.Gaussian(sigma=1).delta([0.0, 0.5, 1.0])


def test_bounds_have_a_short_repr():
    assert repr(profile) == (
        "Bounds(shape=(3,), lower=[0.3829249, 0.2384217, 0.1269367], upper=[0.382925, 0.2384218, 0.1269368])"
    )
    many = repr(lp.Gaussian(sigma=1).delta(np.linspace(0, 1, 100).reshape(10, 10)))
    assert many.startswith("Bounds(shape=(10, 10), lower=[0.3829249, 0.3798")
    assert "…, 0.1269367]" in many
    assert len(many) < 140
    assert repr(lp.Gaussian(sigma=1).delta([])) == "Bounds(shape=(0,), lower=[], upper=[])"
    assert repr(Bounds([Bound(0, 1, 2, Status.WIDE), Bound(0, 0, 0)])).endswith("1 of 2 not as narrow as requested)")


def test_bounds_compare_point_by_point():
    assert (profile < 0.2).tolist() == [False, False, True]
    assert (profile > 0.2).tolist() == [True, True, False]
    assert (profile >= [0.3, 0.3, 0.1]).tolist() == [True, False, True]
    assert (profile == 0.5).tolist() == [False] * 3
    assert (profile != 0.5).tolist() == [True] * 3
    assert (profile[0] > profile).tolist() == [False, True, True]
    nothing: Any = profile == None  # noqa: E711
    assert nothing.tolist() == [False] * 3
    assert (profile < 1).dtype == bool
    with pytest.raises(UndecidedError) as caught:
        _ = profile.value < profile
    assert caught.value.upper == profile.upper[0]
    with pytest.raises(UndecidedError):
        _ = lp.Gaussian(sigma=1).delta([0.0, 0.5, 1.0]) == profile
    assert profile.same_as(lp.Gaussian(sigma=1).delta([0.0, 0.5, 1.0]))
    assert not profile.same_as(profile[:2])
    with pytest.raises(TypeError, match="unhashable"):
        hash(profile)


def test_bounds_are_calculated_with_point_by_point():
    for made, one in [
        (profile * 2, lambda b: b * 2),
        (2 * profile, lambda b: b * 2),
        (1 - profile, lambda b: 1 - b),
        (profile - 1, lambda b: b - 1),
        (profile + np.float64(1), lambda b: b + 1.0),
        (1 + profile, lambda b: b + 1),
        (profile / math.log(2), lambda b: b / math.log(2)),
        (1 / profile, lambda b: 1 / b),
        (profile**2, lambda b: b**2),
        (-profile, lambda b: -b),
    ]:
        assert isinstance(made, Bounds)
        assert made.same_as(Bounds([one(b) for b in profile]))
    assert (profile * np.array([1, 2, 3]))[2].same_as(3 * profile[2])
    assert (np.array([1.0, 2.0, 3.0]) * profile)[2].same_as(3 * profile[2])
    assert (np.ones((2, 1)) * profile).shape == (2, 3)
    moved = profile
    moved += 1
    assert moved[0].same_as(profile[0] + 1)
    assert np.sum(profile) == np.sum(profile.upper)
    assert np.log10(profile).tolist() == np.log10(profile.upper).tolist()
    with pytest.raises(TypeError, match="which end of the result is private"):
        profile + profile


def test_bounds_are_made_of_a_list_or_of_objects():
    assert Bounds([wide, spent]).shape == (2,)
    assert Bounds(np.array([[wide], [spent]], dtype=object))[1, 0] is spent
    assert Bounds([wide]).to_objects()[0] is wide


def through_json(data):
    return json.loads(json.dumps(data, allow_nan=False))


def test_a_bound_goes_through_json():
    data = spent.to_dict()
    assert through_json(data) == data
    assert list(data) == ["lower", "value", "upper", "side", "direction", "method", "status", "ledger", "proofs"]
    assert (data["upper"], data["side"], data["direction"], data["status"]) == (spent.upper, "upper", "remove", "met")
    infinite = Bound(0, 0, math.inf, Status.WIDE, ledger=Ledger(inner=Entry(math.inf, proved=False))).to_dict()
    assert through_json(infinite) == infinite
    assert (infinite["upper"], infinite["direction"]) == ("inf", None)
    assert infinite["ledger"]["inner"] == {"amount": "inf", "proved": False}


def test_bounds_go_through_json_in_their_shape():
    square = lp.Gaussian(sigma=1).delta([[0.0, 0.5], [1.0, 2.0]])
    data = square.to_dict()
    assert through_json(data) == data
    assert data["upper"] == square.upper.tolist()
    assert data["status"] == [["met", "met"], ["met", "met"]]
    assert data["proved"] == [[True, True], [True, True]]
    assert lp.Gaussian(sigma=1).delta([]).to_dict()["lower"] == []


def test_other_results_go_through_json():
    for made in (
        lp.calibrate(lambda steps: steps * lp.Gaussian(10), epsilon=2, delta=1e-5),
        lp.compare(10 * lp.Gaussian(sigma=10), epsilon=1, methods=METHODS),
        lp.compare(lp.ApproximateDP(1, 1e-3), delta=1e-5, methods=METHODS),
        lp.Gaussian(1).renyi(2 + 1j),
        lp.Approximation(math.inf, "guess"),
        Claim(math.inf, Side.UPPER, "one", "two"),
    ):
        data = made.to_dict()
        assert through_json(data) == data


def flat(rows):
    return all(isinstance(cell, (bool, int, float, str, type(None))) for row in rows for cell in row.values())


def test_tables_are_plain_rows():
    calibrated = lp.calibrate(lambda sigma: 10 * lp.Gaussian(sigma), epsilon=2, delta=1e-5, digits=3)
    compared = lp.compare(10 * lp.Gaussian(sigma=10), epsilon=1, methods=METHODS)
    for made in (profile, calibrated, compared):
        rows = made.records()
        assert flat(rows)
        assert len({tuple(row) for row in rows}) == 1
    assert [row["upper"] for row in profile.records()] == profile.upper.tolist()
    good, bad = calibrated.records()
    assert (good["parameter"], good["meets"], good["upper"]) == (calibrated.value, True, calibrated.answer.upper)
    assert (bad["parameter"], bad["meets"]) == (calibrated.nearest_miss, False)
    assert [row["name"] for row in compared.records()] == [row.name for row in compared.rows]
    assert Bound(0, 0, math.inf).record()["upper"] == math.inf


def test_pandas_takes_them():
    pandas = pytest.importorskip("pandas")
    assert pandas.DataFrame(profile.records())["upper"].tolist() == profile.upper.tolist()
    table = pandas.DataFrame(lp.compare(10 * lp.Gaussian(sigma=10), epsilon=1, methods=METHODS).records())
    assert table["value"].dtype == float
    assert pandas.Series(np.array([spent])).dtype == float


def test_a_calibration_is_its_value():
    found = lp.calibrate(lambda sigma: 1000 * lp.Gaussian(sigma).poisson(0.01), epsilon=2, delta=1e-5)
    assert repr(found).startswith("Calibration(value=0.959")
    assert repr(found).endswith("target='epsilon <= 2.0 at delta = 1e-05', status='tight')")
    assert len(repr(found)) < 140
    assert found == found.value
    assert found > 0.9
    assert max(found, 0.5) is found
    assert np.array([found]).dtype == float
    # more noise is safe
    assert f"{found:.3f}" == "0.960" == f"{found:.2}0"
    assert round(found, 2) == 0.96
    again = lp.calibrate(lambda sigma: 1000 * lp.Gaussian(sigma).poisson(0.01), epsilon=2, delta=1e-5)
    assert found == again
    assert found.same_as(again)


def test_steps_are_rounded_down():
    found = lp.calibrate(lambda steps: steps * lp.Gaussian(20), epsilon=2, delta=1e-5)
    assert found == int(found.value)
    assert f"{found:d}|{found:,}|{found:>6}" == f"{found.value}|{found.value:,}|{found.value:>6}"
    assert float(f"{found:.0e}") <= found.value < float(f"{found:.0e}") * 1.2
    assert round(found, -1) == found.value // 10 * 10
    assert hash(found) == hash(found.value)


def test_a_calibration_whose_safe_side_is_unknown_is_not_rounded():
    edge = lp.calibrate(lp.Gaussian(sigma=10).poisson, epsilon=2, delta=1e-5, upper=0.123456)
    assert edge.nearest_miss is None
    with pytest.raises(ValueError, match="the safe side is not known"):
        f"{edge:.3f}"
    with pytest.raises(ValueError, match="cannot be rounded"):
        round(edge, 3)
    whole = lp.calibrate(lp.Gaussian(sigma=10).poisson, epsilon=2, delta=1e-5)
    assert whole.nearest_miss is None
    assert (f"{whole:.2f}", round(whole, 2)) == ("1.00", 1.0)


def test_a_comparison_has_a_short_repr_and_equals_another_run():
    one, other = (lp.compare(10 * lp.Gaussian(sigma=10), epsilon=1, methods=METHODS) for _ in range(2))
    assert repr(one).startswith("Comparison(delta(1.0) of 10 * Gaussian(sigma=10.0), exact=Bound(lower=")
    assert repr(one).endswith(" rows)")
    assert len(repr(one)) < 220
    assert one == other
    assert hash(one) == hash(other)
    assert one != lp.compare(10 * lp.Gaussian(sigma=10), epsilon=2, methods=METHODS)


def test_a_claim_tells_of_one_side_only():
    most = Claim(0.25, Side.UPPER, "one", "two")
    assert most <= 0.25
    assert most < 0.3
    assert not most > 0.25
    assert (most < 0.3) is True
    for ask in (lambda: most < 0.25, lambda: most >= 0.2, lambda: most == 0.25, lambda: most <= 0.2):
        with pytest.raises(UndecidedError, match=r"between -inf and 0\.25"):
            ask()
    least = Claim(0.25, Side.LOWER, "one", "two")
    assert least >= 0.25
    assert least > 0.2
    assert f"{Claim(0.12341, Side.UPPER, 'one', 'two'):.3f}|{Claim(0.12341, Side.LOWER, 'one', 'two'):.3f}" == "0.124|0.123"
    assert repr(most) == "Claim(value=0.25, side='upper', name='one', source='two')"
    assert repr(Claim(1.0, Side.LOWER, "one", "two", "three", proved=False)) == (
        "Claim(value=1.0, side='lower', name='one', source='two', note='three', proved=False)"
    )
    assert most.same_as(Claim(0.25, Side.UPPER, "one", "two"))
    with pytest.raises(UndecidedError):
        _ = Claim(3.0, Side.UPPER, "one", "two") > spent
    assert Claim(3.0, Side.LOWER, "one", "two") > spent


def test_an_approximation_decides_nothing():
    guess = lp.Approximation(0.126937, "saddle point")
    for ask in (lambda: guess < 1, lambda: guess == 0.126937, lambda: guess > spent):
        with pytest.raises(UndecidedError, match="between -inf and inf"):
            ask()
    assert float(guess) < 1
    assert f"{guess:.3f}|{guess:.4f}" == "0.127|0.1269"
    assert round(guess, 3) == 0.127
    assert guess.same_as(lp.Approximation(0.126937, "saddle point"))


def test_a_box_is_equal_where_both_parts_are():
    one = Bound(1, 1, 1)
    box = ComplexBound(one, Bound(0, 0.5, 1))
    assert box != 2
    assert box != 1 + 2j
    assert box != ComplexBound(one, Bound(2, 3, 4))
    assert box == box
    assert box != np.complex128(1 + 2j)
    assert np.complex128(1 + 2j) != box
    with pytest.raises(UndecidedError):
        _ = box == 1 + 0.5j
    with pytest.raises(UndecidedError):
        _ = np.complex128(1 + 0.5j) == box
    assert ComplexBound(one, one) == 1 + 1j
    assert len({ComplexBound(one, one), 1 + 1j}) == 1
    assert ComplexBound(one, Bound(0, 0, 0)) == 1 == ComplexBound(one, Bound(0, 0, 0))
    assert box != "1"
    assert copy.deepcopy(box).same_as(box)
    assert "\n" not in repr(box)


@pytest.mark.parametrize("text", ["Gaussian(sigma=1)", "30 * Laplace(scale=4)", "RandomizedResponse(p=0.6)"])
def test_answers_survive_pickling(text):
    for answer in (parse(text).delta(0.3), parse(text).delta([0.1, 0.2]), parse(text).tradeoff(0.1)):
        assert pickle.loads(pickle.dumps(answer)).same_as(answer)
