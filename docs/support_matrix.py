"""Prints docs/support-matrix.md: every combination of mechanism, sampling and relation, as the library builds or refuses it.

python docs/support_matrix.py > docs/support-matrix.md
"""

import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import groupby
from pathlib import Path

import logphi as lp

sys.path.append(str(Path(__file__).parents[1] / "tests/shared"))

from one_of_each import EXAMPLES

RATE = 0.2
GROUP = 3


SPECIAL = "replace_special"


def _poisson(make, relation, **options):
    base = SPECIAL if relation == SPECIAL else "add_remove"
    return make(adjacency=base).poisson(RATE, adjacency=relation, **options)


def _trained(sampler):
    return lp.dp_sgd(dataset_size=60_000, batch_size=256, steps=1, noise_multiplier=1, sampler=sampler)


SCHEMES = {
    "No sampling": (
        "The mechanism by itself, `Mechanism(..., adjacency=relation)`.",
        lambda make, relation: make(adjacency=relation),
    ),
    "Poisson sample": (
        "`Mechanism(...).poisson(rate, adjacency=relation)` of a base under `add_remove`; under `replace_special`, of its own.",
        _poisson,
    ),
    "Poisson sample, a group of records": (
        f"`Mechanism(...).poisson(rate, group_size={GROUP}, adjacency=relation)`, likewise.",
        lambda make, relation: _poisson(make, relation, group_size=GROUP),
    ),
    "Subset of fixed size": (
        '`Mechanism(..., adjacency="replace").subset(rate, adjacency=relation)`.',
        lambda make, relation: make(adjacency="replace").subset(RATE, adjacency=relation),
    ),
}
# of a mechanism under add_remove; n is the number of records of the data set
BATCHES = {
    "`.allocation(10)`": lambda base: base.allocation(10),
    "`.allocation(10, participations=2)`": lambda base: base.allocation(10, participations=2),
    "`.shuffled(10)`": lambda base: base.shuffled(10),
    "`.fixed_order(10)`": lambda base: base.fixed_order(10),
    "`.poisson(rate, truncated_batch_size=B, dataset_size=n)`": lambda base: base.poisson(
        RATE, truncated_batch_size=30, dataset_size=100
    ),
}
RELATIONS = [relation.value for relation in lp.Adjacency]

GAUSSIAN, LAPLACE = EXAMPLES["Gaussian"], EXAMPLES["Laplace"]
REFUSED = {
    "`.poisson` of a base stated under `replace`": lambda: GAUSSIAN(adjacency="replace").poisson(RATE),
    "`.poisson` of a base stated under `add` or `remove`, to any other relation": lambda: GAUSSIAN(adjacency="add").poisson(
        RATE, adjacency="remove"
    ),
    f"`.poisson` of a base stated under `add_remove`, to `{SPECIAL}`": lambda: GAUSSIAN().poisson(
        RATE, adjacency=lp.Adjacency(SPECIAL)
    ),
    "`.subset` of a base stated under `add_remove`": lambda: GAUSSIAN().subset(RATE, adjacency="add_remove"),
    "a formula of the log-phi of samples of compositions, unless all are Gaussian, or finite and small": (
        2 * (GAUSSIAN() + LAPLACE()).poisson(RATE)
    ).log_phi,
    '`lp.dp_sgd` with `sampler="with_replacement"`': lambda: _trained("with_replacement"),
    "composing mechanisms of two relations": lambda: GAUSSIAN() + GAUSSIAN(adjacency="replace"),
}

# how many releases are tried to certify, and at which epsilon: where each has something left
CERTIFIED_AT = {1: Fraction(1, 20), 20: Fraction(1)}
# their loss is one of the two that are certified under the other relations
ONE_ORDER = {"add", "remove"}
# whether there is a certificate shows at one digit, in a tenth of the time
DIGITS = 1


@dataclass(frozen=True)
class Cell:
    """One combination: what was built, or why it was refused."""

    scheme: str
    name: str
    relation: str
    mechanism: lp.Mechanism | None
    reason: str

    @property
    def verdict(self):
        if self.mechanism is None:
            return "refused"
        # a bracket has no law of its own
        bracketed = self.mechanism._bracketed
        known = EXAMPLES[self.name]() if bracketed else self.mechanism
        if known.loss_law().traits.estimated:
            return "estimated"
        if bracketed:
            return "bracket"
        above = any(word in self.scheme for word in ("truncated", "participations"))
        return "bound" if above or getattr(lp, self.name)._dominating else "exact"

    @cached_property
    def certified(self):
        """Of how many releases there is a certificate, among those that are tried."""
        if self.mechanism is None:
            return "none"
        known = (str(n) for n, epsilon in CERTIFIED_AT.items() if certifies(Asked(n * self.mechanism), epsilon))
        return ", ".join(known) or "none"


class Asked:
    """A release that equals another one if both have the same losses, in the orders of their relations."""

    def __init__(self, release):
        self.release = release
        self.losses = tuple(law for _, law in release._loss().orders(None))

    def __eq__(self, other):
        return self.losses == other.losses

    def __hash__(self):
        return hash(self.losses)


@cache
def certifies(asked, epsilon):
    """Whether delta at an epsilon has a certificate, which rests on the losses alone."""
    try:
        asked.release.certify(epsilon=epsilon, digits=DIGITS)
    except ValueError:
        return False
    return True


def certificates(cells):
    """What is certified under the relations of both directions: once if it is the same under all that are not refused."""
    both = (cell for cell in cells if cell.mechanism and cell.relation not in ONE_ORDER)
    built = sorted(both, key=lambda cell: cell.certified)
    groups = {one: [f"`{cell.relation}`" for cell in cells] for one, cells in groupby(built, lambda cell: cell.certified)}
    if len(groups) < 2:
        return next(iter(groups), "")
    return "; ".join(f"{one} ({', '.join(relations)})" for one, relations in groups.items())


def reason_of(build, *arguments):
    """The mechanism and an empty reason, or None and why it is refused."""
    try:
        return build(*arguments), ""
    except ValueError as error:
        return None, str(error)


def row(scheme, name):
    """A mechanism under every relation."""
    _, build = SCHEMES[scheme]
    return [Cell(scheme, name, relation, *reason_of(build, EXAMPLES[name], relation)) for relation in RELATIONS]


def batches(name):
    """A mechanism under add_remove on other batches than samples."""

    def built(scheme):
        return BATCHES[scheme](EXAMPLES[name](adjacency="add_remove"))

    return [Cell(scheme, name, "add_remove", *reason_of(built, scheme)) for scheme in BATCHES]


def table(heads, rows, notes):
    """The lines of a table; ``rows`` has the cells of each mechanism, and what follows them."""
    lines = ["", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for cells, *more in rows:
        for cell in cells:
            if cell.mechanism is None and cell.reason not in notes:
                notes.append(cell.reason)
        shown = [f"[{notes.index(cell.reason) + 1}]" if cell.mechanism is None else cell.verdict for cell in cells]
        lines.append(f"| {' | '.join([cells[0].name, *shown, *more])} |")
    return lines


def page():
    """The whole page."""
    notes: list[str] = []
    lines = [
        "# Support matrix",
        "",
        "Printed by `python docs/support_matrix.py`, which builds every combination; a test holds this page to it.",
        "",
        "* **exact**: the pair is the mechanism's own, attained by some pair of neighbouring data sets;",
        "* **bound**: a pair that dominates every mechanism of the description, and need not be attained by yours: lower ends",
        "  are those of the pair;",
        "* **estimated**: K is known by samples of a function only, and the errors in the ledger are estimates;",
        "* a number: refused, with the reason below.",
        "",
        "The last column says of how many releases there is a [certificate](certificates.md) under the relations of both",
        "directions: 1 and 20 were tried, at one epsilon each.",
        "",
        "In each case composition and numerics add only what the ledger of an answer says. A relation is that of the result.",
    ]
    for scheme, (text, _) in SCHEMES.items():
        heads = ["mechanism", *(f"`{one}`" for one in RELATIONS), "certified"]
        rows = ((cells, certificates(cells)) for cells in (row(scheme, name) for name in EXAMPLES))
        lines += ["", f"## {scheme}", "", text, *table(heads, rows, notes)]
    lines += [
        "",
        "## Other batches",
        "",
        "The mechanism under `add_remove` on [batches](batches.md) that are allocated, shuffled, in fixed order or truncated.",
        "",
        "* **bracket**: the answer is an interval; its status says whether an end of it is estimated.",
        *table(["mechanism", *BATCHES], ((batches(name),) for name in EXAMPLES), notes),
    ]
    lines += ["", "## Why not", ""]
    lines += [f"{number}. {reason}" for number, reason in enumerate(notes, 1)]
    lines += ["", "## Refused whatever the mechanism", ""]
    lines += [f"* {name}: {reason_of(build)[1]}" for name, build in REFUSED.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
