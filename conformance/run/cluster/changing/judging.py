"""Judge of the logs and final states of a changing group's processes.

1. The logs are judged as `antiphon verify` judges those of members: view synchrony, the order of each source,
   and one order of all messages where the protocol has one. Logs with numbers for the members are written
     beside the others.
2. Where there is one order, the final states of all processes are the same, agree with the logged delivery at
  each place, and have every message that its sender has seen delivered.
3. The group was founded once.

This module knows no process and no fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import json

from antiphon.conformance.judge.history import FIFO_ORDER, TOTAL_ORDER, RunFindings, judge_run
from antiphon.conformance.judge.trace import load_run
from antiphon.conformance.judge.trace.members import member_logs, numbered
from antiphon.spec.services.views import VIEW_SYNCHRONY

__all__ = ["NUMBERED", "Written", "judged", "lost", "read"]

NUMBERED = "numbered"
"""Directory of the logs whose members have numbers."""


class Written(NamedTuple):
    """Contents of the logs of all members."""

    delivered: dict[str, int]
    """Number of messages that each process has delivered, by its name."""
    places: dict[int, dict[str, str]]
    """Delivery at each place of the order, by process."""
    acknowledged: dict[str, str]
    """Messages that their senders have seen delivered, each with its sender."""
    views: dict[int, dict[tuple[str, ...], str]]
    """Members of each view, with the processes that logged it."""


def read(home: Path) -> Written:
    """Read the logs of all members. A line that was cut off is skipped."""
    written = Written({}, {}, {}, {})
    for path in member_logs(home):
        lines = list(_lines(path))
        if not lines:
            continue
        me, name = lines[0]["member"]["incarnation"], lines[0]["member"]["name"]
        for line in lines[1:]:
            if line["kind"] == "deliver":
                written.delivered[name] = written.delivered.get(name, 0) + 1
                written.places.setdefault(line["number"], {}).setdefault(line["digest"], path.name)
                if line["source"] == me:
                    written.acknowledged[line["digest"]] = f"{name} ({path.name})"
            elif line["kind"] == "view":
                members = tuple(line["members"])
                written.views.setdefault(line["number"], {}).setdefault(members, path.name)
    return written


def judged(home: Path, *, ordered: bool) -> RunFindings:
    """Return the judge's findings about the logs, if there are any.

    Raises:
        MemberLogsError: the logs are invalid.
        OSError: a log cannot be read.
    """
    if not member_logs(home):
        return RunFindings((), ())
    into = home / NUMBERED
    into.mkdir()
    numbered(home, into)
    promises = (VIEW_SYNCHRONY, *((TOTAL_ORDER,) if ordered else ()), FIFO_ORDER)
    return judge_run(load_run(into), promises)


def lost(written: Written, states: Mapping[int, Sequence[str]]) -> tuple[str, ...]:
    """Return the violations that the final states show, for a protocol with one order.

    Args:
        written: the contents of the logs.
        states: the digests of all messages, in their order, of each process that was there at the end.
    """
    states_alone = (*_unequal(states), *_unlike(written, states), *_forgotten(written, states))
    return (*_founded_twice(written), *states_alone)


def _founded_twice(written: Written) -> Iterator[str]:
    firsts = written.views.get(1, {})
    if len(firsts) > 1:
        yield f"the group was founded {len(firsts)} times: {', '.join(sorted(firsts.values()))}"


def _unequal(states: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """Yield a sentence on each process whose final state differs from the first process's, and on each state
    that has a message twice.
    """
    (first, state), *others = states.items() if states else [(0, [])]
    for process, other in others:
        for place, (one, another) in enumerate(zip_longest(state, other), 1):
            if one != another:
                sizes = f"{len(state):,} and {len(other):,} messages"
                yield f"the states of processes {first} and {process} differ at place {place}, of {sizes}"
                break
    for process, state in states.items():
        twice = len(state) - len({*state})
        if twice:
            yield f"the state of process {process} has {twice:,} messages more than once"


def _unlike(written: Written, states: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """Yield a sentence on the first place at which a final state has another message than the logs."""
    for process, state in states.items():
        for place, digest in enumerate(state, 1):
            if digest not in written.places.get(place, {}):
                told = f"has a message at place {place} that nobody delivered there"
                yield f"the state of process {process} {told}"
                break


def _forgotten(written: Written, states: Mapping[int, Sequence[str]]) -> Iterator[str]:
    for process, state in states.items():
        has = {*state}
        missing = [whose for digest, whose in written.acknowledged.items() if digest not in has]
        if missing:
            told = f"{len(missing):,} messages that their senders have seen delivered, one of {missing[0]}"
            yield f"the state of process {process} lacks {told}"


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().split(b"\n")[:-1]:
        yield json.decode(line, type=dict[str, Any])
