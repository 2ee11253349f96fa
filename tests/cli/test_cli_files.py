"""Files that cannot be read or written: what is typed, and one line that a person understands."""

import errno

import pytest

from logphi.cli import main
from logphi.cli.unreadable import explained


@pytest.fixture
def folder(tmp_path, monkeypatch):
    pytest.importorskip("flint", reason="verify needs it")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "certificate.json").write_text("{}")
    (tmp_path / "answers").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["verify", "certifcate.json"], "there is no file 'certifcate.json': did you mean certificate.json?"),
        (["verify", "nosuch.txt"], "there is no file 'nosuch.txt': none like it is in "),
        (["verify", "ansers/certificate.json"], "there is no folder 'ansers' for 'certificate.json': make it first, or"),
        (["verify", "answers"], "'answers' is a folder: give the name of a file in it"),
        (["verify", "certificate.json/1"], "'certificate.json/1' is in no folder: 'certificate.json' is a file"),
        (["report", "PureDP(1)", "--delta", "1e-6", "-o", "there/report.json"], "there is no folder 'there' for 'report.json'"),
        (["report", "PureDP(1)", "--delta", "1e-6", "-o", "answers"], "'answers' is a folder"),
        (["certify", "Gaussian(1)", "--delta", "0.1", "-o", "answers"], "'answers' is a folder"),
        (["sweep", "PureDP(e)", "--delta", "0", "--csv", "answer"], "there is no file 'answer': did you mean answers?"),
        (["sweep", "PureDP(e)", "--delta", "0", "--vary", "e=1", "-o", "answers"], "'answers' is a folder"),
    ],
)
def test_a_file_that_is_not_there_is_told_in_words(typed, said, folder, capsys):
    assert main(typed) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith(f"logphi: {said}")
    assert err.count("\n") == 1
    assert "Errno" not in err


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            PermissionError(errno.EACCES, "Permission denied", "x.json"),
            "'x.json' is closed to this user: change",
        ),
        (OSError(errno.ENOSPC, "No space left on device", "x.json"), "'x.json': No space left on device"),
        (OSError(errno.EIO, "Input/output error"), "Input/output error"),
        (OSError("no descriptor is left"), "no descriptor is left"),
    ],
)
def test_other_errors_of_files_have_no_number(error, said):
    assert explained(error).startswith(said)
