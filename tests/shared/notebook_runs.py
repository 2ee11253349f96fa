"""The notebooks, and how they are run where the site looks for what came out."""

import importlib
from pathlib import Path

import pytest

from repository import ROOT

NOTEBOOKS = ROOT / "notebooks"
PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
# about a minute each: not in `make test`, and run by the test of the site, which needs what comes out of them
LONG = {"sommer_meiser_mohammadi_2019", "zhu_dong_wang_2022"}


def run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a notebook in a kernel of its own, and keep it where the site looks for it, so that nobody runs it again."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "site")
    importlib.import_module("notebook_pages").run(path, ROOT / "build" / "notebooks")
