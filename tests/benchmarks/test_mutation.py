"""The operators change what they say and nothing else; a mutant lives exactly if no test sees it."""

import ast
import importlib.util
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "mutation"


@pytest.fixture(scope="module")
def operators() -> ModuleType:
    """The script's module of operators; a script is no package, so that it is loaded from its file."""
    spec = importlib.util.spec_from_file_location("mutation_operators", SCRIPT / "operators.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        ("a < b", {"(a <= b)", "(a >= b)", "pass"}),
        ("a == b < c", {"(a != b < c)", "(a == b <= c)", "(a == b >= c)", "pass"}),
        ("a is not b", {"(a is b)", "pass"}),
        ("a in b", {"(a not in b)", "pass"}),
        ("a and b", {"(a or b)", "(a)", "(b)", "pass"}),
        ("a or b or c", {"(a and b and c)", "(a or b)", "(a or c)", "(b or c)", "pass"}),
        ("not a", {"(a)", "pass"}),
        ("x = -a", {"(a)"}),
        ("x = a + b * c", {"(a - b * c)", "(b // c)"}),
        ("x = a << b", {"(a >> b)"}),
        ("x += y", {"pass", "x -= y"}),
        ("x = 2", {"3", "1"}),
        ("x = 0", {"1"}),
        ("x = 1.5", {"3.0"}),
        ("x = True", {"False"}),
        ("x = b'ab'", {"b'a'"}),
        ("x = max(f())", {"min"}),
        ("x = all(y)", {"any"}),
        ("x = f(a, b)", {"(f(b, a))"}),
        ("x = f(a, key=b)", {"(f(a))"}),
        ("x = a if c else b", {"True", "False"}),
        ("x = [y for y in z if c]", {"True", "False"}),
        ("if c:\n    f()", {"True", "False", "pass"}),
        ("while c:\n    f()", {"False", "pass"}),
        ("for x in y:\n    break", {"()", "continue"}),
        ("for x in y:\n    continue", {"()", "break"}),
        ("del a[b]", {"pass"}),
        ("try:\n    x = a\nexcept E:\n    x = b", {"raise"}),
        ("try:\n    x = a\nexcept E:\n    raise", {"pass"}),
        ("def f():\n    self.x = y", {"pass"}),
        ("def f():\n    return x", {"None"}),
        ("def f():\n    return", {"pass"}),
        ("def f():\n    yield x", {"None"}),
        ("def f():\n    raise E", {"pass"}),
        ("async def f(a=1):\n    g()", {"2", "0", "pass"}),
        ("match a:\n    case b if c:\n        f()", {"True", "False", "pass"}),
        ("class A(B, tag=3, frozen=True):\n    pass", {"4", "2"}),
    ],
)
def test_each_operator_makes_exactly_its_changes(
    operators: ModuleType, source: str, changes: set[str]
) -> None:
    assert {mutant.mutated for mutant in operators.mutants("a.py", source)} == changes


@pytest.mark.parametrize(
    "source",
    [
        '"""A text."""',
        'def f():\n    """A text."""',
        "from __future__ import annotations",
        "__all__ = ['a', 1]",
        "def f(a: A[1] | B) -> C[2]: ...",
        "a: B[1]",
        "assert a < 1",
        "x = f'{a + 1}'",
        "x = f'{a}' + b",
        "x = isinstance(a, b)",
        "Event = Sent | Received",
        "@f(1)\nclass A: ...",
        "class A(B, frozen=True, slots=True): ...",
        "def f():\n    return None",
    ],
)
def test_what_no_test_could_see_is_left_alone(operators: ModuleType, source: str) -> None:
    assert not operators.mutants("a.py", source)


@pytest.mark.deep
def test_a_mutant_is_its_source_with_one_piece_changed(operators: ModuleType) -> None:
    """On files of the project: it compiles, it is another program, and all the rest of the text stands."""
    for file in ("impl/protocols/rbp/queues.py", "spec/services/order.py"):
        source = (SCRIPT.parents[1] / file).read_text(encoding="utf-8")
        found = operators.mutants(file, source)
        assert len({mutant.key for mutant in found}) == len(found) > 30
        for mutant in found:
            text = mutant.apply(source)
            assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(source)), mutant.key
            head, tail = source[: mutant.start], source[mutant.end :]
            assert text == head + mutant.mutated + tail
            assert source.splitlines()[mutant.line - 1].strip() == mutant.code


PROJECT = {
    "pyproject.toml": '[tool.setuptools.package-dir]\n"antiphon" = "api"\n"antiphon.impl" = "impl"\n',
    "api/__init__.py": "",
    "impl/__init__.py": "",
    "impl/small.py": """\
def countdown(n):
    while n:
        n -= 1
    return n
def larger(a, b):
    return a > b
def never():
    return 8
""",
    "tests/test_small.py": """\
import subprocess, sys
from antiphon.impl.small import countdown
def test_countdown():
    assert countdown(2) == 0
def test_elsewhere():
    program = "from antiphon.impl.small import larger; assert larger(2, 1) and not larger(1, 2)"
    subprocess.run([sys.executable, "-c", program], check=True)
""",
}
FATES = {
    "3 n -= 1 -> pass": ("timeout", "test_countdown"),
    "3 n -= 1 -> n += 1": ("timeout", "test_countdown"),
    "3 1 -> 0": ("timeout", "test_countdown"),
    "3 1 -> 2": ("survived", ""),
    "2 n -> False": ("killed", "test_countdown"),
    "4 n -> None": ("killed", "test_countdown"),
    "6 a > b -> None": ("killed", "test_elsewhere"),
    "6 a > b -> (a >= b)": ("survived", ""),
    "6 a > b -> (a <= b)": ("killed", "test_elsewhere"),
    "8 8 -> None": ("survived", ""),
    "8 8 -> 9": ("survived", ""),
    "8 8 -> 7": ("survived", ""),
}
MARKS = """\
[[mark]]
kind = "equivalent"
file = "impl/small.py"
code = "n -= 1"
original = "1"
mutated = "2"
reason = "the test counts down from an even number"
"""


@pytest.mark.deep
def test_a_mutant_lives_exactly_if_no_test_sees_it(tmp_path: Path) -> None:
    """A small project: mutants that loop, that only another process runs, that nothing runs, that are marked;
    what the second run tells it has from the first.
    """
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "marks.toml").write_text(MARKS)
    (tmp_path / "document.md").write_text("A\n<!-- mutants: begin -->\nB\n<!-- mutants: end -->\nC\n")
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    command = [
        sys.executable, str(SCRIPT), "--project", str(tmp_path), "--files", "impl/*.py", "--tests", "tests",
        "--results", str(tmp_path / "kept"), "--marks", str(tmp_path / "marks.toml"),
        "--processor-seconds", "0.3", "--write", str(tmp_path / "document.md"),
    ]  # fmt: skip
    for left in (11, 0):
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert f"12 mutants of 2 files, version {told.split('version ')[1][:16]}; {left} to hunt" in told
    rows = [json.loads(line) for line in (tmp_path / "kept" / "results.jsonl").read_text().splitlines()]
    fates = {
        f"{row['line']} {row['original']} -> {row['mutated']}": (
            row["status"],
            row["killer"].rpartition("::")[2],
        )
        for row in rows
    }
    assert fates == {name: fate for name, fate in FATES.items() if name != "3 1 -> 2"}
    written = (tmp_path / "document.md").read_text()
    assert written.startswith("A\n<!-- mutants: begin -->\n")
    assert written.endswith("\n<!-- mutants: end -->\nC\n")
    assert "| `impl/small.py` | 12 | 0 | 1 | 7 | 4 | 63.6 % |" in written
    assert "`impl/small.py:8` `8` → `9` (constant off by one): no test touches it" in written


def test_every_fault_by_hand_is_one_change_of_the_code_as_it_stands() -> None:
    """A change of the code of a fault changes the fault too: faults that no code has measure nothing."""
    root = SCRIPT.parents[1]
    faults = tomllib.loads((SCRIPT / "faults.toml").read_text(encoding="utf-8"))["fault"]
    assert len({fault["name"] for fault in faults}) == len(faults) >= 60
    for fault in faults:
        source = (root / fault["file"]).read_text(encoding="utf-8")
        assert source.count(fault["old"]) == 1, fault["name"]
        assert fault["new"] != fault["old"], fault["name"]
        assert fault["noticed"], fault["name"]
