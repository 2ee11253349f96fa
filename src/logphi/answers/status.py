"""What an answer states besides its numbers: its status, the direction that attains it, and the end that is safe."""

from __future__ import annotations

import enum


class Status(enum.Enum):
    """How a question was answered, and what to do about it."""

    MET = "the requested tolerance is met"
    WIDE = (
        "the bounds are wider than the requested tolerance: relax rtol, or try another method "
        "(the ledger says which error dominates)"
    )
    UNBOUNDED = (
        "no finite answer exists: the probability of an infinite loss is at least the requested delta; "
        "ask for a larger delta or a smaller failure probability"
    )
    DIVERGENT = (
        "the integral that defines the answer does not converge: it is infinite for this order; "
        "renyi_orders() gives the orders for which it is finite"
    )
    ESTIMATED = "an error in the ledger is an estimate, not a proof: use another method where a proof is needed"
    BRACKET = (
        "the exact answer is not known: the two ends are proved by different means (see proofs), "
        "and no tolerance narrows the gap between them"
    )
    DOMINATED = (
        "the requested tolerance is met for a pair that dominates the release: the private side holds for the release, "
        "the other end only for the pair, as the release may leak less"
    )
    UNRESOLVED = (
        "no method found an answer, and the bounds are the trivial ones: the parameters are too extreme for double "
        "precision, or for the work that a question may take"
    )

    @property
    def met(self) -> bool:
        """Whether the answer is as narrow as requested, or certainly infinite."""
        return self in (Status.MET, Status.DOMINATED, Status.UNBOUNDED, Status.DIVERGENT)


class Direction(enum.Enum):
    """Which of the two changes attains the answer: removing the record, adding it, or both."""

    REMOVE = "remove"
    ADD = "add"
    BOTH = "both"


class Side(enum.Enum):
    """The end of a bound on which a privacy claim is safe."""

    UPPER = "upper"
    LOWER = "lower"
