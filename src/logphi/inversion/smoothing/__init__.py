"""Transforms that do not decay: a smoothed threshold, sparse lines, and rare losses apart from the rest."""
