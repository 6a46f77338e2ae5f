"""How much of a history each property is about: a property that nothing in the logs is about was not judged.

1. Counted are events, or pairs of a message and a process, and none where what is there could not break the
   property: two processes have to share two messages before their order can differ, and to go from one view
   to the same next one before they can have delivered different messages in it.
2. Who crashes is counted like everybody else: that nothing is owed to it is a part of each definition.
3. One walk over the logs notes what all counts need, in time linear in the events.

This module judges nothing, and knows of each property no more than which events it speaks of.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Final

from antiphon.conformance.judge import trace
from antiphon.conformance.judge.history.finding import (
    AGREEMENT,
    AGREEMENT_ON_SUCCESSORS,
    ALARM_ACCURACY,
    ALARM_COMPLETENESS,
    BROADCAST_ONCE,
    CAUSAL,
    CAUSALITY,
    CONSENSUS,
    DATAGRAM_INTEGRITY,
    EVENTUAL_STRONG_ACCURACY,
    EVENTUAL_WEAK_ACCURACY,
    EXTENDED_TOTAL_ORDER,
    FAILURE_ATOMICITY,
    FIFO,
    HANDOVER,
    INITIAL_VIEW,
    LOCAL_MONOTONICITY,
    NO_DUPLICATION,
    NO_VIOLATION,
    PRIMARY_PARTITION,
    RELIABLE_CAUSAL,
    RELIABLE_FIFO,
    RELIABLE_TOTAL_ORDER,
    SAFE_DELIVERY,
    SAFE_INDICATIONS,
    SAME_VIEW_DELIVERY,
    SELF_INCLUSION,
    SENDING_VIEW_DELIVERY,
    STABLE_VIEWS,
    STRONG_ACCURACY,
    STRONG_COMPLETENESS,
    TRANSITIONAL_SET,
    UNIFORM_AGREEMENT,
    UNIFORM_DELIVERY,
    UNIFORM_GLOBAL_ORDER,
    UNIFORM_INTEGRITY,
    UNIFORM_NUMBERING,
    UNIFORM_PREFIX_ORDER,
    UNIFORM_TOTAL_ORDER,
    VALIDITY,
    VIEW_AGREEMENT,
    VIEW_SYNCHRONY,
    VSC_TERMINATION,
    VSC_VALIDITY,
    WEAK_ACCURACY,
    WEAK_COMPLETENESS,
    WEAK_TOTAL_ORDER,
    History,
)
from antiphon.conformance.judge.history.machines import is_founded


def judged_in(history: History, names: Collection[str]) -> dict[str, int]:
    """Count of each of these properties what it is about."""
    noted = _Noted(history)
    return {name: _COUNTS[name](noted) for name in names}


def nothing_for(name: str) -> str:
    """Say what the logs would have to hold for a property to be judged."""
    return f"nothing to judge: {_LACKING.get(name, 'no event that it is about')}"


class _Noted:
    """What stands in the logs.

    `first` are the messages that each process delivers, in order, each once; `sources` the messages that
    their sources broadcast, with the process and whether it had delivered anything before; `moves` how many
    processes went from one view to another, by both, None for no view installed before; `founded`: all are in
    a view from the start.
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
        """How many events of these kinds there are."""
        return sum(self.kinds[kind] for kind in kinds)

    @cached_property
    def deliverers(self) -> Counter[str]:
        """How many processes deliver each message."""
        return Counter(m for delivered in self.first for m in delivered)

    @cached_property
    def shared(self) -> int:
        """Deliveries of messages that several processes deliver; none if no two share two messages."""
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
        """Deliveries at places to which another process comes too."""
        lengths = sorted(map(len, self.first), reverse=True)[:2]
        if len(lengths) < 2 or not lengths[1]:
            return 0
        return sum(min(len(delivered), lengths[1]) for delivered in self.first)

    @property
    def in_rows(self) -> int:
        """Deliveries of processes that deliver several messages, where there are two such processes."""
        rows = [len(delivered) for delivered in self.first if len(delivered) > 1]
        return sum(rows) if len(rows) > 1 else 0

    @cached_property
    def of_one_source(self) -> int:
        """Deliveries of messages of whose source the process delivers several."""
        return sum(
            count
            for delivered in self.first
            for count in Counter(m.partition(":")[0] for m in delivered).values()
            if count > 1
        )

    @property
    def caused(self) -> int:
        """Those, and delivered messages whose source had delivered another before it broadcast them."""
        return self.of_one_source + sum(
            later and m in self.deliverers for m, (_, later) in self.sources.items()
        )

    @property
    def owed(self) -> int:
        """Pairs of a message that is delivered and another process, to which it may be owed."""
        return len(self.deliverers) * (self.processes - 1)

    @property
    def together(self) -> int:
        """Installations of a view by processes that come from one view, of which there are several."""
        return sum(
            count
            for (old, _), count in self.moves.items()
            if count > 1 and (old is not None or self.founded)
        )

    @property
    def later_views(self) -> int:
        """Views after the first."""
        return len(self.views) if self.founded else max(len(self.views) - 1, 0)

    @property
    def from_before(self) -> int:
        """Installations by processes that were in a view before."""
        return sum(count for (old, _), count in self.moves.items() if old is not None)

    @property
    def shared_views(self) -> int:
        """Installations of views that several processes install."""
        return sum(count for count in self.views.values() if count > 1)

    @property
    def shared_decisions(self) -> int:
        """Decisions of consensuses that several processes decide."""
        return sum(len(deciders) for deciders in self.deciders.values() if len(deciders) > 1)

    @property
    def to_be_suspected(self) -> int:
        """Pairs of a process that crashes and one that does not."""
        return len(self.crashed) * (self.processes - len(self.crashed))


_DELIVER, _BROADCAST, _INSTALL = trace.Deliver, trace.Broadcast, trace.Install
_Count = Callable[[_Noted], int]


def _of(*kinds: type) -> _Count:
    return lambda noted: noted.of(*kinds)


def _casts(noted: _Noted) -> int:
    return sum(noted.casts.values())


def _suspicions(noted: _Noted) -> int:
    return noted.of(trace.Suspect)


_COUNTS: Final[Mapping[str, _Count]] = {
    BROADCAST_ONCE: _of(_BROADCAST),
    VALIDITY: _casts,
    UNIFORM_INTEGRITY: _of(_DELIVER),
    NO_DUPLICATION: _of(_DELIVER),
    UNIFORM_AGREEMENT: lambda noted: noted.owed,
    AGREEMENT: lambda noted: noted.owed,
    UNIFORM_TOTAL_ORDER: lambda noted: noted.shared,
    UNIFORM_PREFIX_ORDER: lambda noted: noted.compared,
    UNIFORM_GLOBAL_ORDER: lambda noted: noted.in_rows,
    UNIFORM_NUMBERING: lambda noted: noted.of(_DELIVER) if noted.of(_DELIVER) > 1 else 0,
    DATAGRAM_INTEGRITY: _of(trace.Send, trace.Receive),
    CAUSALITY: lambda noted: noted.events,
    HANDOVER: _of(trace.CoreBroadcast, trace.CoreDeliver),
    NO_VIOLATION: lambda noted: noted.events,
    INITIAL_VIEW: _of(_BROADCAST, _DELIVER),
    SELF_INCLUSION: _of(_INSTALL),
    LOCAL_MONOTONICITY: _of(_INSTALL),
    VIEW_AGREEMENT: lambda noted: noted.shared_views,
    PRIMARY_PARTITION: lambda noted: noted.later_views,
    SENDING_VIEW_DELIVERY: _of(_DELIVER),
    SAME_VIEW_DELIVERY: _of(_DELIVER),
    VIEW_SYNCHRONY: lambda noted: noted.together,
    VSC_VALIDITY: _casts,
    VSC_TERMINATION: _casts,
    UNIFORM_DELIVERY: lambda noted: noted.owed,
    TRANSITIONAL_SET: _of(trace.Transitional),
    FAILURE_ATOMICITY: lambda noted: noted.of(trace.Transitional) if noted.of(trace.Transitional) > 1 else 0,
    SAFE_DELIVERY: lambda noted: noted.owed,
    FIFO: lambda noted: noted.of_one_source,
    CAUSAL: lambda noted: noted.caused,
    RELIABLE_FIFO: lambda noted: noted.of_one_source,
    RELIABLE_CAUSAL: lambda noted: noted.caused,
    WEAK_TOTAL_ORDER: lambda noted: noted.together,
    RELIABLE_TOTAL_ORDER: lambda noted: noted.compared,
    EXTENDED_TOTAL_ORDER: lambda noted: noted.compared,
    AGREEMENT_ON_SUCCESSORS: lambda noted: noted.from_before,
    **dict.fromkeys(SAFE_INDICATIONS[:3], _of(trace.Safe)),
    SAFE_INDICATIONS[3]: _casts,
    STABLE_VIEWS[0]: _of(_INSTALL),
    **dict.fromkeys(STABLE_VIEWS[1:], _casts),
    CONSENSUS[0]: _of(trace.Propose),
    CONSENSUS[1]: _of(trace.Decide),
    CONSENSUS[2]: _of(trace.Decide),
    CONSENSUS[3]: lambda noted: noted.shared_decisions,
    CONSENSUS[4]: lambda noted: noted.shared_decisions,
    CONSENSUS[5]: _of(trace.Propose, trace.Decide),
    STRONG_COMPLETENESS: lambda noted: noted.to_be_suspected,
    WEAK_COMPLETENESS: lambda noted: noted.to_be_suspected,
    STRONG_ACCURACY: _suspicions,
    WEAK_ACCURACY: _suspicions,
    EVENTUAL_STRONG_ACCURACY: _suspicions,
    EVENTUAL_WEAK_ACCURACY: _suspicions,
    ALARM_COMPLETENESS: lambda noted: noted.to_be_suspected,
    ALARM_ACCURACY: _of(trace.Alarm),
}

_LACKING: Final[Mapping[str, str]] = {
    VALIDITY: "no broadcast",
    **dict.fromkeys((UNIFORM_AGREEMENT, AGREEMENT), "no message that another process should deliver"),
    UNIFORM_TOTAL_ORDER: "no two processes deliver the same two messages",
    **dict.fromkeys(
        (UNIFORM_PREFIX_ORDER, RELIABLE_TOTAL_ORDER, EXTENDED_TOTAL_ORDER), "fewer than two processes deliver"
    ),
    UNIFORM_GLOBAL_ORDER: "fewer than two processes deliver several messages",
    UNIFORM_NUMBERING: "fewer than two deliveries",
    **dict.fromkeys(
        (VIEW_SYNCHRONY, WEAK_TOTAL_ORDER), "no two processes go from one view to the same next one"
    ),
    PRIMARY_PARTITION: "no view after the first",
    VIEW_AGREEMENT: "no view that two processes install",
    AGREEMENT_ON_SUCCESSORS: "nobody goes from a view to another",
    **dict.fromkeys((TRANSITIONAL_SET, FAILURE_ATOMICITY), "no transitional configuration"),
    **dict.fromkeys((FIFO, RELIABLE_FIFO), "nobody delivers two messages of one source"),
    **dict.fromkeys((CAUSAL, RELIABLE_CAUSAL), "no delivered message happened before another"),
    **dict.fromkeys(SAFE_INDICATIONS, "no message is told to be safe"),
    **dict.fromkeys(CONSENSUS, "nothing is proposed or decided"),
    **dict.fromkeys(CONSENSUS[3:5], "no two processes decide in one consensus"),
    **dict.fromkeys((STRONG_COMPLETENESS, WEAK_COMPLETENESS, ALARM_COMPLETENESS), "nobody crashes"),
    **dict.fromkeys(
        (STRONG_ACCURACY, WEAK_ACCURACY, EVENTUAL_STRONG_ACCURACY, EVENTUAL_WEAK_ACCURACY),
        "nobody is suspected",
    ),
    ALARM_ACCURACY: "nobody is alarmed",
    **dict.fromkeys((SELF_INCLUSION, LOCAL_MONOTONICITY, STABLE_VIEWS[0]), "no view is installed"),
}
