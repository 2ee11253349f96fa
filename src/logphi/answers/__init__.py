"""What every question is answered with: numbers with two proved ends, arrays of them, and how they are shown."""
