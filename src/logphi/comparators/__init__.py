"""The sources' own methods, there to be compared with."""
