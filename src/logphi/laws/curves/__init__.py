"""Laws whose transform is an integral over a curve."""
