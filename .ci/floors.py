"""Constraints that hold every package of pyproject.toml at the oldest release that it allows: ``python .ci/floors.py``."""

import re
from pathlib import Path

ABOUT = Path(__file__).resolve().parents[1] / "pyproject.toml"
# what users install, and no tool of the developers
TABLES = re.search(r"^dependencies = .*?^\[project.scripts\]", ABOUT.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
# opacus brings torch, and has tests of its own with older releases
LEFT_OUT = {"opacus"}

# Matplotlib of that age calls what newer ones deprecate, and a warning is an error here
print("pyparsing<3.3")
if TABLES:
    for name, floor in re.findall(r'"([\w-]+)>=([\d.]+)"', TABLES.group()):
        if name not in LEFT_OUT:
            print(f"{name}=={floor}")
