"""The arithmetics in which one formula is evaluated: doubles with error bounds, balls, mpmath, SymPy.

A formula is written once, as a function of an :class:`~logphi.arith.protocol.Arithmetic` and of numbers in
it. Under :mod:`~logphi.arith.floats` it is vectorised and carries rounding bounds, under
:mod:`~logphi.arith.mp` it has any number of digits, under :mod:`~logphi.arith.balls` any number of digits and
bounds, under :mod:`~logphi.arith.symbolic` it is an expression.
"""
