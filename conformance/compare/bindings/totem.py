"""Totem's paragraph and its implementation speak of the same things by these names.

| paper                                    | specification `TotemRing` | implementation `Core`, its snapshot |
|------------------------------------------|---------------------------|-------------------------------------|
| the token, `seq`                         | token[p]                  | token                               |
| `its own message delivery information`   | told of a token           | told of a token; status             |
| (messages that wait for the token)       | waiting[p]                | waiting                             |
| (messages of this visit)                 | visit[p]                  | visit                               |
| (own numbers that others may lack)       | own[p]                    | own                                 |
| (messages that wait for an earlier one)  | early[p]                  | early                               |
| `the stability of messages`              | stable[p]                 | stable                              |
| update                                   | Message(k)                | payload b"k"                        |
| in flight                                | network, a set of packets | the encoded datagrams               |

The core has two variables more, to refuse what cannot be: what it told last, and of each member the
identifier that it delivered last. Both follow from what was sent and delivered, which is compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from antiphon.conformance.compare.bindings.binding import Bound, described, with_faults
from antiphon.conformance.compare.bindings.core_binding import NOW, CoreBinding, message_of
from antiphon.conformance.compare.bindings.shell import Asked, Driven
from antiphon.conformance.compare.bindings.totem_faults import FAULTS
from antiphon.impl import tracing
from antiphon.impl.protocols.core import Delivery, Identifier
from antiphon.impl.protocols.totem import MESSAGES, Core, Message, Settings, Snapshot, Timer, totem
from antiphon.impl.protocols.totem import messages as wire_messages
from antiphon.model.engines import compiled_machine
from antiphon.spec.lang import Map, Step, program
from antiphon.spec.protocols.totem import ring as spec
from antiphon.spec.protocols.totem.ring_properties import TotemRingBounded
from antiphon.spec.services import Process

INTERVALS_MS = {Timer.PASS_IDLE: 16.0}

PENDING_MAX = 64
"""More than any exploration broadcasts: the specification never refuses a broadcast."""


class TotemBinding(CoreBinding[Message]):
    """The ring and the core of `impl.protocols.totem`, or a faulty one by its name."""

    internal = frozenset({"multicast", "pass_token"})

    exempt: Mapping[str, str] = {}

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        bounded = program(TotemRingBounded, **constants)
        kind = Core if fault is None else FAULTS[fault]
        visit_max, unstable_max = (int(bounded.constants[name]) for name in ("visit_max", "unstable_max"))
        super().__init__(bounded, driven(kind, visit_max, unstable_max))
        self._machine = compiled_machine(bounded)

    def packet(self, sender: int, to: int, message: Message) -> spec.Packet:
        """The specification's packet that a message on its way stands for."""
        del sender
        if isinstance(message, wire_messages.Token):
            return spec.Token(Process(to), message.seq, _told(message))
        return spec.Update(Process(to), message.number, message_of(message.payload))

    def offers(self, me: int, snapshot: Snapshot) -> frozenset[Step]:
        """Multicast or pass the token, where a core of its own, put to this snapshot, would do it."""
        probe = self.probe(me, snapshot)
        for action in ("multicast", "pass_token"):
            if getattr(probe, action)(NOW):
                return frozenset({Step(action, (Process(me),))})
        return frozenset()

    def waits(self, me: int, snapshot: Snapshot) -> list[Timer]:
        """The timers that the specification would let expire; what the others know decides nothing."""
        (state,) = self._machine.initial()
        values: dict[str, Any] = dict(zip(self.program.variables, state, strict=True))
        for name, value in self.project(me, snapshot).items():
            if name != "broadcasts":
                values[name] = (*values[name][:me], value, *values[name][me + 1 :])
        values["broadcasts"] = int(self.program.constants["messages"])
        enabled = self._machine.enabled(tuple(values.values()))
        expiring = {step.action for step in enabled if step.arguments[0] == Process(me)}
        return [timer for timer in Timer if timer.value in expiring]

    def project(self, me: int, snapshot: Snapshot) -> Mapping[str, object]:
        """What the snapshot says, in the specification's values."""
        del me
        token = snapshot.token
        early = {update.number: message_of(update.payload) for update in snapshot.early}
        numbers = range(1, int(self.program.constants["messages"]) + 1)
        return {
            "token": None if token is None else spec.Held(token.seq, _told(token)),
            "visit": snapshot.visit,
            "waiting": tuple(message_of(payload) for _, payload in snapshot.waiting),
            "own": frozenset(snapshot.own),
            "early": tuple(early.get(number) for number in numbers),
            "status": snapshot.status,
            "stable": snapshot.stable,
            "broadcasts": snapshot.last_id,
        }

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """All processes together have broadcast what each has."""
        assert variable == "broadcasts"
        return sum(shares)


def _told(token: wire_messages.Token) -> Map[Process, int]:
    return Map({Process(process): number for process, number in enumerate(token.told)})


def driven(kind: type[Core], visit_max: int, unstable_max: int) -> Driven[Message]:
    """What a shell and its judge need to know of cores of this kind, faulty ones too."""

    def core(me: int, members: int, backoff_max: int, tracer: tracing.Tracer) -> Core:
        del backoff_max  # the token rests equally long wherever it does
        settings = Settings(
            visit_max=visit_max, unstable_max=unstable_max, pending_max=PENDING_MAX,
            rest_ms=INTERVALS_MS[Timer.PASS_IDLE],
        )  # fmt: skip
        return kind(me, members, settings, tracer=tracer)

    return Driven(
        MESSAGES,
        INTERVALS_MS,
        core,
        _single,
        _rest,
        _reported,
        _busy,
        rested=Core.deliveries,
        ending=frozenset({Timer.PASS_IDLE}),
    )


def _single(core: Core, action: str, payload: bytes, now: float) -> tuple[bool, object]:
    match action:
        case "broadcast":
            return True, core.broadcast(payload, now)
        case "multicast":
            done = core.multicast(now)
        case "pass_token":
            done = core.pass_token(now)
        case name:
            done = core.expire(Timer(name), now)
    return done, done


def _rest(core: Core, now: float) -> list[Delivery]:
    while core.multicast(now) or core.pass_token(now):
        pass
    return core.deliveries()


def _reported(
    me: int, before: Snapshot, after: Snapshot, asked: Asked
) -> tuple[object, tuple[tracing.Event, ...]]:
    match asked.action:
        case "broadcast":
            name = Identifier(me, after.last_id)
            return name, (tracing.Broadcast(me, name, asked.payload),)
        case "multicast":
            assert before.token is not None
            told = tracing.Step(me, "multicast", Identifier(me, before.waiting[0][0]), before.token.seq + 1)
            delivered = (
                tracing.Deliver(me, Identifier(source, name), number, payload)
                for source, name, number, payload in after.deliveries
            )
            return True, (told, *delivered)
        case passing:
            return True, (tracing.Step(me, passing),)


def _busy(me: int, snapshot: Snapshot) -> bool:
    del me, snapshot  # no bound of an exploration fills what may wait
    return False


TOTEM = Bound(
    TotemBinding,
    small={"processes": 2, "messages": 3, "visit_max": 2, "unstable_max": 2},
    random={"processes": 3, "messages": 4, "visit_max": 2, "unstable_max": 2},
    faults=described(FAULTS),
    implementation=with_faults(totem, FAULTS),
)
"""Totem's ring."""
