"""One release alone: its excess in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from logphi.arith.ball import precision
from logphi.certified.merged_gaussians import merged
from logphi.certified.normal_mixtures import NormalMixtures
from logphi.certified.reals import on_ball
from logphi.certified.route import ClosedForm, NotThisRouteError
from logphi.laws.log_phi import LogPhi

# bits beside those asked for
_SPARE = 32
_WITNESS_DIGITS = 20


@dataclass(frozen=True)
class SingleRelease:
    """One release, with the probability that no release fails."""

    loss: LogPhi
    bits: int
    name: ClassVar[str] = "single"

    def witness(self, epsilon: Any) -> dict[str, Any]:
        """The outcome at which the loss is epsilon, if there is one such outcome."""
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
        laws, kept = merged(self.loss)
        if len(laws) != 1:
            raise NotThisRouteError("closed forms are known for one release alone, and for Gaussian mechanisms together")
        return laws[0].closed_form(), kept


def prepare(loss: LogPhi, epsilon: Any, bits: int) -> SingleRelease:
    """One release; it is as good at any other epsilon.

    Raises
    ------
    NotCertifiedError
        If there are several, or no closed form is known.
    """
    route = SingleRelease(loss, bits + _SPARE)
    with precision(route.bits):
        _ = route._parts
    return route
