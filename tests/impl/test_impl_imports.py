"""A protocol core is loaded alone: without transport, without the other rooms, without asyncio or sockets."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import pytest

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
