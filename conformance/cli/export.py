"""`antiphon export` writes a specification for another tool; `antiphon check-exports` runs SPIN on exported
models and compares.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

import antiphon
from antiphon.conformance import exports
from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.cli.options import Variant
from antiphon.model import export as write
from antiphon.model.verdict import Outcome
from antiphon.programs import specification as specification_named
from antiphon.spec.catalogue import names
from antiphon.spec.lang import Program, SpecError


class Target(Enum):
    """Target format of an export."""

    PROMELA = "promela"
    TLA = "tla"
    GRAPHML = "graphml"
    DOT = "dot"


def export(
    specification: options.Specification,
    to: Annotated[Target, typer.Option("--to", help="A model for SPIN or TLC, or the state graph.")],
    file: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="FILE",
            help="Write to FILE (of TLA+ the .cfg beside it); else to standard output.",
            callback=options.writable,
        ),
    ] = None,
    most: Annotated[int, options.MAX_STATES] = write.MOST_STATES,
    *,
    variant: Variant,
    json: options.Json = False,
) -> int:
    """Write a specification as a model for SPIN or TLC, or its state graph."""
    texts = _texts(variant.program(specification), to, file, most)
    if file is None:
        whole = "\n".join(texts.values())
        if json:
            return output.finish(documents.Export(outcome=Outcome.HOLDS, to=to.value, written=[], text=whole))
        sys.stdout.write(whole)
        return 0
    tried = [output.write_text("--output", path, text) for path, text in texts.items()]
    written = [name for name in tried if name is not None]
    if json:
        return output.finish(documents.Export(outcome=Outcome.HOLDS, to=to.value, written=written))
    output.out().print(f"written: {', '.join(written) or 'nothing'}", soft_wrap=True)
    return 0


def _texts(bound: Program, to: Target, file: Path | None, most: int) -> dict[Path, str]:
    """Return the texts of the export, by the files to which they are written."""
    if to is Target.TLA:
        if file is not None and file.suffix == ".cfg":
            wanted = file.with_suffix(".tla")
            raise output.UsageProblem(f"--output {file}: TLC's configuration has this name; name {wanted}")
        module = write.tla(bound, name=file.stem if file is not None else None)
        path = file or Path(f"{module.name}.tla")
        return {path: module.text, path.with_suffix(".cfg"): module.configuration}
    makers: dict[Target, Callable[[], str]] = {
        Target.PROMELA: lambda: write.promela(bound).text,
        Target.GRAPHML: lambda: write.graphml(antiphon.state_graph(bound, max_states=most)),
        Target.DOT: lambda: write.dot(antiphon.state_graph(bound, max_states=most)),
    }
    return {file or Path("standard output"): makers[to]()}


def check_exports(
    specifications: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SPEC]...", help="Names as for `check`. Without: all that have one."),
    ] = None,
    most: Annotated[int, options.MAX_STATES] = 60_000,
    json: options.Json = False,
) -> int:
    """Compare our native engine with SPIN, on exported models of all specifications at small constants."""
    try:
        exports.find_tools()
    except exports.ToolMissing as error:
        raise output.UsageProblem(str(error)) from error
    entries = [(name, specification_named(name)) for name in specifications or names()]
    found = []
    for model in exports.small_models(entries):
        try:
            found.append(exports.compare(model, most_states=most))
        except SpecError as error:
            found.append(
                exports.Comparison(
                    model, 0, 0, frozenset(), None, Outcome.UNKNOWN, f"not exportable: {error.reason}"
                )
            )
        except exports.SpinFailure as error:
            found.append(exports.Comparison(model, 0, 0, frozenset(), None, Outcome.UNKNOWN, error.shown()))
        if not json and output.err().is_terminal:
            output.err().print(
                f"{len(found)}: {model.name}, {found[-1].outcome.value} {found[-1].difference}",
                style="bright_black",
            )
    outcome = Outcome.worst([one.outcome for one in found])
    if json:
        return output.finish(documents.CheckExports(outcome=outcome, comparisons=list(map(_document, found))))
    output.out().print(_table(found))
    agreed = sum(one.outcome is Outcome.HOLDS for one in found)
    output.last_line(
        outcome,
        f"{agreed} of {len(found)} models: SPIN counts the same states and transitions and finds the same "
        "properties broken",
    )
    return outcome.exit_code


def _document(one: exports.Comparison) -> documents.ComparisonDocument:
    spin = one.spin
    return documents.ComparisonDocument(
        name=one.model.name,
        constants=one.model.program.constants,
        outcome=one.outcome,
        states=one.states,
        transitions=one.transitions,
        broken=sorted(one.broken),
        spin_states=None if spin is None else spin.states,
        spin_transitions=None if spin is None else spin.transitions,
        spin_broken=None if spin is None else sorted(spin.broken),
        difference=one.difference,
    )


def _table(found: list[exports.Comparison]) -> Table:
    right, wide = {"justify": "right", "no_wrap": True}, {"ratio": 1}
    table = output.table(
        ("specification", wide),
        ("states", right),
        ("transitions", right),
        "broken",
        ("SPIN", {"no_wrap": True}),
        ("", wide),
    )
    for one in found:
        name = Text.assemble((one.model.name, "bold"), f"  {one.model.constants}")
        broken = Text(", ".join(sorted(one.broken)) or "none")
        sign = {Outcome.HOLDS: "the same", Outcome.VIOLATED: "differs", Outcome.UNKNOWN: "unknown"}[
            one.outcome
        ]
        style = {Outcome.HOLDS: "green", Outcome.VIOLATED: "bold red", Outcome.UNKNOWN: "yellow"}[one.outcome]
        table.add_row(
            name,
            f"{one.states:,}",
            f"{one.transitions:,}",
            broken,
            Text(sign, style=style),
            Text(one.difference),
        )
    return table
