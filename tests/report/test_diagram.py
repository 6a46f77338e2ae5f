"""A diagram says who sent what to whom, and what became of it, without knowing the protocol."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Annotated

from antiphon.conformance.report import Fate, diagram, svg, text_diagram
from antiphon.conformance.report.diagram import Diagram
from antiphon.model.trace import Trace, replay
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import (
    Between,
    Const,
    Index,
    Map,
    Spec,
    Step,
    action,
    environment,
    everywhere,
    program,
    require,
)
from antiphon.spec.protocols.rbp.properties import RbpProperties


def test_members_come_from_the_receivers_that_packets_name(broken: Trace) -> None:
    assert diagram(broken).lanes == ("p0", "p1", "p2", "system")


def test_an_arrow_goes_from_the_step_that_sends_to_the_step_that_receives(broken: Trace) -> None:
    letters = {
        (arrow.label, arrow.target, arrow.begin): arrow
        for arrow in diagram(broken).arrows
        if arrow.kind == "Letter"
    }
    first = letters["Letter(1)", 1, 1]
    assert (first.source, first.end, first.fate, first.again) == (3, 2, Fate.RECEIVED, False)


def test_what_the_environment_takes_is_lost_where_it_was_going(broken: Trace) -> None:
    lost = [arrow for arrow in diagram(broken).arrows if arrow.fate is Fate.LOST]
    assert [(arrow.target, arrow.begin, arrow.end) for arrow in lost] == [(2, 1, 3)]


def test_a_packet_that_is_sent_again_is_marked(broken: Trace) -> None:
    again = [arrow for arrow in diagram(broken).arrows if arrow.again]
    assert {
        (arrow.source, arrow.target, arrow.begin, arrow.end) for arrow in again if arrow.kind == "Letter"
    } == {(0, 1, 4, 6), (0, 2, 4, 5)}


def test_what_never_arrives_is_still_in_flight(broken: Trace) -> None:
    assert {arrow.kind for arrow in diagram(broken).arrows if arrow.fate is Fate.FLYING} == {"Receipt"}


def test_the_step_that_breaks_the_property_says_so(broken: Trace) -> None:
    assert [(event.row, event.lane, event.broken) for event in diagram(broken).events if event.broken] == [
        (6, 1, "Once")
    ]


def test_a_witness_breaks_nothing(reached: Trace) -> None:
    drawn = diagram(reached)
    assert drawn.witness
    assert not any(event.broken for event in drawn.events)


def test_without_members_all_steps_stand_on_one_lane(plain: Trace) -> None:
    drawn = diagram(plain)
    assert drawn.lanes == ("system",)
    assert [(event.row, event.lane) for event in drawn.events] == [(1, 0), (2, 0)]


def test_the_packets_of_the_initial_state_come_from_the_one_they_are_not_addressed_to() -> None:
    bound = program(RbpProperties, repairs="all")
    start = bound.reference.initial()[0]
    drawn = diagram(replay(bound, start, []))
    assert {(arrow.source, arrow.begin, arrow.target) for arrow in drawn.arrows} == {(0, 0, 1), (0, 0, 2)}


def test_a_network_that_only_grows_keeps_what_was_read() -> None:
    bound = program(TwoPhase)
    state, steps = bound.reference.initial()[0], []
    for wanted in ("prepare", "learn_prepared", "learn_prepared"):
        step = next(step for step in bound.reference.enabled(state) if step.action == wanted)
        steps.append(step)
        state = bound.reference.apply(state, step).state
    drawn = diagram(replay(bound, bound.reference.initial()[0], steps))
    assert [(arrow.begin, arrow.end, arrow.fate) for arrow in drawn.arrows] == [
        (1, 2, Fate.RECEIVED),
        (1, 3, Fate.RECEIVED),
    ]


VOTES = ("vote", 0), ("vote", 2)
DECIDED = (*VOTES, ("decide", 1))
Run = Callable[..., Trace]


def test_answers_that_an_action_takes_all_at_once_are_received_by_it(ballot: Run) -> None:
    votes = [arrow for arrow in diagram(ballot(*DECIDED)).arrows if arrow.kind == "Vote"]
    assert [(arrow.source, arrow.begin, arrow.target, arrow.end, arrow.fate) for arrow in votes] == [
        (0, 1, 1, 3, Fate.RECEIVED),
        (2, 2, 1, 3, Fate.RECEIVED),
    ]


def test_what_a_step_takes_away_from_somebody_else_is_lost(ballot: Run) -> None:
    orders = [arrow for arrow in diagram(ballot(*DECIDED, "obey")).arrows if arrow.kind == "Order"]
    assert {(arrow.target, arrow.fate) for arrow in orders} == {(lane, Fate.LOST) for lane in range(3)}


def test_a_step_that_names_nobody_belongs_to_the_one_receiver_of_what_it_takes(ballot: Run) -> None:
    drawn = diagram(ballot(*DECIDED, "obey_first"))
    assert drawn.events[-1].lane == 0
    assert [arrow.target for arrow in drawn.arrows if arrow.end == 4 and arrow.fate is Fate.RECEIVED] == [0]


def test_what_the_environment_takes_all_at_once_is_lost(ballot: Run) -> None:
    assert {arrow.fate for arrow in diagram(ballot(*VOTES, "forget")).arrows} == {Fate.LOST}


def test_of_several_initial_states_the_diagram_says_which(ballot: Run, broken: Trace) -> None:
    assert diagram(ballot()).begins == "asking = p1, done[p1] = True"
    assert diagram(broken).begins == ""


class Member(Index, size="members"):
    """A process."""


class Stopping(Spec):
    """Members count; one stops, and may come back."""

    members: Const[int] = 2
    count: Map[Member, Annotated[int, Between(0, 3)]] = everywhere(0)
    down: Map[Member, bool] = everywhere(False)

    @action
    def increase(self, p: Member) -> None:
        """Count up by one."""
        require(not self.down[p] and self.count[p] < 3)
        self.count[p] += 1

    @environment
    def crash(self, p: Member) -> None:
        """Stop the process."""
        require(not self.down[p])
        self.down[p] = True

    @environment
    def come_back(self, p: Member) -> None:
        """Start the process again."""
        require(self.down[p])
        self.down[p] = False


def stopping(*names: str) -> Diagram:
    bound = program(Stopping)
    state, steps = bound.reference.initial()[0], list[Step]()
    for name in names:
        step = next(each for each in bound.reference.enabled(state) if each.action == name)
        steps.append(step)
        state = bound.reference.apply(state, step).state
    return diagram(replay(bound, bound.reference.initial()[0], steps))


def test_the_line_of_a_member_ends_where_it_crashes() -> None:
    drawn = stopping("increase", "crash", "increase", "come_back", "increase")
    assert [drawn.lifelines(lane) for lane in (0, 1)] == [((0, 2), (4, None)), ((0, None),)]
    lines = [line.ljust(60) for line in text_diagram(drawn, 60).plain.splitlines()]
    column = lines[1].index("m0")
    at = {int(line[:4]): number for number, line in enumerate(lines) if line[:4].strip().isdigit()}
    assert lines[at[1] + 1][column] == "│"
    assert {lines[number][column] for number in range(at[2] + 1, at[4])} == {" "}
    assert lines[at[4]][column] == "●"
    root = ElementTree.fromstring(svg(drawn))
    assert "crashed" in "".join(root.itertext())
    lines = [line.attrib for line in root.iter("{http://www.w3.org/2000/svg}line")]
    lives = [line for line in lines if line["x1"] == line["x2"] and line["stroke"] == "#4a5568"]
    assert len(lives) == 3, "one ends, goes on below, and the other is whole"
    assert float(lives[0]["y2"]) < float(lives[1]["y1"]) < float(lives[1]["y2"]) == float(lives[2]["y2"])


def test_without_messages_each_step_shows_the_values_that_it_changed() -> None:
    drawn = stopping("increase", "crash")
    assert [event.changes for event in drawn.events] == [("count[m0]: 0 -> 1",), ("down[m0]: False -> True",)]
    assert "count[m0]: 0 -> 1" in text_diagram(drawn, 80).plain
    assert "count[m0]: 0 -> 1" in "".join(ElementTree.fromstring(svg(drawn)).itertext())


def test_where_messages_fly_no_values_are_shown(broken: Trace) -> None:
    assert not any(event.changes for event in diagram(broken).events)
