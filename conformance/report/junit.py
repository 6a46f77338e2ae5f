"""Answer as JUnit's XML, which every CI server reads: violated is a failure, unknown an error.

The format has no outcome for unknown, and no CI server accepts an error as a pass. Elements and attributes
are those that the schema of Jenkins' xUnit plugin (`junit-10.xsd`) and Apache Ant's know: counts are
properties of the suite, since neither has properties of a case.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

from antiphon.conformance.report.answers import Answer, Case, Suite, facts_as_text, lines_of
from antiphon.model.verdict import Outcome
from antiphon.spec.lang.foreign import writable

_ELEMENTS = {Outcome.VIOLATED: "failure", Outcome.UNKNOWN: "error"}
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(answer: Answer) -> str:
    """Return the text of the file, ending with a newline."""
    root = ET.Element("testsuites", {"name": f"antiphon {answer.command}", **_counts(answer.suites)})
    for suite in answer.suites:
        root.append(_suite(suite))
    ET.indent(root)
    return f"<?xml version='1.0' encoding='UTF-8'?>\n{ET.tostring(root, encoding='unicode')}\n"


def _suite(suite: Suite) -> ET.Element:
    made = ET.Element("testsuite", {"name": _clean(suite.name), "skipped": "0", **_counts((suite,))})
    facts = {**facts_as_text(suite.facts), "seconds": _seconds(suite.seconds), "outcome": suite.outcome.value}
    if suite.reproduce:
        facts["reproduce"] = suite.reproduce
    properties = ET.SubElement(made, "properties")
    for name, value in facts.items():
        ET.SubElement(properties, "property", name=_clean(name), value=_clean(value))
    for case in suite.cases:
        made.append(_case(suite, case))
    return made


def _case(suite: Suite, case: Case) -> ET.Element:
    made = ET.Element("testcase", classname=_clean(suite.name), name=_clean(case.property))
    if case.outcome in _ELEMENTS:
        message = _clean(case.reason or case.outcome.value)
        wrong = ET.SubElement(made, _ELEMENTS[case.outcome], type=case.kind, message=message)
        place = [f"{case.at.file}:{case.at.line}"] if case.at is not None else []
        again = [f"again: {suite.reproduce}"] if suite.reproduce else []
        steps = lines_of(case.shown) if case.shown is not None else []
        wrong.text = _clean("\n".join([message, *place, *steps, *again]))
    if case.shown is not None and case.shown.file:
        attached = Path(case.shown.file).absolute()
        ET.SubElement(made, "system-out").text = _clean(f"[[ATTACHMENT|{attached}]]")
    return made


def _counts(suites: tuple[Suite, ...]) -> dict[str, str]:
    outcomes = [case.outcome for suite in suites for case in suite.cases]
    return {
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count(Outcome.VIOLATED)),
        "errors": str(outcomes.count(Outcome.UNKNOWN)),
        "time": _seconds(sum(suite.seconds for suite in suites)),
    }


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"


def _clean(text: str) -> str:
    """Remove the characters that XML does not allow from a text."""
    return _NO_XML.sub("?", writable(text))
