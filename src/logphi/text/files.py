"""Files that are replaced as a whole: they hold the old content or all of the new, even after a power failure."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Replace the content of a file as a whole; an existing one keeps its permissions; an OSError if it cannot be written."""
    if os.path.exists(path) and not os.path.isfile(path):
        # a device or a pipe cannot be replaced, only written to
        Path(path).write_bytes(content)
        return
    target = Path(os.path.realpath(path))
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with part.open("wb") as file:
            if target.exists():
                # before there is any content to protect
                shutil.copymode(target, part)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except OSError as error:
        # the name of the temporary file would mean nothing to users
        raise OSError(error.errno, error.strerror or str(error), os.fspath(path)) from error
    finally:
        part.unlink(missing_ok=True)
