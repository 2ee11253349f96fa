"""One release alone: its excess in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, singledispatch
from typing import Any, ClassVar, Protocol

import flint

from logphi.arith.ball import precision
from logphi.arith.protocol import Plain
from logphi.certified import pieces
from logphi.certified.gathered import gathered
from logphi.certified.normal_mixture import NormalMixtures, mixtures_of
from logphi.certified.reals import constant, on_ball
from logphi.certified.route import NotThisRouteError
from logphi.laws.curved_normal import SplicedNormal
from logphi.laws.finite import Thinned
from logphi.laws.flat_pair import FlatPair
from logphi.laws.log_phi import LogPhi
from logphi.laws.mixed_flat import MixedFlat, SplicedFlat
from logphi.laws.mixed_normal import MixedNormal
from logphi.laws.normal_pair import NormalPair
from logphi.laws.transform import LossTransform, Reflected

# bits beside those asked for
_SPARE = 32
_WITNESS_DIGITS = 20


class ClosedForm(Protocol):
    """The excess of one law as a function of an exact epsilon, at the present precision."""

    def excess(self, epsilon: Any) -> Any:
        """E_P[(1 - e^{epsilon - L})_+; L < inf]."""


@dataclass(frozen=True)
class Single:
    """One release, of which a share is kept."""

    loss: LogPhi
    bits: int
    name: ClassVar[str] = "single"

    def witness(self, epsilon: Any) -> dict[str, Any]:
        """Where the loss is epsilon, if there is one such place."""
        found: dict[str, Any] = {"route": self.name, "bits": self.bits}
        with precision(self.bits):
            (profile, _), at = self._parts, epsilon.mid()
            if isinstance(profile, NormalMixtures) and profile.ends[0] < at < profile.ends[1]:
                found["root"] = profile.root(at).mid().str(_WITNESS_DIGITS, radius=False)
        return found

    def excess(self, epsilon: Any) -> Any:
        """Of the closed form."""
        with precision(self.bits):
            profile, kept = self._parts
            return on_ball(lambda end: kept * profile.excess(end), epsilon)

    @cached_property
    def _parts(self) -> tuple[ClosedForm, Any]:
        laws, kept = gathered(self.loss)
        if len(laws) != 1:
            raise NotThisRouteError("closed forms are known for one release alone, and for Gaussian mechanisms together")
        return form_of(laws[0]), kept


def prepare(loss: LogPhi, epsilon: Any, bits: int) -> Single:
    """One release; it is as good at any other epsilon.

    Raises
    ------
    NotCertifiedError
        If there are several, or no closed form is known.
    """
    route = Single(loss, bits + _SPARE)
    with precision(route.bits):
        _ = route._parts
    return route


@singledispatch
def form_of(law: LossTransform) -> ClosedForm:
    """The closed form of a law: that of mixtures of normal laws, if it has no other.

    Raises
    ------
    NotCertifiedError
        If none is known.
    """
    return mixtures_of(law)


@dataclass(frozen=True)
class Halves:
    """One profile from zero on and another below: [AFA] Proposition 30."""

    above: ClosedForm
    below: ClosedForm

    def excess(self, epsilon: Any) -> Any:
        """That of its half."""
        return (self.above if epsilon >= 0 else self.below).excess(epsilon)


@form_of.register
def _(law: SplicedNormal) -> Halves:
    mixed = mixtures_of(MixedNormal(law.shift, Plain(law.rate)))
    return Halves(mixed, mixed.reversed())


@dataclass(frozen=True)
class SampledFlat:
    """A sample of a flat base ([LT] Theorem 5.1), with e^{x'} = 1 + (e^x - 1)/q; ``added``: turned around.

    The profile is q delta(x') of the base for x > log(1 - q) and 1 - e^x below. Turned around, by
    delta_{Q|P}(x) = 1 - e^x + e^x delta_{P|Q}(-x) and as the base is symmetric, it is (1 - (1 - q) e^x) delta(-y') with
    e^{y'} = 1 + (e^{-x} - 1)/q, for x < -log(1 - q), and nothing above. What is taken off is infinite losses.
    """

    base: LogPhi
    failure: Any
    rate: Any
    lost: Any
    added: bool = False

    def excess(self, epsilon: Any) -> Any:
        """The profile less the infinite losses."""
        rate, odds = self.rate, (-epsilon if self.added else epsilon).expm1() / self.rate
        if odds <= -1:
            return (flint.arb(0) if self.added else -epsilon.expm1()) - self.lost
        if not odds > -1:
            # by less than what lies between here and the end
            edge = (rate * (1 + odds)).upper().union(0)
            return (edge * epsilon.exp() if self.added else -epsilon.expm1() + edge) - self.lost
        inner = odds.log1p()
        at = -inner if self.added else inner
        profile = pieces.prepare(self.base, at, flint.ctx.prec).excess(at) + self.failure
        return (1 - (1 - rate) * epsilon.exp() if self.added else rate) * profile - self.lost


def _sampled(base: FlatPair, rate: float, *, added: bool = False, lost: bool = True) -> SampledFlat:
    failure, q = constant(base.failure), constant(rate)
    thinned = ((Thinned(base.failure), 1),) if base.failure else ()
    return SampledFlat(LogPhi(((base.law, 1), *thinned)), failure, q, q * failure if lost else flint.arb(0), added)


@form_of.register
def _(law: MixedFlat) -> SampledFlat:
    return _sampled(law.base, law.rate)


@form_of.register
def _(law: SplicedFlat) -> Halves:
    return Halves(_sampled(law.base, law.rate), _sampled(law.base, law.rate, added=True))


@form_of.register
def _(law: Reflected) -> ClosedForm:
    inner = law.law
    return _sampled(inner.base, inner.rate, added=True, lost=False) if isinstance(inner, MixedFlat) else mixtures_of(law)


@dataclass(frozen=True)
class Widths:
    """N(d, r^2) against N(0, 1), d >= 0: with v = 1 - r^2, the loss exceeds x between the roots of v y^2 - 2 d y + n.

    Or outside of them for v < 0; n = d^2 + 2 r^2 (x + log r). The roots are n/(d + s) and (d + s)/v, s^2 = d^2 - v n.
    """

    shift: Any
    ratio: Any
    bend: Any

    def excess(self, epsilon: Any) -> Any:
        """Of an interval or of its outside; of nothing, or of all, where there are no roots."""
        d, r, v = self.shift, self.ratio, self.bend
        n = d * d + 2 * r * r * (epsilon + r.log())
        square = d * d - v * n
        if square < 0:
            return flint.arb(0) if v > 0 else -epsilon.expm1()
        # where it is not known whether there are roots, nothing lies between them at s = 0
        s = square.sqrt() if square > 0 else square.upper().sqrt().union(0)
        one, other = n / (d + s), (d + s) / v
        if v > 0:
            return _between((one - d) / r, (other - d) / r) - epsilon.exp() * _between(one, other)
        outside = _beyond((d - other) / r) + _beyond((one - d) / r)
        return outside - epsilon.exp() * (_beyond(-other) + _beyond(one))


def _beyond(x: Any) -> Any:
    """The mass of N(0, 1) above x."""
    return (x / flint.arb(2).sqrt()).erfc() / 2


def _between(low: Any, high: Any) -> Any:
    """The mass of N(0, 1) between two points, from the tail that they share."""
    return _beyond(low) - _beyond(high) if low > 0 else _beyond(-high) - _beyond(-low)


@form_of.register
def _(law: NormalPair) -> Widths:
    numbers = (law.mean_p, law.mean_q, law.sigma_p, law.sigma_q)
    mean_p, mean_q, p, q = map(constant, numbers)
    return Widths(abs(mean_p - mean_q) / q, p / q, (q - p) * (q + p) / (q * q))
