"""Check of global order: no single sequence explains the deliveries of a run in which "delivered before" has
a cycle.

1. p delivers a b, q delivers b c, r delivers c a: no two processes share two messages, so that no property of
    pairs is broken, but no order of a, b and c agrees with all three. Hadzilacos and Toueg 1994 call the
    existence of such an order global total order: the relation "somebody delivers m before m'"
   has no cycle.
2. Each process delivers a sequence. The relation "delivered before" has a cycle if and only if the relation
  "delivered directly before" has one. So each delivery
   is one edge, and edges of several processes between the same messages are one.
3. Only first deliveries count: a repeated delivery breaks integrity, and no order.

This module knows the deliveries of all processes, and no group, view or number. A process that crashes counts
too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from antiphon.conformance.judge.history.finding import (
    NO_SEQUENCE,
    Finding,
    History,
    Place,
)
from antiphon.conformance.judge.trace import Deliver
from antiphon.spec.services.broadcast import TOTAL_ORDER
from antiphon.spec.services.order import OF_DELIVERIES
from antiphon.spec.services.promises import Property

UNIFORM_GLOBAL_ORDER: Final = Property(
    "UniformGlobalOrder",
    "one sequence of messages explains what every process delivers: they are not delivered in a circle (a b, "
    "b c, c a), of which no pair shows anything; found in linear time (`history/circles.py`). Hadzilacos and "
    "Toueg 1994 call it the global total order",
    "deliveries in rows",
    nothing="fewer than two processes deliver several messages",
    promised=(TOTAL_ORDER, *OF_DELIVERIES[1:]),
    by="the protocol",
    incarnations="each",
    for_some=True,
    implies=("UniformPrefixOrder", "UniformNumbering"),
)
"""Property without a service: a machine for it would need the whole past."""

LINKS_SHOWN: Final = 5
"""Largest number of links of a cycle in the reason."""


class Link(NamedTuple):
    """Link: a process delivers `message` (its event `at`), then `following` (its event `next_at`), with no
    first delivery between.
    """

    message: str
    following: str
    process: int
    at: int
    next_at: int


def global_order(history: History) -> Finding:
    """Check that all deliveries, also those of crashed processes, agree with one sequence of messages.

    The time is linear in the number of deliveries, and longer only where there is a cycle. The count is of
    the messages on cycles.
    """
    return circles(link for process in range(len(history)) for link in links_of(process, history))


def links_of(process: int, history: History) -> Iterator[Link]:
    """Return the links of one process, in its order."""
    seen: set[str] = set()
    last: Deliver | None = None
    for event in history[process]:
        if isinstance(event, Deliver) and event.m not in seen:
            seen.add(event.m)
            if last is not None:
                yield Link(last.m, event.m, process, last.i, event.i)
            last = event


def circles(links: Iterable[Link]) -> Finding:
    """Return the finding of UniformGlobalOrder: whether these links, given in any order, form a cycle. The
    finding counts the messages on cycles, and its reason shows one short cycle. Where several processes have
    the same link, the one of the lowest process is shown.
    """
    following: dict[str, dict[str, Link]] = {}
    for link in links:
        others = following.setdefault(link.message, {})
        known = others.get(link.following)
        others[link.following] = link if known is None else min(known, link)
    left = _within_circles(following)
    if not left:
        return Finding(UNIFORM_GLOBAL_ORDER.name)
    shown = _shortest_from(min(left, key=_key), left)
    told = "; ".join(
        f"process {link.process} delivers {link.message} before {link.following}"
        for link in shown[:LINKS_SHOWN]
    )
    more = f"; and {len(shown) - LINKS_SHOWN:,} more" if len(shown) > LINKS_SHOWN else ""
    first, last = shown[0], shown[-1]
    return Finding(
        UNIFORM_GLOBAL_ORDER.name,
        len(left),
        f"{NO_SEQUENCE}: {told}{more}",
        Place(first.process, first.at, first.message),
        Place(last.process, last.next_at, last.following),
    )


def _within_circles(following: Mapping[str, Mapping[str, Link]]) -> dict[str, dict[str, Link]]:
    """Return the messages on cycles, each with its links to messages of the same cycle, or of a cycle that
    touches it.

    First, messages without a predecessor are removed, as long as there is one. In a correct run no message is
    left then. Else the strongly connected components of the rest that have several messages are the cycles
    that touch one another.
    """
    before: dict[str, int] = {}
    for others in following.values():
        for other in others:
            before[other] = before.get(other, 0) + 1
    free = deque(message for message in following if message not in before)
    while free:
        for other in following.get(free.popleft(), ()):
            before[other] -= 1
            if not before[other]:
                del before[other]
                free.append(other)
    if not before:
        return {}
    import networkx as nx  # here, because loading it takes longer than judging most runs

    graph = nx.DiGraph()
    graph.add_edges_from((m, other) for m in before for other in following.get(m, ()))
    left: dict[str, dict[str, Link]] = {}
    for component in nx.strongly_connected_components(graph):
        if len(component) > 1:
            for m in component:
                left[m] = {other: link for other, link in following[m].items() if other in component}
    return left


def _shortest_from(start: str, left: Mapping[str, Mapping[str, Link]]) -> list[Link]:
    """Return a shortest cycle through a message; of several, the one whose messages come first by source and
    number.
    """
    reached: dict[str, Link] = {}
    queue = deque([start])
    while start not in reached:
        message = queue.popleft()
        for other in sorted(left[message], key=_key):
            if other not in reached:
                reached[other] = left[message][other]
                queue.append(other)
    circle = [reached[start]]
    while circle[-1].message != start:
        circle.append(reached[circle[-1].message])
    return circle[::-1]


def _key(message: str) -> tuple[int, int]:
    """Sort key of a message: its source, then its number there."""
    source, _, identifier = message.partition(":")
    return int(source), int(identifier)
