"""The JSON Schema of each kind of document that the commands write.

The schemas are made from the types that write and read the documents, so that they cannot say anything else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
import typer

import antiphon
from antiphon.conformance.cli import output, streams
from antiphon.spec.lang.hints import known_names

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def _report() -> Any:
    from antiphon.conformance.cli.documents import AnyDocument

    return AnyDocument


def _trace() -> Any:
    from antiphon.conformance.judge.trace.schema import Event, Header

    return Header, Event


def _itf() -> Any:
    from antiphon.model.export.itf import TraceFile

    return TraceFile


def _adapter() -> Any:
    from antiphon.conformance.adapters.messages import LINES

    return LINES


def _cluster() -> Any:
    from antiphon.conformance.run.cluster.result import Record

    return Record


def _schedule() -> Any:
    from antiphon.conformance.run.swarm.schedule import Schedule

    return Schedule


def _coverage() -> Any:
    from antiphon.conformance.coverage.document import CoverageFile

    return CoverageFile


def _system() -> Any:
    from antiphon.conformance.run.systems.result import SystemRecord

    return SystemRecord


def _member() -> Any:
    from antiphon.conformance.judge.trace.members import MemberEvent, MemberHeader

    return MemberHeader, MemberEvent


def _observation() -> Any:
    from antiphon.conformance.compare.validation.observations import ToldObservation

    return ToldObservation


def _strength() -> Any:
    from antiphon.conformance.ledger.strength.document import Section

    return dict[str, Section]


def _node() -> Any:
    from antiphon.conformance.cli.documents import NodeLine

    return NodeLine


def _members() -> Any:
    from antiphon.conformance.cli.documents import Members

    return Members


SCHEMAS: dict[str, tuple[str, Callable[[], Any]]] = {
    "report": ("what a command prints with --json", _report),
    "trace": ("one line of the log of a run: the header, or an event", _trace),
    "itf": ("a saved trace (*.itf.json), which `antiphon replay` runs again", _itf),
    "schedule": ("schedule.json: the faults and calls of a swarm's run that was kept", _schedule),
    "coverage": ("what runs have exercised, as --coverage writes it", _coverage),
    "cluster": ("cluster.json: the settings and the result of a run on real processes", _cluster),
    "system": ("system.json: the settings and the result of a run of another system's group", _system),
    "member": ("one line of the log of a member of a group that processes join", _member),
    "observation": ("one line of a log for `antiphon trace`, where no map reads it", _observation),
    "adapter": ("one line between antiphon and a program in any language, or between two of these", _adapter),
    "node": ("one line that `antiphon node --json` prints: an event of the group", _node),
    "members": ("what `antiphon members --json` prints", _members),
    "strength": ("docs/ledger-strength.json: the mutants of each family of claims", _strength),
}
"""The documents by name: what each is, and its type, which is loaded when it is asked for."""


def schema(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The kind of document.", show_default=False)
    ] = None,
) -> int:
    """Print the JSON Schema of a kind of document that the commands write; without a name, list the kinds."""
    if name is None:
        table = output.table("name", "document")
        for known, (about, _) in SCHEMAS.items():
            table.add_row(known, about)
        output.out().print(table)
        return 0
    if name not in SCHEMAS:
        raise output.UsageProblem(f"{name} is no kind of document; {known_names(name, SCHEMAS)}")
    text = msgspec.json.format(msgspec.json.encode(schema_of(name)), indent=2)
    streams.write_json(text.decode())
    return 0


def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a document of `SCHEMAS`; its `$id` ends with the version of
    antiphon.
    """
    about, load = SCHEMAS[name]
    kinds = load()
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    found, components = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    return {
        "$schema": DIALECT,
        "$id": f"urn:antiphon:{name}:{antiphon.__version__}",
        "title": about,
        **(found[0] if len(found) == 1 else {"anyOf": list(found)}),
        "$defs": components,
    }
