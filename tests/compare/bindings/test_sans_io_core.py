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
from antiphon.testing import SansIO, binding

CODEC = Codec(MESSAGES)
LEFT_OUT = {"order": "it is compared in each ACK", "source": "it belongs to the update itself"}


@binding(ChangMaxemchukBounded, exempt=LEFT_OUT, processes=2, messages=2, room=2)
class ChangMaxemchuk(SansIO):
    encode = staticmethod(lambda message: CODEC.encode(CODEC.envelope("group", 0, 1, message)))
    decode = staticmethod(lambda data: CODEC.decode(data).message)
    core = Core

    def broadcast(self, p: int, m: int) -> Any:
        self.cores[p].broadcast(b"%d" % m, 0.0)
        return Broadcast(p, m)

    def arrive(self, p: int, s: int) -> None:
        self.cores[p].receive(s, self.first(s, p), 0.0)

    receive_message = receive_ack = arrive

    def acknowledge(self, p: int, m: int) -> None:
        self.require(self.cores[p].acknowledge(0.0))

    def deliver(self, p: int, k: int) -> Any:
        return Deliver(p, int(self.cores[p].deliver().payload))

    def state(self) -> dict[str, object]:
        kept, n = [core.snapshot() for core in self.cores], len(self.cores)
        return {
            "channel": self.queues(lambda sent: Packet(
                (sent.identifier.id - 1) * n + sent.identifier.source, getattr(sent, "number", 0))),
            "obtained": [{i * n + s for s in range(n) for i in range(each.obtained[s])} for each in kept],
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


FOUND = (
    "delivers-unnumbered", "delivers-when-stable", "forgets-the-last", "removes-early", "removes-nothing",
)  # fmt: skip
"""Planted faults that show between two processes, in steps that the specification enables."""


@pytest.mark.parametrize("fault", FOUND)
def test_a_faulty_core_is_found(fault: str) -> None:
    class Faulty(ChangMaxemchuk):
        core = FAULTS[fault]

    assert lockstep(Faulty, sample=0).outcome.value == "violated"


def test_it_is_a_quarter_of_the_binding_for_the_deep_form() -> None:
    """docs/decisions/0038 has both numbers."""
    length = len(inspect.getsource(ChangMaxemchuk).splitlines())
    deep = len(inspect.getsource(updates).splitlines())
    assert (length, deep) == (34, 124)
