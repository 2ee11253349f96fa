"""The questions that every release answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from logphi.bound import Bound, Bounds, ComplexBound, ComplexBounds, Direction
from logphi.core.adjacency import Adjacency
from logphi.core.logphi import LogPhi
from logphi.views.characteristic import log_phi, phi
from logphi.views.delta import delta, log_delta
from logphi.views.directions import Loss, direction_of
from logphi.views.epsilon import epsilon
from logphi.views.explain import Explanation, explain
from logphi.views.formula import latex
from logphi.views.hockey_stick import hockey_stick
from logphi.views.loss import LossDistribution
from logphi.views.probabilistic import pdp_delta, pdp_epsilon
from logphi.views.renyi import kl_divergence, max_divergence, renyi, renyi_orders
from logphi.views.tradeoff import inverse_tradeoff, tradeoff
from logphi.views.unit_pair import UnitPair
from logphi.views.zcdp import zcdp

if TYPE_CHECKING:
    import sympy
    from numpy.typing import NDArray

    from logphi.views.risk import AttackRisk


class Questions(ABC):
    """What can be asked of the privacy loss of a release; each question is a view, which says its theorem and error side."""

    adjacency: Adjacency

    @abstractmethod
    def loss_law(self) -> LogPhi:
        """K of the loss of the pair (P, Q), P the output law with the record present."""

    def delta(
        self, epsilon: Any, *, direction: Direction | str | None = None, method: str | None = None, rtol: float = 1e-9
    ) -> Bound | Bounds:
        """The privacy profile delta(epsilon), in nats; see :func:`logphi.views.delta.delta`.

        ``method="certified"`` answers in ball arithmetic: :func:`logphi.certified.question.certified`.
        """
        if method == "certified":
            return self._certified("delta", epsilon, direction, rtol)
        return delta(self._loss(), epsilon, direction=direction, method=method, rtol=rtol)

    def log_delta(
        self, epsilon: Any, *, direction: Direction | str | None = None, method: str | None = None, rtol: float = 1e-9
    ) -> Bound | Bounds:
        """Natural logarithm of delta(epsilon), also where no double holds delta; see :func:`logphi.views.delta.log_delta`."""
        return log_delta(self._loss(), epsilon, direction=direction, method=method, rtol=rtol)

    def epsilon(
        self, delta: Any, *, direction: Direction | str | None = None, method: str | None = None, rtol: float = 1e-9
    ) -> Bound | Bounds:
        """The smallest non-negative epsilon, in nats; see :func:`logphi.views.epsilon.epsilon`.

        ``method="certified"`` answers in ball arithmetic: :func:`logphi.certified.question.certified`.
        """
        if method == "certified":
            return self._certified("epsilon", delta, direction, rtol)
        return epsilon(self._loss(), delta, direction=direction, method=method, rtol=rtol)

    @property
    def loss(self) -> LossDistribution:
        """The distribution of log(p/q) under P, P with the record; see :class:`logphi.views.loss.LossDistribution`."""
        return LossDistribution(self.loss_law(), Direction.REMOVE)

    @property
    def dual_loss(self) -> LossDistribution:
        """The distribution of log(q/p) under Q: the loss of the reversed pair, in which the record is added."""
        return LossDistribution(self.loss_law().reflected(), Direction.ADD)

    def unit_pair(self, direction: Direction | str = Direction.REMOVE) -> UnitPair:
        """The pair on [0, 1] with the same profile ([AFA] Lemma 9); see :class:`logphi.views.unit_pair.UnitPair`."""
        order = direction_of(direction)
        law = self.loss_law()
        return UnitPair(law.reflected() if order is Direction.ADD else law, order)

    def pdp_delta(self, epsilon: Any, *, direction: Direction | str | None = None, rtol: float = 1e-9) -> Bound | Bounds:
        """How often the loss exceeds epsilon; see :func:`logphi.views.probabilistic.pdp_delta`."""
        return pdp_delta(self._loss(), epsilon, direction=direction, rtol=rtol)

    def pdp_epsilon(self, delta: Any, *, direction: Direction | str | None = None, rtol: float = 1e-9) -> Bound | Bounds:
        """What the loss exceeds with probability delta; see :func:`logphi.views.probabilistic.pdp_epsilon`."""
        return pdp_epsilon(self._loss(), delta, direction=direction, rtol=rtol)

    def renyi(
        self, order: Any, *, direction: Direction | str | None = None, rtol: float = 1e-9
    ) -> Bound | Bounds | ComplexBound:
        """The Renyi divergence of any order, real or complex, in nats; see :func:`logphi.views.renyi.renyi`."""
        return renyi(self._loss(), order, direction=direction, rtol=rtol)

    def renyi_orders(self, *, direction: Direction | str | None = None) -> tuple[float, float]:
        """The open interval of orders at which it converges; see :func:`logphi.views.renyi.renyi_orders`."""
        return renyi_orders(self._loss(), direction=direction)

    def kl_divergence(self, *, direction: Direction | str | None = None, rtol: float = 1e-9) -> Bound:
        """The mean of the loss, in nats, infinite if the loss may be; see :func:`logphi.views.renyi.kl_divergence`."""
        return kl_divergence(self._loss(), direction=direction, rtol=rtol)

    def max_divergence(self, *, direction: Direction | str | None = None, rtol: float = 1e-9) -> Bound:
        """The largest loss, in nats; see :func:`logphi.views.renyi.max_divergence`."""
        return max_divergence(self._loss(), direction=direction, rtol=rtol)

    def zcdp(self, xi: float = 0.0, *, direction: Direction | str | None = None, rtol: float = 1e-6) -> Bound:
        """The smallest rho of (xi, rho)-zCDP, in nats; see :func:`logphi.views.zcdp.zcdp`."""
        return zcdp(self._loss(), xi, direction=direction, rtol=rtol)

    def hockey_stick(
        self, order: Any, *, direction: Direction | str | None = None, method: str | None = None, rtol: float = 1e-9
    ) -> Bound | Bounds:
        """The hockey-stick divergence H_a = delta(log a); see :func:`logphi.views.hockey_stick.hockey_stick`."""
        return hockey_stick(self._loss(), order, direction=direction, method=method, rtol=rtol)

    def tradeoff(self, type_one_error: Any, *, direction: Direction | str | None = None, rtol: float = 1e-9) -> Bound | Bounds:
        """The least type II error at a type I error, the null hypothesis being Q; see :func:`logphi.views.tradeoff.tradeoff`.

        T[Q, P] of the papers is ``direction="remove"``, T[P, Q] is ``direction="add"``.
        """
        return tradeoff(self._loss(), type_one_error, direction=direction, rtol=rtol)

    def inverse_tradeoff(
        self, type_two_error: Any, *, direction: Direction | str | None = None, rtol: float = 1e-9
    ) -> Bound | Bounds:
        """The least type I error at a type II error; see :func:`logphi.views.tradeoff.inverse_tradeoff`."""
        return inverse_tradeoff(self._loss(), type_two_error, direction=direction, rtol=rtol)

    @property
    def risk(self) -> AttackRisk:
        """What an attacker on one record may attain; see :class:`logphi.views.risk.AttackRisk`."""
        # it brings SciPy's special functions, which double the time of a first answer
        from logphi.views.risk import AttackRisk

        return AttackRisk(self._loss(), self.delta)

    def explain(self, *, epsilon: float | None = None, delta: float | None = None, method: str | None = None) -> Explanation:
        """How an answer comes about; see :func:`logphi.views.explain.explain`."""
        return explain(self._loss(), repr(self), epsilon=epsilon, delta=delta, method=method)

    @overload
    def log_phi(
        self, alpha: str | None = None, *, direction: Direction | str = Direction.REMOVE, rtol: float = 1e-9
    ) -> sympy.Expr: ...
    @overload
    def log_phi(self, alpha: complex, *, direction: Direction | str = Direction.REMOVE, rtol: float = 1e-9) -> ComplexBound: ...
    @overload
    def log_phi(
        self, alpha: Sequence[Any] | NDArray[Any], *, direction: Direction | str = Direction.REMOVE, rtol: float = 1e-9
    ) -> ComplexBounds: ...
    def log_phi(self, alpha: Any = None, *, direction: Direction | str = Direction.REMOVE, rtol: float = 1e-9) -> Any:
        """The log-characteristic function K(i alpha), symbolic or numeric; see :func:`logphi.views.characteristic.log_phi`."""
        return log_phi(self._loss(), alpha, direction=direction, rtol=rtol)

    @overload
    def phi(self, t: complex, *, direction: Direction | str = Direction.REMOVE, rtol: float = 1e-9) -> ComplexBound: ...
    @overload
    def phi(
        self, t: Sequence[Any] | NDArray[Any], *, direction: Direction | str = Direction.REMOVE, rtol: float = 1e-9
    ) -> ComplexBounds: ...
    def phi(self, t: Any, *, direction: Direction | str = Direction.REMOVE, rtol: float = 1e-9) -> Any:
        """The characteristic function of the loss, infinite losses left out; see :func:`logphi.views.characteristic.phi`."""
        return phi(self._loss(), t, direction=direction, rtol=rtol)

    def _repr_latex_(self) -> str | None:
        return latex(self.loss_law())

    @abstractmethod
    def _manner(self) -> str:
        """How the parameters are known exactly; a ValueError where they are not."""

    def _certified(self, quantity: str, question: Any, direction: Direction | str | None, rtol: float) -> Bound | Bounds:
        from logphi.certified.question import certified

        self._manner()
        return certified(quantity, self._loss(), question, direction=direction, rtol=rtol)

    def _loss(self) -> Loss:
        return Loss(self.loss_law(), self.adjacency)
