"""Answers in ball arithmetic: every error of the whole chain is inside the ball, and the ball is as small as asked.

Needs python-flint (``pip install "logphi[certify]"``).
"""
