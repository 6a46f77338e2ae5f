"""`--json` prints one of these documents: schema `antiphon.report`, version 1, the command as its tag.

They hold the data that the text shows. `docs/command-line.md` explains them. A field may be added without a
new version; none is removed or changes its meaning within one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from antiphon.conformance.report import documents
from antiphon.conformance.report.documents import TraceDocument, trace_document
from antiphon.model.notation import compact
from antiphon.model.verdict import Outcome, Report

if TYPE_CHECKING:
    from antiphon.conformance.compare.lockstep import Difference
    from antiphon.model.explore import Counts


class Document(msgspec.Struct, kw_only=True, tag_field="command"):
    """The common part of all documents: schema, version of antiphon, outcome and exit code."""

    schema: Literal["antiphon.report"] = "antiphon.report"
    version: Literal[1] = 1
    antiphon: str = ""
    outcome: Outcome
    exit_code: int = 0

    def __post_init__(self) -> None:
        """Take the exit code of the outcome, unless another is set."""
        self.exit_code = self.exit_code or self.outcome.exit_code


class ActionCountDocument(msgspec.Struct, kw_only=True):
    """In how many states an action is possible, how many steps it takes in all, how many states it found
    first.
    """

    action: str
    states: int
    steps: int
    found: int


class VariableCountDocument(msgspec.Struct, kw_only=True):
    """The number of values of a variable, and its bits in a packed state."""

    variable: str
    values: int
    bits: int


class CountsDocument(msgspec.Struct, kw_only=True):
    """The counts of `--counts`, over so many states."""

    states: int
    complete: bool
    actions: list[ActionCountDocument]
    variables: list[VariableCountDocument]


class ReportDocument(documents.ReportDocument, kw_only=True):
    """A report, the command that makes it again, and what `--counts` counted."""

    reproduce: str
    counts: CountsDocument | None = None


class Check(Document, tag="check", kw_only=True):
    """`antiphon check`. `saved` is the file of `--save`, if a counterexample was saved."""

    reports: list[ReportDocument]
    saved: str | None = None


class Refine(Document, tag="refine", kw_only=True):
    """`antiphon refine`: a report a protocol, each with the one verdict `Refinement`."""

    reports: list[ReportDocument]
    saved: str | None = None


class Find(Document, tag="find", kw_only=True):
    """`antiphon find`: violated when no state is such. `state` are the parts of the state found that the
    expression names.
    """

    name: str
    specification: str
    digest: str
    constants: dict[str, int | bool | str]
    engine: str
    expression: str
    reason: str
    states: int
    transitions: int
    depth: int
    complete: bool
    seconds: float
    reproduce: str
    state: dict[str, str]
    trace: TraceDocument | None = None
    saved: str | None = None


class Simulate(Document, tag="simulate", kw_only=True):
    """`antiphon simulate`."""

    seed: int
    report: ReportDocument
    saved: str | None = None


class CheckDocument(msgspec.Struct, kw_only=True):
    """One check: what was expected, what came out, the shortest length of its trace, how to run it again."""

    what: str
    expected: Outcome
    outcome: Outcome
    found: str
    agrees: bool
    length: int | None
    reproduce: str


class ClaimDocument(msgspec.Struct, kw_only=True):
    """One record of the ledger and its checks. `left_out` counts deep checks that were not asked for;
    `rests_on` names the kinds of evidence.
    """

    id: str
    source: str
    quotation: str
    claim: str
    standing: str
    rests_on: list[str]
    kind: str
    verdict: Outcome
    because: str
    defect: str
    repairs: list[str]
    agrees: bool
    checks: list[CheckDocument]
    left_out: int = 0


class NeedDocument(msgspec.Struct, kw_only=True):
    """The need of one repair of a claim: the check that notices its absence (empty when none of the `tried`
    does; `left_out` are deep ones that were not asked) and the command that runs it.

    `covered`: the record says that nothing will.
    """

    claim: str
    repair: str
    noticed: str
    outcome: Outcome | None
    length: int | None
    tried: int
    left_out: int = 0
    covered: bool
    reproduce: str


class Claims(Document, tag="claims", kw_only=True):
    """`antiphon claims`; the outcome says whether what was found agrees with the record, not whether the
    claims are true.

    With `--minimal` there are `needs` and no claims; the outcome then says whether every repair is needed.
    With `--mutants` there are `mutants`, each a `FamilyStrength` of `ledger.strength.results`. With `--check`
    there are the families that are `stale`. The outcome then says whether every check can fail, or whether
    the document is up to date.
    """

    engine: str
    claims: list[ClaimDocument]
    needs: list[NeedDocument] = []
    mutants: list[dict[str, Any]] = []
    stale: list[str] = []


class Errata(Document, tag="errata", kw_only=True):
    """`antiphon errata`: the sections that were printed, the claims made anew by `--write`, those found stale
    by `--check`.

    `differing` are claims whose checks do not come out as recorded.
    """

    sections: list[str]
    made: list[str]
    stale: list[str]
    differing: list[str]


class RowDocument(msgspec.Struct, kw_only=True):
    """One row as data."""

    question: str
    outcome: Outcome
    found: str
    seconds: float
    command: str


class Gate(Document, tag="gate", kw_only=True):
    """`antiphon gate`."""

    directory: str
    rows: list[RowDocument]


class DifferenceDocument(msgspec.Struct, kw_only=True):
    """The difference of specification and implementation."""

    what: str
    specification: str
    implementation: str
    trace: TraceDocument


class Init(Document, tag="init", kw_only=True):
    """`antiphon init`."""

    directory: str
    files: list[str]


class Lockstep(Document, tag="lockstep", kw_only=True):
    """`antiphon lockstep`."""

    protocol: str
    constants: dict[str, int | bool | str]
    transitions: int
    states: int
    pairs: int
    compared: int
    executed: int
    repeated: int
    complete: bool
    seconds: float
    replayed: int
    seed: int
    exempt: dict[str, str]
    fired: dict[str, int]
    one_way: bool = False
    difference: DifferenceDocument | None = None
    saved: str | None = None


class Stateful(Document, tag="stateful", kw_only=True):
    """`antiphon stateful`."""

    protocol: str
    constants: dict[str, int | bool | str]
    seed: int
    runs: int
    steps: int
    seconds: float
    met: int = 0
    transitions: int | None = None
    stopped: str | None = None
    difference: DifferenceDocument | None = None
    saved: str | None = None


class FailedRun(msgspec.Struct, kw_only=True):
    """A run that does not hold, and why."""

    seed: int | None
    outcome: Outcome
    reasons: list[str]


class Swarm(Document, tag="swarm", kw_only=True):
    """`antiphon swarm`; `schedule` is of the first run that fails, made short; `kept` are directories.

    `messages` counts what was sent by kind, `actions` the steps that cores took of their own accord; `batch`
    is the batch of the lake, `runs_in_lake` how many runs it has with logs.
    """

    protocol: str
    seed: int | None
    runs: int
    failed: list[FailedRun]
    met: dict[str, int] = {}
    sent: int = 0
    lost: int = 0
    duplicated: int = 0
    reordered: int = 0
    delivered: int = 0
    messages: dict[str, int] = {}
    never_sent: list[str] = []
    actions: dict[str, int] = {}
    seconds: float = 0.0
    schedule: dict[str, Any] | None = None
    kept: list[str]
    batch: str | None = None
    runs_in_lake: int = 0


class Cluster(Document, tag="cluster", kw_only=True):
    """`antiphon cluster`; `record` is what cluster.json holds."""

    directory: str
    record: dict[str, Any]


class Ingest(Document, tag="ingest", kw_only=True):
    """`antiphon ingest`: what is new in the lake, and how many runs were there already."""

    lake: str
    runs: int
    lines: int
    events: int
    faults: int
    known: int
    seconds: float


class WatchedRun(msgspec.Struct, kw_only=True):
    """The state of a run that is watched; `found` are sentences."""

    run: str
    path: str
    standing: str
    outcome: Outcome
    events: int
    found: list[str]


class Watch(Document, tag="watch", kw_only=True):
    """`antiphon watch --once`: what was told last of every run; `tables` is where it stands."""

    path: str
    tables: str
    runs: list[WatchedRun]


class Verify(Document, tag="verify", kw_only=True):
    """`antiphon verify`; `report` has the schema `antiphon.verify`."""

    path: str
    report: dict[str, Any]


class LineDocument(msgspec.Struct, kw_only=True):
    """A line of a log: its place and its text."""

    at: str
    text: str


class ObstacleDocument(msgspec.Struct, kw_only=True):
    """The obstacle of a line: the action that it could be, why not, the place of the guard, the steps."""

    action: str
    why: str
    at: str
    steps: list[str]


class KeptBackDocument(msgspec.Struct, kw_only=True):
    """A line of a log that is not explained in a state, and why not."""

    at: str
    obstacles: list[ObstacleDocument]


class StuckDocument(msgspec.Struct, kw_only=True):
    """A state in which no line is explained; its form is that of `TraceDocument.states`."""

    state: dict[str, Any]
    lines: list[KeptBackDocument]


class FailedTrace(msgspec.Struct, kw_only=True):
    """The end of the longest explained prefix. `states` counts those that are possible there, `stuck` has
    the first of them.
    """

    explained: int
    states: int
    lines: list[LineDocument]
    stuck: list[StuckDocument]


class Trace(Document, tag="trace", kw_only=True):
    """`antiphon trace`. `lines` counts observations, `hidden` the steps of the explanation that no line tells
    of, `ways` the explanations, if all were counted; `broken` says in how many of them a property is false.
    """

    name: str
    constants: dict[str, int | bool | str]
    reason: str
    lines: int
    hidden: int
    ways: int | None
    broken: dict[str, int]
    nodes: int
    seconds: float
    reproduce: str
    trace: TraceDocument | None = None
    failure: FailedTrace | None = None
    saved: str | None = None


class ExercisedAction(msgspec.Struct, kw_only=True):
    """The transitions of one action, those that runs took, how often, and the way to a nearest one that none
    took.
    """

    action: str
    transitions: int
    prompt: int
    exercised: int
    times: int
    never: TraceDocument | None


class Coverage(Document, tag="coverage", kw_only=True):
    """`antiphon coverage`: `left` counts runs by where they left the model; `tables` has all transitions.
    `ingested` and `others` count the runs of the lake that were not read.
    """

    protocol: str
    constants: dict[str, int | bool | str]
    states: int
    transitions: int
    prompt: int
    complete: bool
    exercised: int
    times: int
    runs: int
    batches: int
    left: dict[str, int]
    outside: int
    beyond: int
    ingested: int
    others: int
    actions: list[ExercisedAction]
    tables: str
    saved: str | None = None


class Replay(Document, tag="replay", kw_only=True):
    """`antiphon replay`."""

    file: str
    on: Literal["specification", "implementation"]
    reason: str
    trace: TraceDocument
    difference: DifferenceDocument | None = None
    written: str | None = None


class Show(Document, tag="show", kw_only=True):
    """`antiphon show`."""

    file: str
    trace: TraceDocument
    written: str | None = None


class ShowRun(Document, tag="show-run", kw_only=True):
    """`antiphon show` of the logs of a run: what was found of each property, and what is wrong with them."""

    directory: str
    processes: int
    events: int
    findings: list[dict[str, Any]]
    damage: list[str]
    hints: list[str]
    written: str | None = None


class ReasonDocument(msgspec.Struct, kw_only=True):
    """A guard that is false, where it stands, and the steps that fail at it."""

    guard: str
    at: str
    steps: list[str]


class FailureDocument(msgspec.Struct, kw_only=True):
    """A part of a predicate that decides it: its text and its truth value, where it stands, for which names,
    the values it compares.
    """

    text: str
    value: bool
    at: str
    names: dict[str, str]
    sides: dict[str, str]


class Explain(Document, tag="explain", kw_only=True):
    """`antiphon explain`; about an action, or (`predicate`) about what makes a predicate false."""

    file: str
    step: int
    when: Literal["before", "after"]
    action: str
    enabled: list[str]
    disabled: list[ReasonDocument]
    predicate: str | None = None
    failures: list[FailureDocument] = []


class Error(msgspec.Struct, kw_only=True, tag_field="command", tag="error"):
    """The document in place of an answer: wrong usage, our own failure, an interruption."""

    schema: Literal["antiphon.report"] = "antiphon.report"
    version: Literal[1] = 1
    antiphon: str = ""
    kind: Literal["usage", "failure", "interrupted"]
    message: str
    exit_code: int


AnyDocument = (
    Check
    | Find
    | Refine
    | Claims
    | Errata
    | Gate
    | Simulate
    | Init
    | Lockstep
    | Stateful
    | Swarm
    | Cluster
    | Ingest
    | Verify
    | Trace
    | Watch
    | Replay
    | Show
    | ShowRun
    | Explain
    | Error
)
"""Every document that this module knows, for decoders."""


def report_document(
    name: str, report: Report, reproduce: str, counts: Counts | None = None
) -> ReportDocument:
    """A report as a document of the command line."""
    told = documents.report_document(name, report)
    counted = None if counts is None else msgspec.convert(counts, CountsDocument, from_attributes=True)
    parts = {field: getattr(told, field) for field in told.__struct_fields__}
    return ReportDocument(**parts, reproduce=reproduce, counts=counted)


def difference_document(difference: Difference | None) -> DifferenceDocument | None:
    """A difference as a document, None for none."""
    if difference is None:
        return None
    return DifferenceDocument(
        what=difference.what,
        specification=compact(difference.specification),
        implementation=compact(difference.implementation),
        trace=trace_document(difference.trace),
    )
