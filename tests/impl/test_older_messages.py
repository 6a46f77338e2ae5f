"""Older messages that were overtaken take nothing back: what a member knows only grows."""

from __future__ import annotations

import pytest

from antiphon.impl.layers import Layers
from antiphon.impl.membership.reformation import Reformation, Refusal
from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.dtp.messages import Ack, AskNumber, Null
from antiphon.impl.protocols.dtp.process import Core as DtpCore
from antiphon.impl.protocols.dtp.process import Timer as DtpTimer
from antiphon.impl.protocols.history import History
from antiphon.impl.protocols.listeners import Listeners, Ordered
from antiphon.impl.protocols.rbp import Core, Settings, Timer
from antiphon.impl.protocols.rbp.messages import Numbered, RequestNumbers
from antiphon.impl.protocols.rbp.process import EXTERNAL_AHEAD
from antiphon.impl.registry import implementation, known_protocols
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork
from antiphon.impl.transport.simulated_members import SimulatedMembers

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


def test_dtp_seeks_all_numbers_that_it_has_heard_of_although_an_earlier_one_comes_late() -> None:
    core = DtpCore(1, 3)
    core.start(0.0)
    core.receive(2, Null(2, 5, 0, 1, (5, 0, 5)), 1.0)
    core.receive(0, Ack(0, Identifier(0, 1), 3, 2, (3, 0, 2)), 2.0)
    core.outputs()
    assert core.expire(DtpTimer.REPEAT_REQUEST, 3.0)
    asked = {send.message.number for send in core.outputs() if isinstance(send.message, AskNumber)}
    assert asked == {1, 2, 4, 5}


def changes() -> list[Reformation]:
    """The machines of three members that make lists by Reformation."""
    simulation = SimulatedMembers(3, 1, protocol="rbp-reforming")
    simulation.found(range(3))
    simulation.run(300.0)
    epochs = [simulation.life(process).machine.epoch for process in range(3)]
    return [epoch.change for epoch in epochs if epoch and isinstance(epoch.change, Reformation)]


def test_no_two_members_make_lists_of_one_version_whatever_they_have_heard_of() -> None:
    versions: list[set[int]] = []
    for change in changes():
        versions.append(set())
        for highest in range(1, 30):
            change.highest = highest
            assert change._next_version() > change.highest
            versions[-1].add(change._next_version())
    assert len(versions) == 3
    assert len(set.union(*versions)) == sum(map(len, versions)), "no version is of two members"


def test_an_older_refusal_does_not_lower_the_versions_that_are_taken() -> None:
    change = changes()[0]
    for highest in (9, 5):
        change.receive(1, Refusal(1, highest), 300.0)
        assert change.highest == 9
    change.invite()
    assert change.highest > 9
