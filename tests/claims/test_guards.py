"""Every guard of a literal file is left out and asked for the other way round, and those are told that no
check notices.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Annotated

import pytest

from antiphon.conformance.ledger.strength import GuardTally, page, strength
from antiphon.conformance.ledger.strength.guards import cited, file_of, guards_of, home_of
from antiphon.conformance.ledger.strength.programs import is_text
from antiphon.spec.claims import Check, Claim, claim_of
from antiphon.spec.lang import (
    Between,
    Spec,
    action,
    constraint,
    invariant,
    program,
    repair,
    require,
)
from antiphon.spec.protocols.irbp.properties import IrbpChecked
from antiphon.spec.protocols.reformation.over_figure25 import RbpReformingChecked
from antiphon.spec.protocols.reformation.properties import ReformationChecked


class Door(Spec):
    """A door with a lock (figure 9)."""

    is_open: bool = False
    is_locked: bool = False
    used: Annotated[int, Between(0, 3)] = 0

    @constraint("close")
    def is_due(self) -> bool:
        """A door that was opened is due to close."""
        return self.is_open

    @action
    def open(self) -> None:
        """Figure 9, line 1: it is not locked; and it is a door."""
        require(not self.is_locked and self.used < 3)
        require(self.is_a_door())
        self.is_open = True
        self.used += 1

    def is_a_door(self) -> bool:
        """True of all states."""
        return self.used >= 0

    @action
    def close(self) -> None:
        """Line 2."""
        if self.is_open:
            self.is_open = False

    @action
    def lock(self) -> None:
        """A closed door is locked."""
        require(not self.is_open)
        self.is_locked = any(n > 0 for n in range(2) if not self.is_open)

    @invariant
    def LockedIsClosed(self) -> bool:
        """An open door is not locked."""
        return not (self.is_open and self.is_locked)


@repair("figure 9: whoever locks the door looks at it twice", answers="MSQ-01")
class LookTwice(Door):
    """Printed: once."""

    @action
    def lock(self) -> None:
        """A closed door that is not locked is locked."""
        require(not self.is_open and not self.is_locked)
        self.is_locked = True


class DoorChecked(Door, repairs=(LookTwice,)):
    """The door, with what mends it."""


def claim(*checks: Check) -> Claim:
    """A record with these checks."""
    return replace(claim_of("MSQ-01"), checks=checks)


@pytest.fixture(scope="module")
def found() -> GuardTally:
    told = strength([claim(Check(Door, "LockedIsClosed", "holds"))], sample=0, guards=True).guards
    assert told is not None
    return told


def test_every_guard_is_left_out_and_asked_for_the_other_way_round() -> None:
    """The guards of steps, branches, helpers and constraints count; those of comprehensions do not."""
    changes = [mutant.change for mutant in guards_of(program(Door))]
    both = {"guard dropped", "guard negated"}
    expected = {
        "not self.is_locked", "self.is_a_door()", "self.used >= 0", "self.is_open", "not self.is_open",
        "self.used < 3",
    }  # fmt: skip
    assert {(item.operator, item.before) for item in changes} == {
        (operator, before) for operator in both for before in expected
    }
    assert Counter(item.before for item in changes)["self.is_open"] == 4


def test_a_guard_whose_loss_no_check_notices_is_told_with_its_place(found: GuardTally) -> None:
    lost = [item for item in found.unnoticed if "dropped: `self.is_a_door()`" in item.mutant]
    assert [(item.same, item.to_the_end, item.programs, item.cited) for item in lost] == [
        (True, 1, 1, "Figure 9, line 1")
    ]
    told = [item.mutant for item in found.unnoticed]
    assert found.no_specification == 1
    assert not any("`not self.is_locked`" in item and "dropped" in item for item in told)
    assert found.changes == found.noticed + found.no_specification + len(found.unnoticed)


def test_a_guard_that_stands_in_the_printed_text_alone_is_told() -> None:
    """The check is about the repaired text, which puts another step in its place."""
    told = strength(
        [claim(Check(DoorChecked, "LockedIsClosed", "holds", "all"))], sample=0, guards=True
    ).guards
    assert told is not None
    lost = [item for item in told.unnoticed if item.mutant.startswith("Door.lock,")]
    assert {item.programs for item in lost} == {0}
    assert not any("LookTwice" in item.mutant for item in told.unnoticed)


@pytest.mark.deep
def test_what_is_asked_does_not_depend_on_the_sample_or_on_the_number_of_processes(found: GuardTally) -> None:
    checks = [claim(Check(Door, "LockedIsClosed", "holds"))]
    assert strength(checks, sample=3, seed=2, jobs=2, guards=True).guards is not None
    whole = strength(checks, sample=None, guards=True).guards
    assert whole is not None
    assert (whole.changes, whole.noticed, len(whole.unnoticed)) == (
        found.changes,
        found.noticed,
        len(found.unnoticed),
    )


def test_a_guard_that_was_not_asked_in_time_is_not_decided() -> None:
    """A guard without an answer is reported as undecided, not as unnoticed."""
    told = strength(
        [claim(Check(Door, "LockedIsClosed", "holds"))], sample=0, guards=True, seconds=0.0
    ).guards
    assert told is not None
    assert (told.noticed, len(told.unnoticed)) == (0, told.changes)
    assert not any(item.is_decided for item in told.unnoticed)
    assert " 0 not noticed, 14 not noticed as far as" in page.guards_in_brief(told)


def test_guards_are_asked_only_where_that_is_wanted() -> None:
    assert strength([claim(Check(Door, "LockedIsClosed", "holds"))], sample=0).guards is None


def test_the_guards_of_the_figures_are_among_them_and_no_variant_is() -> None:
    """Two that the reader of the ledger missed: the Resiliency Test, and that j is on no other list."""
    mutants = list(guards_of(program(ReformationChecked, repairs="all")))
    named = {f"{item.owner.__name__}: {item.change}" for item in mutants}
    for wanted in ("self.is_resilient(p, responders)", "self.belongs[j] == 0"):
        assert f"Reformation: guard dropped: `{wanted}`" in named
        assert any(item.startswith(f"Reformation: guard negated: `{wanted}`") for item in named)
    assert not any("__antiphon_variant__" in vars(item.owner) for item in mutants)
    assert all(is_text(item.owner) for item in mutants)


def test_guards_on_the_actor_and_constraints_of_a_text_are_among_them() -> None:
    """Figure 32's process that has killed itself; Reformation, which is blocking over figure 25."""
    for spec, wanted in ((IrbpChecked, "not self.left[p]"), (RbpReformingChecked, "self.is_free(p)")):
        named = {item.change.before for item in guards_of(program(spec, repairs="all"))}
        assert wanted in named


def test_a_file_is_asked_about_in_one_family_and_named_from_the_root() -> None:
    """Figures 23 and 24 stand below RBP with Reformation too; most of their checks are Reformation's."""
    assert home_of("antiphon.spec.protocols.reformation.figures23_24") == "ref"
    assert home_of("antiphon.spec.protocols.irbp.figure32") == "irb"
    assert home_of(__name__) == ""
    resilient = next(
        item
        for item in guards_of(program(ReformationChecked))
        if item.change.before == "self.belongs[j] == 0"
    )
    assert file_of(resilient) == "spec/protocols/reformation/figures23_24.py"
    assert cited(resilient) == "figure 24, phase I"


def test_the_section_lists_them_file_by_file(found: GuardTally) -> None:
    whole = strength([claim(Check(Door, "LockedIsClosed", "holds"))], sample=0, guards=True)
    section = page.section(whole)
    assert page.guards_in_brief(found) in section
    (row,) = [line for line in section.splitlines() if "guard dropped: `self.is_a_door()`" in line]
    assert row.endswith("| Figure 9, line 1 | the same | 1 of 1 |  |")
    assert page.guards_in_brief(GuardTally(changes=4, noticed=3, no_specification=1)).endswith(
        "0 not noticed."
    )
    decided = found.unnoticed[:1]
    told = page.guards_in_brief(GuardTally(changes=5, noticed=3, no_specification=1, unnoticed=decided))
    assert told.endswith("1 not noticed, which are:")
