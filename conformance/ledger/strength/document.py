"""JSON file of the mutants' answers (`docs/ledger-strength.json`), read and written whole. It has one section
for each family of claims (the letters before the dash: RBC, MSQ).

1. A section holds the results of a family (`results`), and a digest of everything they depend on. A stale
   section is noticed without running anything.
2. The digest covers the recorded checks that hold, and the meaning of their specifications and of the checked
   properties. It does not cover whether a check is deep: its row stays true when the check becomes quick. But
   a deep check may have been left out when the section was written. If it is quick today, the section has no
   row for it, and is stale.
3. A row is one line, so that a diff of two files is readable.

This file knows no protocol, runs nothing, and knows nothing of the page that is made from it,
`docs/ledger-strength.md`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from antiphon.conformance.ledger.checking import program_of
from antiphon.conformance.ledger.strength.programs import checks_that_hold, meaning_of, program_text
from antiphon.conformance.ledger.strength.results import FamilyStrength
from antiphon.spec.claims import Claim

__all__ = ["Section", "digest", "encoded", "is_stale", "read"]

FORM = 5
"""Version of the digest; a higher one makes all sections stale."""


class Section(msgspec.Struct, frozen=True):
    """Results of a family, and a digest of everything they depend on."""

    digest: str
    strength: FamilyStrength


def read(file: Path) -> dict[str, Section]:
    """Return the sections by their families; none if there is no file.

    Raises:
        msgspec.DecodeError: the file was not written by `encoded`.
    """
    return msgspec.json.decode(file.read_bytes(), type=dict[str, Section]) if file.is_file() else {}


def encoded(sections: Mapping[str, Section]) -> str:
    """Return the sections as JSON, with one row on each line, ending in a newline."""
    return _laid_out(msgspec.to_builtins(sections), "") + "\n"


def _laid_out(value: object, indent: str) -> str:
    """Return JSON in which a list or an object that contains others has a line for each item, and every other
    value is on one line.
    """
    deeper = indent + " "
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    if not any(isinstance(item, dict | list | tuple) for item in items):
        return json.dumps(value, ensure_ascii=False)
    names = [f"{json.dumps(key)}: " for key in value] if isinstance(value, dict) else [""] * len(items)
    begin, end = "{}" if isinstance(value, dict) else "[]"
    parts = (name + _laid_out(item, deeper) for name, item in zip(names, items, strict=True))
    return f"{begin}\n{deeper}" + f",\n{deeper}".join(parts) + f"\n{indent}{end}"


def digest(claims: Iterable[Claim]) -> str:
    """Return the SHA-256, in hex, of the checks of a family that are recorded to hold, and of the meaning of
    their properties.
    """
    meant: list[object] = [FORM]
    for claim, check in checks_that_hold(claims):
        bound = program_of(check)
        constants = sorted(bound.constants.items())
        meant.append([claim.id, str(check), meaning_of(bound, (check.property,)), constants])
    return hashlib.sha256(json.dumps(meant, default=str).encode()).hexdigest()


def is_stale(section: Section | None, claims: Iterable[Claim]) -> bool:
    """Return True if there is no section, or it rests on other records or specifications than today's."""
    claims = tuple(claims)
    if section is None or section.digest != digest(claims):
        return True
    rows = {(row.claim, row.property, row.program) for row in section.strength.checks}
    quick = (item for item in checks_that_hold(claims) if not item[1].deep)
    return any((claim.id, check.property, program_text(check)) not in rows for claim, check in quick)
