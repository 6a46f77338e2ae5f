"""Processes that go through the same views have delivered the same in them: view synchrony in logs.

1. Where no log installs view 1, all processes are together in it from the start; else they begin in none.
2. The view of an event is the last one that its process installed. An install that does not lead upwards is
   an offence and leads nowhere. Only the first delivery of a message at a process counts here, and of the
   broadcasts that of its source.
3. Everything is computed from each process's own order, never from a merge of them: two processes are
   compared by what each did in a view that both have left. The work is linear in the number of events, and
   for the transitional configurations quadratic in the number of processes of a view.

The machines of `spec.services`, in `views` and `extended`, define the properties; tests compare the two. This
module knows nothing of order.

Source: Barchet-Estefanel 2002, section 4.3.2; Moser, Amir, Melliar-Smith and Agarwal 1994 and Chockler,
Keidar and Vitenberg 2001, in sense.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from antiphon.conformance.history.finding import (
    FAILURE_ATOMICITY,
    INITIAL_VIEW,
    LOCAL_MONOTONICITY,
    PRIMARY_PARTITION,
    SAFE_DELIVERY,
    SAME_VIEW_DELIVERY,
    SELF_INCLUSION,
    SENDING_VIEW_DELIVERY,
    TRANSITIONAL_SET,
    UNIFORM_DELIVERY,
    VIEW_AGREEMENT,
    VIEW_SYNCHRONY,
    VSC_TERMINATION,
    VSC_VALIDITY,
    Finding,
    History,
    Offence,
    Place,
    correct_processes,
    finding,
)
from antiphon.conformance.trace import Broadcast, Deliver, Install, Transitional

Members = frozenset[int]


@dataclass(frozen=True)
class Entered:
    """A process has gone from view `before` to another."""

    before: int
    at: Place


@dataclass(frozen=True)
class Delivered:
    """A first delivery: in which view, and whether in its transitional configuration."""

    view: int
    late: bool
    at: Place


@dataclass
class Walk:
    """What one process did, by views; `delivered` by message, `in_view` the same by view and message."""

    entered: dict[int, Entered] = field(default_factory=dict)
    parts: dict[int, tuple[Members, Place]] = field(default_factory=dict)
    delivered: dict[str, Delivered] = field(default_factory=dict)
    in_view: dict[int, dict[str, Delivered]] = field(default_factory=dict)
    sent: dict[str, tuple[int, Place]] = field(default_factory=dict)
    last: int = 0


class Views:
    """A history, read once: who was in which view when, and what offends already there.

    `members` are those of a view as the process with the smallest number was told, `walks` one for each
    process, `offences` those that are seen without comparing deliveries.
    """

    def __init__(self, history: History) -> None:
        """Walk along each process."""
        begins = not any(
            isinstance(event, Install) and event.view == 1 for events in history for event in events
        )
        self.correct = correct_processes(history)
        self.members: dict[int, Members] = {1: frozenset(range(len(history)))} if begins and history else {}
        self.told: dict[int, Place] = {}
        self.offences: defaultdict[str, list[Offence]] = defaultdict(list)
        self.walks = [Walk(last=int(begins)) for _ in history]
        for process, events in enumerate(history):
            walk = self.walks[process]
            for event in events:
                match event:
                    case Broadcast():
                        self._broadcast(walk, process, event)
                    case Deliver():
                        self._deliver(walk, process, event)
                    case Install():
                        self._install(walk, process, event)
                    case Transitional():
                        self._move(walk, process, event)

    def _broadcast(self, walk: Walk, process: int, event: Broadcast) -> None:
        here = Place(process, event.i, event.m)
        if not walk.last:
            self.offences[INITIAL_VIEW].append((OUTSIDE, here, None))
        if event.m.split(":")[0] == str(process):
            walk.sent.setdefault(event.m, (walk.last, here))

    def _deliver(self, walk: Walk, process: int, event: Deliver) -> None:
        here = Place(process, event.i, event.m)
        if not walk.last:
            self.offences[INITIAL_VIEW].append((OUTSIDE, here, None))
        if event.m not in walk.delivered:
            got = Delivered(walk.last, walk.last in walk.parts, here)
            walk.delivered[event.m] = got
            walk.in_view.setdefault(walk.last, {})[event.m] = got

    def _install(self, walk: Walk, process: int, event: Install) -> None:
        here = Place(process, event.i, f"view {event.view}")
        members = frozenset(event.members)
        if self.members.setdefault(event.view, members) != members:
            self.offences[VIEW_AGREEMENT].append((OTHER_MEMBERS, here, self.told.get(event.view)))
        self.told.setdefault(event.view, here)
        if process not in members:
            self.offences[SELF_INCLUSION].append((NOT_A_MEMBER, here, None))
        if event.view > walk.last:
            walk.entered[event.view] = Entered(walk.last, here)
            walk.last = event.view
        else:
            last = walk.entered.get(walk.last)
            self.offences[LOCAL_MONOTONICITY].append((NOT_LATER, here, last.at if last else None))

    def _move(self, walk: Walk, process: int, event: Transitional) -> None:
        here = Place(process, event.i, f"transitional configuration of view {walk.last}")
        members = frozenset(event.members)
        again = walk.parts.get(walk.last)
        if process not in members or not walk.last or again:
            reason = NOT_A_MEMBER if process not in members else MOVED_AGAIN if again else OUTSIDE
            self.offences[TRANSITIONAL_SET].append((reason, here, again and again[1]))
        if walk.last and not again:
            walk.parts[walk.last] = (members, here)

    def sent(self) -> dict[str, tuple[int, Place]]:
        """The view of each broadcast by its source."""
        return {m: said for walk in self.walks for m, said in walk.sent.items()}

    def together(self) -> Iterator[tuple[int, list[int]]]:
        """Each view and those who went from there to the same next one."""
        groups: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        for process, walk in enumerate(self.walks):
            for view, entered in walk.entered.items():
                groups[entered.before, view].append(process)
        yield from ((before, group) for (before, _), group in groups.items() if before)


OUTSIDE: Final = "happens in no view"
OTHER_MEMBERS: Final = "installed with other members than elsewhere"
NOT_A_MEMBER: Final = "the process is not among the members that it is told"
NOT_LATER: Final = "installed in that view or a later one"
MOVED_AGAIN: Final = "entered a second time in one view"
OTHER_VIEW: Final = "delivered in another view than it was sent in"
OTHER_VIEWS: Final = "delivered in different views"
LEFT_BEHIND: Final = (
    "delivered by one process in a view, not by the other, which went on to the same next view"
)
TORN: Final = "delivered by one process before their transitional configuration, by the other not"
FROM_NOWHERE: Final = "nobody went to this view from the one before it"
NOT_OWN: Final = "broadcast by a correct process, never delivered by it"
STAYS: Final = "not delivered by all of its view, which a correct process has not left"
NOT_IN_ALL: Final = "delivered by one process of a view, not by the other, which has not crashed"
NO_PART: Final = "installed without a transitional configuration before, or without one of its members"
OTHER_PART: Final = "who installs the view from there is not who was told to go together"


def sending_view(views: Views) -> list[Offence]:
    """A message is delivered in the view in which it was broadcast."""
    sent = views.sent()
    return [
        (OTHER_VIEW, got.at, sent[m][1])
        for walk in views.walks
        for m, got in walk.delivered.items()
        if m in sent and sent[m][0] != got.view
    ]


def same_view(views: Views) -> list[Offence]:
    """A message is delivered in one view."""
    first: dict[str, Delivered] = {}
    return [
        (OTHER_VIEWS, got.at, first[m].at)
        for walk in views.walks
        for m, got in walk.delivered.items()
        if first.setdefault(m, got).view != got.view
    ]


def view_synchrony(views: Views) -> list[Offence]:
    """Processes that go from one view to the same next one have delivered the same in it."""
    return [
        offence
        for view, group in views.together()
        for offence in _unequal(views, group, LEFT_BEHIND, view, early=False)
    ]


def failure_atomicity(views: Views) -> list[Offence]:
    """Processes in the same transitional configuration have delivered the same before it."""
    groups: defaultdict[tuple[int, Members], list[int]] = defaultdict(list)
    for process, walk in enumerate(views.walks):
        for view, (members, _) in walk.parts.items():
            groups[view, members].append(process)
    return [
        offence
        for (view, _), group in groups.items()
        for offence in _unequal(views, group, TORN, view, early=True)
    ]


def _unequal(views: Views, group: list[int], reason: str, view: int, *, early: bool) -> Iterator[Offence]:
    """Of the deliveries in a view, or before its transitional configuration, those that not all of a group
    have.
    """
    had: defaultdict[str, dict[int, Place]] = defaultdict(dict)
    for process in group if len(group) > 1 else ():
        for m, got in views.walks[process].in_view.get(view, {}).items():
            if not (early and got.late):
                had[m][process] = got.at
    for m, places in had.items():
        if len(places) < len(group):
            lacking = next(process for process in group if process not in places)
            yield reason, next(iter(places.values())), Place(lacking, None, m)


def primary_partition(views: Views) -> list[Offence]:
    """Somebody goes to each view from the one before it."""
    numbers = sorted(views.members)
    taken = {(entered.before, view) for walk in views.walks for view, entered in walk.entered.items()}
    return [
        (FROM_NOWHERE, views.told[view], views.told.get(before))
        for before, view in itertools.pairwise(numbers)
        if (before, view) not in taken
    ]


def validity(views: Views) -> list[Offence]:
    """A correct process delivers what it broadcasts."""
    return [
        (NOT_OWN, at, None)
        for process in views.correct
        for m, (_, at) in views.walks[process].sent.items()
        if m not in views.walks[process].delivered
    ]


def termination(views: Views) -> list[Offence]:
    """What is broadcast in a view all its members deliver, or all that are correct leave the view."""
    correct = set(views.correct)
    staying = {
        view: next((p for p in sorted(members & correct) if views.walks[p].last <= view), None)
        for view, members in views.members.items()
    }
    return [
        (STAYS, at, Place(lacking, None, m))
        for m, (view, at) in views.sent().items()
        for lacking in (
            next((p for p in sorted(views.members.get(view, ())) if not _has(views, p, m)), None),
        )
        if lacking is not None and staying[view] is not None
    ]


def uniform_delivery(views: Views) -> list[Offence]:
    """What any process delivers in a view, all its members deliver that do not crash."""
    return _promised(views, lambda _, got: views.members.get(got.view, frozenset()))


def safe_delivery(views: Views) -> list[Offence]:
    """What is delivered in a view all its members deliver that do not fail; what is delivered in a
    transitional configuration, all of that.
    """
    return _promised(
        views,
        lambda walk, got: walk.parts[got.view][0] if got.late else views.members.get(got.view, frozenset()),
    )


def _promised(views: Views, to: Callable[[Walk, Delivered], Members]) -> list[Offence]:
    """Deliveries that promise themselves to a correct process that lacks them; of each pair the first."""
    found: dict[tuple[str, int], Offence] = {}
    correct = frozenset(views.correct)
    for walk in views.walks:
        for m, got in walk.delivered.items():
            for process in sorted(to(walk, got) & correct):
                if not _has(views, process, m):
                    found.setdefault((m, process), (NOT_IN_ALL, got.at, Place(process, None, m)))
    return list(found.values())


def transitional_set(views: Views) -> list[Offence]:
    """A transitional configuration is a part of its view and of the next; of those who install the next,
    exactly its members come from the same view.
    """
    offences: list[Offence] = [
        (NO_PART, at, None)
        for walk in views.walks
        for view, (members, at) in walk.parts.items()
        if not members <= views.members.get(view, frozenset())
    ]
    installers: defaultdict[int, list[int]] = defaultdict(list)
    for process, walk in enumerate(views.walks):
        for view in walk.entered:
            installers[view].append(process)
    for view, group in installers.items():
        for process in group:
            offences += _wrong_part(views, view, process, group)
    return offences


def _wrong_part(views: Views, view: int, process: int, group: list[int]) -> Iterator[Offence]:
    """What is wrong with the part with which a process came to a view."""
    entered = views.walks[process].entered[view]
    part = views.walks[process].parts.get(entered.before)
    if entered.before and (part is None or not part[0] <= views.members[view]):
        yield NO_PART, entered.at, part and part[1]
    if part is not None:
        for other in group:
            theirs = views.walks[other].entered[view]
            if other != process and (other in part[0]) != (theirs.before == entered.before):
                yield OTHER_PART, part[1], theirs.at


def _has(views: Views, process: int, m: str) -> bool:
    return process < len(views.walks) and m in views.walks[process].delivered


_CHECKS: Final[Mapping[str, Callable[[Views], list[Offence]]]] = {
    SENDING_VIEW_DELIVERY: sending_view,
    SAME_VIEW_DELIVERY: same_view,
    VIEW_SYNCHRONY: view_synchrony,
    PRIMARY_PARTITION: primary_partition,
    VSC_VALIDITY: validity,
    VSC_TERMINATION: termination,
    UNIFORM_DELIVERY: uniform_delivery,
    TRANSITIONAL_SET: transitional_set,
    FAILURE_ATOMICITY: failure_atomicity,
    SAFE_DELIVERY: safe_delivery,
}


def judge_views(history: History, names: tuple[str, ...]) -> tuple[Finding, ...]:
    """Check these properties of views, in this order."""
    views = Views(history)
    return tuple(
        finding(name, views.offences[name] + (_CHECKS[name](views) if name in _CHECKS else []))
        for name in names
    )
