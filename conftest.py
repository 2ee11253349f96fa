"""What is not installed is not collected: the plug-in for Opacus needs torch, which `make test-all` brings."""

from importlib.util import find_spec

OPACUS = ["src/logphi/adapters/opacus", "tests/test_opacus.py", "tests/private_training.py"]

collect_ignore = [] if find_spec("opacus") else OPACUS
