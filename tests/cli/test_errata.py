"""`antiphon errata` prints and writes what is refuted, and runs only what is stale."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.cli import errata
from antiphon.spec.claims import Check, claim_of

Run = Callable[..., Any]


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the ledger consist of these claims."""

    def choose(*claims: object) -> None:
        monkeypatch.setattr(errata, "all_claims", lambda: claims)

    return choose


def test_it_writes_the_text_and_its_pictures_and_then_only_what_is_stale(
    antiphon: Run, ledger: Callable[..., None], tmp_path: Path
) -> None:
    first, second = claim_of("RBC-05"), claim_of("MSQ-07")
    ledger(first, claim_of("RBC-02"))
    assert antiphon("errata", "--check", tmp_path, "--json").document.stale == ["RBC-05"]
    assert antiphon("errata", "--write", tmp_path, "--json").document.made == ["RBC-05"]
    picture = tmp_path / "errata" / "RBC-05.svg"
    assert picture.read_text(encoding="utf-8").startswith("<svg ")
    ledger(first, second)
    checked = antiphon("errata", "--check", tmp_path, "--json")
    assert (checked.code, checked.document.stale) == (2, ["MSQ-07"])
    assert antiphon("errata", "--write", tmp_path, "--json").document.made == ["MSQ-07"]
    assert antiphon("errata", "--check", tmp_path).code == 0
    ledger(second)
    assert antiphon("errata", "--check", tmp_path, "--json").document.stale == ["RBC-05"]
    assert antiphon("errata", "--write", tmp_path, "--json").document.made == []
    assert not picture.exists()


def test_a_claim_whose_check_differs_from_the_record_is_left_out(
    antiphon: Run, ledger: Callable[..., None], tmp_path: Path
) -> None:
    claim = claim_of("RBC-05")
    ledger(replace(claim, checks=(replace(claim.checks[0], length=3), *claim.checks[1:])), claim_of("MSQ-07"))
    answer = antiphon("errata", "--write", tmp_path)
    assert answer.code == 1
    assert "left out, since the record differs: RBC-05" in answer.out
    written = (tmp_path / "errata.md").read_text(encoding="utf-8")
    assert "### MSQ-07" in written
    assert "RBC-05" not in written
    assert antiphon("errata", "--check", tmp_path, "--json").document.stale == ["RBC-05"]


def test_a_picture_waits_for_its_section_when_several_families_are_stale(
    antiphon: Run, ledger: Callable[..., None], tmp_path: Path
) -> None:
    """The family that is made first finds a run in the text that no check of today's record gives."""
    first, second = claim_of("MSQ-07"), claim_of("RBC-05")
    ledger(first, second)
    assert antiphon("errata", "--write", tmp_path).code == 0
    shown = second.checks[0]
    assert isinstance(shown, Check)
    larger = replace(shown, constants={**shown.constants, "messages": 2})
    ledger(replace(first, because="Otherwise."), replace(second, checks=(larger,)))
    assert antiphon("errata", "--write", tmp_path, "--json").document.made == ["MSQ-07", "RBC-05"]
    assert antiphon("errata", "--check", tmp_path).code == 0


def test_one_claim_is_printed(antiphon: Run) -> None:
    answer = antiphon("errata", "RBC-05")
    assert answer.code == 0
    assert answer.out.startswith("### RBC-05: ")
    assert "Again: `antiphon claims RBC-05 --deep`" in answer.out


def test_wrong_usage_exits_with_64(antiphon: Run, tmp_path: Path) -> None:
    holds, both, named = (
        antiphon("errata", "RBC-02"),
        antiphon("errata", "--write", tmp_path, "--check", tmp_path),
        antiphon("errata", "RBC-05", "--write", tmp_path),
    )
    assert {holds.code, both.code, named.code} == {64}
    assert "RBC-02 is not" in holds.err
