"""Choice of the place of tasks: this process for a narrow level, Spark for a wide one, with the same
functions.

One level is one job: pieces of it are expanded, and the task of each partition gets the places of its blocks
in the lake, and takes them in. Rows of Spark have places of states, and no states. Spark is started at the
first wide level; Spark itself does so little that Java need not compile it well.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Final

import msgspec
import numpy as np
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from antiphon.conformance.spark.pipeline.errors import PipelineError
from antiphon.conformance.spark.pipeline.masters import require_master
from antiphon.conformance.spark.pipeline.session import confs, cores, first_line, spark_session, telling
from antiphon.conformance.spark.states import workers
from antiphon.conformance.spark.states.lake import LakeError
from antiphon.conformance.spark.states.tasks import (
    Choice,
    Piece,
    Told,
    Work,
    blocks,
    choose,
    expand,
    pieces,
    take_in,
)
from antiphon.model.engines.native.driver.batcher import Words

NARROW: Final = 1_500_000
"""Number of states below which a level is expanded in this process: on two cores that takes no longer than a
job of Spark.
"""
TASKS_A_CORE: Final = 2
_SETTINGS: Final = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
}

Chosen = tuple[list[tuple[int, int]], Words]


class Runner:
    """Runner of the tasks of one search.

    Args:
        stack: closes what was started.
        master: Spark's master; checked at once, used when it is needed.
        narrow: a level of fewer states is expanded in this process.
        tell: called with the number of finished tasks.
    """

    def __init__(
        self,
        stack: ExitStack,
        master: str | None,
        narrow: int = NARROW,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        if master is not None:
            require_master(master)
        self._stack, self._master, self._narrow, self._tell = stack, master, narrow, tell
        self._session: SparkSession | None = None
        self._tasks = 1
        self.jobs = 0

    def find(self, work: Work, counts: Sequence[int]) -> list[Told]:
        """Expand the level before `work.level`, and store the new states. `counts` has the number of its
        states in each partition.
        """
        if sum(counts) < self._narrow:
            return _here(work, pieces(work.level - 1, counts, 1))
        session = self._started()
        cut = pieces(work.level - 1, counts, self._tasks)
        frame = (
            session.range(0, len(cut), 1, len(cut))
            .mapInArrow(workers.expanding(work, cut), workers.BLOCKS)
            .repartitionById(work.partitions, "partition")
            .mapInArrow(workers.taking_in(work), workers.TOLD)
        )
        told = [msgspec.msgpack.decode(row, type=Told) for row in self._collected(session, frame)]
        work.lake.remove_found()
        return told

    def choose(self, work: Work, level: int, counts: Sequence[int], choice: Choice) -> list[Chosen]:
        """Return the states of a level that match a choice, in parts."""
        if sum(counts) < self._narrow:
            return [choose(work, given, choice) for given in pieces(level, counts, 1)]
        session = self._started()
        cut = pieces(level, counts, self._tasks)
        before = None if choice.before is None else choice.before.tobytes()
        frame = session.range(0, len(cut), 1, len(cut)).mapInArrow(
            workers.choosing(work, cut, Choice(choice.fact, choice.wanted), before), workers.TOLD
        )
        found = []
        for row in self._collected(session, frame):
            places, words, content = msgspec.msgpack.decode(row)
            rows = np.frombuffer(content, dtype=np.uint64).reshape(-1, words)
            found.append(([(partition, place) for partition, place in places], rows))
        return found

    def _started(self) -> SparkSession:
        if self._session is None:
            self._session = self._stack.enter_context(spark_session(self._master))
            self._stack.enter_context(confs(self._session, _SETTINGS))
            self._tasks = TASKS_A_CORE * cores(self._session)
        return self._session

    def _collected(self, session: SparkSession, frame: DataFrame) -> list[bytes]:
        """Run the tasks of a frame on Spark, and return their answers.

        Raises:
            LakeError: a task says so, a disk is full, or a worker was killed.
            PipelineError: Spark cannot do it.
        """
        self.jobs += 1
        try:
            with telling(session, self._tell):
                return [bytes(row.told) for row in frame.collect()]
        except (PySparkException, Py4JJavaError) as error:
            told = re.findall(r"^\S*(?:LakeError|InputError): (.*)$", str(error), re.MULTILINE)
            if told:
                raise LakeError(told[-1]) from error
            if "No space left on device" in str(error):
                raise LakeError(
                    "a disk is full: the same command goes on at the last whole level when there is room"
                ) from error
            if "Python worker exited unexpectedly" in str(error):
                raise LakeError(
                    "a worker of Spark was killed, perhaps for its memory: "
                    "the same command goes on at the last whole level"
                ) from error
            raise PipelineError(f"Spark cannot expand a level: {_last_line(error)}") from error


def _here(work: Work, cut: Sequence[Sequence[Piece]]) -> list[Told]:
    """Expand a level in this process."""
    rows: dict[int, list[Words]] = defaultdict(list)
    told = []
    for given in cut:
        for found in expand(work, given):
            if isinstance(found, Told):
                told.append(found)
            else:
                for partition, begin, end in blocks(found):
                    rows[partition].append(found.rows[begin:end])
    return told + [take_in(work, partition, rows[partition]) for partition in sorted(rows)]


def _last_line(error: BaseException) -> str:
    """Return the last line of the innermost cause in a Python traceback; if there is none, the first line of
    the error.
    """
    lines = [line for line in str(error).splitlines() if re.match(r"\w[\w.]*(Error|Exception)\b", line)]
    return lines[-1].strip() if lines else first_line(error)
