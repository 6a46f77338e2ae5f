"""Counts of the events that each property concerns: a property that concerns no event of the logs was not
judged.

1. Counted are events, or pairs of a message and a process, and none if the events could not break the
    property: two processes have to share two messages before their order can differ, and to go from one view
   to the same next one before they can have delivered different messages in it.
2. Crashed processes are counted too: their exemption is part of each definition.
3. One walk over the logs notes what all counts need, in time linear in the events.

This module judges nothing, and knows no property: the table of its service says which count is asked for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Final

from antiphon.conformance.judge import trace
from antiphon.conformance.judge.history.finding import History
from antiphon.conformance.judge.history.machines import is_founded
from antiphon.conformance.judge.history.properties import property_of
from antiphon.spec.services.promises import About


def judged_in(history: History, names: Collection[str]) -> dict[str, int]:
    """Return, for each of these properties, the number of events that it concerns."""
    noted = _Noted(history)
    return {name: COUNTS[property_of(name).about](noted) for name in names}


def nothing_for(name: str) -> str:
    """Return a sentence that says which events the logs would need for a property to be judged."""
    return f"nothing to judge: {property_of(name).nothing}"


class _Noted:
    """Notes about a run, taken in one walk over its logs.

    `first` are the messages that each process delivers, in order, each once; `sources` the messages that
    their sources broadcast, with the process and whether it had delivered anything before; `moves[v, w]` how
    many processes went from view v (None: no view) to w; `founded` is True if all processes are in a view
    from the start.
    """

    def __init__(self, history: History) -> None:
        self.processes = len(history)
        self.founded = is_founded(history)
        self.events = sum(map(len, history))
        self.kinds: Counter[type] = Counter(type(event) for log in history for event in log)
        self.crashed = {p for p, log in enumerate(history) if any(isinstance(e, trace.Crash) for e in log)}
        self.first: list[dict[str, None]] = []
        self.sources: dict[str, tuple[int, bool]] = {}
        self.casts: Counter[int] = Counter()
        self.moves: Counter[tuple[int | None, int]] = Counter()
        self.views: defaultdict[int, int] = defaultdict(int)
        self.deciders: defaultdict[int, set[int]] = defaultdict(set)
        for p, log in enumerate(history):
            self.first.append(self._walk(p, log))

    def _walk(self, p: int, log: Sequence[trace.Event]) -> dict[str, None]:
        delivered: dict[str, None] = {}
        view: int | None = None
        for event in log:
            match event:
                case trace.Deliver(m=m):
                    delivered[m] = None
                case trace.Broadcast(m=m) if m.partition(":")[0] == str(p):
                    self.sources.setdefault(m, (p, bool(delivered)))
                    self.casts[p] += 1
                case trace.Install(view=new):
                    self.views[new] += 1
                    self.moves[view, new] += 1
                    view = new
                case trace.Decide(consensus=number):
                    self.deciders[number].add(p)
                case _:
                    pass
        return delivered

    def of(self, *kinds: type) -> int:
        """Return the number of events of these kinds."""
        return sum(self.kinds[kind] for kind in kinds)

    @cached_property
    def deliverers(self) -> Counter[str]:
        """Return, for each message, the number of processes that deliver it."""
        return Counter(m for delivered in self.first for m in delivered)

    @cached_property
    def shared(self) -> int:
        """Return the number of deliveries of messages that several processes deliver; 0 if no two processes
        share two messages.
        """
        pairs: set[tuple[int, int]] = set()
        by_message: defaultdict[str, list[int]] = defaultdict(list)
        for p, delivered in enumerate(self.first):
            for m in delivered:
                by_message[m].append(p)
        for sharing in by_message.values():
            for pair in combinations(sharing, 2):
                if pair in pairs:
                    return sum(count for count in self.deliverers.values() if count > 1)
                pairs.add(pair)
        return 0

    @property
    def compared(self) -> int:
        """Return the number of deliveries whose number in the total order is also that of a delivery at
        another process.
        """
        lengths = sorted(map(len, self.first), reverse=True)[:2]
        if len(lengths) < 2 or not lengths[1]:
            return 0
        return sum(min(len(delivered), lengths[1]) for delivered in self.first)

    @property
    def in_rows(self) -> int:
        """Return the number of deliveries at processes that deliver several messages; 0 unless there are two
        such processes.
        """
        rows = [len(delivered) for delivered in self.first if len(delivered) > 1]
        return sum(rows) if len(rows) > 1 else 0

    @cached_property
    def of_one_source(self) -> int:
        """Return the number of deliveries at a process that delivers several messages of the same source."""
        return sum(
            count
            for delivered in self.first
            for count in Counter(m.partition(":")[0] for m in delivered).values()
            if count > 1
        )

    @property
    def caused(self) -> int:
        """Return the number of deliveries that causal order concerns: several messages of one source at a
        process, or a message whose source had delivered another before it broadcast this one.
        """
        return self.of_one_source + sum(
            later and m in self.deliverers for m, (_, later) in self.sources.items()
        )

    @property
    def owed(self) -> int:
        """Return the number of pairs of a delivered message and a process that may have to deliver it."""
        return len(self.deliverers) * (self.processes - 1)

    @property
    def together(self) -> int:
        """Return the number of installations of a view by processes that come from the same view, where there
        are several such processes.
        """
        return sum(
            count for (old, _), count in self.moves.items() if count > 1 and (old is not None or self.founded)
        )

    @property
    def later_views(self) -> int:
        """Return the number of installed views after the first view of the run."""
        return len(self.views) if self.founded else max(len(self.views) - 1, 0)

    @property
    def from_before(self) -> int:
        """Return the number of installations by processes that were in a view before."""
        return sum(count for (old, _), count in self.moves.items() if old is not None)

    @property
    def shared_views(self) -> int:
        """Return the number of installations of views that several processes install."""
        return sum(count for count in self.views.values() if count > 1)

    @property
    def shared_decisions(self) -> int:
        """Return the number of decisions in consensuses that several processes decide."""
        return sum(len(deciders) for deciders in self.deciders.values() if len(deciders) > 1)

    @property
    def to_be_suspected(self) -> int:
        """Return the number of pairs of a process that crashes and one that does not."""
        return len(self.crashed) * (self.processes - len(self.crashed))


_Count = Callable[[_Noted], int]


def _of(*kinds: type) -> _Count:
    return lambda noted: noted.of(*kinds)


def _several(kind: type) -> _Count:
    return lambda noted: noted.of(kind) if noted.of(kind) > 1 else 0


COUNTS: Final[Mapping[About, _Count]] = {
    "alarms": _of(trace.Alarm),
    "broadcasts": _of(trace.Broadcast),
    "broadcasts and deliveries": _of(trace.Broadcast, trace.Deliver),
    "broadcasts by their sources": lambda noted: sum(noted.casts.values()),
    "caused deliveries": lambda noted: noted.caused,
    "crashes to suspect": lambda noted: noted.to_be_suspected,
    "datagrams": _of(trace.Send, trace.Receive),
    "decisions": _of(trace.Decide),
    "deliveries": _of(trace.Deliver),
    "deliveries in rows": lambda noted: noted.in_rows,
    "deliveries of one source": lambda noted: noted.of_one_source,
    "deliveries owed": lambda noted: noted.owed,
    "deliveries shared": lambda noted: noted.shared,
    "events": lambda noted: noted.events,
    "handovers": _of(trace.CoreBroadcast, trace.CoreDeliver),
    "places compared": lambda noted: noted.compared,
    "proposals": _of(trace.Propose),
    "proposals and decisions": _of(trace.Propose, trace.Decide),
    "safe indications": _of(trace.Safe),
    "several deliveries": _several(trace.Deliver),
    "several transitions": _several(trace.Transitional),
    "shared decisions": lambda noted: noted.shared_decisions,
    "suspicions": _of(trace.Suspect),
    "transitions": _of(trace.Transitional),
    "views installed": _of(trace.Install),
    "views installed by several": lambda noted: noted.shared_views,
    "views installed from one view": lambda noted: noted.together,
    "views installed from others": lambda noted: noted.from_before,
    "views later than the first": lambda noted: noted.later_views,
}
"""Function that counts the events that a property concerns, by property."""
