from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pyarrow.parquet as parquet
import pytest
from pyspark.sql import SparkSession

from antiphon.conformance.judge.history import TOTAL_ORDER, Place, history
from antiphon.conformance.judge.trace import Header, log_name
from antiphon.conformance.spark.pipeline.judging import verdicts_at
from antiphon.conformance.spark.pipeline.lake import batches_of
from antiphon.conformance.spark.pipeline.session import spark_session

MASTER = "local[2]"


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session for all tests here, since Java takes seconds to start; its heap is small."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SPARK_DRIVER_MEMORY", "480m")
        with spark_session(MASTER) as session:
            yield session


@pytest.fixture(scope="session")
def master(spark: SparkSession) -> str:
    """The master of the running session, which `verify` then uses."""
    return MASTER


@pytest.fixture(scope="session")
def write_run() -> Callable[[Path, str], None]:
    """Write the logs of a history to a new directory; the second is in the notation of `history`."""

    def write(directory: Path, text: str) -> None:
        directory.mkdir(parents=True)
        logs = history(text)
        for process, events in enumerate(logs):
            header = Header(run="r", protocol="rbp", process=process, processes=len(logs), seed=1)
            lines = [msgspec.json.encode(line) + b"\n" for line in (header, *events)]
            (directory / log_name(process)).write_bytes(b"".join(lines))

    return write


@pytest.fixture(scope="session")
def told() -> Callable[..., dict[str, dict[str, tuple[object, ...]]]]:
    """Read the verdicts of a lake, by run and property; of a run that is no suspect there are none."""

    def read(lake: Path, promise: Sequence[str] = (TOTAL_ORDER,)) -> dict[str, dict[str, tuple[object, ...]]]:
        found: dict[str, dict[str, tuple[object, ...]]] = {}
        for batch in batches_of(lake):
            runs = parquet.read_table(batch.directory / "runs").to_pylist()
            names = {row["run"]: row["name"] for row in runs}
            at = verdicts_at(batch, promise)
            for row in parquet.read_table(at / "suspects").to_pylist():
                found[names[row["run"]]] = {}
            for row in parquet.read_table(at / "found").to_pylist():
                places = [
                    place and Place(place["process"], place["i"], place["m"])
                    for place in (row["first"], row["second"])
                ]
                verdict = (row["outcome"], row["offending"], row["reason"], *places)
                found[names[row["run"]]][row["property"]] = verdict
        return found

    return read
