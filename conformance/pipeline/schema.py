"""The columns of every table of the pipeline, beside the trace schema from which they come.

`EVENTS` is what Parquet keeps of a log; the names are those of the trace schema. `line` counts from
1 (the header), `i` from 0. This module holds types and names, no computation.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql.types import (
    BinaryType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)


def _struct(**fields: StringType | LongType | IntegerType | DoubleType | BinaryType | StructType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in fields.items()])


FILES: Final = _struct(run=StringType(), process=IntegerType(), path=StringType(), size=LongType())
"""One row a log that can be opened; `size` in bytes."""

LINES: Final = _struct(run=StringType(), process=IntegerType(), line=LongType(), value=StringType())
"""One row a line of a log, without its end of line; `value` may hold any bytes."""

HEADER: Final = _struct(
    schema=StringType(),
    version=LongType(),
    run=StringType(),
    protocol=StringType(),
    process=LongType(),
    processes=LongType(),
    seed=LongType(),
    messages=LongType(),
    loss=DoubleType(),
    duplication=DoubleType(),
    reordering=DoubleType(),
)
"""The first line of a log."""

EVENT: Final = _struct(i=LongType(), kind=StringType(), m=StringType(), number=LongType(), d=StringType(), digest=StringType())
"""Any other line of a log; what a kind does not have is null."""

EVENTS: Final = StructType([*_struct(run=StringType(), process=IntegerType(), line=LongType()).fields, *EVENT.fields])
"""One row an event that could be read."""

DAMAGE: Final = _struct(
    run=StringType(),
    process=IntegerType(),
    path=StringType(),
    line=LongType(),
    reason=StringType(),
    text=BinaryType(),
)
"""One row a fault; `process` is null for a whole run, `line` 0 for a whole file, `text` the bad line."""

DELIVERIES: Final = _struct(
    run=StringType(),
    process=IntegerType(),
    line=LongType(),
    i=LongType(),
    m=StringType(),
    digest=StringType(),
    position=IntegerType(),
    copy=IntegerType(),
)
"""One row a delivery: its `position` in its process, and the how-manieth of its message there; both from 1."""

PLACE: Final = _struct(process=IntegerType(), i=LongType(), m=StringType())

FINDINGS: Final = _struct(
    run=StringType(),
    property=StringType(),
    offending=LongType(),
    reason=StringType(),
    first=PLACE,
    second=PLACE,
)
"""One row a run that offends a property: how often, why at first, and the two events that clash."""

VERDICTS: Final = _struct(
    run=StringType(),
    property=StringType(),
    outcome=StringType(),
    offending=LongType(),
    reason=StringType(),
    first=PLACE,
    second=PLACE,
)
"""One row a run and property; `outcome` is holds, violated or unknown."""
