"""Liveness properties and marks of fairness in the text: read into the form, or refused where they stand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.explore.liveness.specs import Guest, LastOne, Lock, LossyChannel, Philosopher, Relay, Room, Table

from antiphon.conformance.report import diagram, svg, text_diagram
from antiphon.model.explore import check
from antiphon.model.export import load, save, tla
from antiphon.model.export.itf import to_itf
from antiphon.model.trace import Trace
from antiphon.spec.lang import (
    Spec,
    SpecError,
    action,
    always,
    always_eventually,
    eventually,
    fair,
    implies,
    ir,
    leads_to,
    program,
)
from antiphon.spec.lang.dump import dump


def lasso_of(spec: type[Spec], name: str) -> Trace:
    trace = check(program(spec), properties=[name])[name].trace
    assert trace is not None
    return trace


def test_liveness_properties_are_calls_of_methods_in_the_intermediate_form() -> None:
    module = program(LossyChannel).module
    (fed,) = module.liveness
    assert (fed.name, fed.kind, len(fed.parameters)) == (
        "arrives",
        ir.LivenessKind.LEADS_TO,
        1,
    )
    text = dump(module)
    assert "\nliveness arrives(n: Number) (call is_sent [n]) leads to (call has_arrived [n])\n" in text
    assert "action receive(packet: Packet) strong fairness per packet\n" in text
    assert "function is_sent(n: Number) -> bool\n" in text


@pytest.mark.deep
def test_a_liveness_property_changes_the_digest_and_comes_by_inheritance() -> None:
    class More(Lock):
        again = always_eventually("all_had_it")

    class Other(More):
        again = eventually("all_had_it")

    assert [liveness.name for liveness in program(More).module.liveness] == ["all_get_it", "again"]
    assert program(Other).module.liveness[1].kind is ir.LivenessKind.EVENTUALLY
    assert program(Other).digest != program(More).digest


def test_an_implication_is_made_of_formulas_and_reads_as_one() -> None:
    text = dump(program(Relay).module)
    assert (
        "\nliveness never_up_again() initially (call is_up []) implies eventually (call waits [])"
        " implies eventually always (call is_gone [])\n" in text
    )
    assert "\nliveness served_if_up() always (call is_up []) implies (call waits []) leads to" in text


def test_implications_are_exported_as_tlc_has_judged_them() -> None:
    """TLC finds 8 distinct states, and the verdicts of the test of `Relay`."""
    text = tla(program(Relay)).text
    called = "is_up(up)", "waits(waiting)", "is_gone(waiting)"
    up, waits, gone = called
    for line in (
        f"served_if_up_in_the_end == (<>[]({up}) => ({waits} ~> {gone}))",
        f"answered == (({waits} ~> {gone}) => []<>({gone}))",
        f"up_at_first == (({up}) => []({up}))",
        f"never_up_again == (({up}) /\\ <>({waits}) => <>[]({gone}))",
    ):
        assert f"\n{line}\n" in text


def test_promises_about_actions_together_and_parts_are_read_and_exported() -> None:
    text = dump(program(LastOne).module)
    assert "\nfair moves strong enter where (call is_last [g])\n" in text
    assert (
        "\nfair goes weak leave per g where (call is_in [g]) or look per g where (call is_in [g])\n" in text
    )
    exported = tla(program(LastOne)).text
    assert "\n  /\\ SF_vars(\\E g \\in Guest : is_last(g) /\\ enter(g))\n" in exported
    assert (
        "\n  /\\ \\A g \\in Guest : "
        "WF_vars((is_in(g, inside) /\\ leave(g)) \\/ (is_in(g, inside) /\\ look(g)))\n" in exported
    )
    both = "WF_vars((\\E g \\in Guest : enter(g)) \\/ (\\E g_1 \\in Guest : leave(g_1))"
    assert both in tla(program(Room)).text


class NoAction(Room):
    moves = fair("entre")


class Fault(Room):
    moves = fair("enter", "throw_out")


class NotPer(Room):
    moves = fair("enter", per="p")


class NoCondition(Room):
    moves = fair("enter", where="is_late")


class OtherParameters(Room):
    def knows(self, h: Guest) -> bool:
        """The guest inside."""
        return h == self.inside

    moves = fair("enter", where="knows")


class Invariant(Table):
    fed = always("somebody_eats")


class Mixed(Table):
    seated: Philosopher | None = None

    def sits(self, p: Philosopher, q: Philosopher) -> bool:
        """P is the philosopher Q."""
        return p == q

    fed = implies(always_eventually("sits"), eventually("eats"))


class NoSuch(Table):
    fed = eventually("eat")


class NoBool(Table):
    fed = eventually("after")


class NotNamed(Table):
    fed = leads_to(3, "eats")  # type: ignore[arg-type]


class Procedure(Table):
    fed = eventually("put_down")


class Unequal(Table):
    """Two methods about different things."""

    seated: Philosopher | None = None

    def sits(self, p: Philosopher, q: Philosopher) -> bool:
        """P is the philosopher Q."""
        return p == q

    fed = leads_to("sits", "eats")


class Taken(Table):
    eats = eventually("somebody_eats")  # type: ignore[assignment]


class ForNobody(Table):
    @action(fairness="weak", per="q")
    def put_down(self, p: Philosopher) -> None:
        """Put down nothing."""


REFUSED: list[tuple[type[Spec], str]] = [
    (NoAction, "moves: NoAction has no action 'entre'; known: enter, leave, look; did you mean 'enter'"),
    (Fault, "moves: throw_out is a step of the environment, which is never due"),
    (NotPer, "moves is fair per 'p', which is no parameter of enter"),
    (NoCondition, "moves: NoCondition has no method 'is_late' that gives a bool"),
    (OtherParameters, "moves: knows asks for h, and enter has no parameter of that name and type"),
    (Invariant, r"fed: always\('somebody_eats'\) alone is an invariant"),
    (Mixed, r"fed speaks of sits\(Philosopher, Philosopher\) and eats\(Philosopher\), which take"),
    (NoSuch, "fed: NoSuch has no method 'eat'; did you mean 'eats'?"),
    (NoBool, "fed: after gives no bool"),
    (NotNamed, "fed: NotNamed has no method 3"),
    (Procedure, "fed: put_down gives no bool"),
    (
        Unequal,
        (
            r"fed speaks of sits\(Philosopher, Philosopher\) and eats\(Philosopher\), which take "
            r"different parameters"
        ),
    ),
    (Taken, "Taken.eats is a liveness property and the name of something else"),
    (ForNobody, "put_down is fair per 'q', which is none of its parameters"),
]


@pytest.mark.parametrize(("spec", "words"), REFUSED, ids=[spec.__name__ for spec, _ in REFUSED])
def test_what_makes_no_sense_is_refused_in_its_line(spec: type[Spec], words: str) -> None:
    with pytest.raises(SpecError, match=words) as caught:
        program(spec).module  # noqa: B018 - reading is what is tested
    assert caught.value.at is not None
    assert caught.value.at.file == __file__
    assert caught.value.instead


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        (lambda: action(fairness="fair"), "fairness is none, weak or strong"),
        (lambda: action(fairness="none", per="p"), "fairness is none"),
        (
            lambda: implies(implies("p", eventually("q")), eventually("r")),
            "what is assumed is the name of a method, or a temporal formula without an implication",
        ),
        (lambda: fair(), r"fair\(, fairness='weak'\) promises nothing"),
        (lambda: fair("enter", fairness="none"), "promises nothing"),
        (lambda: implies("p", "q"), "what follows is a temporal formula"),  # type: ignore[arg-type]
        (lambda: implies(3, eventually("q")), "what is assumed is the name"),  # type: ignore[arg-type]
    ],
)
def test_a_mark_that_means_nothing_is_refused_at_once(mark: Callable[[], object], words: str) -> None:
    with pytest.raises(SpecError, match=words) as caught:
        mark()
    assert caught.value.at is not None
    assert (caught.value.at.file, caught.value.at.line) == (__file__, mark.__code__.co_firstlineno)
    assert caught.value.instead


@pytest.mark.parametrize(("spec", "name"), [(Table, "everybody_eats"), (Lock, "all_get_it")])
def test_a_lasso_is_saved_with_its_loop_and_loaded(tmp_path: Path, spec: type[Spec], name: str) -> None:
    trace = lasso_of(spec, name)
    assert trace.loop is not None
    assert to_itf(trace, tmp_path)["loop"] == trace.loop + 1
    save(trace, tmp_path / "lasso.itf.json")
    found = load(tmp_path / "lasso.itf.json")
    assert (found.loop, found.steps, found.shows) == (trace.loop, trace.steps, name)


def test_a_run_without_loop_is_saved_as_before(tmp_path: Path) -> None:
    found = check(program(Table))["somebody_eats"].trace
    assert found is not None
    data = to_itf(found, tmp_path)
    assert "loop" not in data
    assert "loop" not in data["#meta"]["antiphon"]


def test_drawings_show_where_a_lasso_repeats() -> None:
    trace = lasso_of(Table, "everybody_eats")
    text = text_diagram(diagram(trace), 100).plain
    assert text.index("↻ from here for ever") < text.index("take_") < text.index("↻ on with step")
    assert "↻" in svg(diagram(trace))
    stays = check(program(Table, last_differs=False), properties=["never_all_hungry"]).verdicts[0].trace
    assert stays is not None
    assert "↻ nothing more happens" in text_diagram(diagram(stays), 100).plain
