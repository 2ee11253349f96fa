"""Which route leads from a question to its bounds, in which order of the pair, and how good the answer is."""
