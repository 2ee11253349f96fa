"""An accountant for Opacus whose answers are bounds."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import opacus
from opacus.accountants import IAccountant
from opacus.optimizers import DPOptimizer

from logphi.adapters.opacus.sampling import BatchSizes, SamplingWarning, records, samples
from logphi.algebra.release import Mechanism, compose
from logphi.answers.bound import Bound, single
from logphi.inputs import check
from logphi.mechanisms import ApproximateDP, Gaussian
from logphi.pairs.pair import UnsupportedError

# accountants that keep the same history: those of Opacus, and this one
_KINDRED = ("logphi", "rdp", "prv", "gdp")
_NOTHING = 0 * Gaussian(sigma=1.0)
# derived: the largest double below 1: a mechanism that reveals everything with certainty is refused
_NEARLY_ALWAYS = math.nextafter(1.0, 0.0)
# from Opacus: its sampler compares random multiples of 2^-24, in single precision, with the rate
_DRAWS = 2**24
# chosen: the delta for which the warning states epsilon
_USUAL = 1e-5
# chosen: the number of epochs for which the warning states epsilon
_TEN = 10


class LogPhiAccountant(IAccountant):  # type: ignore[misc]  # Opacus is not typed
    """The privacy spent by training with Opacus, as a composition of Poisson-sampled Gaussians under add/remove.

    Its name is ``"logphi"``: ``PrivacyEngine(accountant="logphi")``. The history has the form of Opacus's own accountants,
    a list of ``(noise_multiplier, sample_rate, number of steps)``, so that their states can be loaded too. A step takes
    constant time while noise and rate do not change.

    Like every accountant it assumes what Opacus reports: that each record was drawn independently at the sample rate, and that
    gradients were clipped. It warns once, by a :class:`SamplingWarning`, if a run does not sample in this way: if the engine is
    given ``poisson_sampling=False``, or if too many batches have equal sizes. The rate is rounded up to a multiple of 2^-24,
    since Opacus's sampler compares it with such multiples.

    Examples
    --------
    >>> accountant = LogPhiAccountant()
    >>> for _ in range(1000):
    ...     accountant.step(noise_multiplier=1.1, sample_rate=256 / 60000)
    >>> accountant.history
    [(1.1, 0.004266666666666667, 1000)]
    >>> print(accountant.bound(1e-5))
    0.5986870736 (between 0.5986870735505 and 0.5986870735539)
    >>> accountant.get_epsilon(1e-5) == accountant.bound(1e-5).upper
    True
    """

    def __init__(self) -> None:
        """Nothing spent yet."""
        super().__init__()
        self._sizes = BatchSizes()
        self._warned = False

    @classmethod
    def mechanism(cls) -> str:
        """The name by which Opacus knows the accountant."""
        return "logphi"

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Record one more step.

        Parameters
        ----------
        noise_multiplier
            Standard deviation of the noise over the clipping norm; zero or more.
        sample_rate
            The probability with which each record is drawn, independently.

        Raises
        ------
        ValueError, TypeError
            If a number is outside its range; nothing is recorded then, and Opacus does not take the step.
        """
        noise, rate, _ = entry = _checked((noise_multiplier, sample_rate, 1))
        if self.history and tuple(self.history[-1][:2]) == (noise, rate):
            self.history[-1] = (noise, rate, self.history[-1][2] + 1)
        else:
            _mechanism(noise, rate)
            self.history.append(entry)

    def __len__(self) -> int:
        """The number of steps."""
        return sum(steps for _, _, steps in self.history)

    @property
    def release(self) -> Mechanism:
        """The composition of all steps, as a mechanism.

        A step without noise reveals everything about a record that is drawn.

        Raises
        ------
        ValueError, TypeError
            If the history was changed from outside and is no longer valid.
        """
        counts: Counter[tuple[float, float]] = Counter()
        for noise, rate, steps in map(_checked, self.history):
            counts[noise, rate] += steps
        return compose([_NOTHING, *(steps * _mechanism(*parameters) for parameters, steps in counts.items())])

    def bound(self, delta: float) -> Bound:
        """An enclosure of the smallest non-negative epsilon, in nats.

        Parameters
        ----------
        delta
            In [0, 1].

        Raises
        ------
        ValueError, TypeError
            If delta is not such a number, or the history was changed from outside and is no longer valid.
        """
        return single(self.release.epsilon(check.unit("delta", delta)))

    def get_epsilon(self, delta: float, **_: Any) -> float:
        """The upper end of :meth:`bound`, under the name that Opacus calls.

        Options of other accountants are accepted and ignored: Opacus passes on whatever it was given.
        """
        return float(self.bound(delta))

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[DPOptimizer], None]:
        """What Opacus calls before every step of its optimizer.

        Raises
        ------
        UnsupportedError
            When called, if clipping is adaptive and Opacus is older than 1.6: it reports the noise of the gradients alone,
            although a count with less noise is released too, so that epsilon would be too small.
        """
        record = super().get_optimizer_hook_fn(sample_rate)

        def hook(optimizer: DPOptimizer) -> None:
            if hasattr(optimizer, "unclipped_num_std") and _release_of_opacus() < (1, 6):
                raise UnsupportedError(
                    f"adaptive clipping cannot be accounted for in Opacus {opacus.__version__}: before 1.6 it reports "
                    "more noise than there is, so that epsilon is too small; update Opacus, or clip at a fixed norm"
                )
            record(optimizer)
            number, expected = records(optimizer), getattr(optimizer, "expected_batch_size", None)
            if self._warned or number is None or expected is None or optimizer.accumulated_iterations > 1:
                return
            if not self._sizes.accidental(number, expected, sample_rate):
                alike, times = self._sizes.seen.most_common(1)[0]
                self._warn(f"{times} of {self._sizes.seen.total()} batches hold {alike} records", optimizer, sample_rate)

        return hook

    def shown(self, optimizer: DPOptimizer, loader: Any) -> None:
        """Called with the optimizer and loader that an engine returns: warn if the loader does not draw Poisson samples."""
        if not samples(loader):
            self._warn("poisson_sampling=False", optimizer, 1 / len(loader))

    def _warn(self, seen: str, optimizer: DPOptimizer, rate: float) -> None:
        """Warn once, and state the epsilon that holds without sampling."""
        if self._warned:
            return
        self._warned = True
        noise, steps = optimizer.noise_multiplier, round(1 / rate)
        claimed, right = (
            [single((epochs * release).epsilon(_USUAL)) for epochs in (1, _TEN)]
            for release in (steps * _mechanism(noise, rate), _mechanism(noise, 1.0))
        )
        warnings.warn(
            f"these batches are not Poisson samples ({seen}), and the epsilon of this accountant is too small for them. Where "
            "every record is in one batch of each epoch, no amplification is known: what holds is one release an epoch "
            f"without sampling. With noise multiplier {noise:g} at delta {_USUAL:g}, epsilon is then {right[0]:.2g} after one "
            f"epoch and {right[1]:.2g} after ten, where this accountant says {claimed[0]:.2g} and {claimed[1]:.2g}; "
            "(epochs * lp.Gaussian(sigma=noise_multiplier)).epsilon(delta) computes it. Train with the loader that "
            "make_private returns, with poisson_sampling=True",
            SamplingWarning,
            stacklevel=4,
        )

    def state_dict(self, destination: Any = None) -> Any:
        """The history, and the name of the accountant, as plain data."""
        state = super().state_dict(destination)
        # releases before 1.6 store the method that returns the name here, which torch.load refuses to read by default
        state["mechanism"] = self.mechanism()
        return state

    def load_state_dict(self, state_dict: Any) -> None:
        """Continue from a saved state of this accountant or of one of Opacus's own.

        Raises
        ------
        ValueError, TypeError
            If it is not such a state; the history is then unchanged.
        """
        if not isinstance(state_dict, Mapping) or not {"history", "mechanism"} <= state_dict.keys():
            raise ValueError(
                "the state of an accountant is a mapping with a history and a mechanism, as its state_dict() gives; in a "
                'checkpoint of a PrivacyEngine it is called "privacy_accountant_state_dict"'
            )
        mechanism, history = state_dict["mechanism"], state_dict["history"]
        # as releases before 1.6 write it
        name = mechanism() if callable(mechanism) else mechanism
        if name not in _KINDRED:
            raise ValueError(
                f"a history of accountant {name!r} may mean something else; known are those of {', '.join(map(repr, _KINDRED))}"
            )
        if not isinstance(history, (list, tuple)):
            raise TypeError(f"the history of an accountant is a list, got one of type {type(history).__name__}")
        loaded = [_checked(entry) for entry in history]
        for noise, rate, _ in loaded:
            _mechanism(noise, rate)
        self.history = loaded


def _checked(entry: Any) -> tuple[float, float, int]:
    if not isinstance(entry, (tuple, list)) or len(entry) != 3:
        raise ValueError(f"an entry of a history is (noise_multiplier, sample_rate, number of steps), got {entry!r}")
    noise, rate, steps = entry
    rate = check.nonnegative("sample_rate", rate)
    if rate > 1:
        raise ValueError(
            f"sample_rate must be at most 1, got {rate!r}: gradients of more than one pass over the data were accumulated, so "
            "that a record may have taken part in one step several times; step the optimizer at least once in every pass"
        )
    return (
        float(check.nonnegative("noise_multiplier", noise)),
        float(rate),
        check.count("the number of steps", steps),
    )


def _mechanism(noise: float, rate: float) -> Mechanism:
    """One step, at a rate that is at least the one at which Opacus samples."""
    rate = math.ceil(rate * _DRAWS) / _DRAWS
    return Gaussian(sigma=noise).poisson(rate) if noise else ApproximateDP(epsilon=0.0, delta=min(rate, _NEARLY_ALWAYS))


def _release_of_opacus() -> tuple[int, ...]:
    return tuple(map(int, opacus.__version__.split(".")[:2]))
