"""Laws on a lattice, rounded up and rounded down: bounds for sums of laws whose mass in each cell is known."""
