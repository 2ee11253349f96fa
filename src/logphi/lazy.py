"""Names whose files are loaded when they are first used, each written once: in the imports for type checkers."""

from __future__ import annotations

import sys
from typing import Any


def typed(module: str) -> dict[str, tuple[str, str]]:
    """What a module imports ``if TYPE_CHECKING``, one name a line: each name with its home, and what it is called there.

    The lines are read from the source of the module, as nothing is left of them when it runs.
    """
    spec: Any = sys.modules[module].__spec__
    lines = spec.loader.get_data(spec.origin).decode().splitlines()
    imports = (line.split() for line in lines if line.startswith("    from ") and " as " in line)
    return {own: (home, name) for _, home, _, name, _, own in imports}
