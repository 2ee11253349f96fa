"""The picture of the floors is that of the code as it is."""

import subprocess
import sys

from repository import ROOT


def test_the_picture_is_drawn_from_the_code_of_today() -> None:
    # in a process of its own, in which nothing has been loaded or traced
    drawn = subprocess.run(
        [sys.executable, ROOT / "docs" / "architecture_picture.py"], capture_output=True, text=True, check=True
    )
    assert drawn.stdout == (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8"), (
        "draw it again: python docs/architecture_picture.py > docs/architecture.svg"
    )
