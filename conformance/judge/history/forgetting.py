"""Messages of a growing run that no later event can contradict, so that the judge can forget them.

A message is finished when all live processes have delivered it. With views, these are the processes that are
or can come to be in its view, except for those that stopped there; or else all of them have left that view.
If delivery orders in a view differ, or while a process is in the view's transitional configuration, the
message waits until the view is left.

The forgotten part is the longest prefix of all logs in which every message is finished and has all of its
events, so that no remaining event happened before it. This module knows no promise.
"""

from __future__ import annotations

from collections import defaultdict

from antiphon.conformance.judge.history.ranges import LARGE
from antiphon.conformance.judge.trace import Broadcast, Deliver, Event, Install, Safe, Transitional


class Forgetting:
    """Finder of the forgettable events of a window: how many of each log, from its beginning."""

    def __init__(
        self,
        kept: list[list[Event]],
        closed: set[int],
        *,
        in_views: bool,
        in_order: bool,
        is_founded: bool,
    ) -> None:
        self.kept, self.closed = kept, closed
        self.in_views, self.in_order = in_views, in_order
        self.places = defaultdict[str, list[tuple[int, int]]](list)
        self.deliveries = defaultdict[str, dict[int, tuple[int, int]]](dict)
        self.views = defaultdict[str, set[int]](set)
        self.members: dict[int, set[int]] = {}
        self.been_in = defaultdict[int, set[int]](set)
        self.now: list[int] = []
        self.moving = set[int]()
        for p, log in enumerate(kept):
            self._walk(p, log, int(in_views and is_founded))

    def _walk(self, p: int, log: list[Event], view: int) -> None:
        """Note, for each event of a log, which messages its process delivers and in which view."""
        self.been_in[view].add(p)
        rank = 0
        for k, event in enumerate(log):
            match event:
                case Install(view=new, members=members):
                    self.members[new] = self.members.get(new, set(members)) & set(members)
                    if new > view:
                        view, rank = new, 0
                        self.been_in[view].add(p)
                case Transitional():
                    self.moving.add(view)
                case Deliver(m=m):
                    self.places[m].append((p, k))
                    if p not in self.deliveries[m]:
                        rank += 1
                        self.deliveries[m][p] = view, rank
                        self.views[m].add(view)
                case Broadcast(m=m):
                    self.places[m].append((p, k))
                    self.views[m].add(view)
                case Safe(m=m):
                    self.places[m].append((p, k))
                case _:
                    pass
        self.now.append(view)

    def cuts(self) -> list[int]:
        """Return the number of forgettable events of each log: a prefix of each log, with each message whole
        or not at all.
        """
        finished = {m for m in self.places if self._is_finished(m)}
        cuts = [
            next(
                (k for k, event in enumerate(log) if is_of_message(event) and event.m not in finished),  # type: ignore[union-attr]
                len(log),
            )
            for log in self.kept
        ]
        held = [m for m, places in self.places.items() if any(k >= cuts[p] for p, k in places)]
        seen = set(held)
        while held:
            for p, k in self.places[held.pop()]:
                if k < cuts[p]:
                    cut_off = {event.m for event in self.kept[p][k : cuts[p]] if is_of_message(event)}  # type: ignore[union-attr]
                    cuts[p] = k
                    held += cut_off - seen
                    seen |= cut_off
        return cuts

    def view_of(self, m: str) -> int:
        """Return the greatest view in which a message was broadcast or delivered."""
        return max(self.views[m])

    def _is_finished(self, m: str) -> bool:
        if max(numbers(m)) >= LARGE:
            return False
        if not self.in_views:
            had = self.deliveries[m]
            return all(p in had or p in self.closed for p in range(len(self.kept)))
        views = self.views[m]
        return (bool(views) and all(self._is_left(v) for v in views)) or (
            len(views) == 1 and self._is_everywhere(m, *views) and self._is_in_place(m)
        )

    def _is_left(self, v: int) -> bool:
        """Return True if no live process is in this view, or can come there."""
        return all(self.now[p] > v or not self._may_be_in(p, v) for p in range(len(self.kept)))

    def _may_be_in(self, p: int, v: int) -> bool:
        """Return True if process p is live and can be in view v: it is in v, or a view event names it as a
        member, or no event names the members of v.
        """
        return p not in self.closed and (self.now[p] == v or p in self.members.get(v, {p}))

    def _is_everywhere(self, m: str, v: int) -> bool:
        """Return True if all processes that were in view v, or may come to it, have delivered message m.
        Processes that stopped in v are exempt. The answer is False while a process has a transitional
        configuration of v.
        """
        if not v or v in self.moving:
            return False
        return all(
            p in self.deliveries[m]
            or not (
                (p in self.been_in[v] and not (p in self.closed and self.now[p] == v))
                or (self.now[p] < v and self._may_be_in(p, v))
            )
            for p in range(len(self.kept))
        )

    def _is_in_place(self, m: str) -> bool:
        """Return True if the delivery orders of a view need not be compared, or if all processes have
        delivered message m at the same position.
        """
        return not self.in_order or len({rank for _, rank in self.deliveries[m].values()}) <= 1


def is_of_message(event: Event) -> bool:
    """Return True if an event is about a message of the application."""
    return isinstance(event, Broadcast | Deliver | Safe)


def numbers(m: str) -> tuple[int, int]:
    """Return the source and the count of a message or a datagram."""
    source, _, count = m.partition(":")
    return int(source), int(count)
