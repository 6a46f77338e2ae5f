"""The picture of a run of logs shows what clashes, however long the run is."""

from pathlib import Path

import pytest

from antiphon.conformance.judge.history import RunFindings, history, judge_history
from antiphon.conformance.judge.trace import Log, Run
from antiphon.conformance.report.diagram import Diagram
from antiphon.conformance.report.logs import ROWS_MAX, diagram_of_logs
from antiphon.conformance.report.svg import svg


def drawn(text: str, *promise: str, everything: bool = False) -> Diagram:
    logs = history(text)
    run = Run(Path("run"), None, tuple(Log(Path(), None, events, (), ()) for events in logs), ())
    judged = RunFindings(judge_history(logs, promise or ("total-order",)))
    return diagram_of_logs(run, judged, everything=everything)


def long_run(swapped: int, last: int = 0) -> str:
    """Process 0 broadcasts a hundred messages, of which process 1 delivers two the other way round, the first
    of them last of all if `last`.
    """
    names = [f"0:{k}" for k in range(1, 101)]
    other = list(names)
    moved = other.pop(swapped - 1)
    other.insert(len(other) if last else swapped, moved)
    return f"0: {' '.join(f'+{m} {m}' for m in names)} | 1: {' '.join(other)}"


@pytest.mark.parametrize("at", [5, 50, 95])
def test_of_a_long_run_what_clashes_is_shown(at: int) -> None:
    picture = drawn(long_run(at))
    assert picture.rows <= ROWS_MAX + 2
    (broken,) = [event for event in picture.events if event.broken]
    assert broken.broken == "UniformTotalOrder"
    assert {f"deliver 0:{at}", f"deliver 0:{at + 1}"} <= {
        event.label.partition(" as ")[0] for event in picture.events if event.lane == 1
    }


def test_events_that_clash_far_apart_are_shown_with_those_of_the_same_messages() -> None:
    picture = drawn(long_run(3, last=True))
    assert [event.broken for event in picture.events if event.broken] == ["UniformTotalOrder"]
    assert picture.events[0].label.endswith("events before")


def test_arrows_go_from_a_broadcast_to_its_deliveries_and_with_everything_along_datagrams() -> None:
    text = "0: +a (+a) 0:1>1 (a) a | 1: <0:1 (a) a !"
    plain = drawn(text)
    assert [(arrow.label, arrow.source, arrow.target) for arrow in plain.arrows] == [("0:1", 0, 1)]
    assert [event.crash for event in plain.events if event.label == "crash"] == [True]
    whole = drawn(text, everything=True)
    assert {arrow.kind for arrow in whole.arrows} == {"message", "datagram"}
    assert "send 0:1 to process 1" in {event.label for event in whole.events}
    assert svg(whole).endswith("</svg>\n")


def test_a_delivery_comes_from_above_if_its_broadcast_is_not_shown() -> None:
    picture = drawn(long_run(95))
    assert None in {arrow.source for arrow in picture.arrows}
    assert drawn("0: a | 1: a").arrows == ()
