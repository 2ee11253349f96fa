"""The ledger of releases, and budgets that refuse releases that would exceed them."""

from logphi.accountant.budget import BudgetExceededError, PrivacyFilter
from logphi.accountant.ledger import Accountant

__all__ = ["Accountant", "BudgetExceededError", "PrivacyFilter"]
