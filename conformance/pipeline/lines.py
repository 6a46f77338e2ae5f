"""Every line of every log is a header, an event, or located damage; none is dropped.

The transforms from text to events, with the rules of `trace.reader`: a line is an event only if it
has exactly the fields of its kind, in their types. A file is read in blocks by many tasks, and its
lines get their numbers from the order in which a block is read. Transforms only: this module
neither reads nor writes, and knows no property.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it
from pyspark.sql.types import ArrayType

from antiphon.conformance.pipeline.schema import EVENT, HEADER
from antiphon.conformance.trace import SCHEMA, VERSION

NO_HEADER = "no header"
OTHER_SCHEMA = f"another schema than {SCHEMA!r}"
OTHER_VERSION = f"another version of the schema than {VERSION}"
NOT_A_HEADER = "not a header"
NOT_AN_EVENT = "not an event"
OUT_OF_SEQUENCE = "the index does not follow that of the event before"
AFTER_END = "an event after end"
AFTER_CRASH = "an event of a process that has crashed"

_FIELDS = {
    "broadcast": ("digest", "i", "kind", "m"),
    "deliver": ("digest", "i", "kind", "m", "number"),
    "send": ("d", "i", "kind"),
    "receive": ("d", "i", "kind"),
    "crash": ("i", "kind"),
    "end": ("i", "kind"),
}
_REQUIRED = ("run", "protocol", "process", "processes", "seed", "messages")
_PAIR = r"\A(0|[1-9][0-9]*):(0|[1-9][0-9]*)\z"
_HEX = r"\A([0-9a-f]{2})*\z"
_FLAT = r"\A[ \t\r]*\{[^{}\[\]]*\}[ \t\r]*\z"
_TEXT_DIGEST = r'"digest"[ \t]*:[ \t]*"'
_JSON = {"allowSingleQuotes": "false", "allowNonNumericNumbers": "false"}


def number_lines(raw: DataFrame) -> DataFrame:
    """Number the lines of each file from 1.

    Takes `value`, `path`, `block` (where in the file the task began) and `row` (increasing in the
    order of reading within a block). Gives `LINES`.
    """
    in_file = Window.partitionBy("run", "process").orderBy("block", "row").rowsBetween(Window.unboundedPreceding, Window.currentRow)
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
    keys = F.array_sort(F.json_object_keys("value"))
    # Spark's reader stops at the end of a value and would not see what follows it on the line; the
    # brackets make it read on. An event is flat, and a pattern tells as much.
    heads = F.from_json(F.concat(F.lit("["), "value", F.lit("]")), ArrayType(HEADER), _JSON)
    parsed = lines.select(
        "*",
        F.when((F.col("line") == 1) & (F.size(heads) == 1), heads[0]).alias("head"),
        F.when(F.col("value").rlike(_FLAT), F.from_json("value", EVENT, _JSON)).alias("read"),
        keys.alias("keys"),
    )
    event = F.when(_is_event(), F.col("read"))
    judged = parsed.select("*", event.alias("event"), _header_fault().alias("header_fault"))
    seen = F.struct(F.col("event.i").alias("i"), F.col("event.kind").alias("kind"), "line")
    seen = F.when(F.col("event").isNotNull(), seen)
    judged = judged.withColumn("before", F.last(seen, ignorenulls=True).over(_earlier()))
    no_header_but_event = (F.col("header_fault") == NO_HEADER) & F.col("event").isNotNull()
    is_event_line = (F.col("line") > 1) | no_header_but_event
    event_fault = F.when(is_event_line & F.col("event").isNull(), F.lit(NOT_AN_EVENT))
    order_fault = F.when(is_event_line & (F.col("event.i") != _expected_index()), F.lit(OUT_OF_SEQUENCE))
    after_fault = F.when(F.col("event").isNull(), F.lit(None).cast("string"))
    after_fault = after_fault.when(F.col("before.kind") == "end", F.lit(AFTER_END))
    after_fault = after_fault.when((F.col("before.kind") == "crash") & (F.col("event.kind") != "end"), F.lit(AFTER_CRASH))
    return judged.select(
        "run",
        "process",
        "line",
        "value",
        F.when((F.col("line") == 1) & F.col("header_fault").isNull(), F.col("head")).alias("header"),
        F.when(is_event_line, F.col("event")).alias("event"),
        F.array_compact(F.array("header_fault", event_fault, order_fault, after_fault)).alias("faults"),
    )


def events_of(parsed: DataFrame) -> DataFrame:
    """Keep the events. Gives `EVENTS`."""
    return parsed.filter(F.col("event").isNotNull()).select("run", "process", "line", "event.*")


def _earlier() -> WindowSpec:
    return Window.partitionBy("run", "process").orderBy("line").rowsBetween(Window.unboundedPreceding, -1)


def _expected_index() -> Column:
    """What the index of this line's event must be: a bad line takes one index, as a good one does."""
    after = F.col("before.i") + F.col("line") - F.col("before.line")
    return F.coalesce(after, F.greatest(F.col("line") - 2, F.lit(0)))


def _is_event() -> Column:
    """Whether `read` is an event with exactly the fields of its kind."""
    kinds = [(F.col("read.kind") == kind) & (F.col("keys") == F.array(*map(F.lit, fields))) for kind, fields in _FIELDS.items()]
    fields = F.col("read.i") >= 0
    fields &= F.col("read.m").isNull() | F.col("read.m").rlike(_PAIR)
    fields &= F.col("read.d").isNull() | F.col("read.d").rlike(_PAIR)
    fields &= F.col("read.number").isNull() | (F.col("read.number") >= 1)
    fields &= F.col("read.digest").isNull() | (F.col("read.digest").rlike(_HEX) & F.col("value").rlike(_TEXT_DIGEST))
    present = [F.array_contains("keys", name) == F.col(f"read.{name}").isNotNull() for name in ("m", "d", "number", "digest")]
    return F.coalesce(reduce(Column.__or__, kinds) & fields & reduce(Column.__and__, present), F.lit(False))


def _header_fault() -> Column:
    """What is wrong with the first line as a header; null on every other line."""
    known = F.array(*map(F.lit, HEADER.fieldNames()))
    complete = reduce(Column.__and__, (F.col(f"head.{name}").isNotNull() for name in _REQUIRED))
    present = reduce(
        Column.__and__,
        (F.array_contains("keys", name) == F.col(f"head.{name}").isNotNull() for name in HEADER.fieldNames()),
    )
    ranges = (F.length("head.run") > 0) & (F.length("head.protocol") > 0) & F.col("head.processes").between(1, 10_000)
    ranges &= (F.col("head.process") >= 0) & (F.col("head.messages") >= 0)
    for name in ("loss", "duplication", "reordering"):
        ranges &= F.col(f"head.{name}").isNull() | F.col(f"head.{name}").between(0, 1)
    well_formed = F.is_valid_utf8("value") & complete & present & ranges & (F.size(F.array_except("keys", known)) == 0)
    named = F.col("head.schema").isNotNull() & F.col("head.version").isNotNull()
    return F.when(
        F.col("line") == 1,
        F.when(~F.coalesce(named, F.lit(False)), F.lit(NO_HEADER))
        .when(F.col("head.schema") != SCHEMA, F.lit(OTHER_SCHEMA))
        .when(F.col("head.version") != VERSION, F.lit(OTHER_VERSION))
        .when(~F.coalesce(well_formed, F.lit(False)), F.lit(NOT_A_HEADER)),
    )
