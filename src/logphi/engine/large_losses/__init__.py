"""Rare large losses among many small ones: which losses are large, and what they add to an excess."""
