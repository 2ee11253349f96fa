"""Errors of the operating system as sentences: the name of the file, what is wrong, and what to do."""

from __future__ import annotations

import os


def explained(error: OSError) -> str:
    """An error in one line, without its number."""
    if not isinstance(error.filename, str):
        return error.strerror or str(error)
    name = error.filename
    folder = os.path.dirname(name) or os.curdir
    if isinstance(error, FileNotFoundError):
        from logphi.inputs.guesses import nearest

        if not os.path.isdir(folder):
            return f"there is no folder {folder!r} for {os.path.basename(name)!r}: make it first, or correct the path"
        meant = nearest(os.path.basename(name), os.listdir(folder)) or f"none like it is in {os.path.abspath(folder)!r}"
        return f"there is no file {name!r}: {meant}"
    if isinstance(error, IsADirectoryError):
        return f"{name!r} is a folder: give the name of a file in it"
    if isinstance(error, NotADirectoryError):
        return f"{name!r} is in no folder: {folder!r} is a file"
    if isinstance(error, PermissionError):
        return f"{name!r} is closed to this user: change its permissions or those of its folder, or choose another file"
    return f"{name!r}: {error.strerror}"
