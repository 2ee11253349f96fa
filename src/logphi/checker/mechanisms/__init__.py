"""From mechanisms to laws: the dominating pair of each, or a law above it."""
