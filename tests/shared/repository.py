"""Where the files of the repository are, and modules from files that no package holds."""

import importlib.util
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def module_of(path: Path) -> Any:
    """The module in a file, by the name of the file."""
    spec: Any = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
