"""The ```python blocks of a page run before its ``>>>`` examples, which may use what they define."""

import re

import pytest

# how the site is built: no page, and it needs what only the group `docs` brings
collect_ignore = ["site"]

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(text):
    """The code of a page that is not a session."""
    return [block for block in BLOCK.findall(text) if not block.startswith(">>>")]


@pytest.fixture(autouse=True)
def defined_above(request, doctest_namespace):
    # the namespace is that of all doctests: what a page defines is taken away after it
    before = dict(doctest_namespace)
    if request.path.suffix == ".md":
        for block in blocks(request.path.read_text(encoding="utf-8")):
            exec(compile(block, str(request.path), "exec"), doctest_namespace)
    yield
    doctest_namespace.clear()
    doctest_namespace.update(before)
