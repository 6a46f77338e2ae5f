"""Clusters: real processes on real sockets, under counted faults, with a verdict on their logs.

`run_cluster` starts one operating-system process a member; they talk UDP on the loopback interface, and every
datagram passes a relay that loses, duplicates and reorders. This package uses implementations as an
application would and must not know how a protocol works.

A module is loaded when a name of it is used: a member's process needs neither the relay nor the judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from antiphon.conformance.on_demand import on_demand

if TYPE_CHECKING:
    from antiphon.conformance.run.cluster.faults import Counts, Decision, Faults, Link, decisions
    from antiphon.conformance.run.cluster.orchestration import run_cluster
    from antiphon.conformance.run.cluster.protocols import known_protocols
    from antiphon.conformance.run.cluster.result import ClusterResult
    from antiphon.conformance.run.cluster.settings import ClusterSettings

__all__ = [
    "ClusterResult",
    "ClusterSettings",
    "Counts",
    "Decision",
    "Faults",
    "Link",
    "decisions",
    "known_protocols",
    "run_cluster",
]

_MODULES = {
    "faults": ("Counts", "Decision", "Faults", "Link", "decisions"),
    "orchestration": ("run_cluster",),
    "protocols": ("known_protocols",),
    "result": ("ClusterResult",),
    "settings": ("ClusterSettings",),
}

__getattr__ = on_demand(__name__, _MODULES)
