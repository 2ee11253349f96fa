"""Laws in balls: what one law knows of a certificate, one file a law or a family of laws."""
