"""Laws on the line, given by the logarithms of their Laplace transforms: one file for each law.

``transform`` says what a law must and may tell, ``log_phi`` adds counted laws, and what else may be known of a law stands
beside them. The laws themselves:

- ``normal``: log-ratios of normal densities and of their mixtures.
- ``flat``: uniform, or linear in pieces, once tilted.
- ``atomic``: finitely many atoms, a lattice, the integers.
- ``densities``: other densities, in closed form, truncated, or given by functions.
- ``curves``: whatever is an integral over a curve.
- ``combined``: convex combinations, conditioned laws, samples.
"""
