"""Sampling schemes: what happens to a pair when the record takes part only sometimes."""
