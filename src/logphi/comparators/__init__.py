"""The methods of the literature, implemented for comparison."""
