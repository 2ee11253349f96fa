"""Answers: a number between two proved ends, arrays of such numbers, and how they are displayed."""
