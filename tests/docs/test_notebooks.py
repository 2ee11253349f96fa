"""Every notebook runs from its first cell to its last, in a kernel of its own; the site shows what came out."""

from pathlib import Path

import nbformat
import pytest

from notebook_runs import LONG, NOTEBOOKS, PATHS, run


def test_there_are_notebooks() -> None:
    assert PATHS, f"no notebook found in {NOTEBOOKS}"
    assert {path.stem for path in PATHS} >= LONG


# chosen: what a reader sees without scrolling
SCREEN = 45


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_result_is_on_the_first_screen(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    seen = [cell for cell in cells if not cell.metadata.get("jupyter", {}).get("source_hidden")]
    first = next(place for place, cell in enumerate(seen) if cell.cell_type == "code")
    assert "print(" in seen[first].source
    assert sum(len(cell.source.splitlines()) for cell in seen[: first + 1]) <= SCREEN
    # what it needs is folded
    assert "import " not in seen[first].source


@pytest.mark.slow
@pytest.mark.notebook
@pytest.mark.parametrize("path", [path for path in PATHS if path.stem not in LONG], ids=lambda path: path.stem)
def test_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(path, monkeypatch)
