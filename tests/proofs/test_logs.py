"""Logs in proofs: what is true of sequences that grow, are read by position, and lose their first item."""

import itertools
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import pytest
from tests.lang.random_specs import load
from tests.proofs.lifted import Lifted, reachable
from tests.proofs.random_fragment import source_with_logs

from antiphon.model.proofs import expressions
from antiphon.model.proofs.formula import (
    TRUE,
    App,
    Formula,
    Sort,
    Symbol,
    atom,
    conjunction,
    disjunction,
    equal,
    forall,
    holds,
    negation,
    variable,
)
from antiphon.model.proofs.relations import RELATION, facts, related
from antiphon.model.proofs.values import ITEM
from antiphon.spec.lang import (
    AtMost,
    Between,
    Const,
    Index,
    Map,
    Seq,
    Spec,
    action,
    everywhere,
    invariant,
    program,
    record,
    require,
)

Unproved = Callable[..., set[str]]


class Reader(Index, size="readers"):
    """A reader of the log."""


class Job(Index, size="jobs", ordered=True):
    """A job, which is written once."""


@record
class Entry:
    """Job in the log, and who wrote it."""

    job: Job
    writer: Reader


class Desk(Spec):
    """Jobs go through a queue into a log, which everybody reads at its own pace."""

    readers: Const[int] = 2
    jobs: Const[int] = 2
    begun: Map[Job, bool] = everywhere(False)
    queue: Annotated[Seq[Entry], AtMost("jobs + 1")] = ()
    log: Annotated[Seq[Entry], AtMost("jobs")] = ()
    read: Map[Reader, Annotated[int, Between(0, "jobs")]] = everywhere(0)
    last: Map[Reader, Job | None] = everywhere(None)

    @action
    def begin(self, p: Reader, j: Job) -> None:
        """A job is begun once, in any order."""
        require(not self.begun[j])
        self.begun[j] = True
        self.queue += (Entry(j, p),)

    @action
    def write(self) -> None:
        """The first in the queue is written."""
        require(len(self.queue) > 0)
        entry = self.queue[0]
        self.queue = self.queue[1:]
        self.log += (entry,)

    @action
    def take(self, p: Reader) -> None:
        """P reads the next entry."""
        require(self.read[p] < len(self.log))
        self.last[p] = self.log[self.read[p]].job
        self.read[p] += 1

    @invariant
    def Waiting(self) -> bool:
        """Begun jobs wait, each once."""
        return all(self.begun[entry.job] for entry in self.queue) and all(
            i == j or self.queue[i].job != self.queue[j].job
            for i in range(len(self.queue))
            for j in range(len(self.queue))
        )

    @invariant
    def Written(self) -> bool:
        """A written job is written once, and does not wait."""
        return (
            all(self.begun[entry.job] for entry in self.log)
            and all(
                i >= j or self.log[i].job != self.log[j].job
                for i in range(len(self.log))
                for j in range(len(self.log))
            )
            and all(entry.job != other.job for entry in self.log for other in self.queue)
        )

    @invariant
    def ReadIsWritten(self) -> bool:
        """A place is not beyond the end, and the last that was read stands before it."""
        return all(
            self.read[p] <= len(self.log)
            and (self.last[p] is None or any(self.log[i].job == self.last[p] for i in range(self.read[p])))
            for p in self.each(Reader)
        )


class BeginsAgain(Desk):
    @action
    def begin(self, p: Reader, j: Job) -> None:
        """A job is begun as often as one likes."""
        self.queue += (Entry(j, p),)


class KeepsIt(Desk):
    @action
    def write(self) -> None:
        """The first in the queue is written, and stays."""
        require(len(self.queue) > 0)
        self.log += (self.queue[0],)


class ReadsBeyond(Desk):
    @action
    def take(self, p: Reader) -> None:
        """P reads an entry that need not be there."""
        require(self.read[p] <= len(self.log) and self.read[p] < self.jobs)
        self.last[p] = self.log[self.read[p]].job
        self.read[p] += 1


class InTheirOrder(Desk):
    @invariant
    def Sorted(self) -> bool:
        """False: jobs are begun in any order."""
        return all(
            i >= j or self.log[i].job < self.log[j].job
            for i in range(len(self.log))
            for j in range(len(self.log))
        )


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("spec", "failed"),
    [
        (Desk, set()),
        (BeginsAgain, {"begin: specification", "begin: Waiting", "begin: Written"}),
        (KeepsIt, {"write: Written"}),
        (ReadsBeyond, {"take: specification", "take: ReadIsWritten"}),
        (InTheirOrder, {"write: Sorted"}),
    ],
)
def test_what_is_true_of_a_log_is_proved_and_nothing_else(
    unproved: Unproved, spec: type[Spec], failed: set[str]
) -> None:
    """With room for each job once: jobs that come twice have none, and a place beyond the end is an error."""
    assert unproved(spec, ("readers", "jobs")) == failed


class OtherRoom(Desk):
    """Log with room for as many entries as there are readers."""

    log: Annotated[Seq[Entry], AtMost("readers")] = ()


def test_room_for_the_members_of_another_index_is_none(unproved: Unproved) -> None:
    """No job comes twice, but there may be more jobs than readers; writers come more than once."""
    assert "write: specification" in unproved(OtherRoom, ("readers", "jobs"), step="write")


Plant = Callable[[pytest.MonkeyPatch], None]


def an_end_that_stays(patch: pytest.MonkeyPatch) -> None:
    """An item is appended, and the log is no longer."""
    original = expressions.appended

    def appended(log: Any, *given: Any) -> Any:
        made = original(log, *given)
        object.__setattr__(made, "end", log.end)
        return made

    patch.setattr(expressions, "appended", appended)


def a_first_that_stays(patch: pytest.MonkeyPatch) -> None:
    """The first item stays."""
    patch.setattr(expressions, "without_first", lambda log, *_: log)


def room_for_everything(patch: pytest.MonkeyPatch) -> None:
    """A log always has room."""
    patch.setattr(expressions, "has_room", lambda *_: TRUE)


def items_everywhere(patch: pytest.MonkeyPatch) -> None:
    """An item stands at every position."""
    patch.setattr(expressions, "is_inside", lambda *_: TRUE)


@pytest.mark.parametrize("plant", [an_end_that_stays, a_first_that_stays, items_everywhere])
def test_a_wrong_log_is_noticed(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a fault planted in the translation, it is not what CPython does."""
    plant(monkeypatch)
    assert disagreements()


def test_a_log_without_faults_is_that_of_cpython() -> None:
    """Errors, too: what is read beyond the end."""
    assert disagreements() == []


def disagreements() -> list[str]:
    """Differences between the translation and CPython, before an entry is read that is not there."""
    lifted = Lifted(program(ReadsBeyond, readers=1), ("readers", "jobs"))
    states = reachable(program(Desk, readers=1), 10)
    return [found for state in states for found in lifted.disagreements(state)]


def test_room_that_is_not_looked_at_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPython says that a sequence leaves its domain."""

    def noticed() -> bool:
        lifted = Lifted(program(load(source_with_logs(4), file="<fragment 4>")), ("many", "steps", "high"))
        (start,) = lifted.program.reference.initial()
        states = [start]
        for _ in range(3):
            (more, *_) = [s.state for s in lifted.program.reference.successors(states[-1])]
            states.append(more)
        return any(found for state in states for found in lifted.disagreements(state))

    assert not noticed()
    room_for_everything(monkeypatch)
    assert noticed()


def test_a_relation_says_what_the_function_says() -> None:
    """Over every function from three positions to two items, whatever else is true."""
    place, kind = Sort("place"), Sort("kind")
    item, good = Symbol(f"log{ITEM}", (place,), kind), Symbol("good", (kind,))
    x, y, k = variable("x", place), variable("y", place), variable("k", kind)
    here, there = App(item, (x,)), App(item, (y,))
    some, known = App(Symbol("c", (), place)), App(Symbol("d", (), kind))
    formulas: list[Formula] = [
        forall((x,), atom(good, (here,))),
        forall((x,), negation(atom(good, (here,)))),
        forall((x, y), disjunction(equal(x, y), negation(equal(here, there)))),
        forall((x, y), disjunction(negation(equal(here, there)), atom(good, (there,)))),
        forall((x,), disjunction(equal(here, known), atom(good, (here,)))),
        forall((x, k), disjunction(negation(equal(here, k)), atom(good, (k,)))),
        conjunction(
            atom(good, (App(item, (some,)),)),
            forall((x,), disjunction(equal(x, some), atom(good, (here,)))),
        ),
    ]
    sizes, differ = {place: 3, kind: 2}, 0
    for formula in formulas:
        made = related(formula)
        differ += made is not formula
        for row, marked, c, d in itertools.product(
            itertools.product(range(2), repeat=3), range(4), range(3), range(2)
        ):
            tables = {
                "c": {(): c}, "d": {(): d}, "good": {(one,): marked >> one & 1 for one in range(2)},
                item.name: {(one,): row[one] for one in range(3)},
                f"log{RELATION}": {(one, two): int(row[one] == two) for one in range(3) for two in range(2)},
            }  # fmt: skip
            meaning = partial(_looked_up, tables)
            assert holds(made, sizes, meaning) == holds(formula, sizes, meaning)
            assert all(holds(fact, sizes, meaning) for fact in facts([made]))
    assert differ == len(formulas)


def _looked_up(
    tables: dict[str, dict[tuple[int, ...], int]], symbol: Symbol, at: tuple[int, ...]
) -> int:
    """The value of a symbol, from its table."""
    return tables[symbol.name][at]
