"""Laws of atoms: finitely many, on a lattice, or on the integers."""
