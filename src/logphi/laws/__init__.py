"""Laws on the line, held by the logarithm of their Laplace transform: one file a law."""
