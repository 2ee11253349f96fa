"""The checker: it decides whether the claims of a certificate follow.

It imports the standard library and python-flint, and nothing else of logphi, and is meant to be read from end to end:
``arithmetic`` (numbers with errors, and the budget), ``formulas`` (in one variable), ``text`` (what a certificate must hold),
``laws`` (what a law knows), ``methods`` (for delta), ``allocation`` (random allocation), ``mechanisms`` (from mechanisms
to laws), ``profile`` (which method is taken), ``claims`` (delta against the stated bounds) and ``verdict``.
"""

try:
    from logphi.checker.verdict import Verdict, verify, verify_file
except ModuleNotFoundError as missing:
    if missing.name != "flint":
        raise
    raise ModuleNotFoundError("the checker needs python-flint: pip install python-flint") from None

__all__ = ["Verdict", "verify", "verify_file"]
