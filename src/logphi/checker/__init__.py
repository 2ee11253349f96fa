"""The checker: whether a certificate's claim follows, told by code that is independent of what made it.

It imports nothing of the library, only the standard library and python-flint, and is meant to be read once from end to end:
``reading`` (the text), ``laws`` (from mechanisms to laws), ``closed``, ``cells``, ``normals`` and ``sampled`` (the laws),
``contour``, ``sums`` and ``twofold`` (ways to delta), ``profile`` (which of them to take), ``verdict`` and ``witness``.
"""

try:
    from logphi.checker.verdict import Verdict, verify, verify_file
except ModuleNotFoundError as missing:
    if missing.name != "flint":
        raise
    raise ModuleNotFoundError("the checker needs python-flint: pip install python-flint") from None

__all__ = ["Verdict", "verify", "verify_file"]
