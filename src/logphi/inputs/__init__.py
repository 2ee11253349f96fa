"""What a user gives: relations between data sets, types of arguments, their checks, and guesses at what was meant."""
