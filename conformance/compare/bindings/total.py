"""TOTAL's document and its implementation speak of the same things by these names.

| document                                 | specification `Total`     | implementation `Core`, its snapshot |
|------------------------------------------|---------------------------|-------------------------------------|
| next expected sequence id                | next_expected[p]          | next_expected                       |
| queue of messages ordered by sequence id | queue[p]                  | queue                               |
| next sequence id to assign               | next_to_assign[p]         | next_to_assign                      |
| what can be sent again                   | sent[p]                   | sent                                |
| (own messages not passed up)             | pending[p]                | pending                             |
| (who acknowledged what)                  | acknowledged[p]           | acknowledged                        |
| message                                  | Message(k)                | payload b"k"                        |
| in flight                                | network, a set of packets | the encoded datagrams               |

The specification has the repairs and the readings that the core has, and one view.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from antiphon.conformance.compare.bindings.binding import Bound, described, with_faults
from antiphon.conformance.compare.bindings.core_binding import CoreBinding, message_of, settled
from antiphon.conformance.compare.bindings.shell import Asked, Driven
from antiphon.conformance.compare.bindings.total_faults import FAULTS
from antiphon.impl import tracing
from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.total import MESSAGES, Core, Message, Settings, Snapshot, Timer, total
from antiphon.impl.protocols.total import messages as wire_messages
from antiphon.impl.protocols.total.process import PENDING_MAX
from antiphon.model.engines import compiled_machine
from antiphon.spec.lang import SpecError, Step, program
from antiphon.spec.protocols.total import headers as spec
from antiphon.spec.protocols.total.bounds import TotalBounded
from antiphon.spec.services import Process

REPAIRS = ("identify_requests", "repeat_request", "recover_suffix")
"""Those that matter while the view stays."""

READINGS: Mapping[str, str] = {"suffix": "acknowledged", "keeping": "until acknowledged"}
"""Which remedy sends a lost suffix again, and how long the sequencer keeps what it has sent."""

VIEW = 1

INTERVALS_MS = {Timer.REQUEST_AGAIN: 48.0, Timer.ASK: 16.0, Timer.SEND_SUFFIX: 48.0}


class TotalBinding(CoreBinding[Message]):
    """The repaired document and the core of `impl.protocols.total`, or a faulty one by its name."""

    internal: frozenset[str] = frozenset()

    exempt: Mapping[str, str] = {
        "known": "the core keeps identifiers of what has a number; that none gets a second is compared",
        "lost": "counts the faults of the network, which is not the implementation's",
        "formed": "the view that a membership has formed: there is one",
        "members": "the lists of the views, of which there is one",
        "installed": "which view a member has: there is one",
        "down": "who has crashed: nobody, in these bounds",
    }

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        """Raises SpecError where the view would change."""
        chosen = {**READINGS, "crashes": 0, "views": 1, **constants}
        bounded = program(TotalBounded, repairs=REPAIRS, **chosen)
        for name, value in {"views": 1, "crashes": 0, "joiners": 0, "expected": 0}.items():
            if bounded.constants[name] != value:
                told = f"{name} is {bounded.constants[name]}, and the members of this core stay in one view"
                raise SpecError(f"{told}; leave {name} at {value}")
        super().__init__(bounded, driven(Core if fault is None else FAULTS[fault]))
        self._machine = compiled_machine(bounded)

    def packet(self, sender: int, to: int, message: Message) -> spec.Packet:
        """The specification's packet that a message on its way stands for."""
        receiver = Process(to)
        match message:
            case wire_messages.Request(payload=payload):
                return spec.Request(receiver, VIEW, message_of(payload))
            case wire_messages.Bcast(number=number, payload=payload):
                return spec.Bcast(receiver, VIEW, number, message_of(payload))
            case wire_messages.Resend(number=number):
                return spec.Resend(receiver, VIEW, Process(sender), number)
            case wire_messages.CumAck(number=number):
                return spec.CumAck(receiver, VIEW, Process(sender), number)

    def offers(self, me: int, snapshot: Snapshot) -> frozenset[Step]:
        """Nothing: a member moves when it is told something, or a timer expires."""
        del me, snapshot
        return frozenset()

    def waits(self, me: int, snapshot: Snapshot) -> list[Timer]:
        """The timers that the specification would let expire; what the others know decides nothing."""
        (state,) = self._machine.initial()
        values: dict[str, Any] = dict(zip(self.program.variables, state, strict=True))
        for name, value in self.project(me, snapshot).items():
            if name != "broadcasts":
                values[name] = (*values[name][:me], value, *values[name][me + 1 :])
        enabled = self._machine.enabled(tuple(values.values()))
        expiring = {step.action for step in enabled if step.arguments[0] == Process(me)}
        return [timer for timer in Timer if timer.value in expiring]

    def project(self, me: int, snapshot: Snapshot) -> Mapping[str, object]:
        """What the snapshot says, in the specification's values."""
        del me
        return {
            "next_expected": snapshot.next_expected,
            "queue": self._numbered(snapshot.queue),
            "next_to_assign": snapshot.next_to_assign,
            "sent": self._numbered(snapshot.sent),
            "pending": frozenset(message_of(payload) for _, payload in snapshot.pending),
            "acknowledged": snapshot.acknowledged,
            "broadcasts": snapshot.last_id,
        }

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """All processes together have broadcast what each has."""
        assert variable == "broadcasts"
        return sum(shares)

    def _numbered(self, messages: tuple[wire_messages.Bcast, ...]) -> tuple[object, ...]:
        constants = self.program.constants
        last = int(constants["first_ids"]) - 1 + int(constants["messages"]) + int(constants["spare"])
        by_number = {message.number: message_of(message.payload) for message in messages}
        return tuple(by_number.get(number) for number in range(1, last + 1))


def driven(kind: type[Core]) -> Driven[Message]:
    """What a shell and its judge need to know of cores of this kind, faulty ones too."""

    def core(me: int, members: int, backoff_max: int, tracer: tracing.Tracer) -> Core:
        request_ms, resend_ms, suffix_ms = (INTERVALS_MS[timer] for timer in Timer)
        settings = Settings(
            request_ms=request_ms, resend_ms=resend_ms, suffix_ms=suffix_ms, backoff_max=backoff_max,
            pending_max=PENDING_MAX,
        )  # fmt: skip
        return kind(me, members, settings, tracer=tracer)

    return Driven(MESSAGES, INTERVALS_MS, core, _single, settled, _reported, _busy, rested=settled)


def _single(core: Core, action: str, payload: bytes, now: float) -> tuple[bool, object]:
    if action == "broadcast":
        return True, core.broadcast(payload, now)
    done = core.expire(Timer(action), now)
    return done, done


def _reported(
    me: int, before: Snapshot, after: Snapshot, asked: Asked
) -> tuple[object, tuple[tracing.Event, ...]]:
    """A broadcast is told, and the sequencer's own delivery of it; an expiry is told."""
    if asked.action != "broadcast":
        return True, (tracing.Step(me, asked.action),)
    name = Identifier(me, after.last_id)
    told: list[tracing.Event] = [tracing.Broadcast(me, name, asked.payload)]
    if after.next_expected > before.next_expected:
        told.append(tracing.Deliver(me, name, before.next_expected, asked.payload))
    return name, tuple(told)


def _busy(me: int, snapshot: Snapshot) -> bool:
    del me, snapshot  # no bound of an exploration fills a window
    return False


TOTAL = Bound(
    TotalBinding,
    small={"processes": 2, "messages": 2, "losses": 1},
    random={"processes": 3, "messages": 3, "losses": 2},
    faults=described(FAULTS),
    never=frozenset({"crash", "exclude", "admit", "reform", "suspect", "change_view", "receive_new_view"})
    | {"announce_last", "receive_last"},
    implementation=with_faults(total, FAULTS),
)
"""TOTAL, while its view stays."""
