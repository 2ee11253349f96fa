"""Pure analysis: laws on the line held by their transform, and the inversion of that transform."""
