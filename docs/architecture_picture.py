"""Prints docs/architecture.svg: the floors of the package, and the way of one number through them, both taken from the code.

python docs/architecture_picture.py > docs/architecture.svg
"""

import ast
import re
import sys
import textwrap
from html import escape
from pathlib import Path
from types import FrameType
from typing import Any

import logphi as lp

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "logphi"
WIDTH, MARGIN, GAP, LINE = 1120, 16, 8, 15
# one character is about so wide, and so many boxes fit beside each other
CHARACTER, MOST = 6.3, 6
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1d2733 }
.name { font: bold 13px ui-monospace, monospace }
.room { fill: #eef2f6; stroke: #8a99a8 }
.way { fill: #ffe9bf; stroke: #c98a00 }
"""


def floors() -> list[list[str]]:
    """The modules on each floor, from the top down, as the import contract gives them; a long row is broken."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["type"] == "layers")
    modules = [re.findall(r"[a-z]\w*", layer) for layer in layers if "__main__" not in layer]
    return [floor[start : start + MOST] for floor in modules for start in range(0, len(floor), MOST)]


def promise(module: str) -> str:
    """The first line of the docstring of a room or a file."""
    room, file = PACKAGE / module / "__init__.py", PACKAGE / f"{module}.py"
    text = ast.get_docstring(ast.parse((room if room.is_file() else file).read_text(encoding="utf-8")))
    return re.sub(r":\w+:|`", "", (text or "").splitlines()[0])


def inside(module: str) -> str:
    """The rooms of a room."""
    rooms = sorted(path.parent.name for path in (PACKAGE / module).glob("*/__init__.py"))
    return f"Rooms: {', '.join(rooms)}" if rooms else ""


def way_of_a_number() -> set[str]:
    """The modules that run while the README's question is answered."""
    training = 14062 * lp.Gaussian(sigma=1.1).poisson(256 / 60000)
    training.epsilon(1e-5)  # what is loaded on the way is not on the way
    entered: set[str] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("logphi."):
            entered.add(module.split(".")[1])

    sys.setprofile(note)
    try:
        training.epsilon(1e-5)
    finally:
        sys.setprofile(None)
    return entered


def picture() -> str:
    """The SVG: a row for each floor, a box for each room, the rooms of the way in another colour."""
    way, boxes, top = way_of_a_number(), [], MARGIN
    for floor in floors():
        width = (WIDTH - 2 * MARGIN - GAP * (len(floor) - 1)) / len(floor)
        most = int((width - 20) / CHARACTER)
        lines = [textwrap.wrap(promise(module), most) + textwrap.wrap(inside(module), most) for module in floor]
        height = 26 + LINE * max(map(len, lines))
        for place, (module, text) in enumerate(zip(floor, lines, strict=True)):
            left = MARGIN + place * (width + GAP)
            kind = "way" if module in way else "room"
            boxes.append(f'<rect class="{kind}" x="{left:.0f}" y="{top}" width="{width:.0f}" height="{height}" rx="3"/>')
            rows = [f'<text class="name" x="{left + 10:.0f}" y="{top + 17}">{module}</text>']
            rows += [
                f'<text x="{left + 10:.0f}" y="{top + 17 + LINE * (i + 1)}">{escape(row)}</text>' for i, row in enumerate(text)
            ]
            boxes += rows
        top += height + GAP
    size = f'width="{WIDTH}" height="{top + MARGIN - GAP}" viewBox="0 0 {WIDTH} {top + MARGIN - GAP}"'
    title = "<title>The floors of logphi; imports point down; one epsilon passes through the yellow rooms</title>"
    paper = '<rect width="100%" height="100%" fill="white"/>'
    return "\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', title, f"<style>{STYLE}</style>", paper, *boxes, "</svg>"]
    )


if __name__ == "__main__":
    print(picture())
