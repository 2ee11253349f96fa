"""An explanation of an answer: its route, the reasons for it, and its errors."""

from __future__ import annotations

from dataclasses import dataclass

from logphi.answers.bound import Bound, Bounds, bound_rows
from logphi.answers.display import table
from logphi.answers.status import Status
from logphi.engine.directions import Certifiable
from logphi.engine.method import reason_of
from logphi.engine.routes.choices import Choice, choices
from logphi.inputs.guesses import guided
from logphi.inputs.route_names import MethodName
from logphi.listed import Listed
from logphi.questions.delta import delta as delta_of
from logphi.questions.epsilon import epsilon as epsilon_of

# chosen: the largest number of terms of the loss that are listed
_TERMS = 20
# chosen: the largest number of characters of a term, as a law of many outcomes names all their probabilities
_LONGEST = 300


@dataclass(frozen=True)
class Explanation(Listed):
    """The question, the answer with its errors, the reason for its route, and the terms of the loss; ``str`` writes it out.

    ``choices`` holds every route that was taken on the way, with the promises of all routes that were asked; no bound depends
    on a promise.
    """

    mechanism: str
    question: str
    bound: Bound
    terms: tuple[tuple[str, int], ...]
    choices: tuple[Choice, ...] = ()
    named: bool = False

    def __str__(self) -> str:
        bound = self.bound
        direction = "" if bound.direction is None else f", attained in direction {bound.direction.value!r}"
        proof = "every error is proved" if bound.ledger.proved else "an error is an estimate"
        lines = [
            self.mechanism,
            f"{self.question} = {bound}",
            f"  method   {bound.method}{direction}",
            *(f"  route    {reason}" for reason in (reason_of(bound.method),) if reason),
            *self._why(),
            f"  status   {bound.status.value}",
            *(f"  {end}    {proof}" for end, proof in zip(("lower", "upper"), bound.proofs or (), strict=False)),
            f"  width    {bound.width:.3g}; {proof}",
        ]
        lines += [
            f"    {name.replace('_', ' '):<15} {entry.amount:.3g} ({'proved' if entry.proved else 'estimated'})"
            for name, entry in bound.ledger.items()
        ]
        lines.append("  log-phi terms of the loss, with their counts")
        lines += [f"    {count} x {_short(term)}" for term, count in self.terms[:_TERMS]]
        if len(self.terms) > _TERMS:
            lines.append(f"    and {len(self.terms) - _TERMS} more")
        return "\n".join(lines)

    def _why(self) -> list[str]:
        """The reason for the route."""
        if self.named:
            return ["  why      it was requested by name"]
        if self.bound.status is Status.BRACKET:
            return ["  why      a release above and one below answer; all that follows is about the one above"]
        own = [one for one in self.choices if one.route is self.bound.method]
        if not own:
            return ["  why      nothing else was needed"] if not self.choices else ["  why      no other route led further"]
        lines = [("  why      " if i == 0 else "           ") + line for i, line in enumerate(str(own[-1]).split("\n"))]
        if len(self.choices) > 1:
            broken = sum(not one.kept for one in self.choices)
            lines.append(
                f"           routes taken on the way, for all points and orders: {len(self.choices)}; promises broken: {broken}"
            )
        return lines

    def _repr_html_(self) -> str:
        terms = [(f"{count} x", _short(term)) for term, count in self.terms[:_TERMS]]
        more = [("", f"and {len(self.terms) - _TERMS} more")] if len(self.terms) > _TERMS else []
        answer = table(bound_rows(self.bound), caption=f"{self.question} of {self.mechanism}")
        return answer + table([*terms, *more], caption="log-phi terms of the loss, with their counts")


def _short(term: str) -> str:
    return term if len(term) <= _LONGEST else f"{term[:_LONGEST]} ... ({len(term)} characters)"


@guided()
def explain(
    self: Certifiable, *, epsilon: float | None = None, delta: float | None = None, method: MethodName | None = None
) -> Explanation:
    """How delta(epsilon) or epsilon(delta) is computed: the route and its reason, direction, status, every line of the ledger.

    Each route promises a width and a time before it computes anything, or says why it does not apply; the quickest one that
    promises enough is taken, and the next one where a promise is broken.

    Parameters
    ----------
    epsilon, delta
        The question, exactly one of the two: an epsilon, in nats, or a delta in [0, 1].
    method
        A route by name, as in :func:`logphi.questions.delta.delta`.

    Returns
    -------
    Explanation
        ``print`` writes it out; its ``bound`` is the answer.

    Raises
    ------
    ValueError, TypeError
        If not exactly one of epsilon and delta is given, it is not one number, or the method does not apply.

    Examples
    --------
    >>> import logphi as lp
    >>> print((100 * lp.Gaussian(sigma=20)).explain(delta=1e-5))
    100 * Gaussian(sigma=20.0)
    epsilon(1e-05) = 1.993091404 (between 1.993091404415 and 1.993091404416)
      method   exact, attained in direction 'both'
      route    closed forms: few atoms, one release, Gaussians together
      why      nothing else was needed
      status   the requested tolerance is met
      width    1.79e-13; every error is proved
        aliasing        0 (proved)
        truncation      0 (proved)
        inner           0 (proved)
        rounding        3.64e-14 (proved)
        discretization  0 (proved)
        infinite mass   0 (proved)
      log-phi terms of the loss, with their counts
        100 x Normal(shift=1.0/20.0)
    """
    answer: Bound | Bounds
    with choices() as taken:
        if epsilon is not None and delta is None:
            question, answer = f"delta({epsilon!r})", delta_of(self, epsilon, method=method)
        elif delta is not None and epsilon is None:
            question, answer = f"epsilon({delta!r})", epsilon_of(self, delta, method=method)
        else:
            raise ValueError(f"give either epsilon or delta, got epsilon={epsilon!r} and delta={delta!r}")
    if not isinstance(answer, Bound):
        raise TypeError("explain takes one epsilon or one delta, not an array")
    terms = tuple((repr(law), count) for law, count in self._loss().remove.terms)
    return Explanation(repr(self), question, answer, terms, tuple(taken), method is not None)
