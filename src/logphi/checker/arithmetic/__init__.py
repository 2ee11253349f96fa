"""Balls, the budget of work, and what is summed or integrated with them."""
