"""Verdicts about liveness properties: the classic examples under weak and strong fairness, bounds, errors,
engines, and lassos that CPython confirms.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.explore.liveness.specs import (
    ALL_STRONG,
    FairRoom,
    Guest,
    LastOne,
    Lock,
    LossyChannel,
    Relay,
    Room,
    Table,
)
from tests.lang.random_specs import program_of

from antiphon.model.bounds import Bounds
from antiphon.model.explore import check, liveness
from antiphon.model.simulate import simulate
from antiphon.model.symbolic import check_bounded
from antiphon.model.trace import ReplayError, replay
from antiphon.model.verdict import Outcome, Verdict
from antiphon.spec.lang import (
    Program,
    Spec,
    SpecError,
    Step,
    always_eventually,
    eventually,
    eventually_always,
    fair,
    implies,
    initial,
    leads_to,
    present,
    program,
    require,
)
from antiphon.spec.protocols.rbp.properties import RbpLive

RBP = {"processes": 2, "messages": 1, "losses": 1, "unlimited": True}


def asked(spec: type[Spec], name: str, fairness: Any = None, **constants: Any) -> Verdict:
    bound = program(spec, **constants)
    return liveness.judge(bound, [liveness.declared(bound)[name]], fairness=fairness).verdicts[0]


def lasso(verdict: Verdict) -> tuple[int, int]:
    """The lengths of stem and cycle."""
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    assert verdict.trace.loop is not None
    assert verdict.trace.states[verdict.trace.loop] == verdict.trace.states[-1]
    return verdict.trace.loop, len(verdict.trace) - verdict.trace.loop


def test_philosophers_who_all_begin_on_the_left_end_with_one_fork_each() -> None:
    for fairness in (None, ALL_STRONG):
        found = asked(Table, "never_all_hungry", fairness, last_differs=False)
        assert lasso(found) == (3, 0)
        assert "nothing that is fair can happen" in found.reason


def test_philosophers_starve_under_weak_fairness_and_not_under_strong() -> None:
    assert asked(Table, "never_all_hungry").outcome is Outcome.HOLDS
    _, cycle = lasso(asked(Table, "everybody_eats"))
    assert cycle > 0
    assert asked(Table, "everybody_eats", ALL_STRONG).outcome is Outcome.HOLDS


def test_a_lossy_channel_needs_strong_fairness_of_reception() -> None:
    assert asked(LossyChannel, "arrives").outcome is Outcome.HOLDS
    weak = asked(LossyChannel, "arrives", {"receive": ("weak", "packet")})
    assert lasso(weak) == (1, 2)
    assert weak.trace is not None
    assert [step.action for step in weak.trace.steps] == ["submit", "send", "lose"]


def test_fairness_of_an_action_as_a_whole_is_less_than_fairness_to_each_packet() -> None:
    assert asked(LossyChannel, "arrives", numbers=2, stubborn=True).outcome is Outcome.HOLDS
    found = asked(LossyChannel, "arrives", {"receive": "strong"}, numbers=2, stubborn=True)
    assert lasso(found)[1] > 0
    assert found.trace is not None
    cycle = [str(step) for step in found.trace.steps[found.trace.loop :]]
    assert "receive(Packet(number=Number(1)))" in cycle, (
        "the copies of the other number are received for ever"
    )
    assert "receive(Packet(number=Number(0)))" not in cycle


def test_a_step_that_changes_nothing_serves_no_liveness_property_and_an_unfair_one_need_not_happen() -> None:
    assert lasso(asked(Lock, "all_get_it"))[1] == 2
    assert asked(Lock, "all_get_it", {"lock": ("strong", "p")}).outcome is Outcome.HOLDS
    assert lasso(asked(Lock, "all_get_it", {"lock": ("strong", "p"), "unlock": "none"})) == (1, 0)
    assert lasso(asked(Lock, "all_get_it", {"lock": "none", "nap": "strong"})) == (0, 0)


def test_what_is_assumed_of_a_run_is_true_of_its_counterexample() -> None:
    """The line goes down again whenever it is up: weak fairness then serves nobody, strong fairness does."""
    report = check(program(Relay))
    assert {verdict.property: verdict.outcome.value for verdict in report.verdicts} == {
        "served": "violated", "served_if_up": "holds", "served_if_up_in_the_end": "holds",
        "served_if_up_again": "violated", "answered": "holds", "up_at_first": "violated",
        "gone_at_first": "violated", "never_up_again": "violated",
    }  # fmt: skip
    again = report["served_if_up_again"]
    assert lasso(again) == (1, 2)
    assert again.reason == (
        "is_up is true again and again, and yet waits holds and is_gone does not come about: after 1 step a "
        "fair cycle of 2 steps is taken for ever"
    )
    assert again.trace is not None
    assert [step.action for step in again.trace.steps] == ["come", "change", "change"]
    assert lasso(report["served"]) == (1, 2)
    assert asked(Relay, "served_if_up_again", {"pass_on": "strong"}).outcome is Outcome.HOLDS
    assert report["up_at_first"].reason.startswith("is_up is true at first, and yet is_up becomes false: ")
    assert asked(Relay, "served", breaks=False).outcome is Outcome.HOLDS


def test_a_promise_about_several_actions_is_kept_by_any_of_them() -> None:
    """Some guest can always enter; the promise is kept by one guest or by all in turn."""
    room = check(program(Room))
    assert (room["used"].outcome, lasso(room["everybody"])) == (Outcome.HOLDS, (0, 2))
    assert room.notes[-1] == "fairness: weak: enter or leave or look"
    fair_room = check(program(FairRoom))
    assert [verdict.outcome.value for verdict in fair_room.verdicts] == ["holds", "holds"]
    assert fair_room.notes[-1] == "fairness: strong per g: enter or leave"
    assert lasso(asked(FairRoom, "everybody", {"moves": ("weak", "g")})) == (0, 2)
    assert lasso(asked(Room, "used", {"moves": "none"})) == (0, 0)


def test_a_promise_about_a_part_of_an_action_asks_for_nothing_else() -> None:
    last = check(program(LastOne))
    assert (last["last"].outcome, lasso(last["everybody"])[1]) == (Outcome.HOLDS, 2)
    assert (
        last.notes[-1]
        == "fairness: strong: enter where is_last; weak per g: leave where is_in or look where is_in"
    )
    assert lasso(asked(LastOne, "last", {"moves": "weak"}))[1] == 2
    assert lasso(asked(LastOne, "last", {"goes": "none"}))[1] == 0
    assert check(program(LastOne), engine="reference")["last"].outcome is Outcome.HOLDS


class Careless(Room):
    """A fairness promise whose condition fails to evaluate in an empty room."""

    moves = fair("enter", where="is_the_one")

    def is_the_one(self, g: Guest) -> bool:
        """True for the guest inside; an error if the room is empty."""
        return present(self.inside) == g


@pytest.mark.parametrize("engine", ["generated", "reference"])
def test_a_promise_that_cannot_be_evaluated_leaves_everything_undecided(engine: str) -> None:
    verdict = check(program(Careless), properties=["used"], engine=engine)["used"]
    assert verdict.outcome is Outcome.UNKNOWN
    assert "not decided: " in verdict.reason
    assert "present(None)" in verdict.reason or "absent" in verdict.reason


def test_a_run_that_stays_breaks_no_more_than_what_is_true_where_it_stays() -> None:
    bound = program(Relay, breaks=False)
    asked_of = {
        "up for ever": eventually_always("is_up"), "gone for ever": eventually_always("is_gone"),
        "never": implies("waits", eventually("waits")),
    }  # fmt: skip
    report = liveness.judge(
        bound, [liveness.question(bound, note, name=name) for name, note in asked_of.items()]
    )
    assert [verdict.outcome.value for verdict in report.verdicts] == ["holds", "violated", "holds"]
    assert report["gone for ever"].reason.startswith("is_gone is false again and again: ")


@pytest.mark.parametrize("spec", [Table, LossyChannel, Lock, Relay, Room, LastOne])
def test_both_engines_give_the_same_verdicts_and_lassos(spec: type[Spec]) -> None:
    first, second = (check(program(spec), engine=engine) for engine in ("generated", "reference"))
    for one, other in zip(first.verdicts, second.verdicts, strict=True):
        assert (one.property, one.outcome) == (other.property, other.outcome)
        assert one.trace is None or (
            other.trace is not None
            and one.trace.steps == other.trace.steps
            and one.trace.loop == other.trace.loop
        )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", [seed for seed in range(13) if seed != 10])  # which takes seconds
def test_random_specifications_have_lassos_that_the_reference_confirms(seed: int) -> None:
    bound = program_of(seed)
    declared = liveness.declared(bound)
    by_engine = [
        liveness.judge(bound, declared.values(), engine=engine, bounds=Bounds(depth=3))
        for engine in ("generated", "reference")
    ]
    assert [(item.property, item.outcome) for item in by_engine[0].verdicts] == [
        (item.property, item.outcome) for item in by_engine[1].verdicts
    ]
    for verdict in by_engine[0].verdicts:
        assert verdict.outcome is not Outcome.HOLDS or by_engine[0].exploration.complete
        if verdict.trace is not None:
            assert liveness.shows_lasso(verdict.trace)


def test_what_a_bound_leaves_open_is_unknown_and_a_lasso_within_it_counts() -> None:
    bound = program(Table)
    declared = liveness.declared(bound)
    open_ = liveness.judge(bound, [declared["never_all_hungry"]], bounds=Bounds(depth=2)).verdicts[0]
    assert (open_.outcome, open_.reason) == (Outcome.UNKNOWN, "not decided: the bound of 2 steps")
    assert open_.evidence.bound.endswith("states, not all")
    assert (
        liveness.judge(bound, [], bounds=Bounds(depth=2)).notes[1]
        == "the walk for liveness is not complete: the bound of 2 steps"
    )
    few = liveness.judge(bound, [declared["never_all_hungry"]], bounds=Bounds(states=1)).verdicts[0]
    assert few.outcome is Outcome.UNKNOWN
    early = liveness.judge(
        program(Lock),
        [liveness.declared(program(Lock))["all_get_it"]],
        fairness={"lock": "none"},
        bounds=Bounds(depth=1),
    )
    assert early.verdicts[0].outcome is Outcome.VIOLATED
    assert not early.exploration.complete


class Empty(Lock):
    """A lock with no initial state."""

    @initial
    def start(self) -> None:
        """Require the impossible."""
        require(self.seats == 0)


class WrongStep(Lock):
    """A step that is an error of the specification."""

    def nap(self) -> None:
        """Fail: the lock has no holder."""
        self.used[present(self.holder)] = True


class WrongGoal(Lock):
    """A goal that is an error of the specification in some state."""

    def named(self) -> bool:
        """Fail in the initial state, which has no holder."""
        return self.used[present(self.holder)]

    named_once = eventually("named")


@pytest.mark.parametrize("engine", ["generated", "reference"])
def test_an_empty_model_and_a_wrong_specification_have_no_liveness_property_that_holds(engine: str) -> None:
    def unknown(spec: type[Spec], name: str) -> str:
        bound = program(spec)
        verdict = liveness.judge(bound, [liveness.declared(bound)[name]], engine=engine).verdicts[0]
        assert verdict.outcome is Outcome.UNKNOWN
        return verdict.reason

    assert unknown(Empty, "all_get_it") == "the model is empty: it has no initial state"
    assert "the optional value is absent" in unknown(WrongStep, "all_get_it")
    assert "the optional value is absent" in unknown(WrongGoal, "named_once")


def test_questions_from_outside_go_by_name_and_fairness_may_be_changed() -> None:
    bound = program(LossyChannel, numbers=2)
    report = liveness.judge(bound, [
        liveness.question(bound, leads_to("is_sent", "has_arrived")),
        liveness.question(bound, eventually("has_arrived")),
        liveness.question(bound, always_eventually("is_sent")),
    ])  # fmt: skip
    assert [verdict.outcome for verdict in report.verdicts] == [
        Outcome.HOLDS,
        Outcome.VIOLATED,
        Outcome.VIOLATED,
    ]
    assert report.notes == ("fairness: weak per n: send; strong per packet: receive",)
    forced = liveness.judge(
        bound, [liveness.question(bound, eventually("has_arrived"))], fairness={"submit": ("weak", "n")}
    )
    assert forced.outcome is Outcome.HOLDS


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda bound: liveness.question(bound, leads_to("is_sent", "arrived")),
            "has no method 'arrived' that gives a bool; .*; did you mean 'has_arrived'",
        ),
        (
            lambda bound: liveness.judge(bound, [], fairness={"recieve": "weak"}),
            "no action 'recieve' that can be fair; known: submit, send, receive",
        ),
        (
            lambda bound: liveness.judge(bound, [], fairness={"lose": "weak"}),
            "no action 'lose' that can be fair",
        ),
        (
            lambda bound: liveness.judge(bound, [], fairness={"send": "fair"}),
            "none, weak or strong, not 'fair'",
        ),
        (
            lambda bound: liveness.judge(bound, [], fairness={"send": ("weak", "m")}),
            "has no parameter 'm'; known: n",
        ),
        (lambda bound: liveness.judge(bound, [], engine="fast"), "unknown engine 'fast'; known: "),
    ],
)
def test_what_does_not_exist_is_refused_with_what_does(call: Any, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        call(program(LossyChannel))


def test_check_judges_liveness_properties_with_everything_else() -> None:
    report = check(program(Table))
    assert {verdict.property: verdict.outcome for verdict in report.verdicts} == {
        "somebody_eats": Outcome.HOLDS, "everybody_eats": Outcome.VIOLATED, "never_all_hungry": Outcome.HOLDS,
    }  # fmt: skip
    assert report.exploration.complete
    only = check(program(Table), properties=["never_all_hungry"])
    assert [verdict.property for verdict in only.verdicts] == ["never_all_hungry"]
    assert (only.exploration.states, only.exploration.transitions) == (
        report.exploration.states,
        report.exploration.transitions,
    )
    assert only.exploration.fired == report.exploration.fired


def test_engines_that_see_no_cycles_say_so() -> None:
    bounded = check_bounded(program(Lock), depth=2)
    assert bounded["all_get_it"].outcome is Outcome.UNKNOWN
    assert "bounded length" in bounded["all_get_it"].reason
    walked = simulate(program(Lock), program(Lock).reference, seed=1, walks=2, steps=5)
    assert walked["all_get_it"].outcome is Outcome.UNKNOWN


def test_no_message_of_rbp_starves_and_each_packet_must_be_treated_fairly() -> None:
    """Claim RBP-15, with the repairs; and that the property can be violated."""
    repaired = program(RbpLive, repairs="all", **RBP)
    asked = liveness.declared(repaired)["NoMessageStarves"]
    assert liveness.judge(repaired, [asked]).outcome is Outcome.HOLDS
    left_out = ("handled_replies", "old_token", "holder_answers")
    repairs = [
        item.name for item in repaired.declaration.constants if item.repair and item.name not in left_out
    ]
    broken = program(RbpLive, repairs=repairs, **RBP)
    assert lasso(liveness.judge(broken, [liveness.declared(broken)["NoMessageStarves"]]).verdicts[0]) == (
        9,
        3,
    )


def test_a_run_that_does_not_come_back_is_no_lasso() -> None:
    bound: Program = program(Lock)
    steps = list(check(bound, properties=["all_get_it"]).verdicts[0].trace.steps)  # type: ignore[union-attr]
    with pytest.raises(ReplayError, match="does not come back to its state number 0"):
        replay(bound, bound.reference.initial()[0], steps[:1], loop=0)
    trace = replay(bound, bound.reference.initial()[0], [], shows="all_get_it", loop=0)
    assert not liveness.shows_lasso(trace), "something that is fair can happen there"


def shown_by(spec: type[Spec], name: str, steps: list[Step], loop: int) -> bool:
    """Return True if a run that takes these steps, and from the state `loop` on for ever, breaks the
    property.
    """
    bound = program(spec)
    trace = replay(bound, bound.reference.initial()[0], steps, shows=name, loop=loop)
    return liveness.shows_lasso(trace)


def test_a_run_on_which_the_assumption_is_false_shows_nothing() -> None:
    """Something waits, and the line goes down for ever."""
    steps = [Step("come"), Step("change")]
    assert shown_by(Relay, "served", steps, loop=2)
    assert not shown_by(Relay, "served_if_up_again", steps, loop=2)
    assert shown_by(Relay, "up_at_first", steps, loop=2)


def test_a_run_that_takes_another_part_of_the_action_keeps_no_promise() -> None:
    """The last one must come in; the first one comes and goes."""
    first, last = Guest(0), Guest(1)
    assert not shown_by(LastOne, "last", [Step("enter", (first,)), Step("leave", (first,))], loop=0)
    assert shown_by(LastOne, "everybody", [Step("enter", (last,)), Step("leave", (last,))], loop=0)
