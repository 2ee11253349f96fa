"""A privacy statement: the guarantee of a release, what it means, and what it rests on, as text and as JSON."""

from __future__ import annotations

import html
import json
import math
import os
import textwrap
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from logphi import check
from logphi.accountant.budget import PrivacyFilter
from logphi.bound import Bound, Side, Status, single
from logphi.core.adjacency import Adjacency
from logphi.core.pair import UnsupportedError
from logphi.display import printed
from logphi.files import write_whole
from logphi.progress import shown
from logphi.release import Mechanism
from logphi.statement.words import Term, neighbours, not_checked

FORMAT, VERSION = "logphi-privacy-statement", 1
# where the curve is told unless asked for
_EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
_DELTAS = (1e-4, 1e-6, 1e-8, 1e-10)
_RATES = (0.001, 0.01, 0.1)
_BASELINE = 0.01
# digits of a claim, and of the bounds that it lies between
_SHORT, _LONG = 5, 13
_WIDTH = 100
# far sharper than what the text shows of an attack, and several times as quick as the sharpest
_RTOL = 1e-6
# a text does not list more terms than this; the JSON does
_MOST_TERMS = 20

Curve = tuple[tuple[float, Bound], ...]


@dataclass(frozen=True)
class Report:
    """The privacy statement of a release; ``print`` writes it out, :meth:`to_json` and :meth:`save` keep it.

    Attributes
    ----------
    unit, adjacency
        What is protected, in the words of the user, and the relation between data sets.
    neighbours
        The relation in words.
    dataset_size
        How many units there are, or None.
    release, terms
        The expression of what was released, and its terms in words.
    tree
        Its exact parameters as plain data, as in a certificate; None where a mechanism has no such description.
    delta, epsilon
        The guarantee.
    epsilons, deltas
        The curve: epsilon at some deltas, delta at some epsilons.
    advantage, tpr, reconstruction, gaussian_mu, zcdp
        What it means: see :class:`logphi.views.risk.AttackRisk`; reconstruction is None where the relation gives no bound, and
        the slack of the equivalent mu is delta.
    warnings, not_checked, notes
        What should be looked at, what was taken for granted, and what the user adds.
    made_by
        Versions of the software.
    """

    unit: str
    adjacency: Adjacency
    neighbours: str
    dataset_size: int | None
    release: str
    terms: tuple[Term, ...]
    tree: Sequence[tuple[int, Mapping[str, Any]]] | None
    delta: float
    epsilon: Bound
    epsilons: Curve
    deltas: Curve
    advantage: Bound
    tpr: Curve
    reconstruction: Curve | None
    gaussian_mu: Bound
    zcdp: Bound
    warnings: tuple[str, ...]
    not_checked: tuple[str, ...]
    notes: tuple[str, ...]
    made_by: Mapping[str, str]

    def to_json(self) -> str:
        """The statement as JSON, the same bytes for the same statement; ASCII, ends in a line break."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "made_by": self.made_by,
            "unit": self.unit,
            "adjacency": self.adjacency.value,
            "neighbours": self.neighbours,
            "dataset_size": self.dataset_size,
            "release": self.release,
            "terms": [vars(term) for term in self.terms],
            "parameters": self.tree,
            "guarantee": {"delta": self.delta, "epsilon": _plain(self.epsilon)},
            "curve": {
                "epsilon": [{"delta": at, **_plain(bound)} for at, bound in self.epsilons],
                "delta": [{"epsilon": at, **_plain(bound)} for at, bound in self.deltas],
            },
            "attacks": {
                "advantage": _plain(self.advantage),
                "tpr": [{"fpr": at, **_plain(bound)} for at, bound in self.tpr],
                "reconstruction": [{"baseline": at, **_plain(bound)} for at, bound in self.reconstruction or ()],
            },
            "gaussian_mu": {"slack": self.delta, **_plain(self.gaussian_mu)},
            "zcdp": _plain(self.zcdp),
            "warnings": self.warnings,
            "not_checked": self.not_checked,
            "notes": self.notes,
        }
        return json.dumps(content, sort_keys=True, indent=1, ensure_ascii=True, allow_nan=False) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, as JSON if that is what its name ends in, as text otherwise; whole or not at all.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        text = self.to_json() if os.fspath(path).lower().endswith(".json") else f"{self}\n"
        write_whole(path, text.encode("utf-8"))

    def __str__(self) -> str:
        paragraphs = []
        for title, lines in self._sections():
            wrapped = [
                textwrap.fill(part, _WIDTH, initial_indent="  " if i == 0 else "    ", subsequent_indent="    ")
                for line in lines
                for i, part in enumerate(line.split("\n"))
            ]
            paragraphs.append("\n".join([title, *wrapped]))
        return "\n\n".join(paragraphs)

    def _repr_html_(self) -> str:
        return "".join(
            f"<h4>{html.escape(title)}</h4><ul>{''.join(f'<li>{html.escape(line)}</li>' for line in lines)}</ul>"
            for title, lines in self._sections()
        )

    def _sections(self) -> Iterator[tuple[str, list[str]]]:
        """Titles, and the lines below each."""
        yield "Privacy statement", list(self._guarantee())
        if self.warnings:
            yield "Warnings", list(self.warnings)
        size = [] if self.dataset_size is None else [f"size of the data set: {self.dataset_size}"]
        yield "Who is protected", [f"unit: {self.unit}", f"neighbours: {self.neighbours}", *size]
        more = len(self.terms) - _MOST_TERMS
        listed = [*map(str, self.terms[:_MOST_TERMS]), *([f"and {more} more"] if more > 0 else [])]
        yield "What was released", listed or ["nothing"]
        yield "The whole curve", list(self._curve())
        yield "What an attack on " + self.unit + " may attain, knowing all others", list(self._attacks())
        yield "What was not checked", list(self.not_checked)
        if self.notes:
            yield "Notes", list(self.notes)
        yield "Made by", [", ".join(f"{name} {number}" for name, number in self.made_by.items())]

    def _guarantee(self) -> Iterator[str]:
        if math.isinf(self.epsilon.upper):
            yield f"No finite epsilon can be claimed at delta = {self.delta!r}."
        else:
            yield f"(epsilon, delta)-differential privacy with epsilon = {_most(self.epsilon)} at delta = {self.delta!r}"
        yield f"The smallest epsilon is {_between(self.epsilon)}. All numbers are in nats, and rounded to the safe side."

    def _curve(self) -> Iterator[str]:
        for at, bound in self.epsilons:
            yield f"at delta = {at!r}: epsilon at most {_most(bound)}"
        for at, bound in self.deltas:
            yield f"at epsilon = {at!r}: delta at most {_most(bound)}"
        if not math.isinf(self.gaussian_mu.upper):
            yield (
                f"Gaussian: no attack's true positive rate is more than {self.delta!r} above that on one release of a Gaussian "
                f"mechanism with mu = sensitivity / sigma = {_most(self.gaussian_mu)}"
            )

    def _attacks(self) -> Iterator[str]:
        yield f"membership advantage, TPR - FPR: at most {_most(self.advantage)}"
        for at, bound in self.tpr:
            yield f"true positive rate at a false positive rate of {at!r}: at most {_most(bound)}"
        for at, bound in self.reconstruction or ():
            yield f"reconstruction of what is guessed with probability {at!r} without the release: at most {_most(bound)}"


def report(
    release: Any,
    *,
    delta: float,
    unit: str = "one record",
    dataset_size: int | None = None,
    epsilons: Sequence[float] = _EPSILONS,
    deltas: Sequence[float] = _DELTAS,
    method: str | None = None,
    notes: Sequence[str] = (),
) -> Report:
    """The privacy statement of a release: everything that a claim of differential privacy should come with.

    Parameters
    ----------
    release
        A mechanism, or anything whose ``release`` is one, such as an accountant. Not a filter: what that guarantees is its
        budget.
    delta
        The delta of the claim, strictly between 0 and 1.
    unit
        What one record is: "one record", "one user", "one visit". The accounting cannot know.
    dataset_size
        How many units there are, if that may be told; a delta that is not below one over it is warned of.
    epsilons, deltas
        Where the curve is told.
    method
        A route by name, as of ``delta`` and ``epsilon``, for these and the advantage; ``"certified"`` for ball arithmetic.
    notes
        Sentences to add: how hyper-parameters were tuned, which data were public.

    Returns
    -------
    Report
        Bounds, from which the text prints the private side, rounded outward.

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
            "a filter guarantees its budget, whatever its steps depended on, and a statement would promise less: if no noise, "
            "rate or number of steps was chosen after looking at outputs, report on its release, an attribute; otherwise state "
            f"the budget ({str(release).splitlines()[0]})"
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
    told = tuple(_sentence("notes", note) for note in notes)
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
        # not of the catalogue
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
        notes=told,
        made_by={name: version(name) for name in ("logphi", "numpy", "scipy")},
    )


def _warnings(mechanism: Mechanism, spent: Bound, delta: float, size: int | None) -> Iterator[str]:
    if size is not None and delta * size >= 1:
        yield (
            f"delta = {delta!r} is not below one over the size of the data set, {size}: releasing a record at random would be "
            "allowed by it; choose a far smaller delta"
        )
    if not spent.ledger.proved:
        cause = "a mechanism is known by samples of a function only" if mechanism.loss_law().estimated else "by this method"
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


def _most(bound: Bound) -> str:
    return printed(bound.upper, Side.UPPER, _SHORT)


def _between(bound: Bound) -> str:
    how = "certified in ball arithmetic" if bound.method == "certified" else "proved" if bound.ledger.proved else "estimated"
    if bound.lower == bound.upper:
        return f"{printed(bound.upper, Side.UPPER, 17)} exactly ({how})"
    low, high = printed(bound.lower, Side.LOWER, _LONG), printed(bound.upper, Side.UPPER, _LONG)
    return f"between {low} and {high} ({how})"


def _plain(bound: Bound) -> dict[str, Any]:
    """A bound as plain data; infinities are strings."""
    ends = {name: getattr(bound, name) for name in ("lower", "value", "upper")}
    return {
        **{name: str(end) if math.isinf(end) else end for name, end in ends.items()},
        "direction": None if bound.direction is None else bound.direction.value,
        "method": bound.method,
        "status": bound.status.name.lower(),
        "proved": bound.ledger.proved,
    }
