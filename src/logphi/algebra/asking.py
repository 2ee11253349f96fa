"""The questions that every release answers."""

from __future__ import annotations

from abc import abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any

from logphi.answers.bound import Bound, Bounds
from logphi.answers.status import Direction
from logphi.engine.directions import Loss, direction_of
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import DirectionLike
from logphi.laws.log_phi import LogPhi
from logphi.lazy import typed
from logphi.listed import Listed

if TYPE_CHECKING:
    from logphi.questions import characteristic as _characteristic
    from logphi.questions import delta as _delta
    from logphi.questions import epsilon as _epsilon
    from logphi.questions import explain as _explain
    from logphi.questions import hockey_stick as _hockey_stick
    from logphi.questions import probabilistic as _probabilistic
    from logphi.questions import renyi as _renyi
    from logphi.questions import tradeoff as _tradeoff
    from logphi.questions import zcdp as _zcdp
    from logphi.questions.loss import LossDistribution
    from logphi.questions.risk import AttackRisk
    from logphi.questions.unit_pair import UnitPair
else:

    class _File:
        """A file of questions, loaded when one of them is first asked: loading all takes half the time of an answer."""

        def __init__(self, file: str) -> None:
            self._file = file

        def __getattr__(self, name: str) -> _Question:
            return _Question(self._file, name)

    globals().update({own: _File(file) for own, (_, file) in typed(__name__).items()})


class _Question:
    """A method that is a function in a file of its own, and replaces itself by that function when it is first asked."""

    def __init__(self, file: str, name: str) -> None:
        self._file, self._name = file, name

    def __set_name__(self, owner: type, name: str) -> None:
        self._place = owner, name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        function = getattr(import_module(f"logphi.questions.{self._file}"), self._name)
        setattr(*self._place, function)
        return function.__get__(instance, owner)


class Questions(Listed):
    """The questions that the privacy loss of a release answers."""

    if TYPE_CHECKING:
        # a subclass has it as a field, which may be set by name
        @property
        def adjacency(self) -> Adjacency:
            """The relation that the release is stated under."""

    @abstractmethod
    def loss_law(self) -> LogPhi:
        """K of the loss of the pair (P, Q), P the output law with the record present."""

    # each question is a function in a file of its own; its first parameter is the release
    delta = _delta.delta
    log_delta = _delta.log_delta
    epsilon = _epsilon.epsilon
    pdp_delta = _probabilistic.pdp_delta
    pdp_epsilon = _probabilistic.pdp_epsilon
    hockey_stick = _hockey_stick.hockey_stick
    tradeoff = _tradeoff.tradeoff
    inverse_tradeoff = _tradeoff.inverse_tradeoff
    renyi = _renyi.renyi
    renyi_orders = _renyi.renyi_orders
    kl_divergence = _renyi.kl_divergence
    max_divergence = _renyi.max_divergence
    zcdp = _zcdp.zcdp
    explain = _explain.explain
    phi = _characteristic.phi
    log_phi = _characteristic.log_phi

    @property
    def loss(self) -> LossDistribution:
        """The distribution of the privacy loss log(p/q) under P, P with the record and Q without it.

        Returns
        -------
        LossDistribution
            Its ``cdf``, ``sf``, ``pdf``, ``quantile``, ``mean``, ``variance``, ``atoms``, ``infinite_mass``; losses in nats.

        Examples
        --------
        >>> import logphi as lp
        >>> loss = (10 * lp.Gaussian(sigma=3)).loss
        >>> round(loss.sf(0.5).value, 9), round(loss.mean.value, 9)
        (0.521016374, 0.555555556)
        """
        from logphi.questions.loss import LossDistribution

        return LossDistribution(self.loss_law(), Direction.REMOVE)

    @property
    def dual_loss(self) -> LossDistribution:
        """The distribution of log(q/p) under Q: the loss of the reversed pair, in which the record is added.

        Returns
        -------
        LossDistribution
            As :attr:`loss`, in nats.

        Examples
        --------
        >>> import logphi as lp
        >>> sampled = lp.Gaussian(sigma=1).poisson(0.1)
        >>> round(sampled.loss.mean.value, 9), round(sampled.dual_loss.mean.value, 9)
        (0.00725773, 0.006386136)
        """
        from logphi.questions.loss import LossDistribution

        return LossDistribution(self.loss_law().reflected(), Direction.ADD)

    def unit_pair(self, direction: DirectionLike = Direction.REMOVE) -> UnitPair:
        """The pair on [0, 1] with the same profile, whose second law is uniform ([AFA] Lemma 9).

        Parameters
        ----------
        direction
            The order of the pair, ``"remove"`` or ``"add"``.

        Returns
        -------
        UnitPair
            The first law by its ``cdf``, ``density``, ``log_density`` and ``atom``.

        Raises
        ------
        ValueError
            If there is no such direction.

        Examples
        --------
        >>> import logphi as lp
        >>> round(lp.Gaussian(sigma=1).unit_pair().cdf(0.5).value, 9)
        0.158655254
        """
        from logphi.questions.unit_pair import UnitPair

        order = direction_of(direction)
        law = self.loss_law()
        return UnitPair(law.reflected() if order is Direction.ADD else law, order)

    @property
    def risk(self) -> AttackRisk:
        """The success of attacks on one record, by an attacker who sees all outputs and knows all other records.

        Returns
        -------
        AttackRisk
            Its ``advantage``, ``tpr``, ``ppv``, ``success``, ``reconstruction``, ``gaussian_mu``.

        Examples
        --------
        >>> import logphi as lp
        >>> risk = (100 * lp.Gaussian(sigma=10)).risk
        >>> round(risk.advantage().value, 9), round(risk.tpr(0.01).value, 9)
        (0.382924923, 0.092362248)
        """
        from logphi.questions.risk import AttackRisk

        return AttackRisk(self._loss(), self.delta)

    def _repr_latex_(self) -> str | None:
        from logphi.questions.formula import latex

        return latex(self.loss_law())

    @abstractmethod
    def _manner(self) -> str:
        """How the parameters are known exactly: see :meth:`Mechanism._manner`."""

    def _certified(self, quantity: str, question: Any, direction: Direction | str | None, rtol: float) -> Bound | Bounds:
        from logphi.certified.question import certified

        self._manner()
        return certified(quantity, self._loss(), question, direction=direction, rtol=rtol)

    def _loss(self) -> Loss:
        return Loss(self.loss_law(), self.adjacency)
