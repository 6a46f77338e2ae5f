"""The membership service gives what it says, and each option breaks the one guarantee that it names."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.verdict import Outcome
from antiphon.spec.environment import Membership
from antiphon.spec.lang import Map, Step, action, everywhere, invariant, obligation, program, require, witness
from antiphon.spec.services import Process, View

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""


class Following(Membership):
    """Members that do nothing but install what they are told, and send one packet to themselves in their
    view.
    """

    heard: Map[Process, Map[View, bool]] = everywhere(everywhere(False))

    @action(fairness="weak")
    def change_view(self, p: Process) -> None:
        require(self.may_install(p))
        self.install(p)

    @action
    def hear(self, p: Process, v: View) -> None:
        """A packet that p sent in view v arrives at p."""
        require(self.is_member(p) and v <= self.installed[p] and self.may_receive(p, v))
        self.heard[p][v] = True

    @invariant
    def OneCoordinator(self) -> bool:
        return not any(
            p < q
            and self.installed[p] == self.installed[q]
            and self.is_coordinator(p)
            and self.is_coordinator(q)
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @invariant
    def OneList(self) -> bool:
        return all(
            self.installed[p] != self.installed[q] or self.current_members(p) == self.current_members(q)
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @invariant
    def NoViewIsSkipped(self) -> bool:
        return all(
            self.installed[p] >= self.formed - 1 or self.down[p]
            for p in self.members[self.formed]
            if self.installed[p] > 0
        )

    @invariant
    def WhoIsUpStays(self) -> bool:
        """Processes that are up are never excluded."""
        return self.formed == 1 or all(
            self.down[p] or p in self.members[self.formed] for p in self.members[1]
        )

    @obligation
    def Settles(self) -> bool:
        """In the end all who are up have the last view, and nobody who is down is in it."""
        return self.is_settled() and not any(self.down[p] for p in self.members[self.formed])

    @witness
    def LastView(self) -> bool:
        return self.formed == self.views and self.is_settled()


class Old(Following):
    """Specification in which no message of an old view is heard."""

    @invariant
    def OnlyThisView(self) -> bool:
        return not any(
            self.is_stale(p, v) and self.may_receive(p, v)
            for p in self.each(Process)
            for v in self.each(View)
        )

    @action
    def hear_old(self, p: Process, v: View) -> None:
        """Hear a message that p sent in an earlier view."""
        require(v < self.installed[p] and self.may_receive(p, v))
        self.heard[p][v] = True

    @witness
    def HeardOld(self) -> bool:
        return any(
            self.heard[p][1] and self.installed[p] == 2 and not self.heard[p][2] for p in self.each(Process)
        )


SIZES: dict[str, dict[str, Any]] = {
    "crashes": {"views": 3, "crashes": 2},
    "a joiner": {"views": 3, "crashes": 1, "joiners": 1},
    "the same members": {"views": 3, "crashes": 0, "reforms": True},
}


def outcomes(**constants: Any) -> dict[str, Outcome]:
    report = check(program(Following, processes=3, messages=1, **constants))
    assert report.exploration.complete
    return {verdict.property: verdict.outcome for verdict in report.verdicts}


@pytest.mark.parametrize("name", SIZES)
def test_the_service_gives_what_it_promises(name: str) -> None:
    assert set(outcomes(**SIZES[name]).values()) == {Outcome.HOLDS}


BROKEN: dict[str, tuple[dict[str, Any], set[str]]] = {
    "another order": ({"lists": "another order"}, {"OneCoordinator"}),
    "one side": ({"lists": "one side"}, {"OneCoordinator", "OneList"}),
    "not to the last": ({"announced": "not to the last"}, {"Settles"}),
    "suspicions": ({"suspicions": True, "crashes": 0}, {"WhoIsUpStays"}),
}


@pytest.mark.parametrize("name", BROKEN)
def test_each_option_breaks_one_guarantee(name: str) -> None:
    constants, expected = BROKEN[name]
    found = outcomes(views=2, **constants)
    assert {property for property, outcome in found.items() if outcome is Outcome.VIOLATED} == expected


@pytest.mark.parametrize(("synchrony", "heard"), [("sending view", False), ("none", True)])
def test_messages_of_an_old_view_are_received_only_where_synchrony_is_broken(
    synchrony: str, heard: bool
) -> None:
    bound = program(Old, processes=2, messages=1, crashes=0, reforms=True, synchrony=synchrony)
    machine = bound.reference
    state = machine.initial()[0]
    for step in (Step("reform"), Step("change_view", (Process(0),))):
        state = machine.apply(state, step).state
    assert (Step("hear_old", (Process(0), 1)) in list(machine.enabled(state))) is heard
    assert check(bound, properties=["OnlyThisView"])["OnlyThisView"].outcome is Outcome.HOLDS


def test_joiners_come_in_the_order_of_their_index_and_start_in_no_view() -> None:
    machine = program(Following, processes=3, messages=1, joiners=2, crashes=0, views=3).reference
    state = machine.initial()[0]
    admitted = [step for step in machine.enabled(state) if step.action == "admit"]
    assert admitted == [Step("admit", (Process(1),))]
