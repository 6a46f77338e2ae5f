"""Binding of SEQUENCER's design and its implementation, with corresponding names.

| document            | specification `SequencerByMessage` | implementation `Core`, its snapshot    |
|---------------------|------------------------------------|----------------------------------------|
| seqno of p          | last_number[p]                     | last_number                            |
| forward-table of p  | forward_table[p]                   | forward_table                          |
| received-table of p | received_table[p]                  | received_table                         |
| p's view            | installed[p], blocked[p]           | view, group, blocked                   |
| what comes early    | early[p]                           | early                                  |
| M                   | Message(k)                         | payload b"k"                           |
| FORWARD, by UNICAST | channel[p][coordinator]            | Forward, sent to the coordinator       |
| DATA, by NAKACK     | log[s], heard[s][p]                | Data, one object sent to all others    |

The specification has the repairs that the core makes. A multicast is one entry of the sender's log, and each
member reads the log at its own pace. The queue below the core keeps FORWARD and DATA in one order, while
UNICAST and NAKACK are independent: the walk covers more behaviours than the queue allows.

A process hears of the next view, with its members, by `block`, and installs it later. The same members come
in the opposite order (`handovers`); else those that are left keep their order. A FORWARD names the view of
its sender; the specification's does not, so that the binding compares it with `installed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from antiphon.conformance.compare.bindings.binding import Effect, Refused, Stimulus
from antiphon.conformance.compare.bindings.core_binding import CoreBinding, message_of
from antiphon.conformance.compare.bindings.links import Link, Log, Queue
from antiphon.conformance.compare.bindings.sequencer_faults import FAULTS
from antiphon.impl.protocols.core import Send
from antiphon.impl.protocols.sequencer import Message, Snapshot
from antiphon.impl.protocols.sequencer.messages import Forward
from antiphon.spec.lang import SpecError, Step
from antiphon.spec.protocols.sequencer import design as spec
from antiphon.spec.protocols.sequencer.by_message import SequencerByMessage
from antiphon.spec.services import Crash, Deliver, Process


class Standing(NamedTuple):
    """State of a process: the snapshot of its core, and the members of the view that it has heard of."""

    core: Snapshot
    following: tuple[int, ...] = ()


class SequencerBinding(CoreBinding[Message]):
    """Binding of the repaired design to the core of `impl.protocols.sequencer`, or to a faulty core by its
    name.
    """

    protocol = "sequencer"
    specification = SequencerByMessage
    repairs = ("keep_early", "flush", "only_members", "resend_on_change", "remember_own", "wait_before_stop")
    """Repairs that the core has, and those that its membership provides."""
    chosen: Mapping[str, int | bool | str] = {"views": 1, "crashes": 0}
    fixed: Mapping[str, int | bool | str] = {
        "stops": 0, "joiners": 0, "suspicions": False, "reforms": False,
    }  # fmt: skip
    """Required constants: nobody joins or leaves. With views=2 a second view comes, with handovers=True of
    the same members, with crashes=1 without the crashed one.
    """
    faults = FAULTS
    queues = "channel"

    exempt: Mapping[str, str] = {
        "formed": "the view that a membership has formed, of which the core learns by block",
        "members": "the lists of the views, which a membership keeps; the core's is checked at each step",
        "handed_over": "the view with which the environment reverses the list",
        "down": "who has crashed, which nobody tells a process",
        "stopped": "who has left: nobody, in these bounds",
    }

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        """Set up the binding, with one log for each member's multicasts.

        Raises:
            SpecError: so many may crash that one is left, which multicasts to nobody: its log would not show.
        """
        super().__init__(fault=fault, **constants)
        if (crashes := int(self.program.constants["crashes"])) > self.members - 2:
            raise SpecError(f"{crashes} crashes: two of {self.members} processes must be left")
        self.links += tuple(Log("log", "heard", s, self.members) for s in range(self.members))
        self._following: tuple[int, ...] = ()

    def stimulus(self, step: Step) -> Stimulus:
        """Return the process that a step concerns: a multicast is read from a log, and a step of the
        membership has no datagram.
        """
        match step:
            case Step("receive_data" | "hear_early" | "hear_late", (Process(index=me), Process(index=s))):
                return Stimulus(me, link=Log("log", "heard", s, self.members))
            case Step("crash" | "block" | "change_view", (Process(index=me), *_)):
                return Stimulus(me)
            case Step("send" | "receive_forward" | "receive_early" | "receive_late"):
                return super().stimulus(step)
        return Stimulus(None)

    def start(self, me: int) -> Effect:
        """Return the initial effect of process `me`, which has heard of no other view."""
        return self._standing_after(super().start(me), ())

    def perform(self, me: int, snapshot: Any, step: Step, datagram: bytes | None) -> Effect:
        """Perform the step on the core of `me`; check the members of its view, and that numbers are assigned
        without a gap.
        """
        before: Snapshot = snapshot.core
        following: tuple[int, ...] = snapshot.following
        match step:
            case Step("crash"):
                return Effect(snapshot, (), (Crash(Process(me)),))
            case Step("block", (_, members)):
                known: Any = members
                following = _following(before.group, {q.index for q in known})
        self._following = following
        effect = super().perform(me, before, step, datagram)
        after = effect.after
        assert isinstance(after, Snapshot)
        changed = step.action == "change_view"
        if after.group != (group := following if changed else before.group):
            raise Refused(f"process {me} has the members {after.group} in its view, and not {group}")
        delivered = sum(isinstance(event, Deliver) for event in effect.events)
        if after.delivered != before.delivered + delivered:
            told = f"number {after.delivered}, after {before.delivered} and {delivered} deliveries"
            raise Refused(f"process {me} stands at {told}")
        return self._standing_after(effect, () if changed else following)

    def _standing_after(self, effect: Effect, following: tuple[int, ...]) -> Effect:
        """Return an effect with the view that the process has heard of."""
        after: Any = effect.after
        return Effect(Standing(after, following), effect.sent, effect.events, effect.queued)

    def drive(self, me: int, snapshot: Any, step: Step | None, datagram: bytes | None) -> None:
        """Drive the core as a shell does, except for changes of the view and crashes."""
        if step is None or step.action not in {"block", "change_view", "crash"}:
            super().drive(me, snapshot.core, step, datagram)

    def offers(self, me: int, snapshot: Any) -> frozenset[Step]:
        """Return no steps: the core takes no internal step."""
        del me, snapshot
        return frozenset()

    def packet(self, sender: int, to: int, message: Message) -> spec.Forward | spec.Data:
        """Return the specification's packet that a datagram stands for."""
        del sender
        source, number = Process(message.identifier.source), message.identifier.id
        content = message_of(message.payload)
        if isinstance(message, Forward):
            return spec.Forward(Process(to), source, number, content)
        return spec.Data(message.view, source, number, content)

    def queued(self, me: int, sends: list[Send[Message]]) -> Iterator[tuple[Link, object, bytes]]:
        """Yield each FORWARD with its queue, and each DATA once, with the log of `me`. The core sends the
        copies of a DATA in a row, as one object.
        """
        core = self._cores[me].snapshot()
        assert isinstance(core, Snapshot)
        others = sorted(process for process in core.group if process != me)
        while sends:
            to, message = sends[0]
            packet, encoded = self.packet(me, to, message), self.encoded(me, message)
            if isinstance(message, Forward):
                if message.view != core.view:
                    raise Refused(f"process {me} sends a FORWARD of view {message.view} in view {core.view}")
                sends = sends[1:]
                yield Queue("channel", me, to), packet, encoded
            else:
                copies, sends = sends[: len(others)], sends[len(others) :]
                reached = [copy.to for copy in copies if copy.message is message]
                if sorted(reached) != others:
                    raise Refused(f"process {me} multicasts to {reached} of the others {others}")
                yield Log("log", "heard", me, self.members), packet, encoded

    def project(self, me: int, snapshot: Any) -> Mapping[str, object]:
        """Return the values of the snapshot in the specification's terms; it may be that of a core alone."""
        core: Snapshot = snapshot.core if isinstance(snapshot, Standing) else snapshot
        pending = dict(core.forward_table)
        numbers = range(1, int(self.program.constants["messages"]) + 1)
        return {
            "last_number": core.last_number,
            "forward_table": tuple(message_of(pending[k]) if k in pending else None for k in numbers),
            "received_table": core.received_table,
            "installed": core.view,
            "blocked": core.blocked,
            "early": tuple(self.packet(sender, me, message) for sender, message in core.early),
            "broadcasts": core.last_number,
        }

    def broadcasts(self, me: int, snapshot: Snapshot) -> int:
        """Return the number of messages that the process has broadcast."""
        del me
        return snapshot.last_number

    def single(self, core: Any, action: str, payload: bytes, now: float) -> tuple[bool, object]:
        """Take one step; return whether it was possible, and its result."""
        match action:
            case "block":
                core.block(now)
            case "change_view":
                core.change_view(core.view + 1, self._following, now)
            case _:
                return super().single(core, action, payload, now)
        return True, None

    def busy(self, me: int, snapshot: Snapshot) -> bool:
        """Return True while the view changes, whatever bounds the exploration puts on messages in flight."""
        del me
        return snapshot.blocked


def _following(group: tuple[int, ...], members: Iterable[int]) -> tuple[int, ...]:
    """Return the list of the next view: those that are left in their order, or the same members in the
    opposite one.
    """
    left = tuple(process for process in group if process in members)
    return left[::-1] if left == group else left


SEQUENCER = SequencerBinding.bound(
    small={"processes": 3, "messages": 2, "views": 2, "handovers": True},
    every={"crashes": 1, "messages": 1},
    random={"processes": 3, "messages": 5, "views": 2, "handovers": True},
    never={"refuse_forward", "leave", "admit", "reform", "suspect"},
)
"""Binding of SEQUENCER without joins."""
