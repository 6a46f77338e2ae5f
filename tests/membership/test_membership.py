"""Groups whose members crash, stop, part, join and leave, in virtual time."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest

from antiphon.impl.errors import GroupClosed, Rejection
from antiphon.impl.layers import Layers
from antiphon.impl.membership.datagrams import HEAD, DatagramKind, Join, encode
from antiphon.impl.membership.detector import LOCAL, Timeouts
from antiphon.impl.membership.founding import LISTENS
from antiphon.impl.membership.member import Blocked, Excluded, Left, Member, Refused, Unblocked, View
from antiphon.impl.membership.membership import Event
from antiphon.impl.protocols.core import Delivery
from antiphon.impl.protocols.flush import HANDED_BYTES_MAX, KEPT_BYTES_MAX
from antiphon.impl.registry import listed
from antiphon.impl.transport.simulated_members import ORDERED, Life, SimulatedMembers

from .keeping import all_agree_at_the_end, keeps_its_promises


@pytest.fixture(params=ORDERED)
def protocol(request: pytest.FixtureRequest) -> str:
    """Each protocol that has lists and one order: all keep the same promises."""
    return str(request.param)


def talking(simulation: SimulatedMembers, until: float, every: float = 25.0) -> None:
    """Let every process broadcast again and again."""
    count = 0
    when = simulation.now
    while when < until:
        for process in range(len(simulation.addresses)):
            count += 1
            payload = f"{process}:{count}".encode()
            simulation.at(when, lambda process=process, payload=payload: simulation.say(process, payload))
        when += every


def founded(
    processes: int, seed: int = 1, protocol: str = "irbp", *, loss: float = 0.0, hints: bool = False
) -> SimulatedMembers:
    """A group of so many processes in its first view."""
    simulation = SimulatedMembers(processes, seed, protocol=protocol, loss=loss, hints=hints)
    simulation.found(range(processes))
    simulation.run(300.0)
    for process in range(processes):
        assert [view.number for view in simulation.life(process).views] == [1]
    return simulation


def question(simulation: SimulatedMembers, member: Member) -> bytes:
    """Datagram by which a process asks to be a member."""
    return HEAD.pack(DatagramKind.JOIN, 0) + encode(Join(member, simulation.protocol.messages.protocol))


def names(view: View) -> list[str]:
    """The names of a view's members."""
    return sorted(member.name for member in view.members)


def gap_ms(simulation: SimulatedMembers, process: int) -> float:
    """The longest time without a delivery at a process."""
    return max(after - before for before, after in pairwise(simulation.life(process).delivered_at))


def test_a_group_begins_when_all_that_are_expected_are_there(protocol: str) -> None:
    simulation = SimulatedMembers(3, 1, protocol=protocol)
    simulation.begin(0, founds=3)
    simulation.begin(1)
    simulation.run(2_000.0)
    assert simulation.life(0).views == []
    simulation.begin(2)
    simulation.run(2_400.0)
    for process in range(3):
        (view,) = simulation.life(process).views
        assert names(view) == ["p0", "p1", "p2"]
        assert view.joined == view.members


@pytest.mark.sampled(20)
@pytest.mark.parametrize(("crashed", "hints"), [(0, False), (0, True), (1, True), (2, False)])
def test_the_others_go_on_without_a_member_that_has_crashed(
    crashed: int, hints: bool, protocol: str
) -> None:
    simulation = founded(3, hints=hints, protocol=protocol)
    talking(simulation, 3_000.0)
    simulation.at(1_000.0, lambda: simulation.crash(crashed))
    simulation.run(5_000.0)
    rest = {0, 1, 2} - {crashed}
    for process in rest:
        life = simulation.life(process)
        assert [names(view) for view in life.views[1:]] == [[f"p{p}" for p in sorted(rest)]]
        assert [member.name for member in life.views[-1].failed] == [f"p{crashed}"]
        silent = 3 * LOCAL.heartbeat_ms if hints else LOCAL.suspect_ms + LOCAL.heartbeat_ms
        assert gap_ms(simulation, process) < silent + 50
        assert life.machine.detector.lateness < 1.5, "nobody was late"
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, rest)


@pytest.mark.sampled(6)
def test_a_member_that_was_stopped_for_a_while_stays_a_member(protocol: str) -> None:
    simulation = founded(3, protocol=protocol)
    talking(simulation, 3_000.0)
    simulation.at(1_000.0, lambda: simulation.pause(1, 700.0))
    simulation.run(5_000.0)
    for process in range(3):
        assert [view.number for view in simulation.life(process).views] == [1], "i-views are not seen"
    assert simulation.life(0).machine.changes >= 2, "the list has changed, and changed back"
    assert gap_ms(simulation, 0) < LOCAL.suspect_ms + LOCAL.heartbeat_ms + 50
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2})


@pytest.mark.sampled(6)
def test_a_member_that_was_stopped_for_too_long_comes_back_as_another_one(protocol: str) -> None:
    simulation = founded(3, protocol=protocol)
    talking(simulation, 3_000.0)
    simulation.at(1_000.0, lambda: simulation.pause(1, 4_000.0))
    simulation.run(7_000.0)
    first, second = simulation.lives[1]
    assert isinstance(first.events[-1], Excluded)
    assert first.member.name == second.member.name
    assert first.member != second.member
    assert [names(view) for view in simulation.life(0).views] == [
        ["p0", "p1", "p2"],
        ["p0", "p2"],
        ["p0", "p1", "p2"],
    ]
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2})


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(2))
def test_one_of_three_crashes_while_another_is_stopped_and_the_group_goes_on(
    seed: int, protocol: str
) -> None:
    one_crash_and_one_stop(seed, protocol)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(2, 104))
def test_one_of_three_crashes_while_another_is_stopped_and_the_group_goes_on_always(
    seed: int, protocol: str
) -> None:
    one_crash_and_one_stop(seed, protocol)


def one_crash_and_one_stop(seed: int, protocol: str) -> None:
    """With a majority of the core alone in place of one of all members this stands still for ever."""
    chance = random.Random(seed)
    simulation = founded(3, seed, protocol=protocol)
    talking(simulation, 5_000.0, 40.0)
    crashed, stopped = chance.sample(range(3), 2)
    simulation.at(1_000.0 + chance.uniform(0, 1_200), lambda: simulation.crash(crashed))
    simulation.at(1_000.0 + chance.uniform(0, 1_200), lambda: simulation.pause(stopped, 1_000.0))
    simulation.run(8_000.0)
    rest = {0, 1, 2} - {crashed}
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, rest)


@pytest.mark.sampled(6)
def test_more_than_a_queue_holds_is_delivered_while_a_member_is_stopped(protocol: str) -> None:
    simulation = founded(3, protocol=protocol)
    size = 2 * Layers().queue_bytes // 300
    for step in range(200):
        for process in range(3):
            payload = b"%d:%d" % (process, step) + bytes(size)
            simulation.at(1_000.0 + 10 * step, lambda p=process, payload=payload: simulation.say(p, payload))
    simulation.at(1_010.0, lambda: simulation.pause(2, 2_300.0))
    simulation.run(3_200.0)
    assert sum(len(life.sent) for life in map(simulation.life, (0, 1))) > 300
    for process in (0, 1):
        assert gap_ms(simulation, process) < LOCAL.suspect_ms + LOCAL.heartbeat_ms + 50
    simulation.run(5_000.0)
    assert len(simulation.lives[2]) == 1
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2})


class Socket(list[Any]):
    """Queue of a stopped process: its socket, when it is full, drops further datagrams."""

    def append(self, arrived: Any) -> None:
        if sum(len(data) for *_, data in self) < 2**20:
            super().append(arrived)


@pytest.mark.sampled(6)
def test_who_was_stopped_while_others_sent_more_than_a_change_hands_over_stays_a_member(
    protocol: str,
) -> None:
    """The member is left out while it is stopped, and stopped again as soon as it has heard so. Then it reads
    the first of what it has missed, and the rest was dropped: it must not take that for all. The others keep
    it for longer than a change could hand it over.
    """
    simulation = founded(3, protocol=protocol)
    for step in range(250):
        for process in (0, 1):
            payload = b"%d:%d" % (process, step) + bytes(60_000)
            simulation.at(1_000.0 + 6 * step, lambda p=process, payload=payload: simulation.say(p, payload))
    simulation.at(1_010.0, lambda: simulation.pause(2, 400.0))
    simulation.run(1_420.0)
    simulation.pause(2, 1_000.0)
    simulation.life(2).queue = Socket()
    simulation.run(2_410.0)
    delivered = [sum(len(one.payload) for one in simulation.life(p).deliveries) for p in (0, 2)]
    assert HANDED_BYTES_MAX < delivered[0] - delivered[1] < KEPT_BYTES_MAX
    simulation.run(4_000.0)
    assert [len(lives) for lives in simulation.lives] == [1, 1, 1], "nobody is lost"
    epoch = simulation.life(0).machine.epoch
    assert epoch is not None
    assert len(epoch.change.ordering) == 3, "it orders messages again"
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2})


@pytest.mark.sampled(6)
def test_a_minority_is_told_so_delivers_nothing_and_comes_back(protocol: str) -> None:
    simulation = founded(5, protocol=protocol)
    talking(simulation, 4_000.0, 50.0)
    simulation.at(1_000.0, lambda: simulation.part({0, 1}, {2, 3, 4}))
    simulation.run(1_000.0 + LOCAL.suspect_ms + 2 * LOCAL.heartbeat_ms)
    for process in (0, 1):
        assert isinstance(simulation.life(process).events[-1], Blocked)
    before = len(simulation.life(0).deliveries)
    simulation.run(4_500.0)
    assert len(simulation.life(0).deliveries) == before
    assert len(simulation.life(3).deliveries) > before + 50
    assert names(simulation.life(3).views[-1]) == ["p2", "p3", "p4"]
    simulation.heal()
    simulation.run(8_000.0)
    assert len(simulation.lives[0]) == 2, "it was left out, and came back as another member"
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, set(range(5)))


@pytest.mark.sampled(6)
def test_parts_without_a_majority_wait_and_go_on_together(protocol: str) -> None:
    simulation = founded(4, protocol=protocol)
    talking(simulation, 4_000.0, 20.0)
    simulation.at(1_000.0, lambda: simulation.part({0, 1}, {2, 3}))
    simulation.at(2_900.0, simulation.heal)
    simulation.run(6_000.0)
    for process in range(4):
        kinds = [type(event) for event in simulation.life(process).events]
        assert kinds.count(Blocked) == kinds.count(Unblocked) == 1
        assert kinds.count(View) == 1, "nobody was left out"
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, set(range(4)))


@pytest.mark.sampled(4)
def test_a_member_leaves_and_nobody_suspects_it(protocol: str) -> None:
    simulation = founded(3, protocol=protocol)
    talking(simulation, 2_000.0)
    simulation.at(1_000.0, lambda: simulation.leave(2))
    simulation.run(1_200.0)
    assert isinstance(simulation.life(2).events[-1], Left)
    for process in (0, 1):
        (_, view) = simulation.life(process).views
        assert [member.name for member in view.left] == ["p2"]
        assert view.failed == ()
        assert gap_ms(simulation, process) < 50
    simulation.run(3_000.0)
    assert sum(simulation.life(0).machine.suspicions.values()) == 0
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1})


def test_members_leave_one_after_the_other_and_the_last_one_is_alone(protocol: str) -> None:
    simulation = founded(3, protocol=protocol)
    for place, process in enumerate((0, 2)):
        simulation.at(500.0 + 300 * place, lambda process=process: simulation.leave(process))
    simulation.run(1_500.0)
    assert [names(view) for view in simulation.life(1).views[1:]] == [["p1", "p2"], ["p1"]]
    simulation.say(1, b"alone")
    simulation.run(1_600.0)
    assert simulation.life(1).deliveries[-1].payload == b"alone"
    simulation.begin(0)
    simulation.run(2_000.0)
    assert simulation.say(0, b"together")
    simulation.run(2_200.0)
    assert simulation.life(1).deliveries[-1].payload == b"together"
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1})


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(2))
def test_a_process_that_is_started_again_at_once_holds_up_nobody(seed: int, protocol: str) -> None:
    simulation = founded(3, seed, protocol=protocol)
    talking(simulation, 2_000.0)
    crashed = seed % 3
    simulation.at(1_000.0, lambda: simulation.crash(crashed))
    simulation.at(1_020.0, lambda: simulation.begin_again(crashed))
    simulation.run(1_400.0)
    for process in range(3):
        assert names(simulation.life(process).views[-1]) == ["p0", "p1", "p2"]
    simulation.run(3_000.0)
    assert gap_ms(simulation, (crashed + 1) % 3) < LOCAL.suspect_ms + LOCAL.heartbeat_ms
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2})


@pytest.mark.sampled(6)
def test_a_join_while_a_member_is_silent_holds_up_nobody(protocol: str) -> None:
    simulation = founded(3, protocol=protocol)
    talking(simulation, 3_000.0)
    simulation.place()
    simulation.at(1_000.0, lambda: simulation.crash(2))
    simulation.at(1_010.0, lambda: simulation.begin(3))
    simulation.run(6_000.0)
    assert gap_ms(simulation, 0) < 2 * LOCAL.suspect_ms
    assert names(simulation.life(0).views[-1]) == ["p0", "p1", "p3"]
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 3})


@pytest.mark.parametrize("later_ms", [1, 3, 10, 30])
@pytest.mark.parametrize("leaving", [(0, 2), (0, 1, 2)])
def test_members_leave_one_shortly_after_the_other_and_none_waits_for_another(
    leaving: tuple[int, ...], later_ms: int
) -> None:
    simulation = founded(3)
    leavers = {process: simulation.life(process) for process in leaving}
    for place, process in enumerate(leaving):
        simulation.at(500.0 + later_ms * place, lambda process=process: simulation.leave(process))
    while leavers:
        simulation.run(simulation.now + 1.0)
        assert simulation.now < 650.0, f"{list(leavers)} have not ended"
        for process, life in list(leavers.items()):
            if life.over and not life.machine.owes:
                simulation.farewell(process)
                del leavers[process]
    simulation.run(1_000.0)
    for process in {0, 1, 2}.difference(leaving):
        assert names(simulation.life(process).views[-1]) == [f"p{process}"]
        assert not simulation.life(process).machine.suspicions


@pytest.mark.parametrize("later_ms", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0])
def test_who_is_alone_when_the_others_have_left_leaves_too(later_ms: float, protocol: str) -> None:
    """Its wish came too late for their view."""
    simulation = founded(2, protocol=protocol)
    simulation.at(500.0, lambda: simulation.leave(0))
    simulation.at(500.0 + later_ms, lambda: simulation.leave(1))
    simulation.run(700.0)
    for process in (0, 1):
        assert isinstance(simulation.life(process).events[-1], Left)


def test_the_farewell_of_one_that_has_left_counts_for_a_list_that_has_not_ended_yet() -> None:
    """Its receiver waited for 380 ms if that list ended there a moment later."""
    simulation = founded(3)
    machine, other = simulation.life(1).machine, simulation.life(0).machine.me
    machine.leave(simulation.now)
    epoch = machine.epoch
    assert epoch is not None
    place = epoch.places[other.incarnation]
    assert epoch.is_owed([place])
    ended = HEAD.pack(DatagramKind.ENDED, epoch.roster.number)
    machine.datagram_received(other.incarnation, other.address, ended, simulation.now)
    assert machine.epoch is epoch
    assert not epoch.is_owed([place])


def test_who_has_left_says_that_it_needs_nothing_of_a_list_that_it_has_forgotten() -> None:
    simulation = founded(2)
    simulation.leave(0)
    simulation.run(simulation.now + 400.0)
    machine, other = simulation.life(0).machine, simulation.life(1).machine.me
    assert machine.over
    assert not machine._ended
    data = HEAD.pack(DatagramKind.LINK, 1) + b"again"
    machine.datagram_received(other.incarnation, other.address, data, simulation.now)
    assert (other.address, HEAD.pack(DatagramKind.ENDED, 1)) in machine.datagrams_to_send()


def test_who_leaves_and_hears_nothing_ends_when_the_others_would_be_suspected() -> None:
    simulation = founded(3)
    simulation.at(500.0, lambda: simulation.leave(0))
    leaver = simulation.life(0)
    while not leaver.over:
        simulation.run(simulation.now + 0.1)
    simulation.part({0}, {1, 2})
    ended = simulation.now
    while leaver.machine.owes:
        simulation.run(simulation.now + 1.0)
    assert simulation.now - ended < 2 * LOCAL.suspect_ms


@pytest.mark.parametrize("seed", range(4))
def test_who_leaves_stays_until_the_other_knows_whatever_is_lost(seed: int, protocol: str) -> None:
    simulation = founded(2, seed, protocol=protocol)
    simulation.loss = 0.3
    leaver = simulation.life(seed % 2)
    simulation.leave(seed % 2)
    while not leaver.over or leaver.machine.owes:
        simulation.run(simulation.now + 1.0)
        assert simulation.now < 5_000.0
    leaver.alive = False
    simulation.run(simulation.now + 1_000.0)
    (_, view) = simulation.life(1 - seed % 2).views
    assert names(view) == [f"p{1 - seed % 2}"]
    assert [member.name for member in view.left] == [f"p{seed % 2}"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", [0, 2])
def test_who_leaves_before_all_know_of_who_has_joined_leaves_in_order(seed: int, protocol: str) -> None:
    simulation = founded(3, seed, protocol=protocol)
    simulation.loss = 0.3
    simulation.place()
    simulation.begin(3)
    leaver = simulation.life(0)
    while len(leaver.views) < 2:
        simulation.run(simulation.now + 1.0)
    simulation.leave(0)
    simulation.run(simulation.now + 3_000.0)
    assert isinstance(leaver.events[-1], Left)
    for process in (1, 2, 3):
        assert names(simulation.life(process).views[-1]) == ["p1", "p2", "p3"]


@pytest.mark.parametrize("says", [False, True])
def test_who_has_missed_that_it_may_leave_has_left_unless_it_has_something_to_say(says: bool) -> None:
    """The others are on the next list, and have forgotten the last one."""
    simulation = founded(3)
    leaver = simulation.life(2).machine
    if says:
        assert simulation.say(2, b"not delivered yet")
    leaver.leave(simulation.now)
    assert leaver.epoch is not None
    leaver._superseded(leaver.epoch.roster.number + 1)
    assert isinstance(leaver.events()[-1], Excluded if says else Left)


@pytest.mark.parametrize("leaver", [0, 1])
def test_what_a_member_has_broadcast_is_delivered_before_it_has_left(leaver: int, protocol: str) -> None:
    """Messages in front of the core used to be lost with the member."""
    layers = Layers(ahead=1, datagram_bytes=600)
    simulation = SimulatedMembers(2, 1, protocol=protocol, layers=layers)
    simulation.found(range(2))
    simulation.run(300.0)
    for count in range(30):
        assert simulation.say(leaver, b"%d" % count + bytes(1_000))
    simulation.leave(leaver)
    assert not simulation.say(leaver, b"too late")
    with pytest.raises(GroupClosed, match="leaves"):
        simulation.life(leaver).machine.broadcast(b"too late", simulation.now)
    simulation.run(1_000.0)
    assert isinstance(simulation.life(leaver).events[-1], Left)
    for process in range(2):
        assert len(simulation.life(process).deliveries) == 30
    keeps_its_promises(simulation)


@pytest.mark.sampled(6)
def test_lists_do_not_change_over_and_over_while_each_member_does_not_hear_another(protocol: str) -> None:
    """Seed 26 of the swarm: a new list each 7 ms, in which nothing was delivered."""
    simulation = founded(3, protocol=protocol)
    simulation.at(400.0, lambda: simulation.cut.update({(0, 1), (1, 2)}))
    simulation.at(2_400.0, simulation.heal)
    simulation.run(2_400.0)
    assert 2 <= simulation.life(0).machine.changes <= 2_000 / LOCAL.heartbeat_ms
    simulation.run(6_000.0)
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2})


def test_lists_do_not_change_over_and_over_while_one_is_given_up_and_another_is_not_heard_by_one() -> None:
    """Seed 8 of the swarm: who asks for a view without the run that has crashed gets a list, as another
    member suspects one that is up; it asked again at once, so that there was a new list each 5 ms.
    """
    simulation = SimulatedMembers(5, 1, protocol="irbp", delay_ms=(1.0, 1.0))
    simulation.found(range(5))
    simulation.at(500.0, lambda: simulation.cut.add((1, 0)))
    simulation.at(560.0, lambda: simulation.crash(4))
    simulation.at(860.0, lambda: simulation.begin(4))
    simulation.at(1_600.0, simulation.heal)
    simulation.run(1_600.0)
    assert 2 <= simulation.life(2).machine.changes <= 1_100 / LOCAL.heartbeat_ms
    simulation.run(4_000.0)
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2, 3, 4})


def test_who_has_given_up_a_member_that_the_others_keep_does_not_ask_for_one_view_after_the_other() -> None:
    """Seed 26 of the swarm, made short: the application got hundreds of views of the same members."""
    simulation = SimulatedMembers(3, 1, protocol="vsc", delay_ms=(1.0, 1.0))
    simulation.cut.add((1, 2))
    simulation.found(range(3))
    simulation.at(6_000.0, simulation.heal)
    simulation.run(6_000.0)
    last = max(view.number for life in simulation.all_lives for view in life.views)
    assert 2 <= last <= 15
    simulation.run(9_000.0)
    talking(simulation, 9_500.0)
    simulation.run(10_000.0)
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2})


@pytest.mark.parametrize("loss", [0.0, 0.1])
def test_who_has_left_soon_owes_nothing_to_anybody(loss: float, often: Callable[[int, int], int]) -> None:
    """A leaving member used to wait until the others had forgotten it, which takes `exclude_ms`."""
    for seed in range(often(8, 20)):
        simulation = founded(3, seed, loss=loss)
        talking(simulation, 400.0)
        simulation.run(300.0)
        simulation.leave(2)
        simulation.run(1_300.0 if loss else 600.0)
        leaver = simulation.life(2)
        assert leaver.over, f"seed {seed}"
        assert not leaver.machine.owes, f"seed {seed}"


@pytest.mark.parametrize("excluded", [False, True])
def test_who_has_left_owes_nothing_to_a_member_that_has_crashed(excluded: bool) -> None:
    """The other one is suspected when this one has left, or was excluded just before."""
    simulation = founded(3)
    simulation.run(300.0)
    simulation.crash(1)
    leaver = simulation.life(2)
    while excluded and len(leaver.views) < 2:
        simulation.run(simulation.now + 1.0)
    simulation.leave(2)
    while not leaver.over:
        simulation.run(simulation.now + 1.0)
        assert simulation.now < 300.0 + 2 * LOCAL.exclude_ms
    simulation.run(simulation.now + 100.0)
    assert leaver.machine._ended, "it keeps them, in case that the silent one is heard again"
    assert not leaver.machine.owes


def test_the_time_without_a_majority_counts_while_it_lasts_and_when_it_ends_with_the_member() -> None:
    simulation = founded(3)
    simulation.run(1_000.0)
    (life,) = simulation.lives[2]
    simulation.part({0, 1}, {2})
    simulation.run(2_000.0)
    assert life.machine.blocked_ms == pytest.approx(1_000.0 - LOCAL.suspect_ms, abs=3 * LOCAL.heartbeat_ms)
    simulation.run(3_000.0 + LOCAL.exclude_ms)
    simulation.heal()
    simulation.run(4_000.0 + LOCAL.exclude_ms)
    assert life.over
    blocked_ms = 2_000.0 + LOCAL.exclude_ms - LOCAL.suspect_ms
    assert life.machine.blocked_ms == pytest.approx(blocked_ms, abs=3 * LOCAL.heartbeat_ms)


def test_those_that_stay_owe_nothing_to_one_that_has_said_farewell() -> None:
    for seed in range(20):
        simulation = founded(2, seed)
        simulation.run(300.0)
        simulation.leave(1)
        simulation.run(500.0)
        leaver = simulation.life(1)
        assert leaver.over, f"seed {seed}"
        assert not leaver.machine.owes, f"seed {seed}"
        simulation.farewell(1)
        simulation.run(510.0)
        assert not simulation.life(0).machine.owes, f"seed {seed}"


@pytest.mark.sampled(2)
def test_who_joins_delivers_what_comes_from_then_on(protocol: str) -> None:
    simulation = founded(2, protocol=protocol)
    talking(simulation, 2_000.0)
    simulation.place()
    simulation.at(1_000.0, lambda: simulation.begin(2))
    simulation.run(3_000.0)
    (view,) = simulation.life(2).views
    assert view.joined == view.members
    assert [member.name for member in simulation.life(0).views[-1].joined] == ["p2"]
    (first, *_) = simulation.life(2).deliveries
    old = simulation.life(0)
    place = old.events.index(simulation.life(0).views[-1])
    assert isinstance(old.events[place + 1], Delivery)
    assert old.events[place + 1] == first, "it begins where the others see its view"
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2})


def test_who_has_another_protocol_is_not_taken_in(protocol: str) -> None:
    """On the list, it would keep all others waiting for its words for ever."""
    simulation = founded(2, protocol=protocol)
    talking(simulation, 2_000.0)
    simulation.place()
    other = listed(next(name for name in ORDERED if name != protocol))
    assert other is not None
    simulation.protocol = other
    simulation.at(1_000.0, lambda: simulation.begin(2))
    simulation.run(3_000.0)
    (refused,) = simulation.life(2).events
    assert isinstance(refused, Refused)
    assert "its protocol is " in refused.why
    assert simulation.life(0).machine.dropped[Rejection.FOREIGN_VERSION] > 0
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1})


def test_who_joins_is_told_when_all_that_were_there_before_know_of_it(protocol: str) -> None:
    """A member that knows earlier could lose all others that know: the new member would count for a majority
    without reaching anybody.
    """
    simulation = founded(2, protocol=protocol)
    simulation.place()
    simulation.begin(2)
    while max(len(simulation.life(process).views) for process in range(2)) < 2:
        simulation.run(simulation.now + 0.05)
    first = 0 if len(simulation.life(0).views) == 2 else 1
    simulation.cut.add((first, 1 - first))
    simulation.run(simulation.now + 80.0)
    assert len(simulation.life(1 - first).views) == 1
    assert simulation.life(2).views == []
    simulation.heal()
    simulation.run(simulation.now + 1_000.0)
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2})


@pytest.mark.parametrize("seed", range(2))
def test_a_member_that_is_behind_is_enough_for_a_majority_when_another_one_crashes(seed: int) -> None:
    """The member that is behind cannot propose a list itself, since it lacks messages that only the other one
    has.
    """
    simulation = founded(3, seed)
    talking(simulation, 1_300.0, every=5.0)
    simulation.at(600.0, lambda: simulation.part({0, 1}, {2}))
    simulation.at(1_100.0, simulation.heal)
    simulation.at(1_100.5 + seed, lambda: simulation.crash(1))
    simulation.run(6_000.0)
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 2})
    assert len(simulation.lives[2]) == 1, "it stayed a member"
    assert gap_ms(simulation, 0) < LOCAL.suspect_ms + 4 * LOCAL.heartbeat_ms


@pytest.mark.parametrize("after", [0.0, 0.3, 0.9, 1.5, 5.0])
def test_who_leaves_before_it_knows_that_it_is_a_member_costs_no_suspicion(after: float) -> None:
    simulation = SimulatedMembers(3, 1, delay_ms=(0.9, 1.0))
    simulation.found(range(2))
    simulation.run(400.0)
    joining = simulation.begin(2)
    simulation.run(401.0 + after)
    joining.machine.leave(simulation.now)
    simulation.after(2, joining)
    simulation.run(3_000.0)
    assert isinstance(joining.events[-1], Left)
    assert simulation.life(0).machine.suspicions.total() == 0
    simulation.run(8_000.0)
    assert names(simulation.life(0).views[-1]) == ["p0", "p1"]
    assert simulation.life(0).machine.suspicions.total() == 0


def test_who_has_heard_of_nobody_leaves_soon() -> None:
    simulation = SimulatedMembers(3, 1)
    lonely = simulation.begin(2)
    simulation.run(1_000.0)
    lonely.machine.leave(simulation.now)
    simulation.after(2, lonely)
    simulation.run(1_500.0)
    assert lonely.events == [Left()]


# Founding -----------------------------------------------------------------------------------------------


@pytest.mark.deep
def test_a_founder_that_is_started_again_founds_no_second_group() -> None:
    """Two of seven are started again with the same command line; the founder knows enough to found."""
    simulation = SimulatedMembers(7, 1)
    for process in range(4):
        simulation.begin(process, 4 if process == 0 else None)
    simulation.run(1_000.0)
    for process in range(4, 7):
        simulation.begin(process)
        simulation.run(simulation.now + 500.0)
    before = simulation.life(3).machine.view
    assert before is not None
    assert len(before.members) == 7
    for founds in (1, 2):
        for process in (0, 1):
            simulation.crash(process)
        simulation.begin(0, founds)
        simulation.begin(1)
        simulation.run(simulation.now + 10_000.0)
        keeps_its_promises(simulation)
        all_agree_at_the_end(simulation, set(range(7)))


def test_a_founder_alone_asks_first_whether_there_is_a_group() -> None:
    simulation = SimulatedMembers(3, 1)
    simulation.begin(0, 1, bootstrap=True)
    simulation.begin(1)
    simulation.begin(2)
    simulation.run(1_000.0)
    simulation.crash(0)
    simulation.run(1_200.0)
    simulation.begin(0, 1, bootstrap=True)
    simulation.run(6_000.0)
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2})


def test_a_founder_with_another_protocol_founds_no_second_group() -> None:
    simulation = founded(3)
    simulation.crash(0)
    other = listed("total")
    assert other is not None
    simulation.protocol = other
    simulation.begin(0, 1, bootstrap=True)
    simulation.run(6_000.0)
    assert simulation.life(0).views == []
    all_agree_at_the_end(simulation, {1, 2})


def test_less_than_half_of_the_seeds_found_no_group_without_bootstrap() -> None:
    simulation = SimulatedMembers(4, 1)
    simulation.begin(0, 2)
    simulation.begin(1)
    simulation.run(5_000.0)
    assert simulation.life(0).machine.view is None, "two of four seeds are not more than half"
    simulation.begin(2)
    simulation.run(6_000.0)
    all_agree_at_the_end(simulation, {0, 1, 2})


class Arrivals:
    """Arrivals at some processes: when, at whom and of which kind."""

    def __init__(self, *at: int) -> None:
        self.at = at
        self.arrivals: list[tuple[int, str]] = []

    def cause(self, process: int, kind: str, datagram: int | None) -> None:
        """Note a datagram that arrives at one of them."""
        if process in self.at and datagram is not None:
            self.arrivals.append((process, kind))

    def sends(self, process: int, to: int, datagram: int, kind: str, copies: int) -> None:
        """Note nothing."""

    def takes(self, process: int, life: Life, events: Sequence[Event]) -> None:
        """Note nothing."""


def cut_off_from_a_group(founds: int | None, seeds: int = 5, *, exists: bool = True) -> SimulatedMembers:
    """Start process 0 again with 3 and 4, which were never started, and none reaches the members 1 and 2.

    Unless the group `exists`, 1 and 2 were never started, and nor was 0.
    """
    simulation = SimulatedMembers(5, 1, carriage=lambda *_: [1.0], seeds=range(seeds))
    if exists:
        simulation.found(range(3))
        simulation.run(500.0)
        simulation.crash(0)
    simulation.run(5_000.0)
    simulation.part({1, 2}, {0, 3, 4})
    simulation.watcher = Arrivals(0, 3, 4)
    simulation.begin(0, founds)
    simulation.begin(3)
    simulation.begin(4)
    simulation.run(10_000.0)
    return simulation


def test_a_founder_hears_the_same_with_and_without_a_group_that_nobody_reaches() -> None:
    """A rule that founds the first group founds the second one: a founder sees no difference."""
    second, first = (cut_off_from_a_group(3, exists=exists) for exists in (True, False))
    assert isinstance(second.watcher, Arrivals)
    assert isinstance(first.watcher, Arrivals)
    assert second.watcher.arrivals == first.watcher.arrivals
    assert len(first.watcher.arrivals) > 100
    for simulation in (first, second):
        view = simulation.life(0).machine.view
        assert view is not None
        assert (view.number, names(view)) == (1, ["p0", "p3", "p4"])
    other = second.life(1).machine.view
    assert other is not None
    assert (other.number, names(other)) == (2, ["p1", "p2"])
    assert second.say(1, b"there are two groups of one name")
    second.run(second.now + 100.0)
    assert second.life(2).deliveries[-1].payload == b"there are two groups of one name"


@pytest.mark.parametrize(("founds", "seeds"), [(None, 5), (3, 3)])
def test_who_founds_nothing_or_names_the_usual_members_as_seeds_makes_no_second_group(
    founds: int | None, seeds: int
) -> None:
    """A founder is started again as one that only joins; or most of its seeds are members."""
    simulation = cut_off_from_a_group(founds, seeds)
    assert simulation.life(0).views == []
    simulation.heal()
    simulation.run(20_000.0)
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2, 3, 4})


def test_a_process_that_is_started_again_before_the_group_begins_counts_once() -> None:
    simulation = SimulatedMembers(3, 1)
    simulation.begin(0, 3)
    simulation.begin(1)
    simulation.run(300.0)
    for _ in range(3):
        simulation.crash(1)
        simulation.begin(1)
        simulation.run(simulation.now + 400.0)
    assert simulation.life(0).machine.view is None
    simulation.begin(2)
    simulation.run(simulation.now + 1_000.0)
    all_agree_at_the_end(simulation, {0, 1, 2})
    assert [view.number for view in simulation.life(0).views] == [1]


def test_a_process_that_asked_and_ended_is_not_in_the_first_view() -> None:
    simulation = SimulatedMembers(4, 1)
    simulation.begin(0, 3)
    simulation.begin(1)
    simulation.run(300.0)
    simulation.crash(1)
    simulation.run(2_000.0)
    simulation.begin(2)
    simulation.run(2_500.0)
    assert simulation.life(0).machine.view is None
    simulation.begin(3)
    simulation.run(3_000.0)
    assert names(simulation.life(0).views[0]) == ["p0", "p2", "p3"]


# Two processes that give one address --------------------------------------------------------------------


def test_a_late_question_of_an_earlier_run_changes_nothing() -> None:
    simulation = founded(3)
    simulation.crash(2)
    simulation.run(400.0)
    earlier = simulation.life(2).member
    simulation.begin(2)
    simulation.run(5_000.0)
    views = len(simulation.life(0).views)
    join = question(simulation, earlier)
    simulation.life(0).machine.datagram_received(earlier.incarnation, earlier.address, join, simulation.now)
    talking(simulation, 5_500.0)
    simulation.run(8_000.0)
    assert len(simulation.life(0).views) == views
    all_agree_at_the_end(simulation, {0, 1, 2})


def test_the_members_of_a_view_stand_in_the_order_in_which_they_came() -> None:
    simulation = SimulatedMembers(4, 1)
    simulation.found(range(3))
    simulation.run(500.0)
    first = [member.name for member in simulation.life(0).views[0].members]
    simulation.pause(0, 700.0)
    simulation.run(1_150.0)
    simulation.begin(3)
    simulation.run(5_000.0)
    last = [member.name for member in simulation.life(0).views[-1].members]
    assert last == [*first, "p3"]
    all_agree_at_the_end(simulation, {0, 1, 2, 3})


def test_nothing_is_kept_of_lists_that_have_ended_long_ago() -> None:
    for loss in (0.0, 0.05):
        simulation = SimulatedMembers(4, 1, loss=loss)
        simulation.found(range(3))
        simulation.run(1_000.0)
        for _ in range(4):
            simulation.begin_again(3) if simulation.lives[3] else simulation.begin(3)
            simulation.run(simulation.now + 1_000.0)
            simulation.leave(3)
            simulation.run(simulation.now + 1_000.0)
        simulation.run(simulation.now + 2_000.0)
        for process in range(3):
            machine = simulation.life(process).machine
            assert not machine._ended
            assert machine.calm


def test_a_host_that_is_no_number_is_never_sent_to() -> None:
    simulation = founded(3)
    for host in ("a\0b", "db1", ""):
        stranger = Member(b"z" * 16, "z", host, 7_000)
        join = question(simulation, stranger)
        machine = simulation.life(0).machine
        before = machine.dropped[Rejection.MALFORMED]
        machine.datagram_received(stranger.incarnation, ("10.0.0.9", 7_000), join, simulation.now)
        assert machine.dropped[Rejection.MALFORMED] == before + 1
        assert all(not isinstance(to, Member) or to.host != host for to, _ in machine.datagrams_to_send())
    talking(simulation, 600.0)
    simulation.run(2_000.0)
    all_agree_at_the_end(simulation, {0, 1, 2})
    assert len(simulation.life(0).views) == 1


def test_a_process_that_gives_the_address_of_a_living_member_stays_outside() -> None:
    simulation = founded(3)
    living = simulation.life(2).member
    other = Member(b"\xff" * 16, "other", living.host, living.port)
    join = question(simulation, other)
    for _ in range(50):
        for process in (0, 1):
            life = simulation.life(process)
            life.machine.datagram_received(other.incarnation, living.address, join, simulation.now)
        simulation.run(simulation.now + 100.0)
    assert [view.number for view in simulation.life(0).views] == [1]
    all_agree_at_the_end(simulation, {0, 1, 2})


@pytest.mark.sampled(2)
def test_who_takes_late_broadcasts_nothing_again_on_the_next_lists(protocol: str) -> None:
    """Its own messages are delivered on a list, and forgotten only when the application takes them."""
    simulation = founded(3, protocol=protocol)
    talking(simulation, 3_000.0)
    takes, late = simulation._take, range(1_000, 2_600)

    def take(process: int, life: Life) -> None:
        if process or int(simulation.now) not in late:
            takes(process, life)

    simulation._take = take  # type: ignore[method-assign]
    simulation.at(1_100.0, lambda: simulation.pause(2, 500.0))
    simulation.run(5_000.0)
    assert simulation.life(0).machine.changes >= 2
    payloads = [each.payload for each in simulation.life(1).deliveries]
    assert len(payloads) == len(set(payloads)), "nothing comes twice"
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2})
    simulation.leave(0)
    simulation.run(8_000.0)
    assert isinstance(simulation.life(0).events[-1], Left)


@pytest.mark.sampled(2)
def test_who_joins_does_not_wait_for_one_that_crashes_while_the_view_changes(protocol: str) -> None:
    """The one that crashes is on the new list, and never says that it knows the list."""
    simulation = SimulatedMembers(5, 1, protocol=protocol)
    simulation.found(range(4))
    simulation.run(1_000.0)
    simulation.begin(4)
    simulation.at(1_002.0, lambda: simulation.crash(3))
    simulation.run(1_000.0 + 2 * LOCAL.suspect_ms)
    assert simulation.life(4).views


def test_a_request_of_a_former_member_that_comes_late_admits_nobody() -> None:
    simulation = founded(3)
    member = simulation.life(2).member
    late = question(simulation, member)
    simulation.leave(2)
    simulation.run(1_000.0)
    for process in (0, 1):
        machine = simulation.life(process).machine
        machine.datagram_received(member.incarnation, member.address, late, simulation.clock(process))
        kinds = {data[0] for _, data in machine.datagrams_to_send()}
        assert DatagramKind.SUPERSEDED in kinds
        assert DatagramKind.EXISTS not in kinds
    simulation.run(2_000.0)
    assert len(simulation.life(0).views[-1].members) == 2


def test_a_late_request_of_an_earlier_run_does_not_found_the_group_with_it() -> None:
    simulation = SimulatedMembers(3, 1)
    simulation.begin(0, founds=3)
    simulation.run(LISTENS * LOCAL.heartbeat_ms)
    machine = simulation.life(0).machine
    host, port = simulation.addresses[1]
    runs = [Member(bytes(15) + bytes([run]), f"run {run}", host, port) for run in (1, 2)]
    other = Member(bytes(15) + b"\3", "other", *simulation.addresses[2])
    for turn, member in enumerate((runs[1], runs[0], other, runs[1], runs[0], other)):
        now = simulation.clock(0) + turn
        machine.datagram_received(member.incarnation, member.address, question(simulation, member), now)
    assert [member.name for member in machine.members] == ["p0", "run 2", "other"]


def test_nobody_asks_for_another_one() -> None:
    """A request names the run that sends it."""
    simulation = founded(3)
    machine, sender = simulation.life(0).machine, simulation.life(1).member
    other = Member(b"o" * 16, "other", "10.0.0.9", 7_009)
    for source in (sender.incarnation, b"s" * 16):
        machine.datagram_received(source, other.address, question(simulation, other), simulation.clock(0))
    assert machine.dropped[Rejection.FALSE_SENDER] == 2
    assert machine.epoch is not None
    assert not machine.epoch.change.called


def test_a_member_that_was_suspected_many_times_orders_again_soon_after_the_last_time() -> None:
    """Its wait doubles with each list that ends early, and not without end."""
    times = Timeouts(heartbeat_ms=50, suspect_ms=250, exclude_ms=900)
    simulation = SimulatedMembers(3, 1, timeouts=times)
    simulation.found(range(3))
    simulation.run(300.0)
    for _ in range(14):
        simulation.cut.add((0, 2))
        simulation.run(simulation.now + 500.0)
        simulation.heal()
        simulation.run(simulation.now + 60.0)
    assert simulation.life(0).machine.changes > 30
    simulation.run(simulation.now + 1.2 * times.exclude_ms)
    assert [len(simulation.life(process).machine.standing().ordering) for process in range(3)] == [3] * 3
    assert len(simulation.life(0).views) == 1


@pytest.mark.parametrize("bits", [31, 62])
def test_a_list_may_have_any_number(bits: int) -> None:
    """A group that lives long has many; the number passes each size that a field might have had."""
    simulation = founded(3)
    machines = [simulation.life(process).machine for process in range(3)]
    for machine in machines:
        assert machine.epoch is not None
        machine._begin(machine.epoch.roster._replace(number=2**bits - 2), simulation.now)
    talking(simulation, simulation.now + 400.0)
    simulation.at(simulation.now + 100.0, lambda: simulation.crash(2))
    simulation.run(simulation.now + LOCAL.exclude_ms + 500.0)
    for machine in machines[:2]:
        assert machine.epoch is not None
        assert machine.epoch.roster.number >= 2**bits
        assert len(machine.members) == 2
    assert simulation.life(0).deliveries[-1] == simulation.life(1).deliveries[-1]


class TakesNothing(SimulatedMembers):
    """Simulated members of which the application of process 1 takes nothing behind its first view."""

    def _take(self, process: int, life: Life) -> None:
        if process != 1 or not life.views:
            super()._take(process, life)


def test_a_member_hears_that_it_is_blocked_behind_what_was_delivered_before() -> None:
    simulation = TakesNothing(3, 1)
    simulation.found(range(3))
    simulation.run(300.0)
    for count in range(3):
        simulation.say(0, b"%d" % count)
    simulation.run(400.0)
    simulation.part({1}, {0, 2})
    simulation.run(400.0 + 2 * LOCAL.suspect_ms)
    events = simulation.life(1).machine.events()
    assert [type(event) for event in events] == [Delivery] * 3 + [Blocked]


@pytest.mark.parametrize("protocol", ["irbp", "sequencer"])
def test_an_application_that_takes_nothing_gets_one_buffer_full_over_all_lists(protocol: str) -> None:
    """Each change of the list would else give it another one."""
    layers = Layers(buffer_bytes=2_000, untaken_bytes=20_000)
    simulation = TakesNothing(3, 1, protocol=protocol, layers=layers)
    simulation.found(range(3))
    simulation.run(300.0)
    for count in range(60):
        simulation.want(0, b"%d" % count + bytes(3_000))
    for _ in range(6):
        simulation.pause(2, 1.2 * LOCAL.suspect_ms)
        simulation.run(simulation.now + 2.4 * LOCAL.suspect_ms)
    machine = simulation.life(1).machine
    assert machine.changes >= 6
    size = sum(len(event.payload) for event in machine.events() if isinstance(event, Delivery))
    assert 20_000 <= size <= 20_000 + 3 * 2 * 5_010


def test_who_has_given_up_a_member_waits_twice_as_long_with_each_view_that_keeps_it() -> None:
    simulation = founded(3)
    machine, member = simulation.life(0).machine, simulation.life(2).member
    assert machine.epoch is not None
    machine.detector._given_up.add(member.incarnation)
    now, waits = simulation.now, []
    for _ in range(9):
        machine._note_kept(machine.epoch.roster, now)
        began = now
        while not machine._may_exclude(member, now):
            now += 1.0
        waits.append(now - began)
    assert waits == [min(50.0 * 2**k, LOCAL.exclude_ms) for k in range(9)]


def test_a_first_member_that_was_stopped_for_a_moment_is_the_first_of_the_next_view() -> None:
    """Lists between two views have another order, which no view shows: the first member is a primary."""
    simulation = founded(4)
    simulation.pause(0, 1.5 * LOCAL.suspect_ms)
    simulation.run(simulation.now + 4 * LOCAL.suspect_ms)
    epoch = simulation.life(1).machine.epoch
    assert epoch is not None
    assert epoch.roster.members[0].name == "p1"
    simulation.leave(3)
    simulation.run(simulation.now + 1_000.0)
    assert [member.name for member in simulation.life(1).views[-1].members] == ["p0", "p1", "p2"]
