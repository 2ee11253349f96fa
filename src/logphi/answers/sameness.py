"""Whether two answers are the same in every field, which ``==``, about the unknown numbers, does not say."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from logphi.listed import Listed


class Same(Listed):
    """An answer, or an array of them, that is compared field by field."""

    @abstractmethod
    def _content(self) -> Any:
        """All fields as plain data."""

    def same_as(self, other: object) -> bool:
        """Whether shape and every field are the same, as two runs of one computation give.

        Parameters
        ----------
        other
            Anything.

        Returns
        -------
        bool
            False for another class or shape.

        Examples
        --------
        >>> import logphi as lp
        >>> release = 3 * lp.Gaussian(sigma=2)
        >>> release.delta([0.5, 1]).same_as(release.delta([0.5, 1])), release.renyi(2 + 1j).same_as(release.renyi(2 + 1j))
        (True, True)
        """
        return isinstance(other, Same) and type(self) is type(other) and bool(self._content() == other._content())
