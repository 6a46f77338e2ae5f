"""RBP without failures keeps messages, as figure 16 does, and nothing else; the suite finds what leaks."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.conformance.compare.suites import check_memory
from antiphon.conformance.compare.suites.memory import growing
from antiphon.impl.protocols import horus as horus_core
from antiphon.impl.protocols.core import Delivery, Implementation, Send
from antiphon.impl.protocols.rbp import MESSAGES, Core, Message, rbp

KEPT = frozenset(f"endpoint.core._queues.{name}" for name in ("received", "numbers", "number_of"))
"""recvQ, and seqQ in both directions."""

BYTES_MAX = 500.0
"""For a message with 100 bytes of payload: 133 for these, less than 100 for names, and three tables."""


@pytest.mark.deep
@pytest.mark.parametrize("messages", [500, pytest.param(1_000, marks=pytest.mark.deep)])
def test_a_message_costs_so_many_bytes_for_ever(messages: int) -> None:
    """The same for twice as many: memory grows with the number of messages, and with nothing else."""
    check_memory(rbp(), kept=KEPT, bytes_max=BYTES_MAX, messages=messages)


@pytest.mark.deep
@pytest.mark.parametrize("stack", ["NAK:COM", "FRAG:NAK:COM"])
def test_a_stack_that_orders_nothing_keeps_nothing_either(stack: str) -> None:
    def core(me: int, members: int, tracer: Any) -> horus_core.Core:
        return horus_core.Core(tuple(stack.split(":")), me, members, tracer=tracer)

    assert growing(Implementation(horus_core.MESSAGES, core), messages=1_000) == set()


LEAKED: list[bytes] = []


class KeepsOutputs(Core):
    def outputs(self) -> list[Send[Message]]:
        sends = super().outputs()
        self.__dict__.setdefault("log", []).extend(sends)
        return sends


class KeepsNumbers(Core):
    def settle(self, now: float) -> list[Delivery]:
        deliveries = super().settle(now)
        self.__dict__.setdefault("seen", set()).update(delivery.number for delivery in deliveries)
        return deliveries


class KeepsOutOfSight(Core):
    def settle(self, now: float) -> list[Delivery]:
        deliveries = super().settle(now)
        LEAKED.extend(bytes(200) for _ in deliveries)
        return deliveries


class ForgetsOldBodies(Core):
    def settle(self, now: float) -> list[Delivery]:
        received = self._queues.received
        for name in list(received)[: max(0, len(received) - 50)]:
            del received[name]
        return super().settle(now)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("core", "told"),
    [
        (KeepsOutputs, r"\['endpoint.core.log'\] beyond what is stated"),
        pytest.param(
            KeepsNumbers, r"\['endpoint.core.seen'\] beyond what is stated", marks=pytest.mark.deep
        ),
        (KeepsOutOfSight, "bytes a message and member; stated are 500"),
        (ForgetsOldBodies, r"\['endpoint.core._queues.received'\] does not"),
    ],
)
def test_a_core_that_leaks_or_forgets_is_found(core: type[Core], told: str) -> None:
    def made(me: int, members: int, tracer: Any) -> Core:
        return core(me, members, tracer=tracer)

    with pytest.raises(AssertionError, match=told):
        check_memory(Implementation(MESSAGES, made), kept=KEPT, bytes_max=BYTES_MAX, messages=250)
    LEAKED.clear()
