"""Integrals along vertical lines: where the line lies, where it ends, and its trapezoidal sum."""
