"""Methods that enclose delta, from the laws of a composition."""
