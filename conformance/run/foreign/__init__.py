"""Groups of programs in any language, under faults of a network that the harness simulates, and judged.

The programs speak the protocol of `conformance.adapters`. A run is drawn by its seed, in the schedules of the
swarm, and judged by the judge of all logs.
"""

from antiphon.conformance.run.foreign.running import (
    ForeignReport,
    ForeignRun,
    kept,
    run_foreign,
    run_schedule,
    run_seed,
)
from antiphon.conformance.run.foreign.settings import KINDS, Settings

__all__ = [
    "KINDS",
    "ForeignReport",
    "ForeignRun",
    "Settings",
    "kept",
    "run_foreign",
    "run_schedule",
    "run_seed",
]
