"""A question to Z3 ends after a number of units of work, whatever else the machine does."""

import signal
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import z3

from antiphon.model.cache import Cache
from antiphon.model.proofs import smt
from antiphon.model.proofs.answers import SEEDS, Asker
from antiphon.model.proofs.formula import Formula, Sort, Symbol, atom, constant, disjunction, negation
from antiphon.model.proofs.fragment import Question
from antiphon.spec.examples.proved.paxos import PaxosProof
from antiphon.spec.lang import program

Asserted = Sequence[tuple[str, Formula]]

PATIENTLY = 1_000.0
"""A limit in seconds that no question of these tests reaches."""


def pigeons(holes: int) -> Asserted:
    """One pigeon more than there are holes, each in a hole of its own: 11 holes are minutes of search."""
    sits = Symbol("sits", (Sort("Pigeon"), Sort("Hole")))
    birds = [constant(f"pigeon {number}", sits.arguments[0]) for number in range(holes + 1)]
    places = [constant(f"hole {number}", sits.arguments[1]) for number in range(holes)]
    somewhere = [disjunction(*(atom(sits, (bird, place)) for place in places)) for bird in birds]
    alone = [
        disjunction(negation(atom(sits, (one, place))), negation(atom(sits, (other, place))))
        for number, one in enumerate(birds)
        for other in birds[:number]
        for place in places
    ]
    return [("somewhere", item) for item in somewhere] + [("alone", item) for item in alone]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Asserted, dict[str, Any], smt.Answer]]:
    """All questions to Z3 of this test, with their options and their answers."""
    seen = []
    ask = smt.ask

    def watched(asserted: Asserted, **options: Any) -> smt.Answer:
        answer = ask(asserted, **options)
        seen.append((asserted, options, answer))
        return answer

    monkeypatch.setattr(smt, "ask", watched)
    return seen


@pytest.mark.parametrize("seed", SEEDS)
def test_a_limit_is_a_number_of_units(
    unproved: Callable[..., set[str]],
    asked: list[tuple[Asserted, dict[str, Any], smt.Answer]],
    seed: int,
) -> None:
    """An obligation takes the same units each time: as many are enough, one less is not."""
    assert unproved(program(PaxosProof), ("acceptors", "rounds", "values"), step="decide") == set()
    asserted = max(asked, key=lambda item: item[2].units)[0]
    first = smt.ask(asserted, seed=seed, seconds=PATIENTLY)
    assert first.outcome is smt.Outcome.PROVED
    assert first.units > 10_000
    enough = smt.ask(asserted, seed=seed, seconds=first.units / smt.UNITS_A_SECOND)
    assert (enough.outcome, enough.units, enough.core) == (first.outcome, first.units, first.core)
    for less in (first.units - 1, first.units // 2, 1):
        short = smt.ask(asserted, seed=seed, seconds=less / smt.UNITS_A_SECOND)
        assert (short.outcome, short.units, short.reason) == (smt.Outcome.UNKNOWN, less, "")


def test_every_seed_has_the_work_that_the_reason_says(
    asked: list[tuple[Asserted, dict[str, Any], smt.Answer]],
) -> None:
    """`unknown after 4 seeds x 0.01 s`: Z3 has worked so long with each of them, no less."""
    hard = pigeons(11)
    asker = Asker(Cache(None), lambda: None, times=(0.002, 0.008))
    answer = asker.ask(Question(tuple(hard), ("",) * len(hard)), frozenset())
    assert (answer.outcome, answer.reason) == (smt.Outcome.UNKNOWN, "4 seeds x 0.01 s")
    for seed in SEEDS:
        units = sum(found.units for _, options, found in asked if options["seed"] == seed)
        assert units == 0.01 * smt.UNITS_A_SECOND


def test_where_z3_does_not_count_the_wall_time_ends_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is not reached, and the answer names what ended it: the safety net, or the time in all."""
    answer = smt.ask(pigeons(11), seconds=PATIENTLY, wall_seconds=0.1)
    assert (answer.outcome, answer.reason) == (smt.Outcome.UNKNOWN, "0.1 s of wall time ended it")
    monkeypatch.setattr(smt, "PATIENCE", 0.2 / PATIENTLY)
    answer = smt.ask(pigeons(11), seconds=PATIENTLY)
    assert (answer.outcome, answer.reason) == (smt.Outcome.UNKNOWN, "0.2 s of wall time ended it")


def test_ctrl_c_ends_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interruption is neither an answer nor a limit."""
    check = z3.Solver.check
    main = threading.main_thread().ident
    assert main is not None

    def interrupted(solver: Any, *assumed: Any) -> Any:
        threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
        return check(solver, *assumed)

    monkeypatch.setattr(z3.Solver, "check", interrupted)
    with pytest.raises(KeyboardInterrupt):
        smt.ask(pigeons(11), seconds=PATIENTLY)
