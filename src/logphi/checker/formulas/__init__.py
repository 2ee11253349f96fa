"""Formulas in one variable: their text, their values, and how they grow far out."""
