"""The profiles of a rounded-down and of a rounded-up loss ([AFA] Definition 39, Algorithm 2, Theorem 44)."""

from __future__ import annotations

from logphi.bracketing import bisection
from logphi.engine.method import Method
from logphi.engine.routes.route import LocalProfile, Request, Route, by_excess


def on_grid(cells: int = 100_000, reach: float | None = None) -> Route:
    """The route with N = ``cells`` cells on [-S, S], S = ``reach`` in units of the sensitivity, by default all outputs."""

    def prepare(request: Request) -> LocalProfile:
        # SciPy's normal tails would double the time of importing the package
        from logphi.comparators import levy_sums

        return by_excess(request.loss, _METHOD, lambda: levy_sums.prepare(request.loss, request.epsilon, cells, reach).at)

    return Route(_METHOD, prepare, bisection, slow=True)


_METHOD = Method("levy-sums", "losses of normal laws rounded down and up ([AFA] Algorithm 2), to compare with")
LEVY_SUMS = on_grid()
