"""Numbers and values as they are written: exact numbers, plain data, strict JSON, whole files."""
