"""Lockstep of a specification and a program: what joins the two, and what is wrong usage."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.references import SPEC as ORDERED

import antiphon
from antiphon.conformance.compare.bindings import BindingError
from antiphon.conformance.compare.bindings.foreign_values import as_json, as_plain, told_name
from antiphon.conformance.compare.bindings.plain_values import Strange, meant
from antiphon.model.verdict import Outcome
from antiphon.spec.lang.errors import ArgumentError, SpecError
from antiphon.testing import adapter as bound

Program = Callable[[str], list[str]]

SPEC = "tests.adapters.counter_spec:Counter"

PROGRAM = """
count, last = 0, [0, 0]
begin({can})
while True:
    message = hear()
    body = message["body"]
    if body["type"] == "antiphon.snapshot":
        reply(message, type="antiphon.snapshot_ok", snapshot=[count, last])
        continue
    if body["type"] == "antiphon.restore":
        count, last = body["snapshot"]
        reply(message, type="antiphon.restore_ok")
        continue
    for name, given in body["do"].items():
        if name == "restart":
            count, last = 0, [0, 0]
        elif {guard}:
            reply(message, type="error", code=22, text="too much")
            break
        else:
            count, last = count + given["by"], list(last)
            last[given["at"]] = given["by"]
    else:
        reply(message, type="antiphon.done", state={state})
"""


def counter(
    can: str = '"step", "state", "restart"', guard: str = 'count + given["by"] > 3', state: str = ""
) -> str:
    state = state or '{"count": count, "last": last}'
    return PROGRAM.replace("{can}", can).replace("{guard}", guard).replace("{state}", state)


CANS = ['"step", "state"', '"step", "state", "restart"', '"step", "state", "snapshot"']


@pytest.mark.sampled(3)
@pytest.mark.parametrize("can", CANS)
def test_a_program_that_is_the_whole_system_is_walked(can: str, program: Program) -> None:
    text = counter(can).replace("[0, 0]", "[0]")
    report = antiphon.lockstep(bound(SPEC, program(text), guarded=["add"], slots=1), sample=1)
    assert (report.outcome, report.states, report.transitions) == (Outcome.HOLDS, 6, 6)
    assert report.one_way == ("snapshot" not in can)


@pytest.mark.parametrize("can", CANS[1:])
def test_a_state_that_differs_is_found_with_the_shortest_steps(can: str, program: Program) -> None:
    wrong = counter(can, state='{"count": min(count, 2), "last": last}')
    report = antiphon.lockstep(bound(SPEC, program(wrong)))
    assert report.difference is not None
    assert (report.difference.what, len(report.difference.trace)) == ("variable count", 2)
    assert (report.difference.specification, report.difference.implementation) == (3, 2)


def test_a_guard_that_lets_too_much_through_is_found_where_it_is_guarded(program: Program) -> None:
    wrong = program(counter('"step", "state", "snapshot"', guard="count > 2"))
    assert antiphon.lockstep(bound(SPEC, wrong)).outcome is Outcome.HOLDS, "no step shows it"
    report = antiphon.lockstep(bound(SPEC, wrong, guarded=["add"]))
    assert report.difference is not None
    assert "steps that only one side would take" in report.difference.what
    assert str(report.difference.implementation).startswith("add(2, Slot(0))")


def test_a_refused_step_is_a_difference(program: Program) -> None:
    report = antiphon.lockstep(bound(SPEC, program(counter(guard="count > 0"))))
    assert report.difference is not None
    assert "refuses the step" in report.difference.what
    assert report.difference.implementation == "error 22, too much"


FICKLE = "import itertools\nticks = itertools.count()\n" + counter(
    state='{"count": count if count < 2 else 2 + next(ticks) % 2, "last": last}'
)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (counter(guard='count > 1 and sys.exit("gone")'), "n0 exits with code 1"),
        (counter(guard='count > 1 and write("no\\n")'), "n0 writes a line that is no JSON"),
        ("hear(); write('no\\n')", "n0 writes a line that is no JSON"),
        (FICKLE, "not deterministic"),
        (counter(state='{"count": "one", "last": last}'), "variable count"),
        (counter(state='{"count": count, "last": last} if count < 2 else {}'), "the state of n0 is wrong"),
    ],
)
def test_what_a_program_does_wrong_is_a_finding(text: str, what: str, program: Program) -> None:
    report = antiphon.lockstep(bound(SPEC, program(text)))
    assert report.difference is not None
    assert what in report.difference.what
    assert report.difference.shown()


def test_a_program_that_hangs_is_waited_for_once(program: Program) -> None:
    text = counter(guard="count > 1 and time.sleep(60)")
    report = antiphon.lockstep(bound(SPEC, program(text), reply_seconds=0.2))
    assert report.difference is not None
    assert "n0 does not answer 'antiphon.step' within 0.2 s" in report.difference.what
    assert report.seconds < 3


def test_a_snapshot_that_forgets_is_found(program: Program) -> None:
    wrong = counter('"step", "state", "snapshot"').replace('count, last = body["snapshot"]', "pass")
    report = antiphon.lockstep(bound(SPEC, program(wrong)))
    assert report.difference is not None
    assert "a restored snapshot does not bring back" in report.difference.what


@pytest.mark.parametrize(
    ("text", "more", "told"),
    [
        (counter('"deliver"'), {}, "does not say that it can state and step"),
        ("begin()\nhear()", {}, "`antiphon adapter run` judges a black box"),
        (counter(state='{"count": count}'), {}, "the state of n0 says nothing of last"),
        (
            counter(state='{"count": count, "last": last, "lost": 1}'),
            {},
            "'lost', which Counter does not have",
        ),
        (counter(), {"guarded": ["ad"]}, "no action 'ad' to be guarded; known: add; did you mean"),
        (counter(), {"exempt": {"last": "no need"}}, "say why, in four words or more"),
        (counter(), {"exempt": {"lust": "it is left out"}}, "'lust' is exempt, which Counter does not have"),
        (counter(), {"nodes": "Slit"}, "no index 'Slit'; known: Slot; did you mean"),
        (counter(), {"nodes": "Slot"}, "count is no map over Slot"),
    ],
)
def test_what_does_not_fit_is_wrong_usage(
    text: str, more: dict[str, Any], told: str, program: Program
) -> None:
    with pytest.raises((BindingError, ArgumentError)) as caught:
        antiphon.lockstep(bound(SPEC, program(text), **more))
    assert told in str(caught.value)


def test_a_variable_may_be_exempt(program: Program) -> None:
    text = counter(state='{"count": count}')
    exempt = {"last": "the program has no such thing"}
    assert antiphon.lockstep(bound(SPEC, program(text), exempt=exempt)).outcome is Outcome.HOLDS


@pytest.mark.deep
def test_a_binding_in_a_file_is_walked_replayed_and_run_at_random(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = program(counter('"step", "state", "restart"'))
    (tmp_path / "bound_counter.py").write_text(
        f"from antiphon.testing import adapter\nReal = adapter({SPEC!r}, {command!r}, guarded=['add'])\n"
    )
    place = f"{tmp_path / 'bound_counter.py'}:Real"
    assert antiphon.lockstep(place).outcome is Outcome.HOLDS
    assert antiphon.stateful(place, runs=3, steps=5).outcome is Outcome.HOLDS


@pytest.mark.parametrize("wrong", [{"command": ""}, {"command": "x", "reply_seconds": 0}])
def test_wrong_arguments_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError):
        bound(SPEC, **wrong)
    with pytest.raises(SpecError, match="no command 'nonsense'"):
        bound(SPEC, "nonsense --now").bind()


def test_values_go_to_json_and_back() -> None:
    """Every state of the specification of the reference adapters, through JSON."""
    ordered = antiphon.program(str(ORDERED))
    seen = 0
    machine = ordered.reference
    states = list(machine.initial())
    for state in states:
        for name, value in zip(ordered.variables, state, strict=True):
            domain = ordered.domains[name]
            there = json.loads(json.dumps(as_json(domain.thaw(value) if hasattr(domain, "thaw") else value)))
            assert meant(domain, as_plain(domain, there)) == value, name
            seen += 1
        if len(states) < 60:
            states += [machine.apply(state, step).state for step in machine.enabled(state)]
    assert seen > 100
    assert told_name("TakeLock") == "take_lock"
    domain = ordered.domains["log"]
    assert isinstance(meant(domain, as_plain(domain, [[7], []])), Strange)
