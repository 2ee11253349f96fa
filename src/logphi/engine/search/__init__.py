"""The search for the epsilon at which a profile falls to a level."""
