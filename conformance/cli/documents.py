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
    """Common part of all documents: schema, version of antiphon, outcome and exit code."""

    schema: Literal["antiphon.report"] = "antiphon.report"
    version: Literal[1] = 1
    antiphon: str = ""
    outcome: Outcome
    exit_code: int = 0

    def __post_init__(self) -> None:
        """Set the exit code to that of the outcome, unless it was given."""
        self.exit_code = self.exit_code or self.outcome.exit_code


class ActionCountDocument(msgspec.Struct, kw_only=True):
    """Counts of an action: in how many states it is enabled, how many steps it takes in all, how many states
    it found first.
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
    """Counts of `--counts` for each action and each variable; `states` is the number of states counted."""

    states: int
    complete: bool
    actions: list[ActionCountDocument]
    variables: list[VariableCountDocument]


class ReportDocument(documents.ReportDocument, kw_only=True):
    """Report, with the command that repeats it, and the counts of `--counts`."""

    reproduce: str
    counts: CountsDocument | None = None


class Check(Document, tag="check", kw_only=True):
    """Document of `antiphon check`. `saved` is the file of `--save`, or None if no counterexample was
    saved.
    """

    reports: list[ReportDocument]
    saved: str | None = None


class Refine(Document, tag="refine", kw_only=True):
    """Document of `antiphon refine`: a report for each protocol, each with one verdict, named
    `Refinement`.
    """

    reports: list[ReportDocument]
    saved: str | None = None


class Find(Document, tag="find", kw_only=True):
    """Document of `antiphon find`: violated when the expression is true in no reachable state. `state` are
    the parts of the found state that the expression names.
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
    """Document of `antiphon simulate`."""

    seed: int
    report: ReportDocument
    saved: str | None = None


class CheckDocument(msgspec.Struct, kw_only=True):
    """Result of one check: the expected and the actual outcome, the shortest length of its trace, the command
    that repeats it.
    """

    what: str
    expected: Outcome
    outcome: Outcome
    found: str
    agrees: bool
    length: int | None
    reproduce: str


class ClaimDocument(msgspec.Struct, kw_only=True):
    """One record of the ledger and its checks. `left_out` counts deep checks that were not requested;
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
    """The need of one repair of a claim: the check that fails without it, and the command that runs this
    check. The check is empty when none of the `tried` checks fails; `left_out` counts deep checks that were
    not requested.

    `covered`: the record says that no check fails without the repair, since another repair covers it.
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
    """Document of `antiphon claims`; the outcome says whether the results agree with the record, not whether
    the claims are true.

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
    """Document of `antiphon errata`: the sections that were printed, the claims whose sections `--write`
    generated again, those found stale by `--check`.

    `differing` are claims whose checks do not come out as recorded.
    """

    sections: list[str]
    made: list[str]
    stale: list[str]
    differing: list[str]


class RowDocument(msgspec.Struct, kw_only=True):
    """Row of the table of `antiphon gate`."""

    question: str
    outcome: Outcome
    found: str
    seconds: float
    command: str


class Gate(Document, tag="gate", kw_only=True):
    """Document of `antiphon gate`."""

    directory: str
    rows: list[RowDocument]


class DifferenceDocument(msgspec.Struct, kw_only=True):
    """The difference of specification and implementation."""

    what: str
    specification: str
    implementation: str
    trace: TraceDocument


class CaseDocument(msgspec.Struct, kw_only=True):
    """Case of the protocol of adapters: what a right program does, and what was wrong; `outcome` is null
    where it was not asked, for the reason in `found`.
    """

    name: str
    says: str
    outcome: Outcome | None
    found: str
    dialogue: list[str]


class AdapterCheck(Document, tag="adapter-check", kw_only=True):
    """Document of `antiphon adapter check`."""

    program: list[str]
    cases: list[CaseDocument]
    seconds: float
    reproduce: str


class AdapterRun(Document, tag="adapter-run", kw_only=True):
    """Document of `antiphon adapter run`.

    `happened` counts faults that had an effect, by kind. `judgements` are the findings of the judge of logs
    about the run that is shown, the first of the worst outcome; `schedule` is its schedule, `kept` has its
    directory last. `deterministic`: all runs were in virtual time.
    """

    program: list[str]
    seed: int
    runs: int
    processes: int
    messages: int
    promise: list[str]
    happened: dict[str, int]
    datagrams: int
    delivered: int
    declined: int
    deterministic: bool
    reasons: list[str]
    judgements: list[dict[str, Any]]
    schedule: dict[str, Any] | None
    kept: list[str]
    seconds: float
    reproduce: str


class Init(Document, tag="init", kw_only=True):
    """Document of `antiphon init`."""

    directory: str
    files: list[str]


class Lockstep(Document, tag="lockstep", kw_only=True):
    """Document of `antiphon lockstep`."""

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
    """Document of `antiphon stateful`."""

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
    """Run that does not hold, with the reason."""

    seed: int | None
    outcome: Outcome
    reasons: list[str]


class Swarm(Document, tag="swarm", kw_only=True):
    """Document of `antiphon swarm`; `untaken` is how many runs were asked for and not taken; `schedule` is
    that of the first failing run, shortened; `kept` are directories, `traces` the files of `--save`.

    `messages` counts messages by kind, `actions` the internal steps of cores; `batch` is the batch of the
    lake, `runs_in_lake` how many runs it has with logs.
    """

    protocol: str
    seed: int | None
    runs: int
    untaken: int = 0
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
    traces: list[str] = []
    batch: str | None = None
    runs_in_lake: int = 0


class Cluster(Document, tag="cluster", kw_only=True):
    """Document of `antiphon cluster`; `record` is the content of cluster.json."""

    directory: str
    record: dict[str, Any]


class Ingest(Document, tag="ingest", kw_only=True):
    """Document of `antiphon ingest`: the runs that are new in the lake, and how many were there already."""

    lake: str
    runs: int
    lines: int
    events: int
    faults: int
    known: int
    seconds: float


class WatchedRun(msgspec.Struct, kw_only=True):
    """State of a watched run; `found` are sentences."""

    run: str
    path: str
    standing: str
    outcome: Outcome
    events: int
    found: list[str]


class Watch(Document, tag="watch", kw_only=True):
    """Document of `antiphon watch --once`: the last report about every run; `tables` is the place of the
    tables.
    """

    path: str
    tables: str
    runs: list[WatchedRun]


class Verify(Document, tag="verify", kw_only=True):
    """Document of `antiphon verify`; `report` has the schema `antiphon.verify`."""

    path: str
    report: dict[str, Any]


class LineDocument(msgspec.Struct, kw_only=True):
    """A line of a log: its place and its text."""

    at: str
    text: str


class ObstacleDocument(msgspec.Struct, kw_only=True):
    """Obstacle to the explanation of a line: the action that it could be, the reason against it, the place of
    the guard, the steps.
    """

    action: str
    why: str
    at: str
    steps: list[str]


class KeptBackDocument(msgspec.Struct, kw_only=True):
    """Line of a log that is not explained in a state, with the reason."""

    at: str
    obstacles: list[ObstacleDocument]


class StuckDocument(msgspec.Struct, kw_only=True):
    """A state in which no line is explained; its form is that of `TraceDocument.states`."""

    state: dict[str, Any]
    lines: list[KeptBackDocument]


class FailedTrace(msgspec.Struct, kw_only=True):
    """End of the longest explained prefix. `states` counts the possible states there, `stuck` has the first
    of them.
    """

    explained: int
    states: int
    lines: list[LineDocument]
    stuck: list[StuckDocument]


class Trace(Document, tag="trace", kw_only=True):
    """Document of `antiphon trace`. `lines` counts observations, `hidden` the steps of the explanation
    without a line, `ways` the explanations, if all were counted; `broken` says in how many of them a property
    is false.
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
    """Counts of one action: its transitions, those that runs took, how often, and the way to a nearest one
    that none took.
    """

    action: str
    transitions: int
    prompt: int
    exercised: int
    times: int
    never: TraceDocument | None


class Coverage(Document, tag="coverage", kw_only=True):
    """Document of `antiphon coverage`: `left` counts runs by where they left the model; `tables` has all
    transitions. `ingested` and `others` count the runs of the lake that were not read.
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


class MethodCoverage(msgspec.Struct, kw_only=True):
    """Counts of what one method has exercised; `transitions` is None if they were not counted. `handlers` are
    those of a program behind an adapter, by name.
    """

    method: str
    constants: dict[str, int | bool | str]
    specification: str = ""
    runs: int
    branches: int
    classes: int
    handlers: list[str] = []
    transitions: int | None


class BranchDocument(msgspec.Struct, kw_only=True):
    """Branch of the code that no run has taken."""

    file: str
    line: int
    function: str
    case: str


class NeverExercised(msgspec.Struct, kw_only=True):
    """Action of a model of which no run has taken some transition: how many there are (None: not known), how
    many some run has taken, and a path to a nearest one that none has.
    """

    constants: dict[str, int | bool | str]
    action: str
    transitions: int | None
    exercised: int
    never: TraceDocument | None = None


class CoverageOfRuns(Document, tag="coverage-of-runs", kw_only=True):
    """Document of `antiphon coverage` with files of `--coverage`; `branches` are all branches of the code."""

    protocol: str
    methods: list[MethodCoverage]
    branches: int
    never_taken: list[BranchDocument]
    never_exercised: list[NeverExercised]
    saved: str | None = None


class Replay(Document, tag="replay", kw_only=True):
    """Document of `antiphon replay`. `failure` says why a trace of another tool is none of the specification;
    then there is no `trace`.
    """

    file: str
    on: Literal["specification", "implementation"]
    reason: str
    trace: TraceDocument | None
    difference: DifferenceDocument | None = None
    failure: FailedTrace | None = None
    written: str | None = None


class Show(Document, tag="show", kw_only=True):
    """Document of `antiphon show`."""

    file: str
    trace: TraceDocument
    written: str | None = None


class ShowRun(Document, tag="show-run", kw_only=True):
    """Document of `antiphon show` for the logs of a run: the finding for each property, and the faults of the
    logs.
    """

    directory: str
    processes: int
    events: int
    findings: list[dict[str, Any]]
    damage: list[str]
    hints: list[str]
    written: str | None = None


class ReasonDocument(msgspec.Struct, kw_only=True):
    """A guard that is false, its place, and the steps that it disables."""

    guard: str
    at: str
    steps: list[str]


class FailureDocument(msgspec.Struct, kw_only=True):
    """Part of a predicate that decides it: its text and its truth value, its place, the values of its names,
    the compared values.
    """

    text: str
    value: bool
    at: str
    names: dict[str, str]
    sides: dict[str, str]


class Explain(Document, tag="explain", kw_only=True):
    """Document of `antiphon explain`; about an action, or (`predicate`) about the reason why a predicate is
    false.
    """

    file: str
    step: int
    when: Literal["before", "after"]
    action: str
    enabled: list[str]
    disabled: list[ReasonDocument]
    predicate: str | None = None
    failures: list[FailureDocument] = []


class Export(Document, tag="export", kw_only=True):
    """Document of `antiphon export`: the written files, or the text without a file."""

    to: str
    written: list[str]
    text: str | None = None


class ComparisonDocument(msgspec.Struct, kw_only=True):
    """The answers of both checkers about a model; SPIN's numbers are null where it did not run."""

    name: str
    constants: dict[str, int | bool | str]
    outcome: Outcome
    states: int
    transitions: int
    broken: list[str]
    spin_states: int | None
    spin_transitions: int | None
    spin_broken: list[str] | None
    difference: str


class CheckExports(Document, tag="check-exports", kw_only=True):
    """Document of `antiphon check-exports`."""

    comparisons: list[ComparisonDocument]


class LevelDocument(msgspec.Struct, kw_only=True):
    """Layer of a stack, with the properties below and above it, and those that it lacks, adds and masks, as
    `P1`. `confirmed` are the entries of its row in the table of layers that models of the layers confirm.
    """

    layer: str
    below: list[str]
    missing: list[str]
    added: list[str]
    masked: list[str]
    above: list[str]
    confirmed: list[str]


class Stack(Document, tag="stack", kw_only=True):
    """Document of `antiphon stack`. Of a given stack: `well_formed`, and `levels` from the bottom up. Of a
    search: `smallest`, the smallest stacks found, each written from the top down.
    """

    over: list[str]
    want: list[str]
    stack: str | None
    well_formed: bool | None
    properties: list[str]
    levels: list[LevelDocument]
    engine: str
    smallest: list[str]
    size: int | None
    reason: str


class Error(msgspec.Struct, kw_only=True, tag_field="command", tag="error"):
    """Document of an error, in place of an answer: wrong usage, our own failure, an interruption."""

    schema: Literal["antiphon.report"] = "antiphon.report"
    version: Literal[1] = 1
    antiphon: str = ""
    kind: Literal["usage", "failure", "interrupted"]
    message: str
    exit_code: int


class MemberDocument(msgspec.Struct, kw_only=True):
    """A member of a group that processes join; `incarnation` names one run of its process, in hexadecimal."""

    name: str
    host: str
    port: int
    incarnation: str


class StandingDocument(MemberDocument, kw_only=True):
    """A member as another member sees it."""

    state: Literal["given up", "suspected", "orders messages", "listens"]


class Members(msgspec.Struct, kw_only=True):
    """The answer of `antiphon members`: a group as the process of incarnation `me` sees it. View 0: the
    process is no member yet.

    `reached` counts the members that the process reaches, with itself; `delivered` is the number of the last
    message that it has delivered; `untaken` counts the events that its application has not taken.
    """

    group: str
    me: str
    view: int
    members: list[StandingDocument]
    reached: int
    delivered: int
    untaken: int


class _NodeEvent(msgspec.Struct, kw_only=True, tag_field="event"):
    """The common part of the lines of `antiphon node --json`."""


class DeliveryLine(_NodeEvent, tag="delivery", kw_only=True):
    """A delivered message. `source` is its sender: an index in `--members`, or a member if processes join.

    A payload that is no UTF-8 text stands in `payload_base64`.
    """

    source: int | MemberDocument
    id: int
    number: int
    payload: str | msgspec.UnsetType = msgspec.UNSET
    payload_base64: str | msgspec.UnsetType = msgspec.UNSET


class ViewLine(_NodeEvent, tag="view", kw_only=True):
    """A view: its members from this event on, and which of them have joined, which left and which failed
    before it.
    """

    number: int
    members: list[MemberDocument]
    joined: list[MemberDocument]
    left: list[MemberDocument]
    failed: list[MemberDocument]


class BlockedLine(_NodeEvent, tag="blocked", kw_only=True):
    """The member reaches only `have` members of the majority of `needs`: it delivers nothing until it reaches
    more.
    """

    have: int
    needs: int


class UnblockedLine(_NodeEvent, tag="unblocked", kw_only=True):
    """The member reaches a majority again."""

    have: int


NodeLine = DeliveryLine | ViewLine | BlockedLine | UnblockedLine
"""Every line that `antiphon node --json` prints."""

AnyDocument = (
    AdapterCheck
    | AdapterRun
    | Check
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
    | Coverage
    | CoverageOfRuns
    | Replay
    | Show
    | ShowRun
    | Explain
    | Export
    | CheckExports
    | Stack
    | Error
)
"""Every document that this module knows, for decoders."""


def report_document(
    name: str, report: Report, reproduce: str, counts: Counts | None = None
) -> ReportDocument:
    """Return a report as a document of the command line."""
    told = documents.report_document(name, report)
    counted = None if counts is None else msgspec.convert(counts, CountsDocument, from_attributes=True)
    parts = {field: getattr(told, field) for field in told.__struct_fields__}
    return ReportDocument(**parts, reproduce=reproduce, counts=counted)


def difference_document(difference: Difference | None) -> DifferenceDocument | None:
    """Return a difference as a document, None for none."""
    if difference is None:
        return None
    return DifferenceDocument(
        what=difference.what,
        specification=compact(difference.specification),
        implementation=compact(difference.implementation),
        trace=trace_document(difference.trace),
    )
