"""One question to a family of mechanisms over a grid of its parameters, on one processor or many."""
