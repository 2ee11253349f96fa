"""Sums of atomic laws: their atoms under a tilt, and the excess as a sum."""
