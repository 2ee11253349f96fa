"""The questions, one file each: definition, theorem, and the side on which the error falls."""
