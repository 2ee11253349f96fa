"""What all tests share: which wait for the whole run, which come first, and that Hypothesis looks at no clock."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent

# The plug-in for Opacus needs torch, which only `make test-all` brings: what is not installed is not collected.
OPACUS = ["src/logphi/adapters/opacus", "tests/adapters/test_opacus.py", "tests/shared/private_training.py"]
WITH_OPACUS = [*OPACUS, "docs/opacus.md"]

collect_ignore = [] if find_spec("opacus") else OPACUS

# how long an example takes tells how busy the machine is, and nothing else
settings.register_profile("logphi", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("logphi")

GOLDEN = (5**0.5 - 1) / 2


# before pytest leaves out what is slow
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what only the whole run takes, and put that first."""
    few: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.path.relative_to(ROOT).as_posix().startswith(tuple(WITH_OPACUS)):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("few") and not item.get_closest_marker("slow"):
            few.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in few.values():
        most = next(mark.args[0] for mark in cases[0].iter_markers("few"))
        # multiples of the golden ratio keep step with no parameter that goes around inside of another
        for place in sorted(range(len(cases)), key=lambda place: place * GOLDEN % 1)[most:]:
            cases[place].add_marker(pytest.mark.slow)
    # what takes longest begins first, so that no worker is left alone with it
    items.sort(key=lambda item: (not item.get_closest_marker("notebook"), not item.get_closest_marker("slow")))
