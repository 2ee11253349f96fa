"""Sampling: the loss of a mechanism that runs on a random part of the records."""
