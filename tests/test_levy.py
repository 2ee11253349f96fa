"""Lévy inversion on the poles: honest against closed forms and against the contour, refused where it cannot work."""

import mpmath
import numpy as np
import pytest

import logphi as lp
from logphi.arith.protocol import Plain, Ratio
from logphi.core.logphi import LogPhi
from logphi.numerics import contour
from logphi.numerics.contour import Part
from logphi.numerics.law import Law
from logphi.numerics.laws.finite import Finite, Thinned
from logphi.numerics.laws.mixed_normal import MixedNormal
from logphi.numerics.laws.normal import Normal
from logphi.numerics.laws.two_point import TwoPoint
from logphi.numerics.laws.uniform import Uniform, UniformWithAtoms
from logphi.numerics.levy import excess, prepare
from logphi.numerics.sums import DoubleQuadrature, between, cells_of, excess_by_sums, prepare_sums
from slowly import slowly

# what the route is expected to reach where phi decays and e^x is moderate
USUAL_ERROR = 1e-11
# half an ulp of a few decimals, the room that a comparison of doubles needs
ROUNDING = 4e-16


def normal_excess(sigma: float, count: int, x: float) -> float:
    """E[(1 - e^{x-X})_+] for X ~ N(m^2/2, m^2), m = count^{1/2} / sigma, in 40 digits."""
    with mpmath.workdps(40):
        m = mpmath.sqrt(count) / mpmath.mpf(sigma)
        return float(mpmath.ncdf(m / 2 - x / m) - mpmath.exp(x) * mpmath.ncdf(-m / 2 - x / m))


def by_contour(law: Law, x: float) -> tuple[float, float]:
    """The excess and its proved error from the vertical line off the poles."""
    prepared = contour.prepare(law, x, 1e-12, contour.smooth)
    assert prepared is not None
    found = prepared.at(x)
    unit = np.exp(found.amount.log_scale)
    value, error = found.amount.value * unit, (found.amount.spread + found.amount.excess) * unit
    # excess = 1 - shortfall = 1 - e^x + reversed excess, all masses here being one
    rest = {Part.EXCESS: 0.0, Part.SHORTFALL: 1.0, Part.REVERSED: -np.expm1(min(x, 0.0))}[found.part]
    signed = -value if found.part is Part.SHORTFALL else value
    return rest + signed, error + ROUNDING * (1 + np.exp(min(x, 0.0)))


def mixed(sigma: float, rate: float, count: int, turned: bool = False) -> LogPhi:
    loss = LogPhi(((MixedNormal(Ratio(1.0, sigma), Plain(rate)), count),))
    return loss.reflected() if turned else loss


def centre(law: Law) -> tuple[float, float]:
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


@pytest.mark.parametrize(("sigma", "rate", "count", "turned", "place"), MIXED_CASES)
def test_agrees_with_the_contour_for_mixed_normal_laws(
    sigma: float, rate: float, count: int, turned: bool, place: float
) -> None:
    law = mixed(sigma, rate, count, turned)
    mean, spread = centre(law)
    x = mean + place * spread
    found = excess(law, x)
    value, error = by_contour(law, x)
    assert abs(found.value - value) <= found.spread + error
    if x < 1 and count * rate / sigma < 100:
        assert found.spread < USUAL_ERROR


def test_mass_below_one_is_allowed() -> None:
    law = LogPhi(((Normal(Ratio(1.0, 4.0)), 10), (Thinned(0.01), 3)))
    found = excess(law, 0.4)
    assert abs(found.value - 0.99**3 * normal_excess(4.0, 10, 0.4)) <= found.spread
    assert found.spread < USUAL_ERROR


def test_atoms_that_fade_are_no_obstacle() -> None:
    law = LogPhi(((UniformWithAtoms(Plain(1.0)), 100),))
    found = excess(law, 40.0 / 4)
    value, error = by_contour(law, 40.0 / 4)
    assert abs(found.value - value) <= found.spread + error


@pytest.mark.parametrize(
    "law",
    [
        LogPhi(),
        LogPhi(((Thinned(0.1), 1),)),
        LogPhi(((TwoPoint(Plain(1.0)), 50),)),
        LogPhi(((Finite((0.2, 0.3, 0.5), (0.5, 0.25, 0.25)), 7),)),
        LogPhi(((UniformWithAtoms(Plain(1.0)), 3),)),
        LogPhi(((Uniform(Plain(1.0)), 1),)),
    ],
    ids=["nothing", "constant", "two points", "three points", "atoms at the ends", "corners"],
)
def test_refused_where_phi_does_not_decay(law: LogPhi) -> None:
    with pytest.raises(ValueError, match="Lévy inversion needs"):
        excess(law, 0.1)


def test_far_to_the_right_only_the_first_tail_is_left() -> None:
    found = excess(LogPhi(((Normal(Plain(8.0)), 1),)), 40.0)
    assert found.low == 0
    assert normal_excess(0.125, 1, 40.0) <= found.high <= 0.3


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("sigma", "rate", "count", "place"), [(1.0, 0.01, 200, 1.0), (0.8, 0.2, 30, 0.5), (20.0, 0.5, 50, 2.0)]
)
def test_double_quadrature_agrees_with_the_proved_inner_integral(
    sigma: float, rate: float, count: int, place: float, turned: bool
) -> None:
    law = mixed(sigma, rate, count, turned)
    mean, spread = centre(law)
    x = mean + place * spread
    plain = DoubleQuadrature(MixedNormal(Ratio(1.0, sigma), Plain(rate)))
    found = excess(LogPhi(((plain.reflected() if turned else plain, count),)), x)
    value, error = by_contour(law, x)
    assert abs(found.value - value) <= found.spread + error
    assert found.spread < 10 * USUAL_ERROR


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("sigma", "rate", "count", "place"), [(40.0, 0.02, 300, 2.0), *slowly((1.0, 0.01, 100, 1.0), (5.0, 0.3, 12, 0.5))]
)
def test_sums_over_cells_enclose_and_close_in(sigma: float, rate: float, count: int, place: float, turned: bool) -> None:
    law = mixed(sigma, rate, count, turned)
    mean, spread = centre(law)
    x = mean + place * spread
    value, error = by_contour(law, x)
    gaps = []
    for cells in (128, 512):
        low, high = excess_by_sums(law.terms, x, cells, 256)
        assert low.low <= value + error
        assert value - error <= high.high
        gaps.append(high.high - low.low)
    assert gaps[1] < 0.6 * gaps[0]


def test_sums_take_other_terms_as_they_are() -> None:
    terms = ((MixedNormal(Plain(1.0), Plain(0.05)), 20), (Uniform(Plain(0.3)), 4), (Thinned(0.001), 1))
    value, error = by_contour(LogPhi(terms[:2]), 0.2)
    low, high = excess_by_sums(terms, 0.2, 256, 128)
    assert low.low <= 0.999 * (value + error)
    assert 0.999 * (value - error) <= high.high


@pytest.mark.parametrize(
    "law",
    [Normal(Plain(0.7)), MixedNormal(Plain(2.0), Plain(0.1)), MixedNormal(Plain(2.0), Plain(0.1)).reflected()],
    ids=["normal", "mixed", "turned"],
)
def test_cells_hold_both_probabilities(law: Law) -> None:
    cells = cells_of(law, 300)
    assert cells is not None
    assert cells.mass.size == cells.tilted.size == 300
    assert cells.mass.sum() == pytest.approx(1, abs=1e-14)
    assert cells.tilted.sum() == pytest.approx(1, abs=1e-14)
    assert (np.diff(cells.edges) > 0).all()
    # in every cell the ratio of the two masses is e^loss for a loss between the edges
    inner = slice(20, -20)
    loss = np.log(cells.mass / cells.tilted)[inner]
    assert (loss >= cells.edges[:-1][inner] - 1e-9).all()
    assert (loss <= cells.edges[1:][inner] + 1e-9).all()


def test_sums_refuse_laws_without_cells() -> None:
    with pytest.raises(ValueError, match="no term has known cells"):
        excess_by_sums([(Uniform(Plain(1.0)), 30)], 0.1)


def test_a_prepared_inversion_serves_any_threshold() -> None:
    law = mixed(1.0, 0.05, 40)
    one = prepare(law)
    for x in (-0.3, 0.2, 0.21, 0.2, 3.0):
        assert one(x) == excess(law, x)


def test_prepared_sums_serve_any_threshold() -> None:
    terms = mixed(2.0, 0.1, 10).terms
    one = prepare_sums(terms, 64, 64)
    for x in (0.3, 0.31, 1.0, 0.3):
        low, high = one(x)
        assert (low, high) == excess_by_sums(terms, x, 64, 64)
        both = between(low, high)
        assert both.low <= low.low * (1 + ROUNDING)
        assert both.high >= high.high * (1 - ROUNDING)


# width beyond which a method would be of no use, in units of the value; the sums over cells are coarse
SHARP, COARSE = 1e-5, 4.0
# the value of the default method errs to the large side by its aliasing: asked for this, by less than levy's own errors
FINEST = 1e-13
RELEASES = {
    "gaussian": 20 * lp.Gaussian(sigma=5.0),
    "with randomized response": 5 * lp.RandomizedResponse(p=0.6) + 3 * lp.Gaussian(sigma=2.0),
    "sampled": 100 * lp.Gaussian(sigma=1.0).poisson(0.02),
}


@pytest.mark.parametrize(
    ("method", "width"),
    [("levy", SHARP), ("levy-quadrature", SHARP), *slowly(("levy-sums", COARSE))],
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
        assert not found.ledger.proved
        assert found.status.name in ("ESTIMATED", "WIDE")
        assert found.lower <= known.value <= found.upper
        assert found.upper - found.lower <= width * known.value


@pytest.mark.parametrize("method", ["levy", "levy-sums", "levy-quadrature"])
def test_named_methods_refuse_atoms(method: str) -> None:
    for query, point in (("delta", 0.1), ("epsilon", 1e-3)):
        with pytest.raises(ValueError, match=f"method '{method}'"):
            getattr(10 * lp.RandomizedResponse(p=0.7), query)(point, method=method)


def test_a_delta_below_the_errors_still_has_a_proved_upper_end() -> None:
    release = lp.Gaussian(sigma=2.0)
    found, known = release.epsilon(1e-18, method="levy"), release.epsilon(1e-18)
    assert found.status.name == "WIDE"
    assert found.lower <= known.lower
    assert known.upper <= found.upper < 2 * known.upper
