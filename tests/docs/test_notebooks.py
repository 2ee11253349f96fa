"""Every notebook runs from its first cell to its last, in a kernel of its own; the site shows what came out."""

from pathlib import Path

import pytest

from notebook_runs import LONG, NOTEBOOKS, PATHS, run


def test_there_are_notebooks() -> None:
    assert PATHS, f"no notebook found in {NOTEBOOKS}"
    assert {path.stem for path in PATHS} >= LONG


@pytest.mark.slow
@pytest.mark.notebook
@pytest.mark.parametrize("path", [path for path in PATHS if path.stem not in LONG], ids=lambda path: path.stem)
def test_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(path, monkeypatch)
