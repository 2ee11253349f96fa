"""The checker: whether a certificate's claim follows, told by code that is independent of what made it.

It imports nothing of the library, only the standard library and python-flint, and is meant to be read once from end to end:
``reading`` (the text), ``laws`` (mechanisms to laws), ``closed``, ``cells``, ``normals`` and ``sampled`` (the laws),
``contour`` and ``sums`` (the two ways to delta), ``profile`` (which of them), ``verdict`` and ``witness``.
"""

from logphi.checker.verdict import Verdict, verify, verify_file

__all__ = ["Verdict", "verify", "verify_file"]
