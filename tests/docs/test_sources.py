"""docs/sources-*.md: no numbered item is left out, every call gives the number beside it, every notebook has the section."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import nbformat
import pytest

from repository import ROOT, module_of

# sources-lt.md is all of [LT], sources-s22-composition.md a part of [S22]
PAGES = sorted((ROOT / "docs").glob("sources-*.md"))

CALL = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\[([^\]]+)\]\(\.\./notebooks/(\w+\.ipynb)\)")
NOTHING = "nothing to compute: "


def series(kind, *numbers):
    return [f"{kind} {number}" for number in numbers]


# the numbered items of each document
ITEMS = {
    "AFA": [
        *series("Definition", 1, 2, 3, 4, 6, 7, 12, 36, 39),
        *series("Lemma", 5, 9, *range(18, 26), 28, 29, 31, 33, 34, 35, 37, 40, 42, 43, *range(45, 49)),
        *series("Theorem", 10, 11, 17, 27, 44),
        *series("Proposition", 8, 13, 30, 38),
        *series("Corollary", 26, 32, 41),
        *series("Example", 14, 15, 16),
        *series("Algorithm", 1, 2),
        *series("Experiment", 1, 2, 3),
        *series("Figure", 1, 2, 3, 4),
        *series("Table", 1, 2, 3, 4),
    ],
    "S22": [
        *series("Theorem", 1, 9, 13, 18, 22, 25, 29, 34, 35, 38),
        *series("Definition", 2, 11, 30, 32),
        *series("Proposition", 3, 7, 14, 16, 19, 41, 42),
        *series("Lemma", 4, 6, 12, 17, 20, 23, 26, 27, 31, 33, 36, 37, 39, 40),
        *series("Corollary", 8, 10, 21, 24),
        *series("Remark", 5, 15, 28),
        *series("Figure", 1, 2),
    ],
    "PLC": [
        *series("Definition", *range(1, 11)),
        *series("Lemma", *range(1, 14)),
        *series("Theorem", *range(1, 7)),
        *series("Corollary", "2.1", "5.1", "5.2"),
        *series("Example", 1, 2),
        *series("Figure", *range(1, 10)),
        *series("Table", 1),
    ],
    "LT": [
        *series("Definition", 2.1, 2.2, 2.3, 3.1, 3.2),
        *series("Remark", 2.1, 2.2, 2.3, 2.5, 2.6, 3.1, 4.1, 4.3),
        *series("Theorem", 2.4, 3.2, 3.3, 3.4, 3.5, 3.6, 4.2, 4.5, 4.6, 5.1),
        *series("Lemma", 4.4, "A.1"),
        *series("Corollary", 4.7),
        *series("Figure", 1, 2, 3, 4),
        *series("Table", 1),
    ],
    "PLD": [
        *series("Definition", 1, 2, 3),
        *series("Observation", 1, 2, 3),
        *series("Proposition", 1),
        *series("Theorem", 1),
        *series("Section", 2.1, 2.2, *(f"3.{k}" for k in range(1, 8)), 4, 5.1, 5.2),
    ],
}


@dataclass(frozen=True)
class Row:
    """One item of a document, as the page has it."""

    page: str
    document: str
    item: str
    answer: str
    number: str
    against: str

    @property
    def kind(self):
        """Such as Theorem or Algorithm."""
        return self.item.split()[0]


def rows():
    found = []
    for path in PAGES:
        cells = [line.strip("| ").split(" | ") for line in path.read_text("utf-8").splitlines() if line.startswith("| ")]
        found += [Row(path.stem, path.stem.split("-")[1].upper(), cell[0], *cell[2:]) for cell in cells[1:]]
    return found


ROWS = rows()


@pytest.fixture(scope="module")
def names():
    module = module_of(ROOT / "docs" / "conftest.py")
    found: dict[str, dict[str, Any]] = {path.stem: {} for path in PAGES}
    for path in PAGES:
        for block in module.blocks(path.read_text(encoding="utf-8")):
            exec(block, found[path.stem])
    return found


@pytest.mark.parametrize("document", ITEMS)
def test_no_item_is_left_out(document):
    there = [row.item.split(",")[0] for row in ROWS if row.document == document]
    assert [item for item in ITEMS[document] if item not in there] == []


def agrees(answer, shown):
    """To the digits that are shown."""
    if shown in ("True", "False", "inf"):
        return str(answer) == shown or float(answer) == float(shown == "True" or shown)
    digits = re.fullmatch(r"-?(\d*)\.?(\d*)(?:e([-+]?\d+))?", shown)
    assert digits, f"{shown!r} is not a number"
    unit = 10.0 ** (int(digits[3] or 0) - len(digits[2]))
    return abs(float(answer) - float(shown)) <= 0.5000001 * unit


@pytest.mark.few(9)
@pytest.mark.parametrize(("page", "kind"), dict.fromkeys((row.page, row.kind) for row in ROWS))
def test_a_call_gives_its_number(page, kind, names):
    for row in ROWS:
        if (row.page, row.kind) == (page, kind) and CALL.search(row.answer):
            (code,) = CALL.findall(row.answer)
            answer = eval(code, names[page])
            assert agrees(answer, row.number), f"{row.item}: {code} is {answer!r}, the page says {row.number}"
            assert row.against, row.item


@lru_cache
def headings(notebook):
    cells = nbformat.read(ROOT / "notebooks" / notebook, as_version=4).cells
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    return [line.lstrip("# ") for text in texts for line in text.splitlines() if line.startswith("#")]


def test_an_item_leads_to_a_call_or_a_notebook_or_says_why_not():
    for row in ROWS:
        links = LINK.findall(row.answer)
        assert links or CALL.search(row.answer) or row.answer.startswith(NOTHING), row
        for text, notebook in links:
            assert text in headings(notebook), f"{notebook} has no section {text!r}"
