"""The ledger of releases, and budgets that refuse further ones."""

from logphi.accountant.budget import BudgetExceededError, PrivacyFilter
from logphi.accountant.ledger import Accountant

__all__ = ["Accountant", "BudgetExceededError", "PrivacyFilter"]
