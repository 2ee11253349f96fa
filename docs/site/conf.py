"""How Sphinx builds the site, when `build.py` has put its sources together."""

import enum
import inspect
import re
from functools import reduce
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from api import MISSING
from docutils import nodes
from pages import ROOT, SCHEME, STYLES, address_of
from sphinx.util.inspect import stringify_signature

import logphi

HERE = Path(__file__).resolve().parent

project = "logphi"
version = release = logphi.__version__
author = copyright = "The logphi contributors"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.linkcode", "sphinx_copybutton", "mathml"]
nitpicky = True

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4  # deep enough for every link to a heading
myst_url_schemes = ("http", "https", "mailto", SCHEME.rstrip(":"))

autodoc_typehints_format = "short"
autodoc_mock_imports = MISSING
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]  # a line may name several
napoleon_attr_annotations = False  # the signature says it

# what is copied from a session is what was typed
copybutton_prompt_text, copybutton_prompt_is_regexp = r">>> |\.\.\. |\$ ", True
copybutton_only_copy_prompt_lines = True

html_theme = "furo"
html_title = "logphi"
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
html_favicon = str(HERE / "static" / "icon.svg")
html_copy_source = False
html_show_sphinx = False
pygments_style, pygments_dark_style = STYLES

# what the fields of a mechanism hold, by the names of their types
HELD = {
    "RealOrNone": "float | None",
    "WholeOrNone": "int | None",
    "RelationOrNone": "Adjacency | str | None",
    "RealLike": "float",
    "Reals": "Sequence[float]",
    "Real": "float",
    "Whole": "int",
    "Interval": "tuple[float, float]",
    "Relation": "Adjacency | str",
    "AdjacencyLike": "Adjacency | str",
    "DirectionLike": "Direction | str",
    "Scalar": "float",
    "Mechanisms": "Sequence[Mechanism]",
    "<factory>": "Ledger()",
}
NAMED = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in HELD))


def linkcode_resolve(domain, info):
    """Where the site shows the source of an object; Sphinx asks for all that the API reference describes."""
    # an attribute: a function of the package, not the file of the same name
    one = reduce(getattr, info["fullname"].split("."), resolve_name(info["module"]))
    code: Any = one.fget if isinstance(one, property) else getattr(one, "func", one)
    one = inspect.unwrap(code)
    try:
        file, (_, line) = Path(inspect.getsourcefile(one) or ""), inspect.getsourcelines(one)
    except (TypeError, OSError):
        return None
    if not file.is_relative_to(ROOT):
        return None
    return f"../source/{file.relative_to(ROOT).as_posix()}.html#line-{line}"


def public_or_plain(app, environment, node, content):
    """A public name is that of the package root; a type without a page is plain text, but not what prose refers to."""
    if node.get("refdomain") != "py":
        return None
    name = node["reftarget"].rpartition(".")[2]
    if name in dir(logphi):
        python = environment.get_domain("py")
        return python.resolve_xref(environment, node["refdoc"], app.builder, "obj", f"logphi.{name}", node, content)
    return None if isinstance(content, nodes.literal) else content


def bars_as_bars(app, what, name, one, options, lines):
    """Absolute values are no substitutions, and what stands before a colon in a property's first line is no type."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith(">>>"):
            lines[number] = "".join(
                part if part.startswith("``") else part.replace("|", r"\|") for part in re.split(r"(``.*?``)", line)
            )
    if what in ("attribute", "property"):
        lines[:0] = ["..", ""]  # a comment, so that napoleon finds no colon


def questions_once(app, what, name, one, options, lines):
    """The list of questions with which every mechanism ends is read with `Mechanism` alone."""
    if what == "class" and issubclass(one, logphi.Mechanism) and one is not logphi.Mechanism and "Notes" in lines:
        del lines[lines.index("Notes") :]


def parameters(app, what, name, one, options, signature, returns):
    """The parameters of a class, of which its `__new__` tells nothing, with types that everybody knows."""
    if what != "class" or issubclass(one, enum.Enum | BaseException):
        return None
    found = stringify_signature(inspect.signature(one), unqualified_typehints=True, show_return_annotation=False)
    return NAMED.sub(lambda match: HELD[match[0]], found), ""


def to_the_sources(app, doctree, page):
    """Links to files of code, as addresses from the page."""
    for link in doctree.findall(nodes.reference):
        if link.get("refuri", "").startswith(SCHEME):
            link["refuri"] = address_of(link["refuri"], page)


def setup(app):
    """Called by Sphinx."""
    app.connect("doctree-resolved", to_the_sources)
    app.connect("autodoc-process-signature", parameters)
    app.connect("autodoc-process-docstring", questions_once, priority=300)
    app.connect("autodoc-process-docstring", bars_as_bars, priority=400)  # before napoleon
    app.connect("missing-reference", public_or_plain)
