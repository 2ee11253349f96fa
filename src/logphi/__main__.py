"""``python -m logphi``: the command line."""

import sys

from logphi.cli import main

if __name__ == "__main__":
    sys.exit(main())
