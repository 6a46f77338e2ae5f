"""Large numbers, identifiers and datagram counters change nothing, and after the last ones comes an error."""

from __future__ import annotations

from itertools import pairwise

import pytest

from antiphon.impl.errors import GroupFailed
from antiphon.impl.protocols.core import NATURAL_MAX, Identifier, Implementation, Send
from antiphon.impl.protocols.rbp import MESSAGES, Core, Message, Timer
from antiphon.impl.protocols.rbp.messages import Ack
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork

ROUGH = Faults(loss=0.2, duplication=0.2, delay_ms=(1.0, 30.0))

MEMBERS = 3

BOUNDARIES = [2**7, 2**8, 2**15, 2**16, 2**31, 2**32, 2**53]


class Late(Core):
    """A core that starts when `last` numbers were given, nearly all to messages of process 0."""

    last = 0

    def start(self, now: float) -> None:
        """Start with all messages known and delivered everywhere; the last holder passed the token at this
        moment.
        """
        super().start(now)
        self.outputs()
        queues, last = self._queues, self.last
        name = Identifier(0, last - 2)
        queues.numbers, queues.number_of, queues.received = {last: name}, {name: last}, {name: b""}
        queues.last_number = queues.highest = self._last_delivered = last
        queues.numbered[:2] = [last - 2, 1]
        self._message_id = queues.numbered[self.me]
        self._passed = None
        self._deadlines.stop(Timer.RESEND_TOKEN)
        sequencer = (last - 1) % self.members
        if sequencer == self.me:
            self._passed = last
            self._deadlines.start(Timer.RESEND_TOKEN, now)
            self._outputs = [Send(to, Ack(name, last, self.successor)) for to in self._others]
        if (sequencer + 1) % self.members == self.me:
            self._holding = True


def late(last: int, seed: int, faults: Faults = ROUGH) -> SimulatedNetwork[Message]:
    """A group whose next number is `last + 1`."""
    kind = type("LateHere", (Late,), {"last": last})
    made = Implementation(MESSAGES, lambda me, members, tracer: kind(me, members, tracer=tracer))
    return SimulatedNetwork(made, MEMBERS, seed=seed, faults=faults)


def count_from(network: SimulatedNetwork[Message], counter: int) -> None:
    """Let every member name its next datagrams from this counter on."""
    for endpoint in network.endpoints:
        endpoint._counter = counter


def delivered_as_sent(network: SimulatedNetwork[Message], messages: int) -> None:
    """Broadcast messages by all members in turn; expect each delivered by all in one order without a gap."""
    payloads = [b"%d" % number for number in range(messages)]
    for number, payload in enumerate(payloads):
        network.broadcast(number % MEMBERS, payload)
    assert network.run_until_delivered(messages), network
    first = network.deliveries[0]
    assert all(delivered == first for delivered in network.deliveries), network
    assert sorted(delivery.payload for delivery in first) == sorted(payloads)
    assert all(b.number == a.number + 1 for a, b in pairwise(first))
    for source in range(MEMBERS):
        ids = [delivery.id for delivery in first if delivery.source == source]
        assert ids == list(range(ids[0], ids[0] + len(ids)))
    assert not any(endpoint.core.violations or endpoint.admission.dropped for endpoint in network.endpoints)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_numbers_identifiers_and_counters_pass_a_boundary(boundary: int, seed: int) -> None:
    """The numbers pass it, then the identifiers of process 0 and the counters, each by more than ten."""
    network = late(boundary - 6, seed)
    count_from(network, boundary - 20)
    delivered_as_sent(network, 60)
    first = network.deliveries[0]
    assert first[0].number == boundary - 5
    assert first[-1].number > boundary + 10
    assert max(delivery.id for delivery in first if delivery.source == 0) > boundary + 10
    assert all(endpoint._counter > boundary + 10 for endpoint in network.endpoints)


@pytest.mark.parametrize("seed", range(3))
def test_the_last_numbers_are_given_and_delivered(seed: int) -> None:
    network = late(NATURAL_MAX - 30, seed)
    delivered_as_sent(network, 30)
    assert network.deliveries[0][-1].number == NATURAL_MAX


@pytest.mark.parametrize("member", range(MEMBERS))
def test_after_the_last_number_a_broadcast_says_that_there_is_none(member: int) -> None:
    network = late(NATURAL_MAX - 3, 0, Faults())
    delivered_as_sent(network, 3)
    before = network.endpoints[member].core.snapshot()
    with pytest.raises(GroupFailed, match=r"number 9223372036854775807 was given, the last there is"):
        network.broadcast(member, b"one more")
    assert network.endpoints[member].core.snapshot() == before


def test_a_message_that_gets_no_number_any_more_ends_the_group_at_its_source() -> None:
    """Others have just used up the last numbers, which its source learns before its timer rings."""
    network = late(NATURAL_MAX - 2, 0, Faults())
    for member in range(MEMBERS):
        network.broadcast(member, b"%d" % member)
    with pytest.raises(GroupFailed, match="was given, the last there is"):
        network.run_for(1_000.0)
    assert [len(delivered) for delivered in network.deliveries] == [2, 2, 2]
    assert all(delivered[-1].number == NATURAL_MAX for delivered in network.deliveries)


def test_after_the_last_datagram_counter_the_group_fails() -> None:
    network = late(5, 0, Faults())
    count_from(network, NATURAL_MAX - 10)
    with pytest.raises(GroupFailed, match=r"has sent 9223372036854775807 datagrams"):
        delivered_as_sent(network, 60)


class Wraps(Late):
    """A core whose numbers have 32 bits."""

    def sequence(self, now: float) -> bool:
        if self._holding and self._queues.last_number == 2**32 - 1 and self._queues.first_unnumbered():
            self._holding = False
            self._pass_token(self._queues.first_unnumbered(), 1)
            return True
        return super().sequence(now)


class Forgets(Late):
    """A core that forgets what it has, although others may miss it."""

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        self._queues.received.clear()
        return super().broadcast(payload, now)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("fault", [Wraps, Forgets])
def test_a_core_that_wraps_or_forgets_fails_these_tests(fault: type[Late]) -> None:
    kind = type("LateHere", (fault,), {"last": 2**32 - 6})
    made = Implementation(MESSAGES, lambda me, members, tracer: kind(me, members, tracer=tracer))
    failures = 0
    for seed in range(3):
        try:
            delivered_as_sent(SimulatedNetwork(made, MEMBERS, seed=seed, faults=ROUGH), 60)
        except (AssertionError, KeyError, GroupFailed):
            failures += 1
    assert failures == 3
