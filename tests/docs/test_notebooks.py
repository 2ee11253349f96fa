"""Every notebook runs from its first cell to its last, in a kernel of its own; the site shows what came out."""

import importlib
from pathlib import Path

import pytest

from repository import ROOT

NOTEBOOKS = ROOT / "notebooks"
PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
# more than half a minute each, and not in `make test`
LONG = {"sommer_meiser_mohammadi_2019", "zhu_dong_wang_2022"}


def test_there_are_notebooks() -> None:
    assert PATHS, f"no notebook found in {NOTEBOOKS}"
    assert {path.stem for path in PATHS} >= LONG


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[] if path.stem in LONG else pytest.mark.notebook) for path in PATHS],
)
def test_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs" / "site")
    # kept where the site looks for it, so that nobody has to run it again
    importlib.import_module("notebook_pages").run(path, ROOT / "build" / "notebooks")
