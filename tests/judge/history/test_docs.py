"""docs/judging.md tells of every property, in the order of report."""

import re
from pathlib import Path

from antiphon.conformance.judge.history import FURTHER_PROPERTIES, PROMISES, PROPERTIES


def test_the_table_of_properties_is_complete() -> None:
    text = (Path(__file__).parents[3] / "docs" / "judging.md").read_text(encoding="utf-8")
    told = tuple(re.findall(r"^\| `((?:Consensus\.)?[A-Z]\w+)` \| ", text, re.MULTILINE))
    assert told == PROPERTIES + FURTHER_PROPERTIES
    assert tuple(re.findall(r"^\| `([a-z-]+)`", text, re.MULTILINE)) == PROMISES
