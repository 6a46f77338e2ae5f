"""Groups of other systems, Corosync and JGroups, on hosts under faults, judged by their logs.

`hosts` has the network, `members` the programs that take part, `faults` the faults that a seed draws, `group`
injects them, `logs` turns what the members print into a trace, `running` judges it and shortens a run that
breaks a promise.
"""

from antiphon.conformance.run.systems.faults import SystemSettings
from antiphon.conformance.run.systems.hosts import NoHosts
from antiphon.conformance.run.systems.members import SYSTEMS, System, SystemMissing
from antiphon.conformance.run.systems.result import SystemResult
from antiphon.conformance.run.systems.running import run_system

__all__ = [
    "SYSTEMS",
    "NoHosts",
    "System",
    "SystemMissing",
    "SystemResult",
    "SystemSettings",
    "run_system",
]
