"""`antiphon claims --mutants` says of every check that holds what would break it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from antiphon.conformance.cli import documents
from antiphon.conformance.cli import strength as command
from antiphon.conformance.ledger.strength import FamilyStrength, Strength, Survivor, Tally
from antiphon.conformance.ledger.strength import text as strength_text
from antiphon.spec.claims import Check, Claim, claims_of

Run = Callable[..., Any]


def planted(claims: list[Claim], **_: object) -> FamilyStrength:
    """An answer: of each claim the first check that holds; the first cannot fail."""
    held = [(claim, check) for claim in claims for check in claim.checks if isinstance(check, Check)]
    chosen = [pair for pair in held if pair[1].outcome == "holds"][:2]
    checks = tuple(Strength(*pair, asked=4, killed=number) for number, pair in enumerate(chosen))
    tally = Tally(tried=4, changing=2, killed=1, inner=2, survivors=[Survivor("somewhere: a guard", 1)])
    return FamilyStrength(claims[0].protocol, checks, tally, 4, 7, 0)


def test_a_claim_of_which_every_check_can_fail_holds(antiphon: Run) -> None:
    answer = antiphon("claims", "RBC-08", "--mutants", "--sample", "2", "--json")
    document = msgspec.json.decode(answer.out, type=documents.Claims)
    (family,) = document.mutants
    assert (answer.code, document.outcome.value, document.claims) == (0, "holds", [])
    assert (family.family, family.sample, family.seed) == ("rbc", 2, 7)
    assert {check.claim for check in family.checks} == {"RBC-08"}
    assert all(check.verdict == "holds" and check.broken + check.others for check in family.checks)


def test_a_check_that_no_mutant_breaks_is_unknown(antiphon: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "strength", planted)
    answer = antiphon("claims", "RBC-01", "--mutants", "--sample", "4")
    assert answer.code == 2
    assert answer.out.splitlines()[0] == "4 mutants a program, seed 7"
    assert "unknown: cannot fail" in answer.out
    assert "not noticed: somewhere: a guard" in answer.out
    assert answer.out.splitlines()[-1] == "? unknown  2 checks that hold, asked of mutants: 1 cannot fail"


def test_a_family_is_written_in_its_place_and_the_others_stay(
    antiphon: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "strength", planted)
    file = tmp_path / "strength.md"
    for family in ("msq", "rbc"):
        antiphon("claims", "--mutants", "--family", family, "--write", file)
    kept = strength_text.kept(file.read_text())
    assert list(kept) == ["rbc", "msq"]
    told = antiphon("claims", "--mutants", "--family", "msq", "--write", file)
    assert (told.code, "msq: up to date" in told.out) == (0, True)
    assert kept["msq"][0] == strength_text.digest(claims_of("msq"))
    both = ("--family", "msq", "--family", "rbc")
    assert antiphon("claims", "--mutants", "--check", file, *both).code == 0
    file.write_text(file.read_text().replace(kept["rbc"][0], "0" * 64))
    stale = antiphon("claims", "--mutants", "--check", file, *both, "--json")
    assert stale.code == 2
    assert msgspec.json.decode(stale.out, type=documents.Claims).stale == ["rbc"]
    told = antiphon("claims", "--mutants", "--check", file, *both).out
    assert "--family rbc" in told
    assert "--family msq" not in told


def out(family: FamilyStrength, number: int) -> FamilyStrength:
    """So many checks are left out."""
    return replace(family, left_out=number)


def undecided(family: FamilyStrength, number: int) -> FamilyStrength:
    """The first check is broken by none, and so many mutants were not asked about it."""
    first = replace(family.checks[0], killed=0, elsewhere=0, unasked=number)
    return replace(family, checks=(first, *family.checks[1:]))


@pytest.mark.parametrize(
    ("leaving", "left"), [(out, strength_text.left_out), (undecided, strength_text.undecided)]
)
def test_a_section_that_leaves_a_check_open_is_stale_where_deep_checks_are_asked(
    leaving: Callable[[FamilyStrength, int], FamilyStrength],
    left: Callable[[str], int],
    antiphon: Run,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    file = tmp_path / "strength.md"
    asking = ("claims", "--mutants", "--family", "msq", "--write", file)
    open_ones = iter([1, 0])
    monkeypatch.setattr(command, "strength", lambda claims, **_: leaving(planted(claims), next(open_ones)))
    antiphon(*asking)
    assert left(strength_text.kept(file.read_text())["msq"][1]) == 1
    assert "up to date" in antiphon(*asking).out
    antiphon(*asking, "--deep")
    assert left(strength_text.kept(file.read_text())["msq"][1]) == 0
    assert "up to date" in antiphon(*asking, "--deep").out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--sample", "3"), "go with --mutants"),
        (("--mutants", "--minimal"), "none of --minimal"),
        (("RBC-01", "--mutants", "--write", "x.md"), "whole families"),
        (("--mutants", "--check", "/nowhere/x.md"), "no such file"),
    ],
)
def test_what_does_not_go_together_is_refused(antiphon: Run, words: tuple[str, ...], told: str) -> None:
    answer = antiphon("claims", *words)
    assert answer.code == 64
    assert told in answer.err
