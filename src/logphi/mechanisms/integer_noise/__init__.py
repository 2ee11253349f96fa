"""Noise for vectors of integers: its probabilities in one coordinate, and sums over parties."""
