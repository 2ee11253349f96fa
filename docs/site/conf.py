"""How Sphinx builds the site, when `build.py` has put its sources together."""

import inspect
import re
from functools import reduce
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from api import MISSING
from docutils import nodes
from pages import ROOT

import logphi

HERE = Path(__file__).resolve().parent

project = "logphi"
version = release = logphi.__version__
author = copyright = "The logphi contributors"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.linkcode", "sphinx_copybutton", "mathml"]
nitpicky = True

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4  # deep enough for every link to a heading

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
pygments_style = "default"
pygments_dark_style = "github-dark"

SIDEBARS: dict[int, str] = {}


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


def one_sidebar(app, page, template, context, doctree):
    """The pages of the sources are in no toctree: those in folders of one depth have the same sidebar, which is made once."""
    if not page.startswith("source/"):
        return
    make, depth = context["toctree"], page.count("/")

    def known(**options):
        if depth not in SIDEBARS:
            SIDEBARS[depth] = make(**options)
        return SIDEBARS[depth]

    context["toctree"] = known


def setup(app):
    """Called by Sphinx."""
    app.connect("html-page-context", one_sidebar, priority=400)  # before the theme
    app.connect("autodoc-process-docstring", bars_as_bars, priority=400)  # before napoleon
    app.connect("missing-reference", public_or_plain)
