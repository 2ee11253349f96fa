"""What has been released, step by step, and whether the next release is still within a budget."""

from logphi.accountant.budget import BudgetExceededError, PrivacyFilter
from logphi.accountant.ledger import Accountant

__all__ = ["Accountant", "BudgetExceededError", "PrivacyFilter"]
