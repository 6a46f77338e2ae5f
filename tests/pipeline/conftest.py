from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from antiphon.conformance.pipeline.session import spark_session

MASTER = "local[2]"


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session for all tests here, since Java takes seconds to start."""
    with spark_session(MASTER) as session:
        yield session


@pytest.fixture(scope="session")
def master(spark: SparkSession) -> str:
    """The master of the running session, which `verify` then uses."""
    return MASTER
