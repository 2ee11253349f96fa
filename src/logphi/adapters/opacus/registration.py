"""Registers an accountant with Opacus by name, and lets it see the loader that Opacus makes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from opacus import PrivacyEngine, accountants, privacy_engine
from opacus.accountants import IAccountant, utils

if TYPE_CHECKING:
    from logphi.adapters.opacus.accountant import LogPhiAccountant

# the modules that look up the function that makes accountants, each in its own namespace
_PLACES = (accountants, utils, privacy_engine)


def register(accountant: type[IAccountant]) -> None:
    """Make Opacus create this accountant for the name of its mechanism.

    It replaces an accountant of the same name, so that repeated calls are harmless.
    """
    if hasattr(accountants, "register_accountant"):
        accountants.register_accountant(accountant.mechanism(), accountant, force=True)
    else:
        _enlarged().others[accountant.mechanism()] = accountant


def watch(accountant: type[LogPhiAccountant]) -> None:
    """Make engines call ``shown`` of such an accountant with the optimizer and loader that they return.

    Opacus does not tell the accountant of ``poisson_sampling=False``. What the engine returns is not changed.
    """
    make = getattr(PrivacyEngine.make_private, "unwatched", PrivacyEngine.make_private)

    @functools.wraps(make)
    def make_private(engine: PrivacyEngine, *arguments: Any, **options: Any) -> Any:
        made = make(engine, *arguments, **options)
        if isinstance(engine.accountant, accountant):
            # module, optimizer, a criterion in some modes, loader
            engine.accountant.shown(made[1], made[-1])
        return made

    make_private.unwatched = make  # type: ignore[attr-defined]
    PrivacyEngine.make_private = make_private


@dataclass
class _Registry:
    """Replaces the function that creates accountants by name in releases before 1.6, and knows further names."""

    make: Callable[[str], IAccountant]
    others: dict[str, type[IAccountant]] = field(default_factory=dict)

    def __call__(self, mechanism: str) -> IAccountant:
        return self.others[mechanism]() if mechanism in self.others else self.make(mechanism)


def _enlarged() -> _Registry:
    """The registry in place of that function, installed on first use."""
    registry = accountants.create_accountant
    if not isinstance(registry, _Registry):
        registry = _Registry(registry)
        for place in _PLACES:
            place.create_accountant = registry
    return registry
