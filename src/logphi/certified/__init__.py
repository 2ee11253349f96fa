"""Answers in ball arithmetic: balls that enclose the truth, as small as requested, with every error in the radius.

Raises
------
ImportError
    When it is imported without python-flint, which the extra ``certify`` brings.
"""

from importlib.util import find_spec

if find_spec("flint") is None:
    raise ImportError("ball arithmetic needs python-flint, which is not installed: pip install python-flint")
