"""The parts of a sweep on the command line: axes and tables, families of mechanisms, rows of a file."""
