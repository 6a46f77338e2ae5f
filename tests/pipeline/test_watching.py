"""Logs that grow are judged as they grow: at once, exactly once, whatever stops the watch in between.

What is noticed early is tested in tests/history/test_early.py, how a growing log is read in
tests/trace/test_tail.py.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes

from antiphon.conformance.cli import main
from antiphon.conformance.pipeline import InputError, Standing, watch
from antiphon.conformance.pipeline.growing import TICK, GrowingLogs, sizes_in
from antiphon.conformance.pipeline.watching import GOES_ON, OVER, SILENT, standings_in
from antiphon.conformance.pipeline.watching import _Watched as Held
from antiphon.conformance.trace import log_name
from antiphon.model.verdict import Outcome

WriteRun = Callable[[Path, str], None]
Grow = Callable[[Path, str, int], None]

BROKEN = "0: +a a b | 1: +b b a"
HEALTHY = "0: +a a b | 1: +b a b"


@pytest.fixture
def grow(write_run: WriteRun, tmp_path: Path) -> Grow:
    """Let the logs of a run grow to those of a history, but for so many lines at the end of each."""

    def write(run: Path, text: str, missing: int = 0) -> None:
        whole = tmp_path / "whole" / run.name / str(missing)
        write_run(whole, text)
        run.mkdir(parents=True, exist_ok=True)
        for log in whole.iterdir():
            lines = log.read_bytes().splitlines(keepends=True)
            (run / log.name).write_bytes(b"".join(lines[: len(lines) - missing]))

    return write


def ends(run: Path) -> dict[int, int]:
    return {process: size for _, process, size in sizes_in(run)}


def stepped(held: Held) -> Held:
    """As the next step finds it."""
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
    assert (held.early, len(msgspec.json.encode(held)) < 400) == (None, True)


def test_a_log_that_has_not_begun_keeps_no_violation_back(grow: Grow, tmp_path: Path) -> None:
    run, held = tmp_path / "run", Held()
    grow(run, "0: +a a a | 1: a", 1)
    (run / log_name(1)).unlink()
    said = held.read_on(run, ends(run))
    assert said is not None
    assert (said.outcome, said.found[0][0]) == (Outcome.VIOLATED, "UniformIntegrity")


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
    assert held.early is None
    grow(run, HEALTHY, 0)
    with_one_log = {1: ends(run)[1]}
    held = stepped(held)
    assert held.read_on(run, with_one_log) is not None, "it goes on"
    over = held.read_on(run, {0: ends(run)[0]})
    assert over is not None
    assert (over.standing, over.outcome, over.found) == (OVER, Outcome.HOLDS, ())


def test_another_promise_is_told_as_it_is_broken_and_no_total_order_is_asked_for(
    grow: Grow, tmp_path: Path
) -> None:
    """Of what is not noticed early, the judge is asked whenever the logs have doubled."""
    run, held = tmp_path / "run", Held(("fifo-order",))
    grow(run, "0: +a +0:2 a 0:2 | 1: +b b a 0:2 | 2: b 0:2 a", 2)
    said = held.read_on(run, ends(run))
    assert said is not None
    assert (said.outcome, said.found) == (Outcome.UNKNOWN, ())
    held = stepped(held)
    grow(run, "0: +a +0:2 a 0:2 | 1: +b b a 0:2 | 2: b 0:2 a", 1)
    said = held.read_on(run, ends(run))
    assert said is not None
    assert [name for name, *_ in said.found] == ["Fifo"]

    viewed, views = tmp_path / "viewed", Held(("virtual-synchrony",))
    text = "0: [1=01] +a a [2=1] | 1: [1=01] a [2=1]"
    grow(viewed, text, 1)
    said = views.read_on(viewed, ends(viewed))
    assert said is not None
    assert (said.standing, said.outcome) == (GOES_ON, Outcome.VIOLATED)
    assert "SelfInclusion" in {name for name, *_ in said.found}


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


def test_a_watch_that_is_killed_goes_on_and_loses_and_repeats_nothing(
    grow: Grow, master: str, tmp_path: Path
) -> None:
    """It is killed when a step has been written down, and Spark does not know that it was done."""
    logs, lake = tmp_path / "lo gs", tmp_path / "lake"
    grow(logs / "healthy", HEALTHY, 0)
    grow(logs / "broken", BROKEN, 3)
    told: list[Standing] = []

    def killed(standing: Standing) -> None:
        told.append(standing)
        if len(told) == 2:
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        watch(logs, lake, master=master, once=True, every_s=0.01, tell=killed)
    assert {(each.run, each.standing, each.outcome) for each in told} == {
        ("healthy", OVER, Outcome.HOLDS), ("broken", GOES_ON, Outcome.UNKNOWN),
    }  # fmt: skip
    grow(logs / "broken", BROKEN, 1)
    done = watch(logs, lake, master=master, once=True, every_s=0.01, tell=told.append)
    assert [(each.run, each.outcome) for each in told[2:]] == [("broken", Outcome.VIOLATED)]
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
