"""Writes `docs/parts.md`: what `spec/environment` and `spec/services` bring. `--check` says if it is today's.

Run: `python docs/list_parts.py [--check]`.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from antiphon.spec import environment, services
from antiphon.spec.lang import Spec, SpecError
from antiphon.spec.lang.variants import Mutation, note_of

PAGE = Path(__file__).parent / "parts.md"

HEAD = """# Parts of specifications: environments and services

A specification is put together from classes. It inherits the network, the crashes and the detectors that
surround a protocol from `spec/environment`, and the properties that it is judged by from `spec/services`.
This page lists them, from their own text: `python docs/list_parts.py` writes it.
[The language](language.md) says how they are used, [your protocol](your-protocol.md) has an example.

- *Constants* are set by the command line (`--set losses=2`) or by a subclass.
- *Variables* are state that the part brings; a protocol may read them.
- *Steps* happen of their own accord. *Methods* are called by a protocol, or overridden by it.
- *Properties* are what `check` judges when the part is inherited.
"""

LAST = ("Checked",)
"""Endings of the names of classes that only put a machine and its judge together."""


ROWS = {
    "constants": (),
    "variables": (),
    "steps": ("action", "environment"),
    "guards": ("guard", "constraint"),
    "methods": ("",),
    "properties": ("invariant", "obligation", "witness"),
}
"""Contents of a part, and the marks of the methods that are that."""


def modules(package: ModuleType) -> Iterator[ModuleType]:
    """The modules of a package, by name."""
    for found in pkgutil.iter_modules(package.__path__):
        yield importlib.import_module(f"{package.__name__}.{found.name}")


def parts(module: ModuleType) -> Iterator[type[Spec]]:
    """The classes of a module that a protocol can inherit, in their order: no planted faults."""
    for kind in vars(module).values():
        own = inspect.isclass(kind) and issubclass(kind, Spec) and kind.__module__ == module.__name__
        if own and not is_mutation(kind) and not kind.__name__.endswith(LAST):
            yield kind


def is_mutation(kind: type[Spec]) -> bool:
    """Return True if a class is a planted fault."""
    try:
        note_of(kind, Mutation)
    except SpecError:
        return False
    return True


def judged(kind: type[Spec]) -> list[str]:
    """The names of properties that handlers of this class judge: `expect(..., "Name")`."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    names = [
        argument.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "expect"
        for argument in node.args[1:2]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]
    return list(dict.fromkeys(names))


def rows(kind: type[Spec]) -> Iterator[tuple[str, list[str]]]:
    """Yield what this class itself brings, from its text."""
    found: dict[str, list[str]] = {row: [] for row in ROWS}
    found["properties"] += judged(kind)
    (text,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(text, ast.ClassDef), "it is the text of a class"
    for node in text.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                constant = ast.unparse(annotation).startswith("Const[")
                told = "" if value is None else f" = {ast.unparse(value)}"
                row = "constants" if constant else "variables"
                found[row].append(name + told if constant else f"{name}: {ast.unparse(annotation)}")
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=maker))):
                if maker != "fair":
                    found["properties"].append(name)
            case ast.FunctionDef(name=name, decorator_list=decorators) if not name.startswith("_"):
                marks = {ast.unparse(mark).partition("(")[0] for mark in decorators} or {""}
                rows = [row for row, kinds in ROWS.items() if not marks.isdisjoint(kinds)]
                for row in rows:
                    found[row].append(name)
    yield from found.items()


def section(kind: type[Spec]) -> str:
    """One class: its sentence, what it builds on, and what it brings."""
    (first, *_) = (inspect.getdoc(kind) or "").split("\n\n")
    bases = [base.__name__ for base in kind.__bases__ if issubclass(base, Spec) and base is not Spec]
    lines = [f"### {kind.__name__}", "", " ".join(first.split())]
    lines += ["", f"Builds on {', '.join(f'`{base}`' for base in bases)}."] if bases else []
    brought = [(what, names) for what, names in rows(kind) if names]
    if brought:
        lines += ["", "| it brings | |", "|---|---|"]
        for what, names in brought:
            told = ", ".join(f"`{name}`" for name in names).replace("|", "\\|")
            lines.append(f"| {what} | {told} |")
    return "\n".join(lines)


def page() -> str:
    """The whole page."""
    blocks = [HEAD.rstrip()]
    for package in (environment, services):
        for module in modules(package):
            found = list(parts(module))
            if found:
                path = module.__name__.removeprefix("antiphon.").replace(".", "/") + ".py"
                about = " ".join((inspect.getdoc(module) or "").split("\n\n")[0].split())
                blocks.append(f"## [{path}](../{path})\n\n{about}")
                blocks += map(section, found)
    return "\n\n".join(blocks) + "\n"


def main() -> int:
    """Write the page, or say whether it is current."""
    today = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(today, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != today:
        print("docs/parts.md is out of date: python docs/list_parts.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
