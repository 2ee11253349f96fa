"""The pairs, one file for each family of output laws."""
