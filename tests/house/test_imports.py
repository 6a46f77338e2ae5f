"""Permitted imports between packages, checked over the source text, so that an import inside a function
counts as well.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from tests.house.statements import statements

MAY_IMPORT = {
    "spec": {"spec"},
    "model": {"model", "spec"},
    "impl": {"impl"},
    "conformance": {"conformance", "spec", "model", "impl"},
}

WITHIN_MODEL = {
    "ground": set(),
    "engines": {"ground"},
    "explore": {"engines", "ground"},
    "refinement": {"engines", "explore", "ground"},
    "mutation": {"engines", "explore", "ground"},
    "simulate": {"engines", "ground"},
    "symbolic": {"ground"},
    "proofs": {"engines", "explore", "ground", "symbolic"},
    "export": {"ground"},
    "composition": set(),
}
"""Packages of `model` that each of them may import; the modules beside them (`verdict`, `trace`, ...) serve
all, and see `ground` only.
"""

WITHIN_CONFORMANCE = {
    "adapters", "api", "cli", "compare", "coverage", "exports", "judge", "ledger", "report", "run", "spark",
}  # fmt: skip
"""The packages of `conformance`, each with its question in ARCHITECTURE.md."""

PURE = {
    "__future__", "abc", "bisect", "collections", "copy", "dataclasses", "enum", "functools", "hashlib",
    "heapq", "inspect", "ipaddress",
    "itertools", "math", "msgspec", "operator", "struct", "types", "typing", "typing_extensions",
}  # fmt: skip
"""Modules that a sans-IO core may import beside its own kind: none reads a clock, a socket, a file or chance.
"""

BARE = re.compile(rf"^\s*(from|import)\b.*\b({'|'.join(MAY_IMPORT)})\b", re.MULTILINE)
"""A line that may be such an import: most texts have none, and are not parsed."""


@cache
def import_nodes(text: str) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """The imports in a text, which is parsed once for all tests."""
    return tuple(node for node in statements(text) if isinstance(node, ast.Import | ast.ImportFrom))


def imported(text: str, module: str, *, is_package: bool) -> Iterator[tuple[int, str]]:
    """Each import in the text as (line, absolute name); a name taken from a package counts as a possible
    submodule.
    """
    for node in import_nodes(text):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        else:
            parents = module.split(".") if is_package else module.split(".")[:-1]
            base = [*parents[: len(parents) - node.level + 1]] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{origin}.{alias.name}") for alias in node.names)


def bare_imports(text: str) -> list[str]:
    """The imports that name a room without `antiphon.`, which would load each class a second time."""
    if not BARE.search(text):
        return []
    return [
        f"line {line}: import {name}; write antiphon.{name}"
        for line, name in imported(text, "somewhere.module", is_package=False)
        if name.split(".")[0] in MAY_IMPORT
    ]


def room_of(module: str) -> str:
    """The room of a module; the package `antiphon` itself, the public interface, belongs to `conformance`."""
    found = module.partition(".")[2].split(".")[0]
    return found if found in MAY_IMPORT else "conformance"


def trespasses(text: str, module: str, *, is_package: bool = False) -> list[str]:
    """The imports that the room of the module has no right to."""
    room = room_of(module)
    return [
        f"{module}, line {line}: {room} may not import {name}; it may import "
        f"{', '.join(sorted(MAY_IMPORT[room]))}"
        for line, name in imported(text, module, is_package=is_package)
        if name.split(".")[0] == "antiphon" and room_of(name) not in MAY_IMPORT[room]
    ]


def closure(start: str, modules: dict[str, Path]) -> set[str]:
    """The modules of the house that are loaded when `start` is, packages above them included.

    Not the package `antiphon` itself, above all of them: what it loads is seen below, when it is loaded.
    """
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        module = waiting.pop()
        parts = module.split(".")
        for name in (".".join(parts[:length]) for length in range(2, len(parts) + 1)):
            if name in modules and name not in reached:
                reached.add(name)
                path = modules[name]
                names = imported(
                    path.read_text(encoding="utf-8"), name, is_package=path.name == "__init__.py"
                )
                waiting += [found for _, found in names if found.startswith("antiphon.")]
    return reached


def impurities(text: str, module: str, *, is_package: bool = False) -> list[str]:
    """The imports through which a clock, a socket or chance could reach a core."""
    return [
        f"{module}, line {line}: {name}"
        for line, name in imported(text, module, is_package=is_package)
        if name.split(".")[0] not in PURE | {"antiphon"}
    ]


def test_rooms_import_only_what_they_may(modules: dict[str, Path]) -> None:
    assert modules
    found = [
        line
        for module, path in modules.items()
        for line in trespasses(
            path.read_text(encoding="utf-8"), module, is_package=path.name == "__init__.py"
        )
    ]
    assert not found, "\n".join(found)


def within_model(text: str, module: str, *, is_package: bool = False) -> list[str]:
    """The imports of a package of `model`, or of a module beside them, that go against the direction."""
    own = module.split(".")[2] if len(module.split(".")) > 2 else ""
    allowed = WITHIN_MODEL.get(own, {"ground"}) | {own}
    return [
        f"{module}, line {line}: {own or 'model'} may not import {name}"
        for line, name in imported(text, module, is_package=is_package)
        if name.startswith("antiphon.model.")
        and name.split(".")[2] in WITHIN_MODEL
        and name.split(".")[2] not in allowed
    ]


def running(text: str) -> str:
    """The text without the imports that only type checkers see."""
    return re.sub(r"^if TYPE_CHECKING:\n(?:(?: +.*)?\n)+", "", text, flags=re.MULTILINE)


def cycle(modules: dict[str, Path], inside: str) -> list[str]:
    """Modules below `inside` that import each other in a circle, the first of them again at the end; nothing
    when there are none. Imports for type checkers alone do not count.
    """
    names = {name for name in modules if name == inside or name.startswith(f"{inside}.")}
    arrows = {
        name: {
            other
            for _, found in imported(
                running(modules[name].read_text(encoding="utf-8")),
                name,
                is_package=modules[name].name == "__init__.py",
            )
            for other in (found if found in names else found.rpartition(".")[0],)
            if other in names and other != name
        }
        for name in names
    }
    done: set[str] = set()
    way: list[str] = []

    def visit(name: str) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        if name in done:
            return []
        way.append(name)
        found = next((circle for other in sorted(arrows[name]) if (circle := visit(other))), [])
        way.pop()
        done.add(name)
        return found

    return next((circle for name in sorted(names) if (circle := visit(name))), [])


def test_imports_within_model_go_one_way(modules: dict[str, Path]) -> None:
    mine = {name: path for name, path in modules.items() if name.startswith("antiphon.model")}
    assert {
        name.split(".")[2]
        for name, path in mine.items()
        if path.name == "__init__.py" and name.count(".") == 2
    } == set(WITHIN_MODEL)
    found = [
        line
        for module, path in mine.items()
        for line in within_model(
            path.read_text(encoding="utf-8"), module, is_package=path.name == "__init__.py"
        )
    ]
    assert not found, "\n".join(found)


def test_no_files_import_each_other_in_a_circle(modules: dict[str, Path]) -> None:
    found = cycle(modules, "antiphon")
    assert not found, " -> ".join(found)


def test_a_planted_circle_and_a_planted_turn_are_found(tmp_path: Path) -> None:
    planted = {
        "antiphon.model.a": "from antiphon.model.b import x",
        "antiphon.model.b": "def late():\n    import antiphon.model.a",
        "antiphon.model.c": "if TYPE_CHECKING:\n    import antiphon.model.d\n\nx = 1\n",
        "antiphon.model.d": "import antiphon.model.c",
    }
    paths = {name: tmp_path / f"{name}.py" for name in planted}
    for name, text in planted.items():
        paths[name].write_text(text, encoding="utf-8")
    assert cycle(paths, "antiphon.model") == ["antiphon.model.a", "antiphon.model.b", "antiphon.model.a"]
    assert cycle({name: paths[name] for name in paths if name[-1] in "cd"}, "antiphon") == []
    assert within_model("from antiphon.model.explore import search", "antiphon.model.engines.interface")
    assert within_model("from antiphon.model import explore", "antiphon.model.verdict")


def test_the_map_states_the_direction_within_model(root: Path) -> None:
    text = (
        (root / "ARCHITECTURE.md")
        .read_text(encoding="utf-8")
        .partition("| package of `model` |")[2]
        .partition("\n\n")[0]
    )
    rows = [
        [cell.strip().replace("`", "") for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("| `")
    ]
    stated = {
        row[0]: set() if row[1] == "nothing" else {name.strip() for name in row[1].split(",")} for row in rows
    }
    assert stated == WITHIN_MODEL


def test_no_file_imports_a_room_by_its_bare_name(texts: dict[Path, str]) -> None:
    found = [
        f"{path}: {line}"
        for path, text in texts.items()
        if path.suffix == ".py"
        for line in bare_imports(text)
    ]
    assert not found, "\n".join(found)


def test_protocol_cores_touch_no_clock_socket_or_chance(modules: dict[str, Path]) -> None:
    """A core is a function of (message, now): what it loads, directly or through the house, must be pure."""
    machines = ("antiphon.impl.protocols", "antiphon.impl.membership")
    cores = [module for module in modules if module.startswith(machines)]
    assert cores
    loaded = set().union(*(closure(module, modules) for module in cores))
    found = [
        line
        for module in sorted(loaded)
        for line in impurities(
            modules[module].read_text(encoding="utf-8"),
            module,
            is_package=modules[module].name == "__init__.py",
        )
    ]
    assert not found, "not among the pure modules of this test:\n" + "\n".join(found)


def test_a_core_or_the_package_alone_loads_no_other_room() -> None:
    """`antiphon` is loaded with every one of its modules; it must bring nothing along."""
    for name in ("antiphon", "antiphon.impl.protocols.rbp", "antiphon.impl.group"):
        program = (
            f"import sys, {name}; print(*[name for name in sys.modules if name.startswith('antiphon.')])"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert {room_of(module) for module in done.stdout.split()} <= {"impl"}


def test_the_packages_of_conformance_are_those_that_have_a_question(root: Path) -> None:
    packages = {path.parent.name for path in (root / "conformance").glob("*/__init__.py")}
    assert packages == WITHIN_CONFORMANCE


def test_a_member_of_a_cluster_loads_neither_relay_nor_judge() -> None:
    """Its process is started for each member of each run."""
    program = "import sys, antiphon.conformance.run.cluster.node; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "antiphon.conformance.run.cluster.node" in loaded
    judging = {
        "antiphon.conformance.run.cluster.orchestration", "antiphon.conformance.judge.history", "networkx",
        "antiphon.spec.lang.ir", "antiphon.spec.lang.values",
    }  # fmt: skip
    assert loaded.isdisjoint(judging)


def test_the_judge_and_the_list_of_commands_load_only_what_they_need() -> None:
    """Graphs are for circles, which few runs have; the language is for who asks about a specification."""
    needless = {
        "antiphon.conformance.judge.history": {"networkx"},
        "antiphon.conformance.cli.app": {"antiphon.spec.lang.ir", "antiphon.spec.lang.values", "networkx"},
    }
    for name, left in needless.items():
        program = f"import sys, {name}; print(*sys.modules)"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert left.isdisjoint(done.stdout.split()), name


@pytest.mark.parametrize("first", ["antiphon.spec.lang.program", "antiphon.spec.lang.spec"])
def test_the_language_has_its_names_whatever_of_it_is_loaded_first(first: str) -> None:
    """`program` is a function, also where the module of that name was there before."""
    program = (
        f"import {first}, antiphon.spec.lang as lang\n"
        "assert all(getattr(lang, name) is not None and name in dir(lang) for name in lang.__all__)\n"
        "from antiphon.spec.lang import program, Spec\n"
        "print(callable(program), callable(lang.program), Spec.__module__, hasattr(lang, 'nothing'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "antiphon.spec.lang.spec", "False"]


@pytest.mark.parametrize("package", ["run.cluster", "spark.pipeline"])
def test_a_package_that_loads_on_demand_has_all_its_names_and_says_which(package: str) -> None:
    loaded = import_module(f"antiphon.conformance.{package}")
    assert all(hasattr(loaded, name) for name in loaded.__all__)
    with pytest.raises(AttributeError, match=rf"{package} has no 'nothing'; it has "):
        loaded.nothing  # noqa: B018 - the look is what is refused


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("antiphon.spec.lang", "import antiphon.model"),
        ("antiphon.spec.lang", "from antiphon import impl"),
        ("antiphon.model.explore", "from antiphon.impl.protocols import rbp"),
        ("antiphon.impl.protocols.rbp", "def late():\n    from antiphon.spec.lang import Spec"),
        ("antiphon.impl.protocols.rbp", "from ...spec import lang"),
        ("antiphon.impl.protocols.rbp", "import antiphon"),
    ],
)
def test_a_planted_trespass_is_found(module: str, line: str) -> None:
    assert trespasses(line, module)


@pytest.mark.parametrize(
    "name", ["spec", "spec.lang", "model.explicit", "impl.transport.wire", "conformance"]
)
def test_a_planted_bare_import_is_found(name: str) -> None:
    for line in (f"import {name}", f"import {name} as short", f"from {name} import anything"):
        assert bare_imports(line)
        assert not bare_imports(line.replace(name, f"antiphon.{name}"))


@pytest.mark.parametrize(
    "name", ["asyncio", "random", "secrets", "selectors", "socket", "ssl", "threading", "time"]
)
def test_a_planted_clock_or_socket_is_found(name: str) -> None:
    assert impurities(f"def now():\n    import {name}", "antiphon.impl.protocols.rbp")
    assert impurities(f"from {name} import anything", "antiphon.impl.protocols.rbp")


def test_the_map_states_the_same_rules(root: Path) -> None:
    """ARCHITECTURE.md has a table of who may import whom; it must say what this test enforces."""
    rows = [
        [cell.strip().replace("`", "") for cell in line.strip("|").split("|")]
        for line in (root / "ARCHITECTURE.md")
        .read_text(encoding="utf-8")
        .partition("## `spec`")[0]
        .splitlines()
        if line.startswith("| `")
    ]
    stated = {
        row[0]: set() if row[1] == "nothing" else {name.strip() for name in row[1].split(",")} for row in rows
    }
    assert stated == {room: names - {room} for room, names in MAY_IMPORT.items()}


def test_the_map_has_a_paragraph_for_every_room(root: Path, modules: dict[str, Path]) -> None:
    """Each package one level below a room stands in ARCHITECTURE.md as **`room/package`**, no other."""
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    stated = {part.split("`**")[0] for part in text.split("**`")[1:]}
    parts = [path.parent.relative_to(root).parts for path in modules.values() if path.name == "__init__.py"]
    assert stated == {"/".join(names) for names in parts if len(names) == 2}
