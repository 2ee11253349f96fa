"""Convex and concave functions, known by enclosures at finitely many points."""
