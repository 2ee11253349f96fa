"""Every notebook runs from its first cell to its last, in a kernel of its own; the site shows what came out."""

import importlib
from pathlib import Path

import pytest

from repository import ROOT

NOTEBOOKS = ROOT / "notebooks"
PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert PATHS, f"no notebook found in {NOTEBOOKS}"


@pytest.mark.slow
@pytest.mark.notebook
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs" / "site")
    # kept where the site looks for it, so that nobody has to run it again
    importlib.import_module("notebook_pages").run(path, ROOT / "build" / "notebooks")
