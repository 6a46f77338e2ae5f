"""The columns of every table of the pipeline; those of events are the fields of the trace schema.

`EVENTS` is what Parquet keeps of a log. `line` counts from 1 (the header), `i` from 0. This module names no
field of a log: it takes them from `trace.schema`, and holds no other computation.
"""

from __future__ import annotations

from typing import Final, get_args

import msgspec
from msgspec import inspect
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from antiphon.conformance.trace import schema as trace

_COLUMNS: Final[dict[type[inspect.Type], DataType]] = {
    inspect.IntType: LongType(),
    inspect.StrType: StringType(),
    inspect.FloatType: DoubleType(),
    inspect.VarTupleType: ArrayType(LongType()),
}
"""The column of each type of field that a log may have; a tuple is one of integers."""


def _struct(**fields: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in fields.items()])


def _fields(record: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    """The fields of a record of the trace schema."""
    kind = inspect.type_info(record)
    assert isinstance(kind, inspect.StructType)
    return kind.fields


def _event(kinds: tuple[type[msgspec.Struct], ...]) -> StructType:
    """One struct for all kinds of events: the index, which all have, the kind, then every further field once.

    Of two fields of one kind the earlier comes first; what a kind may end with comes last, by name.
    """
    types: dict[str, DataType] = {}
    followers: dict[str, int] = {}
    for kind in kinds:
        fields = _fields(kind)
        for position, field in enumerate(fields):
            types[field.name] = _COLUMNS[type(field.type)]
            followers[field.name] = max(followers.get(field.name, 0), len(fields) - position - 1)
    index, *others = sorted(types, key=lambda name: (-followers[name], name))
    tag = kinds[0].__struct_config__.tag_field
    assert tag is not None
    return _struct(**{index: types[index], tag: StringType()}, **{name: types[name] for name in others})


RUNS: Final = _struct(run=StringType(), path=StringType())
"""One row a run: its name, and the directory that holds its logs."""

_LATER: Final = (
    (trace.Install, trace.Transitional),
    (trace.Safe, trace.Propose, trace.Decide, trace.Suspect, trace.Trust, trace.Alarm),
)
"""Kinds that came when files of events were there already, in two steps: their own columns stand behind the
others.
"""


def _columns() -> StructType:
    """The columns of the first kinds, then those that each step has added."""
    later = [kind for kinds in _LATER for kind in kinds]
    columns = list(_event(tuple(kind for kind in get_args(trace.Event) if kind not in later)).fields)
    for kinds in _LATER:
        columns += [field for field in _event(kinds).fields if field not in columns]
    return StructType(columns)


EVENT: Final = _columns()
"""Any other line of a log; what a kind does not have is null."""

EVENTS: Final = StructType(
    [*_struct(run=StringType(), process=IntegerType(), line=LongType()).fields, *EVENT.fields]
)
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

ROWS: Final = StructType([*EVENTS.fields, *(field for field in DAMAGE.fields if field not in EVENTS.fields)])
"""One row a line that is an event, or faulty, or both; and one row a fault between the logs of a run."""

PLACE: Final = _struct(process=IntegerType(), i=LongType(), m=StringType())

VERDICTS: Final = _struct(
    run=StringType(),
    property=StringType(),
    outcome=StringType(),
    offending=LongType(),
    reason=StringType(),
    first=PLACE,
    second=PLACE,
)
"""One row a run and property; `outcome` is holds, violated or unknown, the rest is what was found."""

FOUND: Final = StructType([StructField("run", LongType()), *VERDICTS.fields[1:]])
"""The same where a run is a number."""
