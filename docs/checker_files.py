"""Prints docs/certificate-checker.md with the numbers of files and lines of today.

python docs/checker_files.py > page.md && mv page.md docs/certificate-checker.md
"""

import re
from collections.abc import Iterable
from pathlib import Path

PAGE = Path(__file__).with_name("certificate-checker.md")
CHECKER = PAGE.parents[1] / "src" / "logphi" / "checker"
# a row for a file of every check, and one for a certificate: what is claimed of a release, and the other files that it needs
CORE = re.compile(r"^\| `([a-z_/]+)` \| \d+ \|", re.MULTILINE)
ROW = re.compile(r"^\| `([^`]+)`, (\w+) (\S+) \| \d+ \| [\d,]+ \| (.*) \|$", re.MULTILINE)
NAME = re.compile(r"`([a-z_/]+)`")


def lines(files: Iterable[str]) -> int:
    """How many lines some files have together."""
    return sum(len((CHECKER / f"{file}.py").read_text(encoding="utf-8").splitlines()) for file in files)


def counted(files: Iterable[str]) -> str:
    """The numbers in words."""
    return f"{len(set(files))} files and {lines(files):,} lines"


def page() -> str:
    """The page with its numbers counted."""
    text = PAGE.read_text(encoding="utf-8")
    core = CORE.findall(text)
    sampled = next(core + NAME.findall(row[4]) for row in ROW.finditer(text) if "poisson" in row[1] and "Gaussian" in row[1])
    whole = [str(file.relative_to(CHECKER).with_suffix("")) for file in CHECKER.rglob("*.py") if file.stem != "__init__"]

    def row(found: re.Match[str]) -> str:
        files = core + NAME.findall(found[4])
        return f"| `{found[1]}`, {found[2]} {found[3]} | {len(files)} | {lines(files):,} | {found[4]} |"

    text = CORE.sub(lambda found: f"| `{found[1]}` | {lines([found[1]])} |", ROW.sub(row, text))
    for before, files in (
        ("`src/logphi/checker` has ", whole),
        ("a run of DP-SGD, these are ", sampled),
        ("loads these ", core),
    ):
        text = re.sub(rf"{before}\d+ files and [\d,]+ lines", f"{before}{counted(files)}", text)
    return text


if __name__ == "__main__":
    print(page(), end="")
