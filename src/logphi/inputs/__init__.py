"""What a user gives: relations between data sets, types of arguments, checks, and suggestions for wrong names."""
