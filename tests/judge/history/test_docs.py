"""docs/judging.md has the tables of properties that the services have, row by row, in the order of report."""

import re
from pathlib import Path

import pytest
from tests.judge.history.known import PROMISES, row

from antiphon.conformance.judge.history import property_names
from antiphon.conformance.judge.history.properties import property_of

PAGE = Path(__file__).parents[3] / "docs" / "judging.md"
ROW = re.compile(r"^\| `((?:Consensus\.)?[A-Z]\w+)` \| .*$", re.MULTILINE)


def test_the_tables_of_properties_are_what_the_services_say(request: pytest.FixtureRequest) -> None:
    """With `--rewrite` the rows that stand on the page are written anew. A new property needs a place first:
    its name in a row.
    """
    if request.config.getoption("--rewrite"):
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(ROW.sub(lambda found: row(property_of(found[1])), text), encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")
    assert [found[0] for found in ROW.finditer(text)] == [row(property_of(name)) for name in property_names()]


def test_the_table_of_promises_names_every_word() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert tuple(re.findall(r"^\| `([a-z-]+)`", text, re.MULTILINE)) == PROMISES
