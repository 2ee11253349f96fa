"""Laws on the line, given by the logarithms of their Laplace transforms: one file for each law."""
