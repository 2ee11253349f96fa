"""The pages of docs/ say what is so; their examples are doctests, here is what only a test can compare."""

import doctest
import re
import shlex
from importlib.metadata import metadata
from itertools import pairwise
from typing import Any

import mpmath
import pytest
from mpmath import exp, floor, mpf

import logphi as lp
from cases import COARSE, SHARP
from exact import contains, dec
from logphi import testing
from logphi.algebra.asking import Questions
from logphi.cli import main
from logphi.engine.routes.registry import ROUTES
from logphi.extend import Cells, FinitePair, Primitive
from logphi.laws.combined.sampled_loss import SampledLoss
from logphi.mechanisms.catalogue import CATALOGUE, PYTHON_ONLY
from repository import ROOT, module_of
from shown import Shown, same
from some import some

DOCS = ROOT / "docs"
README = DOCS.parent / "README.md"
PAGES = sorted([*DOCS.glob("*.md"), README])
CONFTEST = module_of(DOCS / "conftest.py")
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def defined_in(page):
    names: dict[str, Any] = {}
    for block in CONFTEST.blocks((DOCS / page).read_text(encoding="utf-8")):
        exec(block, names)
    return names


STAIRCASE = defined_in("add-a-mechanism.md")


def staircase_profile(level, gamma, epsilon):
    """The integral of (f(x - 1) - e^epsilon f(x))_+ over the steps of both densities, unit by unit."""
    level, gamma, factor = dec(level), dec(gamma), exp(dec(epsilon))
    b = exp(-level)
    top = (1 - b) / (2 * (gamma + b * (1 - gamma)))

    def density(x):
        size = abs(x)
        return top * b ** (floor(size) + (1 if size - floor(size) >= gamma else 0))

    total, reach = mpf(0), int(60 / level) + 3
    for unit in range(-reach, reach):
        edges = sorted({mpf(0), gamma, 1 - gamma, mpf(1)})
        for low, high in pairwise(edges):
            middle = unit + (low + high) / 2
            total += (high - low) * max(density(middle - 1) - factor * density(middle), 0)
    return total


@pytest.mark.few(3)
@pytest.mark.parametrize(("level", "gamma"), [(1.0, 0.3), (0.2, 0.9), (3.0, 0.05), (2.5, 0.6)])
@pytest.mark.parametrize("epsilon", [-1.7, -0.1, 0.0, 0.15, 0.9, 2.2])
def test_the_staircase_is_the_integral_of_its_densities(level, gamma, epsilon):
    one = STAIRCASE["Staircase"](level=level, gamma=gamma)
    with mpmath.workdps(25):
        exact = staircase_profile(level, gamma, epsilon)
        for direction in ("remove", "add"):
            bound = one.delta(epsilon, direction=direction)
            assert contains(bound, exact)
            assert bound.width <= SHARP * bound.value
        # the short way has other probabilities, by rounding
        short = STAIRCASE["staircase"](level, gamma).delta(epsilon)
        assert float(short.value) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.slow
def test_the_staircase_conforms_like_one_of_the_catalogue():
    staircase = STAIRCASE["Staircase"]
    testing.check_mechanism(staircase(level=0.7, gamma=0.2))
    testing.check_mechanism(staircase(level=0.7, gamma=0.2).poisson(0.3))
    assert staircase(1.0, 0.3, adjacency="replace").adjacency is lp.Adjacency.REPLACE
    assert repr(staircase(1.0, 0.3, adjacency="replace")) == "Staircase(level=1.0, gamma=0.3, adjacency='replace')"
    assert 2 * staircase(1.0, 0.3) == staircase(1.0, 0.3) + staircase(level=1.0, gamma=0.3)


def test_a_mechanism_can_be_added_in_sixty_lines():
    longest = max(CONFTEST.blocks((DOCS / "add-a-mechanism.md").read_text(encoding="utf-8")), key=len)
    assert len(longest.splitlines()) < 60


class Formulas(Cells):
    def __init__(self, p, q):
        self.vectors = p, q

    def under(self, arith):
        return tuple([arith.constant(one) for one in vector] for vector in self.vectors)


@pytest.mark.parametrize(
    ("p", "q", "text"),
    [
        ([0.5, 0.6], [0.5, 0.5], "formulas of p must sum to one, got 1.1"),
        ([0.5, 0.5], [0.5, 0.4], "formulas of q must sum to one"),
        ([1.0, 0.0], [0.5, 0.5], "positive probability under p"),
        ([0.5, 0.5], [1.5, -0.5], "positive probability under q"),
    ],
)
def test_formulas_that_are_no_probabilities(p, q, text):
    with pytest.raises(ValueError, match=text):
        FinitePair.of(Formulas(p, q))


def test_formulas_carry_the_half_ulp_of_their_parameters():
    pair = FinitePair.of(Formulas([0.3, 0.7], [0.6, 0.4]))
    assert pair.p == (0.3, 0.7)
    assert 1e-16 < pair.relative_error < 1e-15


@pytest.mark.parametrize("name", ["epsilon", "delta", "loss", "pair"])
def test_parameters_are_not_called_like_questions(name):
    with pytest.raises(TypeError, match=f"a parameter of Own has the name of a method, '{name}'"):
        type("Own", (Primitive,), {"__annotations__": {name: float}})


class Keeper:
    """A class beside the mechanisms that names what only a base of its own asks for."""

    def family(self):
        return None


@pytest.mark.parametrize(("bases", "members"), [((Primitive,), {"family": Keeper.family}), ((Keeper, Primitive), {}),
                                               ((Primitive,), {"_by_others": Keeper.family})])  # fmt: skip
def test_a_family_that_nobody_would_ask_is_refused(bases, members):
    """Its hull would be called its answer, and the lower ends of hulls do not hold for several steps."""
    with pytest.raises(TypeError, match=r"which is called on a logphi\.algebra\.\w+\.\w+ only"):
        type("Own", bases, members)


MATRIX = module_of(DOCS / "support_matrix.py")


@pytest.mark.slow
def test_the_support_matrix_is_what_the_library_does(monkeypatch):
    expansion = pytest.importorskip("logphi.certified.expansion", exc_type=ImportError)
    # what has a certificate has one with far less work; with all of it the same are refused, some after half a minute
    monkeypatch.setattr(expansion, "MOST_WORK", expansion.MOST_WORK // 50)
    written = (DOCS / "support-matrix.md").read_text(encoding="utf-8")
    assert written == MATRIX.page(), "run: python docs/support_matrix.py > docs/support-matrix.md"


def test_every_mechanism_has_an_example():
    assert set(MATRIX.EXAMPLES) == set(CATALOGUE) | set(PYTHON_ONLY), "enter it in tests/shared/one_of_each.py"


@pytest.mark.few(40)
@pytest.mark.parametrize("scheme", MATRIX.SCHEMES)
@pytest.mark.parametrize("name", MATRIX.EXAMPLES)
def test_what_is_refused_has_a_reason(scheme, name):
    for cell in MATRIX.row(scheme, name):
        assert bool(cell.reason) == (cell.mechanism is None)
        assert "\n" not in cell.reason


@pytest.mark.few(4)
@pytest.mark.parametrize("name", MATRIX.EXAMPLES)
def test_other_batches_answer_or_have_a_reason(name):
    for cell in MATRIX.batches(name):
        assert bool(cell.reason) == (cell.mechanism is None)
        if cell.mechanism is not None:
            bound = cell.mechanism.epsilon(1e-3, rtol=0.1)
            assert 0 <= bound.lower <= bound.upper


def test_what_is_always_refused_has_a_reason():
    assert all(MATRIX.reason_of(build)[1] for build in MATRIX.REFUSED.values())


def has_transform(mechanism):
    return not any(isinstance(law, SampledLoss) for law, _ in (mechanism.loss_law() + mechanism.loss_law().reflected()).terms)


@pytest.mark.few(4)
@pytest.mark.parametrize("scheme", MATRIX.SCHEMES)
@pytest.mark.parametrize("name", MATRIX.EXAMPLES)
def test_what_is_not_refused_answers(scheme, name):
    for cell in MATRIX.row(scheme, name):
        if cell.mechanism is not None:
            near, far = cell.mechanism.delta(0.05), cell.mechanism.delta(0.4)
            assert 0 <= near.lower <= near.value <= near.upper < 1
            # of samples of these no lower end is known, in direction add at least
            sampled = scheme == "Poisson sample" and name in ("VectorDiscreteGaussian", "StabilityThreshold")
            assert near.lower > 0 or sampled
            # known by divergences, or by an attack and a dominating pair: the ends are those of different mechanisms
            apart = name in ("ZCDP", "RenyiDP", "VectorDiscreteGaussian", "Skellam") or near.status is lp.Status.BRACKET
            assert apart or near.width <= COARSE * near.value
            assert far.lower <= near.upper
            assert cell.mechanism.adjacency.value == cell.relation
            if not has_transform(cell.mechanism):
                continue
            testing.check_value(cell.mechanism)
            testing.check_text(cell.mechanism)
            testing.check_masses(cell.mechanism)
            testing.check_convexity(cell.mechanism)


def test_the_catalogue_has_a_section_for_every_mechanism():
    pages = [page.read_text(encoding="utf-8") for page in DOCS.glob("catalogue-*.md")]
    headings = [line for page in pages for line in page.splitlines() if line.startswith("## ")]
    assert [name for name in (*CATALOGUE, *PYTHON_ONLY) if not any(f"`{name}(" in line for line in headings)] == []


def test_a_table_has_every_route_and_another_one_every_question():
    routes, questions = ((DOCS / f"{page}.md").read_text(encoding="utf-8") for page in ("numerics", "questions"))
    assert [name for name in ROUTES if not re.search(rf"^\|.*`{name}`.*\|", routes, re.MULTILINE)] == []
    asked = {name for name in vars(Questions) if name[0] != "_"} - set(lp.Mechanism._unlisted)
    assert [name for name in sorted(asked) if f"`m.{name}" not in questions] == []


@pytest.mark.parametrize("page", sorted(path.stem for path in DOCS.glob("*.md") if path.stem != "index"))
def test_every_page_is_in_the_contents(page):
    trees = r"^```\{toctree\}\n(.*?)^```$"
    contents = "\n".join(
        tree for path in DOCS.glob("*.md") for tree in re.findall(trees, path.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    )
    found = re.findall(rf"^{page}$", contents, re.MULTILINE)
    assert len(found) == 1, f"enter {page} once, in a toctree of docs/index.md or of the page that leads to it"


# tables that a program makes
LONG = {"benchmarks", "support-matrix"}


@pytest.mark.parametrize("page", sorted(path.stem for path in DOCS.glob("*.md") if path.stem not in LONG))
def test_a_page_is_read_to_its_end(page):
    words = len((DOCS / f"{page}.md").read_text(encoding="utf-8").split())
    assert words <= 1500, f"{page} has {words} words: nobody reads so many; split it by the questions that it answers"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", text) + re.findall(r"`((?:docs|src|tests)/[\w/.-]+)`", text):
        root = DOCS.parent if target.startswith(("docs/", "src/", "tests/")) else page.parent
        assert (root / target).exists(), target


@pytest.mark.parametrize("page", [*PAGES, README.parent / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_a_link_with_a_capital_is_the_title_of_its_page(page):
    """As the sidebar has it; within a sentence a link may have any words."""
    text = re.sub(r"\s+", " ", page.read_text(encoding="utf-8"))
    for words, target in re.findall(r"\[([A-Z][^][]*)\]\((?:docs/)?([a-z][\w-]*\.md)\)", text):
        assert (DOCS / target).read_text(encoding="utf-8").startswith(f"# {words}\n"), target


def sessions(page):
    """The commands of a page, and what it shows after each."""
    blocks = re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [shown.partition("\n")[::2] for block in blocks for shown in re.split(r"^\$ logphi ", block, flags=re.MULTILINE)[1:]]


# each command has its own tests
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.name, marks=[] if page == README else pytest.mark.slow) for page in PAGES if sessions(page)],
)
def test_commands_print_what_a_page_shows(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for command, shown in sessions(page):
        main(shlex.split(command))
        printed = "".join(capsys.readouterr())
        assert same(shown, printed), f"logphi {command}\n{printed}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_is_run(page):
    """By the doctests, by the tests here or of the Opacus adapter, or, what make does, by whoever runs the tests."""
    blocks = re.findall(r"^```(.*)\n((?:.*\n)*?)```$", page.read_text(encoding="utf-8"), re.MULTILINE)
    left = [text for kind, text in blocks if kind not in ("python", "python opacus", "console", "{toctree}")]
    assert [text for text in left if not text.startswith(("make ", "python3 -m venv "))] == []
    assert all(text.startswith("$ logphi ") for kind, text in blocks if kind == "console")


def test_every_command_is_shown(capsys):
    main(["--help"])
    commands = set(re.findall(r"^  logphi ([\w-]+)", capsys.readouterr().out, re.MULTILINE))
    assert len(commands) > 10
    assert {command.split()[0] for command, _ in sessions(DOCS / "command-line.md")} == commands


def test_the_readme_is_run():
    text = README.read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in CONFTEST.blocks(text):
        exec(block, names)
    examples = doctest.DocTestParser().get_doctest(text, names, "README.md", str(README), 0)
    assert len(examples.examples) > 1
    assert doctest.DocTestRunner(checker=Shown(), optionflags=doctest.ELLIPSIS).run(examples).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_digits_are_cut_off(page):
    """What a page shows is what was printed: `Shown` knows which digits are of one machine."""
    shown = re.findall(r"^```(?:python|console)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert [line for block in shown for line in block.splitlines() if re.search(r"\d\.\.\.", line)] == []


def test_the_install_is_a_users():
    found = re.search(r"^```\n(.*?)^```", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert some(found)[1].splitlines() == ["python3 -m venv venv && . venv/bin/activate", "pip install ."]


INSTALLED = re.compile(r"""pip install\s+["']?([^\s"'`)]+)""")
EXTRA = re.compile(r"""["'`]\.\[([\w-]+)\]["'`]""")


def test_all_that_is_to_be_installed_can_be():
    """From a checkout, or by the name of what is needed: no registry has logphi."""
    extras = set(metadata("logphi").get_all("Provides-Extra") or ())
    needed = {
        some(re.match(r"[\w-]+", one))[0] for one in some(metadata("logphi").get_all("Requires-Dist")) if "extra ==" in one
    }
    possible = {".", *needed, *(f".[{extra}]" for extra in extras)}
    for path in [*PAGES, *(DOCS.parent / "src").rglob("*.py")]:
        assert set(INSTALLED.findall(path.read_text(encoding="utf-8"))) <= possible, path
    for page in (README, DOCS / "index.md"):
        assert set(EXTRA.findall(page.read_text(encoding="utf-8"))) == extras


def test_the_speed_table_is_that_of_the_benchmarks():
    row = re.compile(r"^\| ((?:logphi|dp-|prv-|autodp).*?) \| (.*?) \| .*? \| (.*?) \| (.*?) \|", re.MULTILINE)
    rows = row.findall(README.read_text(encoding="utf-8"))
    assert len(rows) == 5
    measured = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    # the rows of the first workload, and the table of answers that are below the truth
    first = some(re.search(r"^\| 14062 x .*: epsilon .*\n(\|  \|.*\n)*", measured, re.MULTILINE))[0]
    for accountant, answer, time, below in rows:
        assert re.search(rf"\| {re.escape(accountant)} \| {re.escape(answer)} \| .* \| {re.escape(time)} \|", first)
        wrong = re.search(r"([\d.]+) for ([\d.]+)", below)
        assert wrong is None or f"| {wrong[1]} | {wrong[2]} |" in measured


def numbers(text):
    return [float(found) for found in re.findall(rf"{NUMBER.pattern}|\binf\b", text)]


def test_the_numbers_of_sharp_edges_are_those_of_their_sections():
    head, *sections = re.split(r"^##+ ", (DOCS / "sharp-edges.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    sections += re.split(r"^##+ ", (DOCS / "sharp-edges-numbers.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    shown = {section.partition("\n")[0].lower().replace(" ", "-"): numbers(section.partition("\n")[2]) for section in sections}
    rows = re.findall(r"^\| \[.*?\]\((?:[\w-]+\.md)?#(.*?)\) \| (.*?) \| (.*?) \|", head, re.MULTILINE)
    assert len(rows) > 20
    (always,) = numbers(some(re.search(r"^>>> .*\n(.*)\n", head, re.MULTILINE))[1])
    for slug, *cells in rows:
        for number in numbers(" ".join(cells)):
            near = [one for one in [always, *shown[slug]] if one == pytest.approx(number, rel=1e-4, abs=0)]
            assert near, f"{slug}: {number}"
