"""A Spark session is quiet, private to this machine unless told otherwise, and always closed.

1. A local master binds to 127.0.0.1 only. Any other master takes its addresses from Spark's own
   configuration, since executors elsewhere must reach the driver.
2. Spark's log shows errors only; what concerns the user is raised as `PipelineError`.
3. A session that already runs in this process is used and left running.

The environment is changed only while Java starts. This module knows nothing of logs and verdicts.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from antiphon.conformance.pipeline.errors import InputError, PipelineError
from antiphon.conformance.pipeline.java import java_home

_LOG4J = """status = off
rootLogger.level = error
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = spark: %p %c{1}: %m%n
# Spark lowers the root to this logger's level, and says so, when the two differ.
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
# What these report reaches the user as an exception, with its cause.
logger.task.name = org.apache.spark.scheduler.TaskSetManager
logger.task.level = off
logger.executor.name = org.apache.spark.executor.Executor
logger.executor.level = off
logger.writer.name = org.apache.spark.sql.execution.datasources
logger.writer.level = off
logger.tasks.name = org.apache.spark.util.Utils
logger.tasks.level = off
"""

_COMMON = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    # A file that turns out to be damaged while it is read is judged by what is missing from it.
    "spark.sql.files.ignoreCorruptFiles": "true",
    "spark.sql.files.ignoreMissingFiles": "true",
}


@contextmanager
def spark_session(master: str = "local[*]") -> Iterator[SparkSession]:
    """Give a session on this master, and stop it afterwards if it was started here.

    Raises:
        InputError: a session with another master runs in this process.
        PipelineError: there is no Java, or Spark does not start.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        if running.sparkContext.master != master:
            raise InputError(
                f"a Spark session with master {running.sparkContext.master!r} runs in this process; "
                f"stop it, or use it by naming its master instead of {master!r}"
            )
        yield running
        return
    with tempfile.TemporaryDirectory(prefix="antiphon-spark-") as scratch, java_home() as home:
        session = _start(master, home, Path(scratch))
        try:
            yield session
        finally:
            session.stop()


def _start(master: str, home: Path, scratch: Path) -> SparkSession:
    log4j = scratch / "log4j2.properties"
    log4j.write_text(_LOG4J)
    builder = SparkSession.builder.appName("antiphon").master(master)
    for key, value in _configuration(master, log4j, scratch).items():
        builder = builder.config(key, value)
    with _environment(
        JAVA_HOME=str(home), PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable
    ):
        try:
            return builder.getOrCreate()
        except (PySparkException, Py4JError, OSError) as error:
            reason = str(error).splitlines()[0]
            raise PipelineError(f"Spark does not start on master {master!r}: {reason}") from error


def _configuration(master: str, log4j: Path, scratch: Path) -> dict[str, str]:
    configuration = _COMMON | {
        "spark.driver.extraJavaOptions": f'"-Dlog4j2.configurationFile={log4j.as_uri()}"',
        "spark.sql.warehouse.dir": (scratch / "warehouse").as_uri(),
    }
    if master.startswith("local"):
        # A job here lasts seconds: Java's second compiler would take more of them than it
        # gives back, but without it the default room for compiled code is too small.
        configuration["spark.driver.extraJavaOptions"] += (
            " -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"
        )
        parts = str(2 * (os.cpu_count() or 4))
        configuration |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            # Enough for every core of one machine; the default of 200, and plans that are made anew
            # after each step, suit a cluster.
            "spark.sql.adaptive.enabled": "false",
            "spark.sql.shuffle.partitions": parts,
            "spark.sql.sources.parallelPartitionDiscovery.parallelism": parts,
        }
    return configuration


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
