"""Laws on a lattice, rounded up and rounded down: bounds for every sum of laws with known cell masses."""
