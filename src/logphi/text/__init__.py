"""How numbers and values are written down: exact numbers, plain data, strict JSON, files written as a whole."""
