"""Dominating pairs (P, Q), one file for each family of output laws."""
