"""A check loads the files that its certificate needs, as docs/certificate-checker.md says: counted in a process of its own."""

import json
import re
import subprocess
import sys
from typing import Any

import pytest

pytest.importorskip("flint")

import logphi as lp
from repository import ROOT, module_of

DOC = module_of(ROOT / "docs" / "checker_files.py")
TEXT = DOC.PAGE.read_text(encoding="utf-8")
ROWS = DOC.ROW.findall(TEXT)

# verifies each certificate anew, with no file of the checker loaded before
COUNT = """
import json, sys
for text in json.load(sys.stdin):
    for name in [name for name in sys.modules if name.startswith("logphi.checker")]:
        del sys.modules[name]
    import logphi.checker
    assert logphi.checker.verify(text)
    from logphi.checker.needed import loaded
    print(json.dumps(loaded()))
"""


def test_the_page_counts_the_lines() -> None:
    assert DOC.page() == TEXT, "count again: python docs/checker_files.py > page.md && mv page.md docs/certificate-checker.md"


def test_a_check_loads_the_files_that_the_page_names() -> None:
    made = [certificate(*row[:3]) for row in ROWS]
    found = subprocess.run(
        [sys.executable, "-c", COUNT], input=json.dumps(made), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    core = DOC.CORE.findall(TEXT)
    for (expression, _, _, others), line in zip(ROWS, found, strict=True):
        loaded: dict[str, int] = json.loads(line)
        named = [*core, *DOC.NAME.findall(others)]
        assert set(loaded) == set(named), expression
        assert sum(loaded.values()) == DOC.lines(named)


def certificate(expression: str, quantity: str, at: str) -> str:
    asked: Any = {quantity: float(at)}
    text: str = lp.parse(expression).certify(**asked, digits=2).to_json()
    return text


def test_the_files_are_listed_where_they_are_asked_for(tmp_path: Any) -> None:
    path = tmp_path / "certificate.json"
    lp.Laplace(2).certify(epsilon=0.1, digits=4).save(path)
    shown = subprocess.run(
        [sys.executable, "-m", "logphi", "verify", path, "--files"], capture_output=True, text=True, check=True
    ).stdout
    listed = re.findall(r"^  ([a-z_/]+) (\d+)$", shown, re.MULTILINE)
    assert f"by {len(listed)} files of logphi/checker, {DOC.lines(name for name, _ in listed):,} lines:" in shown
    assert [DOC.lines([name]) for name, _ in listed] == [int(size) for _, size in listed]
