"""The binding of figure 16 speaks bytes, has canonical snapshots, refuses what its core would not take."""

import pytest

from antiphon.conformance.compare.bindings import Refused, binding_of, bound_protocol
from antiphon.conformance.compare.bindings import system as systems
from antiphon.conformance.compare.bindings.core_binding import GROUP
from antiphon.conformance.compare.bindings.rbp import RbpBinding
from antiphon.conformance.compare.bindings.rbp_faults import FAULTS, SIZE_FAULTS
from antiphon.impl.protocols.rbp import Core
from antiphon.impl.protocols.rbp.messages import Ack, Data, Numbered
from antiphon.impl.transport import wire
from antiphon.spec.lang import SpecError, Step
from antiphon.spec.protocols.rbp import figure16 as spec
from antiphon.spec.services import Deliver, Message, Process

P0, P1 = Process(0), Process(1)
FIRST_TOKEN = spec.Ack(P1, None, 1, P1)


def small() -> RbpBinding:
    return RbpBinding(processes=2, messages=1)


def test_a_datagram_in_flight_is_what_the_core_encoded() -> None:
    binding = small()
    ((packet, datagram),) = systems.start(binding).flight
    assert packet == FIRST_TOKEN
    envelope = binding.codec.decode(datagram)
    assert isinstance(envelope, wire.Envelope)
    assert (envelope.sender, envelope.message) == (0, Ack(None, 1, 1))


def test_what_is_delivered_went_through_the_decoder() -> None:
    """A damaged datagram is refused: the receiver reads bytes, not objects."""
    binding = small()
    start = systems.start(binding)
    ((packet, datagram),) = start.flight
    damaged = start._replace(flight=frozenset({(packet, datagram[:-1])}))
    with pytest.raises(Refused, match="drops its peer's datagram as truncated"):
        systems.perform(binding, damaged, Step("receive_ack", (FIRST_TOKEN,)))


def test_equal_histories_of_a_process_give_equal_snapshots() -> None:
    """A retransmission is not remembered by who sends it, nor by who has heard it before."""
    binding = small()
    start = systems.start(binding)
    again, _ = systems.perform(binding, start, Step("resend_token", (P0,)))
    assert again == start
    heard, _ = systems.perform(binding, start, Step("receive_ack", (FIRST_TOKEN,)))
    repeated, _ = systems.perform(binding, heard, Step("resend_token", (P0,)))
    twice, _ = systems.perform(binding, repeated, Step("receive_ack", (FIRST_TOKEN,)))
    assert twice == heard


def test_of_equal_packets_the_least_datagram_stays_in_flight() -> None:
    flight: dict[object, bytes] = {}
    systems.send(flight, (("packet", b"b"),))
    systems.send(flight, (("packet", b"a"),))
    systems.send(flight, (("packet", b"c"),))
    assert flight == {"packet": b"a"}


def test_events_are_the_applications() -> None:
    """Skipping NULL tells the application nothing; a delivery does."""
    binding = small()
    system = systems.start(binding)
    system, events = systems.perform(binding, system, Step("deliver", (P0, spec.Sequenced(None, 1))))
    assert events == ()
    trace = ["broadcast", "receive_ack", "accept", "sequence", "deliver", "deliver"]
    seen: list[object] = []
    state = binding.program.reference.initial()[0]
    system = systems.start(binding)
    for action in trace:
        step = next(
            step
            for step in binding.program.reference.enabled(state)
            if step.action == action and step.arguments[0] in (P1, FIRST_TOKEN)
        )
        state = binding.program.reference.apply(state, step).state
        system, events = systems.perform(binding, system, step)
        seen += events
    assert seen[-1] == Deliver(P1, Message(0))
    assert len(seen) == 2


def test_offers_leave_the_processes_where_they_stand() -> None:
    binding = small()
    start = systems.start(binding)
    assert systems.offers(binding, start) == {Step("deliver", (P0, spec.Sequenced(None, 1)))}
    systems.perform(binding, start, Step("receive_ack", (FIRST_TOKEN,)))
    assert binding.restores == 0


def test_a_step_that_the_core_would_not_take_is_refused() -> None:
    binding = small()
    start = systems.start(binding)
    with pytest.raises(Refused, match="nothing to do for accept"):
        systems.perform(binding, start, Step("accept", (P1,)))


def test_a_protocol_violation_is_refused() -> None:
    """A datagram that no correct member sends is not silently counted."""
    binding = small()
    start = systems.start(binding)
    wrong = binding.codec.encode(binding.codec.envelope(GROUP, 0, 1, Ack(None, 1, 0)))
    with pytest.raises(Refused, match="protocol violation"):
        systems.perform(
            binding,
            start._replace(flight=frozenset({(FIRST_TOKEN, wrong)})),
            Step("receive_ack", (FIRST_TOKEN,)),
        )


def test_a_crash_of_the_implementation_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    binding = small()
    start = systems.start(binding)
    monkeypatch.setattr(Core, "receive", lambda *_: [][0])
    with pytest.raises(Refused, match="process 1 fails with IndexError"):
        systems.perform(binding, start, Step("receive_ack", (FIRST_TOKEN,)))


def test_messages_of_the_wire_are_packets_of_the_specification() -> None:
    body = spec.Body(Message(0), spec.Identifier(P0, 1))
    packet = small().packet
    assert packet(0, 1, Data(Core(0, 2).broadcast(b"0", 0.0), b"0")) == spec.Data(P1, body)
    assert packet(0, 1, Numbered(None, 1)) == spec.Numbered(P1, None, 1)


def test_an_unknown_fault_is_answered_with_the_known_ones() -> None:
    with pytest.raises(SpecError, match=r"no planted fault 'keep-token'.*did you mean 'keeps-token'"):
        binding_of("rbp", fault="keep-token")
    with pytest.raises(SpecError, match="did you mean 'rbp'"):
        binding_of("rpb")


def test_thirteen_faults_are_planted_and_each_says_what_it_is() -> None:
    assert set(bound_protocol("rbp").faults) == set(FAULTS) | set(SIZE_FAULTS)
    assert (len(FAULTS), len(SIZE_FAULTS)) == (10, 3)
    assert all(about.endswith(".") for about in bound_protocol("rbp").faults.values())
