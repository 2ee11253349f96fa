"""What the law of a privacy loss knows: its transform, tails and masses; one file for each family."""
