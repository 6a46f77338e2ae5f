"""Spark session: quiet, private to this machine by default, and always closed.

1. A local master, or a cluster on this machine, binds to the loopback interface only. Any other master takes
   its addresses from Spark's own configuration, since executors elsewhere must reach the driver.
2. Spark's log shows errors only; an error that concerns the user is raised as `PipelineError`.
3. A session that already runs in this process, Spark Connect's included, is used and left running, with the
   settings that it had.
4. Java has a process group of its own, so that the terminal's Ctrl-C is Python's alone; it ends with Python,
   whose end of a pipe it holds. It writes into one directory (`scratch`).
5. The settings that decide how work is cut fit the data, on every master (`settings`).

The environment is changed only while Java starts, or while a session of Spark Connect is used. This module
knows nothing of logs and verdicts.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import grpc
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.utils import is_remote

from antiphon.conformance.spark.pipeline.errors import InputError, PipelineError
from antiphon.conformance.spark.pipeline.java import java_home
from antiphon.conformance.spark.pipeline.masters import (
    FORMS,
    LOCAL,
    addresses,
    is_connect,
    is_local,
    is_private,
    require_master,
    same_master,
)
from antiphon.conformance.spark.pipeline.scratch import own_directory

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
logger.streams.name = org.apache.spark.sql.execution.streaming
logger.streams.level = off
logger.tasks.name = org.apache.spark.util.Utils
logger.tasks.level = off
"""

_COMMON: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
}

_BYTES_A_TASK: Final = 1 << 20
"""Less than this many bytes of logs are not worth a task: judging them takes a second or two."""

_BYTES_A_TASK_MAX: Final = 64 << 20
_LONG_BYTES: Final = 32 << 20
"""Work on so many bytes of logs lasts long enough for Java to compile it well."""
_POLL_S: Final = 0.5
WORKERS_S: Final = 3.0
"""Seconds that a standalone master may be without a worker."""
CONNECT_S: Final = 5.0
"""Seconds that a Spark Connect server has to take a connection; the client alone would try for minutes."""


@contextmanager
def spark_session(master: str | None = None, volume: int = 0) -> Iterator[SparkSession]:
    """Yield a session on this master, and stop it afterwards if it was started here. Without a master it is
    the session that runs in this process, else one on all cores of this machine. `volume` is the number of
    bytes of logs to process: it decides how well Java compiles.

    Raises:
        InputError: this is no master, it does not answer, or a session with another master runs in this
            process.
        PipelineError: there is no Java, or Spark does not start.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        found = _master_of(running)
        if master is not None and not same_master(found, master):
            raise InputError(
                f"a Spark session with master {found!r} runs in this process; "
                f"stop it, or use it by naming its master instead of {master!r}"
            )
        yield running
        return
    master = LOCAL if master is None else master
    require_master(master)
    with ExitStack() as stack:
        if is_connect(master):
            stack.enter_context(_environment(SPARK_CONNECT_MODE_ENABLED="1", SPARK_REMOTE=None))
            session = _connect(master)
        else:
            if threading.current_thread() is threading.main_thread():
                stack.callback(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))
            stack.enter_context(_without_words_of_py4j())
            scratch = stack.enter_context(own_directory("spark"))
            home = stack.enter_context(java_home())
            session = _start(master, home, scratch, volume)
        try:
            with _interrupts():
                if master.startswith("spark://"):
                    _require_workers(session, master)
                yield session
        finally:
            _stop(session)


@contextmanager
def settings(session: SparkSession, volume: int, most: int) -> Iterator[None]:
    """Set, within the context, the settings that cut work into tasks to suit so many bytes of logs in at most
    `most` parts; the earlier settings are restored.
    """
    fitting = {
        "spark.sql.shuffle.partitions": str(parts(volume, most, cores(session))),
        # Plans that are made anew after each step would join the few parts of small tables into one.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.ansi.enabled": "true",
        # A file that turns out to be damaged while it is read is an error.
        "spark.sql.files.ignoreCorruptFiles": "false",
        "spark.sql.files.ignoreMissingFiles": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    }
    with confs(session, fitting):
        yield


def parts(volume: int, most: int, workers: int) -> int:
    """Return the number of parts for this many bytes: a few for each core, within the limits for the size of
    a part.
    """
    worthwhile = -(-volume // _BYTES_A_TASK)
    wanted = max(3 * workers, -(-volume // _BYTES_A_TASK_MAX))
    return max(1, min(worthwhile, wanted, most))


def cores(session: SparkSession) -> int:
    """Return the number of tasks that run in parallel: the number of parts into which Spark cuts a range by
    default. Spark Connect does not say it, so that a range is cut there.
    """
    if not is_remote():
        return session.sparkContext.defaultParallelism
    row = session.range(1 << 14).select(F.spark_partition_id().alias("part")).agg(F.max("part")).first()
    assert row is not None
    return int(row[0]) + 1


@contextmanager
def telling(session: SparkSession, tell: Callable[[str], None] | None) -> Iterator[None]:
    """Context that calls `tell` at intervals with the number of finished tasks of the present step. With
    Spark Connect it is not called.
    """
    if tell is None or is_remote():
        yield
        return
    tracker, over = session.sparkContext.statusTracker(), threading.Event()

    def poll() -> None:
        while not over.wait(_POLL_S):
            stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
            known = [stage for stage in stages if stage is not None]
            if known:
                done, of = sum(s.numCompletedTasks for s in known), sum(s.numTasks for s in known)
                tell(f"{done:,} of {of:,} tasks")

    thread = threading.Thread(target=poll, name="antiphon-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _master_of(session: SparkSession) -> str:
    if not is_remote():
        return str(session.sparkContext.master)
    return f"sc://{session.client._builder.endpoint}"  # type: ignore[attr-defined]


@contextmanager
def confs(session: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """Context in which these settings of the session apply; afterwards the earlier ones are restored."""
    before = {name: session.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, old)


@contextmanager
def _interrupts() -> Iterator[None]:
    """Context in which an interrupt raises `KeyboardInterrupt`, even if it breaks off a call to Java that
    raises another error. Spark's own handler would call Java, which may be in the middle of an answer.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupted = threading.Event()

    def interrupt(*_: object) -> None:
        interrupted.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except Exception:
        if interrupted.is_set():
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, before)


def _stop(session: SparkSession) -> None:
    """Stop a session from another thread: after an interrupt, this thread's connection to Java still waits
    for an answer.
    """
    if is_remote():
        session.stop()
        return

    def stop() -> None:
        with suppress(Py4JError, OSError):  # Java is gone already
            session.sparkContext.setLogLevel("OFF")  # the tasks that are broken off complain
            session.stop()

    thread = threading.Thread(target=stop, name="antiphon-stop")
    thread.start()
    thread.join()


@contextmanager
def _without_words_of_py4j() -> Iterator[None]:
    """Context that suppresses py4j's log lines about an interrupted call, since the interrupt is raised as
    well. py4j logs on its own loggers and on the root.
    """

    def foreign(record: logging.LogRecord) -> bool:
        return Path(record.pathname).parent.name != "py4j"

    own = logging.getLogger("py4j")
    level = own.level
    logging.getLogger().addFilter(foreign)
    own.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        own.setLevel(level)
        logging.getLogger().removeFilter(foreign)


def _connect(master: str) -> SparkSession:
    from pyspark.sql.connect.client import DefaultChannelBuilder  # here: it asks for packages of its own

    try:
        with DefaultChannelBuilder(master).toChannel() as channel:
            grpc.channel_ready_future(channel).result(timeout=CONNECT_S)
        session = SparkSession.builder.remote(master).getOrCreate()
        session.range(1).count()
    except (PySparkException, grpc.FutureTimeoutError) as error:
        told = first_line(error) if str(error) else f"it says nothing for {CONNECT_S:.0f} seconds"
        raise InputError(f"the master {master!r} is no Spark Connect server: {told}") from error
    return session


def _start(master: str, home: Path, scratch: Path, volume: int) -> SparkSession:
    log4j = scratch / "log4j2.properties"
    log4j.write_text(_LOG4J)
    builder = SparkSession.builder.appName("antiphon").master(master)
    for key, value in _configuration(master, log4j, scratch, volume).items():
        builder = builder.config(key, value)
    with _environment(
        JAVA_HOME=str(home),
        PYSPARK_PYTHON=sys.executable,
        PYSPARK_DRIVER_PYTHON=sys.executable,
        SPARK_REMOTE=None,
        SPARK_CONNECT_MODE_ENABLED=None,
        SPARK_LOCAL_DIRS=None,
    ):
        try:
            return builder.getOrCreate()
        except (PySparkException, Py4JError, OSError) as error:
            told = f"Spark does not start on master {master!r}: {first_line(error)}"
            raise (PipelineError if is_local(master) else InputError)(told) from error


def _require_workers(session: SparkSession, master: str) -> None:
    """Raise PipelineError if a standalone master has no worker, since Spark would wait for ever. Wait a
    moment for a master that has just started.
    """
    assert session._jvm is not None
    java, named = session._jvm.org.apache.spark, session._jvm.java.lang.Class.forName
    messages, nothing = "org.apache.spark.deploy.DeployMessages$", session._jvm.scala.Option.empty()
    asked = named(f"{messages}RequestMasterState$").getField("MODULE$").get(None)
    of_answer = session._jvm.scala.reflect.ClassTag.apply(named(f"{messages}MasterStateResponse"))
    configuration = session.sparkContext._jsc.sc().conf()
    default = getattr(java.SecurityManager, "$lessinit$greater$default$3")()
    guard = java.SecurityManager(configuration, nothing, default)
    # A client of its own: py4j cannot look into Spark's, whose class needs another that is not there.
    client = java.rpc.RpcEnv.create("antiphon", "127.0.0.1", 0, configuration, guard, True)
    try:
        until = time.monotonic() + WORKERS_S
        while True:
            places = [java.rpc.RpcAddress.apply(host, port) for host, port in addresses(master)]
            if any(_has_worker(client, place, asked, of_answer) for place in places):
                return
            if time.monotonic() > until:
                break
            time.sleep(_POLL_S)
    finally:
        client.shutdown()
    raise InputError(
        f"nobody works for the master {master!r}: it has no worker that is alive; start one, or name another "
        f"master: {FORMS}"
    )


def _has_worker(client: Any, place: Any, asked: Any, of_answer: Any) -> bool:
    """Return True if the master at this place knows a living worker, False if it does not answer. Where there
    are several masters, one with a worker is enough.
    """
    try:
        answer = client.setupEndpointRef(place, "Master").askSync(asked, of_answer)
    except Py4JJavaError:
        return False
    return any(worker.isAlive() for worker in answer.workers())


def first_line(error: BaseException) -> str:
    """Return the first line of an error."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _configuration(master: str, log4j: Path, scratch: Path, volume: int) -> dict[str, str]:
    for place in ("java", "blocks"):
        (scratch / place).mkdir()
    java = f'"-Dlog4j2.configurationFile={log4j.as_uri()}" "-Djava.io.tmpdir={scratch / "java"}"'
    java += (
        " -XX:-UsePerfData -Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"
    )
    configuration = _COMMON | {"spark.sql.warehouse.dir": (scratch / "warehouse").as_uri()}
    if is_local(master):
        if volume < _LONG_BYTES:
            # A job of seconds: Java's second compiler would take more of them than it gives back, but
            # without it the default room for compiled code is too small.
            java += " -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"
        configuration["spark.local.dir"] = str(scratch / "blocks")
    if master.startswith("spark://") and volume < _LONG_BYTES:
        configuration["spark.executor.extraJavaOptions"] = "-XX:TieredStopAtLevel=1"
        if volume:
            # A machine of which all cores are taken starts a Java and as many Pythons as it has cores.
            configuration["spark.cores.max"] = str(-(-volume // _BYTES_A_TASK))
    if is_private(master):
        configuration |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return configuration | {"spark.driver.extraJavaOptions": java}


@contextmanager
def _environment(**variables: str | None) -> Iterator[None]:
    """Context in which environment variables have these values; None removes a variable."""
    before = {name: os.environ.get(name) for name in variables}
    _set(variables)
    try:
        yield
    finally:
        _set(before)


def _set(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
