"""One process that goes from list to list: three machines of the implementation, and its past.

The machines are the core of a protocol on one list, the change that ends the list, and the succession that
joins the two. For the next list there are three others; the part of a membership's state that goes from one
to the next stands in `Past`.

This module must not know a protocol or the variables of a specification.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

from antiphon.conformance.compare.bindings.core_binding import GROUP, NOW
from antiphon.impl.membership import consensus, view_change
from antiphon.impl.membership.member import Member
from antiphon.impl.membership.succession import Roster, Succession
from antiphon.impl.membership.view_change import Decision, ViewChange
from antiphon.impl.protocols.core import Delivery, Implementation, Send
from antiphon.impl.protocols.flush import Flushes, Report
from antiphon.impl.tracing import NULL_TRACER
from antiphon.impl.transport import wire

__all__ = ["MEMBERS", "Kinds", "ListProcess", "Past", "Service", "Standing", "changed"]

MEMBERS = [Member(bytes([one + 1]) * 16, f"p{one}", "10.0.0.1", 7001 + one) for one in range(8)]
"""The processes as members of a group, with invented incarnations, names and addresses."""


class Service:
    """Consensus as a service: the proposal of this member, and the decision, once it knows it."""

    def __init__(self, me: int, members: int) -> None:
        """Start without a proposal and a decision."""
        self.decision: Decision | None = None
        self.proposed: Decision | None = None
        self._others = [process for process in range(members) if process != me]
        self._outputs: list[Send[consensus.Message[Decision]]] = []

    def propose(self, value: Decision) -> None:
        """Store this member's proposal."""
        if self.proposed is None and self.decision is None:
            self.proposed = value

    def suspect(self, suspected: frozenset[int]) -> None:
        """Ignore suspicions: a consensus that is a service waits for nobody."""

    def receive(self, sender: int, message: consensus.Message[Decision]) -> None:
        """Learn the decision from a message."""
        del sender
        if isinstance(message, consensus.Decide) and self.decision is None:
            self.decision = message.value

    def decide(self) -> bool:
        """Make this member's proposal the decision; return False if it has proposed nothing."""
        self.decision = self.proposed
        if self.decision is None:
            return False
        self._outputs = [Send(to, consensus.Decide(self.decision)) for to in self._others]
        return True

    def settle(self) -> None:
        """Do nothing: the environment decides, by the step `decide`."""

    def outputs(self) -> list[Send[consensus.Message[Decision]]]:
        """Return, once, the message that tells the others the decision."""
        outputs, self._outputs = self._outputs, []
        return outputs

    def snapshot(self) -> tuple[Decision | None, Decision | None]:
        """Return the proposal of this member, and the decision if it is known."""
        return self.proposed, self.decision

    def restore(self, snapshot: tuple[Decision | None, Decision | None]) -> None:
        """Set the proposal and the decision to those of a snapshot."""
        self.proposed, self.decision = snapshot


class Past(NamedTuple):
    """Past of a process on earlier lists, and what the environment has done to it. Members are numbers."""

    lists: tuple[tuple[int, ...], ...]
    """Lists of the process, in their order; the last is the present one."""
    base: int = 0
    """Global number of the last message of the earlier lists; numbers of the present list follow it."""
    over: frozenset[int] = frozenset()
    """Messages that the process delivered in earlier lists."""
    delivered: frozenset[int] = frozenset()
    """Messages that the process has delivered."""
    broadcasts: int = 0
    """Number of messages that the process broadcast in earlier lists."""
    decisions: tuple[tuple[Past, Decision], ...] = ()
    """Decisions at the ends of earlier lists, each with the meaning of names there (`names`)."""
    reports: tuple[tuple[Past, Report], ...] = ()
    """Reports of the process, one for each list, with the meaning of names there."""
    suspected: frozenset[int] = frozenset()
    given_up: frozenset[int] = frozenset()
    """Members that the slow detector suspects too; all of `suspected` where there is one detector."""
    down: bool = False
    left: bool = False
    cores: tuple[int, ...] = ()
    """Number of members that order messages, the first ones, of each list; () if all do on every list."""
    regular: tuple[bool, ...] = ()
    """For each list, whether it is a regular view; () if all are."""
    own: frozenset[int] = frozenset()
    """Messages that the process has broadcast, where lists may end without them."""
    values: tuple[tuple[Past, Decision | None], ...] = ()
    """Values that the process has proposed for the lists after earlier ones, with the meaning of names."""
    abandoned: frozenset[int] = frozenset()
    """Members that the process had given up when it reported on an earlier list."""

    @property
    def rosters(self) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
        """Return all lists, and how many members order messages on each."""
        return self.lists, self.cores

    @property
    def core(self) -> int:
        """Return the number of members that order messages on the present list."""
        return self.cores[-1] if self.cores else len(self.members)

    @property
    def members(self) -> tuple[int, ...]:
        """Return the present list."""
        return self.lists[-1]

    @property
    def names(self) -> Past:
        """Return the part of the past that says what names on the present list mean: which message an
        identifier stands for, and which global number a number of the list.
        """
        return Past((self.members,), self.base, self.over)


class Standing(NamedTuple):
    """Whole state of a process: the snapshots of its three machines, and its past."""

    past: Past
    core: Any
    succession: tuple[bool, view_change.Snapshot]

    @property
    def change(self) -> view_change.Snapshot:
        """Return the snapshot of the machine that changes the list."""
        return self.succession[1]

    @property
    def decision(self) -> Decision | None:
        """Return the decision, if the process knows it."""
        found: Decision | None = self.change.agreement[1]
        return found

    @property
    def proposed(self) -> Decision | None:
        """Return the proposal of the process."""
        found: Decision | None = self.change.agreement[0]
        return found


def changed(past: Past, **changes: Any) -> Past:
    """Return the past with these fields changed."""
    return past._replace(**changes)


class Alone:
    """Stand-in for the core of a list with a single member, which exchanges no messages and does nothing."""

    violations: Mapping[object, int] = {}
    caught_up = lost = False

    def start(self, now: float) -> None:
        """Do nothing: there is no other member to greet."""

    def outputs(self) -> list[Send[Any]]:
        """Return no messages."""
        return []

    def deliveries(self) -> list[Delivery]:
        """Return no deliveries."""
        return []

    def accept(self, now: float) -> bool:
        """Return False: there is no token."""
        del now
        return False

    def snapshot(self) -> None:
        """Return None, the only state."""

    def restore(self, snapshot: None, now: float) -> None:
        """Do nothing: there is one state."""


class Kinds(NamedTuple):
    """Classes of the machines of a process, faulty ones where a fault is planted."""

    implementation: Implementation[Any]
    codec: wire.Codec[Any]
    change: type[ViewChange] = ViewChange
    succession: type[Succession] = Succession


class ListProcess:
    """Process on one list, made of three machines."""

    def __init__(self, kinds: Kinds, me: int, past: Past) -> None:
        """Make process `me`, fresh on the last list of `past`."""
        self.past = past
        """Past of the process."""
        members = past.members
        self.at = at = members.index(me)
        """Place of the process on the list."""
        count = len(members)
        listed: Callable[..., Any] | None = kinds.implementation.listed
        assert listed is not None, "the protocol has lists"
        self.core: Any = listed(at, count, past.core, NULL_TRACER) if count > 1 else Alone()
        self.service = Service(at, count)
        external = kinds.implementation.external
        self.change = kinds.change(at, count, external=external, agreement=self.service)
        roster = Roster(len(past.lists), tuple(MEMBERS[one] for one in members), past.core)
        self.succession = kinds.succession(roster, at, cast(Flushes, self.core), self._deliver, self.change)
        self.admission = wire.Admission(kinds.codec, GROUP, at, max(count, 2))
        self.adopted: list[Delivery] = []
        """Deliveries of the last `adopt`."""

    def note(self, **changes: Any) -> Past:
        """Change fields of the past."""
        self.past = changed(self.past, **changes)
        return self.past

    def snapshot(self) -> Standing:
        """Return the whole state."""
        return Standing(self.past, self.core.snapshot(), self.succession.snapshot())

    def restore(self, snapshot: Standing) -> None:
        """Set the state to a snapshot that was taken on the same lists."""
        self.past = snapshot.past
        self.core.restore(snapshot.core, NOW)
        self.succession.restore(snapshot.succession)

    def _deliver(self, agreed: Report) -> bool:
        flushed = self.core.adopt(agreed)
        self.adopted = flushed or []
        return flushed is not None
