"""A calibrated parameter, with the evidence for it."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, overload

from logphi.algebra.certification import suffices
from logphi.algebra.release import Mechanism
from logphi.answers.bound import Bound
from logphi.answers.decimals import formatted, plain, rounded
from logphi.answers.display import table
from logphi.answers.enclosed import Enclosed
from logphi.calibration.scale import shortened

if TYPE_CHECKING:
    from logphi.certified.claims import CertifiedClaims

T = TypeVar("T")


class CalibrationStatus(enum.Enum):
    """How accurate a calibrated value is proved to be."""

    TIGHT = "the value meets the target, and the next one, within the tolerance, is proved to miss it"
    DOMINATED = (
        "the value meets the target; the next one, within the tolerance, is proved to miss it for a pair that dominates the "
        "release and that it need not attain, so that smaller noise may do"
    )
    EDGE = "every value that the family accepts meets the target: this is the end of its domain"
    WIDE = (
        "the value meets the target, but the bounds do not settle how much farther one may go: the next value that is proved "
        "to miss it is farther away than the tolerance; relax rtol, or ask another method by question="
    )
    TURNING = (
        "the value meets the target and the next one misses it, but privacy is not monotone in the parameter: other values may "
        "meet the target, too; search one branch by lower= and upper="
    )
    ESTIMATED = "an error in the ledger of the answer is an estimate: that the target is met is not proved"

    @property
    def met(self) -> bool:
        """Whether the value is proved to be the best within the tolerance, for the pair of the release."""
        return self in (CalibrationStatus.TIGHT, CalibrationStatus.DOMINATED, CalibrationStatus.EDGE)


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Enclosed):
    """The value of a parameter that just meets a target; ``float`` gives it.

    ``round`` and a format such as ``.3f`` round the value away from the nearest miss, so that it still meets the target if
    privacy is monotone there. If no value is proved to miss the target, that side is not known, and rounding is refused where
    it would change the value. Calibrations compare as their values; ``same_as`` compares all fields.

    Attributes
    ----------
    name
        The name of the family's parameter, such as ``"sigma"``.
    value
        The value, on the private side: its mechanism is proved to meet the target. An int for integers.
    mechanism
        The mechanism of this value.
    answer
        The epsilon of the mechanism at the delta of the target, or its answer to another question. ``float(answer)`` is within
        the limit.
    limit, slack
        The limit of the answer, and how much of it the answer leaves, in the same unit.
    target
        The target, as text.
    nearest_miss
        The nearest value that is proved to miss the target; None at the end of the domain, or if there is no such value.
    nearest_miss_answer
        The answer of the mechanism there, proved to be beyond the limit.
    status
        How accurate the value is.
    rtol
        The tolerance: value and nearest miss differ by no more, relatively, or are neighbours.
    evaluations
        The number of mechanisms that were evaluated.
    nearest_miss_mechanism, point
        The mechanism at the nearest miss, and the epsilon and delta of the target, or None.
    """

    name: str
    value: Any
    mechanism: Mechanism
    answer: Bound
    limit: float
    slack: float
    target: str
    nearest_miss: Any
    nearest_miss_answer: Bound | None
    status: CalibrationStatus
    rtol: float
    evaluations: int
    nearest_miss_mechanism: Mechanism | None = None
    point: tuple[float, float] | None = None

    def certify(self) -> CertifiedClaims:
        """A certificate that the value suffices and the nearest miss does not: two claims about two members of the family.

        Returns
        -------
        CertifiedClaims
            See :class:`logphi.certified.claims.CertifiedClaims`. At an edge of the domain there is the first claim alone.

        Raises
        ------
        ValueError
            If the target is not an epsilon at a delta above zero, or a member of the family cannot be certified.
        ImportError
            If python-flint is not installed.

        Examples
        --------
        >>> import logphi as lp
        >>> noise = lp.calibrate(lambda sigma: 100 * lp.Gaussian(sigma=sigma), epsilon=1, delta=1e-5, digits=5)
        >>> print(lp.verify(noise.certify()))
        both claims follow:
        of 100 * Gaussian(sigma=37.307, sensitivity=1), under add_remove:
          epsilon at delta = 0.00001: at most 1
        of 100 * Gaussian(sigma=37.306, sensitivity=1), under add_remove:
          epsilon at delta = 0.00001: more than 1
        """
        if self.point is None:
            raise ValueError(
                f"certificates of calibrations are about an epsilon at a delta above zero, and the target is {self.target}: "
                "certify the mechanism, as noise.mechanism.certify(order=2)"
            )
        return suffices(self.mechanism, self.nearest_miss_mechanism, *self.point)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data for JSON; the mechanism as text, infinities as ``"inf"`` and ``"-inf"``."""
        return {
            "name": self.name,
            "value": self.value,
            "mechanism": repr(self.mechanism),
            "answer": self.answer.to_dict(),
            "limit": plain(self.limit),
            "slack": plain(self.slack),
            "target": self.target,
            "nearest_miss": self.nearest_miss,
            "nearest_miss_answer": None if self.nearest_miss_answer is None else self.nearest_miss_answer.to_dict(),
            "status": self.status.name.lower(),
            "rtol": self.rtol,
            "evaluations": self.evaluations,
        }

    def records(self) -> list[dict[str, Any]]:
        """A table: the value, and the nearest miss if there is one, each with its answer. ``pandas.DataFrame`` takes it.

        ``parameter`` is the value, ``meets`` whether it meets the target; the other columns are those of :meth:`Bound.record`.
        """
        rows = [{"parameter": self.value, "meets": True, **self.answer.record()}]
        if self.nearest_miss_answer is not None:
            rows.append({"parameter": self.nearest_miss, "meets": False, **self.nearest_miss_answer.record()})
        return rows

    def _ends(self) -> tuple[float, float]:
        return self.value, self.value

    def _upward(self) -> bool | None:
        return None if self.nearest_miss is None else self.value > self.nearest_miss

    def __float__(self) -> float:
        return float(self.value)

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        if isinstance(self.value, int) and spec[-1] not in "eEfFgG%" and "." not in spec:
            return format(self.value, spec)
        return self._shortened(lambda upward: formatted(self.value, spec, upward))

    @overload
    def __round__(self, places: None = None) -> int: ...
    @overload
    def __round__(self, places: int) -> float: ...
    def __round__(self, places: int | None = None) -> float:
        return self._shortened(lambda upward: rounded(self.value, places, upward))

    def _shortened(self, shorten: Callable[[bool], T]) -> T:
        upward = self._upward()
        found = shorten(upward is not False)
        if upward is None and found != shorten(False):
            raise ValueError(
                f"{self.value!r} cannot be rounded: no value is proved to miss the target, so that the safe side is not known; "
                "take .value, or calibrate with digits="
            )
        return found

    def __repr__(self) -> str:
        miss = "" if self.nearest_miss is None else f"nearest_miss={self.nearest_miss!r}, "
        return f"Calibration(value={self.value!r}, {miss}target={self.target!r}, status={self.status.name.lower()!r})"

    def __str__(self) -> str:
        lines = [f"{self.name} = {self._shown} meets {self.target}", f"  attained: {self.answer}, with slack {self.slack:.3g}"]
        if self.nearest_miss is not None:
            lines.append(f"  nearest miss: {self.nearest_miss!r}, attaining {self.nearest_miss_answer}")
        return "\n".join([*lines, f"  {self.status.value}"])

    def _repr_html_(self) -> str:
        rows = {
            self.name: self._shown,
            "target": self.target,
            "attained": str(self.answer),
            "slack": f"{self.slack:.3g}",
            "nearest miss": "" if self.nearest_miss is None else f"{self.nearest_miss!r}: {self.nearest_miss_answer}",
            "status": self.status.value,
            "mechanism": repr(self.mechanism),
        }
        return table(rows.items())

    @property
    def _shown(self) -> str:
        """The value, rounded away from the values that miss the target."""
        if isinstance(self.value, int) or self.nearest_miss is None:
            return repr(self.value)
        digits = 2 - math.floor(math.log10(self.rtol))
        return f"{float(shortened(self.value, digits, self.value > self.nearest_miss)):.{digits}g}"
