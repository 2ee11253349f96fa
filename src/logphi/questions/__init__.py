"""The questions, one file each: its definition, its theorem, and the side on which its error falls."""
