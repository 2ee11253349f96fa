"""Routes promise before they prepare; the cheapest promise that suffices is taken, and the next one where it is broken."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

import logphi as lp
from logphi.arith.scaled import Scaled
from logphi.engine.log_probability import LogProbability
from logphi.engine.method import Method
from logphi.engine.routes.choices import Choice, choices
from logphi.engine.routes.contour import CONTOUR
from logphi.engine.routes.experience import Experience
from logphi.engine.routes.exponential import EXPONENTIAL
from logphi.engine.routes.planner import Planned
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Offer, Request, Route, inverted
from logphi.inversion.demand import Demand, Promise
from logphi.inversion.lines.contour import Inversion, Part
from random_compositions import FAMILIES, questions

LOSS = (100 * lp.Gaussian(sigma=5).poisson(0.1)).loss_law()
DEMAND = Demand(1e-9, enough=1e-6)
REQUEST = Request(LOSS, 1.0, DEMAND)
# measured, somewhat below: the share of promises that are broken, over all families
MOST_BROKEN = 0.12


def route(name: str, promise: Promise | str, width: float) -> Route:
    """A route that promises, or says why it does not, and then is as wide as it is."""
    method = Method(name, "for a test")

    def prepare(request: Request) -> LocalProfile:
        return inverted(request.loss, method, lambda x: Inversion(Part.EXCESS, Scaled.between(-1.0 - width, -1.0)))

    def forecast(request: Request) -> Offer:
        if isinstance(promise, str):
            raise NotApplicableError(promise)
        return Offer(promise, lambda: prepare(request))

    return Route(method, prepare, forecast=forecast)


def asked(*routes: Route, demand: Demand = DEMAND) -> tuple[LogProbability, list[Choice]]:
    """The profile by the routes, and which of them were taken."""
    with choices() as taken:
        found = Planned(Experience(LOSS, routes), Request(LOSS, 1.0, demand))(1.0)
    return found, taken


def test_the_cheapest_promise_that_suffices_is_taken():
    dear, cheap, wide = (
        route("dear", Promise(1e-9, 1e8), 1e-10),
        route("cheap", Promise(1e-9, 3e7), 1e-10),
        route("wide", Promise(1e-3, 1e3), 1e-4),
    )
    found, taken = asked(dear, wide, cheap)
    assert [one.route for one in taken] == ["cheap"]
    assert taken[0].kept
    assert found.method == "cheap"
    assert {name for name, _ in taken[0].others} == {"dear", "wide"}


def test_a_quick_promise_is_taken_without_asking_the_others():
    _, taken = asked(route("quick", Promise(1e-9, 1e6), 1e-10), route("quicker", Promise(1e-9, 1e5), 1e-10))
    assert [(one.route, one.others) for one in taken] == [("quick", ())]


def test_the_next_route_is_taken_where_a_promise_is_broken():
    found, taken = asked(route("false", Promise(1e-9, 1e6), 1e-2), route("true", Promise(1e-9, 5e7), 1e-10))
    assert [(one.route, one.kept) for one in taken] == [("false", False), ("true", True)]
    assert found.method == "true"


def test_the_best_promise_is_taken_where_none_suffices():
    found, taken = asked(route("wide", Promise(1e-1, 1e3), 1e-2), route("narrow", Promise(1e-4, 1e8), 1e-5))
    assert [one.route for one in taken] == ["narrow"]
    assert found.relative_width < 1e-4


def test_what_a_false_promise_costs_is_time_alone():
    """Whatever is promised, the bounds are those of the answers."""
    honest, _ = asked(CONTOUR)
    for promised in (Promise(1e-300, 0.0), Promise(1e300, 1e300)):

        def offer(request: Request, told: Promise = promised) -> Offer:
            return Offer(told, CONTOUR.offer(request).prepare)

        found, _ = asked(Route(CONTOUR.method, CONTOUR.prepare, forecast=offer))
        assert (found.lower, found.upper) == (honest.lower, honest.upper)


def test_reasons_in_words_are_kept():
    _, taken = asked(route("other", "it is raining", 0.0), route("own", Promise(1e-9, 5e7), 1e-10))
    assert taken[0].others == (("other", "it is raining"),)
    assert "other: it is raining" in str(taken[0])


def test_a_refusal_holds_nearby():
    """A route that has refused is asked again elsewhere only; some refusals take half a second."""
    times: list[float] = []

    def forecast(request: Request) -> Offer:
        times.append(request.epsilon)
        raise NotApplicableError("no line")

    refusing = Route(Method("refusing"), CONTOUR.prepare, forecast=forecast)
    planned = Planned(Experience(LOSS, [refusing, route("wide", Promise(1e-4, 1e3), 1e-4)]), REQUEST)
    for x in (1.0, 1.001, 1.002, 1.1):
        planned(x)
    assert times == [1.0, 1.1]


def test_a_promise_stands_nearby():
    """A route that was not taken is not asked again a step away, as its forecast takes as long as many answers."""
    times: list[float] = []

    def forecast(request: Request) -> Offer:
        times.append(request.epsilon)
        return Offer(Promise(1e-4, 1e3), lambda: CONTOUR.prepare(request))

    # no narrower than what the other route has found
    passed_over = Route(Method("passed over"), CONTOUR.prepare, forecast=forecast)
    planned = Planned(Experience(LOSS, [route("wide", Promise(1e-5, 1e3), 1e-4), passed_over]), REQUEST)
    for x in (1.0, 1.01, 1.0101, 1.0102, 1.1):
        planned(x)
    assert times == [1.0, 1.01, 1.1]


def made(family: str, count: int) -> list[Choice]:
    """The choices of some questions to random compositions, the same ones every time."""
    taken: list[Choice] = []
    for i in range(count):
        rng = Random(f"promises, {family}, {i}")
        release = FAMILIES[family](rng)
        with choices() as own:
            for what, x in questions(rng):
                getattr(release, what)(x)
        taken += own
    return taken


def counted(count: int) -> None:
    all_made = [one for family in FAMILIES for one in made(family, count)]
    broken = [one for one in all_made if not one.kept]
    assert len(all_made) > 8 * count
    assert len(broken) <= MOST_BROKEN * len(all_made), [str(one) for one in broken]


def test_few_promises_are_broken():
    counted(1)


@pytest.mark.slow
def test_few_of_many_promises_are_broken():
    counted(15)


@pytest.mark.parametrize(
    ("release", "question", "words"),
    [
        (lambda: 14062 * lp.Gaussian(sigma=1.1).poisson(256 / 60000), {"delta": 1e-5}, "no other route was tried"),
        (lambda: 1000 * lp.Gaussian(sigma=1).poisson(1e-4), {"epsilon": 0.08}, "contour: a relative width of"),
        (lambda: 1000 * lp.Gaussian(sigma=1).poisson(1e-4), {"epsilon": 0.08}, "clipped promised a relative width of"),
        (lambda: 20 * lp.Gaussian(sigma=5) + 5 * lp.Laplace(scale=4), {"epsilon": 2.0}, "kept its promise"),
        (lambda: 100 * lp.Gaussian(sigma=20), {"delta": 1e-5}, "nothing else was needed"),
    ],
)
def test_explain_says_why(release: Callable[[], lp.Mechanism], question: dict[str, Any], words: str) -> None:
    told = release().explain(**question)
    assert words in str(told)
    assert "why" in str(told)
    assert told.bound.method in {one.route for one in told.choices} or words == "nothing else was needed"


@pytest.mark.parametrize("question", [{"epsilon": 0.5}, {"delta": 1e-3}], ids=str)
@pytest.mark.parametrize(
    "release",
    [10 * lp.Laplace(scale=1).allocation(5), 3 * (lp.Laplace(scale=1) + lp.RandomizedResponse(p=0.7)).poisson(0.2)],
    ids=repr,
)
def test_explain_of_a_bracket_has_its_answer_and_is_short(release: lp.Mechanism, question: dict[str, Any]) -> None:
    told = release.explain(**question)
    answer = release.delta(question["epsilon"]) if "epsilon" in question else release.epsilon(question["delta"])
    assert told.bound.same_as(answer)
    assert told.mechanism == repr(release)
    # a law of thousands of outcomes is not written out
    assert len(str(told)) < 3000
    assert "characters)" in str(told)


def test_explain_of_a_named_route():
    told = (1000 * lp.Gaussian(sigma=1).poisson(1e-4)).explain(epsilon=0.08, method="contour")
    assert "requested by name" in str(told)


@pytest.mark.parametrize("release", [lp.PureDP(1.0), lp.Gaussian(sigma=1).poisson(0.1)], ids=repr)
def test_an_answer_that_is_known_at_once_has_a_route(release):
    assert "  route    closed forms" in str(release.explain(delta=0.9))


def test_what_is_known_of_routes_stands_for_a_later_profile_with_the_same_demand():
    asked_for = []
    wide = route("wide", Promise(1e-9, 1e3), 1e-7)

    def forecast(request: Request) -> Offer:
        asked_for.append(request.epsilon)
        return Offer(Promise(1e-9, 1e3), lambda: wide.prepare(request))

    counted = Route(wide.method, wide.prepare, forecast=forecast)
    experience = Experience(LOSS, [counted])
    for x, demand in ((1.0, DEMAND), (1.0, DEMAND), (2.0, DEMAND), (1.0, Demand(1e-12, enough=1e-12))):
        Planned(experience, Request(LOSS, x, demand))(x)
    assert asked_for == [1.0, 2.0, 1.0]


def test_what_one_request_prepared_answers_another_that_it_is_narrow_enough_for():
    """The epsilon may be far away; otherwise a route prepares anew."""
    once, narrow = route("once", Promise(1e-9, 1e3), 1e-10), Demand(1e-11, enough=1e-11)
    experience = Experience(LOSS, [once])
    with choices() as taken:
        for x, demand in ((1.0, DEMAND), (5.0, DEMAND), (1.0, Demand(1e-3)), (1.0, narrow)):
            assert Planned(experience, Request(LOSS, x, demand))(x).method == "once"
    assert [one.epsilon for one in taken] == [1.0, 1.0]
    assert experience.leader is once


def test_a_profile_that_does_not_apply_far_away_is_passed_over():
    once = route("once", Promise(1e-9, 1e3), 1e-10)

    def prepare(request: Request) -> LocalProfile:
        local = once.prepare(request)

        def at(x: float) -> LogProbability:
            if x != request.epsilon:
                raise NotApplicableError("too far")
            return local(x)

        return at

    experience = Experience(LOSS, [Route(once.method, prepare)])
    for x in (1.0, 5.0):
        assert Planned(experience, Request(LOSS, x, DEMAND))(x).method == "once"
    planned = Planned(experience, Request(LOSS, 1.0, DEMAND))
    assert [planned(x).method for x in (1.0, 5.0)] == ["once", "once"]


def test_an_array_with_points_that_are_known_at_once():
    """Far below zero delta is one to all digits, and a route would need too long an integral."""
    release = lp.Gaussian(2.0).allocation(50)
    assert release.log_delta([1.0, -301.0]).upper[1] == 0.0


def test_a_width_that_suffices_is_kept_where_another_preparation_would_take_long():
    for work, prepared in ((1e6, 2), (1e9, 1)):
        experience = Experience(LOSS, [route("wide", Promise(1e-7, work), 1e-7)])
        with choices() as taken:
            for x in (1.0, 5.0):
                Planned(experience, Request(LOSS, x, DEMAND))(x)
        assert len(taken) == prepared


@pytest.mark.parametrize(
    "release",
    [
        79 * lp.Laplace(scale=29.4).poisson(0.033),
        129 * lp.DiscreteGaussian(sigma=9.7).poisson(0.067),
        1000 * lp.DiscreteGaussian(sigma=20).poisson(0.01),
    ],
    ids=str,
)
def test_one_line_serves_each_order_of_many_releases(release):
    """The saddle-point guess is near enough for the first line, although the losses have atoms."""
    with choices() as taken:
        release.epsilon(1e-6)
    assert [one.route for one in taken if one.route == "smoothed"] == ["smoothed"] * 2


def test_sums_that_take_too_many_terms_are_offered_for_the_width_that_suffices():
    loss = (87 * lp.Laplace(scale=0.2) + 20 * lp.RandomizedResponse(p=0.6)).loss_law()
    exact, enough = (EXPONENTIAL.offer(Request(loss, 1.0, Demand(rtol, enough=1e-6))).promise for rtol in (1e-9, 1e-6))
    assert exact == enough
    assert enough.relative_width == 1e-6
    # a few terms are summed as they are
    few = EXPONENTIAL.offer(Request((20 * lp.Laplace(scale=5)).loss_law(), 1.0, DEMAND)).promise
    assert few.relative_width == DEMAND.rtol
    assert few.operations < enough.operations / 2


def test_the_other_direction_is_not_asked_where_one_is_one_to_all_digits():
    release = 685646 * lp.Gaussian(sigma=0.115).poisson(5e-5)
    with choices() as taken:
        found = release.delta(10.0)
    assert taken == []
    assert 1 - 1e-9 < found.lower < found.upper == 1
    assert release.delta(10.0, direction="add").lower <= found.upper
