"""What a user holds: mechanisms that compose, are sampled, answer questions and are written down.

The files imported here do the operations of a mechanism; they are above its own file.
"""

from logphi.algebra import batches as batches
from logphi.algebra import runs as runs
from logphi.algebra import sampled as sampled
