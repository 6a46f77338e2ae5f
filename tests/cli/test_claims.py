"""`antiphon claims` runs the ledger's checks again and exits by agreement with the record."""

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from antiphon.conformance.cli import claims, documents
from antiphon.conformance.ledger import program_of
from antiphon.spec.claims import Check, all_claims, claim_of

Run = Callable[..., Any]

LEFT = "; 1 deep check left out (--deep runs it)"
"""End of the last line about RBC-01, whose proof for every n is deep."""


def document(answer: Any) -> documents.Claims:
    """The JSON, strictly by the schema."""
    decoded = msgspec.json.decode(answer.out, type=documents.Claims)
    assert msgspec.to_builtins(decoded) == msgspec.json.decode(answer.out)
    assert (decoded.schema, decoded.version, decoded.exit_code) == ("antiphon.report", 1, answer.code)
    return decoded


def test_a_claim_says_what_it_is_and_what_its_checks_gave(antiphon: Run) -> None:
    answer = antiphon("claims", "RBC-01", "--json")
    (claim,) = document(answer).claims
    assert answer.code == 0
    assert (claim.id, claim.verdict, claim.defect, claim.agrees) == ("RBC-01", "violated", "text", True)
    assert claim.source == "Barchet-Estefanel 2002, section 3.1.1, figure 2, lines 1-21"
    assert [(check.outcome, check.length) for check in claim.checks] == [
        ("violated", 4),
        *[("holds", None)] * 8,
        ("holds", 5),
    ]
    assert all(check.agrees and check.outcome == check.expected for check in claim.checks)


def test_the_text_says_the_same(antiphon: Run) -> None:
    answer = antiphon("claims", "rbc-01")
    assert answer.code == 0
    assert "10 of 10 as recorded" in answer.out
    assert "all processes eventually deliver a message" in answer.out
    assert "UniformIntegrity: violated in 4 steps, as recorded" in answer.out
    assert answer.out.splitlines()[-1] == "✓ holds  1 claim, 10 checks: all as recorded" + LEFT


def test_the_command_of_a_check_finds_the_same(antiphon: Run) -> None:
    check = document(antiphon("claims", "RBC-05", "--json")).claims[0].checks[1]
    command = shlex.split(check.reproduce)
    again = antiphon(*command[1:], "--json").document
    (verdict,) = again.reports[0].verdicts
    assert "--without" in command
    assert (verdict.outcome, len(verdict.trace.steps)) == (check.outcome, check.length)


@pytest.mark.deep
def test_a_family_is_named_by_its_letters(antiphon: Run) -> None:
    answer = antiphon("claims", "--family", "rbc", "--json")
    assert answer.code == 0
    assert [claim.id for claim in document(answer).claims] == [
        claim.id for claim in all_claims() if claim.protocol == "rbc"
    ]


def deep_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """RBC-02 with a second check that is deep."""
    claim = claim_of("RBC-02")
    monkeypatch.setattr(
        claims,
        "claim_of",
        lambda identifier: replace(claim, checks=(claim.checks[0], replace(claim.checks[1], deep=True))),
    )


def test_deep_checks_run_only_when_asked_for_and_the_last_line_says_so(
    antiphon: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep_one(monkeypatch)
    quick, deep = antiphon("claims", "RBC-02"), antiphon("claims", "RBC-02", "--deep")
    assert (quick.code, deep.code) == (0, 0)
    assert (
        quick.out.splitlines()[-1]
        == "✓ holds  1 claim, 1 check: all as recorded; 1 deep check left out (--deep runs it)"
    )
    assert deep.out.splitlines()[-1] == "✓ holds  1 claim, 2 checks: all as recorded"
    assert document(antiphon("claims", "RBC-02", "--json")).claims[0].left_out == 1


def test_a_claim_of_which_nothing_ran_is_unknown_and_no_pass(
    antiphon: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = claim_of("RBC-04")
    monkeypatch.setattr(
        claims, "claim_of", lambda identifier: replace(claim, checks=(replace(claim.checks[0], deep=True),))
    )
    answer = antiphon("claims", "RBC-04")
    assert answer.code == 2
    assert "only with --deep" in answer.out


def test_what_z3_cannot_judge_is_unknown_and_no_pass(antiphon: Run) -> None:
    answer = antiphon("claims", "RBP-01", "--engine", "z3")
    assert answer.code == 2
    assert "0 checks" in answer.out


def test_z3_finds_the_counterexample_by_itself(antiphon: Run) -> None:
    answer = antiphon("claims", "RBC-01", "--engine", "z3", "--json")
    assert answer.code == 0
    found = document(answer)
    assert found.engine == "z3"
    assert ("violated", 4) in [(check.outcome, check.length) for check in found.claims[0].checks]


@pytest.mark.parametrize("changed", [{"outcome": "holds", "length": None}, {"length": 5}], ids=str)
def test_a_wrong_record_exits_with_1_and_is_named(
    antiphon: Run, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any]
) -> None:
    right = claim_of("RBC-01")
    wrong = replace(right, checks=(replace(right.checks[0], **changed), *right.checks[1:]))
    monkeypatch.setattr(claims, "claim_of", lambda identifier: wrong)
    answer = antiphon("claims", "RBC-01")
    assert answer.code == 1
    assert "DIFFERS from the record" in answer.out
    said = "✗ violated  1 claim, 10 checks: the record differs in RBC-01"
    assert answer.out.splitlines()[-1] == said + LEFT
    agreed = [check.agrees for check in document(antiphon("claims", "RBC-01", "--json")).claims[0].checks]
    assert agreed == [False] + [True] * 9


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("RBC-99",), "the ledger has no claim 'RBC-99'; did you mean "),
        (("--family", "rpb"), "did you mean 'rbp'?"),
        (("RBC-01", "--family", "rbc"), "not both"),
        (("--engine", "spin"), "spin"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_usage_exits_with_64(antiphon: Run, arguments: tuple[str, ...], says: str) -> None:
    answer = antiphon("claims", *arguments)
    assert answer.code == 64
    assert says in answer.err
    assert answer.out == ""


@pytest.mark.deep
def test_families_may_be_named_together(antiphon: Run) -> None:
    answer = antiphon("claims", "--family", "RBC", "--family", "ct", "--json")
    assert {claim.id.split("-")[0] for claim in document(answer).claims} == {"RBC", "CT"}


def test_each_repair_that_a_claim_names_is_needed(antiphon: Run) -> None:
    """Left out alone, something that the record says to hold does not hold; the command beside it finds that
    again.
    """
    answer = antiphon("claims", "RBC-05", "RBC-08", "--minimal", "--json")
    needs = document(answer).needs
    assert answer.code == 0
    assert [(need.claim, need.repair, need.outcome) for need in needs] == [
        ("RBC-05", "start_token", "unknown"),
        ("RBC-05", "deliver_once", "violated"),
        ("RBC-08", "start_token", "unknown"),
    ]
    command = shlex.split(needs[1].reproduce)
    assert antiphon(*command[1:]).code == 1
    assert antiphon("claims", "RBC-05", "--minimal").out.splitlines()[-1] == (
        "✓ holds  2 repairs of 1 claim, each left out alone: all as recorded"
    )


def test_a_repair_that_only_deep_checks_could_miss_is_left_to_them(
    antiphon: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = claim_of("RBC-08")
    deep = tuple(replace(check, deep=True) for check in claim.checks if isinstance(check, Check))
    monkeypatch.setattr(claims, "claim_of", lambda identifier: replace(claim, checks=deep))
    answer = antiphon("claims", "RBC-08", "--minimal")
    assert answer.code == 2
    assert answer.out.splitlines()[-1] == (
        "? unknown  1 repair of 1 claim, each left out alone: all as recorded; 1 left to deep checks (--deep)"
    )


def test_a_repair_that_nothing_misses_is_told(antiphon: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = claim_of("RBC-05")
    monkeypatch.setattr(
        claims, "claim_of", lambda identifier: replace(claim, repairs=(*claim.repairs, "recover_all"))
    )
    answer = antiphon("claims", "RBC-05", "--minimal")
    assert answer.code == 2
    assert "recover_all" in answer.out
    assert (
        answer.out.splitlines()[-1]
        == "? unknown  3 repairs of 1 claim, each left out alone: 1 not as recorded"
    )


@pytest.mark.parametrize(("name", "shows"), [("RBC-06", "violated"), ("RBC-02", "holds")])
def test_a_brief_run_takes_the_first_check_with_the_verdict(antiphon: Run, name: str, shows: str) -> None:
    (claim,) = document(antiphon("claims", name, "--brief", "--json")).claims
    recorded = [check for check in claim_of(name).checks if isinstance(check, Check) and not check.deep]
    assert claim.verdict == shows
    assert [check.what for check in claim.checks] == [
        str(next(check for check in recorded if check.outcome == shows))
    ]


def test_a_brief_run_takes_a_check_of_the_same_property_that_shares_a_program() -> None:
    """RBP-13 asks about the program of a later check of X-09; alone, or beside another claim, X-09 has its
    first check.
    """
    claim = claim_of("X-09")

    def shown(*names: str) -> Check:
        *_, last = claims.briefly([*map(claim_of, names), claim])
        (check,) = last.checks
        assert isinstance(check, Check)
        return check

    first = next(check for check in claim.checks if isinstance(check, Check) and check.outcome == "holds")
    assert claim.verdict == "holds"
    assert shown() == shown("RBC-02") == first
    shared = shown("RBP-13")
    assert (shared.property, shared.outcome) == (first.property, first.outcome)
    assert program_of(shared).constants != program_of(first).constants


def test_a_brief_run_says_that_it_is_one(antiphon: Run) -> None:
    assert (
        antiphon("claims", "RBC-06", "--brief")
        .out.splitlines()[-1]
        .endswith("all as recorded; of each only one with its verdict")
    )


def test_a_brief_run_says_what_the_whole_claim_rests_on(antiphon: Run) -> None:
    """The same is true of a claim whose checks are all left out."""
    (scenarios, selection) = document(antiphon("claims", "IRB-30", "REF-11", "--brief", "--json")).claims
    assert (scenarios.rests_on, scenarios.checks) == (["witnesses only"], [])
    assert (selection.rests_on, selection.checks) == (["states"], [])
    assert selection.left_out == len(claim_of("REF-11").checks)
    told = antiphon("claims", "IRB-30", "REF-11", "--brief").out
    assert told.count("only with --deep") == 2
    assert "by reading" not in told


@pytest.mark.deep
def test_what_was_explored_before_is_read_and_told_unless_fresh_is_asked_for(
    antiphon: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANTIPHON_CACHE", str(tmp_path))
    told = "4 of 4 explorations were made by this code before, and read (--fresh makes them again)"
    first, second, fresh = (antiphon("claims", "RBC-01", *more) for more in ((), (), ("--fresh",)))
    assert [answer.code for answer in (first, second, fresh)] == [0, 0, 0]
    assert [told in answer.out for answer in (first, second, fresh)] == [False, True, False]
    assert (
        [line for line in second.out.splitlines() if told not in line]
        == first.out.splitlines()
        == fresh.out.splitlines()
    )
    assert antiphon("claims", "RBC-01", "--json").out == antiphon("claims", "RBC-01", "--json", "--fresh").out
