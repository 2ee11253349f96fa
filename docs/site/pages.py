"""Pages as the site shows them: where a page on a code host names a file, the site links to it.

Files of code are pages of their own, beside those that Sphinx makes, which would take a minute for them.
"""

import re
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename

ROOT = Path(__file__).resolve().parents[2]

FENCE = re.compile(r"^(```.*?^```$)", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"(?<!\[)`((?:docs|src|tests|bench)/[\w/.-]+\.(?:md|py|txt))`")
LINKED = re.compile(r"\]\((?:\.\./)*((?:docs|src|tests|bench|notebooks)/[\w/.-]+|(?:CONTRIBUTING|CHANGELOG)\.md)(#[\w-]*)?\)")
# the scheme of links to files of code, of which the site makes addresses
SCHEME = "source:"
# colours of code, in light and in dark
STYLES = ("default", "github-dark")
SOURCE_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{file} - logphi</title>
<link rel="icon" href="{up}_static/icon.svg">
<link rel="stylesheet" href="{up}source/source.css">
</head>
<body>
<p><a href="{up}index.html">logphi</a></p>
<article>
<h1>{file}</h1>
{code}</article>
</body>
</html>
"""
SOURCE_SHEET = """:root { color-scheme: light dark; }
body { margin: 1rem auto; padding: 0 1rem; max-width: 72rem; font-family: sans-serif; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; }
.highlight { overflow-x: auto; padding: 0 1rem; }
.highlight pre { font-size: 0.875rem; line-height: 1.4; }
"""

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
    return f"{SCHEME}{file}"


def link_to(file: str) -> str:
    """A link: to a page by its title, to other files by their names."""
    target = target_of(file)
    return f"[`{file}`]({target})" if target.startswith(SCHEME) else f"[]({target})"


def for_the_site(text: str) -> str:
    """A page with links for the files that it names; the empty last line of a session, which doctest needs, is left out."""

    def linked(prose: str) -> str:
        prose = LINKED.sub(lambda found: f"]({target_of(found[1])}{found[2] or ''})", prose)
        prose = SAME.sub(r"[](\1\2)", prose)
        return NAMED.sub(lambda found: link_to(found[1]), prose)

    parts = FENCE.split(text)
    return "".join(re.sub(r"\n+```$", "\n```", part) if part.startswith("```") else linked(part) for part in parts)


def address_of(link: str, page: str) -> str:
    """Where a page of the site finds the file of code that it links to."""
    file, mark, anchor = link.removeprefix(SCHEME).partition("#")
    return f"{'../' * page.count('/')}source/{file}.html{mark}{anchor}"


def source_page(file: str) -> str:
    """A page that shows one file of the repository, with an anchor for each line."""
    text = (ROOT / file).read_text(encoding="utf-8")
    code = highlight(text, get_lexer_for_filename(file), HtmlFormatter(lineanchors="line"))
    return SOURCE_PAGE.format(file=file, code=code, up="../" * (file.count("/") + 1))


def write_sources(site: Path, texts: list[str]) -> None:
    """Write the pages of code, and their colours in light and in dark, below a site."""
    light, dark = (HtmlFormatter(style=style).get_style_defs(".highlight") for style in STYLES)
    sheet = site / "source" / "source.css"
    sheet.parent.mkdir(parents=True)
    sheet.write_text(f"{SOURCE_SHEET}{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n", encoding="utf-8")
    for file in sources(texts):
        path = site / "source" / f"{file}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source_page(file), encoding="utf-8")


def sources(texts: list[str]) -> list[str]:
    """The files that are shown: the whole library, and what pages link to."""
    named = {found for text in texts for found in re.findall(rf"\]\({SCHEME}([^)#]+)", text)}
    return sorted(named | {path.relative_to(ROOT).as_posix() for path in (ROOT / "src").rglob("*.py")})
