"""dp-accounting: an accountant for its events, and export of mechanisms as its privacy loss distributions.

Needs the package itself: ``pip install dp-accounting``. ``docs/dp-accounting.md`` shows both.
"""

try:
    import dp_accounting as _needed  # noqa: F401
except ImportError as error:
    raise ImportError("this adapter needs dp-accounting: pip install dp-accounting") from error

from logphi.adapters.dp_accounting.accountant import LogPhiAccountant
from logphi.adapters.dp_accounting.events import mechanism_of
from logphi.adapters.dp_accounting.export import to_privacy_loss_distribution

__all__ = ["LogPhiAccountant", "mechanism_of", "to_privacy_loss_distribution"]
