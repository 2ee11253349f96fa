"""The text of a certificate: what it must hold, and its claims in words."""
