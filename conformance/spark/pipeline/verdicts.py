"""Judge of the runs in a task: each by `history`, from its events and its faults.

It transforms tables into verdicts. A run has to fit the memory of one task; runs are judged in parallel. This
module knows neither the definition of a property nor where tables are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from antiphon.conformance.judge.history import (
    Finding,
    Place,
    RunFindings,
    judge_history,
    property_names,
)
from antiphon.conformance.judge.trace import Event, Problem
from antiphon.conformance.spark.pipeline.columns import events_of

_PLACE: Final = pa.struct([("process", pa.int32()), ("i", pa.int64()), ("m", pa.string())])

FOUND: Final = pa.schema(
    [
        ("run", pa.int64()),
        ("property", pa.string()),
        ("outcome", pa.string()),
        ("offending", pa.int64()),
        ("reason", pa.string()),
        ("first", _PLACE),
        ("second", _PLACE),
        ("judged", pa.int64()),
        ("doubt", pa.string()),
        ("implied", pa.string()),
        ("odd", pa.string()),
        ("told", pa.string()),
    ]
)
"""Schema: one row a run and property; `outcome` is holds, violated or unknown, `told` says why nothing is
known, and the rest are the fields of `Finding`.
"""

_PLACED: Final = "struct<process: int, i: bigint, m: string>"
FOUND_COLUMNS: Final = (
    "run bigint, property string, outcome string, offending bigint, reason string, "
    f"first {_PLACED}, second {_PLACED}, judged bigint, doubt string, implied string, odd string, told string"
)
"""The schema `FOUND` as the text that Spark's `applyInArrow` takes."""


def judged_runs(rows: DataFrame, damage: DataFrame, promise: Collection[str]) -> DataFrame:
    """Judge every run, and return rows of `FOUND`. `rows` are of `columns.EVENTS`, at least one for each run;
    `damage` are of `chunks.QUARANTINE`.
    """
    runs = rows.groupBy("run").cogroup(damage.groupBy("run"))
    return runs.applyInArrow(_judge_by(tuple(promise)), FOUND_COLUMNS)


def property_rank(name: str) -> Column:
    """Return the place of a property in the order of report."""
    return F.array_position(F.array(*map(F.lit, property_names())), F.col(name))


def _judge_by(
    promise: tuple[str, ...],
) -> Callable[[tuple[pa.Scalar, ...], pa.Table, pa.Table], pa.Table]:
    """Return the function that judges one run of a lake by a promise."""

    def judge(key: tuple[pa.Scalar, ...], rows: pa.Table, damage: pa.Table) -> pa.Table:
        if not rows.num_rows:  # damage of a run that is no suspect
            return pa.Table.from_pylist([], schema=FOUND)
        events = list(events_of(rows))
        named = [process for process, _ in events] + damage.column("process").to_pylist()
        logs: list[list[Event]] = [
            [] for _ in range(max((p for p in named if p is not None), default=-1) + 1)
        ]
        for process, event in events:
            logs[process].append(event)
        faults = set(damage.column("reason").to_pylist())
        judged = RunFindings(
            judge_history(logs, promise), tuple(Problem(Path(), 0, reason) for reason in sorted(faults))
        )
        found = [_row(key[0].as_py(), finding, judged) for finding in judged.findings]
        return pa.Table.from_pylist(found, schema=FOUND)

    return judge


def _row(run: object, finding: Finding, judged: RunFindings) -> dict[str, Any]:
    return {
        "run": run,
        "property": finding.property,
        "outcome": judged.outcome(finding).value,
        "offending": finding.offending,
        "reason": finding.reason,
        "first": _place(finding.first),
        "second": _place(finding.second),
        "judged": finding.judged,
        "doubt": finding.doubt,
        "implied": finding.implied,
        "odd": finding.odd,
        "told": judged.sentence(finding),
    }


def _place(place: Place | None) -> dict[str, Any] | None:
    return None if place is None else {"process": place.process, "i": place.index, "m": place.message}
