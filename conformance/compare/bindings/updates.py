"""What CM and Pinwheel share with their specifications over queues, they call by these names.

| paper                    | specification `InQueues` | implementation `Updates`, its snapshot      |
|--------------------------|--------------------------|---------------------------------------------|
| how many ACKs p has      | acknowledged[p]          | acknowledged                                |
| who has which MSG        | obtained[p]              | obtained, a count for each source           |
| (ACKs beyond a gap)      | early[p]                 | early                                       |
| the local buffer         | buffer[p]                | buffer                                      |
| delivered up to          | status[p]                | status                                      |
| U                        | Message(k)               | payload b"k"                                |
| U_id                     | `first` and `step`       | Identifier(i, l)                            |
| in flight                | channel[s][p]            | the encoded datagrams, in order             |

An ACK names its update by the U_id alone, so that it has to follow from that which update it is: the l-th of
those of which `first` and `step` say that they come from process i.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, cast

from antiphon.conformance.compare.bindings.binding import Refused, Stimulus
from antiphon.conformance.compare.bindings.core_binding import NOW, CoreBinding, message_of
from antiphon.conformance.compare.bindings.links import Link, Queue
from antiphon.conformance.compare.bindings.shell import Asked, Driven, SteppedCore
from antiphon.impl import tracing
from antiphon.impl.protocols.core import Delivery, Identifier, MessageFormat, Send
from antiphon.impl.protocols.updates import Updates, UpdatesSnapshot
from antiphon.spec.lang import Spec, Step, program
from antiphon.spec.services import Message, Process


class UpdatesBinding(CoreBinding[Any]):
    """A specification over queues, and cores made from `impl.protocols.updates`."""

    channel = ""
    internal = frozenset({"deliver", "acknowledge"})

    exempt: Mapping[str, str] = {
        "order": "says which update has a gsn: that is compared in each ACK and each delivery",
        "source": "belongs to the update, whose source every MSG has",
    }

    def __init__(self, spec: type[Spec], driven: Driven[Any], constants: Mapping[str, Any]) -> None:
        bounded = program(spec, **{"room": constants.get("messages", 3), **constants})
        given = {name: int(value) for name, value in bounded.constants.items()}
        members = given["processes"]
        sources = [(given["first"] + k * given["step"]) % members for k in range(given["messages"])]
        self._updates = {
            Identifier(source, sources[: k + 1].count(source)): Message(k) for k, source in enumerate(sources)
        }
        self.links: tuple[Link, ...] = tuple(
            Queue("channel", s, p) for s in range(members) for p in range(members)
        )
        super().__init__(bounded, driven)

    def stimulus(self, step: Step) -> Stimulus:
        """A process is the first argument; from whom it receives is the second."""
        match step:
            case Step("receive_message" | "receive_ack" | "receive_token", (Process(index=me), sender)):
                return Stimulus(me, link=Queue("channel", cast(Process, sender).index, me))
            case Step(arguments=(Process(index=me), *_)):
                return Stimulus(me)
        raise ValueError(f"{step} concerns no process")

    @abstractmethod
    def packet(self, sender: int, to: int, message: Any) -> object:
        """The specification's packet that a message on its way stands for."""

    def sent(self, me: int, sends: list[Send[Any]]) -> tuple[()]:
        """Nothing: there is no set of packets."""
        del me, sends
        return ()

    def queued(self, me: int, sends: list[Send[Any]]) -> Iterator[tuple[Link, object, bytes]]:
        """All goes into queues."""
        for to, message in sends:
            yield Queue("channel", me, to), self.packet(me, to, message), self.encoded(me, message)

    def offers(self, me: int, snapshot: UpdatesSnapshot) -> frozenset[Step]:
        """Deliver, and acknowledge where a core of its own, put to this snapshot, would do it."""
        probe: Updates = self.probe(me, snapshot)
        found: set[Step] = set()
        delivery = probe.deliver()
        if delivery is not None:
            found.add(Step("deliver", (Process(me), delivery.number)))
            probe = self.probe(me, snapshot)
        if probe.acknowledge(NOW):
            after = probe.snapshot()
            update = self.update(dict(after.names)[after.acknowledged])
            found.add(Step("acknowledge", (Process(me), update)))
        return frozenset(found)

    def project(self, me: int, snapshot: UpdatesSnapshot) -> Mapping[str, object]:
        """What the snapshot says, in the specification's values."""
        return {
            "obtained": frozenset(
                self.update(Identifier(source, number + 1))
                for source, count in enumerate(snapshot.obtained)
                for number in range(count)
            ),
            "acknowledged": snapshot.acknowledged,
            "early": frozenset(number for number, _, _ in snapshot.early),
            "buffer": frozenset(message_of(payload) for _, payload in snapshot.buffer),
            "status": snapshot.status,
            "assigned": snapshot.acknowledged,
            "broadcasts": snapshot.obtained[me],
        }

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """All processes together have broadcast what each has; one of them knows each gsn."""
        return max(shares) if variable == "assigned" else sum(shares)

    def waits(self, me: int, snapshot: UpdatesSnapshot) -> tuple[()]:
        """Nothing: over queues that lose nothing no timer runs."""
        del me, snapshot
        return ()

    def update(self, name: Identifier) -> Message:
        """The update of the specification that has this U_id."""
        if name not in self._updates:
            raise Refused(f"{tuple(name)} names no update")
        return self._updates[name]


def driven(
    kind: type[Updates], messages: MessageFormat[Any], outstanding: int, **settings: Any
) -> Driven[Any]:
    """What a shell and its judge need to know of cores of this kind, faulty ones too; so many own updates may
    be outstanding.
    """

    def core(me: int, members: int, backoff_max: int, tracer: tracing.Tracer) -> SteppedCore[Any]:
        del backoff_max  # of timers, and there is none
        return cast(SteppedCore[Any], cast(Any, kind)(me, members, tracer=tracer, **settings))

    def busy(me: int, snapshot: UpdatesSnapshot) -> bool:
        return snapshot.obtained[me] - snapshot.numbered[me] >= outstanding

    return Driven(messages, {}, core, _single, _rest, _reported, busy)


def _single(core: Updates, action: str, payload: bytes, now: float) -> tuple[bool, object]:
    match action:
        case "broadcast":
            return True, core.broadcast(payload, now)
        case "deliver":
            delivery = core.deliver()
            return delivery is not None, delivery
        case name:
            done: bool = getattr(core, name)(now)
            return done, done


def _rest(core: Updates, now: float) -> list[Delivery]:
    """A delivery comes before other steps."""
    deliveries: list[Delivery] = []
    while (delivery := core.deliver()) is not None or core.acknowledge(now):
        if delivery is not None:
            deliveries.append(delivery)
    return deliveries


def _reported(
    me: int, before: UpdatesSnapshot, after: UpdatesSnapshot, asked: Asked
) -> tuple[object, tuple[tracing.Event, ...]]:
    match asked.action:
        case "broadcast":
            name = Identifier(me, after.obtained[me])
            return name, (tracing.Broadcast(me, name, asked.payload),)
        case "deliver":
            number = after.status
            delivered = dict(before.names)[number]
            payload = dict(before.buffer)[delivered]
            told = tracing.Deliver(me, delivered, number, payload)
            return Delivery(*delivered, number, payload), (told,)
        case "acknowledge":
            number = after.acknowledged
            return True, (tracing.Step(me, "acknowledge", dict(after.names)[number], number),)
        case step:
            return True, (tracing.Step(me, step),)
