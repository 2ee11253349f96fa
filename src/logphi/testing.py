"""A conformance suite: what every mechanism satisfies, also one of a user's own.

>>> import logphi as lp
>>> from logphi.testing import check_mechanism
>>> check_mechanism(lp.Laplace(scale=2))

Every check is a function of a mechanism that returns nothing or raises an AssertionError with what is wrong and where;
``CHECKS`` lists them, so that a test can be parametrised over it. They hold the numbers to what they claim: values of K
must agree *within the errors that the law declares*, bounds must overlap wherever two routes answer one question.

Where a law says that its errors are estimates (``estimated``), each is taken ten times and 1e-9 is added: an estimate may
be short, but not by an order of magnitude. Its bounds of profiles get a millionth.

notation: K(z) = log M(z), M(z) the integral of e^{zx} over the finite losses x under P; D(x) = E[(1 - e^{x-L})_+; L < inf].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.bound import Bound, Direction
from logphi.core.adjacency import Adjacency
from logphi.core.logphi import LogPhi
from logphi.expression import parse
from logphi.mechanisms import CATALOGUE
from logphi.numerics.law import Law, Line, Values
from logphi.release import Composition, Mechanism, PoissonSampled, SubsetSampled
from logphi.views.delta import delta
from logphi.views.directions import Loss
from logphi.views.routes import NotApplicableError

Array = NDArray[np.float64]
Check = Callable[[Mechanism], None]

# estimated errors are taken so many times, and this is added
_ESTIMATE_FACTOR, _ESTIMATE_FLOOR, _ESTIMATE_PROFILE = 10.0, 1e-9, 1e-6
# what a comparison of sums of doubles may lose by itself
_FUZZ = 1e-12
# decimal digits of the reference arithmetic
_DIGITS = 30
# routes that are compared with the default; a contour along atoms is valid too, but takes seconds
_OTHER_ROUTES = ("lattice", "exact", "exponential", "discretized")
# thresholds in units of the spread of the loss, and the largest epsilon asked for
_THRESHOLDS = np.array([-2.0, -0.8, -0.25, 0.0, 0.25, 0.8, 2.0])
_LARGEST_EPSILON = 40.0
# beyond it a chord in e^x spans too much to tell anything
_LARGEST_CHORD = 300.0


def check_mechanism(mechanism: Mechanism, *, without: Collection[Check] = ()) -> None:
    """Put a mechanism through all checks.

    Parameters
    ----------
    mechanism
        Any mechanism: of the catalogue, sampled, composed, or of a class of one's own.
    without
        Checks to leave out, e.g. ``[check_text]``.

    Raises
    ------
    AssertionError
        If a check fails or breaks down: one line for each, with its name, what is wrong and where.
    """
    failures: list[str] = []
    for check in CHECKS:
        if check in without:
            continue
        try:
            check(mechanism)
        except Exception as error:
            kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
            failures.append(f"{check.__name__}: {kind}{error}")
    if failures:
        raise AssertionError(f"{mechanism!r} does not conform:\n" + "\n".join(f"  {line}" for line in failures))


# ------------------------------------------------------------------------------------------- K as a function


def check_conjugate_symmetry(mechanism: Mechanism) -> None:
    """K at the conjugate of z is the conjugate of K(z), and K is real on the real line."""
    loss = mechanism.loss()
    z = _points(loss)
    here, there = _known(loss, z), _known(loss, z.conj())
    _same("K(conj z) is not conj K(z)", z, here.mid, there.mid.conj(), here.radius + there.radius)
    real = _known(loss, z.real + 0j)
    # a positive measure has a positive transform on the real line, so the branch of the logarithm may not hide a sign
    _same("K is not real at the real z", z.real, real.mid, real.mid.real, real.radius)


def check_reflection(mechanism: Mechanism) -> None:
    """The loss of the reversed pair has K(-1 - z), the strip mirrored at -1/2 and the support mirrored at 0."""
    loss = mechanism.loss()
    turned, z = loss.reflected(), _points(loss)
    here = _known(loss, z)
    if loss.symmetric:
        mirrored = _known(loss, -1 - z)
        room = here.radius + mirrored.radius
        _same("K says that it is symmetric, but K(-1 - z) is not K(z)", z, here.mid, mirrored.mid, room)
    there = _known(turned, -1 - z)
    _same("K of the reversed pair at -1 - z is not K(z)", z, here.mid, there.mid, here.radius + there.radius)
    low, high = loss.strip
    _require(turned.strip == (-1 - high, -1 - low), f"the reversed strip is {turned.strip}, that of the loss {loss.strip}")
    for name, one, other in (("top", loss.supremum, -turned.infimum), ("bottom", loss.infimum, -turned.supremum)):
        near = one == other or abs(one - other) <= loss.slack + 1e-12 * abs(one)
        _require(near, f"the {name} of the support is {one!r}, by the reversed pair {other!r}")


def check_line(mechanism: Mechanism) -> None:
    """Values on a vertical line are those at its points."""
    loss = mechanism.loss()
    for c in _abscissas(loss)[::3]:
        line = Line(float(c), 0.3 / _spread(loss), 24)
        together, apart = loss.on_line(line), loss.log_transform(line.points)
        known = np.isfinite(together.radius + apart.radius)
        room = _roomy(loss, together.radius + apart.radius)[known] + _FUZZ
        _same("K on a line is not K at its points", line.points[known], together.mid[known], apart.mid[known], room)


def check_convexity(mechanism: Mechanism) -> None:
    """K is convex on the real strip, with slopes between the ends of the support."""
    loss = mechanism.loss()
    c = _abscissas(loss)
    values = _known(loss, c)
    k, room, gaps = values.mid.real, values.radius, np.diff(c)
    slopes, wrong = np.diff(k) / gaps, (room[1:] + room[:-1]) / gaps + _FUZZ * (1 + np.abs(np.diff(k) / gaps))
    _require(np.diff(slopes) >= -(wrong[1:] + wrong[:-1]), "K is not convex on the real strip", c=c[1:-1])
    _require(slopes <= loss.supremum + wrong, "K grows faster than the top of the support allows", c=c[:-1], slope=slopes)
    _require(slopes >= loss.infimum - wrong, "K falls faster than the bottom of the support allows", c=c[:-1], slope=slopes)


def check_modulus(mechanism: Mechanism) -> None:
    """|M(c + it)| <= M(c); more: M(c + i(t_j - t_k)) is a positive semidefinite matrix, as of every positive measure."""
    loss = mechanism.loss()
    t = np.array([0.0, 0.3, 0.7, 1.3, 2.2, 3.7]) / _spread(loss)
    for c in _abscissas(loss):
        values = loss.log_transform(c + 1j * (t[:, None] - t))
        base = values.mid[0, 0].real
        known = np.isfinite(values.radius) & (values.radius < 1)
        room = np.expm1(_roomy(loss, np.where(known, values.radius, 0.0)) + _FUZZ)
        ratio = np.exp(np.where(known, values.mid, base) - base)
        _require(~known | (np.abs(ratio) <= 1 + room + room[0, 0]), "|M(c + it)| is above M(c)", c=np.full(known.shape, c))
        if known.all():
            lowest = float(np.linalg.eigvalsh((ratio + ratio.conj().T) / 2)[0])
            _require(lowest >= -t.size * (room.max() + 1e-12), f"M is no transform of a positive measure on Re z = {c:g}")


def check_envelope(mechanism: Mechanism) -> None:
    """The envelope bounds Re K(c + is) - K(c) for all s in [t, end]; it is not positive and does not increase."""
    loss = mechanism.loss()
    spread = _spread(loss)
    heights = np.geomspace(0.01, 60, 40) / spread
    sampled = np.unique(np.concatenate([heights, np.linspace(0.05, 60, 200) / spread]))
    for c in _abscissas(loss)[::2]:
        values = loss.log_transform(c + 1j * sampled)
        base = loss.log_transform(np.array([c]))
        known = np.isfinite(values.radius)
        least = np.where(known, np.where(known, values.mid.real, 0.0) - np.where(known, values.radius, 0.0), -np.inf)
        least = least - base.mid[0].real - base.radius[0]
        for end in (np.inf, float(heights[-12])):
            envelope = loss.log_envelope(float(c), heights, end)
            _require(envelope <= 0, f"the envelope on Re z = {c:g} is positive", t=heights)
            _require(np.diff(envelope) <= _FUZZ, f"the envelope on Re z = {c:g} increases", t=heights[1:])
            reached = np.array([least[(sampled >= t) & (sampled <= end)].max(initial=-np.inf) for t in heights])
            _require(
                reached <= envelope + _FUZZ,
                f"the envelope on Re z = {c:g}, up to {end:g}, is below log |M(c + is)/M(c)|",
                t=heights, envelope=envelope, reached=reached,
            )  # fmt: skip


def check_masses(mechanism: Mechanism) -> None:
    """K(0) and K(-1) are the logarithms of the finite masses, and neither is above zero."""
    loss = mechanism.loss()
    values = loss.log_transform(np.array([0.0, -1.0]))
    radius = _roomy(loss, values.radius)
    for i, (name, known) in enumerate(zip(("P(L < inf)", "Q(L > -inf)"), loss.log_masses(), strict=True)):
        mid, room = float(known.mid[0].real), float(known.radius[0])
        _require(mid - room <= 0, f"log {name} is {mid!r}: above zero by more than its error {room:g}")
        both = room + radius[i] + _FUZZ
        near = not np.isfinite(radius[i]) or abs(values.mid[i].real - mid) <= both
        _require(near, f"log {name} is {mid!r}, but K({-i}) is {values.mid[i]!r}: further apart than their errors, {both:g}")
        _require(not values.mid[i].real > radius[i] + _FUZZ, f"K({-i}) is {values.mid[i]!r}: a mass above one")


def check_multiprecision(mechanism: Mechanism) -> None:
    """The declared errors contain the formula in 30 digits; laws without a formula in that arithmetic are passed over."""
    import mpmath

    from logphi.arith.mp import MULTIPRECISION

    loss = mechanism.loss()
    c = _abscissas(loss)
    # few and low: where the formula is an integral each takes a quadrature, the longer the faster it turns
    z = c[np.linspace(0, c.size - 1, 5).astype(int)] + 1j * np.array([0.4, 1.5, 0.0, 1.5, 0.4]) / max(_spread(loss), 0.02)
    values = _known(loss, z)
    with mpmath.workdps(_DIGITS):
        for point, mid, radius in zip(z, values.mid, values.radius, strict=True):
            try:
                exact = loss.formula(MULTIPRECISION, mpmath.mpc(complex(point)))
            except NotImplementedError:
                return
            gap = mpmath.mpc(complex(mid)) - exact
            gap -= 2j * mpmath.pi * mpmath.nint(gap.imag / (2 * mpmath.pi))
            _require(
                abs(gap) <= radius + 1e-22 * (1 + abs(exact)),
                f"K({point:g}) is {complex(mid)!r}, by the formula {mpmath.nstr(exact, 20)}: "
                f"{mpmath.nstr(abs(gap), 3)} apart, more than the declared {radius:.3g}",
            )


def check_symbolic(mechanism: Mechanism) -> None:
    """The symbolic log-phi, evaluated at a few alphas in both directions, is K(i alpha); infinite sums are passed over."""
    import mpmath
    import sympy

    loss, alpha = mechanism.loss(), sympy.Symbol("alpha")
    try:
        expressions = {one: mechanism.log_phi(alpha, direction=one) for one in (Direction.REMOVE, Direction.ADD)}
    except NotImplementedError:
        return
    for direction, expression in expressions.items():
        _require(expression.free_symbols <= {alpha}, f"log-phi holds other symbols: {expression.free_symbols}")
        if expression.has(sympy.Sum):
            continue
        own = loss if direction is Direction.REMOVE else loss.reflected()
        numeric = sympy.lambdify(alpha, expression, "mpmath")
        # an integral takes its time, the more the faster it turns
        few = [0.31] if expression.has(sympy.Integral) else [0.31, -1.7]
        for at in np.array(few) / max(_spread(loss), 0.1):
            values = _known(own, np.array([1j * at]))
            with mpmath.workdps(_DIGITS):
                found = complex(numeric(mpmath.mpf(float(at))))
            room = values.radius + 1e-14 * (1 + abs(found))
            _same(f"log_phi({at:g}, direction={direction.value!r}) is not K(i alpha)", np.array([at]), values.mid, found, room)


def check_pieces(mechanism: Mechanism) -> None:
    """Where a law says that it is atoms and a flat part, or lives on a lattice, its K says so too."""
    for law, _ in mechanism.loss().terms:
        pieces, lattice, z = law.pieces, law.lattice, _points(law)
        values = _known(law, z)
        if pieces is not None:
            u = z + 0.5
            total = sum((np.exp(u * x + w) for x, w in zip(pieces.locations, pieces.log_weights, strict=True)), 0 * u)
            if pieces.width:
                near = np.abs(u) * pieces.width < 1e-6
                shape = np.sinh(u * pieces.width) / np.where(near, 1.0, u)
                total = total + 2 * np.exp(pieces.log_density) * np.where(near, pieces.width, shape)
            size = np.exp(_known(law, z.real + 0j).mid.real)
            gap = np.abs(total - np.exp(values.mid)) / size
            _require(
                gap <= 1e-9 + 10 * (pieces.slip * (np.abs(u) + 1) + pieces.blur), "the pieces do not add up to M", z=z, gap=gap
            )
            ends = [*pieces.locations, *((-pieces.width, pieces.width) if pieces.width else ())]
            slack = law.slack + pieces.slip + 1e-12 * (abs(law.supremum) + 1)
            _require(max(ends) <= law.supremum + slack, f"a piece lies above the top of the support, {law.supremum!r}")
            _require(min(ends) >= law.infimum - slack, f"a piece lies below the bottom of the support, {law.infimum!r}")
        if lattice is not None and 0 < lattice.span < np.inf:
            period = 2 * np.pi / lattice.span
            turned = _known(law, z + 1j * period)
            reach = max(abs(law.supremum), abs(law.infimum))
            # without ends, what counts is where the measure is
            reach = reach if np.isfinite(reach) else 60 * _spread(law) + 60
            moved = 4 * period * (lattice.slip + lattice.stretch * reach)
            room = values.radius + turned.radius + moved + _FUZZ
            # a small M may turn far on its own
            size = np.maximum(1.0, np.exp(_known(law, z.real + 0j).mid.real - values.mid.real))
            _same(
                "e^{-za} M(z) does not have the period of the lattice",
                z,
                turned.mid - 1j * period * lattice.offset,
                values.mid,
                room * size,
            )


# -------------------------------------------------------------------------------------------- the answers


def check_profile(mechanism: Mechanism) -> None:
    """Either profile falls, is convex in e^eps, lies between max(1 - e^eps, P(L = inf)) and 1; delta is the larger."""
    loss = mechanism.loss()
    at, room = _thresholds(loss), _profile_room(loss)
    for direction in (Direction.REMOVE, Direction.ADD):
        low, high = _profile(loss, at, direction)
        own = loss if direction is Direction.REMOVE else loss.reflected()
        mass = own.log_masses()[0]
        infinite = -math.expm1(min(float(mass.mid[0].real + mass.radius[0]), 0.0))
        here = f"delta in direction {direction.value!r}"
        _require(
            (low <= high) & (high <= 1) & (low >= 0), f"{here} is no bound of a probability", epsilon=at, lower=low, upper=high
        )
        floor = np.maximum(-np.expm1(at), infinite)
        _require(
            high * (1 + room) >= floor * (1 - 1e-15), f"{here} is below max(1 - e^eps, P(L = inf))", epsilon=at, upper=high
        )
        _require(low[1:] <= high[:-1] * (1 + room), f"{here} increases", epsilon=at[1:], lower=low[1:], before=high[:-1])
        a = np.exp(at)
        share = (a[2:] - a[1:-1]) / (a[2:] - a[:-2])
        chord = share * high[:-2] + (1 - share) * high[2:]
        _require(low[1:-1] <= chord * (1 + room + 1e-13), f"{here} is not convex in e^eps", epsilon=at[1:-1], lower=low[1:-1])
    for epsilon in at[[2, 5]]:
        both, largest = (
            mechanism.delta(float(epsilon)),
            [mechanism.delta(float(epsilon), direction=one) for one in _orders(mechanism)],
        )
        lower, upper = (max(getattr(one, end) for one in largest) for end in ("lower", "upper"))
        agree = both.lower <= upper * (1 + room) and lower <= both.upper * (1 + room)
        _require(agree, f"delta({epsilon:g}) is {both}, the larger direction is between {lower!r} and {upper!r}")


def check_duality(mechanism: Mechanism) -> None:
    """The directions are one function read twice: delta_add(eps) = 1 - e^eps + e^eps delta_remove(-eps)."""
    loss = mechanism.loss()
    at, room = _thresholds(loss), _profile_room(loss)
    added = _profile(loss, at, Direction.ADD)
    # where both orders agree, the other one is the same function at the opposite place
    low, high = (-np.expm1(at) + np.exp(at) * side for side in _profile(loss, -at, Direction.REMOVE))
    slack = 1e-14 * (1 + np.exp(at)) + room * np.exp(np.abs(at))
    _require(
        (added[0] <= high + slack) & (low <= added[1] + slack),
        "delta_add(eps) is not 1 - e^eps + e^eps delta_remove(-eps)",
        epsilon=at, added=added[0], dual=low,
    )  # fmt: skip


def check_divergence(mechanism: Mechanism) -> None:
    """K'(0) M(0) is the divergence E[L; |L| < inf], integrated over the profile by chords from above and below.

    E[L] = int_0^inf D(x) dx + int_0^inf e^{-x} D'(x) dx + M(0) - M(-1), D' that of the reversed pair (Sason & Verdú 2016,
    Proposition 3, for masses below one). The first integrand is convex in e^x, the second in e^{-x}.
    """
    loss = mechanism.loss()
    spread = _spread(loss)
    high_end = loss.strip[1]
    if not (high_end > 0 and _dip(loss) > 0):
        # at the end of the strip the slope may be infinite; a loss of zero has none
        return
    h = 1e-4 * min(1 / spread, 1.0, high_end)
    values = _known(loss, np.array([-h, 0.0, h, -1.0]))
    k, radius = values.mid.real, values.radius
    mass, dual_mass = math.exp(k[1]), math.exp(k[3])
    # K is convex: its slope at zero is between those of two chords
    slopes = sorted([mass * (k[1] - k[0]) / h, mass * (k[2] - k[1]) / h])
    wrong = mass * 2 * radius.max() / h + 2 * radius.max()
    low, high = mass - dual_mass, mass - dual_mass
    for own, sign in ((loss, 1.0), (loss.reflected(), -1.0)):
        x, rest = _range(own, sign, max(slopes[1], 1e-300))
        if x[-1] > _LARGEST_CHORD:
            return
        direction = Direction.REMOVE if sign > 0 else Direction.ADD
        infinite = -math.expm1(min(float(own.log_masses()[0].mid[0].real), 0.0))
        bottom, top = (side - infinite for side in _profile(loss, x, direction))
        weight = np.exp(np.minimum(sign - 1, 0.0) * x / 2)
        bounds = _chords(np.exp(sign * x), np.maximum(bottom * weight, 0.0), np.maximum(top * weight, 0.0))
        low, high = low + bounds[0], high + bounds[1] + rest
    room = wrong + 1e-7 * (abs(high) + 1e-9) + _profile_room(loss)
    _require(
        slopes[0] - room <= high and low <= slopes[1] + room,
        f"K'(0) M(0) is between {slopes[0]:.9g} and {slopes[1]:.9g}, "
        f"the divergence by the profile between {low:.9g} and {high:.9g}",
    )


def check_inverse(mechanism: Mechanism) -> None:
    """Epsilon undoes delta."""
    loss = mechanism.loss()
    at = float(_thresholds(loss)[5])
    found, room = _bound(mechanism.delta(at)), _profile_room(loss)
    if found.lower > 0 and found.upper < 1:
        least = _bound(mechanism.epsilon(min(found.upper * (1 + room + 1e-12), 1.0)))
        most = _bound(mechanism.epsilon(found.lower * (1 - room - 1e-12)))
        agree = least.lower <= at and at <= most.upper
        _require(agree, f"delta({at!r}) is {found}, but epsilon of its ends is {least} and {most}")


def check_repetition(mechanism: Mechanism) -> None:
    """2 m is m + m, as a value and by its K."""
    twice, sum_ = 2 * mechanism, mechanism + mechanism
    _require(twice == sum_ and hash(twice) == hash(sum_), "2 * m and m + m are different values")
    loss, double = mechanism.loss(), twice.loss()
    z = _points(loss)
    one, two = _known(loss, z), _known(double, z)
    _same("K of 2 m is not 2 K", z, 2 * one.mid, two.mid, 2 * one.radius + two.radius + _FUZZ)


def check_routes(mechanism: Mechanism) -> None:
    """Bounds of the threefold composition by all routes that apply overlap, and so do those of a single release."""
    room = _profile_room(mechanism.loss())
    for count, place in ((1, 4), (3, 5)):
        release = count * mechanism
        at = float(_thresholds(release.loss())[place])
        found = _bound(release.delta(at))
        for method in _OTHER_ROUTES:
            try:
                other = _bound(release.delta(at, method=method, rtol=1e-3))
            except NotApplicableError:
                continue
            agree = found.lower <= other.upper * (1 + room) and other.lower <= found.upper * (1 + room)
            _require(agree, f"{count} m at epsilon {at:g}: {found.method} says {found}, {other.method} says {other}")


# --------------------------------------------------------------------------------------------- the value


def check_value(mechanism: Mechanism) -> None:
    """A mechanism is a value: hashable, equal to itself, of one line, knows its relation, and its loss is hashable too."""
    _require(isinstance(mechanism.adjacency, Adjacency), f"adjacency is {mechanism.adjacency!r}, not a logphi.Adjacency")
    _require({mechanism: 1}.get(mechanism) == 1, "it is not equal to itself")
    _require(mechanism.loss() == mechanism.loss(), "two calls of loss() give different laws: they would not be collected")
    _require(hash(mechanism.loss()) == hash(mechanism.loss()), "equal laws have different hashes")
    _require("\n" not in repr(mechanism), "its repr has more than one line")
    low, high = mechanism.loss().strip
    _require(low <= -1 and high >= 0, f"the strip is {(low, high)}; it always contains [-1, 0]")


def check_text(mechanism: Mechanism) -> None:
    """What it prints, the expression language reads back; mechanisms not of the catalogue, or made of functions, need not."""
    if not all(type(one) in CATALOGUE.values() and _is_written(one) for one in _roots(mechanism)):
        return
    text = repr(mechanism)
    back = parse(text)
    _require(back == mechanism, f"{text} reads back as {back!r}, another mechanism")


CHECKS: tuple[Check, ...] = (
    check_value,
    check_text,
    check_conjugate_symmetry,
    check_reflection,
    check_line,
    check_convexity,
    check_modulus,
    check_envelope,
    check_masses,
    check_multiprecision,
    check_symbolic,
    check_pieces,
    check_profile,
    check_duality,
    check_divergence,
    check_inverse,
    check_repetition,
    check_routes,
)
"""All checks, from the value to the answers."""


# ------------------------------------------------------------------------------------------- where to look


def _dip(law: Law) -> float:
    """How far K(-1/2) lies below the mean of K(0) and K(-1): zero for a loss of one value."""
    middle, zero, one = law.log_transform(np.array([-0.5, 0.0, -1.0])).mid.real
    dip = float((zero + one) / 2 - middle)
    return dip if 1e-300 < dip < np.inf else 0.0


def _spread(law: Law) -> float:
    """The standard deviation that a normal law of this dip has, within the range of doubles' exponentials."""
    return min(max(math.sqrt(8 * _dip(law)), 1e-3), 300.0) if _dip(law) else 1.0


def _abscissas(law: Law) -> Array:
    """Real points inside the strip, at which K is known."""
    low, high = law.strip
    far = min(3 / _spread(law), 1e3)
    steps = np.array([0.15, 0.4, 1.0])
    right = steps * (far if np.isinf(high) else min(far, 0.6 * high))
    left = -1 - steps * (far if np.isinf(low) else min(far, 0.6 * (-1 - low)))
    points = np.unique(np.concatenate([left, [-1.0, -0.7, -0.5, -0.2, 0.0], right]))
    values = law.log_transform(points)
    known: Array = points[np.isfinite(values.radius)]
    _require(-0.5 in known, "K is not known at -1/2")
    return known


def _points(law: Law) -> NDArray[np.complex128]:
    """Complex points inside the strip, at which K is known."""
    heights = np.array([0.0, 0.4, 1.5, 5.0]) / _spread(law)
    points = (_abscissas(law)[:, None] + 1j * heights).ravel()
    values = law.log_transform(points)
    return points[np.isfinite(values.radius)]


def _known(law: Law, z: NDArray[Any]) -> Values:
    """K with the errors that are held against it; where it is unknown, the radius is infinite."""
    values = law.log_transform(z)
    radius = np.broadcast_to(values.radius, z.shape)
    _require(~np.isnan(values.mid) & ~np.isnan(radius), "K is not a number", z=z)
    return Values(np.where(np.isfinite(radius), values.mid, 0.0), _roomy(law, radius), np.zeros(z.shape))


def _roomy(law: Law, radius: Array) -> Array:
    return _ESTIMATE_FACTOR * radius + _ESTIMATE_FLOOR if law.estimated else radius


def _thresholds(loss: LogPhi) -> Array:
    spread = _spread(loss)
    points: Array = _THRESHOLDS * min(spread, _LARGEST_EPSILON / 2)
    return points


def _profile_room(loss: LogPhi) -> float:
    return _ESTIMATE_PROFILE if loss.estimated else 0.0


def _profile(loss: LogPhi, at: Array, direction: Direction) -> tuple[Array, Array]:
    """Bounds of one order's profile."""
    found = [_bound(delta(Loss(loss, Adjacency.ADD_REMOVE), float(x), direction=direction)) for x in at]
    return np.array([one.lower for one in found]), np.array([one.upper for one in found])


def _bound(answer: Any) -> Bound:
    return answer  # type: ignore[no-any-return]


def _orders(mechanism: Mechanism) -> list[Direction]:
    one = {Adjacency.ADD: Direction.ADD, Adjacency.REMOVE: Direction.REMOVE}.get(mechanism.adjacency)
    return [Direction.REMOVE, Direction.ADD] if one is None else [one]


def _range(own: LogPhi, sign: float, size: float) -> tuple[Array, float]:
    """Thresholds from 0 to where the rest of an integral is below a thousandth of ``size``, by Chernoff; and that rest."""
    c = np.array([one for one in _abscissas(own) if one > 0])
    # kappa(c) <= 1; the second integrand carries e^{-x}
    speed, log_height = c + (sign < 0), own.log_transform(c).mid.real
    ends = (log_height - np.log(speed * 1e-3 * size)) / speed
    end, rest = max(float(ends.min()), 0.0) + 1e-300, 1e-3 * size
    if own.supremum <= end:
        end, rest = max(own.supremum, 1e-300), 0.0
    return end * np.linspace(0.0, 1.0, 14) ** 1.4, rest


def _chords(a: Array, low: Array, high: Array) -> tuple[float, float]:
    """Integral of a convex function over da/a, from the chords that lie above and the chords beyond that lie below."""
    order = np.argsort(a)
    a, low, high = a[order], low[order], high[order]
    # nodes on which the piecewise linear bounds are integrated; measured: the rule leaves less than 1e-7
    fine = np.exp(np.linspace(0.0, 1.0, 65)) - 1
    fine = (fine / fine[-1])[:, None] * np.diff(a) + a[:-1]
    above = high[:-1] + (fine - a[:-1]) * np.diff(high) / np.diff(a)
    # a slope from the right can be too steep by the errors of its ends
    left = (high[1:] - low[:-1]) / np.diff(a)
    right = (low[1:] - high[:-1]) / np.diff(a)
    below = np.zeros_like(fine)
    below[:, 1:] = np.maximum(below[:, 1:], low[1:-1] + (fine[:, 1:] - a[1:-1]) * right[:-1])
    below[:, :-1] = np.maximum(below[:, :-1], low[1:-1] - (a[1:-1] - fine[:, :-1]) * left[1:])
    steps = np.diff(fine, axis=0) / 2
    low_total, high_total = (float((steps * ((side / fine)[1:] + (side / fine)[:-1])).sum()) for side in (below, above))
    return low_total, high_total


def _roots(mechanism: Mechanism) -> Iterator[Mechanism]:
    """The mechanisms that are neither sampled nor composed."""
    if isinstance(mechanism, Composition):
        for one, _ in mechanism.counted():
            yield from _roots(one)
    elif isinstance(mechanism, (PoissonSampled, SubsetSampled)):
        yield from _roots(mechanism.base)
    else:
        yield mechanism


def _is_written(mechanism: Mechanism) -> bool:
    """Whether its parameters are numbers, lists of numbers and relations."""

    def plain(value: Any) -> bool:
        if isinstance(value, tuple):
            return all(plain(entry) for entry in value)
        return value is None or isinstance(value, (int, float, Adjacency))

    return all(plain(value) for value in vars(mechanism).values())


# --------------------------------------------------------------------------------------------- saying no


def _require(holds: Any, text: str, **places: Any) -> None:
    """Raise with the first place at which a condition does not hold."""
    holds = np.asarray(holds)
    if holds.all():
        return
    first = np.unravel_index(int(np.argmin(holds)), holds.shape)
    shown = ", ".join(f"{name}={np.asarray(values)[first]:.10g}" for name, values in places.items())
    raise AssertionError(f"{text}{' at ' if shown else ''}{shown}")


def _same(text: str, z: Any, one: Any, other: Any, room: Any) -> None:
    """Logarithms must agree up to multiples of 2 pi i and ``room``, which counts the rounding of both."""
    gap = np.asarray(one - other, dtype=complex)
    gap = np.abs(gap - 2j * np.pi * np.round(gap.imag / (2 * np.pi)))
    allowed = room + 4e-16 * (np.abs(one) + np.abs(other))
    _require((gap <= allowed) | np.isinf(room), text, z=z, gap=gap, allowed=allowed)
