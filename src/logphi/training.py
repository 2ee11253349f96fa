"""DP-SGD in the terms of a training script: the rate and the number of steps follow from sizes and epochs.

The file is longer than others because ``help(dp_sgd)`` explains every argument and refusal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from logphi.algebra.by_others import ByOthers
from logphi.algebra.release import Mechanism
from logphi.algebra.written_as import WrittenAs
from logphi.calibration.calibrate import calibrate
from logphi.calibration.result import Calibration
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency, AdjacencyLike
from logphi.inputs.arguments import Scalar
from logphi.inputs.guesses import guided
from logphi.laws.log_phi import LogPhi
from logphi.loaders import SAMPLERS, Batches, check_truncation, sampler_of
from logphi.text.written import Written, meant

if TYPE_CHECKING:
    from logphi.questions.risk import AttackRisk

# derived: all integers up to this are doubles
LARGEST_DATASET = 10**15
# chosen: significant digits of a noise multiplier that is found
_DIGITS = 6
_RATE = "dataset_size= and batch_size=, whose ratio is the rate; with a rate alone, steps * lp.Gaussian(sigma).poisson(rate)"
_PARTS = "accumulated batches are parts of one sample, so that no record is in two of them, and noise is added once"


@dataclass(frozen=True, repr=False)
class Training(WrittenAs, ByOthers):
    """A run of DP-SGD; made by :func:`dp_sgd`. ``str`` gives the rate and the steps first, then the assumptions.

    ``step`` is the release of one step, or of one epoch of ``per_epoch`` steps if the sampler goes through all records.

    ``calibration`` shows how the noise multiplier was found, with the next smaller one, which misses the target. It is None if
    the noise was given.
    """

    dataset_size: int
    batch_size: int
    accumulation: int
    noise_multiplier: float
    clipped_count_noise: float | None
    epochs: float | None
    steps: int
    sampler: str
    truncated_batch_size: int | None
    group_size: int
    step: Mechanism
    per_epoch: int | None
    adjacency: Adjacency
    calibration: Calibration | None = field(default=None, compare=False)

    @property
    def logical_batch(self) -> int:
        """The average number of records in one noisy step."""
        return self.batch_size * self.accumulation

    @property
    def rate(self) -> Fraction:
        """The sampling rate."""
        return Fraction(self.logical_batch, self.dataset_size)

    @property
    def _release(self) -> Mechanism:
        return self.after(self.steps)

    def after(self, steps: int) -> Mechanism:
        """The release of the first ``steps`` steps; where an epoch is one release, a started epoch counts as a whole one."""
        return (steps if self.per_epoch is None else -(-steps // self.per_epoch)) * self.step

    def counted(self) -> tuple[tuple[Mechanism, int], ...]:
        """The step, or the epoch where that is one release, and how often it happens."""
        return self._release.counted()

    def loss_law(self) -> LogPhi:
        """That of the composed steps."""
        return self._release.loss_law()

    @property
    def risk(self) -> AttackRisk:
        """See :attr:`logphi.algebra.asking.Questions.risk`."""
        return self._release.risk

    risk.__doc__ = Mechanism.risk.__doc__

    def _grouped(self, size: int) -> Mechanism:
        return self._release.group(size)

    def _by_others(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        release = self._release
        return release._by_others(name, arguments, options) if isinstance(release, ByOthers) else None

    @property
    def _bracketed(self) -> bool:  # type: ignore[override]
        return self._release._bracketed

    @property
    def _written(self) -> Mechanism:
        return self._release

    def __str__(self) -> str:
        lines = [
            f"sampling rate: {_shown(self.rate)}, batches of {self._batch} out of {self.dataset_size} records",
            f"steps: {self.steps}{self._counted_from}",
            *self._counted_as,
            f"noise: standard deviation {self.noise_multiplier!r} times the clipping norm, one draw for each step",
            *self._found,
            *self._counting,
            f"relation: {self._relation}",
            "assumed, and not checked here:",
            f"  {SAMPLERS[self.sampler].drawn}",
            "  the gradient of every single record is clipped before gradients are added",
            *([f"  {_PARTS}"] if self.accumulation > 1 else []),
            "  nothing else is computed from the data",
        ]
        return "\n".join(lines)

    @property
    def _batch(self) -> str:
        parts = f" ({self.accumulation} x {self.batch_size}, accumulated)" if self.accumulation > 1 else ""
        most = "" if self.truncated_batch_size is None else f", {self.truncated_batch_size} at most,"
        return f"{self.logical_batch}{parts}{most}"

    @property
    def _found(self) -> list[str]:
        if self.calibration is None:
            return []
        miss = self.calibration.nearest_miss
        missed = "" if miss is None else f"; {miss!r} misses it"
        return [f"  found, to {_DIGITS} digits: the smallest that meets {self.calibration.target}{missed}"]

    @property
    def _counting(self) -> list[str]:
        if self.clipped_count_noise is None:
            return []
        return [
            f"clipped gradients: counted on the same batch, with noise of {self.clipped_count_noise!r} times a record's share"
        ]

    @property
    def _counted_from(self) -> str:
        each = Fraction(self.dataset_size, self.logical_batch) if self.per_epoch is None else Fraction(self.per_epoch)
        if self.epochs is None:
            return f", {float(self.steps / each):.6g} epochs of {_shown(each)}"
        rounded = "" if (each * meant(self.epochs)).denominator == 1 else ", rounded up"
        return f", {_passes(self.epochs)} epochs of {_shown(each)}{rounded}"

    @property
    def _counted_as(self) -> list[str]:
        if self.per_epoch is None:
            return []
        begun = -(-self.steps // self.per_epoch)
        return [f"  counted as {begun} whole epochs of {self.per_epoch} steps"]

    @property
    def _relation(self) -> str:
        records = "one record" if self.group_size == 1 else f"a group of {self.group_size} records"
        return f"{self.adjacency.value}, for {records}"


@guided(
    noise="noise_multiplier=",
    sigma="noise_multiplier=",
    sample_rate=_RATE,
    sampling_rate=_RATE,
    sampling_probability=_RATE,
    rate=_RATE,
    q=_RATE,
    n="dataset_size=",
    num_samples="dataset_size=",
    num_epochs="epochs=",
    num_steps="steps=",
    epsilon="target_epsilon= to have the noise found, or ask the run: dp_sgd(...).epsilon(delta)",
    delta="target_delta= to have the noise found, or ask the run: dp_sgd(...).epsilon(delta)",
)
def dp_sgd(
    *,
    dataset_size: Scalar,
    batch_size: Scalar,
    noise_multiplier: Scalar | None = None,
    target_epsilon: Scalar | None = None,
    target_delta: Scalar | None = None,
    epochs: Scalar | None = None,
    steps: Scalar | None = None,
    accumulation: Scalar = 1,
    sampler: str = "poisson",
    truncated_batch_size: Scalar | None = None,
    group_size: Scalar = 1,
    clipped_count_noise: Scalar | None = None,
    adjacency: AdjacencyLike = Adjacency.ADD_REMOVE,
) -> Training:
    """A run of DP-SGD: sampled Gaussian steps, each of one clipped and noisy gradient.

    The rate is exactly batch_size * accumulation / dataset_size. The number of steps is epochs / rate, rounded up, which is the
    private side. A loop that drops the last partial batch makes fewer steps, and one that rounds every epoch up makes more:
    then give ``steps``.

    Parameters
    ----------
    dataset_size
        The number of records in the data set.
    batch_size
        The number of records in a batch that is processed at once; for Poisson samples, the average number.
    noise_multiplier
        Standard deviation of the noise over the clipping norm; at 0, without noise, the answer is infinite.
    target_epsilon, target_delta
        Instead of the noise multiplier: :func:`calibrate` finds the smallest decimal of six digits that meets them. Epsilon is
        in nats, delta in (0, 1).
    epochs, steps
        Exactly one of them: the number of passes over the data, not necessarily an integer, or of noisy steps.
    accumulation
        The number of batches whose gradients are summed before noise is added once. They are parts of one sample of
        batch_size * accumulation: a record is in at most one of them. If each is a Poisson sample of its own, take
        ``poisson(rate, group_size=...)``.
    sampler
        ``"poisson"``: each record is drawn independently. ``"truncated_poisson"``: the same, but at most
        ``truncated_batch_size`` records are kept. ``"without_replacement"``: a new batch of fixed size. ``"balls_in_bins"``:
        each record is in exactly one batch of an epoch, drawn uniformly, and independently in every epoch
        (:meth:`Mechanism.allocation`). ``"shuffled"``: a new permutation in every epoch, answered with a bracket
        (:meth:`Mechanism.shuffled`). ``"fixed_order"``: no amplification (:meth:`Mechanism.fixed_order`).
        For the last three, a started epoch counts as a whole one. Give ``epochs``; or ``steps``, where an epoch has
        dataset_size / (batch_size * accumulation) steps, rounded down. Balls in bins have as many batches.
    truncated_batch_size
        The largest number of records in a batch of ``"truncated_poisson"``.
    group_size
        The number of records that differ, each of which is drawn independently.
    clipped_count_noise
        Adaptive clipping: every step also releases the number of gradients of its batch that were clipped. This is the standard
        deviation of the noise on that count, over the contribution of one record: 1, or 1/2 if a record counts as 1/2 or -1/2.
        Both releases see one sample: they are one Gaussian, with noise (noise_multiplier^-2 + clipped_count_noise^-2)^(-1/2).
    adjacency
        The relation: ``"add_remove"``, ``"add"``, ``"remove"`` or ``"replace"``. Under the last, a record that takes another
        value changes a sum by up to twice the clipping norm, which is taken into account.

    Returns
    -------
    Training
        A mechanism like any other; ``print`` shows rate and steps first. If the noise was found, it is proved to meet the
        target, and the next smaller one, ``calibration.nearest_miss``, is proved to miss it, unless the status says otherwise.

    Raises
    ------
    ValueError, TypeError
        If a size is not a positive integer, the batch is larger than the data set, there are no steps, no bound is proved for
        the sampler, truncated_batch_size is missing or not applicable, or the noise multiplier is negative; if not exactly one
        of noise multiplier and targets is given, or if none or all noise multipliers meet the targets.

    References
    ----------
    Abadi et al. 2016, *Deep Learning with Differential Privacy* (the algorithm); [AFA] Theorem 11 (the pairs); Andrew et
    al. 2021, *Differentially Private Learning with Adaptive Clipping* (the count).

    Examples
    --------
    >>> training = dp_sgd(dataset_size=60000, batch_size=256, steps=14062, noise_multiplier=1.1)
    >>> print(str(training).partition("noise")[0])
    sampling rate: 8/1875 = 0.00426667, batches of 256 out of 60000 records
    steps: 14062, 59.9979 epochs of 1875/8 = 234.375
    >>> round(training.epsilon(1e-5).value, 9)
    2.381596921
    >>> found = dp_sgd(dataset_size=60000, batch_size=256, steps=14062, target_epsilon=2, target_delta=1e-5)
    >>> found.noise_multiplier, found.calibration.nearest_miss
    (1.22415, 1.22414)
    """
    size = check.whole("dataset_size", dataset_size, 1, LARGEST_DATASET)
    batch, parts = (
        check.whole(name, value, 1, LARGEST_DATASET)
        for name, value in (("batch_size", batch_size), ("accumulation", accumulation))
    )
    if batch * parts > size:
        raise ValueError(
            f"batch_size * accumulation must not exceed dataset_size={size}, got {batch} * {parts} = {batch * parts}: "
            "a record is in a batch at most once"
        )
    if (epochs is None) == (steps is None):
        raise ValueError(f"give exactly one of epochs and steps, got epochs={epochs!r} and steps={steps!r}")
    rate = Fraction(batch * parts, size)
    way = sampler_of(sampler)
    # given steps, it is not known whether an epoch drops the partial batch: fewer steps an epoch make more epochs
    per_epoch = None if way.batches is None else math.floor(1 / rate) if epochs is None else way.batches(rate)
    if epochs is not None:
        epochs = check.positive("epochs", epochs)
        steps = math.ceil(meant(epochs) * (per_epoch or 1 / rate))
    number = check.count("steps", steps)
    if number == 0:
        raise ValueError("steps must be at least 1, got 0: nothing is trained")
    relation = Adjacency.of(adjacency)
    group = check.whole("group_size", group_size, 1, size)
    counting = None if clipped_count_noise is None else check.nonnegative("clipped_count_noise", clipped_count_noise)
    largest = None
    if truncated_batch_size is not None:
        largest = check.whole("truncated_batch_size", truncated_batch_size, 1, size)
    check_truncation(sampler, largest, batch * parts)

    def run(noise_multiplier: Scalar) -> Training:
        noise = check.nonnegative("noise_multiplier", noise_multiplier)
        noises = (noise,) if counting is None else (noise, counting)
        step = way.release(Batches(noises, batch * parts, size, largest, group, relation))
        return Training(size, batch, parts, noise, counting, epochs, number, sampler, largest, group, step, per_epoch, relation)

    targets = [target for target in (target_epsilon, target_delta) if target is not None]
    if noise_multiplier is not None and not targets:
        return run(noise_multiplier)
    if noise_multiplier is not None or target_epsilon is None or target_delta is None:
        raise ValueError(
            "give either noise_multiplier, or both target_epsilon and target_delta to have it found; got noise_multiplier="
            f"{noise_multiplier!r}, target_epsilon={target_epsilon!r} and target_delta={target_delta!r}"
        )
    return _found(run, target_epsilon, target_delta)


def _found(run: Callable[[Scalar], Training], target_epsilon: Scalar, target_delta: Scalar) -> Training:
    """The run with the smallest noise that meets a target."""
    # refuses other arguments that are wrong before any search
    usual = run(1.0)
    epsilon, delta = float(check.nonnegative("target_epsilon", target_epsilon)), float(check.unit("target_delta", target_delta))
    if not 0 < delta < 1:
        raise ValueError(
            f"target_delta must lie between 0 and 1, got {delta!r}: Gaussian noise has no largest loss, and a delta of 1 "
            "guarantees nothing; take less than one over the number of records"
        )
    try:
        found = calibrate(run, epsilon=epsilon, delta=delta, digits=_DIGITS)
    except ValueError as error:
        target = f"epsilon <= {epsilon!r} at delta = {delta!r}"
        if float(usual.delta(epsilon)) <= delta:
            raise ValueError(
                f"every noise multiplier that was tried meets {target}, so that there is no smallest one; a delta above the "
                "probability that a record is drawn at all is met without noise: give smaller targets, or noise_multiplier"
            ) from error
        counted = "" if usual.clipped_count_noise is None else ", or more clipped_count_noise, which alone may cost too much"
        raise ValueError(f"no noise multiplier that was tried meets {target}: give larger targets{counted}") from error
    return replace(run(found.value), calibration=found)


def _passes(epochs: float) -> str:
    return _shown(epochs.exact) if isinstance(epochs, Written) else repr(float(epochs)).removesuffix(".0")


def _shown(number: Fraction) -> str:
    return str(number) if number.denominator == 1 else f"{number} = {float(number):.6g}"
