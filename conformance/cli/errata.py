"""`antiphon errata`: the refuted claims as a text with pictures, made from the ledger and from its checks,
run now.

`docs/errata.md` is the output of `--write docs`; `--check docs` compares it with today's records,
specifications and pictures, and searches nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.cli.claims import reproduce, run
from antiphon.conformance.ledger import Reports
from antiphon.conformance.ledger import errata as report
from antiphon.model.verdict import Outcome
from antiphon.programs import called
from antiphon.spec.claims import Claim, all_claims, claim_of

FILE = "errata.md"


def errata(
    identifiers: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CLAIM]...", help="Print only these claims, for example RBP-06."),
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write",
            metavar="DIR",
            help=f"Write {FILE} and its pictures there; runs only what is stale.",
            show_default=False,
        ),
    ] = None,
    fresh: Annotated[bool, options.FRESH] = False,
    check: Annotated[
        Path | None,
        typer.Option(
            "--check",
            metavar="DIR",
            help=f"Say whether {FILE} and its pictures there are up to date, without a search.",
            show_default=False,
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Print or write the errors in the documents: quotation, shortest run, repairs, bounds."""
    if identifiers and (write or check):
        raise output.UsageProblem("name claims to print them, or give --write or --check for all of them")
    if write and check:
        raise output.UsageProblem("--check looks, --write writes: give one of them")
    if check is not None:
        if not check.is_dir():
            raise output.UsageProblem(f"--check {check}: no such directory; name the one that holds {FILE}")
        return _check(check, json=json)
    if write is not None:
        output.writable_directory("--write", write)
        return _write(write, fresh=fresh, json=json)
    chosen = [claim_of(identifier) for identifier in identifiers] if identifiers else list(all_claims())
    wrong = [claim.id for claim in chosen if identifiers and claim.verdict != "violated"]
    if wrong:
        raise output.UsageProblem(f"the errata list what is refuted; {', '.join(wrong)} is not")
    sections, differing = _sections(report.refuted(chosen), fresh=fresh)
    outcome = Outcome.VIOLATED if differing else Outcome.HOLDS
    if json:
        return output.finish(
            _document(outcome, sections=[item.text for item in sections], differing=differing)
        )
    output.out().print("\n\n".join(item.text for item in sections), soft_wrap=True)
    if differing:
        output.last_line(outcome, f"the record differs in {', '.join(differing)}")
    return outcome.exit_code


def _sections(claims: tuple[Claim, ...], *, fresh: bool) -> tuple[list[report.Section], list[str]]:
    """Run all checks of these claims, deep ones too. Return their sections, and the claims whose results
    differ from the record.
    """
    results = run(claims, "auto", Reports.private(fresh=fresh), deep=True)
    return [report.section(result, reproduce) for result in results], [
        result.claim.id for result in results if not result.agrees
    ]


def _write(directory: Path, *, fresh: bool, json: bool) -> int:
    """Generate the stale sections again, one family after the other, keep the other sections, and remove
    pictures to which no section refers.

    A claim of which a check differs from its record is left out of the text.
    """
    file = directory / FILE
    written = file.read_text(encoding="utf-8") if file.exists() else ""
    old = (
        report.refuted(all_claims())
        if fresh
        else report.stale(all_claims(), written, _there(directory / report.PICTURES))
    )
    differing: list[str] = []
    for family in dict.fromkeys(claim.protocol for claim in old):
        sections, wrong = _sections(tuple(claim for claim in old if claim.protocol == family), fresh=fresh)
        differing += wrong
        _put(directory, [item for item in sections if item.claim.id not in differing])
    _put(directory, [], without=differing)
    outcome = Outcome.VIOLATED if differing else Outcome.HOLDS
    names = [claim.id for claim in old if claim.id not in differing]
    if json:
        return output.finish(_document(outcome, made=names, differing=differing))
    told = f"{file}: {len(report.refuted(all_claims())) - len(differing)} claims, {len(names)} made anew"
    told += f"; left out, since the record differs: {', '.join(differing)}" if differing else ""
    output.last_line(outcome, told)
    return outcome.exit_code


def _put(directory: Path, sections: list[report.Section], without: list[str] | None = None) -> None:
    """Write these sections into the document. Keep its other sections, except for those of claims that no
    longer exist or are in `without`.

    Draw the pictures again from the steps that the text prints. The picture of a section that rests on an
    older record is not drawn: the section is still to be generated again.
    """
    file, pictures = directory / FILE, directory / report.PICTURES
    have = report.sections_in(file.read_text(encoding="utf-8")) if file.exists() else {}
    made = {item.claim.id: item for item in sections}
    whole = []
    for claim in report.refuted(all_claims()):
        if claim.id in made:
            whole.append(made[claim.id])
        elif claim.id in have and claim.id not in (without or ()):
            whole.append(report.Section(claim, *have[claim.id]))
    output.writable_directory("--write", pictures)
    output.write_text("--write", file, report.text(whole))
    for item in whole:
        if item.digest != report.digest(item.claim):
            continue
        drawn, shown_in = report.picture(item, called), pictures / f"{item.claim.id}.svg"
        if drawn and not (shown_in.exists() and shown_in.read_text(encoding="utf-8") == drawn):
            output.write_text("--write", shown_in, drawn)
    shown = {f"{item.claim.id}.svg" for item in whole if f"]({report.PICTURES}/" in item.text}
    for stray in set(_there(pictures)) - shown:
        (pictures / stray).unlink()


def _check(directory: Path, *, json: bool) -> int:
    file = directory / FILE
    written = file.read_text(encoding="utf-8") if file.exists() else ""
    old = [claim.id for claim in report.stale(all_claims(), written, _there(directory / report.PICTURES))]
    extra = [
        name
        for name in report.sections_in(written)
        if name not in {claim.id for claim in report.refuted(all_claims())}
    ]
    if not old and not extra:
        extra = _undrawn(directory / report.PICTURES, written)
    outcome = Outcome.UNKNOWN if old or extra else Outcome.HOLDS
    if json:
        return output.finish(_document(outcome, stale=old + extra))
    told = (
        f"stale: {', '.join(old + extra)}; antiphon errata --write {directory}"
        if old or extra
        else f"{file} is up to date"
    )
    output.last_line(outcome, told)
    return outcome.exit_code


def _undrawn(pictures: Path, written: str) -> list[str]:
    """Return the claims whose picture file differs from the picture that the steps in the text give today."""
    have = report.sections_in(written)
    sections = [report.Section(claim, *have[claim.id]) for claim in report.refuted(all_claims())]
    drawn = {f"{item.claim.id}.svg": report.picture(item, called) for item in sections}
    return [
        Path(name).stem
        for name, svg in drawn.items()
        if svg and (pictures / name).read_text(encoding="utf-8") != svg
    ]


def _there(pictures: Path) -> dict[str, bool]:
    return {path.name: True for path in sorted(pictures.glob("*.svg"))} if pictures.is_dir() else {}


def _document(
    outcome: Outcome,
    *,
    sections: list[str] | None = None,
    made: list[str] | None = None,
    stale: list[str] | None = None,
    differing: list[str] | None = None,
) -> documents.Errata:
    return documents.Errata(
        outcome=outcome,
        sections=sections or [],
        made=made or [],
        stale=stale or [],
        differing=differing or [],
    )
