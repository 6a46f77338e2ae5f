"""A monitor says of a log what the reference machine says, event by event, of every service."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from antiphon.model.monitor import Monitor
from antiphon.model.properties import kinds_of
from antiphon.model.verdict import PropertyKind
from antiphon.spec import services
from antiphon.spec.lang import Map, Set, Spec, everywhere, expect, obligation, on, program, record
from antiphon.spec.lang.machine import Refusal
from antiphon.spec.services import Broadcast, Crash, Deliver, Group, Install, Message, Process, Transition
from antiphon.spec.services.causal import CausalOrder, ReliableOrderInViews
from antiphon.spec.services.consensus import Consensus, Decide, Propose, Value
from antiphon.spec.services.detectors import Alarm, FailureDetector, PassiveDetector, Suspect, Trust
from antiphon.spec.services.extended import ExtendedTotalOrder
from antiphon.spec.services.order import Count, Numbered, Numbering
from antiphon.spec.services.order_in_views import ReliableOrder
from antiphon.spec.services.survey import AgreementOnSuccessors, Indicate, SafeIndications, StableViews

SIZES = {"processes": 3, "messages": 3, "views": 4, "values": 2}
SERVICES = (
    services.TotalOrderBroadcast, Numbering, CausalOrder, ReliableOrderInViews, services.UniformViewSynchrony,
    services.SafeExtendedSynchrony, ReliableOrder, ExtendedTotalOrder, AgreementOnSuccessors, SafeIndications,
    StableViews, Consensus, FailureDetector, PassiveDetector,
)  # fmt: skip


def everything() -> Iterator[object]:
    """All events over these sizes, but for the members of views."""
    processes, messages = map(Process, range(3)), [Message(k) for k in range(3)]
    for p in processes:
        yield from (Broadcast(p, messages[p.index]), Deliver(p, None), Crash(p), Alarm(p))
        yield from (make(p, m) for m in messages for make in (Deliver, Indicate))
        yield from (Numbered(p, messages[k], k + 1) for k in range(3))
        yield from (make(p, Process(k)) for k in range(3) for make in (Suspect, Trust))
        yield from (make(p, Value(k)) for k in range(2) for make in (Propose, Decide))
        for members in (Set({Process(0), Process(1)}), Set({p})):
            yield Transition(p, members)
            yield from (Install(p, view, members) for view in (2, 3, 4))


EVENTS = tuple(everything())


def once(refusal: Refusal, seen: set[tuple[object, ...]]) -> Refusal:
    """Only the first refusal of a guard has its clash."""
    guard = (refusal.property, refusal.at)
    told = replace(refusal, clash=None) if guard in seen else refusal
    seen.add(guard)
    return told


@given(
    st.sampled_from(SERVICES),
    st.lists(st.sampled_from(EVENTS), max_size=30),
    st.sampled_from([0, 1, 3]),
)
def test_a_monitor_says_what_the_reference_machine_says(
    service: type[Spec], events: list[object], joiners: int
) -> None:
    wanted = SIZES | {"joiners": joiners}
    known = {constant.name for constant in program(service).declaration.constants}
    sizes = {name: size for name, size in wanted.items() if name in known}
    session, monitor = program(service, **sizes).reference.session(), Monitor(service, **sizes)
    seen = set[tuple[object, ...]]()
    for event in events:
        refusals, expected = monitor.feed(event), session.feed(event)
        assert refusals == tuple(once(refusal, seen) for refusal in expected)
    for name, kind in kinds_of(program(service)).items():
        if kind in (PropertyKind.INVARIANT, PropertyKind.OBLIGATION):
            assert monitor.holds(name) == session.holds(name)
            assert monitor.holds(name) == (not list(monitor.failing(name)))


# Maps as values ---------------------------------------------------------------------------------------------


@record
class Copy:
    """The row of `process` is kept, the next place is written, and the row that was kept goes to `to`."""

    process: Process
    to: Process


class Rows(Group):
    """Tables that are read as values, changed as values, and made of values."""

    row: Map[Process, Map[Process, Count]] = everywhere(everywhere(0))
    all_equal: Map[Process, Map[Process, Count]] = everywhere(everywhere(2))

    @on(Copy)
    def copy(self, event: Copy) -> None:
        """Ways to put a map somewhere."""
        p = event.process
        before = self.row[p]
        self.row[p][event.to] = 1
        self.all_equal = self.row
        self.row[event.to] = before | {p: 2}
        same = before | {p: 1}
        self.row[event.to] = same
        self.all_equal[event.to] = same
        self.row[event.to][p] = 2
        self.row[p][p] = 0
        self.all_equal[p] = Map({q: self.row[q][p] for q in self.each(Process)})
        expect(self.all_equal[event.to] == before, "Copied", Copy(p, event.to))

    @on(Crash)
    def clear(self, event: Crash) -> None:
        """A row of zeros."""
        self.row[event.process] = everywhere(0)

    @obligation
    def Zero(self) -> bool:
        """True while all entries are equal, so nothing has been written."""
        return all(self.row[p] == self.all_equal[q] for p in self.each(Process) for q in self.each(Process))


COPIES = [Copy(Process(p), Process(q)) for p in range(2) for q in range(2)] + [Crash(Process(0))]


@given(st.lists(st.sampled_from(COPIES), max_size=8))
def test_what_was_read_from_a_table_stays_what_it_was(events: list[object]) -> None:
    session, monitor = program(Rows, processes=2).reference.session(), Monitor(Rows, processes=2)
    for event in events:
        assert len(monitor.feed(event)) == len(session.feed(event))
        assert monitor.holds("Zero") == session.holds("Zero")


def test_elements_of_a_set_come_in_domain_order() -> None:
    """Here those who stay behind in a view of which another has gone on to the next."""
    everybody = Set(Process(p) for p in range(40))
    monitor = Monitor(StableViews, processes=40)
    monitor.feed(Install(Process(0), 2, everybody))
    behind = [case["q"].index for case in monitor.failing("MembershipPrecision") if case["p"] == Process(0)]
    assert behind == list(range(1, 40))


def test_an_obligation_names_where_it_fails() -> None:
    monitor = Monitor(services.TotalOrderBroadcast, processes=2, messages=2)
    monitor.feed(Broadcast(Process(0), Message(1)))
    (failing,) = monitor.failing("Validity")
    assert failing == {"m": Message(1)}
