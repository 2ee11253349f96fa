"""Answers: numbers with two proved ends, arrays of them, and how they are shown."""
