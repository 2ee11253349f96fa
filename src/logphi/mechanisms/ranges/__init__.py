"""Compositions of mechanisms of bounded range."""
