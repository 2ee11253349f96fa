"""The pages of the API reference: every public name, and whatever their docstrings refer to."""

import enum
import importlib.util
import inspect
import re
from dataclasses import dataclass, field
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from pkgutil import iter_modules, resolve_name
from types import ModuleType
from typing import Any

from sphinx.ext.autodoc.mock import mock

import logphi
from logphi.algebra.operations import Operations

REFERENCE = re.compile(r":(?:class|func|meth|mod|exc|data|attr):`~?(logphi\.[\w.]+)`")
RETURNS = re.compile(r"^Returns\n-+\n(.*)$", re.MULTILINE)
# modules for users that the package root does not name
ASIDE = ("logphi.extend", "logphi.testing")
# packages of others, whose adapters are described without them too
MISSING = [name for name in ("dp_accounting", "opacus", "torch") if importlib.util.find_spec(name) is None]
# where a reference to a mechanism is looked up
MECHANISMS = "logphi.mechanisms"

# tasks, in the order of the first page, with the modules whose names they need; the last one has the rest
TASKS = {
    "Mechanisms and composition": (MECHANISMS, "logphi.algebra", "logphi.inputs.adjacency"),
    "Training runs and correlated noise": ("logphi.training", "logphi.correlated_noise"),
    "Calibration, budgets, sweeps": ("logphi.calibration", "logphi.accountant", "logphi.sweeps"),
    "Comparisons and reports": ("logphi.comparison", "logphi.dominance", "logphi.statement", "logphi.questions"),
    "Certificates": ("logphi.certified", "logphi.checker"),
    "Mechanisms as text": ("logphi.expression", "logphi.serialization"),
    "Answers": ("logphi.answers",),
    "Modules": ("logphi",),
}


def first_line(one: Any) -> str:
    """The first line of a docstring, what it refers to by name only."""
    line = (inspect.getdoc(one) or "").partition("\n")[0].replace("|", r"\|")
    return re.sub(r":\w+:`~?([\w.]+)`", r"``\1``", line)


def returned(function: Any) -> list[str]:
    """Classes of the library that the section Returns of a docstring names."""
    found = RETURNS.search(inspect.getdoc(function) or "")
    names = found[1].replace(",", " or ").split(" or ") if found else ()
    classes = (getattr(inspect.unwrap(function), "__globals__", {}).get(name.strip()) for name in names)
    known = [one for one in classes if one is not None]
    return [f"{one.__module__}.{one.__qualname__}" for one in known if getattr(one, "__module__", "").startswith("logphi")]


def headed(title: str, text: str, underline: str = "=") -> str:
    """A text below its title."""
    return f"{title}\n{underline * len(title)}\n\n{text}\n"


def home_of(name: str) -> str:
    """The module that a public name of the package root comes from."""
    return logphi._HOME.get(name, "logphi")


@dataclass
class Reference:
    """The pages so far, and what is on them."""

    pages: dict[str, str] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    referred: set[str] = field(default_factory=set)

    def entry(self, name: str, one: Any) -> str:
        """An object at a name, or a link to where it was described before."""
        if id(one) in self.names and not isinstance(one, str | tuple):
            return f"* ``{name}`` is :py:obj:`{self.names[id(one)]}`.\n"
        self.names[id(one)] = name
        options = ["members:", "undoc-members:"] if isinstance(one, type) and issubclass(one, enum.Enum) else ["members:"]
        if isinstance(one, ModuleType):
            return self.module(name, one)
        self.notice(one)
        if isinstance(one, type):
            if one is logphi.Mechanism:
                options.append("inherited-members:")
            # what a class keeps from its users stands where those who extend it look
            kept = [kept for kept in sorted(one._unlisted) if hasattr(one, kept)] if one is logphi.Mechanism else []
            methods = "".join(f"\n   .. automethod:: {name}.{method}\n" for method in kept)
            return f".. autoclass:: {name}\n" + "".join(f"   :{option}\n" for option in options) + methods
        if inspect.isfunction(one):
            return f".. autofunction:: {name}\n"
        return f".. autodata:: {name}\n   :no-value:\n"

    def notice(self, one: Any) -> None:
        """Remember what a docstring refers to, and those of the members."""
        members = [one]
        if isinstance(one, type):
            # what is not listed need not be there: a family only those have that stand for one
            names = (*dir(one), *(name for name in getattr(one, "_unlisted", ()) if hasattr(one, name)))
            members += [getattr(one, name) for name in names if not name.startswith("_")]
        for member in members:
            self.referred.update(REFERENCE.findall(inspect.getdoc(member) or ""), returned(member))

    def module(self, name: str, module: ModuleType, underline: str = "-") -> str:
        """A module by its docstring and its public names."""
        self.names[id(module)] = name
        self.notice(module)
        public = getattr(module, "__all__", None)
        if public is None:
            public = [
                key
                for key, value in vars(module).items()
                if not key.startswith("_") and getattr(value, "__module__", None) == module.__name__
            ]
        own = [(key, getattr(module, key)) for key in public]
        own.sort(key=lambda pair: isinstance(pair[1], ModuleType))  # a section of its own comes last
        entries = [self.entry(f"{name}.{key}", value) for key, value in own]
        return "\n".join([headed(f"``{name}``", f".. automodule:: {name}", underline), *entries])

    def room(self, name: str) -> None:
        """A page for a module and its public names."""
        with mock(MISSING):
            self.pages[name] = self.module(name, import_module(name), underline="=")

    def add(self, page: str, title: str, text: str, entries: list[str]) -> None:
        """A page of entries."""
        self.pages[page] = "\n".join([headed(title, text), *entries])


def adapters() -> list[str]:
    """The modules for the packages of others."""
    from logphi import adapters

    return [f"logphi.adapters.{module.name}" for module in iter_modules(adapters.__path__)]


def described() -> Reference:
    """All pages."""
    found = Reference()
    rooms = [name for name, home in logphi._HOME.items() if home == "logphi"]
    names = [name for name in dir(logphi) if name not in rooms]
    homes: dict[str, list[str]] = {}
    for name in names:
        homes.setdefault(home_of(name), []).append(name)
    for home in sorted(homes, key=lambda home: (home != "logphi.algebra.release", home != MECHANISMS, home)):
        text = first_line(logphi) if home == "logphi" else first_line(import_module(home))
        entries = [found.entry(f"logphi.{name}", getattr(logphi, name)) for name in homes[home]]
        found.add(home, f"``{home}``", text, entries)
    for name in [*(f"logphi.{room}" for room in rooms), *ASIDE, *adapters()]:
        found.room(name)
    inside(found)
    return found


def inside(found: Reference) -> None:
    """What the docstrings so far refer to, and in turn their own, on a last page."""
    entries: dict[str, str] = {}
    seen: set[str] = set()
    while todo := sorted(found.referred - seen):
        for name in todo:
            seen.add(name)
            one = resolve_name(name)
            if id(one) in found.names or any(name.startswith(f"{known}.") for known in found.names.values()):
                continue
            if isinstance(one, ModuleType):
                found.names[id(one)] = name
                found.notice(one)
                entries[name] = f".. automodule:: {name}\n"
            else:
                entries[name] = found.entry(name, one)
    text = "What the other pages refer to: the questions as functions of a loss, and the parts that answers come from."
    found.add("inside", "What is referred to", text, [entries[name] for name in sorted(entries)])


def table(names: list[str]) -> str:
    """A table of names below ``logphi``, with what they are."""
    lines = [".. list-table::", "   :widths: auto", ""]
    for name in names:
        one = attrgetter(name)(logphi)
        role = "mod" if isinstance(one, ModuleType) else "obj"
        text = "The version, as text." if name == "__version__" else first_line(one)
        lines += [f"   * - :py:{role}:`~logphi.{name}`", f"     - {text}"]
    return "\n".join([*lines, ""])


def overview(found: Reference) -> str:
    """The first page: the questions, then all public names by task, with what they are."""
    methods = [name for name in dir(logphi.Mechanism) if not name.startswith("_")]
    made = [name for name in methods if name == "group" or hasattr(Operations, name)]
    # in the order in which help() lists them, by what they are about
    listed = inspect.getdoc(logphi.Mechanism) or ""
    asked = sorted((name for name in methods if name not in made), key=lambda name: listed.index(f"``{name}``"))
    lines = [headed("API reference", "``import logphi as lp``; everything is in nats. ``m`` is any mechanism or composition.")]
    lines += [".. currentmodule:: logphi", ""]
    lines += [headed("Questions: methods of m", table([f"Mechanism.{name}" for name in asked]), "-")]
    lines += [headed("Sampling, groups and selection: methods of m", table([f"Mechanism.{name}" for name in made]), "-")]
    left = list(dir(logphi))
    for title, homes in TASKS.items():
        own = [name for name in left if home_of(name).startswith(homes)]
        left = [name for name in left if name not in own]
        lines += [headed(title, table(own), "-")]
    lines += [headed("All pages", "", "-"), ".. toctree::", "   :maxdepth: 1", "", *(f"   {page}" for page in found.pages), ""]
    return "\n".join(lines)


def write(directory: Path) -> None:
    """Write all pages."""
    directory.mkdir(parents=True)
    found = described()
    for page, text in found.pages.items():
        (directory / f"{page}.rst").write_text(text, encoding="utf-8")
    (directory / "index.rst").write_text(overview(found), encoding="utf-8")
