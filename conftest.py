"""What all tests share: which files wait for `make test-all`, and that Hypothesis looks at no clock."""

from importlib.util import find_spec

from hypothesis import HealthCheck, settings

# What is not installed is not collected: the plug-in for Opacus needs torch, which `make test-all` brings.
OPACUS = ["src/logphi/adapters/opacus", "tests/test_opacus.py", "tests/private_training.py"]

collect_ignore = [] if find_spec("opacus") else OPACUS

# how long an example takes tells how busy the machine is, and nothing else
settings.register_profile("logphi", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("logphi")
