"""`antiphon stack`: checks whether a stack of Horus layers is well-formed, or finds the smallest stack that
yields a property.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.text import Text

from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.report.words import counted
from antiphon.model.verdict import Outcome
from antiphon.spec.composition import (
    EVIDENCE,
    Judgement,
    Layer,
    Level,
    Property,
    judge,
    ordered,
    parse_stack,
    property_of,
)

if TYPE_CHECKING:
    from antiphon.model.composition import Found

_SHOWN = 10
"""Number of the smallest stacks that the text names."""


def stack(
    layers: Annotated[
        str | None,
        typer.Argument(
            metavar="[STACK]",
            help="Layers from the top, for example TOTAL:MBRSHIP:FRAG:NAK:COM:ATM. Without: search.",
            show_default=False,
        ),
    ] = None,
    want: Annotated[
        list[str] | None,
        typer.Option(
            "--want",
            metavar="PROPERTY",
            help="A property wanted above the top, P1 to P16 or its name; may be repeated.",
        ),
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option(
            "--over",
            metavar="PROPERTY",
            help="What the network gives; may be repeated. Without: best effort delivery (P1).",
        ),
    ] = None,
    engine: Annotated[
        Literal["graph", "z3"],
        typer.Option(
            "--engine", help="What searches: the graph of property sets (exhaustive), or Z3 (up to a depth)."
        ),
    ] = "graph",
    most: Annotated[
        int, typer.Option("--max-layers", min=0, help="With z3: the most layers that are tried.")
    ] = 12,
    json: options.Json = False,
) -> int:
    """Check a stack of Horus layers, or find the smallest stack that yields wanted properties."""
    wanted = ordered({property_of(name) for name in want or ()})
    if layers is None and not wanted:
        raise output.UsageProblem(
            "name a stack, or what is wanted: antiphon stack TOTAL:MBRSHIP:FRAG:NAK:COM, antiphon stack "
            "--want P6"
        )
    given = frozenset(property_of(name) for name in over) if over else None
    if layers is not None:
        return _check(layers, wanted, given, json=json)
    start = given if given is not None else frozenset({Property.P1})
    from antiphon.model.composition import (
        smallest_by_z3,
        smallest_on_graph,
    )  # here, because loading Z3 takes longer than most commands

    found = (
        smallest_on_graph(wanted, start) if engine == "graph" else smallest_by_z3(wanted, start, depth=most)
    )
    return _print_found(found, wanted, start, engine, json=json)


def _check(text: str, wanted: tuple[Property, ...], given: frozenset[Property] | None, *, json: bool) -> int:
    """Check the stack of layers that was given, and print the result."""
    named, network = parse_stack(text)
    if network is not None and given is not None:
        raise output.UsageProblem(
            f"{text} names its network, and --over says what a network gives: leave one of them out"
        )
    start = network if network is not None else given if given is not None else frozenset({Property.P1})
    judgement = judge(named, start)
    lacking = [item for item in wanted if item not in judgement.properties]
    good = judgement.well_formed and not lacking
    outcome = Outcome.HOLDS if good else Outcome.VIOLATED
    reason = _reason(judgement, lacking)
    if json:
        return output.finish(
            documents.Stack(
                outcome=outcome, over=_names(start), want=_names(wanted), stack=_written(named),
                well_formed=judgement.well_formed,
                properties=_names(judgement.properties) if judgement.well_formed else [],
                levels=list(map(_level, judgement.levels)), engine="rule", smallest=[], size=None,
                reason=reason,
            )
        )  # fmt: skip
    _print_levels(judgement)
    if judgement.well_formed:
        output.out().print(
            "above it: " + ", ".join(f"{item.name} {item.value}" for item in ordered(judgement.properties)),
            soft_wrap=True,
        )
    output.last_line(outcome, reason)
    return outcome.exit_code


def _reason(judgement: Judgement, lacking: Iterable[Property]) -> str:
    faults = [
        f"{level.layer.name} lacks {', '.join(_names(level.missing))}"
        for level in judgement.levels
        if level.missing
    ]
    if faults:
        return f"not well-formed: {'; '.join(faults)}"
    missing = _names(lacking)
    return f"well-formed, but without {', '.join(missing)}" if missing else "well-formed"


def _print_found(
    found: Found, wanted: tuple[Property, ...], start: frozenset[Property], engine: str, *, json: bool
) -> int:
    """Print the stack that a search found, or that there is none."""
    written = [_written(layers) or "(no layer)" for layers in found.stacks]
    if json:
        return output.finish(
            documents.Stack(
                outcome=found.outcome, over=_names(start), want=_names(wanted), stack=None,
                well_formed=None, properties=[], levels=[], engine=engine, smallest=written, size=found.size,
                reason=found.reason,
            )
        )  # fmt: skip
    console = output.out()
    if found.stacks:
        _print_levels(judge(found.stacks[0], start))
        for name in written[:_SHOWN]:
            console.print(name, soft_wrap=True)
        if len(written) > _SHOWN:
            console.print(f"and {len(written) - _SHOWN} more")
    told = (
        f"{counted(found.size or 0, 'layer')}, {counted(len(written), 'such stack')}; "
        if found.stacks
        else ""
    )
    output.last_line(found.outcome, told + found.reason)
    return found.outcome.exit_code


def _print_levels(judgement: Judgement) -> None:
    """Print the layers of a stack, the top first."""
    table = output.table(
        ("layer", {"no_wrap": True}),
        "lacks",
        "adds",
        "masks",
        ("above it", {"ratio": 1}),
        ("entries confirmed", {"justify": "right"}),
    )
    for level in reversed(judgement.levels):
        shown = _level(level)
        row = [", ".join(names) for names in (shown.missing, shown.added, shown.masked, shown.above)]
        table.add_row(
            level.layer.name, Text(row[0], style="bold red"), *row[1:], str(len(shown.confirmed) or "")
        )
    output.out().print(table)


def _level(level: Level) -> documents.LevelDocument:
    return documents.LevelDocument(
        layer=level.layer.name,
        below=_names(level.below),
        missing=_names(level.missing),
        added=_names(level.above - level.below),
        masked=_names(level.masked),
        above=_names(level.above),
        confirmed=[
            f"{entry.role.value} {entry.property.name}"
            for entry in EVIDENCE
            if entry.layer == level.layer.name
        ],
    )


def _names(properties: Iterable[Property]) -> list[str]:
    return [item.name for item in ordered(properties)]


def _written(layers: Iterable[Layer]) -> str:
    return ":".join(layer.name for layer in layers)
