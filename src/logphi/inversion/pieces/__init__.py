"""Sums of laws of atoms and flat parts, in real space."""
