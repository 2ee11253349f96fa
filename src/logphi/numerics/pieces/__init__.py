"""Laws that can be put on a lattice, from above and from below, one file each."""
