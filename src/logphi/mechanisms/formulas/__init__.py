"""Densities given as formulas: their cells, tails and enclosures."""
