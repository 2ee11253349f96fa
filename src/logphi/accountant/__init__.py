"""Accountants, and budgets that refuse releases that would exceed them."""

from logphi.accountant.accountant import Accountant
from logphi.accountant.budget import BudgetExceededError, PrivacyFilter

__all__ = ["Accountant", "BudgetExceededError", "PrivacyFilter"]
