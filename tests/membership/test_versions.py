"""A group speaks what all its members understand; who understands nothing of that is told so."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.impl.errors import Rejection
from antiphon.impl.membership.member import Member, Refused, spoken, those_that_fit
from antiphon.impl.protocols.core import Implementation
from antiphon.impl.registry import listed
from antiphon.impl.transport.simulated_members import SimulatedMembers

from .keeping import all_agree_at_the_end, keeps_its_promises

irbp = listed("irbp")
assert irbp is not None


def version(oldest: int, newest: int) -> Implementation[Any]:
    """The protocol as a program has it that knows these versions: they differ by their number."""
    assert irbp is not None
    made = [
        irbp._replace(messages=irbp.messages._replace(version=number)) for number in range(oldest, newest + 1)
    ]
    return made[-1]._replace(older=tuple(reversed(made[:-1])))


def spoken_by(simulation: SimulatedMembers, process: int) -> int:
    """The version that a process speaks now."""
    epoch = simulation.life(process).machine.epoch
    assert epoch is not None
    return epoch.roster.version


def started(*programs: Implementation[Any]) -> SimulatedMembers:
    """A group of processes with these programs, and one more place."""
    simulation = SimulatedMembers(len(programs) + 1, 1)
    for process, program in enumerate(programs):
        simulation.begin(process, len(programs) if process == 0 else None, protocol=program)
    simulation.run(400)
    return simulation


def member(number: int, *speaks: int) -> Member:
    oldest, newest = speaks
    return Member(bytes(15) + bytes([number]), f"m{number}", "10.0.0.1", number, b"", (oldest, newest))


def test_a_program_knows_from_its_oldest_to_its_newest_version() -> None:
    assert version(2, 2).versions == (2, 2)
    assert version(1, 3).versions == (1, 3)
    assert [version(1, 3).speaking(number).messages.version for number in (1, 2, 3)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("ranges", "common"),
    [([(1, 1)], 1), ([(1, 1), (1, 2)], 1), ([(1, 3), (2, 4)], 3), ([(1, 1), (2, 2)], None), ([], None)],
)
def test_what_is_spoken_is_the_newest_that_all_know(
    ranges: list[tuple[int, int]], common: int | None
) -> None:
    assert spoken([member(number, *speaks) for number, speaks in enumerate(ranges, 1)]) == common


def test_two_that_fit_alone_need_not_fit_together() -> None:
    here, old, new = member(1, 1, 2), member(2, 1, 1), member(3, 2, 2)
    assert those_that_fit([here], [old]) == (old,)
    assert those_that_fit([here], [new]) == (new,)
    assert those_that_fit([here], [old, new]) == (old,)


def test_a_group_is_upgraded_one_process_after_the_other() -> None:
    """The group never stands still: while one process is old, all speak the old version."""
    simulation = started(version(1, 1), version(1, 1), version(1, 1))
    count = 0

    def say() -> None:
        nonlocal count
        count += 1
        for process in range(3):
            simulation.say(process, f"{process}:{count}".encode())

    for process in range(3):
        assert {spoken_by(simulation, one) for one in range(3)} == {1}
        say()
        simulation.leave(process)
        simulation.run(simulation.now + 1_000)
        simulation.farewell(process)
        simulation.begin(process, protocol=version(1, 2))
        simulation.run(simulation.now + 1_000)
        say()
        simulation.run(simulation.now + 500)
    assert {spoken_by(simulation, one) for one in range(3)} == {2}, "the last old one has gone"
    say()
    simulation.run(simulation.now + 1_000)
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2})


def test_members_that_know_more_go_back_for_one_that_does_not() -> None:
    simulation = started(version(1, 2), version(1, 2))
    assert spoken_by(simulation, 0) == 2
    simulation.begin(2, protocol=version(1, 1))
    simulation.run(2_000)
    assert {spoken_by(simulation, one) for one in range(3)} == {1}
    assert simulation.say(2, b"hello")
    simulation.run(3_000)
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2})


def test_who_is_too_old_is_refused_for_good_and_hears_why() -> None:
    simulation = started(version(2, 3), version(2, 3))
    simulation.begin(2, protocol=version(1, 1))
    simulation.run(2_000)
    (refused,) = simulation.life(2).events
    assert isinstance(refused, Refused)
    assert refused.why == "its protocol is 'irbp', version 1; here it is 'irbp', version 2 to 3"
    assert simulation.life(0).machine.dropped[Rejection.FOREIGN_VERSION] > 0
    assert len(simulation.life(0).views) == 1


def test_who_is_too_new_waits_until_the_old_ones_have_gone() -> None:
    simulation = started(version(1, 2), version(1, 1), version(1, 2))
    simulation.begin(3, protocol=version(2, 2))
    simulation.run(2_000)
    assert simulation.life(3).views == []
    assert simulation.life(3).machine.refusal == (
        "its protocol is 'irbp', version 2; here it is 'irbp', version 1"
    )
    simulation.leave(1)
    simulation.run(5_000)
    assert {spoken_by(simulation, one) for one in (0, 2, 3)} == {2}
    all_agree_at_the_end(simulation, {0, 2, 3})


def test_a_founder_begins_with_those_that_fit() -> None:
    simulation = SimulatedMembers(3, 1)
    simulation.begin(0, 2, protocol=version(1, 2))
    simulation.begin(1, protocol=version(3, 3))
    simulation.run(1_000)
    assert simulation.life(0).views == []
    simulation.begin(2, protocol=version(2, 2))
    simulation.run(2_000)
    assert spoken_by(simulation, 0) == 2
    all_agree_at_the_end(simulation, {0, 2})
    assert simulation.life(1).views == []
