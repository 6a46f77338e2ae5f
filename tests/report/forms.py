"""The forms of reports as their schemas have them, so that a report with anything else is refused.

SARIF: the members that OASIS' schema 2.1.0 allows in each object that we write, with the ones that it
requires, and GitHub's own demands. JUnit: the elements and attributes of `junit-10.xsd` (Jenkins' xUnit
plugin), which is the stricter of the two in use.
"""

from __future__ import annotations

import re
from typing import Any, Literal
from xml.etree import ElementTree as ET

import msgspec


class _Object(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, rename="camel"):
    """An object of the schema."""


class Text(_Object):
    text: str


class ArtifactLocation(_Object):
    uri: str | None = None
    uri_base_id: str | None = None
    description: Text | None = None


class Region(_Object):
    start_line: int

    def __post_init__(self) -> None:
        assert self.start_line >= 1


class PhysicalLocation(_Object):
    artifact_location: ArtifactLocation
    region: Region


class LogicalLocation(_Object):
    name: str
    kind: str


class Location(_Object):
    physical_location: PhysicalLocation | None = None
    logical_locations: list[LogicalLocation] | None = None
    message: Text | None = None


class ThreadFlowLocation(_Object):
    location: Location
    execution_order: int
    importance: Literal["important", "essential", "unimportant"]


class ThreadFlow(_Object):
    id: str
    message: Text
    locations: list[ThreadFlowLocation]

    def __post_init__(self) -> None:
        assert self.locations


class CodeFlow(_Object):
    thread_flows: list[ThreadFlow]
    message: Text

    def __post_init__(self) -> None:
        assert self.thread_flows


class Attachment(_Object):
    artifact_location: ArtifactLocation
    description: Text


class Result(_Object):
    rule_id: str
    rule_index: int
    level: Literal["error", "warning", "note", "none"]
    message: Text
    locations: list[Location]
    partial_fingerprints: dict[str, str]
    code_flows: list[CodeFlow] = []
    attachments: list[Attachment] = []


class Configuration(_Object):
    level: Literal["error", "warning", "note", "none"]


class Rule(_Object):
    id: str
    name: str
    short_description: Text
    full_description: Text
    help: Text
    default_configuration: Configuration


class Driver(_Object):
    name: str
    version: str
    rules: list[Rule]


class Tool(_Object):
    driver: Driver


class Automation(_Object):
    id: str


class Notification(_Object):
    message: Text
    level: Literal["error", "warning", "note", "none"]


class Invocation(_Object):
    execution_successful: bool
    exit_code: int
    tool_execution_notifications: list[Notification]


class SarifRun(_Object):
    tool: Tool
    automation_details: Automation
    column_kind: Literal["utf16CodeUnits", "unicodeCodePoints"]
    original_uri_base_ids: dict[str, ArtifactLocation]
    invocations: list[Invocation]
    results: list[Result]
    properties: dict[str, Any]


class Sarif(msgspec.Struct, forbid_unknown_fields=True, rename={"schema": "$schema"}):
    schema: str
    version: Literal["2.1.0"]
    runs: list[SarifRun]


def read_sarif(text: str) -> SarifRun:
    """The one run of a SARIF log, after every demand of the form."""
    (run,) = msgspec.json.decode(text, type=Sarif).runs
    rules = run.tool.driver.rules
    assert len({rule.id for rule in rules}) == len(rules)
    for result in run.results:
        assert rules[result.rule_index].id == result.rule_id
        places = [place for place in result.locations if place.physical_location is not None]
        assert places == result.locations
        assert places, f"{result.rule_id} has no place, and GitHub refuses the whole file"
        threads = [thread for flow in result.code_flows for thread in flow.thread_flows]
        steps = [step for thread in threads for step in thread.locations]
        assert len(steps) <= 1_000
        assert len({step.execution_order for step in steps}) == len(steps)
        assert result.partial_fingerprints
    assert len(run.results) <= 5_000
    return run


_ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {
        "name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname", "id",
        "package", "file", "log", "url", "version",
    },
    "properties": set[str](),
    "property": {"name", "value"},
    "testcase": {"name", "time", "classname", "group"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "system-out": set[str](),
}  # fmt: skip
_CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase", "system-out", "system-err", "testsuite"},
    "properties": {"property"},
    "testcase": {"skipped", "error", "failure", "system-out", "system-err"},
}


def read_junit(text: str) -> ET.Element:
    """The root of a JUnit report, after every demand of the form."""
    root = ET.fromstring(text)
    assert root.tag == "testsuites"
    for element in root.iter():
        assert set(element.attrib) <= _ATTRIBUTES[element.tag], element.attrib
        assert {child.tag for child in element} <= _CHILDREN.get(element.tag, set())
        if "time" in element.attrib:
            assert re.fullmatch(r"\d+(\.\d{0,3})?", element.attrib["time"])
        if element.tag in ("testsuites", "testsuite"):
            for count, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
                assert int(element.attrib[count]) == len(list(element.iter(tag))), count
        if element.tag in ("testsuite", "testcase"):
            assert element.attrib["name"]
    return root
