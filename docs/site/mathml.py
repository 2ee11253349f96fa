"""Formulas as MathML, which browsers draw by themselves: nothing is fetched and nothing runs when a page is read."""

import re

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

# about as many characters as fit on a line of a telephone
SHORT = 28

# what the converter leaves to guesses: fences and slashes without space, infinity as a name, space after a function
SPACING = [
    (r"<mo>&#x0221E;</mo>", "<mi>&#x0221E;</mi>"),
    (r"<mo>&#x0002F;</mo>", '<mo lspace="0" rspace="0">&#x0002F;</mo>'),
    (r'<mo stretchy="false">&#x0007C;</mo>', '<mo stretchy="false" lspace="0" rspace="0">&#x0007C;</mo>'),
    (r"(<mi>(?:log|exp|cosh|sinh|tanh)</mi>)(?=<m(?:i|n|frac|sup)\b)", r'\1<mspace width="0.17em"/>'),
    # a minus after an opening fence, a comma or a relation is a sign
    (
        r"(&#x(?:00028|0005B|0002C|0003D|02264|02265|0003C|0003E);</m[oi]>)<mo>&#x02212;</mo>",
        r'\1<mo form="prefix">&#x02212;</mo>',
    ),
]


def mathml(text: str, display: str) -> str:
    """A formula."""
    found: str = convert(text, display=display)
    for pattern, replacement in SPACING:
        found = re.sub(pattern, replacement, found)
    return found


def _inline(translator, node):
    text = node.astext()
    # what is written without commands and braces is about what is seen
    seen = len(re.sub(r"\\[a-zA-Z]+", "x", text).replace("{", "").replace("}", ""))
    kind = "formula" if seen <= SHORT else "formula long"
    translator.body.append(f'<span class="{kind}">{mathml(text, "inline")}</span>')
    raise SkipNode


def _block(translator, node):
    translator.body.append(f'<div class="formula">{mathml(node.astext(), "block")}</div>')
    raise SkipNode


def setup(app):
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
