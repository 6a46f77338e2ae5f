"""Page of the mutants' answers, rendered from the JSON file beside it. No code reads the page.

A table has the columns that `Strength` has fields. The numbers under *by* refer to the list below the table.

This file knows no protocol and runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from antiphon.conformance.ledger.strength.document import Section
from antiphon.conformance.ledger.strength.results import FamilyStrength, GuardTally, Strength, Survivor
from antiphon.conformance.report.words import counted
from antiphon.spec.claims.survivors import reason_of

__all__ = ["guards_in_brief", "page", "section", "summary"]

HEAD = """# What would break the ledger's verdicts

Every check that the ledger records to hold is asked again of *mutants*: the text of its specification with one place changed, with one repair left
out, or with one planted fault made. `antiphon claims --mutants --write docs/ledger-strength.json` makes the data beside this page, and renders the page
from them; do not edit either.

How to read it:

- The counts of a row are mutants that were asked in its program. The data have the same names for them.
  **touch**: their actions write what the property reads, or do what it judges.
  Of those that touch it, **break**: the check refutes them, and CPython takes every such run again; **keep**: they change something else, or were
  compared with nothing; **same**: they have the same states and the same steps with these constants; **open**: they were not explored to the end.
  **others**: they break the check although they do not touch it.
  **by** is the number, in the list below the table, of a mutant that breaks the check. It is asked first when the section is made anew.
- A check that no mutant breaks is *unknown: cannot fail*, as far as these operators reach. It is *unknown: undecided* if a mutant that touches it was
  not explored to the end, or was not asked within the time. A check is *refused* if the constants alone make it true: no state that the types allow,
  and no step in one of them, could break it.
- A check is asked of mutants until one breaks it, so that *cannot fail* never rests on a sample. Each mutant is asked briefly, within 5,000 states of
  generated Python. Where that leaves something open it is asked within a million states of machine code. (A state of more than 400 bits goes to
  machine code at once.) A program gets 600 seconds of processor time for that.
- Deep checks take more than about five seconds in the ledger. They are asked where the section leaves none out (`--deep`, as `make check-deep` does):
  first on 4,000 random walks of 500 steps, then within four million states; liveness in 200,000 states of generated Python. Their programs get 120
  seconds a run, and the next run asks further what is undecided.
- A refinement is broken by a mutant of the protocol that takes a step which is none of the abstract machine's. A mutant of what the mapping reads is
  not asked.
- A sample of the mutants of each text is asked in one program after the other until it breaks a check or can be seen, in six programs at most: within
  25,000 states of generated Python, or a million of machine code. Machine code compares a mutant with the program by what is judged alone, and never
  says that it is the same.
- A mutant *can be seen* if some check breaks, or if some program shows other events: the variables that judge events take other values together, at
  some time or at the end. An *inner* mutant changes only what nobody sees, such as a packet that is sent once more. A mutant that adds and takes
  away nothing but steps that change nothing is *the same*.
- A mutant that is seen somewhere and breaks nothing there is asked in the other programs of the family, then in those of other families that have the
  changed class as a part, and in those of deep checks. Those that break nothing in any are listed, with the reason: a check is missing there, or the
  text says more than can be noticed within these constants.
- *Guards* of literal files (what the documents print, without repairs, readings and faults) are all asked, whatever the sample is. Each conjunct of a
  `require`, of an `if`, of a helper that is a boolean, of a guard on the actor or of a constraint is left out, and is negated. A file is asked about
  in the family most of whose checks have it as a part. A change is asked in one program after the other until a check breaks, in six programs at most,
  those with the most checks first: briefly, then further, within 60 seconds a program and step. (Where a row names more than six, its section is of a
  time when all programs were asked.)
- Changes of guards that no check that holds notices are listed with the place of the document that the method names. A recorded counterexample that
  gets longer or goes away does not count, nor do deep checks where the section leaves them out. *The same*: the states and the steps are the same,
  wherever that was compared. *To the end*: the number of the family's programs with this guard in which all states were seen, or all that the
  bounds ask for. *In no program*: the guard stands in the printed text alone, and no check that holds is about that."""

COUNTS = ("touch", "break", "keep", "same", "open", "others")
"""The columns of counts."""


def page(sections: Mapping[str, Section]) -> str:
    """Render the page, with one section for each family, ending in a newline."""
    return "\n\n".join([HEAD, *(section(each.strength) for each in sections.values())]) + "\n"


def section(found: FamilyStrength) -> str:
    """Render the section of one family."""
    breaking = dict.fromkeys(item.by for item in found.checks if item.by)
    numbers = {name: f"{number}" for number, name in enumerate(breaking, 1)}
    parts = [f"## {found.family.upper()}", _summary(found), _table(found.checks, numbers)]
    if numbers:
        parts += ["Broken by:", "\n".join(f"{number}. {name}" for name, number in numbers.items())]
    if found.tally.survivors:
        parts += ["Seen, and broken by no check:", "\n".join(map(_survivor, found.tally.survivors))]
    if found.guards is not None:
        parts += _guards(found.guards)
    return "\n\n".join(parts)


def _survivor(item: Survivor) -> str:
    reason = reason_of(item.mutant) or "**No reason.**"
    return f"- {item.mutant} ({counted(item.programs, 'program')}). {reason}"


def _guards(found: GuardTally) -> list[str]:
    """Render how many guards were changed, and, file by file, the changes that no check notices."""
    parts = [guards_in_brief(found)]
    for file in dict.fromkeys(item.file for item in found.unnoticed):
        rows = [f"| {file} | place | what | to the end | reason |", "|---|---|---|---|---|"]
        for item in found.unnoticed:
            if item.file == file:
                what = "the same" if item.same else ""
                ended = f"{item.to_the_end} of {item.programs}" if item.programs else "in no program"
                change = item.mutant.replace("|", "\\|")
                rows.append(f"| {change} | {item.cited} | {what} | {ended} | {reason_of(item.mutant)} |")
        parts.append("\n".join(rows))
    return parts


def guards_in_brief(found: GuardTally) -> str:
    """Sum up in one sentence how many changes of guards were noticed."""
    left = sum(not item.is_decided for item in found.unnoticed)
    told = (
        f"Guards: {counted(found.changes, 'change')} of guards of literal files: {found.noticed} noticed, "
        f"{found.no_specification} no specification, {len(found.unnoticed) - left} not noticed"
    )
    if left:
        return f"{told}, {left} not noticed as far as they were asked. The last two are:"
    return told + (", which are:" if found.unnoticed else ".")


def summary(found: FamilyStrength) -> str:
    """Sum up in one sentence how many checks can fail and how many mutants were noticed."""
    tally = found.tally
    strong = sum(item.can_fail for item in found.checks)
    undecided = sum(item.is_undecided for item in found.checks)
    refused = sum(bool(item.trivial) for item in found.checks)
    weak = len(found.checks) - strong - undecided - refused
    return (
        f"{counted(len(found.checks), 'check')} asked: {strong} can fail, {weak} cannot, {undecided} undecided, "
        f"{refused} refused; "
        f"{counted(tally.tried, 'mutant')}: {tally.seen} can be seen, {tally.killed} of them killed "
        f"({tally.share:.0%})"
    )


def _summary(found: FamilyStrength) -> str:
    tally = found.tally
    sampled = f"{found.sample} mutants a program (seed {found.seed})"
    chosen = "all mutants" if found.sample is None else sampled
    return (
        f"{summary(found)}, {tally.inner} inner, {tally.same} the same, {tally.undecided} undecided, "
        f"{tally.no_specification} no specification. Asked of {chosen}; {counted(found.left_out, 'check')} left "
        "out."
    )


def _table(checks: Iterable[Strength], numbers: Mapping[str, str]) -> str:
    """Render the rows of the checks; a refused one has no counts."""
    columns = [field.encode_name for field in msgspec.structs.fields(Strength)]
    rules = ("--:" if name in (*COUNTS, "by") else "---" for name in columns)
    lines = [f"| {' | '.join(columns)} |", f"|{'|'.join(rules)}|"]
    for item in checks:
        cells = msgspec.to_builtins(item) | {"by": numbers.get(item.by, "")}
        if item.trivial:
            cells |= dict.fromkeys(COUNTS, "")
        if not item.can_fail:
            cells["verdict"] = f"**{item.verdict}**"
        lines.append(f"| {' | '.join(map(str, cells.values()))} |")
    return "\n".join(lines)
