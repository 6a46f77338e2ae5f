"""A run of the real cores is read as a path of the bounded model, and no further than it is one."""

from __future__ import annotations

import pytest

from antiphon.conformance.compare.bindings import bound_protocol
from antiphon.conformance.compare.bindings.core_binding import CoreBinding
from antiphon.conformance.coverage.model import Model, key
from antiphon.conformance.coverage.paths import Reader
from antiphon.conformance.run.swarm import Settings, core_calls_of, run_seed, within_model
from antiphon.model.notation import compact_step

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
            ending, _ = core_calls_of(core, seed, Settings(messages=3))
            result = run_seed(core, seed, Settings(messages=3))
            network = ending.network
            assert (network.steps, network.now, network.sent, network.lost) == (
                result.steps, result.ms, result.sent, result.lost,
            )  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("protocol", ["rbp", "total", "sequencer", "totem"])
def test_a_path_is_one_of_the_specification_as_cpython_executes_it(protocol: str) -> None:
    reader, settings = reader_of(protocol)
    edges, machine = reader.edges, reader.binding.program.reference
    taken = 0
    for seed in SEEDS[:8]:
        state = reader.start
        for before, number, after in reader.path(core_calls_of(protocol, seed, settings)[1]).transitions:
            assert before == state
            assert machine.apply(edges.unpack(before), edges.step(number)).state == edges.unpack(after)
            state = after
            taken += 1
    assert taken > len(SEEDS[:8])


def test_a_run_that_stays_within_the_model_delivers_there_what_the_group_delivered() -> None:
    reader, settings = reader_of("total")
    stayed = 0
    for seed in SEEDS:
        ending, deeds = core_calls_of("total", seed, settings)
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


@pytest.mark.deep
def test_a_run_takes_no_transition_that_is_not_prompt() -> None:
    """Most of this model are those where a process waits that could acknowledge or deliver."""
    reader, _ = reader_of("chang-maxemchuk")
    rows = list(Model(reader.binding).rows())
    prompt = {(row.before, row.step) for row in rows if row.prompt}
    taken = set()
    for seed in SEEDS:
        for before, number, _ in reader.path(
            core_calls_of("chang-maxemchuk", seed, within_model("chang-maxemchuk"))[1]
        ).transitions:
            taken.add((key(before), compact_step(reader.edges.step(number))))
    assert taken <= prompt
    assert len(taken) > len(prompt) / 4
    assert len(prompt) < len(rows) / 4


@pytest.mark.sampled(3)
@pytest.mark.parametrize("protocol", ["chang-maxemchuk", "rbp", "dtp"])
def test_runs_that_are_drawn_within_the_model_stay_there_longer_and_take_more_of_it(protocol: str) -> None:
    """The broadcasters are those of the model, losses stay within its budget, and timers ring seldom."""
    reader, usual = reader_of(protocol)
    within = within_model(protocol)
    assert (within.members, within.messages) == (usual.members, usual.messages)
    assert within.within is not None
    taken: dict[bool, int] = {}
    left: dict[bool, int] = {}
    for is_within, settings in ((False, usual), (True, within)):
        runs = [core_calls_of(protocol, seed, settings) for seed in SEEDS]
        paths = [reader.path(deeds) for _, deeds in runs]
        taken[is_within] = len({move for path in paths for move in path.transitions})
        left[is_within] = sum(path.left != "" for path in paths)
    assert taken[True] > taken[False]
    assert left[True] < left[False]
    assert all(ending.network.lost <= within.within.losses for ending, _ in runs)


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
    left = [reader.path(core_calls_of(protocol, seed, faulty)[1]).left for seed in SEEDS]
    sound = [reader.path(core_calls_of(protocol, seed, settings)[1]).left for seed in SEEDS]
    assert any(told in why for why in left), left
    assert not any(told in why for why in sound), sound
