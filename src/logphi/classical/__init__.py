"""Classical bounds."""
