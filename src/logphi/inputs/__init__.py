"""The arguments of users: relations between data sets, types, checks, and suggestions for wrong names."""
