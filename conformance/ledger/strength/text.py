"""What the mutants did to the ledger's checks, as a text: a section a family, that is read without running
anything.

A section carries a digest of what it rests on (the records, what the specifications do that they check, and
what the asked properties say), so that a stale one is noticed without running anything. How the mutants were
chosen stands in it, and which one broke each check, so that the next run asks that one first.

This file knows no protocol and runs nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping

from antiphon.conformance.ledger.checking import program_of
from antiphon.conformance.ledger.strength.programs import held, meaning_of
from antiphon.conformance.ledger.strength.results import FamilyStrength, GuardTally, Strength
from antiphon.conformance.report.words import counted, settings
from antiphon.spec.claims import Check, Claim
from antiphon.spec.claims.survivors import reason_of

FORM = 4
"""The form of a section; a higher one makes all sections stale."""

HEAD = """# What would break the ledger's verdicts

Every check that the ledger records to hold is asked again of *mutants*: the text of its specification with one place changed, one of its repairs
left out, or a fault that it plants made. Made by `antiphon claims --mutants --write docs/ledger-strength.md`; do not edit.

How to read it:

- **by** is the number, in the list below the table, of a mutant that breaks the check: it is asked first when the section is made anew. Of the mutants
  that were asked in this program, **touch** counts those whose actions write what the property reads, or do what it judges; **break** are those of
  them that the check refutes (every such run is taken again by CPython), **keep** those that change something else or were compared with nothing,
  **same** those that have the same states and the same steps with these constants, **open** those that were not explored to the end. **others**
  counts mutants that break it although they do not touch it.
- A check that no mutant breaks is *unknown: cannot fail*, as far as these operators reach; *unknown: undecided*, where one that touches it was not
  explored to the end, or not asked within the time. One that the constants alone make true (no state that the types allow, and no step in one of
  them, could break it) is *refused*.
- A check is asked of mutants until one breaks it, so that *cannot fail* never rests on a sample: briefly, within 5,000 states of generated Python,
  and then, where that leaves something open, within a million of machine code (a state of more than 400 bits: in machine code at once). A program
  gets 600 seconds of processor time for that. Deep checks (more than about five seconds in the ledger) are asked where the section leaves none out
  (`--deep`, as `make check-deep` does): first on 4,000 random walks of 500 steps, then within four million states, and of liveness in 200,000 states of
  generated Python. Their programs get 120 seconds a run; the next run asks further what is undecided.
- A refinement is broken by a mutant of the protocol that takes a step which is none of the abstract machine's. A mutant of what the mapping reads is
  not asked.
- A sample of the mutants of each text is asked in one program after the other until it breaks a check or can be seen, in six at most: within 25,000
  states of generated Python, or a million of machine code. What machine code has seen to the end is told from the program by what is judged.
- Of a family, mutants *that can be seen* are those that some check breaks, and those after which some program shows other events: the variables that
  judge events take other values together, at some time or at the end. *Inner* ones change only what nobody sees (a packet that is sent once more).
  One that is seen somewhere and breaks nothing there is asked in the other programs of the family too, then in those of other families
  that have the changed class as a part, and in those of deep checks. One that adds and takes away nothing but steps that change nothing is *the
  same*. Those that break nothing in any are listed, with the reason: a check is missing there, or the text says more than can be noticed within
  these constants.
- *Guards* of literal files (what the documents print, without repairs, readings and faults) are all asked, whatever the sample is: each conjunct of a
  `require`, of an `if`, of a helper that is a boolean, of a guard on the actor or a constraint is left out, and asked for the other way round. Each is asked
  in one program after the other until a check breaks, in six at most, those with the most checks first: briefly, then further, within 60 seconds a program
  and step; where a row names more than six, its section is of a time when all were asked. A file is asked about in the family
  most of whose checks have it as a part. Those that no check that holds notices are listed with the place of the document that the method names; that a
  recorded counterexample gets longer or goes away is not asked, nor are deep checks where the section leaves them out. *The same*: the
  states and the steps are the same, wherever that was compared. *To the end*: in so many of the family's programs that have the guard all states were
  seen, or all that the bounds ask for; *in no program*: it stands in the printed text alone, and no check that holds is about that."""

BROKEN_BY = "Broken by:"
"""Before the list of the mutants to which the rows of a section refer."""

_END = "<!-- end -->"


def section(found: FamilyStrength) -> str:
    """The section of one family."""
    numbers = {name: f"{number}" for number, name in enumerate(_breaking(found.checks), 1)}
    parts = [f"## {found.family.upper()}", _summary(found), _table(found.checks, numbers)]
    if numbers:
        parts += [BROKEN_BY, "\n".join(f"{number}. {name}" for name, number in numbers.items())]
    if found.tally.survivors:
        listed = [
            f"- {item.mutant} ({counted(item.programs, 'program')}). {reason_of(item.mutant) or '**No reason.**'}"
            for item in found.tally.survivors
        ]
        parts += ["Seen, and broken by no check:", "\n".join(listed)]
    if found.guards is not None:
        parts += _guards(found.guards)
    return "\n\n".join(parts)


def _guards(found: GuardTally) -> list[str]:
    """How many guards were changed, and those of which no check notices the change, file by file."""
    parts = [guards_in_brief(found)]
    for file in dict.fromkeys(item.file for item in found.unnoticed):
        rows = [f"| {file} | place | what | to the end | reason |", "|---|---|---|---|---|"]
        for item in found.unnoticed:
            if item.file == file:
                what = "the same" if item.same else ""
                ended = f"{item.ended} of {item.programs}" if item.programs else "in no program"
                change = item.mutant.replace("|", "\\|")
                rows.append(f"| {change} | {item.cited} | {what} | {ended} | {reason_of(item.mutant)} |")
        parts.append("\n".join(rows))
    return parts


def guards_in_brief(found: GuardTally) -> str:
    """In one sentence, what became of the guards of the literal files."""
    decided = sum(item.is_decided for item in found.unnoticed)
    told = (
        f"Guards: {counted(found.changes, 'change')} of guards of literal files: {found.noticed} noticed, "
        f"{found.invalid} no specification, {decided} not noticed, {len(found.unnoticed) - decided} not noticed "
        "as far as they were asked"
    )
    return told + (". The last two are:" if found.unnoticed else ".")


def hints(claims: Iterable[Claim], body: str) -> dict[str, str]:
    """Which mutant broke each check, as a section tells it, by the text of the check."""
    names = dict(re.findall(r"^(\d+)\. (.+)$", body.partition(BROKEN_BY)[2], re.MULTILINE))
    rows = [line.split(" | ") for line in body.splitlines() if line.startswith("| ")]
    told = {(row[0][2:], row[1], row[2]): row[9] for row in rows if len(row) == 11}
    return {
        str(check): names[number]
        for claim, check in held(claims)
        if (number := told.get((claim.id, check.property, _program(check)), "")) in names
    }


def left_out(body: str) -> int:
    """How many checks that hold a section leaves out."""
    found = re.search(r"; ([\d,]+) checks? left out\.", body)
    return int(found[1].replace(",", "")) if found else 0


def undecided(body: str) -> int:
    """How many checks that were asked a section leaves undecided."""
    found = re.search(r" cannot, ([\d,]+) undecided", body)
    return int(found[1].replace(",", "")) if found else 0


def digest(claims: Iterable[Claim]) -> str:
    """SHA-256, in hex, of the checks of a family that are recorded to hold, and of the meaning of what they
    check.
    """
    meant: list[object] = [FORM]
    for claim, check in held(claims):
        bound = program_of(check)
        constants = sorted(bound.constants.items())
        meant.append([claim.id, str(check), check.deep, meaning_of(bound, (check.property,)), constants])
    return hashlib.sha256(json.dumps(meant, default=str).encode()).hexdigest()


def text(sections: Mapping[str, tuple[str, str]]) -> str:
    """The whole document from digest and text of each family, ending in a newline."""
    parts = [HEAD]
    for family, (found, body) in sections.items():
        parts.append(f"<!-- family {family} {found} -->\n\n{body}\n\n{_END}")
    return "\n\n".join(parts) + "\n"


def kept(written: str) -> dict[str, tuple[str, str]]:
    """The digest and the text of every section of a document that `text` made, by family."""
    pattern = re.compile(r"<!-- family (\w+) ([0-9a-f]{64}) -->\n\n(.*?)\n\n" + re.escape(_END), re.DOTALL)
    return {name: (found, body) for name, found, body in pattern.findall(written)}


def summary(found: FamilyStrength) -> str:
    """In one sentence, how strong the checks are and how many mutants were noticed."""
    tally = found.tally
    strong = sum(item.can_fail for item in found.checks)
    undecided = sum(item.is_undecided for item in found.checks)
    refused = sum(bool(item.trivial) for item in found.checks)
    weak = len(found.checks) - strong - undecided - refused
    return (
        f"{counted(len(found.checks), 'check')} asked: {strong} can fail, {weak} cannot, {undecided} undecided, "
        f"{refused} refused; "
        f"{counted(tally.tried, 'mutant')}: {tally.changing} can be seen, {tally.killed} of them killed "
        f"({tally.share:.0%})"
    )


def _summary(found: FamilyStrength) -> str:
    tally = found.tally
    sampled = f"{found.sample} mutants a program (seed {found.seed})"
    chosen = "all mutants" if found.sample is None else sampled
    return (
        f"{summary(found)}, {tally.inner} inner, {tally.equivalent} the same, {tally.undecided} undecided, "
        f"{tally.invalid} no specification. Asked of {chosen}; {counted(found.left_out, 'check')} left out."
    )


def _breaking(checks: Iterable[Strength]) -> list[str]:
    """The mutants by which checks are broken, each once, in the order of the checks."""
    return list(dict.fromkeys(item.by for item in checks if item.by))


def _table(checks: Iterable[Strength], numbers: Mapping[str, str]) -> str:
    rows = ["| claim | property | program | touch | break | keep | same | open | others | by | verdict |"]
    rows.append("|---|---|---|--:|--:|--:|--:|--:|--:|--:|---|")
    for item in checks:
        check = item.check
        counts = (item.asked, item.killed, item.kept, item.equivalent, item.open, item.elsewhere)
        shown = " | ".join(map(str, counts)) if not item.trivial else " | ".join([""] * len(counts))
        rows.append(
            f"| {item.claim.id} | {check.property} | {_program(check)} | {shown} | {numbers.get(item.by, '')} | "
            f"{item.verdict if item.can_fail else f'**{item.verdict}**'} |"
        )
    return "\n".join(rows)


def _program(check: Check) -> str:
    chosen = check.repairs if isinstance(check.repairs, str) else ", ".join(check.repairs)
    without = f" without {', '.join(check.without)}" if check.without else ""
    repairs = f"repairs: {chosen}{without}" if chosen else "literal"
    return f"{check.spec.__name__}, {repairs}; {', '.join(settings(check.constants))}"
