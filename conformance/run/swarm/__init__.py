"""Swarms: groups of the real cores run in virtual time, under faults that a seed draws, and are judged.

The events of a run are a schedule (`schedule`), which a seed draws (`chance`) and the simulated network of
`antiphon.impl` carries out on cores, layers and encoder (`running`). Most runs are judged at a glance, the
others by the judge of all logs (`judging`); one that fails is made short (`shrinking`). `run_seed` is a pure
function, and many of them are spread over processes (`spreading`). Runs can be recorded and steered
(`steering`).
"""

from antiphon.conformance.run.swarm.core_calls import (
    Broadcasts,
    Deed,
    Receives,
    Rests,
    Sends,
    Steps,
    core_calls_of,
)
from antiphon.conformance.run.swarm.model_limits import within_model
from antiphon.conformance.run.swarm.run_directory import SCHEDULE, ScheduleError, keep, read_schedule
from antiphon.conformance.run.swarm.schedule import Schedule
from antiphon.conformance.run.swarm.settings import Around, Deliver, FaultKind, Settings
from antiphon.conformance.run.swarm.spreading import SwarmReport, run_swarm, without_run
from antiphon.conformance.run.swarm.steering import BLOCK, recorded_runs
from antiphon.conformance.run.swarm.swarm import (
    RunResult,
    core_of,
    fitted,
    observed,
    pictured,
    run_schedule,
    run_seed,
    shortened,
)
from antiphon.conformance.run.swarm.words import command_of, joins_always, schedule_lines

__all__ = [
    "BLOCK",
    "SCHEDULE",
    "Around",
    "Broadcasts",
    "Deed",
    "Deliver",
    "FaultKind",
    "Receives",
    "Rests",
    "RunResult",
    "Schedule",
    "ScheduleError",
    "Sends",
    "Settings",
    "Steps",
    "SwarmReport",
    "command_of",
    "core_calls_of",
    "core_of",
    "fitted",
    "joins_always",
    "keep",
    "observed",
    "pictured",
    "read_schedule",
    "recorded_runs",
    "run_schedule",
    "run_seed",
    "run_swarm",
    "schedule_lines",
    "shortened",
    "within_model",
    "without_run",
]
