"""The ledger is well formed: every record says where its claim stands, how it is checked, and what is wrong
with what is violated.
"""

from __future__ import annotations

import collections
import re
import runpy
import sys
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from antiphon.conformance.ledger import errata
from antiphon.conformance.ledger.checking import program_of, run_ledger
from antiphon.conformance.ledger.measurements import MEASUREMENTS, measure
from antiphon.model.explore import kinds_of
from antiphon.programs import called
from antiphon.spec.catalogue import refinement_of
from antiphon.spec.claims import Basis, Check, Measurement, all_claims, claim_of, claims_of, families
from antiphon.spec.claims.claim import ORDERS, RecordedOutcome, Standing
from antiphon.spec.lang import Const, Spec, SpecError, program
from antiphon.spec.protocols.rbp_resilient.properties import RbpResilientChecked
from antiphon.spec.services.events import Group

CHECKS = [(claim, check) for claim in all_claims() for check in claim.checks if isinstance(check, Check)]


class _Single(Group):
    """One message, where nobody says how many."""

    messages: Const[int] = 1


def repairs_of(check: Check) -> set[str]:
    return {constant.name for constant in program(check.spec).declaration.constants if constant.repair}


def test_identifiers_are_unique_and_name_a_family() -> None:
    assert [
        name for name, count in collections.Counter(claim.id for claim in all_claims()).items() if count > 1
    ] == []
    assert [claim.id for claim in all_claims() if not re.fullmatch(r"[A-Z]{1,3}-\d\d", claim.id)] == []
    assert {"rbc", "msq", "rbp"} <= set(families())
    assert collections.Counter(claim.protocol for claim in all_claims())["rbc"] == 9


def test_claims_stand_in_the_order_of_their_identifiers() -> None:
    for family in families():
        names = [claim.id for claim in claims_of(family)]
        assert names == sorted(names)


def test_a_claim_says_where_it_stands_in_the_documents_own_words(subtests: pytest.Subtests) -> None:
    for claim in all_claims():
        with subtests.test(claim=claim.id):
            assert claim.source.section.strip() == claim.source.section != ""
            assert claim.source.quotation.strip() == claim.source.quotation != ""
            assert str(claim.source).startswith(
                f"{claim.source.document.short}, section {claim.source.section}"
            )
            assert re.search(r"[12]\d{3}", claim.source.document.short), (
                "a document is cited by author and year"
            )
            assert not claim.source.lines or claim.source.figure, "printed lines belong to a figure"
            assert claim.claim.endswith(".")
            assert claim.because.rstrip(")").endswith(".")


def test_verdicts_are_holds_violated_or_unknown(subtests: pytest.Subtests) -> None:
    for claim in all_claims():
        with subtests.test(claim=claim.id):
            vocabulary = set(get_args(RecordedOutcome))
            assert claim.verdict in vocabulary
            assert {check.outcome for check in claim.checks} <= vocabulary


def test_what_is_said_to_hold_has_a_check(subtests: pytest.Subtests) -> None:
    """A property that is judged by reading alone cannot fail, so its status is at most unknown."""
    for claim in all_claims():
        with subtests.test(claim=claim.id):
            assert claim.checks or claim.verdict != "holds"


def test_only_what_a_repair_or_a_reading_mends_is_a_defect_of_the_text(subtests: pytest.Subtests) -> None:
    """Claims judged by reading are excepted, as they change no behaviour. A defect that nothing mends is one
    of the design.
    """
    for claim in all_claims():
        with subtests.test(claim=claim.id):
            mended = claim.repairs or claim.readings or claim.because.startswith("By reading")
            assert mended or claim.defect != "text"


def test_a_violated_claim_says_what_is_at_fault_and_what_repairs_it(subtests: pytest.Subtests) -> None:
    """A question that the document leaves open may be answered by a run that nothing there mends; what is
    counted on the text, and in no run, has no repair.
    """
    for claim in all_claims():
        with subtests.test(claim=claim.id):
            if claim.verdict == "violated":
                assert claim.defect in ("text", "design")
                assert (
                    claim.repairs
                    or claim.because.startswith("By reading")
                    or claim.standing is Standing.QUESTION
                    or {type(check) for check in claim.checks} == {Measurement}
                )
            else:
                assert claim.defect == ""


def test_a_claim_is_checked_or_says_that_it_is_judged_by_reading(subtests: pytest.Subtests) -> None:
    for claim in all_claims():
        with subtests.test(claim=claim.id):
            assert bool(claim.checks) != claim.because.startswith("By reading")


def test_the_repairs_of_a_claim_exist_where_it_is_checked(subtests: pytest.Subtests) -> None:
    for claim in all_claims():
        with subtests.test(claim=claim.id):
            for check in claim.checks:
                if isinstance(check, Check):
                    exist = repairs_of(check)
                    assert set(claim.repairs) <= exist or check.spec is not claim.checks[0].spec  # type: ignore[union-attr]
                    assert set(check.without) <= exist
                    assert set(check.repairs) <= exist or check.repairs == "all"


def test_a_violated_claim_is_checked_as_violated_or_never_reached_and_as_repaired(
    subtests: pytest.Subtests,
) -> None:
    """Except where nothing observable depends on the text: a sentence that is judged by reading, and RBP-08,
    an action that cannot happen.
    """
    for claim in all_claims():
        with subtests.test(claim=claim.id):
            if claim.verdict == "violated" and claim.checks and claim.id != "RBP-08":
                outcomes = [check.outcome for check in claim.checks]
                assert "violated" in outcomes or "unknown" in outcomes
                assert "holds" in outcomes or not claim.repairs


@pytest.mark.deep
def test_the_committed_errata_rest_on_todays_records_and_specifications() -> None:
    """Update them with `antiphon errata --write docs`."""
    docs = Path(__file__).parents[2] / "docs"
    written = (docs / "errata.md").read_text(encoding="utf-8")
    pictures = {path.name: True for path in (docs / errata.PICTURES).glob("*.svg")}
    assert [claim.id for claim in errata.stale(all_claims(), written, pictures)] == []
    assert list(errata.sections_in(written)) == [claim.id for claim in errata.refuted(all_claims())]


@pytest.mark.deep
def test_the_pictures_of_the_committed_errata_are_drawn_as_today() -> None:
    """Update them with `antiphon errata --write docs`."""
    docs = Path(__file__).parents[2] / "docs"
    have = errata.sections_in((docs / "errata.md").read_text(encoding="utf-8"))
    sections = [errata.Section(claim_of(name), *section) for name, section in have.items()]
    drawn = {item.claim.id: errata.picture(item, called) for item in sections}
    committed = {path.stem: path.read_text(encoding="utf-8") for path in (docs / errata.PICTURES).iterdir()}
    assert {name: picture for name, picture in drawn.items() if picture} == committed


def test_two_claims_that_print_one_run_say_so() -> None:
    """The same steps of the same program, in whatever order: the text of one of them names the other."""
    docs = Path(__file__).parents[2] / "docs"
    printed: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for name, (_, text) in errata.sections_in((docs / "errata.md").read_text(encoding="utf-8")).items():
        found = re.search(r"` fails in [^(]*(\([^\n]*?\)): .*?```text\n(.*?)```", text, re.DOTALL)
        if found is not None:
            steps = (line.split(maxsplit=1)[-1] for line in found[2].splitlines())
            printed.setdefault((found[1], tuple(sorted(steps))), []).append(name)
    shared = [names for names in printed.values() if len(names) > 1]
    assert ["DTP-02", "DTP-19"] in shared
    for names in shared:
        named = [other for name in names for other in names if other in claim_of(name).because]
        assert len(named) >= len(names) - 1, names


@pytest.mark.deep
def test_every_check_binds_and_asks_about_a_property_that_exists(subtests: pytest.Subtests) -> None:
    kinds: dict[type[Spec], dict[str, str]] = {}
    for claim, check in CHECKS:
        with subtests.test(claim=claim.id, check=str(check)):
            bound = program_of(check)  # refuses constants, repairs and readings that do not exist
            refines = check.property == "Refinement" and refinement_of(check.spec) is not None
            if not refines and check.property not in kinds.get(check.spec, {}):
                kinds[check.spec] = kinds_of(bound)  # the same with other repairs, which are not read again
            kind = "refinement" if refines else kinds[check.spec][check.property]
            if check.outcome == "unknown":
                assert kind == "witness", "what is recorded as unknown is a witness that is never reached"
            if check.length is not None:
                assert check.outcome == "violated" or kind == "witness", (
                    "only a counterexample or a way to a witness has a length"
                )
            else:
                assert check.outcome != "violated", "a counterexample has a length"


def test_an_order_of_one_message_cannot_be_recorded_to_hold(subtests: pytest.Subtests) -> None:
    """One message cannot be out of order, so a record of its order proves nothing."""
    for name in sorted(ORDERS):
        with (
            subtests.test(property=name),
            pytest.raises(SpecError, match=rf"Group\.{name} \(.*messages=1\) cannot .* of two messages"),
        ):
            Check(Group, name, "holds", "all", constants={"messages": 1})
    assert Check(Group, "TotalOrder", "holds", constants={"messages": 2}).outcome == "holds"
    assert Check(Group, "TotalOrder", "violated", constants={"messages": 1}).outcome == "violated"
    assert Check(Group, "Agreement", "holds", constants={"messages": 1}).outcome == "holds"


def test_an_order_of_the_messages_that_a_specification_has_by_default_is_no_exception() -> None:
    with pytest.raises(SpecError, match="there is 1"):
        Check(_Single, "TotalOrder", "holds")


def test_every_property_of_the_ledger_that_is_called_an_order_counts_as_one() -> None:
    """The order of a list is excepted: it exists without any message."""
    asked = {check.property for _, check in CHECKS}
    called = {name for name in asked if re.search("(Order|Prefix|First|Fifo)$", name)}
    assert called - ORDERS == {"OnlyTheOrder", "PinwheelFirst", "AnsweredByTheFirst"}


def test_every_repair_is_demanded_by_the_claim_that_it_answers() -> None:
    answered = set()
    for spec in {check.spec for _, check in CHECKS}:
        for constant in program(spec).declaration.constants:
            if constant.repair:
                assert constant.name in claim_of(constant.repair.answers).repairs, constant.name
                answered.add(constant.repair.answers)
    assert len(answered) >= 22


def test_measurements_have_names_that_exist() -> None:
    names = [check.name for claim in all_claims() for check in claim.checks if isinstance(check, Measurement)]
    assert {"messages a step", "nacks", "two messages"} <= set(names)
    assert [name for name in names if name not in MEASUREMENTS] == []
    with pytest.raises(LookupError, match="known: nacks"):
        measure("nack")


def test_a_claim_is_found_in_any_case_and_an_unknown_one_is_guessed() -> None:
    assert claim_of("rbp-06").id == "RBP-06"
    with pytest.raises(SpecError, match=r"did you mean .*MSQ-02"):
        claim_of("MQS-02")
    with pytest.raises(SpecError, match=r"known: .*msq.*rbc, rbp.*did you mean 'dtp'"):
        claims_of("dpt")


def test_the_readme_counts_the_claims_as_the_ledger_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """README.md has a row for every family: how many claims, and how many hold, are refuted, are open."""
    script = str(Path(__file__).parents[2] / "docs" / "count_claims.py")
    monkeypatch.setattr(sys, "argv", [script, "--check"])
    assert runpy.run_path(script)["main"]() == 0, "python docs/count_claims.py"


def test_what_rests_on_less_than_a_judged_search_is_known() -> None:
    """A claim that is added here, or leaves, changes what the ledger promises."""
    weak = {
        basis: {claim.id for claim in all_claims() if claim.rests_on[-1] is basis}
        for basis in (Basis.CONSTRUCTION, Basis.WITNESSES, Basis.TEXT)
    }
    assert weak == {
        Basis.CONSTRUCTION: {"IRB-01", "REF-18", "VSC-10", "VSC-11"},
        Basis.WITNESSES: {"RBC-04", "RBC-08", "RBP-01", "IRB-30", "RMP-06", "X-02"},
        Basis.TEXT: {"IRB-26", "IRB-27"},
    }
    for claim in all_claims():
        assert (Basis.QUESTION in claim.rests_on) == (claim.standing is Standing.QUESTION)
        assert (claim.rests_on[-1] is Basis.READING) == (not claim.checks)


@pytest.mark.deep
def test_only_two_verdicts_depend_on_the_nesting_of_figure_25() -> None:
    """Lines 35-41 can be read in two ways (reading `nesting`); RBP-18 and RBP-46 say that they differ."""
    asked = []
    for claim in claims_of("rbp"):
        checks = [
            replace(check, constants={**check.constants, "nesting": "else"})
            for check in claim.checks
            if isinstance(check, Check) and check.spec is RbpResilientChecked and not check.deep
            if "nesting" not in check.constants
        ]
        if checks:
            asked.append(replace(claim, checks=tuple(checks)))
    assert len(asked) > 15
    differ = {
        result.claim.id
        for result in run_ledger(asked)
        for item in result.results
        if item.verdict is not None and item.verdict.outcome.value != item.check.outcome
    }
    assert differ == {"RBP-18", "RBP-46"}
