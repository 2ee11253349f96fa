"""A check loads the files that its certificate needs, as docs/certificate-checker.md says; they are counted in a process of their own."""

import json
import re
import subprocess
import sys
from typing import Any

import pytest

pytest.importorskip("flint")

import logphi as lp
from repository import ROOT

CHECKER = ROOT / "src" / "logphi" / "checker"
PAGE = (ROOT / "docs" / "certificate-checker.md").read_text(encoding="utf-8")
# the files of every check, with what they say; and of each certificate its number of files and lines, and which others it needs
CORE = re.findall(r"^\| `([a-z_/]+)` \| (\d+) \|", PAGE, re.MULTILINE)
ROWS = re.findall(r"^\| `([^`]+)`, (epsilon|delta|order) (\S+) \| (\d+) \| ([\d,]+) \| (.*) \|$", PAGE, re.MULTILINE)

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


def lines(name: str) -> int:
    return len((CHECKER / f"{name}.py").read_text(encoding="utf-8").splitlines())


def test_the_page_counts_the_lines() -> None:
    files = [file for file in CHECKER.rglob("*.py") if file.name != "__init__.py"]
    whole = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    assert f"{len(files)} files and {whole:,} lines" in PAGE
    assert [(name, int(size)) for name, size in CORE] == [(name, lines(name)) for name, _ in CORE]
    assert f"{len(CORE)} files and {sum(int(size) for _, size in CORE):,} lines" in PAGE


def test_a_check_loads_the_files_that_the_page_names() -> None:
    made = [certificate(expression, quantity, at) for expression, quantity, at, *_ in ROWS]
    found = subprocess.run(
        [sys.executable, "-c", COUNT], input=json.dumps(made), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for (expression, _, _, number, size, others), line in zip(ROWS, found, strict=True):
        loaded: dict[str, int] = json.loads(line)
        named = {name for name, _ in CORE} | set(re.findall(r"`([a-z_/]+)`", others))
        assert set(loaded) == named, (expression, set(loaded) ^ named)
        assert (len(loaded), sum(loaded.values())) == (int(number), int(size.replace(",", ""))), expression


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
    counted = re.search(r"by (\d+) files of logphi/checker, ([\d,]+) lines:", shown)
    assert counted
    listed = re.findall(r"^  ([a-z_/]+) (\d+)$", shown, re.MULTILINE)
    assert len(listed) == int(counted[1])
    assert all(lines(name) == int(size) for name, size in listed)
