"""The exported TLA+ module is the text that TLC has run: golden files, whose counts by TLC stand in
docs/exports.md, and what is refused.

TLC is not needed here, and not run here. A golden file that changes must be run again by hand before its
counts are believed.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Annotated

import pytest
from tests.ground.small_specs import Logs
from tests.lang.random_specs import ABSTRACT, program_of

from antiphon.model.explore import check
from antiphon.model.export import tla
from antiphon.model.verdict import Outcome
from antiphon.spec import catalogue
from antiphon.spec.examples.bcast_byz import BcastByz
from antiphon.spec.examples.causal_broadcast import CausalBroadcast
from antiphon.spec.examples.chameneos import Chameneos
from antiphon.spec.examples.chang_roberts import ChangRoberts
from antiphon.spec.examples.die_hard import DieHard
from antiphon.spec.examples.dining_philosophers import DiningPhilosophers
from antiphon.spec.examples.ewd840 import EWD840
from antiphon.spec.examples.nbacg_guer01 import NbacgGuer01
from antiphon.spec.examples.raft import Raft
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import (
    AtMost,
    Between,
    Const,
    In,
    Index,
    Map,
    Seq,
    Set,
    Spec,
    SpecError,
    action,
    emit,
    everywhere,
    expect,
    initial,
    invariant,
    ir,
    leads_to,
    on,
    program,
    record,
    require,
)
from antiphon.spec.lang.walk import nodes
from antiphon.spec.protocols.token_broadcast.properties import Figure5Checked

GOLDEN = Path(__file__).parent / "golden"

Weight = Annotated[int, Between(-2, 2)]


class Node(Index, size="nodes", ordered=True):
    """A node."""


class Mood(Enum):
    """Mood of a node."""

    GOOD, BAD = range(2)


@record
class Note:
    """A note to a node."""

    to: Node
    weight: Weight


@record
class Bell:
    """Event of the bell."""


@record
class Rung:
    """A call of one node."""

    node: Node


class Corners(Spec):
    """Specification of the remaining forms to translate: everything that the examples do not use."""

    nodes: Const[int] = 2

    level: Weight = 0
    mood: Mood = Mood.GOOD
    last: Note | Bell | None = None
    notes: Set[Note] = Set()
    others: Set[Note] = Set()
    queue: Annotated[Seq[Node], AtMost("nodes")] = ()
    counts: Map[Node, Annotated[int, Between(0, 2)]] = everywhere(0)

    def heaviest(self) -> int:
        """The greatest weight of a note."""
        return max((note.weight for note in self.notes), default=0)

    def total(self) -> int:
        """The sum over all nodes."""
        return sum(self.counts[p] for p in self.each(Node)) + sum(1 for p in self.queue if p.index > 0)

    def quiet(self) -> bool:
        """Nothing waits."""
        return len(self.queue) == 0

    def first_idle(self) -> Node | None:
        """The first node that is not in the queue."""
        return next((p for p in self.each(Node) if p not in self.queue), None)

    def shift(self, by: Weight) -> None:
        """The level moves, if it can."""
        if self.level + by > 2 or self.level + by < -2:
            self.mood = Mood.BAD
            return
        self.level += by

    @initial
    def begin(self, p: Node) -> None:
        """One node is counted."""
        self.counts[p] = 1

    @action
    def write(self, p: Node) -> None:
        """A note, if there is room."""
        require(len(self.notes | self.others) < 2)
        if p.index > 0:
            self.notes |= {Note(p, self.level)}
        else:
            self.others |= {Note(p, -1)}
        self.last = Note(p, self.level)

    @action
    def exchange(self) -> None:
        """Both sets change places, but for what they share."""
        require(self.notes != self.others and not self.notes < self.others)
        both = self.notes ^ self.others
        self.others = both & self.others
        self.notes = {note for note in both if note in self.notes} - {
            Note(q, w) for q in self.each(Node) for w in self.each(Weight) if w > 1
        }

    @action(fairness="weak")
    def read(self, note: Annotated[Note, In("notes")]) -> None:
        """A note is read; whom it is for is called."""
        self.notes -= {note}
        self.shift(note.weight // 2 + (self.level - 1) % 3 - 1)
        idle = self.first_idle()
        if idle is None:
            self.last = Bell()
            return
        self.queue += (idle,)
        emit(Rung(idle))

    @action(fairness="weak")
    def serve(self) -> None:
        """The first of the queue."""
        require(len(self.queue) > 0)
        first = self.queue[0]
        for p in self.queue:
            if p != first and self.counts[p] > 0:
                self.counts[p] -= 1
        for note in self.others:
            if note.to == first:
                self.others -= {note}
        self.queue = self.queue[1:]
        if self.last is not None and isinstance(self.last, Note):
            self.level = min((note.weight for note in self.notes), default=self.last.weight)

    @on(Rung)
    def count(self, event: Rung) -> None:
        """Calls are counted up to two."""
        expect(self.counts[event.node] < 3, "NeverThree")
        if self.counts[event.node] < 2:
            self.counts[event.node] += 1

    @invariant
    def Bounded(self) -> bool:
        """Sums, maxima and all that."""
        return (
            self.total() <= 2 * self.nodes + len(self.queue)
            and self.heaviest() <= 2
            and self.notes <= (self.notes | self.others)
        )

    Served = leads_to("busy", "quiet")

    def busy(self) -> bool:
        """Somebody waits."""
        return not self.quiet()


Small = Annotated[int, Between(0, 3)]


class Guarded(Spec):
    """Guards whose parts protect one another from what has no value."""

    size: Const[int] = 0
    count: Annotated[int, Between(0, 3)] = 0
    queue: Annotated[Seq[Small], AtMost(2)] = ()

    def fits(self, n: Small) -> bool:
        return self.size == 0 or n % self.size == 0

    @action
    def raise_count(self) -> None:
        """A disjunction."""
        require(self.count < 3)
        require(self.size == 0 or self.count % self.size == 0)
        self.count += 1

    @action
    def put(self) -> None:
        """A helper that is one, beside another condition."""
        require(len(self.queue) < 2 and self.fits(self.count))
        self.queue = self.queue + (self.count,)  # noqa: RUF005

    @action
    def take(self) -> None:
        """A conditional and a quantifier."""
        require(self.queue[0] == self.count if len(self.queue) > 0 else False)
        require(self.size == 0 or any(n % self.size == self.count for n in self.queue))
        self.queue = self.queue[1:]


CASES = {
    "DieHard": program(DieHard),
    "TwoPhase": program(TwoPhase),
    "EWD840": program(EWD840),
    "ChangRoberts": program(ChangRoberts),
    "DiningPhilosophers": program(DiningPhilosophers),
    "Chameneos": program(Chameneos),
    "BcastByz": program(BcastByz),
    "NbacgGuer01": program(NbacgGuer01),
    "CausalBroadcast": program(CausalBroadcast),
    "Raft": program(Raft, terms=1),
    "Corners": program(Corners),
    "Guarded": program(Guarded),
    "Logs": program(Logs),
    "Figure5Checked": program(Figure5Checked, repairs="all", processes=2, messages=1),
}


@pytest.mark.parametrize("name", CASES)
def test_the_module_is_the_text_that_tlc_has_run(name: str, request: pytest.FixtureRequest) -> None:
    module = tla(CASES[name])
    for suffix, text in ((".tla", module.text), (".cfg", module.configuration)):
        file = GOLDEN / f"{name}{suffix}"
        if request.config.getoption("--rewrite"):
            file.write_text(text, encoding="utf-8")
        assert file.read_text(encoding="utf-8") == text
    assert module.name == name


def test_the_corners_have_the_states_and_verdicts_that_tlc_found() -> None:
    """TLC generated 989 states, the two initial ones included, found 317 of them distinct, and saw the
    liveness property violated.
    """
    explored = check(program(Corners), properties=()).exploration
    assert (explored.states, explored.transitions) == (317, 987)
    outcomes = {verdict.property: verdict.outcome for verdict in check(program(Corners)).verdicts}
    assert outcomes == {"Bounded": Outcome.HOLDS, "NeverThree": Outcome.HOLDS, "Served": Outcome.VIOLATED}


def conjuncts_of(module: str) -> list[str]:
    """The conditions in `Init` and in the actions of a module: what stands after `/\\`, and neither gives a
    variable its value nor is an assertion.
    """
    body = module[module.index("Init ==") : module.index("Next ==")]
    found = re.findall(r"^ +/\\ (.*)$", body, flags=re.MULTILINE)
    return [text for text in found if not re.match(r"LET |UNCHANGED |Assert\(|\w+'? = ", text)]


def is_taken_apart(text: str) -> bool:
    """Return True if TLC looks for a way to a next state in the parts of a conjunct: unless it is an equation
    or the like, a negation, a variable or an entry of one, or a conjunction of such.
    """
    while text.startswith("(") and closing(text) == len(text) - 1:
        text = text[1:-1]
    top = outside(text)
    if " /\\ " in top and " \\/ " not in top and "=>" not in top:
        return any(map(is_taken_apart, split(text)))
    if re.search(r" (=|#|<|>|<=|>=|\\in|\\subseteq) ", top) and not re.search(r"\\/|=>|\\[AE] |IF ", top):
        return False
    return not (text.startswith("~") or re.fullmatch(r"\w+(\[\])*", top))


def closing(text: str) -> int:
    """Position of the parenthesis that closes the first one."""
    depth = 0
    for position, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0:
            return position
    raise ValueError(text)


def outside(text: str) -> str:
    """A text without what stands in its parentheses, brackets and braces."""
    depth, kept = 0, ""
    for sign in text:
        depth -= sign in ")]}"
        kept += sign if depth == 0 else ""
        depth += sign in "([{"
    return kept


def split(text: str) -> list[str]:
    """The operands of a conjunction."""
    depth, parts, begin = 0, [], 0
    for position, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 and text.startswith(" /\\ ", position):
            parts.append(text[begin:position])
            begin = position + 4
    return [*parts, text[begin:]]


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("(senders = 0) \\/ (p = m % senders)", True),
        ("((senders = 0) \\/ (p = m % senders)) = TRUE", False),
        ("is_sender(p, m)", True),
        ("is_sender(p, m) = TRUE", False),
        ("(x = 1) /\\ ~(up[p])", False),
        ("(x = 1) /\\ f(p)", True),
        ("\\E q \\in Q : x[q] = 1", True),
        ("IF x = 1 THEN y = 2 ELSE FALSE", True),
        ("up[p]", False),
        ("Cardinality({q \\in Q : up[q] \\/ f(q)}) > 1", False),
    ],
)
def test_the_rule_of_what_tlc_takes_apart(text: str, apart: bool) -> None:
    assert is_taken_apart(text) is apart


@pytest.mark.sampled(18)
@pytest.mark.parametrize("name", catalogue.names())
def test_tlc_evaluates_every_condition_of_an_action_as_one_value(name: str) -> None:
    """As separate conjuncts each would be a way of its own, unprotected from an error: TLC stops at 1 % 0."""
    for module in modules(name):
        assert [text for text in conjuncts_of(module) if is_taken_apart(text)] == []


@pytest.mark.sampled(28)
@pytest.mark.parametrize("name", catalogue.names())
def test_what_a_definition_defines_is_not_bound_in_it_again(name: str) -> None:
    """TLC refuses a module in which `k` is defined where `[k \\in Process |-> 0]` stands too."""
    for module in modules(name):
        assert [found for definition in module.split("\n\n") if (found := bound_again(definition))] == []


@cache
def modules(name: str) -> tuple[str, str]:
    """A named specification as printed, and with all repairs."""
    entry = catalogue.entry_named(name)
    assert entry is not None
    return tla(program(entry.spec)).text, tla(program(entry.spec, repairs="all")).text


def bound_again(definition: str) -> set[str]:
    """The names that are defined by LET, and bound by a quantifier too."""
    defined = set(re.findall(r"^ +(?:/\\ )?(?:LET )?(\w+) == ", definition, flags=re.MULTILINE))
    return defined & set(re.findall(r"(?:[\[{]|\\[AE] |CHOOSE )(\w+) \\in ", definition))


def test_a_name_that_is_bound_again_is_found() -> None:
    once = "Init ==\n  /\\ LET a == 1\n         k == a\n     IN /\\ (k \\in {1}) /\\ x = [k_1 \\in {1} |-> k]"
    assert bound_again(once) == set()
    assert bound_again(once.replace("k_1", "k")) == {"k"}


PAGE = Path(__file__).parents[2] / "docs" / "exports.md"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CASES)
def test_the_counts_by_tlc_on_the_page_are_ours(name: str) -> None:
    rows = re.findall(
        rf"^\| `{name}` \|[^|]*\| ([\d,]+) \|", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert rows == [f"{check(CASES[name], properties=()).exploration.states:,}"]


def names_of(module: str) -> list[str]:
    """Names defined at the top of a module."""
    return re.findall(r"^(\w+)(?:\([^)]*\))? ==", module, flags=re.MULTILINE)


@pytest.mark.parametrize("name", CASES)
def test_every_name_is_defined_once_and_keeps_its_own(name: str) -> None:
    bound = CASES[name]
    defined = names_of(tla(bound).text)
    assert len(defined) == len(set(defined))
    assert {action.name for action in bound.module.actions} <= set(defined)
    assert re.search(rf"^VARIABLES {', '.join(bound.variables)}$", tla(bound).text, flags=re.MULTILINE)


class Values(Spec):
    """Truth values that are compared and joined, and a set that is counted after a loop."""

    nodes: Const[int] = 2

    level: Weight = 0
    same: bool = False
    both: bool = False
    queue: Annotated[Seq[Node], AtMost(2)] = ()
    seen: Set[Node] = Set()

    @action
    def look(self) -> None:
        """All at once."""
        self.same = self.level == 0
        self.both = self.same and self.level < 2
        for p in self.queue:
            self.seen |= {p}
        self.level = sum(1 + p.index for p in self.seen) % 2


def test_a_value_that_is_compared_or_joined_stays_whole() -> None:
    """`same' = level = 0` has no meaning, and `both' = same_1 /\\ (level < 2)` another."""
    text = tla(program(Values)).text
    assert "/\\ both' = (same_1 /\\ (level < 2))" in text
    assert "same_1 == level = 0" in text or "same' = (level = 0)" in text


def undefined(module: str) -> set[str]:
    """The names with a number that are used and nowhere bound."""
    used = set(re.findall(r"\b[a-z]\w*_\d+\b", re.sub(r'"[^"]*"', "", module)))
    bound = set(re.findall(r"\b(\w+) (?:==|\\in)", module)) | set(re.findall(r"LAMBDA (\w+)", module))
    for given in re.findall(r"^\w+\(([^)]*)\) ==", module, flags=re.MULTILINE):
        bound |= set(given.split(", "))
    return used - bound


def test_what_an_action_defines_and_uses_once_is_not_lost() -> None:
    assert undefined(tla(program(Values)).text) == set()


@pytest.mark.deep
def test_the_random_specifications_that_are_exported_hold_every_node_kind() -> None:
    kinds: set[type[ir.Node]] = set()
    refused: set[str] = set()
    for seed in range(20):
        bound = program_of(seed)
        try:
            text = tla(bound).text
        except SpecError as error:
            refused.add(error.reason)
            continue
        assert undefined(text) == set(), f"seed {seed}"
        kinds |= {type(node) for node in nodes(tuple(vars(bound.module).values()))}
    every = {kind for kind in vars(ir).values() if isinstance(kind, type) and issubclass(kind, ir.Node)}
    assert every - kinds == set(ABSTRACT)
    assert refused == {"Each in a helper is not exported to TLA+"}


def test_the_name_is_that_of_the_file_and_must_be_one() -> None:
    assert tla(CASES["DieHard"], name="Jugs").text.splitlines()[0].strip("- ") == "MODULE Jugs"
    with pytest.raises(SpecError, match="no name of a TLA\\+ module"):
        tla(CASES["DieHard"], name="die-hard")
    for name in ("Integers", "TLC", "MODULE"):
        with pytest.raises(SpecError, match=f"'{name}' is a word or a module of TLA\\+ itself"):
            tla(CASES["DieHard"], name=name)


def test_only_the_wanted_properties_are_stated() -> None:
    module = tla(program(EWD840), properties=["Inv"])
    assert re.findall(r"^(?:INVARIANT|PROPERTY) (\w+)$", module.configuration, flags=re.MULTILINE) == [
        "TypeOK",
        "Inv",
    ]
    with pytest.raises(
        SpecError, match="no property 'Detected' that is exported; known: TerminationDetection, Inv, Liveness"
    ):
        tla(program(EWD840), properties=["Detected"])


class Wide(Spec):
    """A loop over a set with many possible elements."""

    size: Const[int] = 100
    marks: Set[Annotated[int, Between(0, "size")]] = Set()
    count: Annotated[int, Between(0, "size")] = 0

    @action
    def tally(self) -> None:
        for mark in self.marks:
            if mark > 3:
                self.count += 1


def test_what_cannot_be_unrolled_is_refused_with_its_place() -> None:
    with pytest.raises(SpecError, match="a loop over 101 values is not exported to TLA\\+") as refused:
        tla(program(Wide))
    assert refused.value.at is not None
    assert refused.value.at.file.endswith("test_tla.py")
