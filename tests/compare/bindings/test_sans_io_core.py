"""A core of this library is bound through `SansIO`, in the place of a binding of 124 lines (`updates`)."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from antiphon import lockstep
from antiphon.conformance.compare.bindings import updates
from antiphon.conformance.compare.bindings.chang_maxemchuk_faults import FAULTS
from antiphon.impl.protocols.chang_maxemchuk import MESSAGES, Core
from antiphon.impl.transport.wire import Codec
from antiphon.spec.protocols.chang_maxemchuk.bounds import ChangMaxemchukBounded
from antiphon.spec.protocols.chang_maxemchuk.queues import Packet
from antiphon.spec.services import Broadcast, Deliver
from antiphon.testing import Refused, SansIO, binding

CODEC = Codec(MESSAGES)
LEFT_OUT = {"order": "it is compared in each ACK", "source": "it belongs to the update itself"}


@binding(ChangMaxemchukBounded, exempt=LEFT_OUT, processes=2, messages=2, room=2)
class ChangMaxemchuk(SansIO):
    encode = staticmethod(lambda sent: CODEC.encode(CODEC.envelope("group", 0, 1, sent[-1])))
    decode = staticmethod(lambda data: CODEC.decode(data).message)
    kind = Core

    def __init__(self, processes: int) -> None:
        self.cores, self.sent = [self.kind(p, processes) for p in range(processes)], 0

    def sends(self, p: int, *events: object) -> list[object]:
        for to, message in self.cores[p].outputs():
            self.sent += 1
            self.send((self.sent, p, to, message))
        return list(events)

    def broadcast(self, p: int, m: int) -> Any:
        self.cores[p].broadcast(b"%d" % m, 0.0)
        return self.sends(p, Broadcast(p, m))

    def arrive(self, p: int, s: int) -> Any:
        message = self.receive(min(sent for sent in self.network if sent[1:3] == (s, p)))
        self.cores[p].receive(s, message, 0.0)
        return self.sends(p)

    receive_message = receive_ack = arrive

    def acknowledge(self, p: int, m: int) -> Any:
        if not self.cores[p].acknowledge(0.0):
            raise Refused("there is nothing to acknowledge")
        return self.sends(p)

    def deliver(self, p: int, k: int) -> Any:
        return self.sends(p, Deliver(p, int(self.cores[p].deliver().payload)))

    def update(self, name: Any) -> int:
        return (name.id - 1) * len(self.cores) + name.source

    def state(self) -> dict[str, object]:
        kept, all_ = [core.snapshot() for core in self.cores], range(len(self.cores))
        way: dict[tuple[int, int], list[Packet]] = {(s, p): [] for s in all_ for p in all_}
        for _, s, p, message in sorted(self.network, key=lambda sent: sent[0]):
            way[s, p].append(Packet(self.update(message.identifier), getattr(message, "number", 0)))
        return {
            "channel": [[way[s, p] for p in all_] for s in all_],
            "obtained": [{i * len(all_) + s for s in all_ for i in range(each.obtained[s])} for each in kept],
            "acknowledged": [each.acknowledged for each in kept],
            "early": [{number for number, _, _ in each.early} for each in kept],
            "buffer": [{int(payload) for _, payload in each.buffer} for each in kept],
            "status": [each.status for each in kept],
            "assigned": max(each.acknowledged for each in kept),
            "broadcasts": sum(each.obtained[p] for p, each in enumerate(kept)),
        }


def test_the_core_agrees_with_its_specification_in_every_transition() -> None:
    report = lockstep(ChangMaxemchuk, sample=5)
    assert report.outcome.value == "holds", str(report)
    assert (report.complete, report.one_way, report.states, report.transitions) == (True, False, 52, 106)


@pytest.mark.parametrize("fault", ["delivers-unnumbered", "removes-early"])
def test_a_faulty_core_is_found(fault: str) -> None:
    class Faulty(ChangMaxemchuk):
        kind = FAULTS[fault]

    assert lockstep(Faulty, sample=0).outcome.value == "violated"


def test_it_is_less_than_half_of_the_binding_for_the_deep_form() -> None:
    """docs/decisions/0038 has both numbers."""
    length = len(inspect.getsource(ChangMaxemchuk).splitlines())
    deep = len(inspect.getsource(updates).splitlines())
    assert (length, deep) == (52, 124)
