"""Transcripts of a few runs of each core, to be read beside the paper: messages with sender and receiver, and
deliveries.

`transcripts/` holds them; `make pytest PYTEST_ARGS='tests/impl/test_transcripts.py --rewrite'` writes what
passes today under the commands that stand there. A change is read before it is committed.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.impl.dialogue import played

from antiphon.impl.registry import known_protocols

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))


@pytest.mark.parametrize("file", TRANSCRIPTS, ids=lambda file: file.stem)
def test_the_members_say_what_the_transcript_says(file: Path, request: pytest.FixtureRequest) -> None:
    text = file.read_text(encoding="utf-8")
    now = "\n".join(played(text)).rstrip("\n") + "\n"
    if request.config.getoption("--rewrite"):
        file.write_text(now, encoding="utf-8")
    assert now == file.read_text(encoding="utf-8"), f"{file} differs; look at it, then run with --rewrite"


def test_every_core_has_a_transcript_in_which_all_deliver_the_same_order() -> None:
    """Each transcript has a delivery, so that none is silent."""
    texts = [file.read_text(encoding="utf-8") for file in TRANSCRIPTS]
    groups = [line.split()[1] for text in texts for line in text.splitlines() if line.startswith("group ")]
    assert set(groups) == set(known_protocols())
    for text in texts:
        orders: dict[str, list[str]] = {}
        for line in text.splitlines():
            words = line.split()
            if words[2:3] == ["delivers"] and line.startswith(" "):
                orders.setdefault(words[1], []).append(words[3])
        assert len(orders) > 1, text
        assert len(set(map(tuple, orders.values()))) == 1, orders


def test_a_changed_line_is_noticed() -> None:
    text = TRANSCRIPTS[0].read_text(encoding="utf-8")
    lines = text.splitlines()
    at = next(number for number, line in enumerate(lines) if "delivers" in line)
    changed = "\n".join([*lines[:at], *lines[at + 1 :]]) + "\n"
    assert "\n".join(played(changed)).rstrip("\n") + "\n" == text != changed
