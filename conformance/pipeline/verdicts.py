"""Each run is judged by the one judge, `history`, where a task holds its events and its damage.

The transform from tables to verdicts. A run has to fit the memory of one task; runs are judged side by side.
This module knows neither the definition of a property nor where tables are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final

import msgspec
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_type

from antiphon.conformance.history import (
    FURTHER_PROPERTIES,
    PROPERTIES,
    Finding,
    History,
    Place,
    judge_history,
    outcome_of,
)
from antiphon.conformance.pipeline.columns import events_of
from antiphon.conformance.pipeline.schema import EVENT, FOUND, VERDICTS
from antiphon.conformance.trace import Event

_ARROW: Final = pa.schema(list(to_arrow_type(VERDICTS)))
_ARROW_FOUND: Final = pa.schema(list(to_arrow_type(FOUND)))


def verdicts_of(events: DataFrame, damage: DataFrame, promise: Collection[str]) -> DataFrame:
    """Judge every run that has events or damage by what its system promises. Takes `EVENTS` and `DAMAGE`,
    gives `VERDICTS`.
    """
    runs = events.groupBy("run").cogroup(damage.groupBy("run"))
    return runs.applyInArrow(_judge_by(tuple(promise)), VERDICTS)


def judged_runs(rows: DataFrame, damage: DataFrame, promise: Collection[str]) -> DataFrame:
    """Judge every run of these rows of a lake. Takes `columns.EVENTS`, with a row a run at least, and
    `chunks.QUARANTINE`; gives `FOUND`.
    """
    runs = rows.groupBy("run").cogroup(damage.groupBy("run"))
    return runs.applyInArrow(_judge_rows_by(tuple(promise)), FOUND)


def property_rank(name: str) -> Column:
    """Give the place of a property in the order of report."""
    names = PROPERTIES + FURTHER_PROPERTIES
    return F.array_position(F.array(*map(F.lit, names)), F.col(name))


def _judge_by(promise: tuple[str, ...]) -> Callable[[tuple[pa.Scalar, ...], pa.Table, pa.Table], pa.Table]:
    """What judges one run by a promise."""

    def judge(key: tuple[pa.Scalar, ...], events: pa.Table, damage: pa.Table) -> pa.Table:
        return _judge(key, events, damage, promise)

    return judge


def _judge_rows_by(
    promise: tuple[str, ...],
) -> Callable[[tuple[pa.Scalar, ...], pa.Table, pa.Table], pa.Table]:
    """What judges one run of a lake by a promise."""

    def judge(key: tuple[pa.Scalar, ...], rows: pa.Table, damage: pa.Table) -> pa.Table:
        if not rows.num_rows:  # damage of a run that is no suspect
            return pa.Table.from_pylist([], schema=_ARROW_FOUND)
        events = list(events_of(rows))
        named = [process for process, _ in events] + damage.column("process").to_pylist()
        logs: list[list[Event]] = [
            [] for _ in range(max((p for p in named if p is not None), default=-1) + 1)
        ]
        for process, event in events:
            logs[process].append(event)
        faults = set(damage.column("reason").to_pylist())
        found = [_row(key[0].as_py(), finding, faults) for finding in judge_history(logs, promise)]
        return pa.Table.from_pylist(found, schema=_ARROW_FOUND)

    return judge


def _judge(
    key: tuple[pa.Scalar, ...], events: pa.Table, damage: pa.Table, promise: tuple[str, ...]
) -> pa.Table:
    """The verdicts of one run."""
    faults = set(damage.column("reason").to_pylist())
    found = judge_history(_history(events, damage), promise)
    return pa.Table.from_pylist([_row(key[0].as_py(), finding, faults) for finding in found], schema=_ARROW)


def _row(run: object, finding: Finding, faults: Collection[str]) -> dict[str, Any]:
    return {
        "run": run,
        "property": finding.property,
        "outcome": outcome_of(finding, faults).value,
        "offending": finding.offending,
        "reason": finding.reason,
        "first": _place(finding.first),
        "second": _place(finding.second),
    }


def _history(events: pa.Table, damage: pa.Table) -> History:
    """The events of one run, by process, in the order of their lines. A process without any is there too: its
    log is told to be damaged or missing.
    """
    named = [*events.column("process").to_pylist(), *damage.column("process").to_pylist()]
    rows = events.sort_by([("process", "ascending"), ("line", "ascending")])
    processes = rows.column("process").to_pylist()
    logs: list[list[Event]] = [[] for _ in range(max((p for p in named if p is not None), default=-1) + 1)]
    for process, row in zip(processes, rows.select(EVENT.fieldNames()).to_pylist(), strict=True):
        said = {name: value for name, value in row.items() if value is not None}
        logs[process].append(msgspec.convert(said, Event))
    return logs


def _place(place: Place | None) -> dict[str, Any] | None:
    return None if place is None else {"process": place.process, "i": place.index, "m": place.message}
