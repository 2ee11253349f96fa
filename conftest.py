"""What all tests share: which wait for the whole run, which come first, and that Hypothesis looks at no clock."""

import gc
from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from shown import Shown

ROOT = Path(__file__).resolve().parent

# The plug-in for Opacus needs torch, which only `make test-all` brings. All of this is slow.
WITH_OPACUS = (
    "src/logphi/adapters/opacus",
    "tests/adapters/test_opacus.py",
    "tests/shared/private_training.py",
    "docs/opacus.md",
)

# how long an example takes tells how busy the machine is, and nothing else
settings.register_profile("logphi", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("logphi")

# Files that take half a minute or more of a processor, by what was measured, the longest first. A worker takes all tests
# of a file, and whoever begins a long one last is waited for.
LONGEST = (
    "tests/testing/test_conformance.py",
    "tests/docs/test_site.py",
    "tests/docs/test_docs.py",
    "tests/test_comparison.py",
    "tests/checker/test_checker.py",
    "tests/test_rows_and_answers.py",
    "tests/certified/test_certificates_of_cases.py",
    "tests/questions/test_phi.py",
    "tests/checker/mechanisms/test_checker_above.py",
    "tests/checker/test_checker_forged.py",
    "tests/questions/test_loss.py",
    "tests/engine/large_losses/test_clipping.py",
    "tests/checker/mechanisms/test_checker_selection.py",
    "tests/certified/test_certified_claims.py",
    "tests/comparators/test_levy.py",
    "tests/pairs/test_allocated.py",
    "tests/classical/test_classical_on_its_side.py",
    "tests/checker/methods/test_checker_cells.py",
    "tests/certified/test_certified.py",
    "tests/checker/methods/test_checker_declared.py",
)
PLACE = {path: place for place, path in enumerate(LONGEST)}

# The last line of a page whose examples take seconds; what they show is tested elsewhere, too.
SLOW_PAGE = "<!-- its examples are slow tests -->"

GOLDEN = (5**0.5 - 1) / 2


def needs_opacus(path: Path) -> bool:
    """Whether a file belongs to the plug-in for Opacus or to its tests."""
    return path.is_relative_to(ROOT) and path.relative_to(ROOT).as_posix().startswith(WITH_OPACUS)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the plug-in alone where Opacus is not installed, and where it is slow to import for nothing."""
    idle = "not slow" in config.getoption("markexpr") or find_spec("opacus") is None
    return True if idle and needs_opacus(collection_path) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector: what is read now stays to the end, and searching it takes seconds."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


# before pytest leaves out what is slow
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what only the whole run takes, and put that first; compare what doctests print as all pages are."""
    few: dict[str, list[pytest.Item]] = {}
    for item in items:
        if isinstance(item, pytest.DoctestItem):
            # pytest takes no checker of others
            item.runner._checker = Shown()  # type: ignore[attr-defined]
        if needs_opacus(item.path) or (item.path.suffix == ".md" and SLOW_PAGE in item.path.read_text(encoding="utf-8")):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("few") and not item.get_closest_marker("slow"):
            few.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in few.values():
        most = next(mark.args[0] for mark in cases[0].iter_markers("few"))
        # multiples of the golden ratio keep step with no parameter that goes around inside of another
        for place in sorted(range(len(cases)), key=lambda place: place * GOLDEN % 1)[most:]:
            cases[place].add_marker(pytest.mark.slow)
    # what takes longest begins first, so that no worker is left alone with it
    items.sort(
        key=lambda item: (
            not item.get_closest_marker("notebook"),
            not item.get_closest_marker("slow"),
            PLACE.get(item.path.relative_to(ROOT).as_posix(), len(LONGEST)),
        )
    )
