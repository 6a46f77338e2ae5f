"""JSON Schemas of the documents; other tests hold every document that they make against them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.schemas import complaints

from antiphon.conformance.cli.schema import SCHEMAS

Run = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one_of_the_draft_and_has_its_own_name(antiphon: Run, name: str) -> None:
    schema = json.loads(antiphon("schema", name).out)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"].startswith(f"urn:antiphon:{name}:")


def test_the_kinds_are_listed_and_a_slip_is_told(antiphon: Run) -> None:
    listed = antiphon("schema").out
    assert all(name in listed for name in SCHEMAS)
    answer = antiphon("schema", "reprot")
    assert (answer.code, "did you mean 'report'?" in answer.err) == (64, True)


def test_a_document_that_lacks_a_field_or_has_one_of_another_type_is_refused(antiphon: Run) -> None:
    document = json.loads(antiphon("check", "cli_courier:Courier", "--json").out)
    assert not complaints("report", document)
    (report,) = document["reports"]
    assert complaints("report", document | {"reports": [report | {"name": 7}]})
    assert complaints("report", document | {"reports": [{k: v for k, v in report.items() if k != "name"}]})
    assert complaints("report", document | {"command": "chekc"})
    assert not complaints("report", document | {"added": "by a later release"})


def test_a_saved_trace_is_a_document_and_a_damaged_one_is_none(trace: Path) -> None:
    document = json.loads(trace.read_bytes())
    assert not complaints("itf", document)
    assert complaints("itf", {key: value for key, value in document.items() if key != "states"})
    document["#meta"]["antiphon"]["steps"] = "send"
    assert complaints("itf", document)


@pytest.mark.deep
def test_a_swarm_that_is_kept_has_documents(antiphon: Run, tmp_path: Path) -> None:
    asked = ("swarm", "rbp", "--runs", 1, "--seed", 1, "--jobs", 1, "--fault", "drops-late-bodies")
    answer = antiphon(*asked, "--log", "swarm", "--json")
    assert not complaints("report", json.loads(answer.out))
    schedule = next((tmp_path / "swarm").rglob("schedule.json"))
    assert not complaints("schedule", json.loads(schedule.read_bytes()))
    logs = schedule.parent.glob("*.ndjson")
    lines = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
    assert len(lines) > 10
    assert [complaints("trace", line) for line in lines if complaints("trace", line)] == []
    assert complaints("trace", {"i": 0, "kind": "delivered"})


def test_the_strength_of_the_ledger_is_a_document() -> None:
    document = json.loads((ROOT / "docs" / "ledger-strength.json").read_bytes())
    assert not complaints("strength", document)
    assert complaints("strength", document | {"irb": {"digest": "no strength"}})
