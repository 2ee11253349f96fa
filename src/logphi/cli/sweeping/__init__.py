"""What a sweep on the command line consists of: axes and tables, families of mechanisms, rows of a file."""
