"""What members count, for Prometheus: read when it is asked for, so that it costs nothing in between.

    metrics = Metrics()
    metrics.serve(9464)
    async with Group("orders", ..., metrics=metrics) as group:
        ...

Counters are those of `Group.statistics`. Two histograms are fed as messages pass: how long a broadcast waits
until the protocol takes it, and how long it takes until it is delivered at its source. Needs
`pip install antiphon[metrics]`. This module must not know a protocol or a transport.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
"""A counter, its help, the field of `Statistics` and what its keys are."""

_STANDING = (
    ("events_to_take", "Events that the application has not taken.", "untaken"),
    ("broadcasts_waiting", "Calls of broadcast that the protocol has not taken.", "waiting"),
    ("waiting_seconds", "For how long the member has waited for others.", "waiting_s"),
)
"""A gauge, its help and the property of `Group`."""


class Metrics(Collector):
    """The members of this process, in a registry of their own or a given one."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self._groups: dict[tuple[str, str], Group] = {}
        self._servers: list[tuple[WSGIServer, Thread]] = []
        self._waited = self._histogram("broadcast_wait", "From the call of broadcast until it is on its way.")
        self._ordered = self._histogram("order", "From the call of broadcast until delivery at its source.")
        self.registry.register(self)

    def serve(self, port: int, host: str = "127.0.0.1") -> int:
        """Answer `GET /metrics` from now on, in a thread; the port, which for 0 the system chooses.

        Raises:
            OSError: the port cannot be bound.
        """
        server, thread = start_http_server(port, host, self.registry)
        self._servers.append((server, thread))
        return int(server.server_port)

    def close(self) -> None:
        """Stop to answer. Again: nothing."""
        while self._servers:
            server, thread = self._servers.pop()
            server.shutdown()
            server.server_close()
            thread.join()

    def text(self) -> str:
        """What Prometheus is told."""
        return generate_latest(self.registry).decode()

    # A group's side.

    def opened(self, group: Group) -> tuple[Any, Any]:
        """A group takes part from now on; what it calls with each wait and each time to order, in seconds."""
        member = (group.name, str(group.me))
        self._groups[member] = group
        return self._waited.labels(*member).observe, self._ordered.labels(*member).observe

    # Prometheus' side.

    def describe(self) -> Iterable[Metric]:
        """Nothing: the names of what is counted are known when it is read."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """All counters and gauges as they stand."""
        members = [(member, group, group.statistics) for member, group in list(self._groups.items())]
        for name, told, field, label in _COUNTED:
            family = CounterMetricFamily(f"antiphon_{name}", told, labels=(*_MEMBER, label))
            for member, _, statistics in members:
                for key, count in getattr(statistics, field).items():
                    family.add_metric((*member, str(key)), count)
            yield family
        for name, told, field in _STANDING:
            gauge = GaugeMetricFamily(f"antiphon_{name}", told, labels=_MEMBER)
            for member, group, _ in members:
                gauge.add_metric(member, getattr(group, field))
            yield gauge

    def _histogram(self, name: str, told: str) -> Histogram:
        return Histogram(f"antiphon_{name}_seconds", told, _MEMBER, registry=self.registry, buckets=_SECONDS)
