"""A difference that was saved is shown and replayed as it was found."""

from pathlib import Path

import pytest

from antiphon.conformance.compare.bindings import binding_of, bound_protocol, bound_protocols
from antiphon.conformance.compare.lockstep import lockstep
from antiphon.conformance.compare.replay import binding_for, on_implementation
from antiphon.conformance.report.diagram import diagram
from antiphon.conformance.report.svg import svg
from antiphon.model.export import load, save
from antiphon.model.verdict import Outcome


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
