"""Transforms that are integrals: sums over nodes, with a bound of every error.

- ``mixtures``: log-ratios of mixtures of normal densities, by the trapezoidal rule.
- ``curves``: losses that are curves over one variable, by Gauss-Legendre sums on panels.
- ``half_lines``: sampled normal pairs, on a half-line shifted into the complex plane.
- ``lognormal``: the mean of lognormal variables.
- ``mellin_barnes``: a mixture of likelihood ratios of which only the transform of the loss is known.
- ``sums``: the exponential sums that all of these need.

Beside them stand ``values``, which all return, and what more than one of them uses.
"""
