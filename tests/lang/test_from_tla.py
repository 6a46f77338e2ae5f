"""docs/from-tla.md is true: its specification runs, and both of its readers count what it says."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import antiphon

PAGE = Path(__file__).parents[2] / "docs" / "from-tla.md"


def test_the_module_of_the_page_is_checked_as_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "voting.py").write_text("\n\n".join(texts), encoding="utf-8")
    monkeypatch.setattr(sys, "path", [*sys.path])
    reduced = antiphon.check(f"{tmp_path}/voting.py:Voting", properties=["agreement"], symmetry=True)
    assert reduced.notes[0].startswith("6 states stand for 27 ")
    for engine in ("reference", "generated", "native"):
        quorums = antiphon.check(f"{tmp_path}/voting.py:Quorums", engine=engine)
        assert (quorums.outcome, quorums.exploration.states) == ("holds", 39 * 27)
    sys.modules.pop("voting")
