"""Builds the site: puts its sources together in one directory, then lets Sphinx make pages of them; warnings are errors.

python docs/site/build.py [build]      # the site is in build/site, what it is made of in build/site-source
"""

import runpy
import shutil
import sys
from pathlib import Path
from typing import Any

import api
import notebook_pages
from pages import ROOT, for_the_site, write_sources
from search_words import findable
from sphinx.cmd.build import main as sphinx

DOCS = ROOT / "docs"
# the folder of the pictures of the gallery
BELOW = "gallery"
# beside the pages of docs/
WHOLE = ("CHANGELOG.md", "CONTRIBUTING.md")


def slug(title: str) -> str:
    """The anchor of a heading."""
    return title.lower().replace(" ", "-")


def gallery(pictures: Any, notebooks: Any) -> str:
    """The page of all pictures."""
    parts = ["# Gallery\n", "::::{container} pictures thumbnails\n"]
    parts += [f"[![]({BELOW}/{name}) {title}](#{slug(title)})\n" for title, name, _, _ in pictures]
    parts.append("::::\n")
    for title, name, caption, code in pictures:
        parts.append(f"## {title}\n\n{caption}\n\n![{title}]({BELOW}/{name})\n\n```python\n{code.rstrip()}\n```\n")
    parts.append("## From the notebooks\n\nEach picture links to the notebook that draws it, and that checks what it shows.\n")
    for stem, (title, shown) in notebooks.items():
        if not shown:
            continue
        parts.append(f"### {title}\n\n::::{{container}} pictures\n")
        parts += [f"[![{title}](notebooks/{picture})](notebooks/{stem}.md)\n" for picture in shown]
        parts.append("::::\n")
    return "\n".join(parts)


def assemble(source: Path, cache: Path) -> list[str]:
    """Put together what the site is made of; the texts of its pages."""
    source.mkdir(parents=True)
    texts = {path.name.lower(): path.read_text(encoding="utf-8") for path in [*DOCS.glob("*.md"), *map(ROOT.joinpath, WHOLE)]}
    texts = {name: findable(Path(name).stem, for_the_site(text)) for name, text in texts.items()}
    notebooks = notebook_pages.write(source / "notebooks", cache)
    shutil.copytree(DOCS / "benchmarks", source / "benchmarks")
    shutil.copy(DOCS / "architecture.svg", source)
    texts["gallery.md"] = gallery(runpy.run_path(str(DOCS / "gallery.py"))["draw"](source / BELOW), notebooks)
    for name, text in texts.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    api.write(source / "api")
    return [path.read_text(encoding="utf-8") for path in source.rglob("*.md")]


def build(directory: Path, cache: Path) -> int:
    """Build the site below a directory; 0 if all went well."""
    source, site = directory / "site-source", directory / "site"
    for old in (source, site):
        shutil.rmtree(old, ignore_errors=True)
    texts = assemble(source, cache)
    options = ["--fail-on-warning", "--keep-going", "--fresh-env", "--quiet", "--jobs", "2"]
    failed = sphinx([*options, "-c", str(DOCS / "site"), "-d", str(directory / "site-doctrees"), str(source), str(site)])
    write_sources(site, texts)
    return int(failed)


if __name__ == "__main__":
    below = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve()
    failed = build(below, ROOT / "build" / "notebooks")
    print("the site was not built" if failed else f"the site is in {below / 'site' / 'index.html'}")
    sys.exit(failed)
