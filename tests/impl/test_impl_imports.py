"""A protocol core is loaded alone: without transport, without the other rooms, without asyncio or sockets."""

from __future__ import annotations

import ast
import pkgutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from antiphon import impl
from antiphon.impl import protocols

PROTOCOLS = [module.name for module in pkgutil.iter_modules(protocols.__path__) if module.ispkg]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_core_loads_its_own_kind_and_nothing_that_moves_bytes(name: str) -> None:
    module = f"{protocols.__name__}.{name}"
    program = f"import sys; before = set(sys.modules); import {module}; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert module in loaded
    ours = {one for one in loaded if one.split(".")[0] == "antiphon"}
    allowed = {"antiphon", "antiphon.impl", "antiphon.impl.errors", "antiphon.impl.tracing"}
    assert {one for one in ours - allowed if not one.startswith(protocols.__name__)} == set()
    assert loaded & {"asyncio", "random", "selectors", "socket", "ssl", "threading"} == set()


DATES = {
    ("joined.py", "_begin"): 1,  # an incarnation is later than those of earlier runs of the process
    ("joined.py", "_report"): 1,  # when a suspicion began is said as a date
    ("looking.py", "_answers"): 1,
    ("metrics.py", "collect"): 1,  # such a date is compared with now
    ("transport/requests.py", "renew"): 1,
    ("transport/udp.py", "__init__"): 1,
}
"""Functions that need a date, and how often."""


def test_the_clock_that_may_be_set_is_read_for_dates_alone() -> None:
    """Waits and measurements read a clock that only goes forward."""
    readers: Counter[tuple[str, str]] = Counter()
    root = Path(impl.__path__[0])
    for path in root.rglob("*.py"):
        name = path.relative_to(root).as_posix()
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                calls = [ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)]
                read = [call for call in calls if call.endswith(("time.time", "time_ns", ".now", ".utcnow"))]
                readers[name, function.name] += len(read)
    assert {at: count for at, count in readers.items() if count and "examples/" not in at[0]} == DATES
