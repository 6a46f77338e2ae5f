"""Results are short where they stand alone, name variables and keys, and are JSON data for programs."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

import antiphon
from antiphon.spec.examples.chameneos import Chameneos
from antiphon.spec.lang import Index, Map, Set, Spec, action, everywhere, invariant, record, require
from antiphon.spec.lang.errors import Told


class Desk(Index, size=2, ordered=True):
    """A desk at which people are served."""


@record
class Ticket:
    """A person's ticket for a desk."""

    desk: Desk
    urgent: bool


class Office(Spec):
    """One variable of each kind that needs names."""

    count: Map[Desk, Map[bool, Desk | None]] = everywhere(everywhere(None))
    index: Set[Ticket] = Set()
    open: bool = True

    @action
    def serve(self, d: Desk, urgent: bool) -> None:
        """Serve somebody at desk D."""
        require(self.open)
        self.count[d][urgent] = d
        self.index |= {Ticket(d, urgent)}
        self.open = not urgent

    @invariant
    def Empty(self) -> bool:
        """True while nobody urgent is served."""
        return all(not ticket.urgent for ticket in self.index)


@pytest.fixture(scope="module")
def run() -> antiphon.Trace:
    """The shortest way to somebody urgent."""
    found = antiphon.check(Office).counterexample
    assert found is not None
    return found


def test_a_state_has_its_variables_by_name_and_a_map_its_values_by_key(run: antiphon.Trace) -> None:
    (last,) = [state for state in run.states if not state.open]
    assert last.count[Desk(0)][True] == Desk(0)
    assert last.count[Desk(1)][True] is None
    assert list(last.count[Desk(0)].items()) == [(False, None), (True, Desk(0))]
    assert last.index == {Ticket(Desk(0), True)}
    assert repr(last) == (
        "State(count={d0: {False: none, True: d0}, d1: {False: none, True: none}}, "
        "index={Ticket(d0, True)}, open=False)"
    )
    assert last == (((None, Desk(0)), (None, None)), frozenset({Ticket(Desk(0), True)}), False)
    with pytest.raises(KeyError, match=r"2 is no key of this map; its keys are Desk\(0\), Desk\(1\)"):
        last.count[2]


def test_copies_of_states_are_bare_tuples(run: antiphon.Trace) -> None:
    made = copy.deepcopy(run.states[-1])
    assert (type(made), type(made[0]), made) == (tuple, tuple, run.states[-1])


def test_every_way_to_a_run_names_its_states() -> None:
    found = antiphon.find(Office, "not self.open").trace
    walked = antiphon.simulate(Office, walks=5).counterexample
    for trace in (found, walked):
        assert trace is not None
        assert trace.start.open is True
        assert trace.transitions[-1].state.open is False


def test_a_report_is_json_data_with_its_states(run: antiphon.Trace) -> None:
    report = antiphon.check(Office)
    data = report.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert (data["name"], data["outcome"]) == ("Office", "violated")
    assert data["states"] == report.exploration.states
    (verdict,) = data["verdicts"]
    assert (verdict["property"], verdict["outcome"], verdict["evidence"]) == ("Empty", "violated", "bounded")
    assert verdict["trace"] == run.to_dict()
    assert [step["step"] for step in run.to_dict()["steps"]] == ["serve(d0, True)"]
    assert run.to_dict()["states"] == [
        {
            "count": {"d0": {"False": None, "True": None}, "d1": {"False": None, "True": None}},
            "index": [],
            "open": True,
        },
        {
            "count": {"d0": {"False": None, "True": "d0"}, "d1": {"False": None, "True": None}},
            "index": [{"#record": "Ticket", "desk": "d0", "urgent": True}],
            "open": False,
        },
    ]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("subject", ["figure-5", "rbp", "ewd840", Chameneos])
def test_reports_and_answers_of_all_kinds_of_types_are_json_data(subject: Any) -> None:
    report = antiphon.check(subject, max_states=300)
    found = antiphon.find(subject, "True")
    for data in (report.to_dict(), found.to_dict()):
        assert json.loads(json.dumps(data)) == data
    assert found.to_dict()["outcome"] == "holds"
    assert len(found.to_dict()["trace"]["states"]) == 1


def test_a_result_that_stands_alone_is_one_short_line(run: antiphon.Trace) -> None:
    report = antiphon.check(Office)
    assert repr(report["Empty"]) == "<Verdict on Empty: violated, false after 1 step>"
    assert repr(run) == "<Trace of Office: Empty, 1 step>"
    assert repr(report.program) == "<Program Office>"
    assert repr(antiphon.program("two-phase", managers=2)) == "<Program TwoPhase: managers=2>"
    walked = antiphon.lockstep("rbp", max_transitions=50)
    assert repr(walked).startswith("<LockstepReport on RbpBounded: unknown, 50 transitions, ")
    for result in (report, run, walked, antiphon.find(Office, "self.open"), *report.verdicts):
        assert len(repr(result)) < 160
        assert "\n" not in repr(result)


class Refused(Spec):
    """Specification that uses a loop, which the language lacks."""

    open: bool = True

    @action
    def loop(self) -> None:
        """Loop without end."""
        while self.open:
            pass


WRONG: dict[str, Callable[[], object]] = {
    "`while` has no bound": lambda: antiphon.check(Refused),
    "unknown specification 'rpb'; known: ": lambda: antiphon.check("rpb"),
    "TwoPhase has no constant 'managrs'; known: managers; did you mean": lambda: antiphon.program(
        "two-phase", managrs=3
    ),
    "3 is no specification; a question is about a subclass of": lambda: antiphon.check(3),  # type: ignore[arg-type]
    "check has no argument 'max_dept'; known: ": lambda: antiphon.check(Office, max_dept=3),  # type: ignore[call-arg]
    "max_depth=-1: a bound is not negative": lambda: antiphon.check(Office, max_depth=-1),
    "depth -1: a run has 0 or more steps": lambda: antiphon.check(Office, engine="z3", max_depth=-1),
    "engine 'z3' looks up to a depth": lambda: antiphon.find(Office, "True", engine="z3"),
    "simulate: walks=0: walks is at least 1": lambda: antiphon.simulate(Office, walks=0),
    "check: threads=0: threads is at least 1": lambda: antiphon.check(Office, threads=0),
    "simulate: seed='a': seed is an integer": lambda: antiphon.simulate(Office, seed="a"),  # type: ignore[arg-type]
    "stateful: runs=0: runs is at least 1": lambda: antiphon.stateful("total", runs=0),
    "<expression>:1:1: Office has no 'opn'; did you mean 'open'?": lambda: antiphon.find(Office, "self.opn"),
    "no verdict about 'opne'; known: ": lambda: antiphon.check(Office)["opne"],
    "3 is no key of this map; its keys are ": lambda: antiphon.find(Office, "True").trace.states[0].count[3],  # type: ignore[union-attr]
    "nowhere.itf.json: cannot be read": lambda: antiphon.load("nowhere.itf.json"),
}


@pytest.mark.parametrize("said", WRONG)
def test_a_notebook_shows_what_is_wrong_and_no_frames_of_ours(said: str) -> None:
    """IPython asks an exception for `_render_traceback_`, and prints these lines in place of a traceback."""
    with pytest.raises(Told) as caught:
        WRONG[said]()
    lines = caught.value._render_traceback_()
    assert "\n".join(lines) == f"{type(caught.value).__name__}: {caught.value}"
    assert said in lines[0]
    assert "Traceback" not in lines[0]
