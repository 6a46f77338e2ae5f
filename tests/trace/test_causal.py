"""The merge is a topological order of causality, the same however it is asked for, and faults are located."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from antiphon.conformance.trace import Broadcast, End, Event, Log, Receive, Send, causal_order, datagram_id


def logs(*histories: Sequence[str]) -> list[Log]:
    """Logs from a notation: "s0:1" sends datagram 0:1, "r0:1" receives it, "." does something local.

    Event k of a process stands on line k + 2, after the header.
    """
    made = []
    for process, history in enumerate(histories):
        events = tuple(_event(i, word) for i, word in enumerate(history))
        lines = tuple(range(2, len(events) + 2))
        made.append(Log(Path(f"process-{process}.ndjson"), None, events, lines, ()))
    return made


def _event(i: int, word: str) -> Event:
    if word[0] == "s":
        return Send(i, word[1:])
    if word[0] == "r":
        return Receive(i, word[1:])
    return Broadcast(i, "0:1", "")


def causality(histories: Sequence[Sequence[str]]) -> nx.DiGraph[tuple[int, int]]:
    """The relation itself, by brute force: every pair of events of one process, every send with every
    receive.
    """
    graph: nx.DiGraph[tuple[int, int]] = nx.DiGraph()
    for process, history in enumerate(histories):
        graph.add_nodes_from((process, i) for i in range(len(history)))
        graph.add_edges_from(((process, i), (process, j)) for j in range(len(history)) for i in range(j))
    sends = {word[1:]: node for node, word in _words(histories) if word[0] == "s"}
    graph.add_edges_from(
        (sends[word[1:]], node) for node, word in _words(histories) if word[0] == "r" and word[1:] in sends
    )
    return graph


def _words(histories: Sequence[Sequence[str]]) -> list[tuple[tuple[int, int], str]]:
    return [
        ((process, i), word) for process, history in enumerate(histories) for i, word in enumerate(history)
    ]


@st.composite
def executions(draw: st.DrawFn) -> list[list[str]]:
    """Histories of a real execution: a datagram is received, any number of times, only after it was sent."""
    processes = draw(st.integers(1, 4))
    histories: list[list[str]] = [[] for _ in range(processes)]
    sent: list[str] = []
    for process, act in draw(
        st.lists(st.tuples(st.integers(0, processes - 1), st.integers(0, 5)), max_size=30)
    ):
        if act == 0:
            histories[process].append(".")
        elif act <= 2 or not sent:
            name = datagram_id(process, len(sent))
            sent.append(name)
            histories[process].append("s" + name)
        else:
            histories[process].append("r" + draw(st.sampled_from(sent)))
    return histories


@st.composite
def scrambled(draw: st.DrawFn) -> list[list[str]]:
    """Histories that need not come from any execution: one's events, each process's order shuffled."""
    return [draw(st.permutations(history)) for history in draw(executions())]


@given(executions())
def test_the_merge_respects_causality_and_loses_nothing(histories: list[list[str]]) -> None:
    merge = causal_order(logs(*histories))
    assert merge.problems == ()
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
        (step.process, step.event.i): step.time for step in causal_order(logs(*histories)).steps
    } == longest


@given(scrambled())
def test_a_contradiction_is_reported_exactly_when_there_is_one(histories: list[list[str]]) -> None:
    merge = causal_order(logs(*histories))
    cyclic = not nx.is_directed_acyclic_graph(causality(histories))
    assert bool(merge.problems) == cyclic
    assert all("contradict causality" in problem.reason for problem in merge.problems)
    assert len(merge.steps) == sum(map(len, histories))
    own = [
        [step.event.i for step in merge.steps if step.process == process] for process in range(len(histories))
    ]
    assert own == [list(range(len(history))) for history in histories]


def test_a_receive_without_a_send_is_located() -> None:
    merge = causal_order(logs([".", "r1:5"], ["."]))
    assert [str(problem) for problem in merge.problems] == [
        "process-0.ndjson:3: datagram 1:5 is received but no log shows its send"
    ]
    assert len(merge.steps) == 3


def test_a_cycle_is_located_at_the_receives_that_form_it() -> None:
    merge = causal_order(logs(["r1:1", "s0:1"], ["r0:1", "s1:1"], ["."]))
    [problem] = merge.problems
    assert str(problem) == (
        "process-0.ndjson:2: the logs contradict causality: "
        "process-0.ndjson:2 receives what process-1.ndjson:3 sends later; "
        "process-1.ndjson:2 receives what process-0.ndjson:3 sends later"
    )
    assert len(merge.steps) == 5


def test_a_process_that_receives_its_own_later_datagram_is_a_cycle() -> None:
    merge = causal_order(logs(["r0:1", "s0:1"]))
    assert "process-0.ndjson:2 receives what process-0.ndjson:3 sends later" in str(merge.problems[0])


def test_a_datagram_sent_twice_or_by_another_is_located() -> None:
    reasons = [str(problem) for problem in causal_order(logs(["s0:1", "s0:1"], ["s0:2"])).problems]
    assert reasons == [
        "process-0.ndjson:3: datagram 0:1 was sent before, at process-0.ndjson:2",
        "process-1.ndjson:2: datagram 0:2 is not process 1's to send",
    ]


def test_the_merge_is_by_lamport_time_then_process() -> None:
    merge = causal_order(logs(["s0:1", "."], [".", "r0:1"]))
    assert [(step.time, step.process) for step in merge.steps] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_a_long_run_is_merged_without_recursion() -> None:
    rounds = 20_000
    ping = [word for k in range(rounds) for word in (f"s0:{k}", f"r1:{k}")]
    pong = [word for k in range(rounds) for word in (f"r0:{k}", f"s1:{k}")]
    merge = causal_order(logs(ping, pong))
    assert merge.problems == ()
    assert merge.steps[-1].time == 4 * rounds - 1


def test_no_logs_merge_to_nothing() -> None:
    merge = causal_order([Log(Path("process-0.ndjson"), None, (End(0),), (2,), ())])
    assert len(merge.steps) == 1
    assert causal_order([]).steps == ()
