"""`antiphon claims --mutants`: every check that is recorded to hold is asked of mutants of its specification;
a check that none of them breaks is not said to hold.

`docs/ledger-strength.md` is what `--write` makes; `--check` says whether it still rests on today's records
and specifications, and runs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.text import Text

from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.cli.progress import claims_bar
from antiphon.conformance.ledger.strength import SEED, Answers, FamilyStrength, Strength, strength
from antiphon.conformance.ledger.strength import text as strength_text
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
    """Ask the mutants about these claims, family by family; `whole` are the families of which all claims are
    chosen. A family is written as soon as it is done; one whose section is up to date is left, but for
    `fresh`, and with `deep` one whose section leaves checks out or undecided.
    """
    if write is not None:
        if not whole:
            raise output.UsageProblem("--write writes whole families: name none, or families with --family")
        output.writable_directory("--write", write.parent)
        options.see_writable("--write", write)
    seed = SEED if seed is None else seed
    if not json:
        every = "all mutants" if sample is None else f"{counted(sample, 'mutant')} a program"
        output.out().print(f"{every}, seed {seed}", style="bright_black")
    answers = Answers.private(fresh=fresh)
    written = strength_text.kept(write.read_text(encoding="utf-8")) if write and write.is_file() else {}
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
                hints=strength_text.hints(own, written.get(family, ("", ""))[1]),
                guards=family in whole,
            )
        found.append(result)
        if write is not None:
            _write(write, family, result)
        if not json:
            _print(result)
    outcome = _outcome(found) if found else Outcome.HOLDS
    if json:
        listed = [_document(item) for item in found]
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


def check_written(path: Path, asked: Sequence[str], *, json: bool) -> int:
    """Whether the document's sections of these families rest on today's records and specifications."""
    if not path.is_file():
        raise output.UsageProblem(f"--check {path}: no such file; name the one that --write made")
    written = strength_text.kept(path.read_text(encoding="utf-8"))
    old = _stale(written, asked)
    outcome = Outcome.UNKNOWN if old else Outcome.HOLDS
    if json:
        return output.finish(documents.Claims(outcome=outcome, engine="", claims=[], stale=old))
    names = " ".join(f"--family {family}" for family in old)
    told = f"{path} is up to date" if not old else f"stale: antiphon claims --mutants {names} --write {path}"
    output.last_line(outcome, told)
    return outcome.exit_code


def _stale(written: Mapping[str, tuple[str, str]], asked: Sequence[str], *, deep: bool = False) -> list[str]:
    """The families whose section, if there is one, does not rest on today's records and specifications; with
    `deep` also those whose section leaves checks out or undecided: asking goes on where it was.
    """
    sections = {family: written.get(family, ("", "")) for family in asked}
    return [
        family
        for family, (known, body) in sections.items()
        if known != strength_text.digest(claims_of(family))
        or (deep and (strength_text.left_out(body) or strength_text.undecided(body)))
    ]


def _write(path: Path, family: str, result: FamilyStrength) -> None:
    """Put the section of one family in its place, and leave the others as they are."""
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    sections = strength_text.kept(before)
    sections[family] = strength_text.digest(claims_of(family)), strength_text.section(result)
    ordered = {name: sections[name] for name in families() if name in sections}
    output.write_text("--write", path, strength_text.text(ordered))


def _outcome(found: Sequence[FamilyStrength]) -> Outcome:
    checks = [item for family in found for item in family.checks]
    return Outcome.HOLDS if checks and all(item.can_fail for item in checks) else Outcome.UNKNOWN


def _print(found: FamilyStrength) -> None:
    whole = {"no_wrap": True}
    table = output.table(
        ("claim", whole), ("check", {"ratio": 3}), ("mutants", {"ratio": 2}), ("verdict", whole)
    )
    for item in found.checks:
        table.add_row(item.claim.id, Text(str(item.check)), _told(item), _mark(item))
    output.out().print(table)
    output.out().print(f"{found.family}: {strength_text.summary(found)}", soft_wrap=True)
    for survivor in found.tally.survivors:
        output.out().print(Text(f"  not noticed: {survivor.mutant}", style="yellow"), soft_wrap=True)
        if reason := reason_of(survivor.mutant):
            output.out().print(Text(f"    {reason}", style="bright_black"), soft_wrap=True)
    if found.guards is not None:
        output.out().print(strength_text.guards_in_brief(found.guards), soft_wrap=True)
        for guard in found.guards.unnoticed:
            told = f"  {guard.file}: {guard.mutant}" + (" (the same)" if guard.same else "")
            told += "" if guard.is_decided else " (not decided)"
            output.out().print(Text(told, style="yellow"), soft_wrap=True)


def _told(item: Strength) -> str:
    if item.trivial:
        return item.trivial
    told = f"{item.killed} of {item.asked} break it, {item.equivalent} the same"
    told += f", {item.open} open" if item.open else ""
    return told + (f"; {item.elsewhere} others break it" if item.elsewhere else "")


def _mark(item: Strength) -> Text:
    if item.can_fail:
        return output.mark("holds")
    return Text("refused" if item.trivial else item.verdict, style="yellow")


def _document(found: FamilyStrength) -> documents.StrengthDocument:
    tally = found.tally
    return documents.StrengthDocument(
        family=found.family,
        sample=found.sample,
        seed=found.seed,
        left_out=found.left_out,
        tried=tally.tried,
        seen=tally.changing,
        killed=tally.killed,
        inner=tally.inner,
        equivalent=tally.equivalent,
        undecided=tally.undecided,
        invalid=tally.invalid,
        survivors=[item.mutant for item in tally.survivors],
        unnoticed_guards=[item.mutant for item in found.guards.unnoticed] if found.guards else [],
        checks=[
            documents.CheckStrength(
                claim=item.claim.id,
                what=str(item.check),
                verdict=item.verdict,
                touch=item.asked,
                broken=item.killed,
                kept=item.kept,
                equivalent=item.equivalent,
                open=item.open,
                others=item.elsewhere,
            )
            for item in found.checks
        ],
    )
