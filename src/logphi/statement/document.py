"""A privacy statement as a document, written as text and as JSON."""

from __future__ import annotations

import html
import json
import math
import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from logphi.algebra.certification import certify_together
from logphi.algebra.release import Mechanism
from logphi.answers.bound import Bound
from logphi.answers.display import printed
from logphi.answers.status import Side, Status
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.route_names import is_certified
from logphi.listed import Listed
from logphi.statement.words import Term
from logphi.text.files import write_whole

if TYPE_CHECKING:
    from logphi.certified.claims import CertifiedClaims

FORMAT, VERSION = "logphi-privacy-statement", 1
# chosen: the number of digits of a printed claim
_SHORT = 5
# chosen: the number of digits of its printed bounds
_LONG = 13
# chosen: the characters of a line
_WIDTH = 100
# chosen: the text lists at most this many terms; the JSON lists all
_MOST_TERMS = 20

Curve = tuple[tuple[float, Bound], ...]


@dataclass(frozen=True, eq=False)
class Report(Listed):
    """The privacy statement of a release; ``print`` shows it, :meth:`to_json` and :meth:`save` store it.

    Two statements are equal if their JSON is.

    Attributes
    ----------
    unit, adjacency
        What is protected, in the words of the user, and the relation between data sets.
    neighbours
        The relation in words.
    dataset_size
        The number of units, or None.
    release, terms
        The expression of what was released, and its terms in words.
    tree
        Its exact parameters as plain data, as in a certificate; None where a mechanism has no such description.
    delta, epsilon
        The guarantee.
    epsilons, deltas
        The curve: epsilon at some deltas, delta at some epsilons.
    advantage, tpr, reconstruction, gaussian_mu, zcdp
        What the guarantee means for attacks: see :class:`logphi.questions.risk.AttackRisk`; reconstruction is None if it has no
        bound, and the slack of the equivalent mu is delta.
    warnings, not_checked, notes
        What needs attention, what was assumed without a check, and notes of the user.
    made_by
        Versions of the software.
    mechanism
        What was released.
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
    mechanism: Mechanism = field(repr=False)

    def certify(self, *, digits: int = 10) -> CertifiedClaims:
        """One certificate of the guarantee, the curve, the advantage and the true positive rates.

        A true positive rate is certified as one minus the type II error at that false positive rate. The certificate leaves out
        the bounds of reconstruction, the equivalent mu and zCDP.

        Parameters
        ----------
        digits
            The largest number of digits to claim.

        Returns
        -------
        CertifiedClaims
            See :class:`logphi.certified.claims.CertifiedClaims`.

        Raises
        ------
        ValueError
            If a claim cannot be certified.
        ImportError
            If python-flint is not installed.

        Examples
        --------
        >>> import logphi as lp
        >>> statement = lp.report(100 * lp.Gaussian(sigma=20), delta=1e-6, epsilons=[1], deltas=[])
        >>> print(str(lp.verify(statement.certify(digits=6))).splitlines()[2])
          epsilon at delta = 0.000001: at most 2.2540848 and more than 2.2540845
        """
        given = {
            "delta": [at for at, _ in self.epsilons],
            "epsilon": [at for at, _ in self.deltas],
            "type_one_error": [at for at, _ in self.tpr],
        }
        return certify_together(self.mechanism, given, advantage=True, digits=digits)

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

    def __eq__(self, other: object) -> bool:
        return self.to_json() == other.to_json() if isinstance(other, Report) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.to_json())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the statement to a file, whole or not at all: as JSON if the name ends in ``.json``, as text otherwise.

        Parameters
        ----------
        path
            The file; an existing one is replaced.

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
        # of what is only dominated, the lower end is that of the pair
        whose = " of a pair that dominates the release" if self.epsilon.status is Status.DOMINATED else ""
        yield f"The smallest epsilon{whose} is {_between(self.epsilon)}. All numbers are in nats, and rounded to the safe side."

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


def _most(bound: Bound) -> str:
    return printed(bound.upper, Side.UPPER, _SHORT)


def _between(bound: Bound) -> str:
    how = "certified in ball arithmetic" if is_certified(bound.method) else "proved" if bound.ledger.proved else "estimated"
    if bound.lower == bound.upper:
        return f"{printed(bound.upper, Side.UPPER, 17)} exactly ({how})"
    low, high = printed(bound.lower, Side.LOWER, _LONG), printed(bound.upper, Side.UPPER, _LONG)
    return f"between {low} and {high} ({how})"


def _plain(bound: Bound) -> dict[str, Any]:
    """A bound as plain data; infinities are strings."""
    data = bound.to_dict()
    kept = {name: data[name] for name in ("lower", "value", "upper", "direction", "method", "status")}
    return {**kept, "proved": bound.ledger.proved}
