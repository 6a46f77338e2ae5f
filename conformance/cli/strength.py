"""`antiphon claims --mutants`: every check that is recorded to hold is tried on mutants of its specification;
a check that none of them breaks is reported as weak.

`--write` makes `docs/ledger-strength.json`, and renders the page beside it. `--check` says whether the data
still rest on today's records and specifications, and runs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from rich.text import Text

from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.cli.progress import claims_bar
from antiphon.conformance.ledger.strength import (
    SEED,
    Answers,
    FamilyStrength,
    Section,
    Strength,
    document,
    page,
    strength,
)
from antiphon.conformance.report.words import counted
from antiphon.model.verdict import Outcome
from antiphon.spec.claims import Claim, claims_of, families
from antiphon.spec.claims.survivors import reason_of


def by_mutants(
    chosen: Sequence[Claim],
    *,
    whole: Sequence[str],
    deep: bool,
    sample: int | None,
    seed: int | None,
    jobs: int,
    fresh: bool,
    write: Path | None,
    json: bool,
) -> int:
    """Try the mutants for these claims, family by family, and write each family as soon as it is done.

    `whole` are the families of which all claims are chosen. Skip a family whose section is up to date, unless
    `fresh` is True, or `deep` is True and the section leaves checks out or undecided.
    """
    if write is not None:
        if not whole:
            raise output.UsageProblem("--write writes whole families: name none, or families with --family")
        output.writable_directory("--write", write.parent)
        for file in (write, _page_of("--write", write)):
            options.see_writable("--write", file)
    seed = SEED if seed is None else seed
    if not json:
        every = "all mutants" if sample is None else f"{counted(sample, 'mutant')} a program"
        output.out().print(f"{every}, seed {seed}", style="bright_black")
    answers = Answers.private(fresh=fresh)
    written = {} if write is None else _read("--write", write)
    found: list[FamilyStrength] = []
    asked = list(dict.fromkeys(claim.protocol for claim in chosen))
    old = asked if fresh or not written else _stale(written, asked, deep=deep)
    current = [name for name in asked if name not in old]
    for family in old:
        own = [claim for claim in chosen if claim.protocol == family]
        with claims_bar() as show:
            result = strength(
                own,
                deep=deep,
                sample=sample,
                seed=seed,
                answers=answers,
                progress=show,
                jobs=jobs,
                earlier=written[family].strength if family in written else None,
                guards=family in whole,
            )
        found.append(result)
        if write is not None:
            section = Section(document.digest(claims_of(family)), result)
            _write(write, _read("--write", write) | {family: section})
        if not json:
            _print(result)
    if write is not None and not found:
        _write(write, written)
    outcome = _outcome(found) if found else Outcome.HOLDS
    if json:
        listed = [msgspec.to_builtins(item) for item in found]
        return output.finish(documents.Claims(outcome=outcome, engine="generated", claims=[], mutants=listed))
    if answers.read:
        told = f"{answers.read:,} of {answers.read + answers.asked:,} mutants were asked before, by this code"
        output.out().print(f"{told} (--fresh asks them again)", style="bright_black", soft_wrap=True)
    if current:
        told = f"{', '.join(current)}: up to date (--fresh asks again)"
        output.out().print(told, style="bright_black", soft_wrap=True)
    checks = [item for family in found for item in family.checks]
    undecided = sum(item.is_undecided for item in checks)
    weak = sum(not item.can_fail for item in checks) - undecided
    parts = (f"{weak} cannot fail" if weak else "", f"{undecided} undecided" if undecided else "")
    told = ", ".join(filter(None, parts)) or "each can fail"
    output.last_line(outcome, f"{counted(len(checks), 'check')} that hold, asked of mutants: {told}")
    return outcome.exit_code


def check_written(file: Path, asked: Sequence[str], *, json: bool) -> int:
    """Report whether the sections of these families are up to date, that is, rest on today's records and
    specifications.
    """
    _page_of("--check", file)
    if not file.is_file():
        raise output.UsageProblem(f"--check {file}: no such file; name the one that --write made")
    old = _stale(_read("--check", file), asked)
    outcome = Outcome.UNKNOWN if old else Outcome.HOLDS
    if json:
        return output.finish(documents.Claims(outcome=outcome, engine="", claims=[], stale=old))
    names = " ".join(f"--family {family}" for family in old)
    told = f"{file} is up to date" if not old else f"stale: antiphon claims --mutants {names} --write {file}"
    output.last_line(outcome, told)
    return outcome.exit_code


def _stale(written: Mapping[str, Section], asked: Sequence[str], *, deep: bool = False) -> list[str]:
    """Name the families whose section is missing or stale; with `deep` also those whose section leaves checks
    out or undecided.
    """
    return [
        family
        for family in asked
        if document.is_stale(written.get(family), claims_of(family))
        or (deep and _leaves_open(written[family].strength))
    ]


def _leaves_open(found: FamilyStrength) -> bool:
    return found.left_out > 0 or any(item.is_undecided for item in found.checks)


def _read(option: str, file: Path) -> dict[str, Section]:
    """Read the sections of the file that an option names."""
    _page_of(option, file)
    try:
        return document.read(file)
    except msgspec.DecodeError as error:
        raise output.UsageProblem(f"{option} {file}: not made by --write: {error}") from error


def _page_of(option: str, file: Path) -> Path:
    """Return the page that is rendered beside the data."""
    if file.suffix != ".json":
        raise output.UsageProblem(
            f"{option} {file}: name the data, {file.with_suffix('.json')}; the page is written beside it"
        )
    return file.with_suffix(".md")


def _write(file: Path, sections: Mapping[str, Section]) -> None:
    """Write the data and the page, the families in the order of the ledger."""
    ordered = {name: sections[name] for name in families() if name in sections}
    output.write_text("--write", file, document.encoded(ordered))
    output.write_text("--write", _page_of("--write", file), page.page(ordered))


def _outcome(found: Sequence[FamilyStrength]) -> Outcome:
    checks = [item for family in found for item in family.checks]
    return Outcome.HOLDS if checks and all(item.can_fail for item in checks) else Outcome.UNKNOWN


def _print(found: FamilyStrength) -> None:
    whole = {"no_wrap": True}
    table = output.table(
        ("claim", whole), ("check", {"ratio": 3}), ("mutants", {"ratio": 2}), ("verdict", whole)
    )
    for item in found.checks:
        table.add_row(item.claim, Text(f"{item.property}: {item.program}"), _told(item), _mark(item))
    output.out().print(table)
    output.out().print(f"{found.family}: {page.summary(found)}", soft_wrap=True)
    for survivor in found.tally.survivors:
        output.out().print(Text(f"  not noticed: {survivor.mutant}", style="yellow"), soft_wrap=True)
        if reason := reason_of(survivor.mutant):
            output.out().print(Text(f"    {reason}", style="bright_black"), soft_wrap=True)
    if found.guards is not None:
        output.out().print(page.guards_in_brief(found.guards), soft_wrap=True)
        for guard in found.guards.unnoticed:
            told = f"  {guard.file}: {guard.mutant}" + (" (the same)" if guard.same else "")
            told += "" if guard.is_decided else " (not decided)"
            output.out().print(Text(told, style="yellow"), soft_wrap=True)


def _told(item: Strength) -> str:
    if item.trivial:
        return item.trivial
    told = f"{item.break_} of {item.touch} break it, {item.same} the same"
    told += f", {item.open} open" if item.open else ""
    return told + (f"; {item.others} others break it" if item.others else "")


def _mark(item: Strength) -> Text:
    if item.can_fail:
        return output.mark("holds")
    return Text("refused" if item.trivial else item.verdict, style="yellow")
