"""What a user installs: a wheel and a source archive that are whole, described, and answer in an empty environment."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest

from repository import ROOT

pytestmark = pytest.mark.slow


def run(*command: str | Path, **options: Any) -> str:
    made: subprocess.CompletedProcess[str] = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, **options
    )
    assert made.returncode == 0, f"{made.stdout}\n{made.stderr}"
    return made.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive, and the wheel that is built from it."""
    pytest.importorskip("build")
    place = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", place, ROOT)
    return place


def test_both_are_whole_and_described(built: Path) -> None:
    (archive,), (wheel,) = built.glob("*.tar.gz"), built.glob("*.whl")
    pytest.importorskip("twine")
    assert "FAILED" not in run(sys.executable, "-m", "twine", "check", "--strict", archive, wheel)
    source = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src/logphi").rglob("*.py")}
    with zipfile.ZipFile(wheel) as opened:
        assert source | {"logphi/py.typed"} <= set(opened.namelist())
        (described,) = (name for name in opened.namelist() if name.endswith("METADATA"))
        about = message_from_bytes(opened.read(described))
    assert about["License-Expression"] == "Apache-2.0"
    assert str(about.get_payload()).startswith("# logphi")
    with tarfile.open(archive) as opened:
        inside = {name.partition("/")[2] for name in opened.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "tests/reference/cases.json", "docs/index.md"} <= inside


def test_the_wheel_answers_in_an_empty_environment(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    # nothing of this environment is seen: no path of Python, no folder with the sources
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "empty")
    programs = tmp_path / "empty" / ("Scripts" if os.name == "nt" else "bin")
    # one command does not repay the compilation of all of SciPy and SymPy
    install = "--python", programs / "python", "install", "--quiet", "--no-compile", wheel
    run(sys.executable, "-m", "pip", *install, env=clean, cwd=tmp_path)
    told = run(
        programs / "logphi",
        "epsilon",
        "14062 * Gaussian(sigma=1.1).poisson(256/60000)",
        "--delta",
        "1e-5",
        env=clean,
        cwd=tmp_path,
    )
    assert told.startswith("epsilon = 2.381596921 at delta = 1e-05")
