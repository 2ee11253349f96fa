"""Certificates: what they say of a mechanism, that they are the same bytes for the same claim, and what is refused."""

import dataclasses
import hashlib
import json
import math
import os
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import logphi as lp
from logphi.expression import parse
from own import Own
from profiles import gaussian_profile

pytest.importorskip("flint")
from logphi.certified.certificate import Certificate, issue
from logphi.certified.route import NotCertifiedError

TRAINING = "14062 * Gaussian(sigma=1.1).poisson(256/60000)"
# by quadrature of the sampled densities and by their composition on a grid, in many digits
EPSILON = Decimal("2.38159692142439725468842921352285782658384")
TINY = Fraction(1, 10**13)


NODES = {
    "Gaussian(sigma=1.1)": {
        "name": "Gaussian",
        "adjacency": "add_remove",
        "parameters": {"sigma": "11/10", "sensitivity": "1"},
    },
    "Gaussian(sigma=2, sensitivity=.5).poisson(256/60000, group_size=3)": {
        "name": "poisson",
        "adjacency": "add_remove",
        "parameters": {"rate": "8/1875", "group_size": "3"},
        "base": {"name": "Gaussian", "adjacency": "add_remove", "parameters": {"sigma": "2", "sensitivity": "1/2"}},
    },
    "Laplace(scale=2.5, adjacency='replace').subset(0.25, adjacency='remove')": {
        "name": "subset",
        "adjacency": "remove",
        "parameters": {"rate": "1/4"},
        "base": {"name": "Laplace", "adjacency": "replace", "parameters": {"scale": "5/2", "sensitivity": "1"}},
    },
    "DiscreteGaussian(sigma=0.7)": {
        "name": "DiscreteGaussian",
        "adjacency": "add_remove",
        "parameters": {"sigma": "7/10", "sensitivity": "1", "truncation": None},
    },
    "DistanceToInstability(epsilon=0.3, delta=1e-3, adjacency='add')": {
        "name": "DistanceToInstability",
        "adjacency": "add",
        "parameters": {"epsilon": "3/10", "delta": "1/1000"},
    },
    "KaryRandomizedResponse(k=4, p=0.5)": {
        "name": "KaryRandomizedResponse",
        "adjacency": "replace",
        "parameters": {"k": "4", "p": "1/2"},
    },
    "Discrete(p=[0.1, 0.9, 0], q=[0.6, 0.3, 0.1])": {
        "name": "Discrete",
        "adjacency": "add_remove",
        "parameters": {"p": ["1/10", "9/10", "0"], "q": ["3/5", "3/10", "1/10"]},
    },
}


@pytest.mark.parametrize("text", NODES)
def test_a_mechanism_as_plain_data(text):
    assert parse(f"3 * {text}").tree() == [(3, NODES[text])]


def test_floats_are_their_shortest_decimals():
    ((_, node),) = lp.Gaussian(sigma=0.1, sensitivity=1e23).tree()
    assert (node["parameters"]["sigma"], node["parameters"]["sensitivity"]) == ("1/10", "1" + "0" * 23)


def test_the_order_of_a_composition_leaves_no_trace():
    texts = ("2 * Laplace(scale=3)", "Gaussian(sigma=1.1)", "3 * Gaussian(sigma=2.5).poisson(0.1)", "PureDP(epsilon=1)")
    here, there = (parse(" + ".join(order)) for order in (texts, texts[::-1]))
    assert here.tree() == there.tree()
    assert [count for count, _ in here.tree()] != [2, 1, 3, 1]
    simple = "2 * Gaussian(sigma=3)", "Gaussian(sigma=1.1, sensitivity=0.3)"
    one, other = (parse(" + ".join(order)).certify(epsilon=1) for order in (simple, simple[::-1]))
    assert one.to_json() == other.to_json()


@pytest.mark.parametrize(
    ("release", "manner"),
    [
        (lambda: parse("Gaussian(sigma=1.1) + Laplace(scale=2)"), "as written"),
        (lambda: lp.Gaussian(sigma=Fraction(11, 10)), "as written"),
        (lambda: lp.Gaussian(sigma=2.0, sensitivity=3), "as written"),
        (lambda: lp.Gaussian(sigma=2.5), "as written"),
        (lambda: lp.Gaussian(sigma=1.1), "floats as their shortest decimals"),
        (lambda: lp.Gaussian(sigma=1.1) + parse("Gaussian(sigma=1.2)"), "floats as their shortest decimals"),
        (lambda: lp.Laplace(scale=1e23, sensitivity=1e22), "floats as their shortest decimals"),
    ],
)
def test_how_parameters_are_known(release, manner):
    assert release().certify(epsilon=0.5).parameters == manner


def test_a_float_makes_the_same_claim_as_its_decimal_and_another_than_the_value_of_its_double():
    sigmas = (1.1, Fraction(11, 10), Fraction(1.1))
    plain, written, double = (lp.Gaussian(sigma=one).certify(delta=TINY, digits=30) for one in sigmas)
    assert (plain.lower, plain.upper, plain.mechanism) == (written.lower, written.upper, written.mechanism)
    assert plain.upper < double.lower or double.upper < plain.lower
    assert abs(plain.lower - double.lower) < Decimal("1e-14")
    one, other, third = (lp.Gaussian(sigma=1).certify(delta=at, digits=30) for at in (1e-5, Fraction(1, 10**5), Fraction(1e-5)))
    assert one == other
    assert one.at == Fraction(1, 10**5)
    assert one.upper < third.lower or third.upper < one.lower


def test_probabilities_of_ordinary_python_sum_to_one_as_decimals():
    certificate = lp.GaussianMixture(1, [1, 2], [0.9, 0.1]).certify(delta=1e-5)
    written = parse("GaussianMixture(1, [1, 2], [0.9, 0.1])").certify(delta=Fraction(1, 10**5))
    assert (certificate.lower, certificate.upper) == (written.lower, written.upper)
    assert "floats as their shortest decimals" in str(certificate)
    assert lp.verify(certificate)
    assert lp.verify(lp.Discrete(p=[0.1] * 10, q=[0.1] * 8 + [0.15, 0.05]).certify(epsilon=0.1))


def test_a_rate_that_was_computed_is_the_decimal_of_its_float():
    """The float 256/60000 is no quotient any more."""
    ((_, node),) = lp.Gaussian(sigma=1).poisson(256 / 60000).tree()
    assert node["parameters"]["rate"] == str(Fraction("0.004266666666666667"))
    ((_, node),) = lp.Gaussian(sigma=1).poisson(Fraction(256, 60000)).tree()
    assert node["parameters"]["rate"] == "8/1875"


def test_the_main_job():
    certificate = parse(TRAINING).certify(delta=Fraction(1, 10**5), digits=40)
    assert certificate.lower < EPSILON < certificate.upper
    assert certificate.upper - certificate.lower <= certificate.upper.scaleb(-40)
    assert certificate.direction is None
    assert certificate.attained == "remove"
    assert str(certificate).startswith("certified: 2.3815969214243972")


def test_a_published_value_below_the_truth():
    certificate = parse("10**4 * Gaussian(sigma=100)").certify(delta=TINY)
    assert certificate.lower > Decimal("7.486")


def test_one_direction():
    release = parse(TRAINING)
    remove, add = (release.certify(delta=1e-5, direction=one) for one in ("remove", lp.Direction.ADD))
    assert (remove.direction, add.direction) == ("remove", "add")
    assert add.upper < remove.lower
    assert release.certify(delta=1e-5, direction="both").direction is None
    assert json.loads(add.to_json())["claims"][0]["direction"] == "add"


def test_json_of_one_form():
    certificate = parse("Gaussian(sigma=1.1)").certify(delta=Fraction(1, 10**5))
    text = certificate.to_json()
    assert text == parse("Gaussian(sigma=1.1)").certify(delta=Fraction(1, 10**5)).to_json()
    assert text.isascii()
    assert text.endswith("}\n")
    content = json.loads(text)
    stated = content.pop("sha256")
    plain = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    assert stated == hashlib.sha256(plain).hexdigest()
    assert set(content) == {"format", "version", "made_by", "releases", "parameters", "claims", "not_covered"}
    assert (content["format"], content["version"]) == ("logphi-certificate", 3)
    assert content["releases"] == [{"adjacency": "add_remove", "mechanism": [[1, NODES["Gaussian(sigma=1.1)"]]], "hulls": []}]
    claim: dict[str, Any] = {"quantity": "epsilon", "at": "1/100000", "direction": None, "release": 0, "lines": {}}
    # both orders are the same, and one release has a closed form
    claim["proof"] = {"remove": ["alone", 143]}
    assert content["claims"] == [{**claim, "lower": str(certificate.lower), "upper": str(certificate.upper)}]
    assert set(content["made_by"]) == {"logphi", "python-flint", "flint"}


def test_a_small_delta_is_a_decimal_with_an_exponent():
    (claim,) = json.loads(parse("Gaussian(sigma=1.1)").certify(epsilon=40).to_json())["claims"]
    assert claim["lower"].islower()
    assert Decimal(claim["lower"]) < Decimal("1e-300")


def test_a_file_is_written_at_once_or_not_at_all(tmp_path, monkeypatch):
    certificate = parse("Gaussian(sigma=1.1)").certify(epsilon=1)
    file, link = tmp_path / "certificate.json", tmp_path / "link.json"
    link.symlink_to(file)
    certificate.save(link)
    assert file.read_bytes() == certificate.to_json().encode()
    assert link.is_symlink()

    def fails(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="full"):
        parse("Gaussian(sigma=1.2)").certify(epsilon=1).save(file)
    assert file.read_bytes() == certificate.to_json().encode()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["certificate.json", "link.json"]


def test_a_device_stays_one():
    parse("Gaussian(sigma=1.1)").certify(epsilon=1).save(os.devnull)
    assert not os.path.isfile(os.devnull)


def test_a_certificate_in_words():
    printed = str(parse("3 * Gaussian(sigma=2) + Laplace(scale=4)").certify(epsilon=Fraction(1, 3), digits=5))
    first, second = printed.splitlines()
    assert first.startswith("certified: ")
    assert first.endswith(" at epsilon = 1/3")
    assert second == "  to 5 digits, under add_remove, parameters as written, for 4 releases"
    assert "at epsilon = 0.1\n" in str(parse("Gaussian(sigma=2)").certify(epsilon=0.1))
    assert "at epsilon = the double 0.1" in str(parse("Gaussian(sigma=2)").certify(epsilon=Fraction(0.1)))


@pytest.mark.parametrize(
    ("release", "question", "reason"),
    [
        (lambda: parse("Gaussian(sigma=1)"), {}, "exactly one of epsilon and delta"),
        (lambda: parse("Gaussian(sigma=1)"), {"epsilon": 1, "delta": 0.1}, "exactly one"),
        (lambda: parse("Gaussian(sigma=1)"), {"delta": 0}, "strictly between 0 and 1"),
        (lambda: parse("Gaussian(sigma=1)"), {"delta": 1}, "strictly between 0 and 1"),
        (lambda: parse("Gaussian(sigma=1)"), {"epsilon": float("nan")}, "finite"),
        (lambda: parse("Gaussian(sigma=1)"), {"epsilon": 1, "digits": 0}, "from 1 to 1000"),
        (lambda: parse("Gaussian(sigma=1)"), {"epsilon": 1, "digits": 1001}, "from 1 to 1000"),
        (lambda: parse("Gaussian(sigma=1)"), {"epsilon": 1, "direction": "up"}, "direction must be"),
        (lambda: parse("Gaussian(sigma=1, adjacency='add')"), {"epsilon": 1, "direction": "remove"}, "does not exist"),
        (lambda: parse("0 * Gaussian(sigma=1)"), {"epsilon": 1}, "nothing is released"),
        (Own, {"epsilon": 1}, "Own is not in the catalogue"),
        (
            lambda: lp.FromRenyi(lambda order: order / 2),
            {"epsilon": 1},
            "do not know a FromRenyi",
        ),
        (lambda: lp.Gaussian(1.1) + lp.Laplace(Fraction(1.1)), {"epsilon": 1}, "double 1.1 stands for two different numbers"),
        (lambda: lp.Gaussian(0.1) + lp.Gaussian(Fraction(0.1)), {"epsilon": 1}, "double 0.1 stands for two different numbers"),
        (lambda: parse("Gaussian(1).poisson(1 - 1e-30)"), {"epsilon": 1}, "which doubles cannot hold"),
        (lambda: lp.Discrete([1 / 3] * 3, [0.2, 0.1, 0.7]), {"epsilon": 0.1}, "p of a Discrete must sum to one exactly"),
    ],
)
def test_refusals(release, question, reason):
    with pytest.raises(ValueError, match=reason):
        release().certify(**question)


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize(("name", "parameters"), [("Toy", {"sigma": "1"}), ("Gaussian", {"sigma": "1", "clip": "2"})])
def test_what_the_checker_does_not_know_is_not_certified(name, parameters, sampled):
    """As a mechanism that joins the catalogue before the checker knows it."""

    def unasked(_: Certificate) -> NoReturn:
        raise AssertionError("there is nothing to check")

    node = {"name": name, "adjacency": "add_remove", "parameters": parameters}
    if sampled:
        drawn = {"rate": "1/2", "group_size": "1"}
        node = {"name": "poisson", "adjacency": "add_remove", "parameters": drawn, "base": node}
    with pytest.raises(NotCertifiedError, match=f"do not know a {name} with parameters {', '.join(parameters)}"):
        issue(
            lp.Gaussian(1)._loss(),
            [(1, node)],
            "as written",
            quantity="delta",
            at=Fraction(1),
            direction=None,
            digits=5,
            check=unasked,
            check_soon=unasked,
        )


def test_what_has_no_answer_is_refused_as_such():
    with pytest.raises(NotCertifiedError):
        parse("ApproximateDP(epsilon=1, delta=0.1)").certify(delta=0.01)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (TRAINING, {"delta": Fraction(1, 10**5)}),
        (TRAINING, {"epsilon": 2.5, "digits": 30, "direction": "add"}),
        ("3 * Gaussian(sigma=2) + Laplace(scale=4)", {"epsilon": Fraction(1, 3)}),
        ("5 * ApproximateDP(epsilon=0.3, delta=1e-5).poisson(0.1)", {"epsilon": Fraction(1, 10)}),
        ("6 * Discrete(p=[0.5, 0.3, 0.2, 0], q=[0.2, 0.3, 0.4, 0.1])", {"delta": Fraction(1, 2)}),
        ("20 * RandomizedResponse(p=0.7, adjacency='replace').subset(0.1, adjacency='replace')", {"epsilon": 0}),
    ],
)
def test_certificates_are_what_the_checker_reads(text, question):
    from logphi.checker import verify

    verdict = verify(parse(text).certify(**question).to_json())
    assert verdict.status == 0, verdict.reason


# ------------------------------------------------------------------------------------------- as it was typed
@pytest.mark.parametrize(("count", "p"), [(1, 0.25), (3, 0.25), (50, 0.25), (3, 0.5), (3, 0.75), (2, 1e-9)])
def test_a_response_that_lies_more_often_than_not_is_certified(p, count):
    release = count * lp.RandomizedResponse(p=p)
    for epsilon in (-1, 0, 1, 50):
        sure, answer = release.delta(epsilon, method="certified"), release.delta(epsilon)
        assert sure.lower <= answer.upper
        assert answer.lower <= sure.upper
    symmetric = count * lp.RandomizedResponse(p=1 - Fraction(str(p)))
    assert release.delta(1, method="certified").same_as(symmetric.delta(1, method="certified"))


@pytest.mark.parametrize("nothing", [lp.PureDP(0), 3 * lp.RandomizedResponse(0.5), lp.Discrete([0.1, 0.9], [0.1, 0.9])])
def test_what_leaks_nothing_is_certified_to_leak_nothing(nothing):
    assert nothing.delta(0, method="certified").upper == 0
    assert nothing.delta(-1, method="certified").lower == pytest.approx(1 - math.exp(-1))
    assert nothing.epsilon(1e-9, method="certified").upper == 0
    assert lp.verify(nothing.certify(delta=1e-9))


@pytest.mark.parametrize("epsilon", [1, 50, 200])
def test_logarithms_of_what_no_double_holds(epsilon):
    """Of a Gaussian mechanism, in closed form: at 200 its delta is about e^-19907."""
    with mpmath.workdps(40):
        truth = mpmath.log(gaussian_profile(mpmath.mpf(1))(mpmath.mpf(epsilon)))
        found = lp.Gaussian(sigma=1).log_delta(epsilon, method="certified")
        assert found.lower < truth < found.upper
    assert found.width < 1e-11
    assert found.status is lp.Status.MET
    assert found.ledger.proved


def test_the_logarithm_of_zero_is_minus_infinity():
    """Beyond the largest loss, where delta itself is certified to be zero."""
    found = lp.RandomizedResponse(p=0.75).log_delta([1, 2], method="certified")
    assert list(found.lower) == [pytest.approx(math.log(0.75 - 0.25 * math.e)), -math.inf]
    assert found.upper[1] == -math.inf


@pytest.mark.parametrize("question", [{"epsilon": 8}, {"delta": 0.6}])
def test_public_coins_may_leak_nothing(question):
    """Losses of three are at most 3 log(0.65 / 0.35) = 1.86, and delta at zero is at most 0.437, that of three responses."""
    release = 3 * lp.RandomChoice([lp.DiscreteLaplace(3), lp.RandomizedResponse(0.65)], [0.25, 0.75])
    certificate = release.certify(**question)
    assert certificate.upper == 0
    assert lp.verify(certificate)


def test_bounds_of_the_certified_method_are_about_the_decimals_too():
    """The question as well: one, many, and Fractions among many."""
    release = lp.GaussianMixture(1, [1, 2], [0.9, 0.1])
    certificate = release.certify(delta=1e-5)
    sure = release.epsilon(1e-5, method="certified")
    assert sure.lower <= certificate.lower <= certificate.upper <= sure.upper
    third = Fraction(1, 3)
    many = release.delta([0.1, third], method="certified")
    assert [float(one) for one in many.upper] == [release.delta(at, method="certified").upper for at in (0.1, third)]
    with pytest.raises(ValueError, match=r"double 0\.1 stands for two different numbers"):
        release.delta([0.1, Fraction(0.1)], method="certified")


def test_verify_takes_what_certify_returns(tmp_path):
    certificate = lp.GaussianMixture(1, [1, 2], [0.9, 0.1]).certify(delta=1e-5)
    certificate.save(tmp_path / "certificate.json")
    for one in (certificate, certificate.to_json(), json.loads(certificate.to_json()), tmp_path / "certificate.json"):
        verdict = lp.verify(one)
        assert verdict
        reason, release, claim = str(verdict).splitlines()
        assert reason == "the claim follows:"
        assert release == "of GaussianMixture(sigma=1, sensitivities=[1, 2], probabilities=[0.9, 0.1]), under add_remove:"
        assert claim == f"  epsilon at delta = 0.00001: at most {certificate.upper} and more than {certificate.lower}"
    assert lp.verify(dataclasses.replace(certificate, lower=certificate.lower + 1, upper=certificate.upper + 1)).status == 1


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("certificate.json", "for a file, pass its pathlib.Path"),
        (1e-5, "a text or what certify returned, got float"),
        (None, "got NoneType"),
    ],
)
def test_what_is_no_certificate_is_told_so(given, reason):
    verdict = lp.verify(given)
    assert verdict.status == 2
    assert reason in str(verdict)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        lp.verify(tmp_path / "none.json")


def test_a_certificate_says_how_floats_were_read():
    certificate = lp.Gaussian(sigma=Fraction(1.1)).certify(delta=Fraction(1e-5))
    assert lp.verify(dataclasses.replace(certificate, parameters="rounded")).status == 2


@given(
    sigma=st.floats(0.5, 3),
    sensitivity=st.floats(0.1, 2),
    scale=st.floats(0.5, 5),
    p=st.floats(0.05, 0.95),
    at=st.floats(0.01, 1),
)
@settings(max_examples=4, deadline=None)
def test_whatever_the_floats_the_checker_reads_the_same_numbers(sigma, sensitivity, scale, p, at):
    """To thirty digits: a double and its decimal differ in the seventeenth."""
    for release in (
        2 * lp.Gaussian(sigma, sensitivity),
        lp.Laplace(scale),
        3 * lp.RandomizedResponse(p),
        2 * lp.RandomizedResponse(p).poisson(p),
        lp.GaussianMixture(sigma, [sensitivity, 2], [0.9, 0.1]),
    ):
        verdict = lp.verify(release.certify(epsilon=at, digits=30))
        assert verdict, (release, verdict)
