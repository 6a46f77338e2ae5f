"""The exploration of `antiphon check --spark`, and its refusals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from antiphon.conformance.cli.output import UsageProblem
from antiphon.conformance.extras import needs_spark
from antiphon.model.bounds import Violated
from antiphon.results import Report
from antiphon.spec.lang import Program

if TYPE_CHECKING:
    from antiphon.conformance.cli.check import Search


def refuse_what_it_lacks(search: Search) -> None:
    """Refuse options that the search on Spark lacks.

    Raises:
        UsageProblem: the message says which.
    """
    asked = search.on_spark
    if not asked.wanted:
        return
    if asked.lake is None:
        raise UsageProblem("--spark keeps states in a directory that all executors see: --lake DIR")
    if search.bounds.engine not in ("auto", "native"):
        raise UsageProblem(f"--spark runs machine code, not {search.bounds.engine}: leave --engine out")
    if search.storage.words():
        raise UsageProblem(
            f"{search.storage.words()[0]} is for a search in this process; --spark keeps whole states"
        )


def explore(
    program: Program,
    search: Search,
    properties: Sequence[str] | None,
    *,
    progress: Callable[[Any], None] | None,
    violated: Violated | None,
) -> Report:
    """Return the report of a search on Spark.

    Raises:
        UsageProblem: Spark is not installed, or cannot be had as asked; the lake cannot be used.
    """
    needs_spark("--spark")
    from antiphon.conformance.spark.pipeline import InputError  # here: Spark is an extra
    from antiphon.conformance.spark.states.checking import PARTITIONS, check_on_spark

    asked = search.on_spark
    assert asked.lake is not None
    try:
        return Report.of(
            check_on_spark(
                program,
                asked.lake,
                master=asked.master,
                partitions=asked.partitions or PARTITIONS,
                properties=properties,
                bounds=search.bounds.explicit,
                stop_at_first=search.stop_at_first,
                progress=progress,
                violated=violated,
            )
        )
    except InputError as error:
        raise UsageProblem(str(error)) from error
