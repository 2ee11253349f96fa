"""D of atomic and tilted uniform laws in closed form: the product of their M is expanded, and each term has residues.

With Q = 2z + 1, a tilted uniform law of width w has M = b [(Q+1) e^{Qw/2} + (Q-1) e^{-Qw/2}] / (2Q) with atoms (r = 1) and
b [e^{Qw/2} - e^{-Qw/2}] / (2Q) without (r = 0), and an atom of mass a at y contributes a e^{-y/2} e^{Qy/2}. The product of
laws is a sum of terms C (Q+1)^{N-b} (Q-1)^b Q^{-k} e^{Qy/2}, where N of k tilted uniform laws have atoms. By

    D(eps) = 2 e^{eps/2} (1/2 pi i) * integral over Re Q > 1 of e^{-Q eps/2} M dQ / ((Q-1) (Q+1)),

a term with y <= eps contributes nothing: the line may move to the right, where the integrand falls like 1/Q^2. A term with
x = y - eps > 0 contributes the residues of (Q+1)^{N-b-1} (Q-1)^{b-1} Q^{-k} e^{Qx/2} at 0, at 1 if b = 0 and at -1 if b = N.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

from flint import arb, arb_poly, ctx

from logphi.checker.arithmetic.balls import ball, between, rough
from logphi.checker.arithmetic.work import STORED, demand, spend
from logphi.checker.laws.composition import Composition, Terms
from logphi.checker.laws.finite import Finite
from logphi.checker.laws.law import Law
from logphi.checker.laws.uniform import TiltedUniform

# measured: more terms take minutes
MOST_ATOMS = 300_000
MOST_TILTED = 2000
# losses and their probabilities
Atoms = list[tuple[Any, Any]]


def applies(whole: Composition) -> bool:
    """Whether every law is atomic or tilted uniform, with such atoms as have Laplace noise, or without."""
    return all(law.atomic or (isinstance(law, TiltedUniform) and law.atoms() in (arb(0), arb(1))) for law, _ in whole.terms)


def enclose(whole: Composition, epsilons: Sequence[Fraction]) -> list[Any]:
    """D at each epsilon."""
    demand(applies(whole), "some laws are neither atomic nor tilted uniform")
    tilted = [(law, count) for law, count in whole.terms if isinstance(law, TiltedUniform)]
    smooth, with_atoms = sum(n for _, n in tilted), sum(n for law, n in tilted if not law.atoms().is_zero())
    demand(smooth <= MOST_TILTED, "more releases of tilted uniform laws than this checker expands")
    atoms, omitted = all_atoms([term for term in whole.terms if not isinstance(term[0], TiltedUniform)])
    places = _expanded(tilted, with_atoms)
    # measured: half a unit to add a coefficient, and one to compute it
    spend(len(atoms) * sum(map(len, places)) * (20 + smooth / 2) * len(epsilons))
    spend(with_atoms * smooth)
    found = [between(0, omitted) for _ in epsilons]
    weighted = [[(y, 2 * mass * ((ball(one) - y) / 2).exp()) for y, mass in atoms] for one in epsilons]
    # one function at a time: each has as many coefficients as there are releases
    for residue, steps in zip(_residues(with_atoms, smooth), places, strict=True):
        for i, epsilon in enumerate(epsilons):
            found[i] += _excess(weighted[i], steps, residue, ball(epsilon))
    return found


def averaged(whole: Composition, epsilons: Sequence[Fraction]) -> list[Any]:
    """D of atomic laws and of at most one release whose D has a closed form: the mean of that over all atoms."""
    others = Composition([(law, count) for law, count in whole.terms if not law.atomic])
    law = others.alone
    demand(law is not None, "not exactly one of its releases has a loss that is not atomic")
    assert law is not None, "demanded above"
    atoms, omitted = all_atoms([(one, count) for one, count in whole.terms if one.atomic])
    spend(STORED * len(atoms) * len(epsilons))
    return [sum((mass * law.single_excess(ball(x) - y) for y, mass in atoms), between(0, omitted)) for x in epsilons]


def all_atoms(terms: Terms) -> tuple[Atoms, Any]:
    """The finite losses of a composition of atomic laws, with a bound of the omitted probability."""
    atoms, omitted = [(arb(0), arb(1))], arb(0)
    for law, count in terms:
        listed = law.listed()
        omitted += count * listed.omitted()
        atoms = _composed(atoms, _atoms(listed, count))
    return atoms, omitted


def vectors(kinds: int, draws: int) -> int:
    """The number of vectors of nonnegative integers, one for each kind of outcome, that sum to the number of draws."""
    return math.comb(draws + kinds - 1, min(draws, kinds - 1))


def values_of(law: Law, count: int) -> int:
    """The largest number of values of a sum of ``count`` losses."""
    finite = law.listed()
    spacing, kinds = finite.spacing, len(finite.common())
    if spacing is None or not spacing.span():
        return vectors(kinds, count) if count <= MOST_ATOMS else MOST_ATOMS
    return 1 + count * int((max(spacing.steps) - min(spacing.steps)) / spacing.span())


def _excess(weighted: Atoms, steps: Atoms, residue: Callable[[Any], Any], epsilon: Any) -> Any:
    """The contribution of all terms with the same power of Q - 1."""
    found = arb(0)
    for y, weight in weighted:
        sides = arb(0)
        for step, share in steps:
            x = y + step - epsilon
            # the sum of the residues is zero at x = 0; the term is this sum for x > 0, and zero for x < 0
            if x > 0:
                sides += share * residue(x)
            elif not x < 0:
                sides += share * between(0, residue(x))
        found += weight * sides
    return found


def _composed(ours: Atoms, others: Atoms) -> Atoms:
    """The sums of two independent losses."""
    spend(STORED * len(ours) * len(others))
    demand(len(ours) * len(others) <= MOST_ATOMS, "more atoms than this checker lists")
    return [(y + x, mass * share) for y, mass in ours for x, share in others]


def _atoms(law: Finite, count: int) -> Atoms:
    """The law of a sum of ``count`` finite losses: the power of a polynomial if they have a spacing, else a multinomial law."""
    spacing = law.spacing
    masses, losses = [p for p, _ in law.common()], law.losses()
    if spacing is None or not spacing.span():
        return list(multinomial(masses, losses, count))
    least, span = min(spacing.steps), spacing.span()
    degrees = [int((step - least) / span) for step in spacing.steps]
    demand(max(degrees) * count <= MOST_ATOMS, "more atoms than this checker lists")
    # FLINT multiplies blocks of coefficients of similar size; the coefficients of high powers differ most
    blocks = min(max(degrees) * count, 1 + count * _range(masses) / ctx.prec)
    spend((2 * STORED + 4 * blocks) * max(degrees) * count)
    coefficients = [arb(0)] * (max(degrees) + 1)
    for degree, mass in zip(degrees, masses, strict=True):
        coefficients[degree] += mass
    first, step = count * (spacing.base() + spacing.unit() * ball(least)), spacing.unit() * ball(span)
    found = (arb_poly(coefficients) ** count).coeffs()
    return [(first + degree * step, mass) for degree, mass in enumerate(found) if not mass.is_zero()]


def _range(masses: list[Any]) -> float:
    """About how many bits lie between the smallest and the largest mass."""
    logs = [rough(mass.log()) for mass in masses]
    return (max(logs) - min(logs)) / math.log(2)


def multinomial(masses: list[Any], losses: list[Any], count: int) -> Iterator[tuple[Any, Any]]:
    """The sums of the losses of so many draws, one for each vector of outcomes, with its probability."""
    if len(masses) == 1:
        yield count * losses[0], masses[0] ** count
        return
    demand(count <= MOST_ATOMS and vectors(len(masses), count) <= MOST_ATOMS, "more atoms than this checker lists")
    spend(2 * STORED * (count * len(masses) + vectors(len(masses), count)))
    # p^j / j! for each outcome
    powers = [[arb(1)] for _ in masses]
    for mass, row in zip(masses, powers, strict=True):
        for j in range(1, count + 1):
            row.append(row[-1] * mass / j)

    # how many draws, at least one, are left to the outcomes that follow, with the loss and the share so far
    open_terms = [(count, arb(0), arb.fac_ui(count))]
    for loss, row in zip(losses[:-1], powers[:-1], strict=True):
        further = []
        for left, y, share in open_terms:
            further.append((left, y, share))
            further += [(left - j, y + j * loss, share * row[j]) for j in range(1, left)]
            yield y + left * loss, share * row[left]
        open_terms = further
    yield from ((y + left * losses[-1], share * powers[-1][left]) for left, y, share in open_terms)


def _expanded(tilted: Sequence[tuple[TiltedUniform, int]], with_atoms: int) -> list[Atoms]:
    """For each power b of Q - 1, the exponents y and the coefficients C of the terms."""
    found: dict[int, Atoms] = {0: [(arb(0), arb(1))]}
    for law, count in tilted:
        w, atoms, lead = law.width(), not law.atoms().is_zero(), (law.scale() / 2) ** count
        grown: dict[int, Atoms] = {}
        for minus, steps in found.items():
            spend(STORED * len(steps) * (count + 1))
            demand(len(steps) * count <= MOST_ATOMS, "more terms than this checker expands")
            for i in range(count + 1):
                share = lead * math.comb(count, i) * (1 if atoms else (-1) ** i)
                more = [(y + (count - 2 * i) * w, mass * share) for y, mass in steps]
                grown.setdefault(minus + i if atoms else minus, []).extend(more)
        found = grown
    return [found[minus] for minus in range(with_atoms + 1)]


def _residues(with_atoms: int, order: int) -> Iterator[Callable[[Any], Any]]:
    """For b = 0 .. N, the sum of the residues as a function of x; ``order`` is k."""
    inverse = [arb(1)]
    for i in range(1, order):
        inverse.append(inverse[-1] / i)
    # the first coefficients of (Q+1)^{N-b-1} (Q-1)^{b-1} in powers of Q, from b = 0 on
    if with_atoms:
        series = [-total for total in accumulate(math.comb(with_atoms - 1, j) for j in range(order))]
    else:
        series = [-1 + j % 2 for j in range(order)]
    for minus in range(with_atoms + 1):
        inner = arb_poly([coefficient * factor for coefficient, factor in zip(reversed(series), inverse, strict=False)])
        right = arb(2) ** (with_atoms - 1) if minus == 0 else arb(0)
        left = arb(-2) ** (with_atoms - 1) * (-1) ** order if minus == with_atoms else arb(0)

        def residue(x: Any, inner: Any = inner, right: Any = right, left: Any = left) -> Any:
            return inner(x / 2) + right * (x / 2).exp() + left * (-x / 2).exp()

        yield residue
        # times (Q-1) / (Q+1)
        product = [high - low for high, low in zip([0, *series], series, strict=False)]
        series = []
        for coefficient in product:
            series.append(coefficient - (series[-1] if series else 0))
