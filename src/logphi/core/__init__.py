"""The language of privacy loss: log-phi, pairs, relations between data sets."""
