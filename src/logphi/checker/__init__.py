"""The checker: it decides whether the claim of a certificate follows, with code independent of what issued it.

It imports the standard library and python-flint and nothing of the library, and is meant to be read from end to end:
``work`` (the budget), ``balls`` (numbers with errors), ``reading`` (the text), ``laws`` (from mechanisms to laws), ``law``
(what a law knows), ``composition`` (the law of a sum), ``finite``, ``hulls``, ``uniform``, ``normal``,
``truncated_normal``, ``normal_pair``, ``normal_mixtures``, ``new_partitions``, ``whole_vectors``, ``sparse_vector``,
``selection``, ``choice`` and ``sampled`` (the laws), ``levels``, ``ratios`` and ``allocated`` (random allocation),
``formula``, ``asymptotic``, ``panels``, ``densities`` and ``transform`` (laws given by formulas),
``declared`` (mechanisms known by their Renyi divergences), ``contour``, ``residues``, ``two_releases``
and ``cells`` (ways to delta), ``above`` (laws above a composition), ``profile`` (which way is taken),
``claims`` (delta against the stated bounds), ``words`` and ``verdict``.
"""

try:
    from logphi.checker.verdict import Verdict, verify, verify_file
except ModuleNotFoundError as missing:
    if missing.name != "flint":
        raise
    raise ModuleNotFoundError("the checker needs python-flint: pip install python-flint") from None

__all__ = ["Verdict", "verify", "verify_file"]
