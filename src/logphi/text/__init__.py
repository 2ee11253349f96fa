"""How numbers and values are written: exact numbers, plain data, strict JSON, files that are never half written."""
