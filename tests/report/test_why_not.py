"""Why an action is not enabled: the guard that fails, for every tuple of arguments."""

import pytest

from antiphon.conformance.report.why_not import why_not
from antiphon.model.notation import compact_step
from antiphon.model.trace import Trace
from antiphon.spec.lang import Disabled, SpecError


def test_every_tuple_is_enabled_or_has_its_guard(broken: Trace) -> None:
    """The answer agrees with the machine, in every state and for every action."""
    reference = broken.program.reference
    for state in broken.states:
        for action in ("write", "send", "receive", "lose"):
            answer = why_not(broken.program, state, action)
            assert list(answer.enabled) == [
                step for step in reference.enabled(state) if step.action == action
            ]
            for reason in answer.disabled:
                for step in reason.steps:
                    with pytest.raises(Disabled) as guard:
                        reference.apply(state, step)
                    assert (guard.value.guard, guard.value.at) == (reason.guard, reason.at)


def test_tuples_that_fail_at_one_guard_are_one_group(broken: Trace) -> None:
    answer = why_not(broken.program, broken.start, "send")
    assert [(reason.guard, list(map(compact_step, reason.steps))) for reason in answer.disabled] == [
        ("p.index == 0 and self.written > 0", ["send(p0)", "send(p1)", "send(p2)"])
    ]
    assert answer.disabled[0].at.file.endswith("conftest.py")


def test_an_argument_narrows_the_question(broken: Trace) -> None:
    for written in ("p1", "Process(1)"):
        answer = why_not(broken.program, broken.start, "send", [written])
        assert [compact_step(step) for reason in answer.disabled for step in reason.steps] == ["send(p1)"]


def test_a_packet_that_is_not_there_is_named(broken: Trace) -> None:
    assert [reason.guard for reason in why_not(broken.program, broken.start, "receive").disabled] == [
        "packet in self.network"
    ]


@pytest.mark.parametrize(
    ("action", "arguments", "says"),
    [
        ("recieve", (), "did you mean 'receive'?"),
        ("send", ("p7",), "p cannot be p7; it is one of p0, p1, p2"),
        ("send", ("p0", "p1"), "send takes 1 arguments, not 2"),
    ],
)
def test_a_question_about_nothing_is_refused(
    broken: Trace, action: str, arguments: tuple[str, ...], says: str
) -> None:
    with pytest.raises(SpecError) as refused:
        why_not(broken.program, broken.start, action, arguments)
    assert says in str(refused.value)
