"""The house keeps its shape: floors, sizes, what an import costs, and which names are public."""

import ast
import inspect
import io
import re
import shutil
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

import grimp
import pytest
from hypothesis import settings

import logphi
from one_of_each import ROWS
from repository import ROOT

PACKAGE = ROOT / "src" / "logphi"
TESTS = ROOT / "tests"

MAX_LINES = 600
# Path below src/logphi -> why it may be longer. It should stay empty.
LONG_FOR_A_REASON: dict[str, str] = {}

# Rooms that know analysis and no privacy, and the words that would tell otherwise; messages are for users, and may use them.
ANALYSIS = ("arith", "bracketing", "comparators", "convex", "grid", "inversion", "laws", "normal", "quadrature")
PRIVACY = {"accountant", "adjacency", "multiplier", "private", "privacy", "sensitivity"}
PRIVACY |= {word + ending for word in ("delta", "epsilon", "mechanism", "record", "release") for ending in ("", "s")}

# A test that looks at the time fails on a busy machine; work is counted instead (tests/shared/effort.py).
CLOCKS = {"time", "timeit", "datetime", "resource"}

# What changes a list, a set or a dictionary.
CHANGES = "add|append|clear|discard|extend|insert|pop|popitem|remove|setdefault|sort|update"

# What a subclass inherits from these is listed once, or is Python's.
PUBLIC_BASES = (logphi.Mechanism, logphi.Bound, object, BaseException, Exception, ValueError)

# What must wait until somebody needs it.
LOADED_LATE = ["sympy", "mpmath", "matplotlib", "scipy.stats", "tqdm"]


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", errors="replace", check=False)


def test_imports_point_to_a_lower_floor() -> None:
    # The script beside this interpreter, not whichever one the PATH happens to know.
    lint_imports = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    assert lint_imports is not None, "import-linter is missing: install the dev group (make test does)"
    result = run(lint_imports, "--no-cache")
    assert result.returncode == 0, f"\n{result.stdout}\n{result.stderr}"


def test_no_file_is_too_long() -> None:
    lengths = {
        path.relative_to(PACKAGE).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in PACKAGE.rglob("*.py")
    }
    assert lengths, f"no source found under {PACKAGE}"
    too_long = {name: n for name, n in lengths.items() if n > MAX_LINES and name not in LONG_FOR_A_REASON}
    assert not too_long, f"more than {MAX_LINES} lines: {too_long}"
    excused_in_vain = {name for name in LONG_FOR_A_REASON if lengths.get(name, 0) <= MAX_LINES}
    assert not excused_in_vain, f"no longer long, take it off the list: {excused_in_vain}"


def test_a_long_file_says_why_it_is_long() -> None:
    silent = set()
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if source.count("\n") > 300 and "longer than others" not in (ast.get_docstring(ast.parse(source)) or ""):
            silent.add(module(path))
    assert silent == set()


def test_no_files_import_one_another() -> None:
    graph = grimp.build_graph("logphi", cache_dir=None)
    behind = {module: graph.find_upstream_modules(module) for module in graph.modules}
    around = {module: {other for other in others if module in behind[other]} for module, others in behind.items()}
    assert {one: others for one, others in around.items() if others} == {}


def module(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def for_developers(path: Path) -> Iterator[tuple[int, str]]:
    """Names, comments and docstrings with their lines; no titles of papers."""
    source = path.read_text(encoding="utf-8")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.NAME, tokenize.COMMENT):
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield getattr(node, "lineno", 1), re.sub(r"\*[^*]{9,99}\*", "", ast.get_docstring(node) or "")


def test_analysis_knows_no_privacy() -> None:
    files = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).with_suffix("").parts[0] in ANALYSIS]
    assert {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in files} == set(ANALYSIS)
    found = {
        f"{module(path)}:{line}": said
        for path in files
        for line, text in for_developers(path)
        if (said := PRIVACY & set(re.findall("[a-z]+", re.sub("(?<=[a-z])(?=[A-Z])", " ", text).lower())))
    }
    assert found == {}


def test_one_place_decides_whether_an_answer_is_what_was_asked_for() -> None:
    """Elsewhere a status only says why a number is infinite, or that it lies in a bracket."""
    decided = re.compile(r"\bStatus\.(MET|WIDE|ESTIMATED|UNRESOLVED)\b")
    deciding = {module(path) for path in PACKAGE.rglob("*.py") if decided.search(path.read_text(encoding="utf-8"))}
    # a bound is met unless it says otherwise, as points are
    assert deciding == {"answers.bound", "answers.status", "engine.answer"}


def test_caches_have_a_bound() -> None:
    unbounded = re.compile(r"@(functools\.)?(cache$|lru_cache($|\(\)|.*None))", re.MULTILINE)
    assert [module(path) for path in PACKAGE.rglob("*.py") if unbounded.search(path.read_text(encoding="utf-8"))] == []


def test_numbers_say_where_they_come_from() -> None:
    """By derivation, by measurement, by choice or from a source: a comment above, or a text below, says which."""
    silent = {}
    for path in PACKAGE.rglob("*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        body = ast.parse("\n".join(lines)).body
        for at, node in enumerate(body):
            if is_number(node):
                below = body[at + 1] if at + 1 < len(body) else None
                own = ast.unparse(below) if isinstance(below, ast.Expr) else comment_above(lines, body, at)
                if not re.search(r"\b(chosen|derived|measured|from)\b", own, re.IGNORECASE):
                    silent[f"{module(path)}:{node.lineno}"] = lines[node.lineno - 1]
    assert silent == {}


def is_number(node: ast.stmt) -> bool:
    """Whether a statement names numbers that are written out: not zero or one, no texts, nothing made of other constants."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None or "VERSION" in ast.unparse(node):
        return False
    names = {one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)}
    values = [one.value for one in ast.walk(node.value) if isinstance(one, ast.Constant)]
    numbers = [one for one in values if isinstance(one, int | float) and not isinstance(one, bool)]
    written_out = names <= {"Fraction", "float", "math", "np", "tuple"} and len(numbers) == len(values)
    return written_out and any(one not in (0, 1) for one in numbers)


def comment_above(lines: list[str], body: list[ast.stmt], at: int) -> str:
    """The comment on a statement, or on those right above it that share one."""
    line = body[at].lineno - 2
    if at and body[at - 1].end_lineno == line + 1:
        return comment_above(lines, body, at - 1)
    start = line
    while start >= 0 and lines[start].startswith("#"):
        start -= 1
    return "\n".join(lines[start + 1 : line + 1])


def test_frozen_values_hold_nothing_that_changes() -> None:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if "frozen" in source else ():
            if isinstance(node, ast.ClassDef) and re.search("frozen(=True|$)", " ".join(map(ast.unparse, node.decorator_list))):
                held = [one for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]
                changeable = [
                    one for one in held if re.match(r"(dict|list|set|Counter|defaultdict)\b", ast.unparse(one.annotation))
                ]
                found |= {(module(path), ast.unparse(one.target)) for one in changeable}
                found |= {(module(path), ast.unparse(one)) for one in ast.walk(node) if changes_its_own(one)}
    assert found == set()


def changes_its_own(node: ast.AST) -> bool:
    """Whether a container that ``self`` holds is changed, as a cache that fills would be."""
    if isinstance(node, ast.Assign):
        return any(isinstance(one, ast.Subscript) and ast.unparse(one.value).startswith("self.") for one in node.targets)
    return isinstance(node, ast.Call) and bool(re.match(rf"self\.\w+\.({CHANGES})\(", ast.unparse(node)))


@lru_cache(maxsize=1000)
def imported(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    whole = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return whole | {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}


def test_no_test_looks_at_a_clock() -> None:
    tests = [*TESTS.rglob("*.py"), *ROOT.glob("conftest.py"), *ROOT.glob("docs/conftest.py")]
    assert {path.name: found for path in tests if (found := imported(path) & CLOCKS)} == {}
    # nor does Hypothesis, which otherwise wants each example to take a fifth of a second
    assert settings().deadline is None


def test_no_test_imports_another() -> None:
    """What they share is in tests/shared; pytest wants their names to differ, whatever the folder."""
    paths = list(TESTS.rglob("*.py"))
    names = [path.stem for path in paths if path.stem.startswith("test_")]
    assert len(set(names)) == len(names)
    found = {path.name: {module.rpartition(".")[2] for module in imported(path)} & set(names) for path in paths}
    assert {name: others for name, others in found.items() if others} == {}


def test_folders_of_tests_are_rooms_of_the_house() -> None:
    rooms = {path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*/__init__.py")}
    folders = {path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")}
    # what concerns one module beside the rooms, or all of them, has no folder
    assert folders - rooms == {".", "docs"}


@pytest.mark.parametrize("module", LOADED_LATE)
def test_import_leaves_the_heavy_modules_alone(module: str) -> None:
    code = f"import sys, logphi; sys.exit({module!r} in sys.modules)"
    result = run(sys.executable, "-c", code)
    assert not result.stderr, result.stderr
    assert result.returncode == 0, f"`import logphi` loads {module}"


def test_the_help_of_the_command_line_leaves_numpy_alone() -> None:
    """NumPy would double its time."""
    code = "import sys; sys.argv = ['logphi', '--help']; sys.modules['numpy'] = None; from logphi.cli import main; main()"
    result = run(sys.executable, "-c", code)
    assert "epsilon" in result.stdout, result.stderr


def test_a_first_answer_loads_what_it_needs() -> None:
    """SciPy's special functions alone would double its time, and so would all mechanisms with all questions."""
    code = "import sys, logphi as lp; (14062 * lp.Gaussian(1.1).poisson(0.004)).epsilon(1e-5); print(*sys.modules)"
    result = run(sys.executable, "-c", code)
    loaded = set(result.stdout.split())
    assert "scipy" not in loaded, result.stderr
    assert {name for name in loaded if name.startswith("logphi.mechanisms.")} == {"logphi.mechanisms.gaussian"}
    assert {name for name in loaded if name.startswith("logphi.questions.")} == {
        "logphi.questions.epsilon",
        "logphi.questions.pointwise",
    }


def test_only_certificates_need_flint() -> None:
    code = """
import sys
sys.modules["flint"] = None
import logphi
needy = []
for name in logphi.__all__:
    try:
        getattr(logphi, name)
    except ImportError as missing:
        assert "pip install python-flint" in str(missing), missing
        needy.append(name)
print(*needy)
"""
    result = run(sys.executable, "-c", code)
    assert result.stdout.split() == ["Certificate", "NotCertifiedError", "verify"], result.stderr


def public_names() -> list[str]:
    """Names of the package and of the rooms that it names, and what a class lists that its public bases do not.

    A mechanism and its parameters are pinned by its row in ``one_of_each``, and not here.
    """
    names = set(dir(logphi))
    for room in (logphi.classical, logphi.plot, logphi.strategies):
        names |= {f"{room.__name__.partition('.')[2]}.{name}" for name in room.__all__}
    for name in dir(logphi):
        kind = getattr(logphi, name)
        if inspect.isclass(kind):
            inherited = {one for base in kind.__mro__[1:] if base in PUBLIC_BASES for one in dir(base)}
            own = {*dir(kind), *(one.name for one in (fields(kind) if is_dataclass(kind) else ()))} - inherited
            names |= {f"{name}.{member}" for member in own if member[0] != "_"}
    rows = {row.func.__name__: (*row.keywords, "adjacency") for row in ROWS}
    return sorted(names - rows.keys() - {f"{name}.{one}" for name, given in rows.items() for one in given})


def test_public_names_are_the_pinned_ones() -> None:
    pinned = (TESTS / "public_api.txt").read_text(encoding="utf-8").split()
    assert public_names() == pinned


def test_version_is_told_once() -> None:
    assert logphi.__version__ == version("logphi")
