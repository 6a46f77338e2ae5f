"""Binding of figures 32 and 34 over the ring and the implementation's change of a list.

| figures 32 and 34            | specification `TwoViewsByMessage` | implementation                          |
|------------------------------|-----------------------------------|-----------------------------------------|
| core, external               | listed, order                     | `Roster.core`, `Roster.members`         |
| regular view, i-view         | regular                           | `Decision.kind`                         |
| the two detectors            | suspected, given_up               | the arguments of `ViewChange.suspect`   |
| (i-view, i), (reformation, i) | begun, `Called`                  | `ViewChange.kinds`, `Call`              |
| a report                     | reported, complete, abandoned     | `ReportMessage`                         |
| initial_k                    | value                             | `Snapshot.value` of the change          |
| too few for an i-view        | tried, lacking, offer             | `Lacking`, `Offer`                      |
| kept for external processes  | kept                              | `Snapshot.kept` of the core             |

What `irbp.py` says of queues and numbers is so here too. Three parts are compared at each state of a process,
beside its steps: what a member of the core answers to an external process; what an external process asks for,
and whom; when it lacks nothing, and when what it lacks is gone. An external process comes back only when a
member of the core has answered how far the core is. That is a restriction of when it calls: the specification
lets it come back, and the binding gives the answer that there is no more. `Membership` has what is done
around the machines when a list begins: the order of a regular view, and the own messages that are sent again
(`Membership._change`, `_begin`); the binding does the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from msgspec import structs

from antiphon.conformance.compare.bindings.binding import Bound, Misreports, Refused, told_faults
from antiphon.conformance.compare.bindings.core_binding import NOW, payload_of
from antiphon.conformance.compare.bindings.irbp import IrbpBinding
from antiphon.conformance.compare.bindings.irbp_two_views_faults import FAULTS
from antiphon.conformance.compare.bindings.list_process import MEMBERS, ListProcess, Past, Standing, changed
from antiphon.conformance.compare.bindings.listed import agreed_on
from antiphon.impl.membership import consensus, view_change
from antiphon.impl.membership.succession import Next
from antiphon.impl.membership.view_change import Decision
from antiphon.impl.protocols.core import Identifier, Implementation, Send
from antiphon.impl.protocols.flush import KEPT_BYTES, Report
from antiphon.impl.protocols.rbp import FIGURE_25, Core, Snapshot, Timer, irbp
from antiphon.impl.protocols.rbp import messages as wire_messages
from antiphon.impl.protocols.rbp.messages import NUMBERS_ASKED_MAX
from antiphon.spec.lang import SpecError, Step
from antiphon.spec.protocols.irbp import by_message
from antiphon.spec.protocols.irbp import two_views_by_message as packets
from antiphon.spec.protocols.irbp.normal_phase import Sequenced
from antiphon.spec.protocols.irbp.two_views import Kind
from antiphon.spec.protocols.irbp.two_views_by_message import Choice, TwoViewsByMessageBounded
from antiphon.spec.services import Message, Process

__all__ = ["TWO_VIEWS", "TwoViewsBinding"]

_KINDS = {view_change.Kind.INTERMEDIATE: Kind.intermediate, view_change.Kind.REGULAR: Kind.regular}


class TwoViewsBinding(IrbpBinding):
    """Binding of figures 32 and 34, message by message, and members of a group that orders by the ring."""

    specification = TwoViewsByMessageBounded
    faults = FAULTS
    fixed: Mapping[str, int | bool | str] = {**IrbpBinding.fixed, "trusting": False}
    joint = frozenset({"listed", "called", "decision", "order", "regular", "value"})
    exempt: Mapping[str, str] = {
        **IrbpBinding.exempt,
        "misjudged": "counts wrong suspicions, which the environment makes",
    }

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        """Make the binding with these constants, after checking them.

        Raises:
            SpecError: a process would broadcast more than one message.
        """
        super().__init__(fault=fault, **constants)
        messages = int(self.program.constants["messages"])
        if messages > self.members:
            told = f"messages is {messages}; these members are compared where each has one at most"
            raise SpecError(f"{told}: with {self.members} processes so many")
        self._seen: set[tuple[int, Hashable]] = set()

    def made(self, kind: type[Any] | None) -> Implementation[Any]:
        """Return the implementation of the ring's core on a list, with room for so many kept messages.

        A message has one byte, and NULL none, so that the room in bytes is the room in messages.
        """
        room = int(self.program.constants["room"]) * (KEPT_BYTES + 1)
        return irbp(structs.replace(FIGURE_25, kept_bytes=room), kind or Core)

    # Messages -----------------------------------------------------------------------------------------------

    def change_packet(self, me: int, past: Past, message: view_change.Message, to: int) -> object:
        """Return the specification's packet for a message of the change."""
        p, version = Process(me), len(past.lists)
        match message:
            case view_change.Call(kind=kind):
                return packets.Called(p, version, _KINDS[kind])
            case view_change.ReportMessage(joining=(), leaving=False):
                return by_message.Told(p, version)
            case view_change.Lacking():
                return packets.Lacks(p, version)
            case view_change.Offer():
                return packets.Offered(p, Process(past.members[to]), version)
            case consensus.Decide():
                return by_message.Decided(version)
        raise Refused(f"process {me} says {message}, of which figures 32 and 34 know nothing")

    def is_for_one(self, packet: object) -> bool:
        """Return True for an offer, which goes to a process that lacks members."""
        return isinstance(packet, packets.Offered)

    def agreed(self, past: Past, decision: Decision) -> Choice:  # type: ignore[override]
        """Return a value (TL, Msg) with its kind, and the last number that it settles."""
        told = super().agreed(past, decision)
        settled = past.base + decision.agreed.settled
        return Choice(_KINDS[decision.kind], told.members, told.messages, told.bodies, settled)

    def check_report(self, past: Past, core: Snapshot, report: Report) -> None:
        """Do nothing: the variables `complete` and `gathered` are what the report says of stable messages."""

    # Steps --------------------------------------------------------------------------------------------------

    def take(self, process: ListProcess, me: int, step: Step, datagram: bytes | None) -> tuple[object, ...]:
        """Take the step, one of the change of views or of the two detectors, or one of figure 32."""
        past = process.past
        match step:
            case Step("call"):
                process.change.call(view_change.Kind.INTERMEDIATE)
                return ()
            case Step("call_regular"):
                process.change.call(view_change.Kind.REGULAR)
                return ()
            case Step("come_back"):
                if not _comes_back(process.core):
                    raise Refused(f"process {me} lacks something, and does not come back")
                process.change.call(view_change.Kind.INTERMEDIATE)
                return ()
            case Step("conclude" | "misjudge", (_, Process(index=of))):
                self.suspect(process, past.suspected, past.given_up | {of})
                return ()
            case Step("broadcast", (_, Message(index=m))):
                process.note(own=past.own | {m})
        return super().take(process, me, step, datagram)

    def suspect(
        self, process: ListProcess, suspected: frozenset[int], given_up: frozenset[int] | None = None
    ) -> None:
        """Hand the suspicions of both detectors to the change; without `given_up` those of the slow one stay
        as they are.
        """
        super().suspect(process, suspected, process.past.given_up if given_up is None else given_up)

    def offers_of_core(self, me: int, snapshot: Standing, probe: ListProcess) -> Iterable[Step]:
        """Return the internal steps of the core: it makes messages stable in the order of their numbers."""
        if snapshot.core is None:
            return
        lowest = snapshot.past.base + min((number for number, _ in snapshot.core.numbers), default=0)
        for step in super().offers_of_core(me, snapshot, probe):
            item: Any = step.arguments[-1]
            if step.action != "settle" or item.number == lowest:
                yield step

    def go_on(self, process: ListProcess, me: int, follows: Next) -> tuple[object, ...]:
        """Begin the next list. In its core a process broadcasts again what it has not delivered."""
        if follows.decision.kind is view_change.Kind.REGULAR:
            follows = Next(follows.decision, follows.roster.ordered(MEMBERS))
        installed = super().go_on(process, me, follows)
        following = self._live[me]
        past = following.past
        if following.at < past.core and len(past.members) > 1:
            for m in sorted(past.own - past.delivered):
                following.core.broadcast(payload_of(Message(m)), NOW)
        return installed if past.regular[-1] else ()

    def first_past(self) -> Past:
        """Return the past of a process on the first list, on which the last ones may be external."""
        outside = int(self.program.constants["outside"])
        rest = list(range(1, self.members))
        order = (0, *(reversed(rest) if outside else rest))
        return Past((order,), cores=(self.members - outside,), regular=(not outside,))

    def past_after(self, process: ListProcess, follows: Next) -> Past:
        """Return the past of a process that begins the next list, in its core or external."""
        past, decision = process.past, follows.decision
        members = tuple(MEMBERS.index(member) for member in follows.roster.members)
        given_up = process.change.heard[process.at].given_up
        return changed(
            past,
            lists=(*past.lists, members),
            cores=(*past.cores, follows.roster.core),
            regular=(*past.regular, decision.kind is view_change.Kind.REGULAR),
            base=past.base + process.core.last_delivered,
            over=past.delivered,
            decisions=(*past.decisions, (past.names, decision)),
            values=(*past.values, (past.names, process.change.snapshot().value)),
            abandoned=frozenset(past.members[place] for place in given_up),
            suspected=past.suspected.intersection(members),
            given_up=past.given_up.intersection(members),
        )

    # What is shown ------------------------------------------------------------------------------------------

    def project(self, me: int, snapshot: Standing) -> Mapping[str, object]:
        """Return the process's values of all compared variables."""
        past, change = snapshot.past, snapshot.change
        gone = past.down or past.left
        later = int(self.program.constants["views"]) - len(past.lists)
        told = next((told for at, told in change.heard if past.members[at] == me), None)
        abandoned = past.abandoned if told is None else {past.members[at] for at in told.given_up}
        values = [None if value is None else self.agreed(names, value) for names, value in past.values]
        values.append(None if change.value is None else self.agreed(past, change.value))
        complete, gathered = self._complete(past)
        return {
            "kept": frozenset(),
            **super().project(me, snapshot),
            "broadcasts": self._broadcasts(me, snapshot),
            "given_up": tuple(q in past.given_up and not gone for q in range(self.members)),
            "begun": frozenset(_KINDS[kind] for kind in change.kinds),
            "outstanding": frozenset() if gone else frozenset(map(Message, past.own - past.delivered)),
            "complete": complete,
            "gathered": gathered,
            "abandoned": frozenset(map(Process, abandoned)),
            "tried": change.tried,
            "lacking": self.those(past, change.lacking),
            "offer": None if change.offer is None else self.agreed(past, change.offer),
            "value": (*values, *([None] * later)),
            "order": (*(tuple(map(Process, members)) for members in past.lists), *([()] * later)),
            "listed": (
                *(
                    frozenset(map(Process, members[:core]))
                    for members, core in zip(past.lists, past.cores, strict=True)
                ),
                *([frozenset()] * later),
            ),
            "regular": (*past.regular, *([False] * later)),
        }

    def broadcasts(self, core: Any) -> int:
        """Return the number of messages that the process has broadcast on its list, if it is not alone."""
        return 0 if core is None else int(core.message_id)

    def _broadcasts(self, me: int, snapshot: Standing) -> int:
        """Return the number of messages that the process has broadcast: those of the core are the ones that
        were not over when the list began, in the core of which the process is.
        """
        past = snapshot.past
        if snapshot.core is None or past.members.index(me) >= past.core:
            return len(past.own)
        return len(past.own & past.over) + self.broadcasts(snapshot.core)

    def _complete(self, past: Past) -> tuple[int, frozenset[Message]]:
        """Return the number up to which the process has reported everything as stable, and which messages."""
        if not past.reports:
            return 0, frozenset()
        names, report = past.reports[-1]
        told = (
            self.message(names, (place, name))
            for place, count in enumerate(report.counts)
            for name in range(1, count + 1)
        )
        return names.base + report.settled, frozenset(told) | frozenset(map(Message, names.over))

    def ring(self, past: Past, core: Any) -> Mapping[str, object]:
        """Return the values of the variables of the normal phase, and what is kept for external processes."""
        if core is None:
            over = frozenset(map(Message, past.over))
            return {
                **_NOTHING, "collected": over, "last_delivered": past.base, "last_number": past.base,
            }  # fmt: skip
        kept = frozenset(
            Sequenced(self._named(past, name), past.base + number) for number, name, _ in core.kept
        )
        return {**super().ring(past, core), "kept": kept}

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """Return the value of a variable from the shares of all processes: what is known of a list is what
        those know that had it.
        """
        match variable:
            case "value":
                return tuple(zip(*shares, strict=True))
            case "order":
                return tuple(agreed_on(known, ()) for known in zip(*shares, strict=True))
            case "regular":
                return tuple(any(known) for known in zip(*shares, strict=True))
        return super().join(variable, shares)

    # Requests and answers -----------------------------------------------------------------------------------

    def drive(self, me: int, snapshot: Any, step: Step | None, datagram: bytes | None) -> None:
        """Check, once for each state of a process in the normal phase, its requests and its answers.

        Raises:
            Misreports: it asks for, or answers, more or less than the specification says.
        """
        del datagram
        past = snapshot.past
        idle = past.down or past.left or snapshot.succession[0] or snapshot.core is None
        if step is not None or idle or (me, snapshot) in self._seen:
            return
        if past.members.index(me) < past.core:
            for asks in range(past.core, len(past.members)):
                self._answers(me, snapshot, asks)
        else:
            self._asks(me, snapshot)
            self._learns_what_is_gone(me, snapshot)
        self._seen.add((me, snapshot))

    def _answers(self, me: int, snapshot: Standing, asks: int) -> None:
        """Check what a member of the core answers to the external process at this place of the list."""
        past, shown = snapshot.past, self.ring(snapshot.past, snapshot.core)
        kept, numbered = (self._by_number(past, shown[name]) for name in ("kept", "numbered"))
        expected: list[wire_messages.Message] = []
        uncollected = min(numbered, default=snapshot.core.last_number + 1)
        gone = min(kept, default=uncollected) - 1
        if gone:
            expected.append(wire_messages.Gone(gone))
        for number, m in kept.items():
            name = None if m is None else self._identifier(past, m)
            if m is not None and name is not None:
                expected.append(wire_messages.Data(name, payload_of(m)))
            expected.append(wire_messages.Numbered(name, number))
        for number, m in numbered.items():
            name = None if m is None else self._identifier(past, m)
            expected.append(wire_messages.Numbered(name, number))
        told = self._told(me, snapshot, asks, wire_messages.RequestNumbers(1, NUMBERS_ASKED_MAX))
        if told != [Send(asks, message) for message in expected]:
            raise Misreports(f"process {me} is asked for all numbers", tuple(expected), tuple(told))
        for number, m in numbered.items():
            highest = max(numbered)
            far = [] if number == highest else [self._numbered(past, highest, numbered[highest])]
            expected = [*far, self._numbered(past, number, m)]
            told = self._told(me, snapshot, asks, wire_messages.RequestNumbers(number, number))
            some = [send.message for send in told if not isinstance(send.message, wire_messages.Gone)]
            if some != expected:
                raise Misreports(f"process {me} is asked how far it is", tuple(expected), tuple(told))
        received: Any = shown["received"]
        for place, source in enumerate(past.members):
            m = Message(source)
            if source >= int(self.program.constants["messages"]) or source in past.over:
                continue
            name = Identifier(place, 1)
            has = m in received or m in kept.values()
            expected = [wire_messages.Data(name, payload_of(m))] if has else []
            told = self._told(me, snapshot, asks, wire_messages.Request(name))
            if told != [Send(asks, message) for message in expected]:
                raise Misreports(f"process {me} is asked for message {source}", tuple(expected), tuple(told))

    def _told(self, me: int, snapshot: Standing, asks: int, request: wire_messages.Message) -> list[Any]:
        core = self.probe(me, snapshot).core
        core.receive(asks, request, NOW)
        return list(core.outputs())

    def _asks(self, me: int, snapshot: Standing) -> None:
        """Check what an external process asks for by its timer: the numbers up to the highest one, and the
        bodies, that it lacks; it asks the members of the core in turn. It asks how far the core is, and comes
        back if it has the answer, and lacks nothing.
        """
        past, core = snapshot.past, snapshot.core
        shown = self.ring(past, core)
        numbered, received = self._by_number(past, shown["numbered"]), shown["received"]
        last = core.last_number
        highest = max([last, *numbered])
        wanted: list[wire_messages.Message] = []
        if highest > last:
            wanted.append(wire_messages.RequestNumbers(last + 1, min(highest, NUMBERS_ASKED_MAX)))
        for m in numbered.values():
            if m is not None and m not in received:  # type: ignore[operator]
                wanted.append(wire_messages.Request(self._identifier(past, m)))
        probe = self.probe(me, snapshot).core
        if probe.caught_up:
            raise Misreports(f"process {me} comes back unanswered", False, True)
        for turn in range(1, past.core + 1):
            expected = [Send((core.external[1] + turn) % past.core, message) for message in wanted]
            ran = probe.expire(Timer.REPEAT_REQUEST, NOW)
            told = list(probe.outputs())
            if (ran, told) != (bool(wanted), expected):
                raise Misreports(f"process {me} asks, turn {turn}", tuple(expected), tuple(told))
        answer = self._numbered(past, last, numbered.get(last))
        if last:
            probe.receive(0, answer, NOW)
            if probe.caught_up:
                raise Misreports(f"process {me} comes back without a question", False, True)
            probe.outputs()
        ran = probe.expire(Timer.ASK_HOW_FAR, NOW)
        asked = [Send((core.external[1] + 1) % past.core, wire_messages.RequestNumbers(last, last))]
        told = list(probe.outputs())
        if (ran, told) != (last > 0, asked if last else []):
            raise Misreports(f"process {me} asks how far the core is", tuple(asked), tuple(told))
        if last:
            probe.receive(0, answer, NOW)
        caught_up = not wanted and last > 0
        if probe.caught_up != caught_up:
            raise Misreports(f"process {me} lacks nothing", caught_up, probe.caught_up)

    def _numbered(self, past: Past, number: int, m: Message | None) -> wire_messages.Numbered:
        """Return the message that gives this number, on the list, to m."""
        return wire_messages.Numbered(None if m is None else self._identifier(past, m), number)

    def _learns_what_is_gone(self, me: int, snapshot: Standing) -> None:
        """Check that an external process is lost when each member of the core has said that what it needs
        next is gone, and not before.
        """
        needed, core = snapshot.core.last_number + 1, range(snapshot.past.core)
        for number, some in ((needed, core), (needed, core[1:]), (needed - 1, core)):
            probe = self.probe(me, snapshot).core
            for member in some:
                if number:
                    probe.receive(member, wire_messages.Gone(number), NOW)
            expected = number == needed and some == core
            if probe.lost != expected:
                raise Misreports(f"{len(some)} say to process {me}: gone to {number}", expected, probe.lost)

    def _by_number(self, past: Past, items: Any) -> dict[int, Message | None]:
        """Return the messages of numbered items by their numbers on the list, in rising order."""
        return {item.number - past.base: item.message for item in sorted(items, key=lambda item: item.number)}

    def _identifier(self, past: Past, m: Message) -> Identifier:
        """Return the identifier of a message on the list: each process has one message at most."""
        return Identifier(past.members.index(m.index % self.members), 1)


def _comes_back(core: Core) -> bool:
    """Return True if an external process comes back when it hears that the core is as far as it knows itself;
    its state stays as it is.
    """
    before = core.snapshot()
    core.expire(Timer.ASK_HOW_FAR, NOW)
    last = core.last_number
    if last:
        core.receive(0, wire_messages.Numbered(dict(before.numbers).get(last), last), NOW)
    caught_up = core.caught_up
    core.restore(before, NOW)
    return caught_up


_NOTHING: Mapping[str, object] = {
    "received": frozenset(), "waiting": (), "numbered": frozenset(), "stable": frozenset(),
    "collected": frozenset(), "last_delivered": 0, "last_number": 0, "pending": None, "kept": frozenset(),
}  # fmt: skip

TWO_VIEWS = Bound(
    TwoViewsBinding,
    small={"processes": 3, "messages": 0, "highest": 3, "crashes": 1, "false_suspicions": 0, "views": 2},
    every={"messages": 1, "highest": 4, "false_suspicions": 1, "misjudgements": 1, "outside": 1},
    random={"processes": 3, "messages": 2, "highest": 8, "crashes": 1, "false_suspicions": 1, "views": 3},
    faults=told_faults(FAULTS),
    never=frozenset({"receive", "receive_late", "hear", "hear_late", "install", "trust"}),
)
"""Binding of both kinds of views over the ring."""
