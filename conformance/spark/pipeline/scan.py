"""Finder of healthy runs, in one pass over the rows, without a sort, and one exchange of a row a run.

Rows come sorted by run and message, all rows of a message together (`lake`). So each message is judged alone,
and each run by sums over its messages. A run is healthy, and keeps every property of total order, if

1. its logs have no fault, and its facts are as `facts.Fact.SOUND` says;
2. each message is broadcast once, by its source and nobody else, and is delivered; the source's number of
  deliveries at the broadcast is smaller than the message's position; all its deliveries have one position,
  one number, and the
   digest of its broadcast;
3. each datagram is sent once, by its sender, and received by nobody but whom it is for, and only if sent;
4. there are as many messages as the longest log has deliveries.

Why that suffices. By 2 a message has one position, so no process delivers it twice, and by 4 each position up
to the longest log's has one message: all processes deliver prefixes of one sequence (total, prefix and global
order; numbers, which by 1 grow in each log). By 1 every correct process has all of it (agreement), and by 2
everything that is broadcast is in it (validity). Counting deliveries as time, each broadcast comes before its
deliveries, and no log goes back: nothing comes before its cause; with datagrams 1 says so.

Such a run keeps other promises too (`facts_for`). With `SENDERS_ORDER` a source's broadcasts are in the one
sequence in their order; so are its earlier deliveries, by 2. This gives FIFO and causal order, and, since
nothing is missing, the reliable ones. Views, decisions and suspicions do not occur, so that nothing is known
of their properties. Runs that have them are judged one by one, and so are runs with too few events to judge
(`COMPARED`, `OF_ONE_SOURCE`).

The reverse does not hold: a run that is not found healthy is a suspect, and `history` judges it. This module
reads no file, and finds no places of violations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from antiphon.conformance.judge.history.circles import UNIFORM_GLOBAL_ORDER
from antiphon.conformance.judge.history.content import NO_DUPLICATION
from antiphon.conformance.judge.history.datagrams import CAUSALITY, DATAGRAM_INTEGRITY
from antiphon.conformance.judge.history.members import HANDOVER, NO_VIOLATION
from antiphon.conformance.spark.pipeline.columns import CODES
from antiphon.conformance.spark.pipeline.facts import Fact
from antiphon.conformance.spark.pipeline.session import confs
from antiphon.spec.services.broadcast import (
    AGREEMENT,
    BROADCAST_ONCE,
    UNIFORM_AGREEMENT,
    UNIFORM_INTEGRITY,
    VALIDITY,
)
from antiphon.spec.services.causal import CAUSAL, FIFO, RELIABLE_CAUSAL, RELIABLE_FIFO
from antiphon.spec.services.order import UNIFORM_NUMBERING, UNIFORM_PREFIX_ORDER, UNIFORM_TOTAL_ORDER
from antiphon.spec.services.promises import About

_OF_SENDERS: Final = (FIFO, CAUSAL, RELIABLE_FIFO, RELIABLE_CAUSAL)
_OF_ALL: Final = (
    BROADCAST_ONCE, VALIDITY, UNIFORM_INTEGRITY, NO_DUPLICATION, UNIFORM_AGREEMENT, AGREEMENT,
    UNIFORM_TOTAL_ORDER, UNIFORM_PREFIX_ORDER, UNIFORM_GLOBAL_ORDER, UNIFORM_NUMBERING, DATAGRAM_INTEGRITY,
    CAUSALITY, HANDOVER, NO_VIOLATION,
)  # fmt: skip
"""The properties that a healthy run keeps; the docstring of this module argues for each."""


def facts_for(properties: Collection[str]) -> Fact | None:
    """Return the facts that a run needs, beside the result of the pass over its rows, to keep these
    properties; None if no facts suffice.
    """
    if not JUDGED.keys() >= set(properties):
        return None
    facts = Fact.SOUND | Fact.COMPARED
    if {each.name for each in _OF_SENDERS} & set(properties):
        facts |= Fact.SENDERS_ORDER | Fact.OF_ONE_SOURCE
    return facts


_COLUMNS: Final[Mapping[About, str]] = {
    "broadcasts": "broadcasts",
    "broadcasts by their sources": "broadcasts",
    "deliveries": "deliveries",
    "several deliveries": "deliveries",
    "deliveries owed": "owed",
    "deliveries shared": "shared",
    "places compared": "compared",
    "deliveries in rows": "in_rows",
    "deliveries of one source": "of_one_source",
    "caused deliveries": "of_one_source + answers",
    "datagrams": "datagrams",
    "handovers": "core",
    "events": "events",
}
JUDGED: Final[Mapping[str, str]] = {each.name: _COLUMNS[each.about] for each in (*_OF_ALL, *_OF_SENDERS)}
"""Columns of `chunks.RUNS` with the number of events of a healthy run that each property concerns."""


_PLAN: Final = {
    # A bucket is one file and is sorted: Spark believes that only if it is told to.
    "spark.sql.legacy.bucketedTableScan.outputOrdering": "true",
    "spark.sql.sources.bucketing.enabled": "true",
    "spark.sql.sources.bucketing.autoBucketedScan.enabled": "false",
    "spark.sql.execution.replaceHashWithSortAgg": "true",
}


@contextmanager
def in_one_pass(session: SparkSession) -> Iterator[None]:
    """Context in which Spark's settings make the plans of this module need no sort and one exchange."""
    with confs(session, _PLAN):
        yield


def health_of(rows: DataFrame, facts: Fact = Fact.SOUND) -> DataFrame:
    """Return a row for each run, with the columns run and healthy: whether the run is healthy and its logs
    have these facts. `rows` are `columns.EVENTS`, in the order in which `lake` opens them.
    """
    # One text, since Spark takes milliseconds for every operator of an expression that Python puts together.
    return rows.sparkSession.sql(_QUERY, {"facts": int(facts)}, rows=rows)


def _spread(name: str, where: str, column: str) -> dict[str, str]:
    return {f"{name}_{end}": f"{end}(IF({where}, {column}, NULL))" for end in ("min", "max")}


def _count(where: str) -> str:
    return f"count(IF({where}, 1, NULL))"


_BROADCAST, _DELIVER, _SEND, _RECEIVE, _RUN = (
    f"kind = {CODES[kind]}" for kind in ("broadcast", "deliver", "send", "receive", "run")
)
_CONTENT: Final = f"({_BROADCAST} OR {_DELIVER})"

_OF_MESSAGE: Final = {
    "sent": _count(f"{_BROADCAST} AND process = source"),
    "foreign": _count(f"{_BROADCAST} AND process <> source"),
    "after": f"max(IF({_BROADCAST}, position, NULL))",
    "got": _count(_DELIVER),
    **_spread("position", _DELIVER, "position"),
    **_spread("number", _DELIVER, "number"),
    **_spread("high", _CONTENT, "high"),
    **_spread("low", _CONTENT, "low"),
    "datagrams": _count(f"{_SEND} AND process = source"),
    "foreign_datagrams": _count(f"{_SEND} AND process <> source"),
    "received": _count(_RECEIVE),
    "meant_for": f"min(IF({_SEND}, peer, NULL))",
    **_spread("receiver", _RECEIVE, "process"),
    "deliveries": f"max(IF({_RUN}, position, NULL))",
    "facts": f"max(IF({_RUN}, number, NULL))",
}
"""Sums over a message, over the datagram with the same two numbers, and over a run. Minima, maxima and counts
of integers alone: they need no room that grows.
"""

_SAME: Final = " AND ".join(f"{name}_min = {name}_max" for name in ("position", "number", "high", "low"))
_ONCE: Final = f"sent = 1 AND got > 0 AND after < position_min AND {_SAME}"
_SOUND_MESSAGE: Final = f"(foreign = 0 AND ((sent = 0 AND got = 0) OR ({_ONCE})))"
_TO_ITS_RECEIVER: Final = "(receiver_min = receiver_max AND receiver_min = meant_for)"
_SOUND_DATAGRAM: Final = f"""(foreign_datagrams = 0 AND (
    (datagrams = 0 AND received = 0) OR (datagrams = 1 AND (received = 0 OR {_TO_ITS_RECEIVER}))
))"""

_QUERY: Final = f"""
WITH by_message AS (
  SELECT run, source, `count`, {", ".join(f"{value} AS {name}" for name, value in _OF_MESSAGE.items())}
  FROM {{rows}} GROUP BY run, source, `count`
), judged AS (
  SELECT run, deliveries, facts,
    IF(source IS NULL OR ({_SOUND_MESSAGE} AND {_SOUND_DATAGRAM}), 0, 1) AS bad,
    IF(got > 0, 1, 0) AS delivered
  FROM by_message
), by_run AS (
  SELECT run, sum(bad) AS bad, sum(delivered) AS delivered, max(deliveries) AS deliveries, max(facts) AS facts
  FROM judged GROUP BY run
)
SELECT run,
  coalesce((facts & :facts) <=> :facts AND bad = 0 AND delivered = deliveries, false) AS healthy
FROM by_run"""  # noqa: S608 - of constants
