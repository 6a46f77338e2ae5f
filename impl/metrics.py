"""Counters of members for Prometheus, which are computed only when they are read.

    metrics = Metrics()
    metrics.serve(9464)
    async with Group("orders", ..., metrics=metrics) as group:
        ...

Counters are those of `Group.statistics`. Two histograms are fed as messages pass: how long a broadcast waits
until the protocol takes it, and how long it takes until it is delivered at its source. Needs `pip install
antiphon[metrics]`. This module must not know a protocol or a transport.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIServer

try:
    from prometheus_client import CollectorRegistry, Histogram, generate_latest, start_http_server
    from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
    from prometheus_client.registry import Collector
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "antiphon.impl.metrics needs prometheus_client, which is not installed; "
        "install the extra: pip install 'antiphon[metrics]'",
        name=error.name,
    ) from error

from antiphon.impl.group import Group
from antiphon.impl.joined import JoinedGroup, JoinedStatistics
from antiphon.impl.membership.member import Member

__all__ = ["Metrics"]

_SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)

_MEMBER = ("group", "process")

_COUNTED = (
    ("datagrams_sent", "Datagrams sent, one for each receiver.", "datagrams", "kind"),
    ("messages_sent", "Messages sent; one to all counts once.", "transmissions", "kind"),
    ("datagrams_refused", "Datagrams refused before the protocol saw them.", "dropped", "reason"),
    ("violations", "Messages that no correct member sends.", "violations", "kind"),
    ("transport_faults", "Datagrams that the operating system refused.", "transport_faults", "kind"),
)
"""Rows: name of a counter, its help text, the field of `Statistics`, and the meaning of the field's keys."""

_STANDING = (
    ("events_to_take", "Events that the application has not taken.", "untaken"),
    ("broadcasts_waiting", "Calls of broadcast that the protocol has not taken.", "waiting"),
    ("waiting_seconds", "For how long the member has waited for others.", "waiting_s"),
)
"""Rows: name of a gauge, its help text, and the property of `Group`."""

_JOINED = ("group", "member", "address")
"""Labels of a joined group: its name, and the name and the address of its member. Two may have one name."""

_JOINED_COUNTED = (
    ("suspicions", "Changes of mind about other members.", "suspicions", "kind reason"),
    ("joined_datagrams_refused", "Datagrams of no use.", "dropped", "reason"),
    ("joined_transport_faults", "Datagrams that the operating system refused.", "faults", "kind"),
    ("view_change_milliseconds", "Time that changes of the members took.", "change_ms", "phase"),
)
"""Rows for joined groups: a counter, its help text, the field of `JoinedStatistics`, its keys' meaning: a
name, or the names of pairs.
"""

_JOINED_TOTALS: tuple[tuple[str, str, Callable[[JoinedStatistics], float]], ...] = (
    ("list_changes", "Changes of the members, or of those that order messages.", lambda it: it.changes),
    ("exclusions", "Times that the others have gone on without this member.", lambda it: it.exclusions),
    ("blocked_seconds", "Time without a majority.", lambda it: it.blocked_s),
)
"""Rows for joined groups: name of a counter, its help text, and the function that reads it."""

_JOINED_STANDING: tuple[tuple[str, str, Callable[[JoinedGroup], float]], ...] = (
    ("view_number", "The number of the last view.", lambda it: 0 if it.view is None else it.view.number),
    ("view_members", "The members of the last view.",
     lambda it: 0 if it.view is None else len(it.view.members)),
    ("view_majority", "How many of them have to reach one another.",
     lambda it: 0 if it.view is None else it.view.majority),
    ("members_reached", "How many members this one reaches, itself too.", lambda it: it.reached),
    ("lateness", "How many times longer it waits before it suspects.", lambda it: it.statistics.lateness),
    ("joined_events_to_take", "Events that the application has not taken.", lambda it: it.untaken),
    ("joined_broadcasts_waiting", "Calls of broadcast that wait.", lambda it: it.waiting),
)  # fmt: skip
"""Rows for joined groups: name of a gauge, its help text, and the function that reads it."""


class Metrics(Collector):
    """Collector of the counts of this process's members, in a registry of its own or a given one."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self._groups: dict[tuple[str, str], Group] = {}
        self._joined: dict[tuple[str, ...], JoinedGroup] = {}
        self._servers: list[tuple[WSGIServer, Thread]] = []
        self._waited = self._histogram("broadcast_wait", "From the call of broadcast until it is on its way.")
        self._ordered = self._histogram("order", "From the call of broadcast until delivery at its source.")
        self.registry.register(self)

    def serve(self, port: int, host: str = "127.0.0.1") -> int:
        """Answer `GET /metrics` from now on, in a thread; return the port, which the system chooses for 0.

        Raises:
            OSError: the port cannot be bound.
        """
        server, thread = start_http_server(port, host, self.registry)
        self._servers.append((server, thread))
        return int(server.server_port)

    def close(self) -> None:
        """Stop answering. A second call does nothing."""
        while self._servers:
            server, thread = self._servers.pop()
            server.shutdown()
            server.server_close()
            thread.join()

    def text(self) -> str:
        """Return the metrics in the format of Prometheus."""
        return generate_latest(self.registry).decode()

    # A group's side.

    def opened(self, group: Group) -> tuple[Any, Any]:
        """Register an open group. Return the two functions to call with each broadcast's waiting time and
        each message's time to delivery, in seconds.
        """
        member = (group.name, str(group.me))
        self._groups[member] = group
        return self._waited.labels(*member).observe, self._ordered.labels(*member).observe

    def joined(self, group: JoinedGroup) -> None:
        """Register an open joined group, whose counts may be read from now on."""
        self._joined[group.group, group.name, _text(group.me)] = group

    def closed(self, group: JoinedGroup) -> None:
        """Forget a joined group that is closed, if it was registered."""
        self._joined = {member: other for member, other in self._joined.items() if other is not group}

    # Prometheus' side.

    def describe(self) -> Iterable[Metric]:
        """Return nothing, since the names of the metrics are only known when they are collected."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Return all counters and gauges with their present values."""
        fixed = [(member, group, group.statistics) for member, group in list(self._groups.items())]
        joined = [(member, group, group.statistics) for member, group in list(self._joined.items())]
        yield from _counters(_MEMBER, _COUNTED, fixed)
        for name, told, field in _STANDING:
            yield _gauge(name, told, _MEMBER, {member: getattr(group, field) for member, group, _ in fixed})
        yield from _counters(_JOINED, _JOINED_COUNTED, joined)
        for name, told, total in _JOINED_TOTALS:
            family = CounterMetricFamily(f"antiphon_{name}", told, labels=_JOINED)
            for member, _, statistics in joined:
                family.add_metric(member, total(statistics))
            yield family
        for name, told, value in _JOINED_STANDING:
            yield _gauge(name, told, _JOINED, {member: value(group) for member, group, _ in joined})
        silent = GaugeMetricFamily(
            "antiphon_silent_seconds",
            "Silence of a member that is suspected.",
            labels=(*_JOINED, "of", "of_address", "reason"),
        )
        for member, group, _ in joined:
            for one in group.suspected:
                since_s = time.time() - one.at + one.silent_s
                silent.add_metric((*member, one.of.name, _text(one.of), one.reason), since_s)
        yield silent

    def _histogram(self, name: str, told: str) -> Histogram:
        return Histogram(f"antiphon_{name}_seconds", told, _MEMBER, registry=self.registry, buckets=_SECONDS)


def _text(member: Member) -> str:
    """Return the address of a member as a label."""
    return f"{member.host}:{member.port}"


def _counters(
    labels: tuple[str, ...],
    table: tuple[tuple[str, str, str, str], ...],
    groups: Iterable[tuple[tuple[str, ...], object, object]],
) -> Iterator[Metric]:
    """Yield a family of counters for each row of a table: its name, its help, the field of the statistics,
    and the label of the field's keys, or the labels of keys that are pairs.
    """
    some = list(groups)
    for name, told, field, label in table:
        family = CounterMetricFamily(f"antiphon_{name}", told, labels=(*labels, *label.split()))
        for member, _, statistics in some:
            for key, count in getattr(statistics, field).items():
                keys = key if isinstance(key, tuple) else (key,)
                family.add_metric((*member, *map(str, keys)), count)
        yield family


def _gauge(
    name: str, told: str, labels: tuple[str, ...], values: Mapping[tuple[str, ...], float]
) -> GaugeMetricFamily:
    gauge = GaugeMetricFamily(f"antiphon_{name}", told, labels=labels)
    for member, value in values.items():
        gauge.add_metric(member, value)
    return gauge
