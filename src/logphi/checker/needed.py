"""What is imported when it is first used: a check loads the files that its certificate needs, and no others."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

_ROOT = "logphi.checker"


def needed(place: str) -> Any:
    """What a name like ``laws.normal:Normal`` stands for: something in a file of this checker."""
    file, _, name = place.partition(":")
    return getattr(import_module(f"{_ROOT}.{file}"), name)


def loaded() -> dict[str, int]:
    """The files of this checker that have been loaded, in the order of their loading, with their numbers of lines."""
    known = {name.removeprefix(f"{_ROOT}."): one for name, one in sys.modules.items() if name.startswith(f"{_ROOT}.")}
    files = {name: Path(str(one.__file__)) for name, one in known.items()}
    return {
        name.replace(".", "/"): len(file.read_text(encoding="utf-8").splitlines())
        for name, file in files.items()
        if file.stem != "__init__"
    }
