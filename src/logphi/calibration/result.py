"""A calibrated parameter, with all that shows that it is one."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Any

from logphi.bound import Bound
from logphi.calibration.scale import shortened
from logphi.display import table
from logphi.release import Mechanism


class Calibrated(enum.Enum):
    """How sharp a calibration is, in words."""

    TIGHT = "the value meets the target, and the next one, within the tolerance, is proved to miss it"
    EDGE = "every value as far as the family goes meets the target: this is where its domain ends"
    WIDE = (
        "the value meets the target, but bounds do not tell how much farther one may go: the next value that is proved to miss "
        "it is farther away than the tolerance; relax rtol, or ask another method by question="
    )
    TURNING = (
        "the value meets the target and the next one misses it, but privacy turned among the values that were tried: elsewhere "
        "there may be others that meet it; look at one branch by lower= and upper="
    )
    ESTIMATED = "an error in the ledger of the answer is an estimate, not a proof: that the target is met is not proved either"

    @property
    def met(self) -> bool:
        """Whether the value is proved to be the best within the tolerance."""
        return self in (Calibrated.TIGHT, Calibrated.EDGE)


@dataclass(frozen=True)
class Calibration:
    """The value of a parameter that just meets a target; ``float`` gives it.

    Attributes
    ----------
    value
        The value, on the private side: the mechanism made of it is proved to meet the target. An int for whole numbers.
    mechanism
        The member of the family.
    answer
        What was asked of it: delta at the epsilon of the target, unless another question was given. At the value
        ``float(answer)`` is within the limit.
    limit, slack
        The limit of the answer, and how much of it the answer leaves.
    target
        The target in words.
    beyond
        The nearest value that is proved to miss the target; None at the edge of the domain, or where none is proved to.
    beyond_answer
        What was asked, there.
    status
        How sharp the value is, in words.
    rtol
        The tolerance: value and beyond differ by no more, relatively, or are neighbours.
    evaluations
        How many mechanisms were asked.
    """

    value: Any
    mechanism: Mechanism
    answer: Bound
    limit: float
    slack: float
    target: str
    beyond: Any
    beyond_answer: Bound | None
    status: Calibrated
    rtol: float
    evaluations: int

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        lines = [f"{self._shown} meets {self.target}, with slack {self.slack:.3g}", f"  answer: {self.answer}"]
        if self.beyond is not None:
            lines.append(f"  beyond: {self.beyond!r} misses it ({self.beyond_answer})")
        return "\n".join([*lines, f"  {self.status.value}"])

    def _repr_html_(self) -> str:
        rows = {
            "value": self._shown,
            "target": self.target,
            "slack": f"{self.slack:.3g}",
            "answer": str(self.answer),
            "beyond": "" if self.beyond is None else f"{self.beyond!r}: {self.beyond_answer}",
            "status": self.status.value,
            "mechanism": repr(self.mechanism),
        }
        return table(rows.items())

    @property
    def _shown(self) -> str:
        """The value, rounded away from what misses the target."""
        if isinstance(self.value, int) or self.beyond is None:
            return repr(self.value)
        digits = 2 - math.floor(math.log10(self.rtol))
        return f"{float(shortened(self.value, digits, self.value > self.beyond)):.{digits}g}"
