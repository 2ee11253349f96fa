"""Arrays of questions: neighbours share what is prepared, and every answer holds the truth as if it had been asked alone."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import logphi as lp
from effort import answers
from exact import contains, dec
from logphi.inversion.lines import line_sum
from profiles import gaussian_profile

# an array may be answered a little wider than its points alone
WIDER = 1.01e-9

RELEASES = {
    "sampled": 14062 * lp.Gaussian(sigma=1.1).poisson(256 / 60000),
    "one sampled": lp.Gaussian(sigma=1.0).poisson(0.01),
    "with responses": 200 * lp.Gaussian(sigma=5.0) + 200 * lp.RandomizedResponse(p=0.52),
    "lattice": 1000 * lp.RandomizedResponse(p=0.52),
    "Laplace": 20 * lp.Laplace(scale=5.0),
    "with infinite losses": 3 * lp.Gaussian(sigma=2.0) + lp.ApproximateDP(epsilon=0.1, delta=1e-4),
    "many": lp.compose(lp.Gaussian(sigma=1 + i / 70).poisson(0.01) for i in range(70)),
    "added": 100 * lp.Laplace(scale=20.0, adjacency="add"),
}
SLOW = ("sampled", "Laplace", "many", "added")
EPSILONS = np.array([-3.0, -0.1, 0.0, 1e-6, 0.02, *np.linspace(0.1, 4.0, 16), 9.0])
DELTAS = np.concatenate([np.geomspace(1e-14, 1e-2, 9), [0.0, 1e-200, 0.1, 0.5, 1.0]])


def test_a_curve_of_gaussians_holds_the_closed_form():
    release, epsilons = 2000 * lp.Gaussian(sigma=100.0), np.linspace(-2.0, 6.0, 161)
    found = release.delta(epsilons)
    with mpmath.workdps(60):
        m = mpmath.sqrt(2000) / dec(100)
        for bound, epsilon in zip(found, epsilons, strict=True):
            exact = gaussian_profile(m)(dec(epsilon))
            assert contains(bound, exact), epsilon
            assert bound.upper - bound.lower <= WIDER * float(exact)


def test_epsilons_of_gaussians_are_on_either_side_of_the_closed_form():
    release, deltas = 2000 * lp.Gaussian(sigma=100.0), np.geomspace(1e-30, 0.1, 20)
    found = release.epsilon(deltas)
    with mpmath.workdps(60):
        m = mpmath.sqrt(2000) / dec(100)
        for bound, delta in zip(found, deltas, strict=True):
            assert gaussian_profile(m)(mpf(bound.upper)) <= dec(delta) <= gaussian_profile(m)(mpf(bound.lower))
            assert bound.width <= WIDER * max(1.0, bound.value)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", [pytest.param(one, marks=pytest.mark.slow if one in SLOW else ()) for one in RELEASES])
@pytest.mark.parametrize(("question", "points"), [("delta", EPSILONS), ("log_delta", EPSILONS), ("epsilon", DELTAS)])
def test_an_array_is_answered_as_its_points_are(name, question, points):
    release = RELEASES[name]
    together = getattr(release, question)(points)
    # a point alone takes this one a second, and its neighbours in the array are the same
    step = 3 if name == "many" else 1
    for bound, at in list(zip(together, points, strict=True))[::step]:
        alone = getattr(release, question)(at)
        assert bound.lower <= alone.upper
        assert alone.lower <= bound.upper
        assert bound.status.met or not alone.status.met, at


def test_the_order_and_the_shape_of_the_points_do_not_matter():
    release = RELEASES["sampled"]
    mixed = np.random.default_rng(1).permutation(EPSILONS)
    inorder, shuffled = release.delta(np.sort(mixed)), release.delta(mixed.reshape(2, -1))
    back = np.argsort(np.argsort(mixed)).reshape(2, -1)
    assert np.array_equal(inorder.lower[back], shuffled.lower)
    assert np.array_equal(inorder.upper[back], shuffled.upper)


@pytest.mark.parametrize("question", ["delta", "epsilon"])
def test_neighbours_share_lines(question):
    points = np.linspace(0.5, 4.0, 100) if question == "delta" else np.geomspace(1e-12, 1e-2, 100)
    assert 0 < len(answers(lambda: getattr(RELEASES["sampled"], question)(points), line_sum.lay_out)) < 15


@pytest.mark.slow
def test_a_named_route_is_taken_at_every_point():
    assert {bound.method for bound in RELEASES["lattice"].delta([1.0, 1.1], method="contour")} == {"contour"}


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_a_curve_goes_beyond_the_support(direction):
    rate = 0.25
    sampled, epsilons = lp.Gaussian(sigma=1.0).poisson(rate), [2.0, 0.2, -0.2, -0.5, -3.0]
    found = sampled.delta(epsilons, direction=direction)
    with mpmath.workdps(40):
        for bound, epsilon in zip(found, epsilons, strict=True):
            e = dec(epsilon)
            # delta(e) of the mixture against the normal law; reflected, it is 1 - exp(e) (1 - delta(-e))
            inside = 1 + (mpmath.exp(e if direction == "remove" else -e) - 1) / mpf(rate)
            exact = rate * gaussian_profile(mpf(1))(mpmath.log(inside)) if inside > 0 else rate * (1 - inside)
            exact = exact if direction == "remove" else mpmath.chop(1 - mpmath.exp(e) * (1 - exact), 1e-30)
            assert contains(bound, exact), epsilon


@pytest.mark.parametrize("rtol", [1e-3, 1e-9])
def test_where_the_profile_is_flat_epsilons_are_as_narrow_as_alone(rtol):
    release = 5 * lp.Gaussian(sigma=0.3)
    deltas = np.array([0.5, 0.9, 0.99, 0.999])
    found = release.epsilon(deltas, rtol=rtol)
    with mpmath.workdps(40):
        m = mpmath.sqrt(5) / dec(0.3)
        for bound, delta in zip(found, deltas, strict=True):
            assert gaussian_profile(m)(mpf(bound.upper)) <= dec(delta) <= gaussian_profile(m)(mpf(bound.lower))
            assert bound.status is lp.Status.MET
            assert bound.width <= rtol * max(1.0, bound.value)
