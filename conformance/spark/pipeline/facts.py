"""Facts about the logs of a run as a whole, computed while they are read, one bit a fact.

They cannot be computed in one pass over rows that are sorted by message. A false fact never means a
violation: it only makes the run a suspect where the fact is needed. `scan` uses them. This module reads no
file, and writes no verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Final, NamedTuple

import numpy as np

from antiphon.conformance.judge.trace import RESULTS, Contents
from antiphon.conformance.spark.pipeline.columns import (
    CODES,
    COUNT,
    HIGH,
    LOW,
    NUMBER,
    SOURCE,
    Bools,
    Columns,
    Longs,
)


class Fact(IntFlag):
    """A fact about a run."""

    SOUND = 1
    """No log has a fault. There is a correct process, and each correct one delivers as many messages as any
    process. Messages are unaltered between application and protocol, numbers grow, and there are no other
    events than messages, datagrams, crashes and ends. With datagrams, every effect has a cause before it.
    """
    SENDERS_ORDER = 2
    """Each process broadcasts in the order of its identifiers, and all processes deliver each source's
    messages in that order.
    """
    COMPARED = 8
    """Two processes deliver the same two messages, if the run is sound."""
    OF_ONE_SOURCE = 16
    """A process delivers two messages of one source."""


COUNTS: Final = (
    "broadcasts", "deliveries", "owed", "compared", "shared", "in_rows", "of_one_source", "answers",
    "datagrams", "core",
)  # fmt: skip
"""Names of the counts of each run (`Facts.counts`)."""
_SOURCES: Final = 1 << 32
_ORDER_MAX: Final = 10_000_000
"""Largest number of causes and effects of a log that are kept for the merge."""
_UNTAKEN_MAX: Final = 1_000
"""Largest number of broadcasts that no protocol takes; with more a log is the application's side alone."""

_BROADCAST, _DELIVER, _CORE_BROADCAST, _CORE_DELIVER, _SEND, _RECEIVE, _CRASH, _END = (
    CODES[kind]
    for kind in (
        "broadcast", "deliver", "core-broadcast", "core-deliver", "send", "receive", "crash", "end",
    )
)  # fmt: skip


def _table(*codes: int) -> Bools:
    """Return a mask of these kinds of events, with an entry for each kind."""
    return np.isin(np.arange(len(CODES)), codes)


_OF_MESSAGES: Final = _table(_BROADCAST, _DELIVER, _CORE_BROADCAST, _CORE_DELIVER)
_RESULTS: Final = {CODES[str(kind.__struct_config__.tag)] for kind in RESULTS}
_LEAVES: Final = {_CRASH, CODES["recover"]}
_NAMED: Final = _OF_MESSAGES | _table(_SEND, _RECEIVE)
_CORE: Final = {_CORE_BROADCAST, _CORE_DELIVER}
_DATAGRAMS: Final = {_SEND, _RECEIVE}
_KNOWN: Final = {_BROADCAST, _DELIVER, _CRASH, _END} | _CORE | _DATAGRAMS
_CAUSES: Final = {_BROADCAST: 1, _DELIVER: 2, _SEND: 3, _RECEIVE: 4}
_CAUSALITY: Final = np.array([_CAUSES.get(code, 0) for code in range(len(CODES))], np.int64)
"""For each kind of event: 1 broadcast, 2 deliver (its effect), 3 send, 4 receive (its effect), else 0."""


@dataclass
class _Handover:
    """Check of the messages that one side of a process hands to the other. The other side must take them in
    order, with equal content, and none before it is handed over. `waiting` are those under way, a row for
    each field of the content and a column for each message.
    """

    words: tuple[int, ...]
    sound: bool = True
    taken: int = 0
    waiting: Longs = field(default_factory=lambda: np.zeros((0, 0), np.int64))

    def note(self, values: Longs, handed: Bools, taken: Bools) -> None:
        """Process events; the masks `handed` and `taken` say which of them hand a message over and which take
        one.
        """
        waiting = values[list(self.words)][:, handed]
        if self.waiting.size:
            waiting = np.concatenate([self.waiting, waiting], axis=1)
        if taken.any():
            under_way = self.waiting.shape[1] if self.waiting.size else 0
            before = under_way + np.cumsum(handed)[taken]
            many = len(before)
            self.taken += many
            self.sound &= bool((before >= np.arange(1, many + 1)).all()) and np.array_equal(
                waiting[:, :many], values[list(self.words)][:, taken]
            )
            waiting = waiting[:, many:]
        self.waiting = waiting

    @property
    def over(self) -> bool:
        """Return True if every message was taken as it was handed over, and none is under way."""
        return self.sound and not self.waiting.size


class LogFacts:
    """Facts about one log, computed as its events are read."""

    def __init__(self, process: int) -> None:
        self.process = process
        self.kinds: set[int] = set()
        """The kinds of the events so far."""
        self.deliveries = self.broadcasts = 0
        self.named = self.rising = self.senders_order = True
        self.order: list[Longs] = []
        """A row of numbers for each event that is a cause or an effect, as `_is_causal` reads them."""
        self.ordered = 0
        self.last_number = 0
        self.last_counts: dict[tuple[int, int], int] = {}
        self.of_sources: Counter[int] = Counter()
        """The number of deliveries of each source."""
        self.answers = self.datagrams = self.core = self.events = 0
        """Numbers of events: broadcasts after a delivery, datagrams, events of the protocol, and all."""
        self.down = _Handover((SOURCE, COUNT, HIGH, LOW))
        self.up = _Handover((SOURCE, COUNT, NUMBER, HIGH, LOW))
        self.alone = False
        """True if the log has the application's events without the protocol's."""

    @property
    def crashed(self) -> bool:
        """Return True if the process has crashed."""
        return _CRASH in self.kinds

    def _note(self, events: _Events, begin: int, end: int) -> None:
        """Process the events from index `begin` to `end`."""
        kinds = events.kinds[begin:end]
        self.kinds.update(kinds)
        self.events += end - begin
        if _DATAGRAMS & self.kinds:
            self.datagrams += sum(map(kinds.count, _DATAGRAMS))
        if _CORE & self.kinds:
            self.core += sum(map(kinds.count, _CORE))
        self.named &= not events.misnamed[begin:end].any()
        numbers = events.numbers[events.delivered_before[begin] : events.delivered_before[end]]
        if len(numbers):
            self.rising &= int(numbers[0]) > self.last_number and bool((numbers[1:] > numbers[:-1]).all())
            self.last_number = int(numbers[-1])
        if self.ordered <= _ORDER_MAX:
            order = events.order[events.ordered_before[begin] : events.ordered_before[end]]
            self.order.append(order)
            self.ordered += len(order)
        before = self.deliveries
        self._note_counts(kinds, events.sources[begin:end], events.counts[begin:end], before)
        self.deliveries = int(events.position[end - 1])
        self._note_handover(events.columns, kinds, slice(begin, end))

    def _note_counts(self, kinds: bytes, sources: list[int], counts: list[int], delivered: int) -> None:
        """Check that the identifiers of each source grow from event to event."""
        last, process = self.last_counts, self.process
        for kind, source, count in zip(kinds, sources, counts, strict=True):
            if kind == _BROADCAST and source == process:
                self.broadcasts += 1
                self.answers += delivered > 0
            elif kind == _DELIVER:
                delivered += 1
                self.of_sources[source] += 1
            if kind == _DELIVER or (kind == _BROADCAST and source == process):
                if count <= last.get((kind, source), -1):
                    self.senders_order = False
                last[kind, source] = count

    def _note_handover(self, columns: Columns, kinds: bytes, events: slice) -> None:
        if not _CORE & self.kinds:
            # Where the protocol comes so late, something has been altered on the way.
            self.alone |= _DELIVER in kinds
            if self.alone:
                return
        elif self.alone:
            self.down.sound = False
        kind, values = columns.kind[events], columns.values[:, events]
        self.down.note(values, kind == _BROADCAST, kind == _CORE_BROADCAST)
        if _CORE & self.kinds:
            self.up.note(values, kind == _CORE_DELIVER, kind == _DELIVER)
        else:
            self.alone = self.down.waiting.shape[1] > _UNTAKEN_MAX

    @property
    def handed_over(self) -> bool:
        """Return True if application and protocol exchanged the same messages, and none is under way at the
        end.
        """
        return not _CORE & self.kinds or (self.down.over and self.up.over)


class _Events(NamedTuple):
    """Events of several logs, with values computed for all of them at once, since most logs are short.
    `delivered_before` and `ordered_before` count from the first event of the first log.
    """

    columns: Columns
    kinds: bytes
    sources: list[int]
    counts: list[int]
    position: Longs
    misnamed: Bools
    numbers: Longs
    delivered_before: list[int]
    order: Longs
    ordered_before: list[int]


def note(columns: Columns, logs: Sequence[tuple[LogFacts, int]]) -> Longs:
    """Process events of several logs. `logs` has, for each log, its facts and the number of its events.
    Return, for each event, the number of deliveries up to it in its log.
    """
    kind, values = columns.kind, columns.values
    delivered, causality = kind == _DELIVER, _CAUSALITY[kind]
    order = values[[SOURCE, COUNT]].T
    order[:, 0] += causality * _SOURCES
    delivered_before = [0, *np.cumsum(delivered).tolist()]
    sizes = [size for _, size in logs]
    begins = np.cumsum([0, *sizes[:-1]]).tolist()
    earlier = [log.deliveries - delivered_before[begin] for (log, _), begin in zip(logs, begins, strict=True)]
    misnamed = (
        (_NAMED[kind] & ~columns.valid[SOURCE])
        | (_OF_MESSAGES[kind] & ~columns.valid[HIGH])
        | (values[SOURCE] >= _SOURCES)
    )
    for at in columns.others.get("members", ()):
        misnamed[at] |= kind[at] == _BROADCAST  # it is not for all
    events = _Events(
        columns,
        kind.tobytes(),
        values[SOURCE].tolist(),
        values[COUNT].tolist(),
        np.array(delivered_before[1:]) + np.repeat(earlier, sizes),
        misnamed,
        values[NUMBER][delivered],
        delivered_before,
        order[causality > 0],
        [0, *np.cumsum(causality > 0).tolist()],
    )
    for (log, size), begin in zip(logs, begins, strict=True):
        log._note(events, begin, begin + size)
    return events.position


class Facts:
    """Facts about all logs of one run together."""

    def __init__(self) -> None:
        self.logs: list[LogFacts] = []

    def log(self, process: int) -> LogFacts:
        """Return the facts of another log, of this process."""
        self.logs.append(LogFacts(process))
        return self.logs[-1]

    @property
    def deliveries(self) -> int:
        """Return the largest number of deliveries of a log."""
        return max((log.deliveries for log in self.logs), default=0)

    def contents(self, *, may_be_less: bool) -> Contents:
        """Return counts: of kinds of results, of broadcasts; `may_be_less` is True if a log has a fault."""
        kinds = set[int]().union(*(log.kinds for log in self.logs))
        return Contents(
            results=len(kinds & _RESULTS),
            broadcasts=sum(log.broadcasts for log in self.logs),
            may_be_less=may_be_less or bool(kinds & _LEAVES),
        )

    def of_run(self, faults: int) -> Fact:
        """Return the facts about this run; no facts if its logs have faults."""
        if faults or not self._are_sound():
            return Fact(0)
        facts = Fact.SOUND
        if all(log.senders_order for log in self.logs):
            facts |= Fact.SENDERS_ORDER
        counts = self.counts()
        if counts["shared"]:
            facts |= Fact.COMPARED
        if counts["of_one_source"]:
            facts |= Fact.OF_ONE_SOURCE
        return facts

    def counts(self) -> dict[str, int]:
        """Return the numbers of events of a run that each property concerns (`COUNTS`), if it is healthy, so
        that a message has one place in all logs.
        """
        lengths = [log.deliveries for log in self.logs]
        second = sorted([0, 0, *lengths])[-2]
        compared = sum(min(length, second) for length in lengths) if second else 0
        rows = [length for length in lengths if length > 1]
        return {
            "broadcasts": sum(log.broadcasts for log in self.logs),
            "deliveries": sum(lengths),
            "owed": self.deliveries * (len(self.logs) - 1),
            "compared": compared,
            "shared": compared if second > 1 else 0,
            "in_rows": sum(rows) if len(rows) > 1 else 0,
            "of_one_source": sum(
                count for log in self.logs for count in log.of_sources.values() if count > 1
            ),
            "answers": sum(log.answers for log in self.logs),
            "datagrams": sum(log.datagrams for log in self.logs),
            "core": sum(log.core for log in self.logs),
        }

    @property
    def kinds(self) -> int:
        """Return the kinds of all events, a bit each by their numbers."""
        return sum(1 << kind for kind in set[int]().union(*(log.kinds for log in self.logs)))

    def _are_sound(self) -> bool:
        return (
            any(not log.crashed for log in self.logs)
            and all(log.crashed or log.deliveries == self.deliveries for log in self.logs)
            and all(log.rising and log.handed_over and log.named for log in self.logs)
            and not any(log.kinds - _KNOWN for log in self.logs)
            and (not any(log.kinds & _DATAGRAMS for log in self.logs) or self._is_causal())
        )

    def _is_causal(self) -> bool:
        """Return True if the logs can be merged so that the cause of each event comes before it, in time
        linear in the events.
        """
        if any(log.ordered > _ORDER_MAX for log in self.logs):
            return False
        known: set[tuple[int, int]] = set()
        waiting: dict[tuple[int, int], list[int]] = {}
        rows = {log.process: _rows(log.order) for log in self.logs}
        at: dict[int, tuple[int, int] | None] = {process: next(told, None) for process, told in rows.items()}
        ready = list(rows)
        while ready:
            process = ready.pop()
            row = at[process]
            while row is not None:
                what, source = divmod(row[0], _SOURCES)
                if what in (2, 4):
                    cause = (row[0] - _SOURCES, row[1])
                    if cause not in known:
                        waiting.setdefault(cause, []).append(process)
                        break
                elif source == process:
                    known.add(row)
                    ready += waiting.pop(row, ())
                row = next(rows[process], None)
            at[process] = row
        return not waiting


def _rows(order: list[Longs]) -> Iterator[tuple[int, int]]:
    for part in order:
        yield from map(tuple, part.tolist())
