"""Every core says in its `repr` where its member stands, how far it has come and what it waits for."""

from __future__ import annotations

import pytest

from antiphon.impl.protocols.core import standing
from antiphon.impl.registry import implementation, known_protocols
from antiphon.impl.tracing import NULL_TRACER


@pytest.mark.parametrize("protocol", known_protocols())
def test_a_core_tells_where_its_member_stands(protocol: str) -> None:
    core = implementation(protocol).core(1, 3, NULL_TRACER)
    core.start(0.0)
    fresh = repr(core)
    core.broadcast(b"one", 0.0)
    core.settle(0.0)
    told = repr(core)
    assert told != fresh
    assert told.startswith(f"<{protocol}: ")
    assert told.endswith(f"; {standing(core)}>")
    assert "process 1 of 3" in told
    assert len(told) > len(f"<{protocol}: ; {standing(core)}>"), "what this protocol alone has"
