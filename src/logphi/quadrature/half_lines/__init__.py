"""Integrals over half-lines that are shifted into the complex plane."""
