"""A privacy budget: a release that would exceed it is refused."""

from __future__ import annotations

import math
from copy import copy
from fractions import Fraction
from threading import RLock
from typing import Any, Literal

from logphi.accountant.accountant import Accountant, Steps
from logphi.accountant.checksummed import Checksummed
from logphi.accountant.rules import rule_of
from logphi.accountant.rules.rule import Amount
from logphi.algebra.release import Mechanism
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency, AdjacencyLike
from logphi.inputs.arguments import Scalar
from logphi.inputs.guesses import BUDGET, Guided
from logphi.text.strict_json import fields, number_from_json, number_to_json

# derived: a relative excess this small may come from reading decimals as doubles
_ROUNDING = Fraction(1, 10**12)


class BudgetExceededError(ValueError):
    """A release would exceed its budget, and was not recorded."""


class PrivacyFilter(Guided, Checksummed):
    """A budget (epsilon, delta): releases are recorded as long as their composition stays within it.

    The rule decides what composition may depend on. ``rule="renyi"``, the default, always holds: noise, rates, counts and the
    decision to go on may all be chosen after looking at earlier outputs. It keeps three exact sums for each direction:
    of log-moments at one order, fixed when the filter is made; of the largest losses, which may stay within epsilon instead;
    and of the probabilities of an infinite loss, for which ``infinite_mass`` sets a part of delta aside. ``rule="gaussian"``
    always holds, too, for Gaussian mechanisms only, and is exact. ``rule="schedule"`` takes the exact composition; it holds
    only if the privacy parameters depend on no output, as when they are fixed in advance: adaptive queries are covered,
    adaptive noise is not. With ``delta=0`` the largest losses are summed, which always holds.

    The budget is what is guaranteed. A float counts as its exact double, so that ten times 0.1 exceeds 1; Fractions, and
    decimals in expressions, count as they are written.

    Parameters
    ----------
    epsilon, delta
        The budget, epsilon in nats: zero or more, and in [0, 1).
    rule
        ``"renyi"``, ``"gaussian"`` or ``"schedule"``.
    order
        The Renyi order, above 1; by default the one at which the budget allows most Gaussian releases.
    infinite_mass
        The part of delta for mechanisms whose loss may be infinite, such as ApproximateDP. With all of delta set aside,
        guarantees add up as in basic composition.
    adjacency
        The relation between data sets; that of the first release unless given.

    Raises
    ------
    ValueError, TypeError
        If a parameter is outside its range, or does not belong to the rule.

    References
    ----------
    Rogers, Roth, Ullman & Vadhan 2016 (filters); Feldman & Zrnic 2021 (Renyi); Smith & Thakurta 2022 and Koskela, Tobaben &
    Honkela 2022 (Gaussian); [AFA] Theorem 10 (schedules). :mod:`logphi.accountant.rules.renyi` has the proof.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import logphi as lp
    >>> budget = PrivacyFilter(epsilon=1, delta=0)
    >>> budget.spend(lp.PureDP(Fraction(1, 10)), count=9)
    >>> budget.can_spend(lp.PureDP(Fraction(1, 10))), budget.can_spend(lp.PureDP(0.1))
    (True, False)
    """

    _format = "logphi-filter"
    _instead = BUDGET

    def __init__(
        self,
        *,
        epsilon: Scalar,
        delta: Scalar,
        rule: Literal["renyi", "gaussian", "schedule"] = "renyi",
        order: Scalar | None = None,
        infinite_mass: Scalar = 0.0,
        adjacency: AdjacencyLike | None = None,
    ) -> None:
        self._rule = rule_of(rule, epsilon, delta, order, infinite_mass)
        self._name = rule
        self._numbers = {
            "epsilon": check.real("epsilon", epsilon),
            "delta": check.real("delta", delta),
            "infinite_mass": check.real("infinite_mass", infinite_mass),
            # also an order that was chosen by default
            "order": getattr(self._rule, "order", None),
        }
        self._accountant = Accountant(adjacency)
        self._spent = self._rule.nothing
        self._lock = RLock()

    def can_spend(self, mechanism: Mechanism, count: Scalar = 1) -> bool:
        """Whether ``count`` more releases of a mechanism are within the budget. Nothing is recorded.

        Parameters
        ----------
        mechanism
            What is to be released, under the relation of the releases before.
        count
            How many times, an integer from 0 on.

        Returns
        -------
        bool
            True only if it is proved.

        Raises
        ------
        TypeError, ValueError
            If it is no mechanism or no count, or stated under another relation than the releases before.
        UnsupportedError
            If the rule does not know what the mechanism costs; a ValueError.

        Examples
        --------
        >>> import logphi as lp
        >>> budget = lp.PrivacyFilter(epsilon=1, delta=0)
        >>> budget.can_spend(lp.PureDP(0.75)), budget.can_spend(lp.PureDP(0.75), count=2)
        (True, False)
        """
        with self._lock:
            return self._rule.fits(self._after(mechanism, count))

    def spend(self, mechanism: Mechanism, count: Scalar = 1) -> None:
        """Record ``count`` releases of a mechanism, all or none. Call it before anything is released.

        Parameters
        ----------
        mechanism
            What is to be released, under the relation of the releases before.
        count
            How many times, an integer from 0 on.

        Raises
        ------
        BudgetExceededError
            If they would exceed the budget; nothing is recorded then.
        TypeError, ValueError
            As :meth:`can_spend`; nothing is recorded.
        """
        with self._lock:
            after = self._after(mechanism, count)
            if not self._rule.fits(after):
                raise BudgetExceededError(self._excess(mechanism, count, self._rule.amounts(after)))
            self._accountant.step(mechanism, count)
            self._spent = after

    def _after(self, mechanism: Mechanism, count: Scalar) -> object:
        count = check.count("count", count)
        self._accountant.check_relation(mechanism)
        return self._rule.after(self._spent, mechanism, count)

    def _excess(self, mechanism: Mechanism, count: Scalar, amounts: dict[str, Amount]) -> str:
        over = {name: _less(amounts[name], most) for name, most in self._rule.budget.items() if amounts[name] > most}
        parts = ", ".join(
            f"{name} of {float(self._rule.budget[name]):.10g} by {_shown(excess):.3g}" for name, excess in over.items()
        )
        hint = ""
        if "infinite_mass" in over and not self._rule.budget["infinite_mass"]:
            hint = "; set a part of delta aside with infinite_mass= for mechanisms whose loss may be infinite"
        elif any(excess <= self._rule.budget[name] * _ROUNDING for name, excess in over.items()):
            hint = "; an excess of the size of rounding comes from doubles: give numbers as Fractions, such as Fraction(1, 10)"
        return f"{count} x {mechanism!r} would exceed the budget of {self._pair}: {parts}{hint}; nothing was recorded"

    @property
    def budget(self) -> dict[str, Amount]:
        """The limit of each of the rule's sums, exact; the rule says which of them must be kept."""
        return {**self._rule.budget}

    @property
    def spent(self) -> dict[str, Amount]:
        """The rule's sums so far, the larger of both directions: exact sums of proved upper bounds."""
        with self._lock:
            return self._rule.amounts(self._spent)

    @property
    def remaining(self) -> dict[str, Amount]:
        """The budget minus what is spent; a sum that need not be kept may be negative."""
        spent = self.spent
        return {name: -_less(spent[name], most) for name, most in self._rule.budget.items()}

    @property
    def adjacency(self) -> Adjacency | None:
        """The relation between data sets; None before the first release if none was given."""
        return self._accountant.adjacency

    @property
    def history(self) -> Steps:
        """Mechanisms and how often each was released in a row; see :attr:`Accountant.history`."""
        return self._accountant.history

    @property
    def release(self) -> Mechanism:
        """The composition of all that was spent. Its epsilon is proved only if the parameters did not depend on outputs."""
        return self._accountant.release

    def content(self) -> dict[str, Any]:
        """Budget, rule and releases."""
        with self._lock:
            numbers = {name: number_to_json(name, value) for name, value in self._numbers.items()}
            return {**numbers, "rule": self._name, "ledger": self._accountant.content()}

    @classmethod
    def of_content(cls, data: Any) -> PrivacyFilter:
        """The filter in plain data; a ValueError if they describe none."""
        names = ("epsilon", "delta", "infinite_mass", "order")
        content = fields(data, "a filter", (*names, "rule", "ledger"))
        numbers = {name: number_from_json(name, content[name]) for name in names}
        try:
            made = cls(rule=content["rule"], **numbers)
        except TypeError as wrong:
            raise ValueError(f"the budget of a filter is not valid: {wrong}") from None
        made._resume(Accountant.of_content(content["ledger"]))
        return made

    def _resume(self, accountant: Accountant) -> None:
        # recorded releases were within the budget, even if bounds round differently on another machine
        self._accountant, self._spent = accountant, self._rule.after(self._rule.nothing, accountant.release, 1)

    def __getstate__(self) -> tuple[str, dict[str, Any], Accountant]:
        with self._lock:
            return self._name, self._numbers, copy(self._accountant)

    def __setstate__(self, state: tuple[str, dict[str, Any], Accountant]) -> None:
        name, numbers, accountant = state
        self.__init__(rule=name, **numbers)  # type: ignore[misc]
        self._resume(accountant)

    @property
    def _pair(self) -> str:
        return f"epsilon={self._numbers['epsilon']!r} and delta={self._numbers['delta']!r}"

    def __str__(self) -> str:
        spent, budget, order = self.spent, self._rule.budget, self._numbers["order"]
        at = "" if order is None else f" at order {order:.6g}"
        lines = [f"  {name}: {_shown(spent[name]):.6g} of {float(most):.6g} spent" for name, most in budget.items()]
        return "\n".join([f"budget of {self._pair}, rule {self._name!r}{at}", *lines])


def _less(amount: Amount, most: Fraction) -> Amount:
    # infinity plus a quotient that overflows
    return math.inf if amount == math.inf else amount - most


def _shown(amount: Amount) -> float:
    """A double; infinite on overflow."""
    try:
        return float(amount)
    except OverflowError:
        return math.inf
