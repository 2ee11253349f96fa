"""Sums over nodes: weighted exponentials on lines and on the real axis, with their rounding."""
