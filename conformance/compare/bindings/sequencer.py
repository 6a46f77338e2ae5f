"""SEQUENCER's design and its implementation speak of the same things by these names.

| document            | specification `Sequencer`    | implementation `Core`, its snapshot    |
|---------------------|------------------------------|----------------------------------------|
| seqno of p          | last_number[p]               | last_number                            |
| forward-table of p  | forward_table[p]             | forward_table                          |
| received-table of p | received_table[p]            | received_table                         |
| p's view            | installed[p]                 | view                                   |
| M                   | Message(k)                   | payload b"k"                           |
| FORWARD, by UNICAST | channel[p][coordinator]      | Forward, sent to the coordinator       |
| DATA, by NAKACK     | log[s], heard[s][p]          | Data, one object sent to all others    |

The specification has the repairs that the core makes. What a member sends to all is one entry of its log,
which each reads at its own pace. A queue below holds FORWARD and DATA in one order, so it can do less than
UNICAST and NAKACK beside each other: what is walked is more than what can happen. Members stay, and at most
one view follows the first, with the same members in the opposite order (`handovers`), so that what a
membership will say is known beforehand.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, cast

from antiphon.conformance.compare.bindings.binding import (
    Bound,
    Effect,
    Refused,
    Stimulus,
    described,
    with_faults,
)
from antiphon.conformance.compare.bindings.core_binding import CoreBinding, message_of, settled
from antiphon.conformance.compare.bindings.links import Link, Log, Queue
from antiphon.conformance.compare.bindings.sequencer_faults import FAULTS
from antiphon.conformance.compare.bindings.shell import Asked, Driven, SteppedCore
from antiphon.impl import tracing
from antiphon.impl.protocols.core import Identifier, Send
from antiphon.impl.protocols.sequencer import MESSAGES, Core, Message, Snapshot, sequencer
from antiphon.impl.protocols.sequencer.messages import Forward
from antiphon.spec.lang import SpecError, Step, program
from antiphon.spec.protocols.sequencer import design as spec
from antiphon.spec.protocols.sequencer.bounds import SequencerBounded
from antiphon.spec.services import Process

REPAIRS = ("keep_early", "flush", "only_members", "resend_on_change", "remember_own", "wait_before_stop")
"""What the core does, and what its membership will have to do."""


class SequencerBinding(CoreBinding[Message]):
    """The repaired design and the core of `impl.protocols.sequencer`, or a faulty one by its name."""

    channel = ""
    internal: frozenset[str] = frozenset()

    exempt: Mapping[str, str] = {
        "formed": "the view that a membership has formed, of which the core learns by change_view",
        "members": "the lists of the views, which a membership keeps",
        "handed_over": "the view with which the environment reverses the list",
        "down": "who has crashed: nobody, in these bounds",
        "stopped": "who has left: nobody, in these bounds",
    }

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        """Raises SpecError where members would leave, join or be suspected."""
        bounded = program(SequencerBounded, repairs=REPAIRS, **{"crashes": 0, "views": 1} | constants)
        for name in ("crashes", "stops", "joiners", "suspicions", "reforms"):
            if bounded.constants[name]:
                told = f"{name} is {bounded.constants[name]}, and the members of this core stay"
                raise SpecError(f"{told}; leave {name} out, and take handovers=True, views=2 for a new view")
        members = int(bounded.constants["processes"])
        self.links: tuple[Link, ...] = (
            *(Queue("channel", s, p) for s in range(members) for p in range(members)),
            *(Log("log", "heard", s, members) for s in range(members)),
        )
        super().__init__(bounded, driven(Core if fault is None else FAULTS[fault]))

    def stimulus(self, step: Step) -> Stimulus:
        """A process is the first argument; who sent what it receives is the second."""
        match step:
            case Step("send" | "change_view", (Process(index=me), *_)):
                return Stimulus(me)
            case Step("receive_forward" | "refuse_forward", (Process(index=me), Process(index=sender))):
                return Stimulus(me, link=Queue("channel", sender, me))
            case Step("receive_data", (Process(index=me), Process(index=sender))):
                return Stimulus(me, link=Log("log", "heard", sender, self.members))
        return Stimulus(None)

    def perform(self, me: int, snapshot: Hashable, step: Step, datagram: bytes | None) -> Effect:
        """The step on the core of `me`; numbers are given without a gap."""
        effect = super().perform(me, snapshot, step, datagram)
        after = effect.after
        assert isinstance(after, Snapshot)
        if after.delivered != sum(after.received_table):
            told = f"number {after.delivered}, while its received-table says {after.received_table}"
            raise Refused(f"process {me} stands at {told}")
        return effect

    def drive(self, me: int, snapshot: Hashable, step: Step | None, datagram: bytes | None) -> None:
        """As every core, but that no shell changes a view."""
        if step is None or step.action != "change_view":
            super().drive(me, snapshot, step, datagram)

    def packet(self, sender: int, to: int, message: Message) -> spec.Forward | spec.Data:
        """The specification's packet that a message on its way stands for."""
        del sender
        source, number = Process(message.identifier.source), message.identifier.id
        content = message_of(message.payload)
        if isinstance(message, Forward):
            return spec.Forward(Process(to), source, number, content)
        return spec.Data(message.view, source, number, content)

    def sent(self, me: int, sends: list[Send[Message]]) -> tuple[()]:
        """Nothing: there is no set of packets."""
        del me, sends
        return ()

    def queued(self, me: int, sends: list[Send[Message]]) -> Iterator[tuple[Link, object, bytes]]:
        """A FORWARD goes into a queue, a DATA into the log; copies for all are one object, sent in a row."""
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

    def offers(self, me: int, snapshot: Snapshot) -> frozenset[Step]:
        """Nothing: a member moves only when it is told something."""
        del me, snapshot
        return frozenset()

    def waits(self, me: int, snapshot: Snapshot) -> tuple[()]:
        """Nothing: over queues that lose nothing no timer runs."""
        del me, snapshot
        return ()

    def project(self, me: int, snapshot: Snapshot) -> Mapping[str, object]:
        """What the snapshot says, in the specification's values."""
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

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """All processes together have broadcast what each has."""
        assert variable == "broadcasts"
        return sum(shares)


def driven(kind: type[Core]) -> Driven[Message]:
    """What a shell and its judge need to know of cores of this kind, faulty ones too."""

    def core(me: int, members: int, backoff_max: int, tracer: tracing.Tracer) -> SteppedCore[Message]:
        del backoff_max  # of timers, and there is none
        return cast(SteppedCore[Message], kind(me, members, tracer=tracer))

    return Driven(MESSAGES, {}, core, _single, settled, _reported, _busy, rested=settled)


def _single(core: Core, action: str, payload: bytes, now: float) -> tuple[bool, object]:
    match action:
        case "broadcast":
            return True, core.broadcast(payload, now)
        case "change_view":
            core.block(now)
            core.change_view(core.view + 1, core.group[::-1], now)
            return True, None
    raise ValueError(f"{action} is no step that a core of SEQUENCER takes of its own accord")


def _reported(
    me: int, before: Snapshot, after: Snapshot, asked: Asked
) -> tuple[object, tuple[tracing.Event, ...]]:
    """A broadcast is told, and the coordinator's own delivery of it."""
    name = Identifier(me, after.last_number)
    told: list[tracing.Event] = [tracing.Broadcast(me, name, asked.payload)]
    if after.delivered > before.delivered:
        told.append(tracing.Deliver(me, name, before.delivered + 1, asked.payload))
    return name, tuple(told)


def _busy(me: int, snapshot: Snapshot) -> bool:
    del me
    return snapshot.blocked


SEQUENCER = Bound(
    SequencerBinding,
    small={"processes": 3, "messages": 2, "views": 2, "handovers": True},
    random={"processes": 3, "messages": 5, "views": 2, "handovers": True},
    faults=described(FAULTS),
    never=frozenset({"refuse_forward", "leave", "crash", "exclude", "admit", "reform", "suspect"}),
    implementation=with_faults(sequencer, FAULTS),
)
"""SEQUENCER, while its members stay."""
