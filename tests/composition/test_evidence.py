"""The entries of the table of layers that models confirm: every check comes out as recorded, and says what
the table says.
"""

from __future__ import annotations

from functools import cache

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.conformance.ledger.checking import program_of
from antiphon.model.verdict import Report
from antiphon.spec.claims import Check
from antiphon.spec.composition import EVIDENCE, Entry, Property, Role, layer_of

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""


def title(entry: Entry) -> str:
    return f"{entry.layer}-{entry.role.value}-{entry.property.name}"


@pytest.mark.parametrize("entry", EVIDENCE, ids=title)
def test_an_entry_is_what_the_table_says(entry: Entry) -> None:
    layer = layer_of(entry.layer)
    rows = {Role.REQUIRES: layer.requires, Role.PROVIDES: layer.provides, Role.INHERITS: layer.inherits}
    if entry.role is Role.LACKS:
        assert entry.property not in layer.provides
    else:
        assert entry.property in rows[entry.role]
    outcomes = {item.outcome for item in entry.checks}
    assert "violated" in outcomes if entry.role in (Role.REQUIRES, Role.LACKS) else "holds" in outcomes


def program_key(recorded: Check) -> str:
    """Checks with the same key are about the same program."""
    return f"{recorded.spec.__name__} {recorded.repairs} {sorted(recorded.constants.items())}"


@cache
def explored(key: str) -> Report:
    """One exploration of a program for all properties that entries ask it about, kept for the next run."""
    asked = [item for entry in EVIDENCE for item in entry.checks if program_key(item) == key]
    return check(program_of(asked[0]), list(dict.fromkeys(item.property for item in asked)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(entry, marks=(pytest.mark.deep,) * late, id=title(entry))
        for number, entry in enumerate(EVIDENCE)
        for late in (number % 8 != 2 or entry.layer == "FRAG",)
    ],
)
def test_the_models_confirm_the_entry(entry: Entry) -> None:
    for recorded in entry.checks:
        verdict = explored(program_key(recorded))[recorded.property]
        assert verdict.outcome.value == recorded.outcome, str(recorded)
        if recorded.length is not None:
            assert verdict.trace is not None
            assert len(verdict.trace) == recorded.length, str(recorded)


def test_entries_are_recorded_once() -> None:
    assert len({(entry.layer, entry.role, entry.property) for entry in EVIDENCE}) == len(EVIDENCE)


def test_every_inherited_entry_that_the_models_can_express_is_confirmed() -> None:
    """P12 over NAK would take NFRAG below it; the other properties that are missing here have no model."""
    expressible = {Property[name] for name in ("P1", "P4", "P6", "P8", "P9", "P11", "P12", "P15")}
    layers = [layer_of(name) for name in ("COM", "NAK", "FRAG", "MBRSHIP", "TOTAL")]
    wanted = {
        (layer.name, item.name)
        for layer in layers
        for item in (layer.inherits - layer.provides) & expressible
    } - {("NAK", "P12")}
    assert {(entry.layer, entry.property.name) for entry in EVIDENCE if entry.role is Role.INHERITS} == wanted
