"""Reference adapters of docs/adapters, made with the tools that are on this machine, and planted faults.

A fault is a text of the adapter and what stands in its place. Each language has the same faults, so that each
of the adapters shows that it is found; only the adapter in Python has a disk, and can lose it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HOME = Path(__file__).parents[2] / "docs" / "adapters"
SPEC = HOME / "ordered_spec.py"

TOOLS = {"python": sys.executable, "c": "cc", "java": "javac", "go": "go"}
"""The tool that makes the adapter of each language."""

FOUND = [language for language, tool in TOOLS.items() if shutil.which(tool)]
"""Languages whose tools are on this machine."""

SOURCES = {"python": "ordered.py", "c": "ordered.c", "java": "Ordered.java", "go": "ordered.go"}
JSON = {"c": "json.h", "java": "Json.java"}
"""The file that takes JSON apart, where the language has no library for it."""


@dataclass(frozen=True)
class Fault:
    """Planted fault: in each language that it can be in the text that it replaces, with the new one;
    `found_by` are the questions that find it.
    """

    texts: dict[str, tuple[str, str]]
    found_by: frozenset[str]


FAULTS = {
    "a lost message is not sent again": Fault(
        {
            "python": ("for message in self.wanted:\n            say", "for message in []:\n            say"),
            "c": ("for (int i = 0; i < wants; i++) tell(", "for (int i = 0; i < 0; i++) tell("),
            "java": ("for (Object m : wanted) {", "for (Object m : List.of()) {"),
            "go": ("for _, m := range wanted {", "for _, m := range []any{} {"),
        },
        frozenset({"run"}),
    ),
    "a message is told to nobody": Fault(
        {
            "python": ("for other in self.names[1:]:", "for other in []:"),
            "c": ("for (int i = 1; i < nodes; i++)", "for (int i = 1; i < 0; i++)"),
            "java": ("names.subList(1, names.size())", "names.subList(0, 0)"),
            "go": ("range names[1:]", "range names[:0]"),
        },
        frozenset({"lockstep"}),
    ),
    "a message is delivered twice": Fault(
        {
            "python": ("if not self.knows(body, self.log):", "if True:"),
            "c": ("it.m && !knows(delivered, deliveries, it.m)) number(it);", "it.m) number(it);"),
            "java": ('equals(body.get("type")) && !log.contains(m)', 'equals(body.get("type"))'),
            "go": (' && known[it["m"]] == nil:', ':'),
        },
        frozenset({"run", "lockstep", "check"}),
    ),
    "messages are swapped": Fault(
        {
            "python": (
                'if body.pop("number") == len(self.log) + 1:',
                'if body.pop("number") and not self.knows(body, self.log):',
            ),
            "c": ("atoi(place) == deliveries + 1)", "!knows(delivered, deliveries, it.m))"),
            "java": ("Long.valueOf(log.size() + 1).equals(number)", "!log.contains(m)"),
            "go": ('it["number"] == float64(len(log)+1):', 'it["number"].(float64) > float64(len(log)):'),
        },
        frozenset({"run", "lockstep"}),
    ),
    "a restart forgets": Fault(
        {
            "python": ("if self.disk.exists():", "if False:"),
        },
        frozenset({"run", "lockstep"}),
    ),
    "a step that is not enabled is taken": Fault(
        {
            "python": ("if self.knows(message, self.log + self.wanted):", "if False:"),
            "c": ("knows(delivered, deliveries, it.m) || knows(wanted, wants, it.m)", "0"),
            "java": ("if (log.contains(m) || wanted.contains(m)) {", "if (false) {"),
            "go": ("m == nil || known[m] != nil:", "m == nil:"),
        },
        frozenset({"lockstep"}),
    ),
    "a payload is changed": Fault(
        {
            "python": ('say("antiphon", event)', 'say("antiphon", {**event, "bytes": ""})'),
            "c": ('tell("\\"antiphon\\""', 'it.bytes = "\\"\\""; tell("\\"antiphon\\""'),
            "java": ('payloads.put(m, bytes);\n        say("ant', 'bytes = "";\n        say("ant'),
            "go": ('\ttell("antiphon", m,', '\tit["bytes"] = ""\n\ttell("antiphon", m,'),
        },
        frozenset({"run", "check"}),
    ),
}  # fmt: skip


def made(language: str, directory: Path, fault: str = "") -> list[str]:
    """Return the command of an adapter that is made in a directory, with a planted fault if one is named."""
    text = (HOME / SOURCES[language]).read_text(encoding="utf-8")
    if fault:
        old, new = FAULTS[fault].texts[language]
        assert text.count(old) == 1, f"{fault} in {language}: the text is there {text.count(old)} times"
        text = text.replace(old, new)
    directory.mkdir(parents=True, exist_ok=True)
    if beside := JSON.get(language):
        shutil.copy(HOME / beside, directory)
    source = directory / SOURCES[language]
    source.write_text(text, encoding="utf-8")
    match language:
        case "python":
            return [sys.executable, "-S", str(source)]
        case "c":
            strict = ("-Wall", "-Wextra", "-Werror", "-Wno-misleading-indentation")
            _run("cc", *strict, "-o", "ordered", source.name, home=directory)
            return [str(directory / "ordered")]
        case "java":
            _run("javac", source.name, home=directory)
            return ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", str(directory), "Ordered"]
        case _:
            _run("go", "build", source.name, home=directory)
            return [str(directory / "ordered")]


def _run(*command: str, home: Path) -> None:
    ran = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
