"""Laws in balls: one file for a law or a family of laws."""
