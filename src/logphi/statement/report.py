"""The privacy statement of a release: its guarantee, what the guarantee means, and what it assumes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any

from logphi.accountant.budget import PrivacyFilter
from logphi.algebra.release import Mechanism
from logphi.answers.bound import Bound, single
from logphi.answers.status import Status
from logphi.inputs import check
from logphi.inputs.route_names import MethodName
from logphi.pairs.pair import UnsupportedError
from logphi.progress import shown
from logphi.statement.document import Curve, Report
from logphi.statement.words import Term, neighbours, not_checked

# chosen: the points at which delta is listed by default
_EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
# chosen: the points at which epsilon is listed by default
_DELTAS = (1e-4, 1e-6, 1e-8, 1e-10)
# chosen: the false-positive rates at which attacks are listed
_RATES = (0.001, 0.01, 0.1)
# chosen: the chance of a guess without the release, of which reconstruction is listed
_BASELINE = 0.01
# chosen: far sharper than what the text shows of attacks, and several times as quick as the default
_RTOL = 1e-6


def report(
    release: Any,
    *,
    delta: float,
    unit: str = "one record",
    dataset_size: int | None = None,
    epsilons: Sequence[float] = _EPSILONS,
    deltas: Sequence[float] = _DELTAS,
    method: MethodName | None = None,
    notes: Sequence[str] = (),
) -> Report:
    """The privacy statement of a release: everything that a claim of differential privacy should come with.

    Parameters
    ----------
    release
        A mechanism, or an object whose ``release`` is one, such as an accountant. A filter is refused: it guarantees its
        budget.
    delta
        The delta of the claim, strictly between 0 and 1.
    unit
        What one record is: "one record", "one user", "one visit". Only the user can know.
    dataset_size
        The number of units, if that is public. A delta of at least one over it causes a warning.
    epsilons, deltas
        The points at which the curve is listed.
    method
        A route by name, as of ``delta`` and ``epsilon``, for these and the advantage; ``"certified"`` for ball arithmetic.
    notes
        Sentences to add: how hyper-parameters were tuned, which data were public.

    Returns
    -------
    Report
        The statement. Its text prints the private side of each bound, rounded outward.

    Raises
    ------
    ValueError, TypeError
        If there is no mechanism, or a number is outside its range, or the method does not apply.

    References
    ----------
    Ponomareva et al. 2023, *How to DP-fy ML*, section 5.3 (what to report).

    Examples
    --------
    >>> import logphi as lp
    >>> training = 1000 * lp.Gaussian(sigma=1.2).poisson(0.01)
    >>> statement = report(training, delta=1e-6, unit="one user", dataset_size=50_000)
    >>> print(str(statement)[:96])
    Privacy statement
      (epsilon, delta)-differential privacy with epsilon = 1.4995 at delta = 1e-06
    """
    if isinstance(release, PrivacyFilter):
        raise TypeError(
            "a filter guarantees its budget, whatever its steps depended on; a statement would not hold in that case: if no "
            "noise, rate or number of steps was chosen after looking at outputs, report on its attribute release; otherwise "
            f"state the budget ({str(release).splitlines()[0]})"
        )
    mechanism = release if isinstance(release, Mechanism) else getattr(release, "release", None)
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"a mechanism or an accountant is needed, got {release!r} of type {type(release).__name__}")
    delta = float(check.open_unit("delta", delta))
    unit = _sentence("unit", unit)
    size = None if dataset_size is None else check.whole("dataset_size", dataset_size, 1, 10**18)
    at_deltas = sorted({delta, *(check.open_unit("deltas", one) for one in deltas)}, reverse=True)
    at_epsilons = sorted(check.nonnegatives("epsilons", epsilons)) if len(epsilons) else []
    if isinstance(notes, str):
        raise TypeError(f"notes must be a list of sentences, got one: {notes!r}")
    sentences = tuple(_sentence("notes", note) for note in notes)
    risk = mechanism.risk
    curve = tuple((float(at), single(mechanism.epsilon(at, method=method))) for at in shown(at_deltas, "deltas"))
    spent = dict(curve)[delta]
    try:
        rebuilt: Curve | None = ((_BASELINE, single(risk.reconstruction(_BASELINE, rtol=_RTOL))),)
    except UnsupportedError:
        rebuilt = None
    try:
        tree = mechanism.tree()
    except ValueError:
        # a mechanism outside of the catalogue
        tree = None
    return Report(
        unit=unit,
        adjacency=mechanism.adjacency,
        neighbours=neighbours(mechanism, unit),
        dataset_size=size,
        release=repr(mechanism),
        terms=tuple(Term.of(one, count, unit) for one, count in mechanism.counted()),
        tree=tree,
        delta=delta,
        epsilon=spent,
        epsilons=curve,
        deltas=tuple((float(at), single(mechanism.delta(at, method=method))) for at in shown(at_epsilons, "epsilons")),
        advantage=risk.advantage(method=method),
        tpr=tuple((at, single(risk.tpr(at, rtol=_RTOL))) for at in shown(_RATES, "attacks")),
        reconstruction=rebuilt,
        gaussian_mu=risk.gaussian_mu(delta),
        zcdp=mechanism.zcdp(),
        warnings=tuple(_warnings(mechanism, spent, delta, size)),
        not_checked=tuple(not_checked(mechanism, unit, size)),
        notes=sentences,
        made_by={name: version(name) for name in ("logphi", "numpy", "scipy")},
        mechanism=mechanism,
    )


def _warnings(mechanism: Mechanism, spent: Bound, delta: float, size: int | None) -> Iterator[str]:
    if size is not None and delta * size >= 1:
        yield (
            f"delta = {delta!r} is not below one over the size of the data set, {size}: it would allow one record to be "
            "published at random; choose a far smaller delta"
        )
    if not spent.ledger.proved:
        sampled = mechanism.loss_law().traits.estimated
        cause = "a mechanism is known by samples of a function only" if sampled else "by this method"
        yield f"An error in these numbers is an estimate, not a proof: {cause}."
    if spent.status is Status.UNBOUNDED:
        yield f"The probability of an infinite loss is at least delta = {delta!r}."
    elif not spent.status.met and spent.ledger.proved:
        yield f"The bounds of epsilon are wide: {spent.status.value}."


def _sentence(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text, got {value!r} of type {type(value).__name__}")
    text = " ".join(value.split())
    if not text:
        raise ValueError(f"{name} must not be empty: say it in words")
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in text):
        raise ValueError(f"{name} must not have control characters, which a terminal would obey, got {text[:80]!r}")
    return text
