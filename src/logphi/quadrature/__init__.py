"""Integrals inside a transform: sums over nodes, every error of which is bounded."""
