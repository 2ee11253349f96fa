"""Lévy inversion on the poles: honest against closed forms, against the contour and beside atoms."""

import mpmath
import numpy as np
import pytest

import logphi as lp
from logphi.arith.protocol import Plain, Ratio
from logphi.comparators.levy import excess, prepare
from logphi.comparators.levy_quadrature import DoubleQuadrature
from logphi.inversion.demand import Demand
from logphi.inversion.lines import contour
from logphi.inversion.lines.contour import Part
from logphi.laws.flat.uniform import UniformWithAtoms
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.normal.normal import Normal
from logphi.laws.transform import LossTransform
from logphi.laws.zero_or_infinite import ZeroOrInfinite
from profiles import gaussian_profile
from slowly import slowly

# what the route is expected to reach where phi decays and e^x is moderate
USUAL_ERROR = 1e-11
# half an ulp of a few decimals, the room that a comparison of doubles needs
ROUNDING = 4e-16


def normal_excess(sigma: float, count: int, x: float) -> float:
    """E[(1 - e^{x-X})_+] for X ~ N(m^2/2, m^2), m = count^{1/2} / sigma, in 40 digits."""
    with mpmath.workdps(40):
        m = mpmath.sqrt(count) / mpmath.mpf(sigma)
        return float(gaussian_profile(m)(x))


def by_contour(law: LossTransform, x: float) -> tuple[float, float]:
    """The excess and its proved error from the vertical line off the poles."""
    prepared = contour.prepare(law, x, Demand(1e-12))
    assert prepared is not None
    found = prepared.at(x)
    unit = np.exp(found.amount.log_scale)
    value, error = found.amount.value * unit, (found.amount.spread + found.amount.excess) * unit
    # excess = 1 - shortfall = 1 - e^x + reversed excess, all masses here being one
    rest = {Part.EXCESS: 0.0, Part.SHORTFALL: 1.0, Part.REVERSED: -np.expm1(min(x, 0.0))}[found.part]
    signed = -value if found.part is Part.SHORTFALL else value
    return rest + signed, error + ROUNDING * (1 + np.exp(min(x, 0.0)))


def mixed(sigma: float, rate: float, count: int, reflected: bool = False) -> LogPhi:
    loss = LogPhi(((MixedNormal(Ratio(1.0, sigma), Plain(rate)), count),))
    return loss.reflected() if reflected else loss


def centre(law: LossTransform) -> tuple[float, float]:
    """Mean and standard deviation, by differences."""
    step = 1e-3 / (2 * np.sqrt(max(-2 * law.log_transform(np.array([-0.5])).mid[0], 1e-300)))
    k = law.log_transform(np.array([1j * step])).mid[0]
    return float(k.imag / step), float(np.sqrt(-2 * k.real) / step)


NORMAL_SETTINGS = np.random.default_rng(18)
NORMAL_CASES = [
    (
        10 ** NORMAL_SETTINGS.uniform(np.log10(0.3), 2),
        int(10 ** NORMAL_SETTINGS.uniform(0, 4)),
        NORMAL_SETTINGS.uniform(-4, 6),
    )
    for _ in range(60)
]


@pytest.mark.parametrize(("sigma", "count", "place"), NORMAL_CASES)
def test_never_claims_less_than_the_error_for_normal_laws(sigma: float, count: int, place: float) -> None:
    m = np.sqrt(count) / sigma
    x = m * m / 2 + place * m
    found = excess(LogPhi(((Normal(Ratio(1.0, sigma)), count),)), x)
    assert found.log_scale == 0
    assert abs(found.value - normal_excess(sigma, count, x)) <= found.spread
    if x < 2:
        assert found.spread < USUAL_ERROR


MIXED_SETTINGS = np.random.default_rng(19)
MIXED_CASES = [
    (
        10 ** MIXED_SETTINGS.uniform(np.log10(0.6), 2),
        10 ** MIXED_SETTINGS.uniform(-3, np.log10(0.9)),
        int(10 ** MIXED_SETTINGS.uniform(1.3, 4)),
        bool(i % 2),
        MIXED_SETTINGS.uniform(-3, 5),
    )
    for i in range(40)
]


@pytest.mark.few(5)
@pytest.mark.parametrize(("sigma", "rate", "count", "reflected", "place"), MIXED_CASES)
def test_agrees_with_the_contour_for_mixed_normal_laws(
    sigma: float, rate: float, count: int, reflected: bool, place: float
) -> None:
    law = mixed(sigma, rate, count, reflected)
    mean, spread = centre(law)
    x = mean + place * spread
    found = excess(law, x)
    value, error = by_contour(law, x)
    assert abs(found.value - value) <= found.spread + error
    if x < 1 and count * rate / sigma < 100:
        assert found.spread < USUAL_ERROR


def test_mass_below_one_is_allowed() -> None:
    law = LogPhi(((Normal(Ratio(1.0, 4.0)), 10), (ZeroOrInfinite(0.01), 3)))
    found = excess(law, 0.4)
    assert abs(found.value - 0.99**3 * normal_excess(4.0, 10, 0.4)) <= found.spread
    assert found.spread < USUAL_ERROR


def test_atoms_that_fade_are_no_obstacle() -> None:
    law = LogPhi(((UniformWithAtoms(Plain(1.0)), 100),))
    found = excess(law, 40.0 / 4)
    value, error = by_contour(law, 40.0 / 4)
    assert abs(found.value - value) <= found.spread + error


@pytest.mark.parametrize("law", [LogPhi(), LogPhi(((ZeroOrInfinite(0.1), 1),))], ids=["nothing", "constant"])
def test_a_law_of_one_point_is_refused(law: LossTransform) -> None:
    with pytest.raises(ValueError, match="Lévy inversion needs"):
        excess(law, 0.1)


@pytest.mark.parametrize("x", [-0.7, 0.0, 0.4, 1.3])
def test_what_is_left_beyond_an_end_is_below_its_bound(x: float) -> None:
    # atoms next to the threshold, on it, and on its other side, by the sine integral in many digits
    places, weights = np.array([-1.1, x - 1e-3, x, x + 1e-4, x + 0.3]), np.array([0.1, 0.3, 0.2, 0.25, 0.15])
    for end in (3.0, 47.0, 1e3, 1e5):
        with mpmath.workdps(30):
            cut = exact = mpmath.mpf(0)
            for place, weight in zip(places.tolist(), weights.tolist(), strict=True):
                payoff = 1 - mpmath.exp(mpmath.mpf(x) - place)
                cut += weight * payoff * (0.5 + mpmath.si(end * (mpmath.mpf(place) - x)) / mpmath.pi)
                exact += weight * max(payoff, 0)
            tilted = sum(weights * np.exp(-places))
            assert abs(cut - exact) <= (1 + np.exp(x) * tilted) / (2 * np.pi * end)


# the mechanisms of their Table 2, and with them losses with an infinite part and on a lattice without end
TABLE_2 = {
    "response": lp.RandomizedResponse(p=0.52),
    "Laplace": lp.Laplace(scale=20.0),
    "Gaussian": lp.Gaussian(sigma=20.0),
    "approximate": lp.ApproximateDP(epsilon=0.05, delta=1e-5),
    "discrete Gaussian": lp.DiscreteGaussian(sigma=20.0),
}


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(("count", "epsilon"), [(20, 1.0), *slowly((1, 0.02), (100, 0.02), (1000, 1.0))])
@pytest.mark.parametrize("name", TABLE_2)
def test_algorithm_1_answers_for_the_mechanisms_of_table_2(name: str, count: int, epsilon: float) -> None:
    release = count * TABLE_2[name]
    found, known = release.delta(epsilon, method="levy"), release.delta(epsilon)
    assert found.lower <= known.upper
    assert known.lower <= found.upper
    assert found.upper - found.lower < 1e-3


@pytest.mark.slow
def test_twenty_laplace_mechanisms_have_four_decimals() -> None:
    release = 20 * lp.Laplace(scale=2.0)
    found, known = release.delta(1.0, method="levy"), release.delta(1.0)
    assert found.method == "levy"
    assert found.lower <= known.lower <= known.upper <= found.upper <= found.lower + 1e-4


@pytest.mark.slow
def test_a_law_whose_transform_is_an_integral_may_have_atoms() -> None:
    release = 2 * lp.RandomizedResponse(0.6).poisson(0.2) + lp.Gaussian(sigma=1.0).poisson(0.01)
    found, known = release.delta(0.1, method="levy"), release.delta(0.1)
    assert found.lower <= known.upper
    assert known.lower <= found.upper < 2 * known.upper


def test_far_to_the_right_only_the_first_tail_is_left() -> None:
    found = excess(LogPhi(((Normal(Plain(8.0)), 1),)), 40.0)
    assert found.low == 0
    assert normal_excess(0.125, 1, 40.0) <= found.high <= 0.3


@pytest.mark.few(1)
@pytest.mark.parametrize("reflected", [False, True])
@pytest.mark.parametrize(
    ("sigma", "rate", "count", "place"), [(1.0, 0.01, 200, 1.0), (0.8, 0.2, 30, 0.5), (20.0, 0.5, 50, 2.0)]
)
def test_double_quadrature_agrees_with_the_proved_inner_integral(
    sigma: float, rate: float, count: int, place: float, reflected: bool
) -> None:
    law = mixed(sigma, rate, count, reflected)
    mean, spread = centre(law)
    x = mean + place * spread
    plain = DoubleQuadrature(MixedNormal(Ratio(1.0, sigma), Plain(rate)))
    found = excess(LogPhi(((plain.reflected() if reflected else plain, count),)), x)
    value, error = by_contour(law, x)
    assert abs(found.value - value) <= found.spread + error
    assert found.spread < 10 * USUAL_ERROR


@pytest.mark.slow
def test_a_prepared_inversion_serves_any_threshold() -> None:
    law = mixed(1.0, 0.05, 40)
    one = prepare(law, 0.2)
    for x in (-0.3, 0.2, 0.21, 0.2, 3.0):
        assert one(x) == excess(law, x)


# width beyond which a method would be of no use, in units of the value; the sums over cells are coarse
SHARP, COARSE = 1e-5, 1e-2
# the value of the default method errs to the large side by its aliasing: asked for this, by less than levy's own errors
FINEST = 1e-13
RELEASES = {
    "gaussian": 20 * lp.Gaussian(sigma=5.0),
    "with randomized response": 5 * lp.RandomizedResponse(p=0.6) + 3 * lp.Gaussian(sigma=2.0),
    "sampled": 100 * lp.Gaussian(sigma=1.0).poisson(0.02),
}


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("method", "width"),
    [("levy", SHARP), ("levy-quadrature", SHARP), ("levy-sums", COARSE)],
)
@pytest.mark.parametrize("name", RELEASES)
def test_named_methods_contain_the_default(name: str, method: str, width: float) -> None:
    release = RELEASES[name]
    for query, point in (("delta", 0.7), ("epsilon", 1e-4)):
        ask = getattr(release, query)
        if method == "levy-quadrature" and not name.startswith("sampled"):
            with pytest.raises(ValueError, match="'levy-quadrature' needs a loss whose phi is an integral"):
                ask(point, method=method)
            continue
        found, known = ask(point, method=method), ask(point, rtol=FINEST)
        assert found.method == method
        assert found.ledger.proved == (method == "levy-sums")
        assert found.status.name in ("ESTIMATED", "WIDE")
        assert found.lower <= known.value <= found.upper
        assert found.upper - found.lower <= width * known.value


@pytest.mark.parametrize("method", ["levy-sums", "levy-quadrature"])
def test_what_has_nothing_to_round_or_to_integrate_is_refused(method: str) -> None:
    for query, point in (("delta", 0.1), ("epsilon", 1e-3)):
        with pytest.raises(ValueError, match=f"method '{method}'"):
            getattr(10 * lp.RandomizedResponse(p=0.7), query)(point, method=method)


def test_a_delta_below_the_errors_still_has_a_proved_upper_end() -> None:
    release = lp.Gaussian(sigma=2.0)
    found, known = release.epsilon(1e-18, method="levy"), release.epsilon(1e-18)
    assert found.status.name == "WIDE"
    assert found.lower <= known.lower
    assert known.upper <= found.upper < 2 * known.upper
