"""A run of the real cores is read as a path of the bounded model, and no further than it is one."""

from __future__ import annotations

import pytest

from antiphon.conformance.bindings import bound_protocol
from antiphon.conformance.bindings.core_binding import CoreBinding
from antiphon.conformance.coverage import Reader
from antiphon.conformance.swarm import Settings, deeds_of, run_seed

SEEDS = range(1, 25)


def reader_of(protocol: str) -> tuple[Reader, Settings]:
    bound = bound_protocol(protocol)
    binding = bound.bind(**bound.small)
    assert isinstance(binding, CoreBinding)
    messages = int(binding.program.constants["messages"])
    return Reader(binding), Settings(members=binding.members, messages=messages)


def test_who_writes_down_what_members_do_changes_nothing() -> None:
    for core in ("rbp", "sequencer"):
        for seed in SEEDS[:6]:
            ending, _ = deeds_of(core, seed, Settings(messages=3))
            result = run_seed(core, seed, Settings(messages=3))
            network = ending.network
            assert (network.steps, network.now, network.sent, network.lost) == (
                result.steps, result.ms, result.sent, result.lost,
            )  # fmt: skip


@pytest.mark.parametrize("protocol", ["rbp", "total", "sequencer", "totem"])
def test_a_path_is_one_of_the_specification_as_cpython_executes_it(protocol: str) -> None:
    reader, settings = reader_of(protocol)
    edges, machine = reader.edges, reader.binding.program.reference
    taken = 0
    for seed in SEEDS[:8]:
        state = reader.start
        for before, number, after in reader.path(deeds_of(protocol, seed, settings)[1]).transitions:
            assert before == state
            assert machine.apply(edges.unpack(before), edges.step(number)).state == edges.unpack(after)
            state = after
            taken += 1
    assert taken > len(SEEDS[:8])


def test_a_run_that_stays_within_the_model_delivers_there_what_the_group_delivered() -> None:
    reader, settings = reader_of("total")
    stayed = 0
    for seed in SEEDS:
        ending, deeds = deeds_of("total", seed, settings)
        path = reader.path(deeds)
        assert (path.outside == 0) == (path.left == "")
        if path.left:
            continue
        stayed += 1
        machine = reader.binding.program.reference
        events = [
            event
            for before, number, _ in path.transitions
            for event in machine.apply(reader.edges.unpack(before), reader.edges.step(number)).events
        ]
        delivered = sum(type(event).__name__ == "Deliver" for event in events)
        assert delivered == settings.members * sum(type(deed).__name__ == "Broadcasts" for deed in deeds)
        assert min(map(len, ending.network.deliveries)) == settings.messages
    assert stayed > 2


@pytest.mark.parametrize(
    ("protocol", "fault", "told"),
    [
        ("rbp", "keeps-token", "holding: the core stands elsewhere"),
        ("total", "numbers-again", "next_expected: the core stands elsewhere"),
    ],
)
def test_what_a_faulty_core_does_is_no_path_of_the_specification(
    protocol: str, fault: str, told: str
) -> None:
    """Its steps have the right names; where it rests, it stands elsewhere."""
    reader, settings = reader_of(protocol)
    faulty = Settings(members=settings.members, messages=settings.messages, planted=fault)
    left = [reader.path(deeds_of(protocol, seed, faulty)[1]).left for seed in SEEDS]
    sound = [reader.path(deeds_of(protocol, seed, settings)[1]).left for seed in SEEDS]
    assert any(told in why for why in left), left
    assert not any(told in why for why in sound), sound
