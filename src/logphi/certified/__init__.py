"""Answers in ball arithmetic: every error of the whole chain is inside the ball, and the ball is as small as asked.

Raises
------
ImportError
    When it is imported without python-flint, which the extra ``certify`` brings.
"""

from importlib.util import find_spec

if find_spec("flint") is None:
    raise ImportError("ball arithmetic needs python-flint, which is not installed: pip install python-flint")
