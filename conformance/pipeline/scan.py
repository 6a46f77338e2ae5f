"""Which runs are healthy is told by one pass over the rows, without a sort, and one exchange of a row a run.

Rows come sorted by run and message, all rows of a message together (`lake`). So each message is judged alone,
and each run by sums over its messages. A run is healthy, and keeps every property of total order, if

1. its logs have no fault, and its facts are as `facts.Fact.SOUND` says;
2. each message is broadcast once, by its source and nobody else, and is delivered; its source has delivered
   less than its position when it broadcasts it; all its deliveries have one position, one number, and the
   digest of its broadcast;
3. each datagram is sent once, by its sender, and received by nobody but whom it is for, and only if sent;
4. there are as many messages as the longest log has deliveries.

Why that suffices. By 2 a message has one position, so no process delivers it twice, and by 4 each position
up to the longest log's has one message: all processes deliver prefixes of one sequence (total, prefix and
global order; numbers, which by 1 grow in each log). By 1 every correct process has all of it (agreement),
and by 2 everything that is broadcast is in it (validity). Counting deliveries as time, each broadcast comes
before its deliveries, and no log goes back: nothing comes before its cause; with datagrams 1 says so.

What else may be promised (`facts_for`) such a run keeps too, in which no view is installed, nothing proposed
and nobody suspected. All are in the first view from the beginning to the end. What a source has broadcast
stands in the one sequence in the order of broadcasts, if `SENDERS_ORDER`; so does what it had delivered
before, by 2: FIFO and causal order, and, since nothing is left out, the reliable ones. What is owed to the
members of a view, or for a crash, is kept where nobody crashes. That each message is told to be safe is not
kept by silence: who promises that is judged run by run.

The reverse does not hold: a run that is not found healthy is a suspect, and the judge of `history` has the
word. This module reads no file, and locates nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from antiphon.conformance.history import FURTHER_PROPERTIES, PROPERTIES
from antiphon.conformance.history.finding import (
    ALARM_COMPLETENESS,
    CAUSAL,
    FIFO,
    RELIABLE_CAUSAL,
    RELIABLE_FIFO,
    STRONG_COMPLETENESS,
    VSC_TERMINATION,
    WEAK_COMPLETENESS,
)
from antiphon.conformance.pipeline.columns import CODES
from antiphon.conformance.pipeline.facts import Fact
from antiphon.conformance.pipeline.session import confs

_OF_ONE_VIEW: Final = frozenset(FURTHER_PROPERTIES) - {"SafeIndicationLiveness"}
_OF_SENDERS: Final = {FIFO, CAUSAL, RELIABLE_FIFO, RELIABLE_CAUSAL}
_OF_THE_CRASHED: Final = {
    VSC_TERMINATION,
    "TerminationOfDelivery",
    STRONG_COMPLETENESS,
    WEAK_COMPLETENESS,
    ALARM_COMPLETENESS,
}


def facts_for(properties: Collection[str]) -> Fact | None:
    """Which facts a run needs beside what the pass tells, so that it keeps these properties; none if no facts
    suffice.
    """
    if not set(properties) <= {*PROPERTIES, *_OF_ONE_VIEW}:
        return None
    facts = Fact.SOUND
    if _OF_SENDERS & set(properties):
        facts |= Fact.SENDERS_ORDER
    if _OF_THE_CRASHED & set(properties):
        facts |= Fact.NO_CRASH
    return facts


_PLAN: Final = {
    # A bucket is one file and is sorted: Spark believes that only if it is told to.
    "spark.sql.legacy.bucketedTableScan.outputOrdering": "true",
    "spark.sql.sources.bucketing.enabled": "true",
    "spark.sql.sources.bucketing.autoBucketedScan.enabled": "false",
    "spark.sql.execution.replaceHashWithSortAgg": "true",
}


@contextmanager
def in_one_pass(session: SparkSession) -> Iterator[None]:
    """The settings under which a plan of this module has no sort and one exchange."""
    with confs(session, _PLAN):
        yield


def health_of(rows: DataFrame, facts: Fact = Fact.SOUND) -> DataFrame:
    """Tell of each run whether it is healthy, and its logs have these facts. Takes `columns.EVENTS` as `lake`
    opens them; gives run, healthy.
    """
    by_message = rows.groupBy("run", "source", "count").agg(
        *(value.alias(name) for name, value in _of_message().items())
    )
    judged = by_message.select(
        "run",
        "deliveries",
        "facts",
        F.when(F.col("source").isNull() | (_sound_message() & _sound_datagram()), 0)
        .otherwise(1)
        .alias("bad"),
        F.when(F.col("got") > 0, 1).otherwise(0).alias("delivered"),
    )
    by_run = judged.groupBy("run").agg(
        F.sum("bad").alias("bad"),
        F.sum("delivered").alias("delivered"),
        F.max("deliveries").alias("deliveries"),
        F.max("facts").alias("facts"),
    )
    healthy = (
        F.col("facts").bitwiseAND(int(facts)).eqNullSafe(int(facts))
        & (F.col("bad") == 0)
        & (F.col("delivered") == F.col("deliveries"))
    )
    return by_run.select("run", F.coalesce(healthy, F.lit(False)).alias("healthy"))


def _of_message() -> dict[str, Column]:
    """What is summed up of a message, of the datagram with the same two numbers, and of a run. Minima, maxima
    and counts of integers alone: they need no room that grows.
    """
    broadcast, deliver, send, receive, run = map(_is, ("broadcast", "deliver", "send", "receive", "run"))
    own = F.col("process") == F.col("source")
    content = broadcast | deliver
    return {
        "sent": F.count(F.when(broadcast & own, 1)),
        "foreign": F.count(F.when(broadcast & ~own, 1)),
        "after": F.max(F.when(broadcast, F.col("position"))),
        "got": F.count(F.when(deliver, 1)),
        **_range("position", deliver, "position"),
        **_range("number", deliver, "number"),
        **_range("high", content, "high"),
        **_range("low", content, "low"),
        "datagrams": F.count(F.when(send & own, 1)),
        "foreign_datagrams": F.count(F.when(send & ~own, 1)),
        "received": F.count(F.when(receive, 1)),
        **_range("meant_for", send, "peer"),
        **_range("receiver", receive, "process"),
        "deliveries": F.max(F.when(run, F.col("position"))),
        "facts": F.max(F.when(run, F.col("number"))),
    }


def _sound_message() -> Column:
    once = (
        (F.col("sent") == 1)
        & (F.col("got") > 0)
        & (F.col("after") < F.col("position_min"))
        & _same("position")
        & _same("number")
        & _same("high")
        & _same("low")
    )
    return (F.col("foreign") == 0) & (((F.col("sent") == 0) & (F.col("got") == 0)) | once)


def _sound_datagram() -> Column:
    to_its_receiver = _same("receiver") & (F.col("receiver_min") == F.col("meant_for_min"))
    once = (F.col("datagrams") == 1) & ((F.col("received") == 0) | to_its_receiver)
    never = (F.col("datagrams") == 0) & (F.col("received") == 0)
    return (F.col("foreign_datagrams") == 0) & (never | once)


def _is(kind: str) -> Column:
    return F.col("kind") == CODES[kind]


def _range(name: str, where: Column, column: str) -> dict[str, Column]:
    value = F.when(where, F.col(column))
    return {f"{name}_min": F.min(value), f"{name}_max": F.max(value)}


def _same(name: str) -> Column:
    return F.col(f"{name}_min") == F.col(f"{name}_max")
