"""`antiphon claims`: the ledger of what the documents claim, every check run again; exits by agreement with
the record.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.text import Text

from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.cli.progress import claims_bar
from antiphon.conformance.cli.strength import by_mutants, check_written
from antiphon.conformance.ledger import CheckResult, ClaimResult, Reports, program_of, run_ledger
from antiphon.conformance.ledger.minimal import Need, needs
from antiphon.conformance.report.words import counted, settings
from antiphon.model.verdict import Outcome
from antiphon.programs import name_of
from antiphon.spec.catalogue import entry_refined_by
from antiphon.spec.claims import Basis, Check, Claim, Measurement, Proof, claim_of, claims_of, families


def claims(
    identifiers: Annotated[
        list[str] | None, typer.Argument(metavar="[CLAIM]...", help="Only these claims, for example RBP-06.")
    ] = None,
    protocols: Annotated[
        list[str] | None,
        typer.Option(
            "--family",
            metavar="FAMILY",
            help=f"Only this family; may be repeated: {', '.join(families())}.",
        ),
    ] = None,
    engine: Annotated[
        Literal["auto", "native", "generated", "reference", "z3"],
        options.ENGINE,
    ] = "auto",
    minimal: Annotated[
        bool,
        typer.Option(
            "--minimal",
            help="Instead: leave out each repair that a claim names, alone, and see that the claim needs it.",
        ),
    ] = False,
    brief: Annotated[
        bool,
        typer.Option(
            "--brief", help="Of each claim only one quick check with its verdict, as the gate does."
        ),
    ] = False,
    deep: Annotated[
        bool,
        typer.Option("--deep", help="Also the checks that take long (more than about five seconds each)."),
    ] = False,
    fresh: Annotated[bool, options.FRESH] = False,
    mutants: Annotated[
        bool,
        typer.Option(
            "--mutants",
            help="Instead: change each specification in one place, and see which checks that hold notice.",
        ),
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            min=1,
            metavar="N",
            help="With --mutants: so many of each program, not all.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int | None, options.SEED] = None,
    jobs: Annotated[int | None, options.JOBS] = None,
    write: Annotated[
        Path | None,
        typer.Option("--write", metavar="FILE", help="With --mutants: write the table.", show_default=False),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(
            "--check",
            metavar="FILE",
            help="With --mutants: say whether that table is up to date, without running.",
            show_default=False,
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Run every check of the ledger again and compare its result with the record.

    --sample, --seed, --jobs, --write and --check are for --mutants. Z3 judges no measurements, and looks for
    runs up to a bound.
    """
    if identifiers and protocols:
        raise output.UsageProblem("name claims, or a family with --family, not both")
    if not mutants and any(given is not None for given in (sample, seed, jobs, write, check)):
        raise output.UsageProblem("--sample, --seed, --jobs, --write and --check go with --mutants")
    if mutants and (minimal or brief or engine != "auto"):
        raise output.UsageProblem("--mutants goes with none of --minimal, --brief and --engine")
    if check is not None:
        return check_written(check, protocols or families(), json=json)
    chosen = (
        tuple(map(claim_of, identifiers))
        if identifiers
        else tuple(claim for name in protocols or families() for claim in claims_of(name))
    )
    if mutants:
        whole = () if identifiers else tuple(protocols or families())
        return by_mutants(
            chosen, whole=whole, deep=deep, sample=sample, seed=seed, jobs=jobs or os.cpu_count() or 1,
            fresh=fresh, write=write, json=json,
        )  # fmt: skip
    asked = briefly(chosen) if brief else chosen
    reports = Reports.private(fresh=fresh)
    if minimal:
        return _minimal(asked, engine, reports, deep=deep, json=json)
    results = run(asked, engine, reports, deep=deep)
    if brief:
        results = tuple(map(_of_whole, results, chosen))
    outcome = _outcome(results)
    if json:
        return output.finish(
            documents.Claims(outcome=outcome, engine=engine, claims=[_document(result) for result in results])
        )
    _print(results)
    _print_kept(reports)
    wrong = [result.claim.id for result in results if not result.agrees]
    checks = sum(len(result.results) for result in results)
    told = f"{counted(len(results), 'claim')}, {counted(checks, 'check')}: " + (
        f"the record differs in {', '.join(wrong)}" if wrong else "all as recorded"
    )
    told += "; of each only one with its verdict" if brief else ""
    left = sum(result.deep for result in results)
    if left and not brief:
        told += f"; {counted(left, 'deep check')} left out (--deep runs {'them' if left != 1 else 'it'})"
    output.last_line(outcome, told)
    return outcome.exit_code


def briefly(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Return the claims with their measurements and one quick check each: the first whose outcome is the
    claim's verdict, or the first at all. Where another claim is asked about the program of a later check of
    the same property and outcome, it is that one, which needs no exploration of its own.
    """
    alike = list(map(_alike, claims))
    asked = {_program(checks[0]) for checks in alike if len({*map(_program, checks)}) == 1}
    brief = []
    for claim, checks in zip(claims, alike, strict=True):
        shared = [check for check in checks if _program(check) in asked]
        shown = (shared or checks)[:1]
        asked |= set(map(_program, shown))
        left = (check for check in claim.checks if isinstance(check, Measurement) or check in shown)
        brief.append(replace(claim, checks=tuple(left)))
    return tuple(brief)


def _alike(claim: Claim) -> list[Check]:
    """Return the first quick check that shows the verdict of the claim, and the others of its property."""
    quick = [check for check in claim.checks if isinstance(check, Check) and not check.deep]
    shows = [check for check in quick if check.outcome == claim.verdict] or quick
    same = [(check.spec, check.property, check.outcome) for check in shows]
    return [check for check, asks in zip(shows, same, strict=True) if asks == same[0]]


def _program(check: Check) -> tuple[object, ...]:
    """Return what tells the program of a check from others."""
    bound = program_of(check)
    return bound.spec, *sorted(bound.constants.items())


def _of_whole(result: ClaimResult, claim: Claim) -> ClaimResult:
    """Return the result of a brief run with the whole claim in place of the shortened one, so that the
    evidence and the number of skipped deep checks are those of all checks.
    """
    return replace(result, claim=claim, deep=sum(check.deep for check in claim.checks))


def _outcome(results: tuple[ClaimResult, ...]) -> Outcome:
    """Return `holds` if the results agree with the record, `violated` if one differs, `unknown` if every
    check was skipped.
    """
    if not all(result.agrees for result in results):
        return Outcome.VIOLATED
    nothing = not any(result.results for result in results) and any(result.claim.checks for result in results)
    return Outcome.UNKNOWN if nothing else Outcome.HOLDS


def _minimal(chosen: tuple[Claim, ...], engine: str, reports: Reports, *, deep: bool, json: bool) -> int:
    """Test whether the claims need each repair that they name, and print the result. A repair without which
    nothing fails may be covered by another repair: the record then says so.
    """
    if engine == "z3":
        raise output.UsageProblem(
            "--minimal asks for properties that hold, which z3 checks up to a depth only; choose another "
            "engine"
        )
    with claims_bar() as show:
        found = needs(chosen, deep=deep, engine=engine, progress=show, reports=reports)
    wrong = [need for need in found if need.is_wrong]
    left = sum(need.is_open for need in found)
    outcome = Outcome.UNKNOWN if wrong or left == len(found) else Outcome.HOLDS
    if json:
        listed = [_need_document(need) for need in found]
        return output.finish(documents.Claims(outcome=outcome, engine=engine, claims=[], needs=listed))
    table = output.table(
        ("claim", {"no_wrap": True}), ("without", {"ratio": 2}), ("what then does not hold", {"ratio": 4})
    )
    for need in found:
        told = (
            f"{need.noticed.check}: {need.noticed.found}"
            if need.noticed
            else f"nothing, in {counted(need.tried, 'check')}"
        )
        if need.is_open:
            told += f"; {counted(need.left, 'deep check')} left out"
        elif need.is_covered and not need.is_wrong:
            told += ", as recorded"
        table.add_row(need.claim.id, Text(need.repair), Text(told, style="yellow" if need.is_wrong else ""))
    output.out().print(table)
    _print_kept(reports)
    tried = f"{counted(len(found), 'repair')} of {counted(len({need.claim.id for need in found}), 'claim')}"
    told = f"{len(wrong)} not as recorded" if wrong else "all as recorded"
    told += f"; {left} left to deep checks (--deep)" if left else ""
    output.last_line(outcome, f"{tried}, each left out alone: {told}")
    return outcome.exit_code


def _need_document(need: Need) -> documents.NeedDocument:
    noticed, check = need.noticed, need.noticed.check if need.noticed else None
    return documents.NeedDocument(
        claim=need.claim.id,
        repair=need.repair,
        noticed=str(check) if check else "",
        outcome=noticed.outcome if noticed else None,
        length=noticed.length if noticed else None,
        tried=need.tried,
        left_out=need.left,
        covered=need.is_covered,
        reproduce=reproduce(check) if isinstance(check, Check) else "",
    )


def run(chosen: tuple[Claim, ...], engine: str, reports: Reports, *, deep: bool) -> tuple[ClaimResult, ...]:
    """Return the results of these claims' checks, with a progress bar on a terminal."""
    with claims_bar() as show:
        return run_ledger(chosen, engine=engine, deep=deep, progress=show, reports=reports)


def reproduce(check: Check | Proof) -> str:
    """Return the command that runs one check alone."""
    repairs = ["all"] if check.repairs == "all" else check.repairs
    if isinstance(check, Proof):
        chosen = {
            "--property": [check.property], "--repair": repairs, "--without": check.without,
            "--set": settings(check.constants),
        }  # fmt: skip
        words = ["antiphon", "check", name_of(check.spec), "--prove", "--every", ",".join(check.every)]
        return shlex.join([*words, *options.said(chosen)])
    entry = entry_refined_by(check.spec)
    words = (
        ["antiphon", "refine", entry.name]
        if entry
        else ["antiphon", "check", name_of(check.spec), "--property", check.property]
    )
    return shlex.join(
        [
            *words,
            *options.said(
                {"--repair": repairs, "--without": check.without, "--set": settings(check.constants)}
            ),
        ]
    )


def _document(result: ClaimResult) -> documents.ClaimDocument:
    claim = result.claim
    return documents.ClaimDocument(
        id=claim.id,
        source=str(claim.source),
        quotation=claim.source.quotation,
        claim=claim.claim,
        standing=claim.standing.value,
        rests_on=[item.value for item in claim.rests_on],
        kind=claim.kind.value,
        verdict=Outcome(claim.verdict),
        because=claim.because,
        defect=claim.defect,
        repairs=list(claim.repairs),
        agrees=result.agrees,
        checks=[_check_document(item) for item in result.results],
        left_out=result.deep,
    )


def _check_document(item: CheckResult) -> documents.CheckDocument:
    check = item.check
    return documents.CheckDocument(
        what=str(check) if isinstance(check, Check) else f"{check.name}: {check.expectation}",
        expected=Outcome(check.outcome),
        outcome=item.outcome,
        found=item.found,
        agrees=item.agrees,
        length=item.length,
        reproduce="antiphon claims" if isinstance(check, Measurement) else reproduce(check),
    )


def _print(results: tuple[ClaimResult, ...]) -> None:
    console = output.out()
    single = len(results) <= 3
    whole = {"no_wrap": True}
    table = output.table(
        ("claim", whole), ("what it says", {"ratio": 3}), ("verdict", whole), ("checks", {"ratio": 2})
    )
    for result in results:
        claim = result.claim
        count = sum(item.agrees for item in result.results)
        told = f"{count} of {len(result.results)} as recorded" if result.results else _unchecked(result)
        if claim.repairs:
            told += f"; repairs: {', '.join(claim.repairs)}"
        basis = [item.value for item in claim.rests_on if item not in (Basis.STATES, Basis.READING)]
        if basis:
            told += f"; {', '.join(basis)}"
        table.add_row(
            claim.id,
            Text(claim.claim),
            output.mark(claim.verdict),
            Text(told, style="" if result.agrees else "bold red"),
        )
    console.print(table)
    for result in results:
        if single:
            _print_claim(result)
        for item in result.results:
            if single or not item.agrees:
                _print_check(item)


def _print_kept(reports: Reports) -> None:
    """Print how many reports of explorations were read from the cache."""
    if reports.read:
        total = reports.read + reports.explored
        told = (
            f"{reports.read} of {total} explorations were made by this code before, and read (--fresh makes "
            "them again)"
        )
        output.out().print(told, style="bright_black", soft_wrap=True)


def _unchecked(result: ClaimResult) -> str:
    """Return the reason why no check of a claim was run."""
    if not result.claim.checks:
        return "by reading"
    return "only with --deep" if result.deep else "not by this engine"


def _print_claim(result: ClaimResult) -> None:
    console, claim = output.out(), result.claim
    console.print()
    basis = ", ".join(item.value for item in claim.rests_on if item is not Basis.QUESTION)
    console.print(
        f"{claim.id}  {claim.source}; {claim.standing.value}, {claim.kind.value}; rests on: {basis}",
        style="bold",
    )
    console.print(f"“{claim.source.quotation}”", style="italic", soft_wrap=True)
    console.print(claim.because, soft_wrap=True)
    if claim.by_construction:
        console.print(f"by construction: {claim.by_construction}", soft_wrap=True)
    if claim.defect:
        idea = "a defect of the idea" if claim.defect == "design" else "a defect of the printed text"
        fault = "our question: a defect of nobody's" if Basis.QUESTION in claim.rests_on else idea
        console.print(f"{fault}; repairs: {', '.join(claim.repairs) or 'none'}")


def _print_check(item: CheckResult) -> None:
    console, check = output.out(), item.check
    sign = "as recorded" if item.agrees else f"DIFFERS from the record ({check.outcome}"
    if isinstance(check, Proof) and not item.agrees:
        sign = f"DIFFERS from the record ({check.expectation})"
    elif not item.agrees:
        recorded = check.length if isinstance(check, Check) else None
        sign += f" in {recorded} steps)" if recorded is not None else ")"
    what = check.property if isinstance(check, Check) else check.name
    console.print(f"  {what}: {item.found}, {sign}", style=None if item.agrees else "red", soft_wrap=True)
    if not isinstance(check, Measurement):
        console.print(f"        {reproduce(check)}", style="bright_black", soft_wrap=True)
