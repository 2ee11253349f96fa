"""Checks of K as a function: properties of every transform of a positive measure, within the declared errors."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from logphi.algebra.release import Mechanism
from logphi.answers.status import Direction
from logphi.quadrature.values import Line
from logphi.testing.probes import (
    ROUNDING,
    abscissas_of,
    allowed_radius,
    points_of,
    require,
    require_equal,
    spread_of,
    values_at,
)

# chosen: precision of the reference arithmetic: thirty digits
_MPMATH_BITS = 103
# chosen: the precisions of the balls
_BITS = (80, 128)
# chosen: the number of points at which balls are compared
_BALLS = 12
# chosen: that number where each ball takes a quadrature
_FEW_BALLS = 3


def check_conjugate_symmetry(mechanism: Mechanism) -> None:
    """K at the conjugate of z is the conjugate of K(z), and K is real on the real line."""
    loss = mechanism.loss_law()
    z = points_of(loss)
    here, there = values_at(loss, z), values_at(loss, z.conj())
    require_equal("K(conj z) is not conj K(z)", z, here.mid, there.mid.conj(), here.radius + there.radius)
    real = values_at(loss, z.real + 0j)
    # M is positive on the real line, so that Im K is exactly zero there, not only up to a branch of the logarithm
    require_equal("K is not real at the real z", z.real, real.mid, real.mid.real, real.radius)


def check_reflection(mechanism: Mechanism) -> None:
    """The loss of the reversed pair has K(-1 - z), the strip reflected at -1/2 and the support reflected at 0."""
    loss = mechanism.loss_law()
    # points for which -1 - z is exact
    reversed_loss, z = loss.reflected(), (1 + points_of(loss)) - 1
    here = values_at(loss, z)
    if loss.traits.symmetric:
        reflected = values_at(loss, -1 - z)
        room = here.radius + reflected.radius
        require_equal("K says that it is symmetric, but K(-1 - z) is not K(z)", z, here.mid, reflected.mid, room)
    there = values_at(reversed_loss, -1 - z)
    require_equal("K of the reversed pair at -1 - z is not K(z)", z, here.mid, there.mid, here.radius + there.radius)
    low, high = loss.strip
    # where K is known by samples, the strip ends where the samples do
    ends = [] if loss.traits.estimated else [(-1 - high, reversed_loss.strip[0]), (-1 - low, reversed_loss.strip[1])]
    for one, other in ends:
        near = one == other or abs(one - other) <= 1e-12 * (1 + abs(one))
        require(near, f"the reversed strip is {reversed_loss.strip}, that of the loss {loss.strip}")
    for name, one, other in (
        ("top", loss.support.upper, -reversed_loss.support.lower),
        ("bottom", loss.support.lower, -reversed_loss.support.upper),
    ):
        near = one == other or abs(one - other) <= loss.support.error + 1e-12 * abs(one)
        require(near, f"the {name} of the support is {one!r}, by the reversed pair {other!r}")


def check_line(mechanism: Mechanism) -> None:
    """Values on a vertical line are those at its points."""
    loss = mechanism.loss_law()
    for c in abscissas_of(loss)[::3]:
        line = Line(float(c), 0.3 / spread_of(loss), 24)
        together, apart = loss.on_line(line), loss.log_transform(line.points)
        known = np.isfinite(together.radius + apart.radius)
        room = allowed_radius(loss, together.radius + apart.radius)[known] + ROUNDING
        require_equal("K on a line is not K at its points", line.points[known], together.mid[known], apart.mid[known], room)


def check_convexity(mechanism: Mechanism) -> None:
    """K is convex on the real strip, with slopes between the ends of the support."""
    loss = mechanism.loss_law()
    c = abscissas_of(loss)
    values = values_at(loss, c)
    k, room, gaps = values.mid.real, values.radius, np.diff(c)
    slopes, wrong = np.diff(k) / gaps, (room[1:] + room[:-1]) / gaps + ROUNDING * (1 + np.abs(np.diff(k) / gaps))
    require(np.diff(slopes) >= -(wrong[1:] + wrong[:-1]), "K is not convex on the real strip", c=c[1:-1])
    require(slopes <= loss.support.upper + wrong, "K grows faster than the top of the support allows", c=c[:-1], slope=slopes)
    require(
        slopes >= loss.support.lower - wrong, "K falls faster than the bottom of the support allows", c=c[:-1], slope=slopes
    )


def check_modulus(mechanism: Mechanism) -> None:
    """|M(c + it)| <= M(c); more: M(c + i(t_j - t_k)) is a positive semidefinite matrix, as of every positive measure."""
    loss = mechanism.loss_law()
    t = np.array([0.0, 0.3, 0.7, 1.3, 2.2, 3.7]) / spread_of(loss)
    for c in abscissas_of(loss):
        values = loss.log_transform(c + 1j * (t[:, None] - t))
        base = values.mid[0, 0].real
        known = np.isfinite(values.radius) & (values.radius < 1)
        room = np.expm1(allowed_radius(loss, np.where(known, values.radius, 0.0)) + ROUNDING)
        ratio = np.exp(np.where(known, values.mid, base) - base)
        require(~known | (np.abs(ratio) <= 1 + room + room[0, 0]), "|M(c + it)| is above M(c)", c=np.full(known.shape, c))
        if known.all():
            lowest = float(np.linalg.eigvalsh((ratio + ratio.conj().T) / 2)[0])
            require(lowest >= -t.size * (room.max() + 1e-12), f"M is no transform of a positive measure on Re z = {c:g}")


def check_envelope(mechanism: Mechanism) -> None:
    """The envelope bounds Re K(c + is) - K(c) for all s in [t, end]; it is not positive and does not increase."""
    loss = mechanism.loss_law()
    spread = spread_of(loss)
    heights = np.geomspace(0.01, 60, 40) / spread
    sampled = np.unique(np.concatenate([heights, np.linspace(0.05, 60, 200) / spread]))
    for c in abscissas_of(loss)[::2]:
        values = loss.log_transform(c + 1j * sampled)
        base = loss.log_transform(np.array([c]))
        known = np.isfinite(values.radius)
        # e^K differs from e^mid by at most e^radius - 1 times its size
        known &= values.radius < np.log(2)
        smallest = np.log(2 - np.exp(np.where(known, values.radius, 0.0)))
        least = np.where(known, np.where(known, values.mid.real, 0.0) + smallest, -np.inf)
        least = least - base.mid[0].real - base.radius[0]
        for end in (np.inf, float(heights[-12])):
            envelope = loss.log_envelope(float(c), heights, end)
            require(envelope <= 0, f"the envelope on Re z = {c:g} is positive", t=heights)
            require(np.diff(envelope) <= ROUNDING, f"the envelope on Re z = {c:g} increases", t=heights[1:])
            reached = np.array([least[(sampled >= t) & (sampled <= end)].max(initial=-np.inf) for t in heights])
            require(
                reached <= envelope + ROUNDING,
                f"the envelope on Re z = {c:g}, up to {end:g}, is below log |M(c + is)/M(c)|",
                t=heights, envelope=envelope, reached=reached,
            )  # fmt: skip


def check_masses(mechanism: Mechanism) -> None:
    """K(0) and K(-1) are the logarithms of the finite masses, and neither is above zero."""
    loss = mechanism.loss_law()
    values = loss.log_transform(np.array([0.0, -1.0]))
    radius = allowed_radius(loss, values.radius)
    for i, (name, known) in enumerate(zip(("P(L < inf)", "Q(L > -inf)"), loss.support.masses, strict=True)):
        mid, room = float(known.mid[0].real), float(known.radius[0])
        require(mid - room <= 0, f"log {name} is {mid!r}: above zero by more than its error {room:g}")
        both = room + radius[i] + ROUNDING
        near = not np.isfinite(radius[i]) or abs(values.mid[i].real - mid) <= both
        require(near, f"log {name} is {mid!r}, but K({-i}) is {values.mid[i]!r}: further apart than their errors, {both:g}")
        require(not values.mid[i].real > radius[i] + ROUNDING, f"K({-i}) is {values.mid[i]!r}: a mass above one")


def check_multiprecision(mechanism: Mechanism) -> None:
    """The formula, evaluated to 30 digits, is within the declared errors; laws without a formula are skipped."""
    import mpmath

    from logphi.arith.mp import MULTIPRECISION, precision

    loss = mechanism.loss_law()
    c = abscissas_of(loss)
    # few and low: where the formula is an integral each takes a quadrature, the longer the faster it oscillates
    z = c[np.linspace(0, c.size - 1, 5).astype(int)] + 1j * np.array([0.4, 1.5, 0.0, 1.5, 0.4]) / max(spread_of(loss), 0.02)
    values = values_at(loss, z)
    with precision(_MPMATH_BITS):
        for point, mid, radius in zip(z, values.mid, values.radius, strict=True):
            try:
                exact = loss.formula(MULTIPRECISION, mpmath.mpc(complex(point)))
            except NotImplementedError:
                return
            # the meaning of a radius: e^K is within (e^radius - 1) e^mid of e^mid, on whatever branch of the logarithm
            gap = mpmath.expm1(exact - mpmath.mpc(complex(mid)))
            require(
                abs(gap) <= mpmath.expm1(radius) + 1e-22 * (1 + abs(exact)),
                f"K({point:g}) is {complex(mid)!r}, by the formula {mpmath.nstr(exact, 20)}: "
                f"e^K is {mpmath.nstr(abs(gap), 3)} apart, relatively, more than the declared radius of {radius:.3g} allows",
            )


def check_balls(mechanism: Mechanism) -> None:
    """The formula in ball arithmetic of two precisions agrees with itself, and with the declared errors.

    A ball contains the exact K(z) of the parameters as they were written, so that a disc in doubles that misses it is wrong.
    Skipped without python-flint, and for laws whose formula cannot be enclosed.
    """
    if find_spec("flint") is None:
        return
    from logphi.arith.balls import Balls

    coarse, fine = (Balls(bits) for bits in _BITS)
    for law, _ in mechanism.loss_law().terms:
        points = points_of(law)
        size = min(_FEW_BALLS if law.log_transform(points).inner.any() else _BALLS, points.size)
        # away from both ends, where a quadrature is hardest
        z = points[np.linspace(0, points.size - 1, size + 2).astype(int)[1:-1]]
        values = values_at(law, z)
        for point, mid, radius in zip(z, values.mid, values.radius, strict=True):
            try:
                rough, sharp = (balls.exp(law.formula(balls, balls.exact(point))) for balls in (coarse, fine))
            except NotImplementedError:
                break
            gap = rough / sharp - 1
            require(
                not gap.exceeds(coarse.exact(0)),
                f"M({point:g}) in balls of {_BITS[0]} and of {_BITS[1]} bits is not one number",
            )
            # the meaning of a radius: e^K is within (e^radius - 1) e^mid of e^mid, on whatever branch of the logarithm
            gap = sharp / fine.exp(fine.exact(mid)) - 1
            require(
                not gap.exceeds(fine.exp(fine.exact(radius)) - 1),
                f"K({point:g}) is {complex(mid)!r}: further from its formula in balls than the declared {radius:.3g}",
            )


def check_symbolic(mechanism: Mechanism) -> None:
    """The symbolic log-phi, evaluated at a few alphas in both directions, is K(i alpha); infinite sums are skipped."""
    import mpmath
    import sympy

    from logphi.arith.mp import precision

    loss, alpha = mechanism.loss_law(), sympy.Symbol("alpha")
    try:
        expressions = {one: mechanism.log_phi(alpha, direction=one) for one in (Direction.REMOVE, Direction.ADD)}
    except NotImplementedError:
        return
    for direction, expression in expressions.items():
        require(expression.free_symbols <= {alpha}, f"log-phi holds other symbols: {expression.free_symbols}")
        if expression.has(sympy.Sum):
            continue
        own = loss if direction is Direction.REMOVE else loss.reflected()
        numeric = sympy.lambdify(alpha, expression, "mpmath")
        # an integral takes longer the faster it oscillates
        few = [0.31] if expression.has(sympy.Integral) else [0.31, -1.7]
        for at in np.array(few) / max(spread_of(loss), 0.1):
            values = values_at(own, np.array([1j * at]))
            with precision(_MPMATH_BITS):
                found = complex(numeric(mpmath.mpf(float(at))))
            room = values.radius + 1e-14 * (1 + abs(found))
            require_equal(
                f"log_phi({at:g}, direction={direction.value!r}) is not K(i alpha)", np.array([at]), values.mid, found, room
            )


def check_pieces(mechanism: Mechanism) -> None:
    """If a law declares atoms and a density, or a lattice, its K agrees."""
    for law, _ in mechanism.loss_law().terms:
        pieces, lattice, z = law.support.pieces, law.support.lattice, points_of(law)
        values = values_at(law, z)
        if pieces is not None:
            u = z + 0.5
            total = sum((np.exp(u * x + w) for x, w in zip(pieces.locations, pieces.log_weights, strict=True)), 0 * u)
            if pieces.width:
                near = np.abs(u) * pieces.width < 1e-6
                shape = np.sinh(u * pieces.width) / np.where(near, 1.0, u)
                total = total + 2 * np.exp(pieces.log_density) * np.where(near, pieces.width, shape)
            size = np.exp(values_at(law, z.real + 0j).mid.real)
            gap = np.abs(total - np.exp(values.mid)) / size
            require(
                gap <= 1e-9 + 10 * (pieces.location_error * (np.abs(u) + 1) + pieces.relative_error),
                "the pieces do not add up to M",
                z=z,
                gap=gap,
            )
            ends = [*pieces.locations, *((-pieces.width, pieces.width) if pieces.width else ())]
            off = law.support.error + pieces.location_error + 1e-12 * (abs(law.support.upper) + 1)
            require(max(ends) <= law.support.upper + off, f"a piece lies above the top of the support, {law.support.upper!r}")
            require(
                min(ends) >= law.support.lower - off, f"a piece lies below the bottom of the support, {law.support.lower!r}"
            )
        if lattice is not None and 0 < lattice.span < np.inf:
            period = 2 * np.pi / lattice.span
            shifted = values_at(law, z + 1j * period)
            reach = max(abs(law.support.upper), abs(law.support.lower))
            # an unbounded support is truncated where its mass is negligible
            reach = reach if np.isfinite(reach) else 60 * spread_of(law) + 60
            moved = 4 * period * (lattice.location_error + lattice.scale_error * reach)
            room = values.radius + shifted.radius + moved + ROUNDING
            # the argument of a small M is uncertain by more
            size = np.maximum(1.0, np.exp(values_at(law, z.real + 0j).mid.real - values.mid.real))
            require_equal(
                "e^{-za} M(z) does not have the period of the lattice",
                z,
                shifted.mid - 1j * period * lattice.offset,
                values.mid,
                room * size,
            )
