"""Older messages that were overtaken take nothing back: what a member knows only grows."""

from __future__ import annotations

import pytest

from antiphon.impl.layers import Layers
from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.history import History
from antiphon.impl.protocols.listeners import Listeners, Ordered
from antiphon.impl.protocols.rbp import Core, Settings, Timer
from antiphon.impl.protocols.rbp.messages import Numbered, RequestNumbers
from antiphon.impl.protocols.rbp.process import EXTERNAL_AHEAD
from antiphon.impl.registry import implementation, known_protocols
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork

LATE = Faults(loss=0.1, duplication=0.4, delay_ms=(1.0, 150.0))


@pytest.mark.parametrize("protocol", known_protocols())
def test_progress_never_falls_although_messages_come_late_and_twice(protocol: str) -> None:
    """Each core's measure of progress counts whatever brings it further, and nothing of that is undone."""
    network = SimulatedNetwork(implementation(protocol), 3, seed=4, faults=LATE, layers=Layers(ahead=4))
    for k in range(90):
        network.script(1.0 + 10.0 * k, lambda k=k: network.broadcast(k % 3, b"%d" % k))
    before = [0, 0, 0]

    def look() -> None:
        for me, endpoint in enumerate(network.endpoints):
            assert endpoint.core.progress >= before[me], f"member {me} at {network.now:.0f} ms"
            before[me] = endpoint.core.progress

    network.run_for(2_000.0, watch=look)
    assert network.run_until_delivered(90)


def test_an_external_member_of_rbp_does_not_forget_how_far_the_ring_is() -> None:
    far, near = EXTERNAL_AHEAD + 50, EXTERNAL_AHEAD + 20
    core = Core(2, 3, Settings(resilience=0, stability=True), ring=2)
    core.start(0.0)
    for number in (1, far, near, *range(2, near + 1)):
        core.receive((number - 1) % 2, Numbered(None, number), 1.0)
    core.outputs()
    assert core.expire(Timer.ASK_HOW_FAR, 2.0)
    core.receive(0, Numbered(None, near), 3.0)
    assert core.last_number == near
    assert not core.caught_up, f"{far} was heard of"
    core.outputs()
    assert core.expire(Timer.REPEAT_REQUEST, 4.0)
    ((_, asked),) = core.outputs()
    assert isinstance(asked, RequestNumbers)
    assert asked.first == near + 1


def test_an_older_report_of_an_external_member_makes_nobody_send_again() -> None:
    history, listeners = History(2, 2**20), Listeners()
    for count in range(1, 11):
        history.add(Identifier(0, count), b"m")
    history.settle(10)

    def sent() -> list[int]:
        return [what.number for _, what in listeners.outputs(history) if isinstance(what, Ordered)]

    assert listeners.has(1, 0)
    assert sent() == list(range(1, 11))
    for number in (8, 3, 0):
        assert listeners.has(1, number)
    assert listeners.asks(1, 6), "an older question, too"
    assert sent() == []
