"""Every notebook runs from its first cell to its last, in a kernel of its own."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))

CELL_TIMEOUT = 600  # seconds


def test_there_are_notebooks() -> None:
    assert PATHS, f"no notebook found in {NOTEBOOKS}"


@pytest.mark.slow
@pytest.mark.notebook
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    # The kernel of this environment, whatever the author's was called.
    NotebookClient(
        notebook, timeout=CELL_TIMEOUT, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    ).execute()
