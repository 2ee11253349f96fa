"""Pages as the site shows them: where a page on a code host names a file, the site links to it."""

import re
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename

ROOT = Path(__file__).resolve().parents[2]

FENCE = re.compile(r"^(```.*?^```$)", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"(?<!\[)`((?:docs|src|tests|bench)/[\w/.-]+\.(?:md|py|txt))`")
LINKED = re.compile(r"\]\((?:\.\./)*((?:docs|src|tests|bench|notebooks)/[\w/.-]+|(?:CONTRIBUTING|CHANGELOG)\.md)(#[\w-]*)?\)")
# a link whose text is the file itself
SAME = re.compile(r"\[`?(?:docs/)?([\w-]+\.md)`?\]\(\1(#[\w-]*)?\)")


def target_of(file: str) -> str:
    """The page that shows a file of the repository."""
    path = Path(file)
    if not (ROOT / path).is_file():
        raise FileNotFoundError(f"{file} is named by a page and is not there")
    if path.parts[0] == "docs" and path.suffix == ".md":
        return f"/{path.name}"
    if path.parts[0] == "notebooks":
        return f"/notebooks/{path.stem}.md"
    if path.parent == Path():
        return f"/{path.name.lower()}"
    return f"/source/{file}.md"


def link_to(file: str) -> str:
    """A link: to a page by its title, to other files by their names."""
    target = target_of(file)
    return f"[`{file}`]({target})" if target.startswith("/source/") else f"[]({target})"


def for_the_site(text: str) -> str:
    """A page with links for the files that it names; the empty last line of a session, which doctest needs, is left out."""

    def linked(prose: str) -> str:
        prose = LINKED.sub(lambda found: f"]({target_of(found[1])}{found[2] or ''})", prose)
        prose = SAME.sub(r"[](\1\2)", prose)
        return NAMED.sub(lambda found: link_to(found[1]), prose)

    parts = FENCE.split(text)
    return "".join(re.sub(r"\n+```$", "\n```", part) if part.startswith("```") else linked(part) for part in parts)


def source_page(file: str) -> str:
    """A page that shows one file of the repository, with an anchor for each line; no search looks into it."""
    text = (ROOT / file).read_text(encoding="utf-8")
    code = highlight(text, get_lexer_for_filename(file), HtmlFormatter(lineanchors="line"))
    return f"---\norphan: true\nnosearch: true\n---\n# {file}\n\n````````{{raw}} html\n{code}````````\n"


def sources(texts: list[str]) -> list[str]:
    """The files that are shown: the whole library, and what pages link to."""
    named = {found for text in texts for found in re.findall(r"\]\(/source/(.*?)\.md\)", text)}
    return sorted(named | {path.relative_to(ROOT).as_posix() for path in (ROOT / "src").rglob("*.py")})
