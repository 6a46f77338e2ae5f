"""Definition of each property: examples, and brute force."""

from __future__ import annotations

import random
from itertools import combinations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.judge.history.examples import BROKEN_WITH, EXAMPLES
from tests.judge.history.known import PROPERTIES

from antiphon.conformance.judge.history import (
    Finding,
    History,
    Place,
    history,
    judge_by_machines,
    judge_history,
)
from antiphon.conformance.judge.history.finding import (
    ACCUSED,
    BROADCAST_BY_ANOTHER,
    CYCLE,
    GOT_NOTHING,
    GOT_OTHER,
    NEVER_SENT,
    OTHER_PAYLOAD,
    RECEIVED_BY_ANOTHER,
    SENT_AGAIN,
    SENT_BY_ANOTHER,
    TOOK_NOTHING,
    TOOK_OTHER,
)
from antiphon.conformance.judge.trace import Broadcast, Crash, Deliver, Receive, Send
from antiphon.spec.services.broadcast import BROADCAST_AGAIN, NEVER_BROADCAST, TWICE
from antiphon.spec.services.order import NOT_GREATER, NUMBER_TAKEN, OTHER_NUMBER


def found(text: str) -> dict[str, Finding]:
    """Findings in a history, by property."""
    return {finding.property: finding for finding in judge_history(history(text)) if finding.offending}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_breaks_exactly_what_it_says(name: str) -> None:
    text, broken = EXAMPLES[name]
    assert set(found(text)) == broken


@pytest.mark.parametrize("name", PROPERTIES)
def test_each_property_has_an_example_that_only_it_catches(name: str) -> None:
    alone = {name} | BROKEN_WITH.get(name, frozenset()) & set(PROPERTIES)
    assert alone in [broken for _, broken in EXAMPLES.values()]


def test_findings_come_in_the_order_of_report() -> None:
    whole = history("0: +a (+a) (a) a a>1 | 1: <a (a) a")
    assert [finding.property for finding in judge_history(whole)] == list(PROPERTIES)
    assert not any(finding.offending for finding in judge_history(whole))
    assert {finding.judged for finding in judge_history(())} == {0}


@pytest.mark.parametrize(
    ("text", "name", "offending", "reason", "first", "second"),
    [
        ("0: +a +a +a a", "BroadcastOnce", 2, BROADCAST_AGAIN, (0, 1, "0:1"), (0, 0, "0:1")),
        ("0: +b +a a | 1: a", "BroadcastOnce", 1, BROADCAST_BY_ANOTHER, (0, 0, "1:1"), None),
        ("0: +a +0:2 a | 1: a", "Validity", 1, None, (0, 1, "0:2"), None),
        ("0: +a a a=x | 1: a", "UniformIntegrity", 1, TWICE, (0, 2, "0:1"), (0, 1, "0:1")),
        ("0: +a a b | 1: a b", "UniformIntegrity", 2, NEVER_BROADCAST, (0, 2, "1:1"), None),
        ("0: a | 1: +a a", "UniformIntegrity", 2, NEVER_BROADCAST, (0, 0, "0:1"), None),
        ("0: a b | 1: b", "UniformIntegrity", 3, NEVER_BROADCAST, (0, 0, "0:1"), None),
        ("0: a a b | 1: b", "UniformIntegrity", 4, TWICE, (0, 1, "0:1"), (0, 0, "0:1")),
        ("0: +0:2 +a a | 1: a=x", "UniformIntegrity", 1, OTHER_PAYLOAD, (1, 0, "0:1"), (0, 1, "0:1")),
        ("0: +a +0:2 a 0:2 | 1: a", "Agreement", 1, None, (0, 3, "0:2"), (1, None, "0:2")),
        ("0: b +a a | 1: a | 2: | 3:", "Agreement", 5, None, (0, 2, "0:1"), (2, None, "0:1")),
        ("0: +a | 1: a | 2: a | 3: a", "Agreement", 1, None, (1, 0, "0:1"), (0, None, "0:1")),
        ("0: +a a ! | 1: +b b | 2: b", "UniformAgreement", 2, None, (0, 1, "0:1"), (1, None, "0:1")),
        ("0: a +0:2 0:2 | 1: 0:2 a", "UniformTotalOrder", 1, None, (1, 1, "0:1"), (0, 2, "0:2")),
        ("0: +a +0:2 a 0:2 | 1: 0:2 !", "UniformPrefixOrder", 1, None, (1, 0, "0:2"), (0, 2, "0:1")),
        ("0: a#1 | 1: a#2 a#3", "UniformNumbering", 2, OTHER_NUMBER, (1, 0, "0:1"), (0, 0, "0:1")),
        ("0: a#1 b#1 | 1: b#1", "UniformNumbering", 2, NUMBER_TAKEN, (1, 0, "1:1"), (0, 0, "0:1")),
        ("0: a b | 1: a c | 2: a", "UniformPrefixOrder", 1, None, (1, 1, "2:1"), (0, 1, "1:1")),
        ("0: a#1 b#5 a#1 c#3", "UniformNumbering", 1, NOT_GREATER, (0, 3, "2:1"), (0, 1, "1:1")),
        ("0: a#2 b#1 c#3", "UniformNumbering", 1, NOT_GREATER, (0, 1, "1:1"), (0, 0, "0:1")),
        ("0: a>1 a>1 a>2 | 1: | 2: <a", "DatagramIntegrity", 1, SENT_AGAIN, (0, 1, "0:1"), (0, 0, "0:1")),
        ("0: b>1 | 1: <b", "DatagramIntegrity", 2, SENT_BY_ANOTHER, (0, 0, "1:1"), None),
        ("0: <a <b | 1: b>0", "DatagramIntegrity", 1, NEVER_SENT, (0, 0, "0:1"), None),
        ("0: a>1 <a | 1: <a <a", "DatagramIntegrity", 1, RECEIVED_BY_ANOTHER, (0, 1, "0:1"), (0, 0, "0:1")),
        ("0: a b +a | 1: +b", "Causality", 1, CYCLE, (0, 0, "0:1"), (0, 2, "0:1")),
        ("0: a b | 1: b a | 2: b a", "UniformTotalOrder", 2, None, (1, 1, "0:1"), (0, 1, "1:1")),
        ("0: c>1 <b a>1 | 1: <a b>0", "Causality", 1, CYCLE, (0, 1, "1:1"), (1, 1, "1:1")),
        ("0: +a (+a=x) a", "Handover", 2, TOOK_OTHER, (0, 1, "0:1"), (0, 0, "0:1")),
        ("0: +a (+a) +0:2 a", "Handover", 2, TOOK_NOTHING, (0, 2, "0:2"), None),
        ("0: +a a | 1: (b) a", "Handover", 1, GOT_OTHER, (1, 1, "0:1"), (1, 0, "1:1")),
        ("0: (a#1) a#2", "Handover", 1, GOT_OTHER, (0, 1, "0:1"), (0, 0, "0:1")),
        ("0: b (b) (a) a", "Handover", 1, GOT_OTHER, (0, 0, "1:1"), None),
        ("0: (a) a (b) (c)", "Handover", 1, GOT_NOTHING, (0, 2, "1:1"), None),
        ("0: +a a ?1 ?2", "NoViolation", 2, ACCUSED, (0, 2, "process 1: "), None),
    ],
)
def test_an_offence_is_told_by_its_two_events(
    text: str,
    name: str,
    offending: int,
    reason: str | None,
    first: tuple[int, int, str],
    second: tuple[int, int | None, str] | None,
) -> None:
    finding = found(text)[name]
    assert finding.offending == offending
    assert (finding.first, finding.second) == (Place(*first), second and Place(*second))
    assert reason in (None, finding.reason)


def test_in_a_log_without_end_the_last_delivery_may_be_under_way() -> None:
    whole = history("0: +a (+a) (a) a +0:2 (b)")
    judged = {finding.property: finding.offending for finding in judge_history(whole)}
    cut = {finding.property: finding.offending for finding in judge_history([whole[0][:-1]])}
    assert (judged["Handover"], cut["Handover"]) == (2, 0)


def test_a_process_that_wrote_nothing_owes_nothing() -> None:
    assert found("1: +b b") == {}


def test_a_finding_is_told_in_json() -> None:
    finding = found("0: +a a | 1:")["Agreement"]
    assert finding.to_json() == {
        "property": "Agreement",
        "judged": 1,
        "offending": 1,
        "reason": finding.reason,
        "first": {"process": 0, "index": 1, "message": "0:1"},
        "second": {"process": 1, "index": None, "message": "0:1"},
        "doubt": None,
        "implied": None,
        "odd": None,
    }
    nothing = {"judged": 0, "offending": 0, "reason": None, "first": None, "second": None}
    nothing |= {"doubt": None, "implied": None, "odd": None}
    assert Finding("Validity").to_json() == {"property": "Validity"} | nothing


def test_a_finding_says_where_in_which_file() -> None:
    assert str(found("0: +a a a | 1: a")["UniformIntegrity"]) == (
        "delivered a second time: process-0.ndjson:4 (0:1), against process-0.ndjson:3 (0:1)"
    )
    assert str(found("0: +a a | 1:")["Agreement"]).endswith("against no delivery of 0:1 by process 1")
    never = found("0: a b | 1: +0:9")["UniformIntegrity"]
    assert str(never).endswith("process-0.ndjson:2 (0:1), and 1 more")
    assert str(Finding("Validity")) == ""
    assert str(Finding("Validity", 1, "why")) == "why"


@st.composite
def histories(draw: st.DrawFn) -> str:
    """A correct run with datagrams, then a few changes that logs of broken protocols show."""
    processes = draw(st.integers(2, 4))
    order = [f"{draw(st.integers(0, processes - 1))}:{k}" for k in range(1, draw(st.integers(1, 4)) + 1)]
    logs: list[list[str]] = [[] for _ in range(processes)]
    for k, m in enumerate(order):
        source = int(m[0])
        logs[source].append(f"+{m}")
        for q in (q for q in range(processes) if q != source):
            logs[source].append(f"{source}:{10 * k + q}>{q}")
            logs[q] += [f"<{source}:{10 * k + q}"] * draw(st.integers(0, 2))
        for log in logs:
            log.append(f"{m}#{2 * k + 1}")
    for _ in range(draw(st.integers(0, 3))):
        change(draw, logs[draw(st.integers(0, processes - 1))], order)
    logs = [[word for k, word in enumerate(log) if "!" not in log[:k]] for log in logs]
    return " | ".join(f"{p}: {' '.join(log)}" for p, log in enumerate(logs))


def change(draw: st.DrawFn, log: list[str], order: list[str]) -> None:
    """Change one thing in a log."""
    at, other = (draw(st.integers(0, max(len(log) - 1, 0))) for _ in "12")
    inserted = {
        "unknown": st.just("0:9#99"),
        "again": st.sampled_from(order).map("+{}".format),
        "lost": st.just("+0:8"),
        "send": st.sampled_from(["0:1>1", "1:3>0", "1:77>0"]),
        "receive": st.sampled_from(["<0:1", "<1:3", "<1:77"]),
    }
    how = draw(st.sampled_from([*inserted, "crash", "repeat", "gap", "swap", "number", "move"]))
    if how in inserted:
        log.insert(at, draw(inserted[how]))
    elif how == "crash":
        log[at:] = ["!"]
    elif not log:
        return
    elif how == "repeat":
        log.insert(other, log[at])
    elif how == "gap":
        del log[at]
    elif how == "swap":
        log[at], log[other] = log[other], log[at]
    elif how == "number" and "#" in log[at]:
        log[at] = log[at].partition("#")[0] + "#3"
    elif how == "move":
        log.insert(other, log.pop(at))


def holds_by_definition(logs: History) -> dict[str, bool]:
    """The properties as their definitions read, quantifiers and all."""
    return of_broadcast(logs) | of_order(logs) | of_datagrams(logs)


def of_broadcast(logs: History) -> dict[str, bool]:
    """Truth of the broadcast properties of a log whose broadcasts come before their deliveries."""
    staying = correct(logs)
    sent = [(p, e.m) for p, log in enumerate(logs) for e in log if isinstance(e, Broadcast)]
    told = {(p, e.m) for p, log in enumerate(logs) for e in log if isinstance(e, Deliver)}
    named = [m for p, m in sent if m.startswith(f"{p}:")]
    every = [(p, e.m) for p, log in enumerate(logs) for e in log if isinstance(e, Deliver)]
    return {
        "BroadcastOnce": len(named) == len(set(named)) == len(sent),
        "Validity": all(
            any((q, m) in told for q in staying) for p, m in sent if p in staying and m.startswith(f"{p}:")
        ),
        "UniformIntegrity": len(every) == len(told) and all(m in named for _, m in told),
        "UniformAgreement": all((q, m) in told for _, m in told for q in staying),
        "Agreement": all((q, m) in told for p, m in told for q in staying if p in staying),
    }


def correct(logs: History) -> list[int]:
    return [p for p, log in enumerate(logs) if log and not any(isinstance(e, Crash) for e in log)]


def rows_of(logs: History) -> list[list[str]]:
    """The first deliveries of each process, in order."""
    return [list(dict.fromkeys(e.m for e in log if isinstance(e, Deliver))) for log in logs]


def in_one_order(rows: list[list[str]]) -> bool:
    """Each two processes deliver each two common messages in one order."""
    return all(
        (one.index(m) < one.index(o)) == (other.index(m) < other.index(o))
        for one, other in combinations(rows, 2)
        for m, o in combinations(set(one) & set(other), 2)
    )


def are_prefixes(rows: list[list[str]]) -> bool:
    """True if of any two sequences one begins with the other."""
    return all(
        one[:shorter] == other[:shorter]
        for one, other in combinations(rows, 2)
        for shorter in (min(len(one), len(other)),)
    )


def have_a_sequence(rows: list[list[str]]) -> bool:
    """The relation "somebody delivers one before the other" has no cycle."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_edges_from(pair for row in rows for pair in combinations(row, 2))
    return bool(nx.is_directed_acyclic_graph(graph))


def of_order(logs: History) -> dict[str, bool]:
    """Truth of the order properties: of the first deliveries of each process, and of numbers."""
    numbered = [(p, event) for p, log in enumerate(logs) for event in log if isinstance(event, Deliver)]
    return {
        "UniformTotalOrder": in_one_order(rows_of(logs)),
        "UniformPrefixOrder": are_prefixes(rows_of(logs)),
        "UniformGlobalOrder": have_a_sequence(rows_of(logs)),
        "UniformNumbering": all(
            (a.m == b.m) == (a.number == b.number) for _, a in numbered for _, b in numbered
        )
        and all(
            a.number < b.number
            for p, a in numbered
            for q, b in numbered
            if p == q and a.m != b.m and _first(logs, p, a.m) < _first(logs, p, b.m)
        ),
    }


def of_datagrams(logs: History) -> dict[str, bool]:
    """Truth of the properties of datagrams and of causes."""
    events = [(p, k, event) for p, of_process in enumerate(logs) for k, event in enumerate(of_process)]
    sends = [(p, event) for p, _, event in events if isinstance(event, Send)]
    graph: nx.DiGraph[tuple[int, int]] = nx.DiGraph()
    graph.add_edges_from(((p, k), (p, k + 1)) for p, k, _ in events)
    for p, k, event in events:
        match event:
            case Receive():
                causes = [(q, j) for q, j, other in events if isinstance(other, Send) and other.d == event.d]
            case Deliver():
                causes = [
                    (q, j)
                    for q, j, other in events
                    if isinstance(other, Broadcast) and other.m == event.m and other.m.startswith(f"{q}:")
                ]
            case _:
                causes = []
        graph.add_edges_from([(causes[0], (p, k))] if causes else [])
    return {
        "DatagramIntegrity": all(event.d.startswith(f"{p}:") for p, event in sends)
        and len({event.d for _, event in sends}) == len(sends)
        and all(
            any(sent.d == event.d and sent.to == p for _, sent in sends)
            for p, _, event in events
            if isinstance(event, Receive)
        ),
        "Causality": nx.is_directed_acyclic_graph(graph),
    }


def _first(logs: History, process: int, message: str) -> int:
    return next(e.i for e in logs[process] if isinstance(e, Deliver) and e.m == message)


@given(histories())
def test_a_property_is_judged_by_its_definition(text: str) -> None:
    """A message whose delivery comes before its broadcast was not broadcast by then."""
    logs = history(text)
    expected = {name for name, holds in holds_by_definition(logs).items() if not holds}
    judged = set(found(text)) - {"Handover", "NoViolation"}
    if "Causality" in expected:
        expected, judged = expected - {"UniformIntegrity"}, judged - {"UniformIntegrity"}
    assert judged == expected


@given(histories())
def test_the_plain_forms_of_order_speak_of_those_that_never_crash(text: str) -> None:
    logs = history(text)
    rows = [rows_of(logs)[p] for p in correct(logs)]
    holds = {
        found.property: not found.offending
        for found in judge_by_machines(logs, ["TotalOrder", "PrefixOrder"])
    }
    assert holds == {"TotalOrder": in_one_order(rows), "PrefixOrder": are_prefixes(rows)}


@pytest.mark.deep
def test_the_random_histories_break_every_property() -> None:
    seen = set[str]()

    @settings(max_examples=200)
    @given(histories())
    def collect(text: str) -> None:
        seen.update(found(text))

    collect()
    assert set(PROPERTIES) - {"Handover", "NoViolation"} <= seen


@given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True), min_size=2, max_size=4))
def test_ranks_of_common_messages_agree_exactly_when_all_pairs_of_messages_do(
    sequences: list[list[str]],
) -> None:
    """The definition is quantified over pairs of messages; the check never forms one."""
    clashes = any(
        (p.index(m) < p.index(o)) != (q.index(m) < q.index(o))
        for p, q in combinations(sequences, 2)
        for m, o in combinations(set(p) & set(q), 2)
    )
    text = " | ".join(f"{k}: {' '.join(sequence)}" for k, sequence in enumerate(sequences))
    order = found(text).get("UniformTotalOrder")
    assert (order is not None) == clashes
    if order is not None and order.first and order.second:
        p, q = (sequences[place.process] for place in (order.first, order.second))
        m, o = (chr(ord("a") + int(place.message[0])) for place in (order.first, order.second))
        assert p.index(o) < p.index(m)
        assert q.index(m) < q.index(o)


def test_no_chance_decides_a_verdict() -> None:
    """Equal findings for equal histories, whatever was judged before."""
    texts = [text for text, _ in EXAMPLES.values()]
    expected = {text: judge_history(history(text)) for text in texts}
    random.Random(7).shuffle(texts)
    assert all(judge_history(history(text)) == expected[text] for text in texts)
