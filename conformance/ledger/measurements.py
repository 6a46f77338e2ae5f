"""Measurements for performance claims: messages are counted on the simulated network, and on a run of figure
12.

Every measurement is deterministic: its seed is fixed here and shown in the finding.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from antiphon.conformance.ledger.accesses import queues_left_alone, shared_queues
from antiphon.conformance.ledger.loads import LOADS
from antiphon.conformance.ledger.proofs import bounds_by_induction, buffers_on_walks
from antiphon.conformance.ledger.scripted import asked_once, fullest_buffers, idle_rounds
from antiphon.impl.protocols.rbp import rbp
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork
from antiphon.spec.lang import Spec, program
from antiphon.spec.protocols.moving_sequencer.properties import MovingSequencerChecked
from antiphon.spec.protocols.rbp.bounds import RbpBounded
from antiphon.spec.protocols.sequencer.bounds import SequencerBounded
from antiphon.spec.protocols.total.bounds import TotalBounded
from antiphon.spec.protocols.total.properties import TotalChecked
from antiphon.spec.services import Process

SEED = 7
BROADCASTS = 400


def nacks() -> tuple[bool, str]:
    """Measure the requests for bodies per message: they are within a factor of two of loss x (n - 1), and
    below a tenth of the n - 1 acknowledgements.
    """
    loss = 0.01
    found, good = [], True
    for members in (3, 5):
        network = SimulatedNetwork(rbp(), members, seed=SEED, faults=Faults(loss=loss, delay_ms=(0.1, 1.0)))
        for number in range(BROADCASTS):
            network.broadcast(number % members, str(number).encode())
        good = network.run_until_delivered(BROADCASTS) and good
        rate = network.transmissions["request"] / BROADCASTS
        expected = loss * (members - 1)
        good = good and 0.5 * expected <= rate <= 2 * expected and rate <= 0.1 * (members - 1)
        found.append(
            f"n={members}: {rate:.3f} requests a message, loss x (n - 1) = {expected:.3f}, acknowledgements "
            f"{members - 1}"
        )
    return good, f"{'; '.join(found)} (seed {SEED}, loss {loss}, {BROADCASTS} messages)"


def two_messages() -> tuple[bool, str]:
    """Measure the messages without losses: exactly one (m, B) and one ACK for each broadcast, and the ACK of
    NULL.
    """
    members = 4
    network = SimulatedNetwork(rbp(), members, seed=SEED)
    for number in range(BROADCASTS):
        network.broadcast(number % members, str(number).encode())
    delivered = network.run_until_delivered(BROADCASTS)
    sent = dict(network.transmissions)
    return delivered and sent == {
        "data": BROADCASTS,
        "ack": BROADCASTS + 1,
    }, f"{sent} for {BROADCASTS} messages, n={members} (seed {SEED})"


def messages_a_step() -> tuple[bool, str]:
    """Measure a loss-free run of figure 12: for each broadcast one SEND of the message, one number, one SEND
    of the token, and one acknowledgement for each copy of a SEND.
    """
    members, messages = 3, 3
    machine = program(
        MovingSequencerChecked, processes=members, messages=messages, losses=0, repairs="all"
    ).reference
    generator = random.Random(SEED)
    state = machine.initial()[0]
    counts: Counter[str] = Counter()
    while not machine.holds(state, "AllDelivered"):
        steps = list(machine.enabled(state))
        first = [step for step in steps if step.action in ("broadcast", "receive_sent")]
        step = generator.choice(first or steps)
        counts[step.action] += 1
        state = machine.apply(state, step).state
    passes = counts["sequence"] + counts["pass_idle"]
    sent = counts["broadcast"] + counts["sequence"] + passes
    acknowledged = counts["receive_sent"] + passes
    rbp_holds, rbp_found = two_messages()
    found = (
        f"figure 12: {sent / messages:g} messages a step and {acknowledged / messages:g} acknowledgements of "
        f"SEND, n={members}, {messages} messages "
        f"(seed {SEED}); figure 16: {rbp_found}"
    )
    return rbp_holds and sent == 3 * messages and acknowledged == members * messages, found


def unicast_and_multicast() -> tuple[bool, str]:
    """Measure loss-free runs of both protocols in which a member that does not order sends every message: its
    unicasts, and all multicasts.
    """
    members, messages = 3, 3
    found, good = [], True
    counted: tuple[tuple[type[Spec], str, str, str, dict[str, Any]], ...] = (
        (SequencerBounded, "send", "receive_forward", "receive_data", {"crashes": 0, "views": 1}),
        (
            TotalBounded,
            "broadcast",
            "receive_request",
            "receive_bcast",
            {"crashes": 0, "views": 1, "losses": 0},
        ),
    )
    for spec, send, order, receive, constants in counted:
        machine = program(spec, processes=members, messages=messages, **constants).reference
        generator = random.Random(SEED)
        state = machine.initial()[0]
        counts: Counter[str] = Counter()
        while counts[receive] < messages * (members - 1):
            steps = [
                step
                for step in machine.enabled(state)
                if step.action in (order, receive)
                or (step.action == send and step.arguments[0] == Process(members - 1))
            ]
            step = generator.choice(steps)
            counts[step.action] += 1
            state = machine.apply(state, step).state
        good = good and counts[send] == counts[order] == messages
        found.append(
            f"{spec.__name__}: {counts[send] / messages:g} unicasts and {counts[order] / messages:g} "
            "multicasts a message"
        )
    return good, f"{'; '.join(found)} (n={members}, {messages} messages, seed {SEED})"


def messages_a_broadcast() -> tuple[bool, str]:
    """Measure a loss-free run of TOTAL in one view: one request for each message that is not the sequencer's
    own, one broadcast for each message.
    """
    members, messages = 3, 6
    machine = program(TotalChecked, processes=members, messages=messages, losses=0, views=1).reference
    generator = random.Random(SEED)
    state = machine.initial()[0]
    counts: Counter[str] = Counter()
    while not machine.holds(state, "AllDelivered"):
        step = generator.choice([step for step in machine.enabled(state) if step.action != "ask"])
        by_sequencer = step.action == "broadcast" and step.arguments[0].index == 0
        counts["own" if by_sequencer else step.action] += 1
        state = machine.apply(state, step).state
    requests, own, copies = counts["receive_request"], counts["own"], counts["receive_bcast"]
    found = (
        f"{requests} requests for {messages - own} messages of other members and {own} of the sequencer, "
        f"{copies} copies of {messages} broadcasts "
        f"to {members - 1} others (seed {SEED})"
    )
    return 0 < own < messages and requests == messages - own and copies == messages * (members - 1), found


def who_orders() -> tuple[bool, str]:
    """Measure how many messages each member numbers in loss-free runs in which the last member sends every
    message, and in one of figure 16.
    """
    members, messages = 3, 3
    found, good = [], True
    counted: tuple[tuple[type[Spec], str, str, dict[str, Any]], ...] = (
        (SequencerBounded, "receive_forward", "send", {"crashes": 0, "views": 1}),
        (TotalBounded, "receive_request", "broadcast", {"crashes": 0, "views": 1, "losses": 0}),
        (RbpBounded, "sequence", "broadcast", {"losses": 0, "timeouts": 0, "repairs": "all"}),
    )
    for spec, order, send, constants in counted:
        machine = program(spec, processes=members, messages=messages, **constants).reference
        generator = random.Random(SEED)
        state = machine.initial()[0]
        numbered: Counter[int] = Counter()
        while numbered.total() < messages:
            steps = [
                step
                for step in machine.enabled(state)
                if step.action != send or step.arguments[0] == Process(members - 1)
            ]
            step = generator.choice(steps)
            if step.action == order:
                actor = step.arguments[0]
                numbered[(actor if isinstance(actor, Process) else actor.to).index] += 1
            state = machine.apply(state, step).state
        shares = [numbered[number] for number in range(members)]
        fixed = shares == [messages, *[0] * (members - 1)]
        good = good and (max(shares) == -(-messages // members) if spec is RbpBounded else fixed)
        found.append(f"{spec.__name__}: {', '.join(map(str, shares))}")
    return good, f"numbered by each member: {'; '.join(found)} ({messages} messages, seed {SEED})"


MEASUREMENTS: dict[str, Callable[[], tuple[bool, str]]] = {
    "nacks": nacks,
    "two messages": two_messages,
    "messages a step": messages_a_step,
    "messages a broadcast": messages_a_broadcast,
    "asked once": asked_once,
    "fullest buffers": fullest_buffers,
    "idle rounds": idle_rounds,
    "bounds by induction": bounds_by_induction,
    "buffers on walks": buffers_on_walks,
    "one unicast, one multicast": unicast_and_multicast,
    "who orders": who_orders,
    "shared queues": shared_queues,
    "queues left alone": queues_left_alone,
    **LOADS,
}
"""Measurements by the name that the ledger uses; each returns whether the result is as expected, and the
finding.
"""


def measure(name: str) -> tuple[bool, str]:
    """Take a measurement; return True if its result is as expected, and the result in words.

    Raises:
        LookupError: no measurement has this name.
    """
    if name not in MEASUREMENTS:
        raise LookupError(f"no measurement {name!r}; known: {', '.join(MEASUREMENTS)}")
    return MEASUREMENTS[name]()
