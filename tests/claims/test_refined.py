"""Refinements that are recorded to hold are asked of mutants of their protocols."""

from __future__ import annotations

from dataclasses import replace

import pytest

from antiphon.conformance.ledger.strength import is_text, meaning_of, strength
from antiphon.conformance.ledger.strength.refined import PROPERTY, RefinementTrial
from antiphon.model.bounds import Bounds
from antiphon.model.mutation import Fate, LeftOut, mutants_of
from antiphon.spec.catalogue import refinement_of
from antiphon.spec.claims import Check, claim_of
from antiphon.spec.lang import Program, program
from antiphon.spec.protocols.dtp.refinement import DtpOrdering
from antiphon.spec.protocols.token_broadcast.refinement import Figure2Deliveries

SMALL = {"processes": 2, "messages": 1, "losses": 1}


def bound() -> Program:
    """Figure 2 with all its repairs, as an abstract machine sees it."""
    return program(Figure2Deliveries, repairs="all", **SMALL)


def trial_of(bound: Program, bounds: Bounds | None = None) -> RefinementTrial:
    """The trial of a program of a mapping."""
    refinement = refinement_of(bound.spec)
    assert refinement is not None
    return RefinementTrial(bound, refinement, bounds or Bounds(states=5_000))


def test_a_mutant_that_takes_a_step_which_the_machine_has_not_breaks_the_refinement() -> None:
    """A message that is delivered twice, which the repair prevents."""
    answer = trial_of(bound()).ask(LeftOut("deliver_once"))
    assert (answer.fate, answer.broken) == (Fate.KILLED, (PROPERTY,))


@pytest.mark.deep
def test_a_mutant_of_the_text_is_walked_and_not_the_program_itself() -> None:
    """A broadcast that sends nothing still refines; one that forgets what was delivered does not."""
    trial = trial_of(bound())
    answers = {mutant.name: trial.ask(mutant) for mutant in mutants_of(bound(), is_text)}
    assert answers["Figure2.broadcast: update left out: `self.send_to_all(p, m)`"].broken == ()
    assert any(answer.broken for answer in answers.values())
    assert all(answer.open == () for answer in answers.values())


@pytest.mark.parametrize("briefly", [False, True])
def test_what_a_bound_leaves_open_is_not_broken(*, briefly: bool) -> None:
    answer = trial_of(bound(), Bounds(states=2)).ask(LeftOut("deliver_once"), briefly=briefly)
    assert (answer.fate, answer.broken, answer.open) == (Fate.UNDECIDED, (), (PROPERTY,))


def test_a_mutant_of_what_the_mapping_reads_is_not_asked() -> None:
    ordering = program(DtpOrdering, repairs="all", processes=2, messages=1)
    named = "Dtp.has_ack: guard dropped: `item.message == m`"
    mutant = next(item for item in mutants_of(ordering, is_text) if item.name == named)
    answer = trial_of(ordering).ask(mutant)
    assert (answer.apart, answer.broken, answer.open) == ((PROPERTY,), (), ())


def test_a_refinement_of_the_ledger_can_fail_and_says_by_what() -> None:
    check = Check(Figure2Deliveries, PROPERTY, "holds", "all", (), SMALL)
    found = strength([replace(claim_of("X-10"), checks=(check,))], sample=2)
    (one,) = found.checks
    assert (one.verdict, found.left_out) == ("holds", 0)
    assert one.by == "repair left out: `deliver_once`"


def test_a_deep_refinement_is_asked_where_deep_checks_are() -> None:
    check = Check(Figure2Deliveries, PROPERTY, "holds", "all", (), SMALL, deep=True)
    claim = replace(claim_of("X-10"), checks=(check,))
    assert strength([claim]).checks == ()
    assert [item.can_fail for item in strength([claim], deep=True).checks] == [True]


def test_the_meaning_of_a_refinement_has_its_machine_in_it() -> None:
    """With other constants of the machine it is another question."""
    two = program(Figure2Deliveries, repairs="all", **{**SMALL, "messages": 2})
    assert meaning_of(bound(), (PROPERTY,)) == meaning_of(bound(), (PROPERTY,))
    assert meaning_of(bound(), (PROPERTY,)) != meaning_of(two, (PROPERTY,))


def test_a_program_keeps_its_changed_text_under_other_constants() -> None:
    mutant = next(iter(mutants_of(bound(), is_text)))
    changed = mutant.of(bound()).with_constants(losses=0)
    assert changed.text is not program(Figure2Deliveries, repairs="all", **{**SMALL, "losses": 0}).text
    assert changed.constants["losses"] == 0
