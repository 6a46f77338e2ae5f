"""A flood of any kind of datagram makes a member send and keep at most what docs/library.md states.

A neighbour here is a member's address that says what it likes. The victim is in the middle of a run, so that
it has much to tell: large bodies, many numbers.
"""

from __future__ import annotations

import asyncio
import gc
import math
import random
import socket
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType

import pytest

from antiphon.impl.errors import Rejection
from antiphon.impl.group import Group
from antiphon.impl.protocols.core import PAYLOAD_BYTES_MAX, Identifier
from antiphon.impl.protocols.rbp import MESSAGES, RbpViolation, rbp
from antiphon.impl.protocols.rbp.messages import (
    NUMBERS_ASKED_MAX,
    Ack,
    Data,
    Message,
    Numbered,
    Request,
    RequestNumbers,
)
from antiphon.impl.tracing import Receive, RecordingTracer
from antiphon.impl.transport.endpoint import Endpoint
from antiphon.impl.transport.incarnations import GREETINGS_MAX, GREETINGS_MS, Incarnations
from antiphon.impl.transport.sealing import FRAME_BYTES, INCARNATION_BYTES, Plain
from antiphon.impl.transport.simulated import SimulatedNetwork
from antiphon.impl.transport.wire import Codec

CODEC = Codec(MESSAGES)
BIG = 2**63 - 1
SHORT = 100
"""The bytes of a datagram without a body, at most."""
LARGE = PAYLOAD_BYTES_MAX + SHORT
FLOOD = 2_000
NEIGHBOUR = b"the neighbour".ljust(INCARNATION_BYTES)


def datagram(sender: int, message: Message, *, counter: int = 1) -> bytes:
    return CODEC.encode(CODEC.envelope("simulated", sender, counter, message))


def victim(messages: int) -> Endpoint[Message]:
    """Process 0 of 3, which has delivered so many of the largest messages."""
    network = SimulatedNetwork(rbp(), 3, seed=1)
    for k in range(messages):
        network.broadcast(k % 3, bytes(PAYLOAD_BYTES_MAX))
    assert network.run_until_delivered(messages)
    endpoint = network.endpoints[0]
    endpoint.datagrams_to_send()
    return endpoint


def kept_bytes(root: object) -> int:
    """The size of all that hangs on an object, but code."""
    seen = {id(root)}
    found = [root]
    for each in found:
        for part in gc.get_referents(each):
            if id(part) not in seen and not isinstance(part, type | ModuleType | FunctionType):
                seen.add(id(part))
                found.append(part)
    return sum(sys.getsizeof(each) for each in found)


FLOODS: dict[str, tuple[str, Callable[[random.Random, int], Message]]] = {
    "bodies from now on": (
        "kept",
        lambda _, k: Data(Identifier(2, 10 + k), bytes(PAYLOAD_BYTES_MAX)),
    ),
    "bodies of any identifier": (
        "counted",
        lambda r, _: Data(Identifier(r.choice([1, 2]), r.randint(2**10, BIG)), bytes(PAYLOAD_BYTES_MAX)),
    ),
    "a body again": ("", lambda _, k: Data(Identifier(k % 3, 1 + k % 9), bytes(PAYLOAD_BYTES_MAX))),
    "tokens from long ago": ("answered", lambda _, k: Ack(Identifier(2, 1 + k % 9), 3 + 3 * (k % 9), 0)),
    "tokens to come": ("counted", lambda r, _: Ack(Identifier(2, 11), 3 * r.randint(12, 2**60), 0)),
    "tokens out of turn": ("counted", lambda r, _: Ack(Identifier(2, 11), r.randint(40, BIG), 1)),
    "numbers to come": ("counted", lambda r, _: Numbered(Identifier(1, 11), r.randint(36, BIG))),
    "numbers of any identifier": ("counted", lambda r, _: Numbered(Identifier(1, r.randint(13, BIG)), 32)),
    "numbers again": ("", lambda _, k: Numbered(None, 1)),
    "questions for a body": ("answered", lambda _, k: Request(Identifier(k % 3, 1 + k % 10))),
    "questions for any body": ("", lambda r, _: Request(Identifier(r.randint(0, 2), r.randint(2**10, BIG)))),
    "questions for numbers": (
        "answered",
        lambda _, k: RequestNumbers(1 + k % 20, k % 20 + NUMBERS_ASKED_MAX),
    ),
    "questions for all numbers": ("counted", lambda _, k: RequestNumbers(1, BIG - k)),
}
"""Each kind with its effect on a member that waits for nothing, and its k-th message."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("holding", [False, True])
@pytest.mark.parametrize("kind", FLOODS)
def test_a_flood_makes_a_member_send_and_keep_little(kind: str, holding: bool) -> None:
    """Each datagram: one body or one message to all, and a few short ones. All together: a few bodies."""
    effect, make = FLOODS[kind]
    generator = random.Random(kind)
    endpoint = victim(29 if holding else 30)
    members = endpoint.core.members
    before = kept_bytes(endpoint.core)
    answers = 0
    for k in range(FLOOD):
        endpoint.datagram_received(2, datagram(2, make(generator, k), counter=1 + k), 0.0)
        sent = [len(data) for _, data in endpoint.datagrams_to_send()]
        answers += len(sent)
        assert len(sent) <= NUMBERS_ASKED_MAX + members - 1, sent
        assert sum(sent) <= LARGE + (NUMBERS_ASKED_MAX + members - 1) * SHORT, sent
    grown = kept_bytes(endpoint.core) - before
    assert grown <= members * members * LARGE
    assert len(endpoint.deliveries()) <= 1 + members
    if not holding:
        counted = endpoint.core.violations.total() + endpoint.admission.dropped.total()
        assert (answers > 0) == (effect == "answered")
        assert (grown > PAYLOAD_BYTES_MAX) == (effect == "kept")
        assert (counted > FLOOD / 2) == (effect in {"counted", "kept"})


@pytest.mark.deep
def test_memory_grows_by_the_messages_and_by_nothing_else() -> None:
    """Figure 16 forgets nothing: a message of 8 bytes costs some 300, the last as much as the first."""
    network = SimulatedNetwork(rbp(), 3, seed=7)
    sizes = []
    for soaked in (2_000, 4_000):
        for k in range(2_000):
            network.broadcast(k % 3, b"%08d" % k)
        assert network.run_until_delivered(soaked, limit_ms=1e12), network
        sizes.append([kept_bytes(endpoint) for endpoint in network.endpoints])
    for first, second in zip(*sizes, strict=True):
        assert 270 < first / 2_000 < 330
        assert 270 < (second - first) / 2_000 < 330


class Neighbour:
    """A socket at member 1's address that says what it likes to member 0, and reads all that comes back."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.frames: list[bytes] = []

    async def flood(self, group: Group, frames: list[bytes], handled: Callable[[], int]) -> list[bytes]:
        """Frames that come back once the group has handled all of these."""
        self.frames = []
        target = handled() + len(frames)
        for frame in frames:
            self.socket.sendto(frame, group.address)
            await asyncio.sleep(0)
            self.read()
        async with asyncio.timeout(60):
            while handled() < target:
                await asyncio.sleep(0.001)
                self.read()
        self.read()
        return self.frames

    def read(self) -> None:
        """Take what has arrived."""
        while True:
            try:
                self.frames.append(self.socket.recv(65_536))
            except BlockingIOError:
                return


def test_a_flood_over_udp_is_answered_with_a_bounded_multiple() -> None:
    """Before a neighbour has shown that it hears, it gets greetings only; then what a member gets."""

    async def scenario() -> None:
        neighbour = Neighbour()
        tracer = RecordingTracer()
        group = Group(
            "simulated",
            me=0,
            members=2,
            bind=("127.0.0.1", 0),
            routes={1: neighbour.socket.getsockname()},
            key=None,
            stall_s=math.inf,  # no heartbeats: the frames are counted
            protocol=rbp(resend_ms=60_000, token_ms=60_000, request_ms=60_000),
            tracer=tracer,
        )

        def refused() -> int:
            return group.statistics.dropped[Rejection.FOREIGN_INCARNATION]

        def received() -> int:
            return sum(isinstance(event, Receive) for event in tracer.events)

        async with group:
            await group.broadcast(bytes(PAYLOAD_BYTES_MAX))
            own = Incarnations(1, 2, NEIGHBOUR, Plain("simulated", 1, NEIGHBOUR))
            own.start(0.0)
            (greeting,) = own.frames_to_send()
            begun = asyncio.get_running_loop().time()
            frames = await neighbour.flood(group, [greeting.data + bytes(100)] * 500, refused)
            elapsed_ms = (asyncio.get_running_loop().time() - begun) * 1000.0
            assert {len(frame) for frame in frames} == {FRAME_BYTES}
            assert len(frames) <= GREETINGS_MAX * (2 + elapsed_ms / GREETINGS_MS)

            assert own.received(0, frames[-1], 0.0) == b""

            def framed(message: Message, count: int) -> list[bytes]:
                for k in range(count):
                    own.send(0, datagram(1, message, counter=k + 1), 0.0)
                return [frame.data for frame in own.frames_to_send()]

            await neighbour.flood(group, framed(Ack(Identifier(0, 1), 2, 0), 1)[-1:], received)
            frames = await neighbour.flood(group, framed(RequestNumbers(1, NUMBERS_ASKED_MAX), 300), received)
            assert len(frames) == 300, "both numbers in one datagram"
            assert max(len(frame) for frame in frames) <= 2 * SHORT
            frames = await neighbour.flood(group, framed(Request(Identifier(0, 1)), 100), received)
            assert len(frames) == 100
            far = Data(Identifier(1, 2**40), bytes(PAYLOAD_BYTES_MAX))
            assert await neighbour.flood(group, framed(far, 100), received) == []
            assert group.statistics.violations == {RbpViolation.IDENTIFIER_AHEAD: 100}
        neighbour.socket.close()

    asyncio.run(scenario())
