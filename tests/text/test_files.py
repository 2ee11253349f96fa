"""Files are whole or not there."""

import errno
import os
import stat

import pytest

from logphi.text.files import write_whole


def test_what_is_there_is_replaced_and_keeps_its_permissions(tmp_path):
    path = tmp_path / "ledger"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_one(tmp_path):
    path, link = tmp_path / "ledger", tmp_path / "link"
    path.write_bytes(b"old")
    link.symlink_to(path)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"


def test_what_fails_leaves_the_old_content_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "ledger"
    path.write_bytes(b"old")

    def full(_):
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_refusal_names_the_file_that_was_asked_for(tmp_path):
    path = tmp_path / "missing" / "ledger"
    with pytest.raises(FileNotFoundError) as refused:
        write_whole(path, b"new")
    assert refused.value.filename == str(path)
    assert str(refused.value).endswith(f"{str(path)!r}")


def test_what_others_must_not_read_they_cannot_read_while_it_is_written(tmp_path, monkeypatch):
    path = tmp_path / "ledger"
    path.write_bytes(b"old")
    path.chmod(0o600)
    modes = []
    monkeypatch.setattr(os, "fsync", lambda file: modes.append(stat.S_IMODE(os.fstat(file).st_mode)))
    write_whole(path, b"new")
    assert modes == [0o600]


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="an open file has a name there")
def test_what_is_no_file_is_written_to():
    reader, writer = os.pipe()
    write_whole(f"/proc/self/fd/{writer}", b"new")
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        assert pipe.read() == b"new"
