"""Spark and plain Python say the same of random histories and random damage: verdicts, names and places."""

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from pyarrow.parquet import read_table
from tests.judge.history.known import PROMISES

from antiphon.conformance.judge.history import TOTAL_ORDER, judge_run, properties_of
from antiphon.conformance.judge.trace import LINE_BYTES_MAX, load_run
from antiphon.conformance.spark.pipeline import ingest, verify
from antiphon.conformance.spark.pipeline.lake import batches_of
from antiphon.conformance.spark.pipeline.scan import facts_for

Told = Callable[..., dict[str, dict[str, tuple[object, ...]]]]

CHANGES = ["repeat", "gap", "swap", "unknown", "payload", "crash", "forge", "datagram", "number"]
MESSAGES = ["0:1", "0:2", "1:1", "1:2", "2:1", "2:2"]


@st.composite
def histories(draw: st.DrawFn) -> str:
    """Start from a healthy run and do a few things that logs of broken protocols show."""
    processes = draw(st.integers(1, 4))
    theirs = [message for message in MESSAGES if int(message[0]) < processes]
    order = draw(st.permutations(theirs))[: draw(st.integers(2, 6))]
    if draw(st.booleans()):
        counted = {source: iter(sorted(m for m in order if m[0] == source)) for source in "012"}
        order = [next(counted[m[0]]) for m in order]
    logs = [[f"+{m}" for m in order if m[0] == str(p)] + list(order) for p in range(processes)]
    for _ in range(draw(st.integers(0, 3))):
        log = logs[draw(st.integers(0, len(logs) - 1))]
        at = draw(st.integers(0, max(len(log) - 1, 0)))
        change = draw(st.sampled_from(CHANGES))
        if change == "repeat" and log:
            log.append(log[at])
        elif change == "gap" and log:
            del log[at]
        elif change == "swap" and len(log) > 1:
            log[at - 1], log[at] = log[at], log[at - 1]
        elif change == "unknown":
            log.insert(at, draw(st.sampled_from(["0:9", "7:1", "2:2"])))
        elif change == "payload" and log and log[at][-1].isdigit() and not set(log[at]) & set("=#<>"):
            log[at] += "=x"
        elif change == "crash" and "!" not in log:
            log.append("!")
        elif change == "forge":
            log.insert(at, "+" + draw(st.sampled_from(MESSAGES)))
        elif change == "datagram":
            log.insert(at, draw(st.sampled_from(["0:1>1", "<0:1", "1:1>0", "<1:1"])))
        elif change == "number" and log and log[at].replace(":", "").partition("#")[0].isdigit():
            log[at] = log[at].partition("#")[0] + "#1"
    return " | ".join(f"{p}: {' '.join(log)}" for p, log in enumerate(logs))


PROMISED = {
    "total order": [TOTAL_ORDER],
    "one view": [
        TOTAL_ORDER, "extended-virtual-synchrony", "safe-delivery", "weak-total-order",
        "reliable-total-order", "extended-total-order", "agreement-on-successors", "consensus",
    ],
    "senders' order": [
        TOTAL_ORDER, "fifo-order", "causal-order", "reliable-fifo-order", "reliable-causal-order",
    ],
    "no crash": [
        TOTAL_ORDER, "virtual-synchrony", "safe-delivery", "stable-views", "perfect-detector",
        "eventually-perfect-detector", "strong-detector", "eventually-strong-detector", "active-detector",
        "passive-detector",
    ],
    "indications": ["view-synchrony", "causal-order", "safe-indications"],
    "parts": ["partitionable-synchrony"],
    "no order": ["reliable-broadcast"],
    "deliveries": ["no-duplication", "uniform-total-order", "prefix-order"],
}  # fmt: skip
"""Promises that are judged together, by their needs of a run beside the pass."""

VIEW_WORDS = ["[2=012]", "[2=01]", "[3=2]", "[012]", "[01]", "!"]
OTHER_WORDS = ["^", "+0:1@01", "*0:1", "*1:1", "1?x", "1!x", "1!y", "-1", "=1", "-"]


@st.composite
def histories_with_views(draw: st.DrawFn) -> str:
    """Start from such a run, in up to three views, and do what views, detectors and consensus show."""
    logs = [part.split(": ")[1].split() for part in draw(histories()).split(" | ")]
    order = draw(st.permutations(["[2=0123]", "[3=0123]"]))
    for log in logs:
        for word in order if draw(st.integers(0, 3)) else []:
            log.insert(draw(st.integers(0, len(log))), word)
    for _ in range(draw(st.integers(0, 4))):
        log = logs[draw(st.integers(0, len(logs) - 1))]
        log.insert(draw(st.integers(0, len(log))), draw(st.sampled_from(VIEW_WORDS + OTHER_WORDS)))
    return " | ".join(f"{p}: {' '.join(log)}" for p, log in enumerate(logs))


# One Spark job judges many histories, so one example is enough; the simplest, all alike, is passed over.
ONE = settings(
    max_examples=1, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
)


def hurt(path: Path, how: str, chance: random.Random) -> None:
    """Damage a log as crashes, full disks and careless hands do."""
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    at = chance.randrange(len(lines)) if lines else 0
    if how == "missing" or not lines:
        path.unlink(missing_ok=True)
        return
    if how == "cut":
        data = data[: chance.randrange(len(data))]
    elif how == "flip":
        place = chance.randrange(len(data))
        data = data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]
    elif how == "edit":
        old, new = chance.choice(
            [
                (b'"version":1', b'"version":2'),
                (b'"processes":', b'"processes":1'),
                (b'"process":', b'"process":1'),
                (b"antiphon.trace", b"other"),
                (b'"seed":1', b'"seed":2'),
                (b'"i":', b'"i":-'),
                (b'"i":', b'"i":"x'),
                (b'"kind":"deliver"', b'"kind":"seize"'),
                (b'"m":', b'"n":'),
                (b'"number":', b'"number":null,"x":'),
            ]
        )
        data = data.replace(old, new, 1)
    else:
        lines[at : at + 1] = {
            "lose": [],
            "double": [lines[at]] * 2,
            "garbage": [b"\xff\x00\xfe{\r\n", lines[at]],
            "blank": [b"\n", lines[at]],
            "late": [lines[-1], lines[at]],
            "joined": [lines[at].rstrip(b"\n")],
            "long": [lines[at].rstrip(b"}\n") + b" " * LINE_BYTES_MAX + b"}\n"],
            "mark": [b"\xef\xbb\xbf" + lines[at]],
            "return": [lines[at].rstrip(b"\n") + b"\r\n"],
            "twice": [lines[at].replace(b'"i":', b'"i":9,"i":')],
            "large": [lines[at].replace(b'"i":', b'"i":922337203685477580')],
            "null": [lines[at].replace(b'"m":"', b'"m":"\x00')],
            "surrogate": [lines[at].replace(b'"m":"', rb'"m":"\ud800')],
            "loaded": [lines[at].rstrip(b"}\n") + b',"extra":{"a":[1]}}\n'],
        }[how]
        data = b"".join(lines)
    path.write_bytes(data)


HARM = [
    "missing", "cut", "flip", "edit", "lose", "double", "garbage", "blank", "late", "joined", "loaded",
    "long", "mark", "return", "twice", "large", "null", "surrogate",
]  # fmt: skip


def compare(lake: Path, root: Path, master: str, told: Told, promise: Sequence[str]) -> set[str]:
    """Suspects of a verification; asserts equal verdicts on suspects, and that every other run keeps
    everything.
    """
    report = verify(lake, master, promise)
    found = told(lake, promise)
    violated: Counter[str] = Counter()
    much = dict.fromkeys(properties_of(promise), 0)
    for run in root.glob("run-*"):
        judged = judge_run(load_run(run), promise)
        expected = {
            f.property: (judged.outcome(f), f.offending, f.reason, f.first, f.second) for f in judged.findings
        }
        holding = dict.fromkeys(expected, ("holds", 0, None, None, None))
        assert found.get(run.name, holding) == expected, (run.name, promise)
        violated.update(name for name, verdict in expected.items() if verdict[0] == "violated")
        for finding in judged.findings:
            much[finding.property] += finding.judged
    assert report.suspects == len(found)
    assert report.judged == much
    assert {
        name: counts["violated"] for name, counts in report.counts.items() if counts["violated"]
    } == violated
    return set(found)


@pytest.mark.deep
@ONE
@given(
    st.lists(histories(), min_size=90, max_size=90),
    st.lists(histories_with_views(), min_size=30, max_size=30),
    st.integers(0, 2**32),
)
def test_a_lake_says_of_every_run_what_plain_python_says_of_it(
    master: str,
    write_run: Callable[[Path, str], None],
    told: Told,
    plain: list[str],
    views: list[str],
    seed: int,
) -> None:
    """Promises and histories are random; every second history is damaged too."""
    assume(len({*plain, *views}) > 60)
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as scratch:
        root, lake = Path(scratch), Path(scratch) / ".lake"
        for k, text in enumerate(plain + views):
            write_run(root / f"run-{k}", text)
            for _ in range(chance.randrange(1, 3) if k % 2 else 0):
                logs = sorted((root / f"run-{k}").iterdir())
                if logs:
                    hurt(chance.choice(logs), chance.choice(HARM), chance)
        ingest([root], lake, master)
        problems = [problem for run in root.glob("run-*") for problem in load_run(run).problems]
        (batch,) = batches_of(lake)
        faults = read_table(batch.directory / "quarantine").to_pylist()
        located = sorted((row["path"], row["line"], row["reason"]) for row in faults)
        assert located == sorted((str(problem.path), problem.line, problem.reason) for problem in problems)
        assert all(len(problem.reason) <= 200 for problem in problems)
        suspects = {name: compare(lake, root, master, told, promise) for name, promise in PROMISED.items()}
    assert suspects["deliveries"] == suspects["total order"] <= suspects["senders' order"]
    assert len(plain + views) - len(suspects["senders' order"]) > 2
    for words in ("one view", "no crash", "indications"):
        assert len(suspects[words]) == len(plain + views)


def test_every_promise_is_judged_beside_those_that_need_the_same_of_a_run() -> None:
    """A promise of another set never makes a run a suspect."""
    needs = {name: facts_for(properties_of(words)) for name, words in PROMISED.items()}
    for word in PROMISES:
        beside = [word] if word != "safe-delivery" else ["extended-virtual-synchrony", word]
        alone = facts_for(properties_of(beside))
        assert alone in [needs[name] for name, words in PROMISED.items() if word in words], word
