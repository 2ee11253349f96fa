"""From the transform of a law back to its probabilities: integrals and sums, every error of which is bounded.

- ``lines``: along a vertical line, where the transform decays, or over one period, where the law is on a lattice.
- ``smoothing``: along a line, where it does not decay, with a smoothed threshold.
- ``bent``: along a hyperbola, for few sampled normal pairs.
- ``cut``: along the branch cut of a lognormal mean, for random allocations.
- ``atoms``: over the atoms of the sum themselves, where few carry its mass.
- ``pieces``: over the atoms and flat parts of few laws.

``demand`` says how accurate an answer must be, and what a method promises.
"""
