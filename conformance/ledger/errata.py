"""Errata: the refuted claims of the ledger with their repairs, as a generated document.

1. A claim is one section: the document's own words, the failure, a shortest counterexample as steps and as a
    space-time diagram, the necessary repairs with their docstrings, the failure without each, the explored
    bounds of the repaired text, and the command that runs it all again.
2. Everything comes from the record and from its checks, which are run. The same
   ledger gives the same text.
3. A section has a digest of everything it depends on (the record, and the meaning of every specification that
   it checks), so that a stale one is noticed without running anything (`stale`), and only stale ones are
     generated again.
4. A picture is drawn from the printed steps of its section (`picture`), so that it needs no search.

This file knows no protocol and runs no checker.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from antiphon.conformance.ledger.checking import CheckResult, ClaimResult, program_of
from antiphon.conformance.report.diagram import diagram
from antiphon.conformance.report.svg import svg
from antiphon.conformance.report.words import counted, settings
from antiphon.model.notation import compact_step
from antiphon.model.trace import ReplayError, Trace
from antiphon.spec.claims import Check, Claim, Proof, Standing
from antiphon.spec.lang import Program, Spec, Transition, program
from antiphon.spec.lang.dump import dump
from antiphon.spec.lang.variants import Repair

FORM = 3
"""Version of the form of a section; a higher one makes all sections stale."""

PICTURES = "errata"
"""Folder of the pictures, beside the document."""

Command = Callable[[Check], str]


Name = Callable[[type[Spec]], str]


@dataclass(frozen=True)
class Section:
    """Errata of one claim, in Markdown."""

    claim: Claim
    digest: str
    text: str


def refuted(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Return the claims that the errata list, in the order of the ledger."""
    return tuple(claim for claim in claims if claim.verdict == "violated")


def section(result: ClaimResult, command: Command) -> Section:
    """Return the errata's section on one claim, made from the results of its checks. `command` returns the
    command that runs one check.
    """
    claim = result.claim
    shown = _shown(result)
    parts = [f"### {claim.id}: {claim.claim}", _quoted(claim), _verdict(claim)]
    if shown is not None:
        parts.append(_counterexample(claim, shown, command))
    else:
        parts.append(_unreached(result))
    parts += [_repairs(claim, result), _bounds(result)]
    again = f"antiphon claims {claim.id}" + (" --deep" if any(check.deep for check in claim.checks) else "")
    parts.append(f"Again: `{again}`" if claim.checks else "")
    return Section(claim, digest(claim), "\n\n".join(part for part in parts if part))


def picture(item: Section, name: Name) -> str:
    """Draw the run that a section prints, as SVG; return "" if it prints none. `name` names a specification.

    Raises:
        ReplayError: the printed steps are no run of today's specification.
    """
    printed = _PRINTED.search(item.text)
    if printed is None:
        return ""
    check = next(
        each
        for each in item.claim.checks
        if isinstance(each, Check) and each.outcome == "violated" and item.text[printed.start():].startswith(
            f"`{each.property}` fails in {printed['count']} ({_variant(each)}; {_constants(each)}): "
        )
    )
    bound = program_of(check)
    lines = printed["steps"].splitlines()
    loop = next((_loop(line, len(lines)) for line in lines if "for ever" in line), None)
    names = [line[5:] for line in lines if "for ever" not in line]
    return svg(diagram(_run(bound, names, check.property, printed["why"].removesuffix("."), loop), name(bound.spec)))


_PRINTED = re.compile(
    r"^`[^`]+` fails in (?P<count>\d+ steps?) \(.*?\): (?P<why>.*)\n\n!\[.*\n\n"
    r"```text\n(?P<steps>(?:.*\n)*?)```",
    re.MULTILINE,
)
"""The run in the text of a section, as `_counterexample` prints it."""


def _loop(line: str, rows: int) -> int:
    """Return the index of the state to which a lasso returns, read from the last line of a printed run with
    `rows` lines.
    """
    found = re.search(r"from step (\d+)", line)
    return int(found[1]) - 1 if found else rows - 1


def _run(bound: Program, names: list[str], shows: str, why: str, loop: int | None) -> Trace:
    """Return a trace of printed steps, executed from the first initial state in which they are possible."""
    machine = bound.reference
    for start in machine.initial():
        state, transitions = start, list[Transition]()
        for name in names:
            step = next((each for each in machine.enabled(state) if compact_step(each) == name), None)
            if step is None:
                break
            transitions.append(machine.apply(state, step))
            state = transitions[-1].state
        else:
            return Trace(bound, start, tuple(transitions), shows, why, loop)
    raise ReplayError(f"{bound.name}: the steps {', '.join(names)} are not possible")


def digest(claim: Claim) -> str:
    """Return the SHA-256, in hex, of the record and of the meaning of every specification that it checks."""
    meant = [
        FORM,
        [
            repr(getattr(claim, field.name))
            for field in dataclasses.fields(claim)
            if field.name not in ("checks", "by_construction")
        ],
    ]
    for check in claim.checks:
        if isinstance(check, Proof):
            bound = program_of(check)
            meant.append([str(check), meaning(bound), sorted(bound.constants.items())])
        elif isinstance(check, Check):
            bound = program_of(check)
            meant.append(
                [str(check), check.outcome, check.length, meaning(bound), sorted(bound.constants.items())]
            )
        else:
            meant.append([check.name, check.expectation, check.outcome])
    return hashlib.sha256(json.dumps(meant, default=str).encode()).hexdigest()


_MEANINGS: dict[type[Spec], str] = {}


def meaning(bound: Program) -> str:
    """Return the digest of the intermediate form of a specification, with the repairs and readings that are
    on.
    """
    if bound.text not in _MEANINGS:
        _MEANINGS[bound.text] = hashlib.sha256(dump(bound.module, prose=False).encode()).hexdigest()
    return _MEANINGS[bound.text]


# The whole text ---------------------------------------------------------------------------------------------

HEAD = """# Errata of the published protocols

What the ledger's checks refute, claim by claim: the document's own words, a shortest run that shows the failure, the repairs that mend it, and
how far the repaired text was explored. Made by `antiphon errata --write docs`; do not edit.

How to read it:

- **design** or **text** says what is at fault: the idea itself, or only the text as it is printed although the idea is clear. **Nobody** is where the question is ours.
- *stated*: the document says it; *implied*: it follows from what the document says; *our question*: the document leaves it open, and nobody is
  charged with it.
- *Rests on* names the evidence. *States*: a search found the run. *Witnesses only*: something that must be possible is not. *Measured runs*: figures
  counted on runs. *Text count* and *reading*: no run decides the sentence, and the printed text does.
- A run is shortest for the constants and the repairs that stand above it. Repairs of what is broken elsewhere in the text are among them, so that
  the run is not cut short by it. The property may be broken in another way as well; what is recorded to hold where it is mended stands
  under *Repaired, it holds*. `p0` is the first process, `m0` the first message; `Ack(p1, none, 1, p1)` is a packet for `p1`.
- *Repaired, it holds*, or *what holds* where nothing is repaired, within a bound: in all reachable states for these constants. It is evidence within the bound and no proof beyond it.
- *Proved for every n*: by induction, for every value from 1 of the constants that are named, with the invariants and under the axioms that are named ([proofs](proofs.md)).
- Every section ends with the command that runs its checks again and compares them with what is recorded."""


def text(sections: Iterable[Section]) -> str:
    """Return the whole document, ending in a newline."""
    listed = list(sections)
    parts = [HEAD, _overview(listed)]
    for document in dict.fromkeys(item.claim.source.document for item in listed):
        own = [item for item in listed if item.claim.source.document is document]
        parts.append(f"## {document.short}\n\n{document.long}.")
        parts += [f"{_mark(item.claim.id, item.digest)}\n\n{item.text}\n\n{_END}" for item in own]
    return "\n\n".join(parts) + "\n"


def sections_in(written: str) -> dict[str, tuple[str, str]]:
    """Return the digest and the text of every section of a generated document, by claim."""
    pattern = re.compile(
        r"<!-- claim ([A-Z]+-\d+) ([0-9a-f]{64}) -->\n\n(.*?)\n\n" + re.escape(_END), re.DOTALL
    )
    return {name: (found, body) for name, found, body in pattern.findall(written)}


def stale(claims: Iterable[Claim], written: str, pictures: Mapping[str, bool]) -> tuple[Claim, ...]:
    """Return the refuted claims whose section in `written` is missing or stale, or whose picture is missing.

    `pictures` returns True for each file name that exists in the folder of pictures.
    """
    have = sections_in(written)
    old = []
    for claim in refuted(claims):
        known = have.get(claim.id)
        if (
            known is None
            or known[0] != digest(claim)
            or (f"]({PICTURES}/{claim.id}.svg)" in known[1] and not pictures.get(f"{claim.id}.svg"))
        ):
            old.append(claim)
    return tuple(old)


_END = "<!-- end -->"


def _mark(identifier: str, found: str) -> str:
    return f"<!-- claim {identifier} {found} -->"


def _overview(listed: list[Section]) -> str:
    rows = ["| claim | what it says | at fault | rests on | demands |", "|---|---|---|---|---|"]
    for item in listed:
        claim = item.claim
        anchor = re.sub(r"[^\w\- ]", "", f"{claim.id}: {claim.claim}".lower()).strip().replace(" ", "-")
        basis = ", ".join(item.value for item in claim.rests_on)
        cells = (f"[{claim.id}](#{anchor})", _cell(claim.claim), _fault(claim), basis, _demanded(claim))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _fault(claim: Claim) -> str:
    return "nobody" if claim.standing is Standing.QUESTION else str(claim.defect)


def _demanded(claim: Claim) -> str:
    if claim.repairs:
        return ", ".join(f"`{name}`" for name in claim.repairs)
    return ", ".join(f"the reading `{name}`" for name in claim.readings) or "nothing that could be repaired"


# Parts of a section -----------------------------------------------------------------------------------------


def _quoted(claim: Claim) -> str:
    standing = "our question" if claim.standing is Standing.QUESTION else claim.standing.value
    return f"> {_line(claim.source.quotation)}\n\n{claim.source}; *{standing}*, {claim.kind.value}."


def _verdict(claim: Claim) -> str:
    if claim.standing is Standing.QUESTION:
        return f"**Violated; our question, with which nobody is charged.** {claim.because}"
    fault = "the design" if claim.defect == "design" else "the printed text"
    return f"**Violated: a defect of {fault}.** {claim.because}"


def _shown(result: ClaimResult) -> CheckResult | None:
    """Return the check whose run is drawn: the first one that is recorded as violated and has a run."""
    for item in result.results:
        if item.check.outcome == "violated" and item.verdict is not None and item.verdict.trace is not None:
            return item
    return None


def _counterexample(claim: Claim, item: CheckResult, command: Command) -> str:
    check, trace = item.check, item.verdict.trace if item.verdict is not None else None
    assert isinstance(check, Check)
    assert trace is not None
    steps = [
        f"{number:>3}  {compact_step(transition.step)}"
        for number, transition in enumerate(trace.transitions, 1)
    ]
    if trace.loop is not None:
        steps.append(
            f"     and so on for ever from step {trace.loop + 1}"
            if trace.loop < len(trace)
            else "     and nothing more, for ever"
        )
    count = f"{len(trace)} step{'' if len(trace) == 1 else 's'}"
    picture = f"![{claim.id}: {count}]({PICTURES}/{claim.id}.svg)"
    block = "\n".join(["```text", *steps, "```"])
    told = (
        f"`{check.property}` fails in {count} ({_variant(check)}; {_constants(check)}): "
        f"{_sentence(trace.why or item.found)}"
    )
    return f"{told}\n\n{picture}\n\n{block}\n\nAlone: `{command(check)}`"


def _unreached(result: ClaimResult) -> str:
    """Return the text that a section prints if there is no run: that a state is unreachable, or that the
    claim is a reading of the text.
    """
    never = [
        item for item in result.results if item.check.outcome == "unknown" and isinstance(item.check, Check)
    ]
    if never:
        check = never[0].check
        assert isinstance(check, Check)
        return f"No run reaches `{check.property}` ({_variant(check)}; {_constants(check)})."
    measured = [
        _sentence(item.found)
        for item in result.results
        if not isinstance(item.check, Check) and item.check.outcome == "violated"
    ]
    if measured:
        return "Found by running it: " + " ".join(measured)
    return (
        ""
        if result.results
        else "There is no run to show: the claim is about the text, and is judged by reading it."
    )


def _repairs(claim: Claim, result: ClaimResult) -> str:
    if not claim.repairs:
        return ""
    about: dict[str, Repair] = {}
    for spec in dict.fromkeys(check.spec for check in claim.checks if isinstance(check, Check)):
        about |= {
            constant.name: constant.repair
            for constant in program(spec).declaration.constants
            if constant.repair
        }
    lines = ["It demands:", ""]
    for name in claim.repairs:
        note = about.get(name)
        lines.append(f"- `{name}`: {note.about}." if note is not None else f"- `{name}`")
        for item in result.results:
            check = item.check
            if isinstance(check, Check) and check.without == (name,) and check.outcome == "violated":
                lines.append(
                    f"  Without it alone, `{check.property}` fails in {counted(item.length or 0, 'step')} "
                    f"({_constants(check)})."
                )
    return "\n".join(lines)


def _bounds(result: ClaimResult) -> str:
    lines = []
    for item in result.results:
        check = item.check
        if isinstance(check, Check) and check.outcome == "holds" and item.verdict is not None:
            if item.verdict.kind == "witness":
                lines.append(
                    f"- `{check.property}` is reached in {counted(item.length or 0, 'step')} ({_variant(check)}; "
                    f"{_constants(check)})"
                )
            else:
                extent = item.verdict.evidence.bound.rpartition("; ")[2]
                lines.append(f"- `{check.property}` ({_variant(check)}; {_constants(check)}): {extent}")
        elif isinstance(check, Proof):
            lines.append(f"- `{check.property}` ({_variant(check)}): {_line(item.found)}")
        elif not isinstance(check, Check) and check.outcome == "holds":
            lines.append(f"- measured: {item.found}")
    head = "Repaired, it holds:" if result.claim.repairs else "What holds:"
    return "\n".join([head, "", *dict.fromkeys(lines)]) if lines else ""


def _variant(check: Check | Proof) -> str:
    if check.repairs == "all":
        return "all repairs" + (
            f" but {', '.join(f'`{name}`' for name in check.without)}" if check.without else ""
        )
    chosen = [name for name in check.repairs if name not in check.without]
    return f"with {', '.join(f'`{name}`' for name in chosen)}" if chosen else "the literal text"


def _constants(check: Check) -> str:
    return ", ".join(settings(check.constants)) or "defaults"


def _without_places(reason: str) -> str:
    """Return a reason without its lines of source files, which change while the meaning stays."""
    return re.sub(r" ?\([^()\s]*\.py:\d+(?::\d+)?\)", "", reason)


def _sentence(reason: str) -> str:
    return _line(_without_places(reason)).rstrip(".") + "."


def _line(words: str) -> str:
    return " ".join(words.split())


def _cell(words: str) -> str:
    return _line(words).replace("|", "\\|")


__all__ = [
    "FORM",
    "HEAD",
    "PICTURES",
    "Section",
    "digest",
    "picture",
    "refuted",
    "section",
    "sections_in",
    "stale",
    "text",
]  # fmt: skip
