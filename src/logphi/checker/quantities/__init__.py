"""Claims about other quantities than epsilon and delta."""
