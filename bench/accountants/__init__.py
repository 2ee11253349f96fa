"""The accountants under measurement, each behind the same two words: a workload in, an answer out.

A package is imported when it is first asked. ``UnsupportedError`` says that it has no word for the question.
"""

from __future__ import annotations

from accountants import autodp, dp_accounting, pld_accounting, prv
from accountants.answer import Accountant, Answer, UnsupportedError
from accountants.ours import CERTIFIED, OURS, truth

PEERS = (
    dp_accounting.PLD,
    dp_accounting.PLD_ACCOUNTANT,
    dp_accounting.RDP,
    prv.COARSE,
    prv.FINE,
    autodp.FOURIER,
    autodp.RENYI,
)
# one configuration of each kind, for many questions
STRESSED = (dp_accounting.PLD, dp_accounting.RDP, prv.COARSE, autodp.FOURIER_UNSAMPLED, autodp.RENYI)
# those that a training run is drawn by
DRAWN = (dp_accounting.RDP, dp_accounting.PLD)
# the one whose kinds of noise are those of the catalogue
CATALOGUED = (dp_accounting.PLD,)
# those that offer other batches than Poisson samples
SAMPLING = (dp_accounting.PLD, dp_accounting.PLD_ACCOUNTANT, pld_accounting.ALLOCATION)

__all__ = [
    "CATALOGUED",
    "CERTIFIED",
    "DRAWN",
    "OURS",
    "PEERS",
    "SAMPLING",
    "STRESSED",
    "Accountant",
    "Answer",
    "UnsupportedError",
    "truth",
]
