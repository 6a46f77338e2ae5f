"""`antiphon claims --mutants` says of every check that holds what would break it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from antiphon.conformance.cli import documents
from antiphon.conformance.cli import strength as command
from antiphon.conformance.ledger.strength import (
    FamilyStrength,
    Strength,
    Survivor,
    Tally,
    document,
    page,
)
from antiphon.conformance.ledger.strength.programs import program_text
from antiphon.conformance.ledger.strength.results import verdict_of
from antiphon.spec.claims import Check, Claim, claims_of

Run = Callable[..., Any]


def planted(claims: list[Claim], **_: object) -> FamilyStrength:
    """An answer: every check that holds can fail, but for the first one."""
    held = [(claim, check) for claim in claims for check in claim.checks if isinstance(check, Check)]
    rows = [
        Strength(
            claim=claim.id,
            property=check.property,
            program=program_text(check),
            touch=4,
            break_=number,
            verdict=verdict_of(touch=4, breaking=number, left=0),
        )
        for number, (claim, check) in enumerate(pair for pair in held if pair[1].outcome == "holds")
    ]
    tally = Tally(tried=4, seen=2, killed=1, inner=2, survivors=[Survivor("somewhere: a guard", 1)])
    return FamilyStrength(
        family=claims[0].protocol, checks=tuple(rows), tally=tally, sample=4, seed=7, left_out=0
    )


@pytest.mark.deep
def test_a_claim_of_which_every_check_can_fail_holds(antiphon: Run) -> None:
    answer = antiphon("claims", "RBC-08", "--mutants", "--sample", "2", "--json")
    told = msgspec.json.decode(answer.out, type=documents.Claims)
    (family,) = msgspec.convert(told.mutants, list[FamilyStrength])
    assert (answer.code, told.outcome.value, told.claims) == (0, "holds", [])
    assert (family.family, family.sample, family.seed) == ("rbc", 2, 7)
    assert {check.claim for check in family.checks} == {"RBC-08"}
    assert all(check.verdict == "holds" and check.break_ + check.others for check in family.checks)


def test_a_check_that_no_mutant_breaks_is_unknown(antiphon: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "strength", planted)
    answer = antiphon("claims", "RBC-01", "--mutants", "--sample", "4")
    assert answer.code == 2
    assert answer.out.splitlines()[0] == "4 mutants a program, seed 7"
    assert "unknown: cannot fail" in answer.out
    assert "not noticed: somewhere: a guard" in answer.out
    assert answer.out.splitlines()[-1] == "? unknown  9 checks that hold, asked of mutants: 1 cannot fail"


@pytest.mark.deep
def test_a_family_is_written_in_its_place_and_the_others_stay(
    antiphon: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "strength", planted)
    file = tmp_path / "strength.json"
    for family in ("msq", "rbc"):
        antiphon("claims", "--mutants", "--family", family, "--write", file)
    kept = document.read(file)
    assert list(kept) == ["rbc", "msq"]
    assert kept["msq"].digest == document.digest(claims_of("msq"))
    written = tmp_path / "strength.md"
    assert written.read_text() == page.page(kept)
    written.write_text("edited")
    told = antiphon("claims", "--mutants", "--family", "msq", "--write", file)
    assert (told.code, "msq: up to date" in told.out) == (0, True)
    assert (document.read(file), written.read_text()) == (kept, page.page(kept))
    both = ("--family", "msq", "--family", "rbc")
    assert antiphon("claims", "--mutants", "--check", file, *both).code == 0
    file.write_text(file.read_text().replace(kept["rbc"].digest, "0" * 64))
    stale = antiphon("claims", "--mutants", "--check", file, *both, "--json")
    assert stale.code == 2
    assert msgspec.json.decode(stale.out, type=documents.Claims).stale == ["rbc"]
    told = antiphon("claims", "--mutants", "--check", file, *both).out
    assert "--family rbc" in told
    assert "--family msq" not in told


def out(family: FamilyStrength, number: int) -> FamilyStrength:
    """Result of a family with this number of checks left out."""
    return msgspec.structs.replace(family, left_out=number)


def undecided(family: FamilyStrength, number: int) -> FamilyStrength:
    """The first check is broken by none, and so many mutants were not asked about it."""
    verdict = verdict_of(touch=4, breaking=0, left=number)
    first = msgspec.structs.replace(family.checks[0], verdict=verdict)
    return msgspec.structs.replace(family, checks=(first, *family.checks[1:]))


@pytest.mark.parametrize("leaving", [out, undecided])
def test_a_section_that_leaves_a_check_open_is_stale_where_deep_checks_are_asked(
    leaving: Callable[[FamilyStrength, int], FamilyStrength],
    antiphon: Run,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    asking = ("claims", "--mutants", "--family", "msq", "--write", tmp_path / "strength.json")
    open_ones = iter([1, 0])
    monkeypatch.setattr(command, "strength", lambda claims, **_: leaving(planted(claims), next(open_ones)))
    antiphon(*asking)
    assert "up to date" in antiphon(*asking).out
    assert "up to date" not in antiphon(*asking, "--deep").out
    assert "up to date" in antiphon(*asking, "--deep").out
    assert next(open_ones, None) is None


def test_a_file_that_write_did_not_make_is_refused(antiphon: Run, tmp_path: Path) -> None:
    file = tmp_path / "strength.json"
    file.write_text("[]")
    for option in ("--check", "--write"):
        answer = antiphon("claims", "--mutants", "--family", "msq", option, file)
        assert (answer.code, "not made by --write" in answer.err) == (64, True)
    assert file.read_text() == "[]"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--sample", "3"), "go with --mutants"),
        (("--mutants", "--minimal"), "none of --minimal"),
        (("RBC-01", "--mutants", "--write", "x.json"), "whole families"),
        (("--mutants", "--write", "x.md"), "name the data, x.json"),
        (("--mutants", "--check", "docs/ledger-strength.md"), "name the data, docs/ledger-strength.json"),
        (("--mutants", "--check", "/nowhere/x.json"), "no such file"),
    ],
)
def test_what_does_not_go_together_is_refused(antiphon: Run, words: tuple[str, ...], told: str) -> None:
    answer = antiphon("claims", *words)
    assert answer.code == 64
    assert told in answer.err
