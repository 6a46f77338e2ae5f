"""Every line of every log is a header, an event, or located damage; none is dropped.

The transforms from text to events. What a line is, `trace.lines` decides, as it does for every other reader;
here are the rules between the lines of one log. A file is read in blocks by many tasks, and its lines get
their numbers from the order in which a block is read. Transforms only: this module neither reads nor writes,
and knows no property.
"""

from __future__ import annotations

import msgspec
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import StringType, StructField, StructType

from antiphon.conformance.pipeline.schema import EVENT, HEADER
from antiphon.conformance.trace import AFTER_CRASH, AFTER_END
from antiphon.conformance.trace.lines import decode_line

OUT_OF_SEQUENCE = "the index does not follow that of the event before"

_DECODED = StructType(
    [StructField("header", HEADER), StructField("event", EVENT), StructField("fault", StringType())]
)
_ARROW = to_arrow_type(_DECODED)


def number_lines(raw: DataFrame) -> DataFrame:
    """Number the lines of each file from 1.

    Takes `value`, `path`, `block` (where in the file the task began) and `row` (increasing in the
    order of reading within a block). Gives `LINES`.
    """
    in_file = Window.partitionBy("run", "process").orderBy("block", "row")
    in_file = in_file.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    # The directory of a run and the number of a process stand in the path, which Spark gives as a URI.
    path = F.url_decode(F.replace("path", F.lit("+"), F.lit("%2B")))
    located = raw.select(
        F.regexp_extract(path, r"([^/]+)/process-[0-9]+\.ndjson\z", 1).alias("run"),
        F.regexp_extract(path, r"process-([0-9]+)\.ndjson\z", 1).cast("int").alias("process"),
        "block",
        "row",
        "value",
    )
    return located.select("run", "process", F.row_number().over(in_file).cast("long").alias("line"), "value")


def parse_lines(lines: DataFrame) -> DataFrame:
    """Read each line: `header` on a first line that is one, `event` where it is one, and `faults`.

    Gives run, process, line, value, header, event (both null where the line is none), faults.
    """
    decoded = lines.withColumn("decoded", _decode("line", F.col("value").cast("binary")))
    decoded = decoded.select("run", "process", "line", "value", "decoded.*")
    earlier = Window.partitionBy("run", "process").orderBy("line").rowsBetween(Window.unboundedPreceding, -1)
    seen = F.when(F.col("event").isNotNull(), F.struct("event.i", "event.kind", "line"))
    judged = decoded.withColumn("before", F.last(seen, ignorenulls=True).over(earlier))
    order_fault = F.when(F.col("event.i") != _expected_index(), F.lit(OUT_OF_SEQUENCE))
    kind, before = F.col("event.kind"), F.col("before.kind")
    after_fault = F.when(kind.isNotNull() & (before == "end"), F.lit(AFTER_END))
    after_fault = after_fault.when((before == "crash") & (kind != "end"), F.lit(AFTER_CRASH))
    faults = F.array_compact(F.array("fault", order_fault, after_fault))
    return judged.select("run", "process", "line", "value", "header", "event", faults.alias("faults"))


def events_of(parsed: DataFrame) -> DataFrame:
    """Keep the events. Gives `EVENTS`."""
    return parsed.filter(F.col("event").isNotNull()).select("run", "process", "line", "event.*")


def _decode_batch(numbers: pa.Array, lines: pa.Array) -> pa.Array:
    """Decode a batch of lines, each with its number."""
    read = map(decode_line, numbers.to_pylist(), lines.to_pylist())
    rows = [
        {
            "header": None if line.header is None else msgspec.to_builtins(line.header),
            "event": None if line.event is None else msgspec.to_builtins(line.event),
            "fault": line.fault,
        }
        for line in read
    ]
    return pa.array(rows, type=_ARROW)


_decode = arrow_udf(_decode_batch, _DECODED)  # type: ignore[call-overload]


def _expected_index() -> Column:
    """What the index of this line's event must be: a bad line takes one index, as a good one does."""
    after = F.col("before.i") + F.col("line") - F.col("before.line")
    return F.coalesce(after, F.greatest(F.col("line") - 2, F.lit(0)))
