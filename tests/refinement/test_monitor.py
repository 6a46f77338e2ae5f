"""The machine beside a protocol judges what the mapping judges, in machine code."""

from __future__ import annotations

import pytest

from antiphon.model.refinement import check_refinement
from antiphon.model.verdict import Outcome
from antiphon.spec.catalogue import refinement_named
from antiphon.spec.lang import SpecError, program

FAILING = {"processes": 3, "messages": 1, "crashes": 1, "false_suspicions": 0, "detected_at_once": True}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("engine", ["native", "generated"])
def test_without_its_own_copy_a_process_goes_on_without_what_it_sent(engine: str) -> None:
    """Both searches find the step after equally many steps."""
    stated = refinement_named("vsc")
    bound = program(stated.concrete, repairs="all", without=["own_copy"], **FAILING)
    report = check_refinement(bound, stated, engine=engine)
    (broken,) = [verdict for verdict in report.verdicts if verdict.outcome is Outcome.VIOLATED]
    assert broken.trace is not None
    assert (len(broken.trace), "may_install" in broken.reason) == (7, True)


def test_a_protocol_without_a_monitor_is_told_to_run_in_python() -> None:
    stated = refinement_named("rbp")
    with pytest.raises(SpecError, match="states no monitor") as refused:
        check_refinement(program(stated.concrete), stated, engine="native")
    assert refused.value.instead == "the engine `generated`"
