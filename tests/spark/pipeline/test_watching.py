"""Logs that grow are judged as they grow: at once, exactly once, whatever stops the watch in between.

What is noticed early is tested in tests/judge/history/test_early.py, how a growing log is read in
tests/judge/trace/test_tail.py.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes
from tests.judge.history.examples import EXAMPLES, FURTHER_EXAMPLES
from tests.judge.history.known import LIVENESS, PROMISES

from antiphon.conformance.cli import main
from antiphon.conformance.judge.history import TOTAL_ORDER, RunFindings, history, judge_history, properties_of
from antiphon.conformance.judge.trace import TRUNCATED, Event, Header, Problem, causal_order, log_name
from antiphon.conformance.spark.pipeline import InputError, Standing, watch
from antiphon.conformance.spark.pipeline.growing import TICK, GrowingLogs, sizes_in
from antiphon.conformance.spark.pipeline.watching import GOES_ON, OVER, SILENT, standings_in
from antiphon.conformance.spark.pipeline.watching import Watching as Held
from antiphon.model.verdict import Outcome
from antiphon.spec.services.extended import SAFE_DELIVERY
from antiphon.spec.services.views import VIRTUAL_SYNCHRONY

WriteRun = Callable[[Path, str], None]
Grow = Callable[[Path, str, int], None]

BROKEN = "0: +a a b | 1: +b b a"
HEALTHY = "0: +a a b | 1: +b a b"
ANSWER_FIRST = "0: +a a b | 1: a +b b | 2: b a"
WITHOUT_CAUSE = ("never broadcast", "received but not sent", "received by another")
"""The examples in which what is missing may come."""
SAFE_NEEDS = {SAFE_DELIVERY: (VIRTUAL_SYNCHRONY,)}
"""The word that `safe-delivery` needs."""


@pytest.fixture
def grow(write_run: WriteRun, tmp_path: Path) -> Grow:
    """Let the logs of a run grow to those of a history, but for so many lines at the end of each."""
    numbers = itertools.count()

    def write(run: Path, text: str, missing: int = 0) -> None:
        whole = tmp_path / "whole" / str(next(numbers))
        write_run(whole, text)
        run.mkdir(parents=True, exist_ok=True)
        for log in whole.iterdir():
            lines = log.read_bytes().splitlines(keepends=True)
            (run / log.name).write_bytes(b"".join(lines[: len(lines) - missing]))

    return write


def ends(run: Path) -> dict[int, int]:
    return {process: size for _, process, size in sizes_in(run)}


def prefixes(logs: Sequence[Sequence[Event]]) -> Iterator[tuple[tuple[Event, ...], ...]]:
    """A run as it grows, event by event, in its causal order."""
    so_far: list[tuple[Event, ...]] = [() for _ in logs]
    for step in causal_order(logs).steps:
        so_far[step.process] += (step.event,)
        yield tuple(so_far)


def write_logs(run: Path, logs: Sequence[Sequence[Event]], processes: int) -> None:
    run.mkdir(exist_ok=True)
    for process, events in enumerate(logs):
        header = Header(run="r", protocol="rbp", process=process, processes=processes, seed=1)
        lines = [msgspec.json.encode(line) + b"\n" for line in (header, *events)]
        (run / log_name(process)).write_bytes(b"".join(lines))


def stepped(held: Held) -> Held:
    """State as the next step reads it."""
    return msgspec.json.decode(msgspec.json.encode(held), type=Held)


def test_a_violation_is_told_by_the_step_that_reads_it_and_once(grow: Grow, tmp_path: Path) -> None:
    """The other process's log has not even begun; the end of the run says what verify says."""
    run, held = tmp_path / "run", Held()
    grow(run, BROKEN, 3)
    first = held.read_on(run, ends(run))
    assert first is not None
    assert (first.standing, first.outcome, first.found) == (GOES_ON, Outcome.UNKNOWN, ())
    held = stepped(held)
    grow(run, BROKEN, 1)
    broken = held.read_on(run, ends(run))
    assert broken is not None
    assert (broken.standing, broken.outcome) == (GOES_ON, Outcome.VIOLATED)
    assert {name for name, *_ in broken.found} >= {"UniformTotalOrder", "UniformPrefixOrder"}
    held = stepped(held)
    assert held.read_on(run, ends(run)) is None
    grow(run, BROKEN, 0)
    over = held.read_on(run, ends(run))
    assert over is not None
    assert (over.standing, over.outcome) == (OVER, Outcome.VIOLATED)
    assert (held.window, len(msgspec.json.encode(held)) < 600) == (None, True)


@pytest.mark.parametrize(
    ("text", "promise", "told"),
    [
        (HEALTHY, "consensus", "nothing to judge: nothing is proposed or decided"),
        ("0: +a a | 1: a", TOTAL_ORDER, "nothing to judge: no two processes deliver the same two messages"),
        ("0: [1=0] +a a b [2=01] | 1: +b [2=01]", TOTAL_ORDER, "ask --promise virtual-synchrony"),
        ("0: +a a b | 1: +b a ! ^ b", TOTAL_ORDER, "a process crashed and returned"),
    ],
)
def test_what_logs_cannot_show_is_unknown_when_the_run_is_over(
    grow: Grow, tmp_path: Path, text: str, promise: str, told: str
) -> None:
    run, held = tmp_path / "run", Held(promise=(promise,))
    grow(run, text, 1)
    going = held.read_on(run, ends(run))
    assert going is not None
    assert (going.standing, going.outcome, going.found) == (GOES_ON, Outcome.UNKNOWN, ())
    grow(run, text, 0)
    over = stepped(held).read_on(run, ends(run))
    assert over is not None
    assert (over.standing, over.outcome) == (OVER, Outcome.UNKNOWN)
    assert any(told in sentence for *_, sentence in over.found)


def test_a_log_that_has_not_begun_keeps_no_violation_back(grow: Grow, tmp_path: Path) -> None:
    run, held = tmp_path / "run", Held()
    grow(run, "0: +a a a | 1: a", 1)
    (run / log_name(1)).unlink()
    said = held.read_on(run, ends(run))
    assert said is not None
    assert (said.outcome, said.found[0][0]) == (Outcome.VIOLATED, "UniformIntegrity")


@pytest.mark.parametrize("begun", [b"", b'{"schema":"antiphon'])
def test_a_log_whose_first_line_is_in_the_making_is_no_fault(
    grow: Grow, tmp_path: Path, begun: bytes
) -> None:
    run, held = tmp_path / "run", Held()
    run.mkdir()
    (run / log_name(1)).write_bytes(begun)
    assert held.read_on(run, {1: len(begun)}) is not None
    grow(run, HEALTHY, 2)
    (run / log_name(1)).write_bytes(begun)
    assert held.read_on(run, {0: ends(run)[0], 1: len(begun)}) is None


def test_a_fault_is_told_at_once_and_nothing_is_known_of_the_run(grow: Grow, tmp_path: Path) -> None:
    run, held = tmp_path / "run", Held()
    grow(run, HEALTHY, 2)
    with (run / log_name(1)).open("ab") as log:
        log.write(b"{\n")
    said = held.read_on(run, ends(run))
    assert said is not None
    assert said.outcome is Outcome.UNKNOWN
    assert ["not an event" in told for *_, told in said.found] == [True]


def test_a_run_that_is_silent_is_given_up_and_read_again_when_it_goes_on(grow: Grow, tmp_path: Path) -> None:
    run, held = tmp_path / "run", Held()
    grow(run, HEALTHY, 2)
    held.read_on(run, ends(run))
    silent = held.give_up(run)
    assert silent is not None
    assert (silent.standing, silent.outcome) == (SILENT, Outcome.UNKNOWN)
    assert held.window is None
    grow(run, HEALTHY, 0)
    with_one_log = {1: ends(run)[1]}
    held = stepped(held)
    assert held.read_on(run, with_one_log) is not None, "it goes on"
    over = held.read_on(run, {0: ends(run)[0]})
    assert over is not None
    assert (over.standing, over.outcome, over.found) == (OVER, Outcome.HOLDS, ())


@pytest.mark.deep
def test_whatever_is_broken_for_ever_is_told_by_the_step_that_reads_it(tmp_path: Path) -> None:
    """Each example of a property that the end of a run cannot mend grows event by event, for every promise,
    and each step begins with the state of the last. A prefix that the judge of logs finds broken is reported
    at once, and none before.
    """
    examples = [(name, (TOTAL_ORDER,), *told) for name, told in EXAMPLES.items()]
    examples += [(name, promise, text, broken) for name, (promise, text, broken) in FURTHER_EXAMPLES.items()]
    found: set[str] = set()
    for name, promise, text, broken in examples:
        if broken <= set(LIVENESS) or name in WITHOUT_CAUSE:
            continue
        *others, last = history(text)
        logs = [*others, last[:-1]]  # which has no end, so that the run is never over
        run, held, told = tmp_path / name, Held(promise), set[str]()
        for steps in prefixes(logs):
            write_logs(run, steps, len(logs))
            held = stepped(held)
            said = held.read_on(run, ends(run))
            if said is not None:
                told = {broken for broken, *_ in said.found if broken}
            judged = RunFindings(judge_history(steps, promise), (Problem(run, 0, TRUNCATED),))
            outcomes = judged.outcomes.items()
            assert told == {name for name, outcome in outcomes if outcome is Outcome.VIOLATED}, (name, steps)
        assert told, name
        assert told <= broken, name
        found |= told
    promised = {name for word in PROMISES for name in properties_of((*SAFE_NEEDS.get(word, ()), word))}
    assert found == promised - set(LIVENESS)


def test_a_step_reads_what_is_new_and_holds_what_is_under_way(grow: Grow, tmp_path: Path) -> None:
    """The lines of an earlier step are gone when the second step comes: it judges by its own state. Lines
    about messages no longer held are left to the judge of whole logs.
    """
    healthy = " ".join(f"+0:{k} 0:{k}" for k in range(1, 400)) + " +0:400 +0:401"
    delivered = " ".join(f"0:{k}" for k in range(1, 400))
    run, held = tmp_path / "run", Held(("causal-order",))
    grow(run, f"0: {healthy} | 1: {delivered}", 1)
    assert held.read_on(run, ends(run)) is not None
    held = stepped(held)
    assert held.window is not None
    assert held.window.size == 2
    grow(run, f"0: {healthy} | 1: {delivered} 0:401 0:400", 1)
    for process, tail in held.tails.items():
        log = run / log_name(process)
        log.write_bytes(b"\n" * tail.at + log.read_bytes()[tail.at :])
    said = held.read_on(run, ends(run))
    assert said is not None
    assert [(name, reason) for name, _, _, reason, _ in said.found] == [
        ("Fifo", "delivered after a message that its source broadcast later"),
        ("Causal", "delivered after a message that it happened before"),
    ]
    grow(run, f"0: {healthy} | 1: {delivered} 0:401 0:400 0:1", 1)
    said = stepped(held).read_on(run, ends(run))
    assert said is not None
    assert {name for name, *_ in said.found} == {"Fifo", "Causal", "UniformIntegrity"}


def test_who_is_silent_while_others_go_on_is_not_waited_for(grow: Grow, tmp_path: Path) -> None:
    """The run is read again if the silent process goes on, and nothing is reported a second time."""
    run, held, text = tmp_path / "run", Held(), "0: +a a +0:2 0:2 +0:3 0:3"
    grow(run, "0: +a a | 1: ", 1)
    assert held.read_on(run, ends(run), 0, 1000) is not None
    grow(run, f"{text} | 1: ", 1)
    assert held.read_on(run, {0: ends(run)[0]}, 5000, 1000) is None
    assert held.gone == {1}
    grow(run, f"{text} +0:4 0:4 | 1: ", 1)
    assert held.read_on(run, {0: ends(run)[0]}, 5001, 1000) is None
    held = stepped(held)
    assert held.window is not None
    assert held.window.size == 0
    grow(run, f"{text} +0:4 0:4 | 1: a 0:3", 1)
    said = held.read_on(run, {1: ends(run)[1]}, 5002, 1000)
    assert said is not None
    assert [name for name, *_ in said.found] == ["UniformPrefixOrder"]
    assert held.gone == set()


def test_what_was_told_is_told_again_only_when_something_else_is_broken(grow: Grow, tmp_path: Path) -> None:
    run, held = tmp_path / "run", Held()
    told = []
    for missing in (5, 4, 3, 2, 1):
        grow(run, "0: +a a a a ?1", missing)
        said = held.read_on(run, ends(run))
        told.append(None if said is None else [name for name, *_ in said.found])
    assert told == [[], None, ["UniformIntegrity"], None, ["UniformIntegrity", "NoViolation"]]


def test_when_all_are_silent_two_ticks_tell_the_time(grow: Grow, tmp_path: Path) -> None:
    grow(tmp_path / "logs" / "a", HEALTHY, 0)
    options = {"path": str(tmp_path / "logs"), "silence_s": "0"}
    reader = GrowingLogs(options).streamReader(GrowingLogs({}).schema())
    start = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    time.sleep(0.01)
    first = reader.latestOffset(start, ReadAllAvailable())
    second = reader.latestOffset(first, ReadAllAvailable())
    assert [offset["ticks"] for offset in (start, first, second)] == [0, 1, 2]
    assert reader.latestOffset(second, ReadAllAvailable()) is second
    ((tick,),) = (list(reader.read(part)) for part in reader.partitions(start, first))
    assert tick[0] == TICK
    grow(tmp_path / "logs" / "b", HEALTHY, 0)
    assert reader.latestOffset(second, ReadAllAvailable())["ticks"] == 0
    nothing = GrowingLogs(options | {"path": str(tmp_path / "none")}).streamReader(GrowingLogs({}).schema())
    assert nothing.latestOffset(nothing.initialOffset(), ReadAllAvailable())["logs"] == {}


def test_offsets_are_sizes_of_logs_and_grow_by_so_many_bytes_at_most(grow: Grow, tmp_path: Path) -> None:
    for name in "ab":
        grow(tmp_path / "logs" / name, HEALTHY, 0)
    reader = GrowingLogs({"path": str(tmp_path / "logs")}).streamReader(GrowingLogs({}).schema())
    begin = reader.initialOffset()
    assert reader.partitions(begin, begin) == []
    few = reader.latestOffset(begin, ReadMaxBytes(100))
    assert sum(size for sizes in few["logs"].values() for size in sizes.values()) == 100
    every = reader.latestOffset(few, ReadAllAvailable())
    assert reader.latestOffset(every, ReadAllAvailable()) is every
    assert every["seen_us"] > few["seen_us"] > 0
    (grown,) = reader.partitions(few, every)
    rows = list(reader.read(grown))
    assert {(run, process, size) for run, process, size, _ in rows} == set(sizes_in(tmp_path / "logs"))
    assert json.loads(json.dumps(every)) == every


@pytest.mark.deep
def test_a_watch_that_is_killed_goes_on_and_loses_and_repeats_nothing(
    grow: Grow, master: str, tmp_path: Path
) -> None:
    """The watch is killed when a step has been written down, and Spark does not know that it was done. The
    promise is one of those that only the judge of logs knows.
    """
    logs, lake = tmp_path / "lo gs", tmp_path / "lake"
    grow(logs / "healthy", HEALTHY, 0)
    grow(logs / "broken", ANSWER_FIRST, 3)
    told: list[Standing] = []
    promise = ("causal-order",)

    def killed(standing: Standing) -> None:
        told.append(standing)
        if len(told) == 2:
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        watch(logs, lake, master=master, once=True, every_s=0.01, promise=promise, tell=killed)
    assert {(each.run, each.standing, each.outcome) for each in told} == {
        ("healthy", OVER, Outcome.HOLDS), ("broken", GOES_ON, Outcome.UNKNOWN),
    }  # fmt: skip
    grow(logs / "broken", ANSWER_FIRST, 1)
    done = watch(logs, lake, master=master, once=True, every_s=0.01, promise=promise, tell=told.append)
    assert [(each.run, each.outcome) for each in told[2:]] == [("broken", Outcome.VIOLATED)]
    assert [name for name, *_ in told[2].found] == ["Causal"]
    assert done.outcome is Outcome.VIOLATED
    assert done.standings == standings_in(Path(done.place))
    assert {each.run: each for each in done.standings} == {each.run: each for each in told}
    files = sorted((Path(done.place) / "verdicts").iterdir())
    assert [file.name for file in files] == ["0000000000.parquet", files[1].name]
    assert len(files) == 2


@pytest.mark.deep
def test_a_folder_that_is_silent_is_told_to_be(grow: Grow, master: str, tmp_path: Path) -> None:
    """No log grows, and yet a step tells it; of another promise in a place of its own."""
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    grow(logs / "run", HEALTHY, 1)
    told: list[Standing] = []
    for promise in ("total-order", "fifo-order"):
        done = watch(
            logs, lake, master=master, once=True, every_s=0.01, silence_s=0.01, promise=(promise,),
            tell=told.append,
        )  # fmt: skip
        assert [each.standing for each in done.standings] == [SILENT]
    assert [each.standing for each in told] == [GOES_ON, SILENT] * 2
    assert len(list((lake / "watched").iterdir())) == 2


def test_what_cannot_be_watched_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="no such directory"):
        watch(tmp_path / "none", tmp_path / "lake")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    assert main(["watch", str(tmp_path), "--lake", str(tmp_path / "full")]) == 64
    assert "not a lake, and not empty" in capsys.readouterr().err
    assert main(["watch", str(tmp_path), "--lake", str(tmp_path / "lake"), "--promise", "peace"]) == 64
    assert "unknown promise 'peace'" in capsys.readouterr().err
    assert main(["watch", str(tmp_path), "--lake", str(tmp_path / "lake"), "--json"]) == 64
    assert "add --once" in capsys.readouterr().err
