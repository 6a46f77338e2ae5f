"""Mistakes in the membership, the consensus and the flush, which a swarm of changing groups has to find.

Each is a function that plants it with `monkeypatch`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from antiphon.impl.membership.consensus import Consensus
from antiphon.impl.membership.detector import Detector
from antiphon.impl.membership.epoch import Epoch
from antiphon.impl.membership.membership import Membership
from antiphon.impl.membership.view_change import Decision, ViewChange
from antiphon.impl.protocols import flush
from antiphon.impl.protocols.flush import Report
from antiphon.impl.transport.endpoint import Endpoint

__all__ = ["FAULTS", "Plant"]

Plant = Callable[[pytest.MonkeyPatch], None]


def adopts_nothing(patch: pytest.MonkeyPatch) -> None:
    """Step 5 is left out: what the others have delivered in a list is not delivered at its end."""
    patch.setattr(Endpoint, "adopt", lambda _self, _agreed: True)


def reports_do_not_stop(patch: pytest.MonkeyPatch) -> None:
    """A core goes on after its report."""
    patch.setattr(Epoch, "stopped", property(lambda _: False, lambda _self, _value: None), raising=False)


def forgets_what_waits(patch: pytest.MonkeyPatch) -> None:
    """Planted fault: messages not delivered in one list are not broadcast again in the next."""
    before = Membership._begin

    def begin(self: Membership, *given: Any) -> None:
        kept, self._outstanding = self._outstanding, type(self._outstanding)()
        before(self, *given)
        self._outstanding = kept

    patch.setattr(Membership, "_begin", begin)


def counts_from_nothing(patch: pytest.MonkeyPatch) -> None:
    """Places in the common order begin again with each list."""
    before = Membership._begin

    def begin(self: Membership, *given: Any) -> None:
        self._delivered = 0
        before(self, *given)

    patch.setattr(Membership, "_begin", begin)


def welcomes_with_no_counts(patch: pytest.MonkeyPatch) -> None:
    """Planted fault: a joiner counts the messages of the others from its first view on."""
    before = Membership._welcome_received

    def received(self: Membership, data: bytes, now: float) -> None:
        known = self.epoch
        before(self, data, now)
        if known is None and self.epoch is not None:
            roster = self.epoch.roster.members
            none = [0] * len(roster)
            self.epoch.endpoint.go_on(roster, none, self._delivered, none, left=False)

    patch.setattr(Membership, "_welcome_received", received)


def anybody_is_a_majority(patch: pytest.MonkeyPatch) -> None:
    """A list ends with the reports of those that are not suspected, however few they are."""

    def look(self: ViewChange) -> None:
        if self.complete or self.me not in self.heard:
            return
        absent = self._suspected if self.external else self._given_up
        self.complete = all(process in self.heard or process in absent for process in range(self.members))

    patch.setattr(ViewChange, "_look", look)
    patch.setattr(Membership, "_may_change", property(lambda _: True))
    patch.setattr(Consensus, "_majority", property(lambda _: 1))


def one_answer_decides(patch: pytest.MonkeyPatch) -> None:
    """A coordinator of the consensus waits for one estimate and one answer."""
    patch.setattr(Consensus, "_majority", property(lambda _: 1))


def takes_any_estimate(patch: pytest.MonkeyPatch) -> None:
    """A coordinator of the consensus does not ask which estimate is the newest."""
    before = Consensus.gather

    def gather(self: Consensus[Decision]) -> bool:
        self._estimates = {key: replace(sent, timestamp=0) for key, sent in self._estimates.items()}
        return before(self)

    patch.setattr(Consensus, "gather", gather)


def keeps_its_decision(patch: pytest.MonkeyPatch) -> None:
    """Planted fault: a member that knows the decision does not send it on."""

    def decide(self: Consensus[Decision], value: Decision) -> None:
        self.decision = self.decision or value

    patch.setattr(Consensus, "_decide", decide)


def only_the_own_report_counts(patch: pytest.MonkeyPatch) -> None:
    """Step 3 is left out: a member proposes what it knows itself."""
    before = ViewChange.propose

    def propose(self: ViewChange, merge: Callable[[Any, bool], Report]) -> None:
        before(self, lambda _reports, missing: merge([self.heard[self.me].report], missing))

    patch.setattr(ViewChange, "propose", propose)


def leaves_holes(patch: pytest.MonkeyPatch) -> None:
    """A union of reports has the numbers of messages that nobody has (`cut_holes` is missing)."""
    before = flush.merged

    def merged(reports: Any) -> Report:
        joined = before(reports)
        return replace(joined, numbered=joined.numbered[:-1]) if joined.numbered else joined

    for module in ("rbp.process", "sequencer.listed", "total.listed", "vsc"):
        patch.setattr(f"antiphon.impl.protocols.{module}.merged", merged, raising=False)
    patch.setattr(flush, "merged", merged)


def never_gives_up(patch: pytest.MonkeyPatch) -> None:
    """The slow detector is missing: who has crashed stays a member."""
    patch.setattr(Detector, "given_up", property(lambda _: frozenset()))


def forgets_ended_lists(patch: pytest.MonkeyPatch) -> None:
    """Planted fault: a member that has ended a list falls silent about it, also to those that have not ended
    it yet.
    """
    patch.setattr(Membership, "_forget", lambda self, _now: self._ended.clear())


def ignores_that_it_is_excluded(patch: pytest.MonkeyPatch) -> None:
    """A member that the others have gone on without never learns it."""
    patch.setattr(Membership, "_superseded", lambda _self, _number: None)


def welcomes_once(patch: pytest.MonkeyPatch) -> None:
    """The news that somebody is a member is sent once, and never again."""
    before = Membership._join_received

    def received(self: Membership, source: bytes, *given: Any) -> None:
        if self.epoch is None or self.epoch.roster.place(source) is None:
            before(self, source, *given)

    patch.setattr(Membership, "_join_received", received)


def leaves_with_what_waits(patch: pytest.MonkeyPatch) -> None:
    """A member leaves, whatever of its own was not delivered (which was so once)."""
    before = Membership._look

    def look(self: Membership, now: float) -> None:
        kept = self._outstanding
        if self._leaving:
            self._outstanding = type(kept)()
        before(self, now)
        self._outstanding = kept

    patch.setattr(Membership, "_look", look)


def asks_for_views_over_and_over(patch: pytest.MonkeyPatch) -> None:
    """Planted fault: a member that has given up another one asks at once for another view if the others keep
    it (once real).
    """
    patch.setattr(Membership, "_may_exclude", lambda _self, _member, _now: True)


def mends_lists_over_and_over(patch: pytest.MonkeyPatch) -> None:
    """A list ends as soon as somebody on it is suspected, however short it was (which was so once)."""
    before = Membership._begin

    def begin(self: Membership, *given: Any) -> None:
        before(self, *given)
        self._patient_until = 0.0

    patch.setattr(Membership, "_begin", begin)


FAULTS: dict[str, Plant] = {plant.__name__: plant for plant in (
    adopts_nothing, reports_do_not_stop, forgets_what_waits, counts_from_nothing, welcomes_with_no_counts,
    anybody_is_a_majority, one_answer_decides, takes_any_estimate, keeps_its_decision,
    only_the_own_report_counts, leaves_holes, never_gives_up, forgets_ended_lists,
    ignores_that_it_is_excluded, welcomes_once, leaves_with_what_waits,
)}  # fmt: skip
