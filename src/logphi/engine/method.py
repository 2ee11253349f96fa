"""The method by which a number was computed: its name in answers, and what its width means for other methods."""

from __future__ import annotations


class Method(str):
    """A method by which a number is computed: the name that answers show, and what is known of it.

    Parameters
    ----------
    name
        The name.
    reason
        What it does, and for which losses: a line of ``explain``.
    sharp
        Whether its width is that of rounding, on which no slower route improves.
    trivial
        Whether its bounds hold for any pair, so that nothing was computed.
    blunt
        Whether it uses slopes of a profile, or one moment, so that answers from the profile itself are sharper.
    """

    reason: str
    sharp: bool
    trivial: bool
    blunt: bool

    def __new__(cls, name: str, reason: str = "", *, sharp: bool = False, trivial: bool = False, blunt: bool = False) -> Method:
        """The name with what is known of the method."""
        made = super().__new__(cls, name)
        made.reason, made.sharp, made.trivial, made.blunt = reason, sharp, trivial, blunt
        return made


EXACT = Method("exact", "closed forms: few atoms, one release, Gaussians together", sharp=True)
TRIVIAL = Method("trivial", trivial=True)
CHERNOFF = Method("chernoff", blunt=True)


def reason_of(method: str) -> str:
    """What a method of an answer does; nothing where the answer was not computed by one."""
    return method.reason if isinstance(method, Method) else ""
