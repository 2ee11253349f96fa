"""What a user holds: mechanisms that compose, are sampled, are asked and are written down.

The operations of a mechanism are done by these files, which are above its own.
"""

from logphi.algebra import batches as batches
from logphi.algebra import runs as runs
from logphi.algebra import sampled as sampled
