"""Cases of a parametrized test that are left to the whole run."""

from typing import Any

import pytest


def slowly(*cases: Any) -> list[Any]:
    """Each case, or tuple of arguments, marked as slow."""
    return [pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow) for case in cases]
