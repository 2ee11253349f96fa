"""Mechanisms as users have them: they compose, can be sampled, answer questions, and can be written as text.

The files imported here do the operations of a mechanism; they are above its own file.
"""

from logphi.algebra import batches as batches
from logphi.algebra import runs as runs
from logphi.algebra import sampled as sampled
