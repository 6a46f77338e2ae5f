"""A difference that was saved is shown and replayed as it was found."""

from pathlib import Path

import pytest

from antiphon.conformance.compare.bindings import binding_of, bound_protocol, bound_protocols
from antiphon.conformance.compare.lockstep import lockstep
from antiphon.conformance.compare.replay import NotBound, binding_for, on_implementation
from antiphon.conformance.report.diagram import diagram
from antiphon.conformance.report.svg import svg
from antiphon.model.explore import check
from antiphon.model.export import load, save
from antiphon.model.trace import Trace
from antiphon.model.trace import replay as run_again
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Step, program
from antiphon.spec.protocols.irbp.by_message import Call, IrbpByMessageChecked, Told
from antiphon.spec.services import Process

BOUNDS = {"processes": 3, "messages": 1, "views": 2, "highest": 4, "crashes": 1, "false_suspicions": 1}


@pytest.mark.parametrize("protocol", bound_protocols())
def test_the_binding_of_a_saved_trace_has_its_constants(protocol: str) -> None:
    """A binding's own values may differ from the defaults of its specification."""
    bound = bound_protocol(protocol)
    for constants in (bound.small, bound.random):
        program = bound.bind(**constants).program
        assert binding_for(program, protocol).program.constants == program.constants


def test_a_delivery_that_the_code_did_not_make_is_not_drawn_from_a_file(tmp_path: Path) -> None:
    bound, file = bound_protocol("sequencer"), tmp_path / "difference.itf.json"
    report = lockstep(binding_of("sequencer", fault="forgets-itself", **bound.small))
    assert report.difference is not None
    save(report.difference.trace, file)
    trace = load(file)
    assert trace.transitions == report.difference.trace.transitions
    assert "deliver" not in svg(diagram(trace))
    assert on_implementation(trace).outcome is Outcome.HOLDS


def _irbp() -> Trace:
    """A run of figure 32, message by message and judged: a wrong suspicion, a call, and a crash."""
    p0, p1, p2 = map(Process, range(3))
    steps = [
        Step("suspect", (p0, p1)), Step("call", (p0, p1)), Step("report", (p0,)),
        Step("arrive", (p1, Told(p0, 1))), Step("arrive", (p2, Told(p0, 1))), Step("crash", (p1,)),
        Step("detect", (p2, p1)), Step("arrive", (p2, Call(p0, 1))), Step("report", (p2,)),
        Step("propose", (p2, frozenset({p0, p2}))), Step("arrive_in_vain", (p2, Told(p0, 1))),
    ]  # fmt: skip
    bound = program(IrbpByMessageChecked, repairs="all", assigned=True, **BOUNDS)
    return run_again(bound, next(iter(bound.reference.initial())), steps)


def test_a_run_with_a_crash_and_suspicions_is_run_on_the_implementation_by_name(tmp_path: Path) -> None:
    """The trace's specification has the variables of its properties, too, which the binding does not have."""
    trace = _irbp()
    save(trace, tmp_path / "run.itf.json")
    replayed = on_implementation(load(tmp_path / "run.itf.json"), "irbp")
    assert (replayed.outcome, replayed.reason) == (
        Outcome.HOLDS,
        "specification and implementation agree in all 11 steps",
    )
    faulty = on_implementation(trace, binding_of("irbp", fault="calls-in-silence", **BOUNDS))
    assert faulty.outcome is Outcome.VIOLATED
    assert faulty.difference is not None
    assert faulty.difference.what == "variable sent"


def test_the_implementation_leaves_the_counterexample_of_a_text_without_a_repair() -> None:
    bounds = {"processes": 2, "messages": 1, "views": 2, "highest": 4, "crashes": 0, "false_suspicions": 1}
    printed = program(IrbpByMessageChecked, repairs="all", assigned=True, await_majority=False, **bounds)
    trace = check(printed, properties=["MajorityInList"])["MajorityInList"].trace
    assert trace is not None
    replayed = on_implementation(trace, "irbp")
    assert replayed.outcome is Outcome.HOLDS
    assert replayed.reason.startswith(
        "the implementation leaves this run, which breaks MajorityInList and is of a text with "
        "await_majority=False, after 4 steps, at propose(p0, {p0}): the implementation refuses the step"
    )


def test_a_trace_of_another_specification_is_refused_with_both_names() -> None:
    of_rbp = lockstep(binding_of("rbp", fault="keeps-token", messages=1), max_transitions=2000).difference
    assert of_rbp is not None
    bound = "irbp is bound to antiphon.spec.protocols.irbp.by_message:IrbpByMessage"
    traced = "this trace is of antiphon.spec.protocols.rbp.bounds:RbpBounded"
    with pytest.raises(NotBound, match=f"^{bound}; {traced}$"):
        on_implementation(of_rbp.trace, "irbp")
