"""Notebooks as pages: each is run, and shown with what it printed and drew."""

import base64
import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from pages import ROOT, for_the_site

NOTEBOOKS = ROOT / "notebooks"
CELL_TIMEOUT = 600  # seconds
AT_ONCE = 2
# what Jupyter hides is folded here
FOLDED = "```{{raw}} html\n<details><summary>Set-up</summary>\n```\n\n{code}\n\n```{{raw}} html\n</details>\n```"


def state(path: Path) -> str:
    """A name for the notebook and the library that it is run with."""
    found = hashlib.sha256(path.read_bytes())
    for file in sorted((ROOT / "src").rglob("*.py")):
        found.update(file.read_bytes())
    return found.hexdigest()[:16]


def kept(path: Path, cache: Path) -> Path:
    """Where a cache has the notebook as this library ran it, if it has."""
    return cache / f"{path.stem}-{state(path)}.ipynb"


def run(path: Path, cache: Path) -> Any:
    """The notebook with its outputs, run in a kernel of its own and kept in the cache."""
    notebook = nbformat.read(path, as_version=4)
    # the kernel of this environment, whatever the author's was called
    NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        extra_arguments=["--log-level=ERROR"],
    ).execute()
    cache.mkdir(parents=True, exist_ok=True)
    # whole at once, as the site may be built meanwhile
    part = kept(path, cache).with_suffix(".part")
    nbformat.write(notebook, part)
    part.replace(kept(path, cache))
    return notebook


def executed(path: Path, cache: Path) -> Any:
    """The notebook with its outputs, from the cache if neither it nor the library has changed."""
    found = kept(path, cache)
    return nbformat.read(found, as_version=4) if found.exists() else run(path, cache)


def output(data: Any, name: str, directory: Path) -> str:
    """One output of a cell: a picture if it is one, else its text."""
    for kind, suffix in (("image/svg+xml", "svg"), ("image/png", "png")):
        if kind in data:
            content = data[kind].encode() if suffix == "svg" else base64.b64decode(data[kind])
            (directory / f"{name}.{suffix}").write_bytes(content)
            return f"![what the cell draws]({name}.{suffix})"
    if "text/html" in data:
        return f"```{{raw}} html\n{data['text/html']}\n```"
    return f"```text\n{data['text/plain'].rstrip()}\n```"


def joined(outputs: Any) -> list[Any]:
    """Outputs of a cell: what a kernel printed in several messages is one text."""
    found: list[Any] = []
    for one in outputs:
        if found and one.output_type == found[-1].output_type == "stream" and one.name == found[-1].name:
            found[-1] = nbformat.v4.new_output("stream", name=one.name, text=found[-1].text + one.text)
        else:
            found.append(one)
    return found


def page(notebook: Any, stem: str, directory: Path) -> tuple[str, list[str]]:
    """The page of an executed notebook, and the names of its pictures, which go to a directory."""
    parts: list[str] = []
    pictures: list[str] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(for_the_site(cell.source))
            continue
        code = f"```python\n{cell.source}\n```"
        parts.append(FOLDED.format(code=code) if cell.metadata.get("jupyter", {}).get("source_hidden") else code)
        for one in joined(cell.outputs):
            data = {"text/plain": one.text} if one.output_type == "stream" else one.data
            shown = output(data, f"{stem}-{len(pictures) + 1}", directory)
            parts.append(shown)
            if shown.startswith("!["):
                pictures.append(shown.partition("(")[2].rstrip(")"))
    return "\n\n".join(parts) + "\n", pictures


def write(directory: Path, cache: Path) -> dict[str, tuple[str, list[str]]]:
    """Run all notebooks and write their pages and pictures; the title and pictures of each."""
    directory.mkdir(parents=True)
    paths = sorted(NOTEBOOKS.glob("*.ipynb"))
    with ThreadPoolExecutor(AT_ONCE) as workers:
        notebooks = list(workers.map(lambda path: executed(path, cache), paths))
    found = {}
    for path, notebook in zip(paths, notebooks, strict=True):
        text, pictures = page(notebook, path.stem, directory)
        (directory / f"{path.stem}.md").write_text(text, encoding="utf-8")
        found[path.stem] = text.splitlines()[0].removeprefix("# "), pictures
    listed = "\n".join(found)
    (directory / "index.md").write_text(
        "# Notebooks\n\nShort ones on one question each, and one for each paper, which draws its figures and checks its\n"
        "claims. All are run when this site is built, and by the tests.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n",
        encoding="utf-8",
    )
    return found
