"""The merge is a topological order of causality, the same however it is asked for, and faults are located."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from antiphon.conformance.judge.trace import (
    Broadcast,
    Crash,
    Deliver,
    End,
    Event,
    Receive,
    Send,
    causal_order,
    datagram_id,
)


def events(*histories: Sequence[str]) -> list[list[Event]]:
    """Events from a notation: "s0:1" sends datagram 0:1, "r0:1" receives it, "b0:1" broadcasts message 0:1,
    "d0:1" delivers it, "." is neither cause nor effect.
    """
    return [[_event(i, word) for i, word in enumerate(history)] for history in histories]


def _event(i: int, word: str) -> Event:
    match word[0], word[1:]:
        case "s", name:
            return Send(i, name, 1)
        case "r", name:
            return Receive(i, name)
        case "b", name:
            return Broadcast(i, name, "")
        case "d", name:
            return Deliver(i, name, 1, "")
        case _:
            return Crash(i)


def causality(histories: Sequence[Sequence[str]]) -> nx.DiGraph[tuple[int, int]]:
    """The relation itself, by brute force: every pair of events of one process, every send with every
    receive.
    """
    graph: nx.DiGraph[tuple[int, int]] = nx.DiGraph()
    for process, history in enumerate(histories):
        graph.add_nodes_from((process, i) for i in range(len(history)))
        graph.add_edges_from(((process, i), (process, j)) for j in range(len(history)) for i in range(j))
    for cause, effect in ("sr", "bd"):
        causes = {word[1:]: node for node, word in _words(histories) if word[0] == cause}
        effects = [(word[1:], node) for node, word in _words(histories) if word[0] == effect]
        graph.add_edges_from((causes[name], node) for name, node in effects if name in causes)
    return graph


def _words(histories: Sequence[Sequence[str]]) -> list[tuple[tuple[int, int], str]]:
    return [
        ((process, i), word) for process, history in enumerate(histories) for i, word in enumerate(history)
    ]


@st.composite
def executions(draw: st.DrawFn) -> list[list[str]]:
    """Histories of a real execution: nothing is received or delivered before it was sent or broadcast."""
    processes = draw(st.integers(1, 4))
    histories: list[list[str]] = [[] for _ in range(processes)]
    caused: list[str] = []
    for process, act in draw(
        st.lists(st.tuples(st.integers(0, processes - 1), st.integers(0, 6)), max_size=30)
    ):
        if act == 0:
            histories[process].append(".")
        elif act <= 3 or not caused:
            word = f"{'sb'[act % 2]}{datagram_id(process, len(caused))}"
            caused.append({"s": "r", "b": "d"}[word[0]] + word[1:])
            histories[process].append(word)
        else:
            histories[process].append(draw(st.sampled_from(caused)))
    return histories


@st.composite
def scrambled(draw: st.DrawFn) -> list[list[str]]:
    """Histories that need not come from any execution: one's events, each process's order shuffled."""
    return [draw(st.permutations(history)) for history in draw(executions())]


@given(executions())
def test_the_merge_respects_causality_and_loses_nothing(histories: list[list[str]]) -> None:
    merge = causal_order(events(*histories))
    assert merge.contradictions == ()
    place = {(step.process, step.event.i): at for at, step in enumerate(merge.steps)}
    graph = causality(histories)
    assert set(place) == set(graph.nodes)
    assert len(merge.steps) == len(place)
    assert all(place[before] < place[after] for before, after in graph.edges)


@given(executions())
def test_the_time_of_an_event_is_the_longest_chain_before_it(histories: list[list[str]]) -> None:
    graph = causality(histories)
    longest: dict[tuple[int, int], int] = {}
    for node in nx.topological_sort(graph):
        longest[node] = max((longest[before] + 1 for before in graph.predecessors(node)), default=0)
    assert {
        (step.process, step.event.i): step.time for step in causal_order(events(*histories)).steps
    } == longest


@given(scrambled())
def test_a_contradiction_is_reported_exactly_when_there_is_one(histories: list[list[str]]) -> None:
    merge = causal_order(events(*histories))
    cyclic = not nx.is_directed_acyclic_graph(causality(histories))
    assert bool(merge.contradictions) == cyclic
    graph = causality(histories)
    for effect, cause, _ in merge.contradictions:
        assert nx.has_path(graph, effect, cause)
        assert nx.has_path(graph, cause, effect)
    assert len(merge.steps) == sum(map(len, histories))
    own = [
        [step.event.i for step in merge.steps if step.process == process] for process in range(len(histories))
    ]
    assert own == [list(range(len(history))) for history in histories]


def test_an_effect_without_its_cause_waits_for_nothing() -> None:
    merge = causal_order(events([".", "r1:5", "d1:7"], ["."]))
    assert merge.contradictions == ()
    assert [step.time for step in merge.steps if step.process == 0] == [0, 1, 2]


def test_a_cycle_is_told_once_by_an_event_and_its_cause() -> None:
    merge = causal_order(events(["r1:1", "s0:1"], ["r0:1", "s1:1"], ["."]))
    assert merge.contradictions == (((0, 0), (1, 1), "1:1"),)
    assert len(merge.steps) == 5


def test_each_of_two_cycles_is_told() -> None:
    merge = causal_order(
        events(["r1:1", "s0:1"], ["r0:1", "s1:1"], ["r3:1", "s2:1"], ["r2:1", "s3:1"], ["r0:1"])
    )
    assert merge.contradictions == (((0, 0), (1, 1), "1:1"), ((2, 0), (3, 1), "3:1"))
    assert [step.time for step in merge.steps if step.process == 4] == [2]


def test_a_process_that_is_before_its_own_cause_is_a_cycle() -> None:
    assert causal_order(events(["r0:1", "s0:1"])).contradictions == (((0, 0), (0, 1), "0:1"),)
    assert causal_order(events([".", "d0:1", "b0:1"])).contradictions == (((0, 1), (0, 2), "0:1"),)


def test_of_two_causes_the_first_counts_and_a_broadcast_only_by_its_source() -> None:
    merge = causal_order(events(["s0:1", ".", "s0:1"], ["b0:2", "r0:1"], ["d0:2"]))
    assert merge.contradictions == ()
    assert [(step.process, step.time) for step in merge.steps if step.process] == [(1, 0), (2, 0), (1, 1)]


def test_the_merge_is_by_lamport_time_then_process() -> None:
    merge = causal_order(events(["s0:1", "."], [".", "r0:1"]))
    assert [(step.time, step.process) for step in merge.steps] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_a_long_run_is_merged_without_recursion() -> None:
    rounds = 20_000
    ping = [word for k in range(rounds) for word in (f"s0:{k}", f"r1:{k}")]
    pong = [word for k in range(rounds) for word in (f"r0:{k}", f"s1:{k}")]
    merge = causal_order(events(ping, pong))
    assert merge.contradictions == ()
    assert merge.steps[-1].time == 4 * rounds - 1


def test_no_logs_merge_to_nothing() -> None:
    assert len(causal_order([[End(0)]]).steps) == 1
    assert causal_order([]).steps == ()
