"""The places at which bytes from the network are read: each takes datagrams and counts what came of them."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from datagrams import envelopes, mutated, segment

from antiphon.impl.errors import GroupFailed
from antiphon.impl.layers import Layers
from antiphon.impl.layers.packing import pack
from antiphon.impl.protocols.core import Network
from antiphon.impl.registry import implementation, known_protocols
from antiphon.impl.transport.endpoint import Endpoint
from antiphon.impl.transport.incarnations import CHANCE_BYTES, Incarnations, incarnation
from antiphon.impl.transport.sealing import Keyring, Plain, Sealed
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork
from antiphon.impl.transport.wire import Admission, Codec, Rejected

MEMBERS = 3
GROUP = "simulated"
LAYERS = Layers(datagram_bytes=65_000)
KEY = bytes(range(32))
RENEWED_EVERY = 5_000
"""A member is made anew after so many datagrams, since some protocols forget nothing."""

HANDLED, ENDED, GREETING, SEVERAL = "handled", "group ended", "greeting", "several"


def captured(name: str, layers: Layers | None) -> list[bytes]:
    """The datagrams of a run with faults, so that every kind of message is among them."""
    found: list[bytes] = []
    network = SimulatedNetwork(
        implementation(name), MEMBERS, seed=1, layers=layers, faults=Faults(0.1, 0.1, (1.0, 20.0))
    )
    for endpoint in network.endpoints:
        take = endpoint.datagrams_to_send

        def keep(take: Any = take) -> Any:
            datagrams = take()
            found.extend(each.data for each in datagrams)
            return datagrams

        endpoint.datagrams_to_send = keep  # type: ignore[method-assign]
    for k in range(12):
        network.broadcast(k % MEMBERS, b"message %d" % k)
    network.run_for(400.0)
    return found


class Place:
    """One place at one member, number 0 of three; what is fed comes from the address of member 1."""

    def __init__(self, name: str, protocol: str, draw: random.Random) -> None:
        self.name = f"{protocol}, {name}"
        self.outcomes: Counter[str] = Counter()
        self.largest = 0
        """The most bytes that one datagram made the member send."""
        self._kind, self._draw = name, draw
        self._implementation = implementation(protocol)
        lossy = self._implementation.network is Network.LOSSY
        layers = LAYERS if name != "core" or not lossy else None
        self.corpus = envelopes(draw, self._implementation, GROUP, 300)
        if name != "decoder":
            self.corpus += captured(protocol, layers)
        self._linked = name != "decoder" and not lossy
        if name != "decoder" and layers is not None and lossy:
            self.corpus += [pack(draw.choices(self.corpus, k=draw.choice((2, 3, 9)))) for _ in range(100)]
        self._layers = layers
        self._renew()

    def _renew(self) -> None:
        self._codec: Codec[Any] = Codec(self._implementation.messages)
        self._admission = Admission(self._codec, GROUP, 0, MEMBERS)
        self._endpoint = Endpoint(self._implementation, GROUP, 0, MEMBERS, layers=self._layers)
        self._now = 0.0
        self._endpoint.start(0.0)
        own, other = (incarnation(k, self._draw.randbytes(CHANCE_BYTES)) for k in (1, 2))
        keys = Keyring(KEY)
        sealed = self._kind == "sealed frame"
        here, there = (
            Sealed(GROUP, me, name, keys) if sealed else Plain(GROUP, me, name)
            for me, name in enumerate((own, other))
        )
        self._frames = Incarnations(0, MEMBERS, own, here)
        self._peer = there
        self._target = own
        self._frames.received(1, there.seal(0, own, b""), 0.0)
        self._frames.frames_to_send()
        self._fed: list[bytes] = []
        self._number = 0
        """The last number on the link from the other member."""

    def draw(self) -> bytes:
        """A datagram to feed."""
        draw = self._draw
        data, other = draw.choice(self.corpus), draw.choice(self.corpus)
        if self._linked and draw.random() < 0.7:
            data = segment(self._number + 1, mutated(draw, data, other))
            if draw.random() < 0.1:
                return mutated(draw, data, other)
            self._number += 1
            return data
        if not self._kind.endswith("frame"):
            return mutated(draw, data, other)
        if draw.random() < 0.5:
            return self._peer.seal(0, self._target, mutated(draw, data, other))
        return mutated(draw, self._peer.seal(0, draw.choice((self._target, bytes(16))), data), other)

    def feed(self, data: bytes) -> None:
        """Hand it in, count what became of it, and let the member do what it then does."""
        if len(self._fed) == RENEWED_EVERY:
            self._renew()
        self._fed.append(data)
        self._now += 0.5
        if self._kind == "decoder":
            result = self._admission.admit(data)
            self.outcomes[result.kind if isinstance(result, Rejected) else HANDLED] += 1
            if not isinstance(result, Rejected) and self._codec.decode(self._codec.encode(result)) != result:
                raise AssertionError("what was let in is not what it is when it is encoded again")
            return
        self.outcomes[self._taken(data)] += 1

    def shortest(self, error: type[Exception]) -> list[bytes]:
        """Few of the datagrams fed since the member was made that still lead to such an error."""
        needed = self._fed
        if self._kind.endswith("frame"):
            return needed[-1:]  # another member has other incarnations
        size = len(needed) // 2
        while size:
            at = 0
            while at < len(needed):
                fewer = needed[:at] + needed[at + size :]
                if self._fails(fewer, error):
                    needed = fewer
                else:
                    at += size
            size //= 2
        return needed

    def _fails(self, datagrams: list[bytes], error: type[Exception]) -> bool:
        self._renew()
        try:
            for data in datagrams:
                self.feed(data)
        except error:
            return True
        return False

    def _taken(self, frame: bytes) -> str:
        data: bytes | Rejected | None = frame
        sent = 0
        if self._kind.endswith("frame"):
            try:
                data = self._frames.received(1, frame, self._now)
            except GroupFailed:
                if self._kind == "sealed frame":
                    raise AssertionError("who has no key has ended the group") from None
                self._renew()
                return ENDED
            sent = sum(len(each.data) for each in self._frames.frames_to_send())
            if sent > len(frame):
                raise AssertionError(f"{sent} bytes of greetings for {len(frame)}")
        if isinstance(data, Rejected):
            return data.kind
        if data is None:
            return GREETING
        dropped = self._endpoint.admission.dropped
        before = dropped.copy()
        try:
            self._endpoint.datagram_received(1, data, self._now)
            deadline = self._endpoint.next_deadline()
            if deadline is not None and deadline <= self._now:
                self._endpoint.tick(self._now)
            sent += sum(len(each.data) for each in self._endpoint.datagrams_to_send())
            self._endpoint.deliveries()
        except GroupFailed:
            self._renew()
            return ENDED
        self.largest = max(self.largest, sent)
        new = dropped - before
        return HANDLED if not new else next(iter(new)) if new.total() == 1 else SEVERAL


def places(protocols: list[str], draw: random.Random) -> list[Place]:
    """All places of all these protocols; the frames are the same for all, and stand at the first that reads
    a frame's content without links.
    """
    kinds = [(name, kind) for name in protocols for kind in ("decoder", "core", "layers")]
    lossy = (name for name in protocols if implementation(name).network is Network.LOSSY)
    framed = next(lossy, protocols[0])
    return [
        Place(kind, name, draw) for name, kind in [*kinds, (framed, "plain frame"), (framed, "sealed frame")]
    ]


def every_protocol() -> list[str]:
    """The names of all that can be fed."""
    return list(known_protocols())
