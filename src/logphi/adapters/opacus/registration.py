"""Registration of an accountant with Opacus by name, and of the loader that Opacus makes with the accountant."""

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
    """Make engines show such an accountant the loader that they return.

    Opacus does not pass ``poisson_sampling=False`` on to the accountant. What the engine returns is not changed.
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
    """A replacement for the function in releases before 1.6 that knows accountants by name, and other names in addition."""

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
