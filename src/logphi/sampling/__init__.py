"""Sampling: the pair of a mechanism in which the record takes part only sometimes."""
