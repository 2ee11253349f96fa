"""From a question to its bounds: the choice of a route, the orders of the pair, and the status of the answer.

The way from a question about the profile to its answer:

1. ``directions`` has the loss in each order of the pair.
2. ``routes`` compute the profile of a loss as a ``log_probability``; ``method`` names how. For epsilon, ``search`` inverts it.
3. ``answer`` takes the worse order, and decides the status.

Other questions are about tails of the loss (``tail``, ``quantile``), its trade-off function (``supporting_lines``, ``tangent``)
and its moments (``cumulants``, ``log_moment``). Some profiles need no integral: those of so many releases that the loss is its
mean (``concentration``), of one release on a sample (``sampled_profile``) and of a convex combination (``combined_profile``).
Beside the routes, ``ceiling`` has quick upper bounds, ``cancellation`` guesses which digits are lost, ``large_losses`` treats
rare large ones apart, and ``known_order`` compares two losses by their form.
"""
