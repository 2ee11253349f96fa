"""Opacus: importing this module makes ``PrivacyEngine(accountant="logphi")`` work; see docs/opacus.md."""

try:
    import opacus as _opacus  # noqa: F401
except ImportError as error:
    raise ImportError(f"the accountant for Opacus needs Opacus ({error}): pip install opacus") from error

from logphi.adapters.opacus.accountant import LogPhiAccountant
from logphi.adapters.opacus.registration import register, watch
from logphi.adapters.opacus.sampling import SamplingWarning

__all__ = ["LogPhiAccountant", "SamplingWarning"]

register(LogPhiAccountant)
watch(LogPhiAccountant)
