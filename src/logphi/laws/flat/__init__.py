"""Laws that are uniform, or linear in pieces, once tilted by e^{-x/2}."""
