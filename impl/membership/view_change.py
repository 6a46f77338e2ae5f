"""Change from one list of members to the next: reports, one agreement on list and messages, and the end of
the old list.

A group has regular views, which its application sees, and between two of them i-views, which it does not see.
Each of either kind is a list of the members; of those on the list the first ones order messages, the core,
and the others are external: they live, and listen. A regular view has no external members. One `ViewChange`
belongs to one list, whose members have the numbers 0 to n-1 in its order. Its owner has the core of the
protocol for that list, and links on which nothing is lost.

| figures 32 and 34, with their repairs         | here                                               |
|-----------------------------------------------|----------------------------------------------------|
| R-Broadcast (reformation, i), (i-view, i)     | `call`; `Call`, sent on to all by whoever gets it  |
| upon R-Deliver, for the first time            | `reports`: the owner stops its core, and reports   |
| step 1: send seqQ_k, or ack, to all           | `ReportMessage`: with recvQ_k too (`send_bodies`), |
|                                               | for both kinds (`exchange_queues`)                 |
| step 2: wait for all, or suspect them         | `complete`; a majority anyhow (`await_majority`)   |
| steps 3 and 4: propose (TL, Msg)              | `propose`; one consensus for both kinds            |
|                                               | (`agree_once`), `consensus.py`                     |
| only who misses nothing is in TL              | `propose` (`up_to_date`)                           |
| steps 5 to 7, or 5 and 6                      | the owner's, once there is a `decision`            |

What is decided here, beyond the figures:
1. A majority is one of all members of the list, external ones too, and all of them take part in the
   consensus. As printed they are the core's alone; then one wrong suspicion and one crash among three stop
   the group for ever. What was delivered is at all of the core, which is always more than half of the list:
   so each majority has somebody who has it.
2. A change waits for everybody who is not suspected by the quick detector. When that is over, whoever
   proposes makes a regular view, if one was called for and all whose reports it lacks are given up by the
   slow detector of somebody who has reported, and an i-view otherwise. So nobody is left out who is only
   suspected, and a group that somebody joins does not wait for a member that has just ended.
3. A member reports once, be it that one kind of list is called for or both.
4. An external member may lack what only the core keeps, so that it can propose no list that is large enough.
   It says so, and adopts another member's proposal: a majority may need its part in the consensus.
5. A protocol without external members (`Implementation.external`) has regular views alone: a change waits for
   everybody who is not given up.
6. Who leaves says so in its report, and is not on the next list; who joins has asked a member, whose report
   says so. Either takes a regular view.

No clock and no socket. Source: Barchet-Estefanel 2002, sections 4.4.2 to 4.4.5, figures 32 and 34;
`docs/irbp-repaired.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple, Protocol

from msgspec import Struct

from antiphon.impl.membership import consensus
from antiphon.impl.membership.consensus import Consensus
from antiphon.impl.membership.member import Member
from antiphon.impl.protocols.core import Process, Send
from antiphon.impl.protocols.flush import Report, covered_from

__all__ = [
    "Agreement",
    "Call",
    "Decision",
    "Kind",
    "Lacking",
    "Message",
    "Offer",
    "ReportMessage",
    "Snapshot",
    "ViewChange",
    "flaw",
]


class Kind(IntEnum):
    """Kind of a list of members."""

    INTERMEDIATE = 0
    """An i-view: the members are those of the last regular view, in another order, some of them external."""
    REGULAR = 1
    """A view that the application sees."""


class Call(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="call"):
    """Call (i-view, i) or (reformation, i) that ends this list."""

    kind: Kind


class ReportMessage(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="told"):
    """Report of step 1: the sender's knowledge, the processes that have asked the sender for admission, and
    whether the sender leaves.
    """

    report: Report
    joining: tuple[Member, ...]
    leaving: bool
    given_up: tuple[Process, ...]
    """Members that the sender's slow detector suspects."""


class Lacking(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="lacking"):
    """Notice that the sender can propose nothing: the members that have reported to it and miss no message
    are no majority of the list.
    """


class Decision(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Decision (TL, Msg): the kind of the next list, its core, the joining processes, and the messages that
    all deliver.
    """

    kind: Kind
    core: tuple[Process, ...]
    joins: tuple[Member, ...]
    leaves: tuple[Process, ...]
    agreed: Report


class Offer(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="offer"):
    """Proposal of the sender, for a member that can propose nothing itself."""

    value: Decision


Message = (
    Call
    | ReportMessage
    | Lacking
    | Offer
    | consensus.Estimate[Decision]
    | consensus.Proposal[Decision]
    | consensus.Ack
    | consensus.Nack
    | consensus.Decide[Decision]
)


def flaw(message: Message, members: int) -> str | None:
    """Return the reason why no correct member of a list of this size sends this message, or None."""
    match message:
        case ReportMessage(report=report, given_up=given_up, joining=joining):
            if not all(member.reachable for member in joining):
                return "a process whose host is no number"
            if any(process >= members for process in given_up):
                return f"{given_up} are not members of a list of {members}"
            return _report_flaw(report, members)
        case consensus.Estimate() | consensus.Proposal() | consensus.Decide() | Offer():
            value: Decision = message.value
            if not all(member.reachable for member in value.joins):
                return "a process whose host is no number"
            some = (*value.core, *value.leaves)
            if len(set(some)) < len(some) or any(process >= members for process in some):
                return f"{some} are not different members of a list of {members}"
            return _report_flaw(value.agreed, members)
    return None


def _report_flaw(report: Report, members: int) -> str | None:
    names = [item.identifier for item in report.numbered] + [item.identifier for item in report.bodies]
    if len(report.counts) != members or any(name is not None and name.source >= members for name in names):
        return f"a report about other than {members} members"
    numbers = [item.number for item in report.numbered]
    return None if numbers == sorted(set(numbers)) else "numbers that do not grow"


class Agreement(Protocol):
    """Consensus of the members of one list, as the interface that a change needs; `Consensus`
    implements it.
    """

    @property
    def decision(self) -> Decision | None:
        """Return the decision once this member knows it, else None."""
        ...

    def propose(self, value: Decision) -> None:
        """Propose this initial value."""
        ...

    def suspect(self, suspected: frozenset[int]) -> None:
        """Suspect these members from now on, and no others."""
        ...

    def receive(self, sender: int, message: consensus.Message[Decision]) -> None:
        """Handle a message of another member."""
        ...

    def settle(self) -> None:
        """Take steps until none is left."""
        ...

    def outputs(self) -> list[Send[consensus.Message[Decision]]]:
        """Return, once, the messages to send, in order."""
        ...

    def snapshot(self) -> Any:
        """Return the whole state, immutable."""
        ...

    def restore(self, snapshot: Any) -> None:
        """Set the state to a snapshot."""
        ...


class Snapshot(NamedTuple):
    """Whole state of a change at one member, with the state of its consensus."""

    kinds: tuple[Kind, ...]
    leaving: bool
    heard: tuple[tuple[int, ReportMessage], ...]
    complete: bool
    suspected: frozenset[int]
    given_up: frozenset[int]
    joining: tuple[Member, ...]
    tried: int
    value: Decision | None
    lacking: tuple[int, ...]
    offer: Decision | None
    agreement: Any


class ViewChange:
    """Member `me` of the list 0..members-1 while the list ends."""

    def __init__(
        self, me: int, members: int, *, external: bool = True, agreement: Agreement | None = None
    ) -> None:
        """Begin with no call for the change. Without `external` the change always ends in a regular view.

        Without `agreement` the members agree by a `Consensus`.
        """
        self.external = external
        self.me = me
        self.members = members
        self.kinds: set[Kind] = set()
        """Kinds of lists for which calls were R-delivered here. A call for a regular view that comes too late
        may be repeated on the next list.
        """
        self.leaving = False
        """True if this member wants to leave."""
        self.heard: dict[int, ReportMessage] = {}
        """Reports that have come, the own one too."""
        self.complete = False
        """True if step 2 has ended, after which a decision counts."""
        self._suspected: frozenset[int] = frozenset()
        self._given_up: frozenset[int] = frozenset()
        self._joining: list[Member] = []
        self._tried = 0
        """Number of reports at the time when they were too few for a list."""
        self._value: Decision | None = None
        """Proposal of this member."""
        self._lacking: set[int] = set()
        """Members that can propose nothing."""
        self._offer: Decision | None = None
        self._agreement: Agreement = Consensus(me, members) if agreement is None else agreement
        self._outputs: list[Send[Message]] = []

    # The calls ----------------------------------------------------------------------------------------------

    @property
    def called(self) -> bool:
        """Return True if a call has ended this list."""
        return bool(self.kinds)

    def call(self, kind: Kind) -> None:
        """R-broadcast a call, which ends the list. A second call of the same kind has no effect."""
        if kind not in self.kinds:
            self.kinds.add(kind)
            self._tried = 0
            self._to_others(Call(kind))
            self._look()

    def leave(self) -> None:
        """Call for a view without this member, unless it has reported already. The member stays until that
        view comes.
        """
        if self.me not in self.heard:
            self.leaving = True
            self.call(Kind.REGULAR)

    def admit(self, joining: Member) -> None:
        """Call for a view that this process is added to, unless this member has reported already."""
        if self.me not in self.heard:
            if joining not in self._joining:
                self._joining.append(joining)
            self.call(Kind.REGULAR)

    # Steps 1 to 4 -------------------------------------------------------------------------------------------

    @property
    def reports(self) -> bool:
        """Return True if the owner must now stop its core, and give its report."""
        return self.called and self.me not in self.heard

    def report(self, report: Report) -> None:
        """Send this report of the core's knowledge to all members (step 1)."""
        told = ReportMessage(report, tuple(self._joining), self.leaving, tuple(sorted(self._given_up)))
        self.heard[self.me] = told
        self._to_others(told)
        self._look()

    def suspect(self, suspected: frozenset[int], given_up: frozenset[int]) -> None:
        """Stop waiting for the `suspected` members; exclude those of them that are `given_up`."""
        if (suspected, given_up) != (self._suspected, self._given_up):
            self._suspected, self._given_up, self._tried = suspected, given_up, 0
            self._agreement.suspect(suspected)
            self._agreement.settle()
            self._look()

    def receive(self, sender: int, message: Message) -> None:
        """Handle a message of another member of this list, which has no flaw."""
        match message:
            case Call(kind=kind):
                self.call(kind)
            case ReportMessage():
                self.heard.setdefault(sender, message)
                self._look()
            case Lacking() if sender not in self._lacking:
                self._lacking.add(sender)
                if self._value is not None:
                    self._outputs.append(Send(sender, Offer(self._value)))
            case Lacking():
                pass  # it says so again, and has an offer or will get one
            case Offer(value=value):
                self._offer = self._offer or value
                self._take_offer()
            case _:
                self._agreement.receive(sender, message)
                self._agreement.settle()

    @property
    def proposes(self) -> bool:
        """Return True if the owner must `propose` now."""
        waits = self._value is None and self._agreement.decision is None
        return self.complete and waits and len(self.heard) > self._tried

    def propose(self, merge: Callable[[Sequence[Report], bool], Report]) -> None:
        """Propose a list of the members that have reported and miss nothing, and the messages that all
        deliver (steps 3 and 4).

        `merge` is the method of the owner's core (`Flushes`). If an i-view is due and those members are no
        majority, send `Lacking`; then propose another member's `Offer`, or try again after more reports.
        """
        absent = {process for process in range(self.members) if process not in self.heard}
        given_up = self._given_up.union(*(told.given_up for told in self.heard.values()))
        regular = not self.external or (Kind.REGULAR in self.kinds and absent <= given_up)
        kind = Kind.REGULAR if regular else Kind.INTERMEDIATE
        missing = kind is Kind.INTERMEDIATE and len(self.heard) < self.members
        agreed = merge([told.report for told in self.heard.values()], missing)
        first = covered_from(agreed)
        core = tuple(
            process
            for process in sorted(self.heard)
            if self.heard[process].report.settled + 1 >= first
            and not (kind is Kind.REGULAR and self.heard[process].leaving)
        )
        if kind is Kind.INTERMEDIATE and 2 * len(core) <= self.members:
            self._tried = len(self.heard)
            self._to_others(Lacking())
            self._take_offer()
            return
        joins: tuple[Member, ...] = ()
        leaves: tuple[int, ...] = ()
        if kind is Kind.REGULAR:
            joins = tuple(sorted({joining for told in self.heard.values() for joining in told.joining}))
            leaves = tuple(process for process in sorted(self.heard) if self.heard[process].leaving)
        self._take_part(Decision(kind, core, joins, leaves, agreed))

    def _take_part(self, value: Decision) -> None:
        """Propose a value, and send it to the members that cannot propose a value of their own."""
        self._value = value
        for process in sorted(self._lacking):
            self._outputs.append(Send(process, Offer(value)))
        self._agreement.propose(value)
        self._agreement.settle()

    def _take_offer(self) -> None:
        """Propose a value that another member has proposed, if this member cannot propose one of its own."""
        if self._offer is not None and self._tried and self._value is None:
            self._take_part(self._offer)

    @property
    def decision(self) -> Decision | None:
        """Return the decision, once this member knows it and has ended step 2; the owner takes the next
        steps.
        """
        return self._agreement.decision if self.complete else None

    def outputs(self) -> list[Send[Message]]:
        """Return, once, the messages to send on reliable links, in order."""
        outputs, self._outputs = self._outputs, []
        outputs += [Send(to, message) for to, message in self._agreement.outputs()]
        return outputs

    # Snapshots ----------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the whole state, after `outputs`: members with equal snapshots behave equally."""
        return Snapshot(
            tuple(sorted(self.kinds)), self.leaving, tuple(sorted(self.heard.items())), self.complete,
            self._suspected, self._given_up, tuple(self._joining), self._tried, self._value,
            tuple(sorted(self._lacking)), self._offer, self._agreement.snapshot(),
        )  # fmt: skip

    def restore(self, snapshot: Snapshot) -> None:
        """Set the state to a snapshot; messages that were to be sent are forgotten."""
        self.kinds, self.leaving, self.heard = set(snapshot.kinds), snapshot.leaving, dict(snapshot.heard)
        self.complete, self._suspected = snapshot.complete, snapshot.suspected
        self._given_up, self._joining = snapshot.given_up, list(snapshot.joining)
        self._tried, self._value, self._offer = snapshot.tried, snapshot.value, snapshot.offer
        self._lacking = set(snapshot.lacking)
        self._agreement.restore(snapshot.agreement)
        self._outputs = []

    # Helpers ------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """End the wait of step 2 if all members have reported or are suspected, and a majority has reported.

        In a protocol without external members only a member that is given up counts as suspected here, since
        the next list excludes it.
        """
        if self.complete or self.me not in self.heard or 2 * len(self.heard) <= self.members:
            return
        absent = self._suspected if self.external else self._given_up
        self.complete = all(process in self.heard or process in absent for process in range(self.members))

    def _to_others(self, message: Message) -> None:
        self._outputs += [Send(process, message) for process in range(self.members) if process != self.me]
