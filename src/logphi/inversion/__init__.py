"""From the transform of a law back to its probabilities: integrals along vertical lines, every error of which is bounded."""
