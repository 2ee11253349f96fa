"""What a code host reads - workflows, forms, the citation - agrees with the package."""

import re
from pathlib import Path

import pytest

import logphi as lp
from repository import ROOT

WORKFLOWS = ROOT / ".github" / "workflows"
READ = [*WORKFLOWS.glob("*.yml"), *(ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")]
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
pytestmark = pytest.mark.skipif(not READ, reason="a source archive has no files for a code host")


def test_the_citation_is_of_this_version() -> None:
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited
    assert cited[1] == lp.__version__
    assert f'\nversion = "{cited[1]}"\n' in PROJECT


def test_the_oldest_python_that_is_supported_is_tested() -> None:
    pythons = re.search(r"python: \[(.*)\]", (WORKFLOWS / "tests.yml").read_text(encoding="utf-8"))
    assert pythons
    assert 'requires-python = ">=' + pythons[1].split(", ")[0].strip('"') + '"' in PROJECT


@pytest.mark.parametrize("path", READ, ids=lambda path: path.stem)
def test_a_host_can_read_it(path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    for job in content.get("jobs", {}).values():
        targets = [step["run"].split()[1] for step in job["steps"] if step.get("run", "").startswith("make ")]
        assert all(f"\n{target}:" in (ROOT / "Makefile").read_text(encoding="utf-8") for target in targets)
    for part in content.get("body", []):
        assert {"type", "attributes"} <= set(part)
