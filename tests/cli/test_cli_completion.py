"""Shell completion: what Tab offers, and that the scripts are what their shells can read."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from logphi.cli import main
from logphi.engine.routes.registry import ROUTES
from logphi.mechanisms.catalogue import CATALOGUE

SHELLS = ("bash", "zsh", "fish")


def offered(capsys, *words, shell="bash"):
    assert main(["completion", shell, "words", *words]) == 0
    out, err = capsys.readouterr()
    assert not err
    return out.splitlines()


def script(capsys, shell):
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


def test_commands(capsys):
    assert offered(capsys, "com") == ["compare", "completion"]
    assert {"epsilon", "sweep", "dp-sgd", "--version", "--help"} <= set(offered(capsys, ""))


def test_options_that_are_not_given_yet(capsys):
    assert offered(capsys, "epsilon", "Gaussian(1)", "--d") == ["--delta", "--direction"]
    assert offered(capsys, "epsilon", "Gaussian(1)", "--delta", "1e-5", "--d") == ["--direction"]
    assert offered(capsys, "sweep", "n*Gaussian(1)", "--vary", "n=1,2", "--va") == ["--vary"]
    assert "--method" in offered(capsys, "epsilon", "Gaussian(1)", "")


def test_values(capsys):
    assert offered(capsys, "delta", "x", "--direction", "") == ["add", "remove"]
    assert set(offered(capsys, "delta", "x", "--method", "")) == {*ROUTES, "certified"}
    assert offered(capsys, "dp-sgd", "--sampler", "w") == ["without_replacement"]
    assert offered(capsys, "dp-sgd", "--adjacency", "add_") == ["add_remove"]
    assert offered(capsys, "completion", "") == list(SHELLS)


@pytest.mark.slow
def test_every_value_that_is_offered_is_taken(capsys):
    for method in offered(capsys, "delta", "x", "--method", ""):
        main(["delta", "Gaussian(1)", "--epsilon", "1", "--method", method])
        assert "must be one of" not in capsys.readouterr().err


def test_names_inside_an_expression(capsys):
    assert offered(capsys, "epsilon", "") == list(CATALOGUE)
    gaussians = [name for name in CATALOGUE if name.startswith("Gaussian")]
    # the quote that is still open stays the shell's
    assert offered(capsys, "epsilon", '"10 * Gau') == [f"10 * {name}" for name in gaussians]
    assert offered(capsys, "epsilon", "'Laplace(2) + Randomi") == ["Laplace(2) + RandomizedResponse"]
    assert offered(capsys, "epsilon", "10 * Gaussian(1).poi") == ["10 * Gaussian(1).poisson"]
    assert offered(capsys, "epsilon", "--delta", "1e-5", "Discrete") == ["Discrete", "DiscreteGaussian", "DiscreteLaplace"]


@pytest.mark.parametrize(
    "words", [["verify", ""], ["nonsense", ""], ["epsilon", "x", "--delta", ""], ["sweep", "x", "--csv", "par"], ["--", "--"]]
)
def test_where_nothing_can_be_listed_files_are_left_to_the_shell(words, capsys):
    assert offered(capsys, *words) == []


def test_shells_that_show_descriptions_get_them(capsys):
    assert offered(capsys, "renyi", shell="zsh") == ["renyi:the Renyi divergence at each order"]
    assert offered(capsys, "renyi", shell="fish") == ["renyi\tthe Renyi divergence at each order"]


def test_a_shell_that_is_not_known_is_refused(capsys):
    assert main(["completion", "tcsh"]) == 2
    assert "invalid choice: 'tcsh'" in capsys.readouterr().err


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_what_its_shell_can_read(shell, capsys, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "script"
    path.write_text(script(capsys, shell))
    assert subprocess.run([shell, "-n", str(path)], capture_output=True, text=True, check=False).stderr == ""


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "offers"),
    [
        ("logphi trad", ["tradeoff"]),
        ("logphi delta x --direction ''", ["add", "remove"]),
        ("logphi delta x --direction re", ["remove"]),
        ("logphi epsilon '\"2 * Lap'", ["2 * Laplace"]),
    ],
)
def test_bash_fills_in_what_logphi_offers(words, offers, capsys, tmp_path):
    """As bash calls it: the words in COMP_WORDS, the answer in COMPREPLY."""
    (tmp_path / "logphi").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m logphi "$@"\n')
    (tmp_path / "logphi").chmod(0o755)
    line = f'COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); _logphi; printf "%s\\n" "${{COMPREPLY[@]}}"'
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    command = ["bash", "--norc", "-c", f"{script(capsys, 'bash')}\n{line}"]
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=Path(__file__).parent)
    assert found.stderr == ""
    assert found.stdout.splitlines() == offers
