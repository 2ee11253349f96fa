"""A statistical test of whether the batches of a run are Poisson samples, as every accountant of Opacus assumes."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from opacus.utils.uniform_sampler import DistributedUniformWithReplacementSampler, UniformWithReplacementSampler

# chosen: the significance level of the test
_ACCIDENT = 1e-12
# chosen: the number of steps examined
_STEPS = 1000
# derived: below this variance an empty batch may be the most likely one
_LEAST_VARIANCE = 1.0


class SamplingWarning(UserWarning):
    """Batches are not Poisson samples, so that the epsilon of the accountant is too small."""


def samples(loader: Any) -> bool:
    """Whether a loader draws Poisson samples, or all records in each batch."""
    drawn = isinstance(loader.batch_sampler, (UniformWithReplacementSampler, DistributedUniformWithReplacementSampler))
    return drawn or len(loader) == 1


@dataclass
class BatchSizes:
    """Counts of batch sizes in the first thousand steps: those of shuffled batches are nearly all equal.

    The sizes of Poisson samples are binomial with variance v = records * rate * (1 - rate), and none has a probability above
    (2 e v)^(-1/2) (Herzog 1947). So one of n steps shares its size with m - 1 others with a probability of at most
    n * C(n - 1, m - 1) (2 e v)^(-(m - 1) / 2).
    """

    seen: Counter[int] = field(default_factory=Counter)

    def accidental(self, records: int, expected: float, rate: float) -> bool:
        """Whether Poisson samples plausibly have as many equal sizes as the batches so far and one more of ``records``."""
        variance, steps = expected * (1 - rate), self.seen.total() + 1
        if variance < _LEAST_VARIANCE or steps > _STEPS:
            return True
        self.seen[records] += 1
        alike = self.seen.most_common(1)[0][1]
        ways = math.lgamma(steps) - math.lgamma(alike) - math.lgamma(steps - alike + 1)
        return math.log(steps) + ways - (alike - 1) / 2 * math.log(2 * math.e * variance) > math.log(_ACCIDENT)


def records(optimizer: Any) -> int | None:
    """The number of records in the gradient of a step; None if it was split into physical batches, or is unknown."""
    parameters = getattr(optimizer, "params", None)
    if not parameters or getattr(optimizer, "_is_last_step_skipped", False):
        return None
    gradients = getattr(parameters[0], "grad_sample", None)
    if gradients is None:
        return None
    return sum(map(len, gradients)) if isinstance(gradients, list) else len(gradients)
