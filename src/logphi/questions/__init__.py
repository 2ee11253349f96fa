"""The questions, one file each, with definition, theorem, and the side on which the error falls."""
