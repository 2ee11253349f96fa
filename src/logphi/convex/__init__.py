"""Convex and concave functions that are known by enclosures at finitely many points."""
