"""Binding of SEQUENCER's design and its implementation, with corresponding names.

| document            | specification `Sequencer`    | implementation `Core`, its snapshot    |
|---------------------|------------------------------|----------------------------------------|
| seqno of p          | last_number[p]               | last_number                            |
| forward-table of p  | forward_table[p]             | forward_table                          |
| received-table of p | received_table[p]            | received_table                         |
| p's view            | installed[p]                 | view                                   |
| M                   | Message(k)                   | payload b"k"                           |
| FORWARD, by UNICAST | channel[p][coordinator]      | Forward, sent to the coordinator       |
| DATA, by NAKACK     | log[s], heard[s][p]          | Data, one object sent to all others    |

The specification has the repairs that the core makes. A multicast is one entry of the sender's log, and each
member reads the log at its own pace. The queue below the core keeps FORWARD and DATA in one order, while
UNICAST and NAKACK are independent: the walk covers more behaviours than the queue allows. Members stay, and
at most one view follows the first, with the same members in the opposite order (`handovers`), so that the
next view is known beforehand.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from antiphon.conformance.compare.bindings.binding import Effect, Refused, Stimulus
from antiphon.conformance.compare.bindings.core_binding import CoreBinding, message_of
from antiphon.conformance.compare.bindings.links import Link, Log, Queue
from antiphon.conformance.compare.bindings.sequencer_faults import FAULTS
from antiphon.impl.protocols.core import Send
from antiphon.impl.protocols.sequencer import Message, Snapshot
from antiphon.impl.protocols.sequencer.messages import Forward
from antiphon.spec.lang import Step
from antiphon.spec.protocols.sequencer import design as spec
from antiphon.spec.protocols.sequencer.bounds import SequencerBounded
from antiphon.spec.services import Process


class SequencerBinding(CoreBinding[Message]):
    """Binding of the repaired design to the core of `impl.protocols.sequencer`, or to a faulty core by its
    name.
    """

    protocol = "sequencer"
    specification = SequencerBounded
    repairs = ("keep_early", "flush", "only_members", "resend_on_change", "remember_own", "wait_before_stop")
    """Repairs that the core has, and those that its membership provides."""
    chosen: Mapping[str, int | bool | str] = {"views": 1}
    fixed: Mapping[str, int | bool | str] = {
        "crashes": 0, "stops": 0, "joiners": 0, "suspicions": False, "reforms": False,
    }  # fmt: skip
    """Required constants: the members stay. With handovers=True and views=2 a second view comes."""
    faults = FAULTS
    queues = "channel"

    exempt: Mapping[str, str] = {
        "formed": "the view that a membership has formed, of which the core learns by change_view",
        "members": "the lists of the views, which a membership keeps",
        "handed_over": "the view with which the environment reverses the list",
        "down": "who has crashed: nobody, in these bounds",
        "stopped": "who has left: nobody, in these bounds",
    }

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        """Set up the binding, with one log for each member's multicasts."""
        super().__init__(fault=fault, **constants)
        self.links += tuple(Log("log", "heard", s, self.members) for s in range(self.members))

    def stimulus(self, step: Step) -> Stimulus:
        """Return the process that a step concerns: a multicast is read from a log, and a step of the
        membership has no datagram.
        """
        match step:
            case Step("receive_data", (Process(index=me), Process(index=sender))):
                return Stimulus(me, link=Log("log", "heard", sender, self.members))
            case Step("send" | "change_view" | "receive_forward" | "refuse_forward"):
                return super().stimulus(step)
        return Stimulus(None)

    def perform(self, me: int, snapshot: Hashable, step: Step, datagram: bytes | None) -> Effect:
        """Perform the step on the core of `me`, and check that numbers are assigned without a gap."""
        effect = super().perform(me, snapshot, step, datagram)
        after = effect.after
        assert isinstance(after, Snapshot)
        if after.delivered != sum(after.received_table):
            told = f"number {after.delivered}, while its received-table says {after.received_table}"
            raise Refused(f"process {me} stands at {told}")
        return effect

    def drive(self, me: int, snapshot: Hashable, step: Step | None, datagram: bytes | None) -> None:
        """Drive the core as a shell does, except for changes of the view."""
        if step is None or step.action != "change_view":
            super().drive(me, snapshot, step, datagram)

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
        others = [process for process in range(self.members) if process != me]
        while sends:
            to, message = sends[0]
            packet, encoded = self.packet(me, to, message), self.encoded(me, message)
            if isinstance(message, Forward):
                sends = sends[1:]
                yield Queue("channel", me, to), packet, encoded
            else:
                copies, sends = sends[: len(others)], sends[len(others) :]
                reached = [copy.to for copy in copies if copy.message is message]
                if sorted(reached) != others:
                    raise Refused(f"process {me} multicasts to {reached} of the others {others}")
                yield Log("log", "heard", me, self.members), packet, encoded

    def project(self, me: int, snapshot: Snapshot) -> Mapping[str, object]:
        """Return the values of the snapshot in the specification's terms."""
        del me
        pending = dict(snapshot.forward_table)
        numbers = range(1, int(self.program.constants["messages"]) + 1)
        return {
            "last_number": snapshot.last_number,
            "forward_table": tuple(message_of(pending[k]) if k in pending else None for k in numbers),
            "received_table": snapshot.received_table,
            "installed": snapshot.view,
            "broadcasts": snapshot.last_number,
        }

    def single(self, core: Any, action: str, payload: bytes, now: float) -> tuple[bool, object]:
        """Take one step; return whether it was possible, and its result. A new view blocks the core first."""
        if action == "change_view":
            core.block(now)
            core.change_view(core.view + 1, core.group[::-1], now)
            return True, None
        return super().single(core, action, payload, now)

    def busy(self, me: int, snapshot: Snapshot) -> bool:
        """Return True while the view changes, whatever bounds the exploration puts on messages in flight."""
        del me
        return snapshot.blocked


SEQUENCER = SequencerBinding.bound(
    small={"processes": 3, "messages": 2, "views": 2, "handovers": True},
    random={"processes": 3, "messages": 5, "views": 2, "handovers": True},
    never={"refuse_forward", "leave", "crash", "exclude", "admit", "reform", "suspect"},
)
"""Binding of SEQUENCER without joins and failures."""
