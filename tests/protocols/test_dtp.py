"""DTP (Kim and Kim 1997): what the repaired text reaches and holds, what goes wrong without each repair, and
what its readings come to.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.conformance.ledger.measurements import measure
from antiphon.model.explore import check as explore
from antiphon.model.symbolic import prove
from antiphon.model.trace import replay
from antiphon.model.verdict import EvidenceKind, Outcome, Report
from antiphon.spec.lang import In, Spec, Step, action, program, require
from antiphon.spec.protocols.dtp.induction import DtpBounds
from antiphon.spec.protocols.dtp.packets import Ack, AskMessage, AskNumber, Msg, Null, Request
from antiphon.spec.protocols.dtp.properties import DtpChecked, DtpCrashing, DtpLive, DtpOrdered
from antiphon.spec.services import Message, Process

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""

PAIR: dict[str, Any] = {"processes": 2, "messages": 2, "losses": 1, "unlimited": True, "nulls": 1}
NULLS: dict[str, Any] = {"processes": 2, "messages": 1, "losses": 1, "unlimited": True, "nulls": 2}
SPARE: dict[str, Any] = {"processes": 2, "messages": 1, "losses": 0, "timeouts": 0, "spare": 1}
QUIET: dict[str, Any] = {
    "processes": 3,
    "messages": 1,
    "losses": 0,
    "timeouts": 0,
    "nulls": 1,
    "senders": 1,
    "tie": "lowest",
}
EARLY: dict[str, Any] = {
    "processes": 3,
    "messages": 2,
    "losses": 0,
    "timeouts": 0,
    "senders": 1,
    "tie": "lowest",
}
F_1: dict[str, Any] = {"resilience": 1}
REPAIRS = tuple(item.name for item in program(DtpChecked).declaration.constants if item.repair)

MODELS: dict[str, tuple[dict[str, Any], tuple[int, int, int], set[str]]] = {
    "two": (PAIR, (20264, 123507, 23), set()),
    "two, resilient": (NULLS | F_1, (1731, 9306, 20), set()),
    "three, quiet": (QUIET, (1986, 7991, 16), {"AllStable", "NotYetStable"}),
}
"""Constants; states, transitions and depth; witnesses that the bound leaves out."""


@cache
def explored(name: str) -> Report:
    return check(program(DtpChecked, repairs="all", **MODELS[name][0]))


def failed(report: Report, outcome: Outcome = Outcome.VIOLATED) -> set[str]:
    assert report.exploration.complete
    return {verdict.property for verdict in report.verdicts if verdict.outcome is outcome}


@pytest.mark.deep
@pytest.mark.parametrize("name", MODELS)
def test_the_repaired_protocol_holds_and_reaches_its_witnesses(name: str) -> None:
    """Total order, integrity, agreement, one holder, and the bounds of section 4.2."""
    assert failed(explored(name)) == set()
    assert failed(explored(name), Outcome.UNKNOWN) == MODELS[name][2]


@pytest.mark.deep
@pytest.mark.parametrize("name", MODELS)
def test_the_repaired_protocol_has_as_many_states_as_it_had(name: str) -> None:
    seen = explored(name).exploration
    assert (seen.states, seen.transitions, seen.depth) == MODELS[name][1]


@pytest.mark.deep
def test_every_branch_of_every_handler_fires() -> None:
    """Each branch is an action: every kind of packet is sent, and received in each state of its receiver."""
    idle = set.intersection(*(set(explored(name).exploration.never_fired) for name in MODELS))
    assert idle == {"receive_early_ack"}
    early = check(program(DtpChecked, repairs="all", **EARLY), properties=["AllDelivered"]).exploration
    assert "receive_early_ack" not in early.never_fired


WITHOUT: list[tuple[str, dict[str, Any], str, int]] = [
    ("number_passes", PAIR, "OneHolder", 6),
    ("acknowledge_new", SPARE, "AcknowledgedOnce", 5),
    ("advance_on_delivery", SPARE, "StatusIsObtained", 3),
    ("monotone_status", SPARE, "MonotoneStatus", 4),
    ("collect_always", PAIR, "StableRemoved", 4),
    ("pass_to_another", NULLS, "TokenHeld", 1),
    ("end_by_number", NULLS, "TokenHeld", 6),
    ("answer_named", QUIET | {"losses": 1, "unlimited": True}, "UniformAgreement", 6),
    ("count_processes", NULLS | F_1, "Validity", 1),
]
"""A repair that is left out, constants, what breaks, and in how many steps at least.

`keep_early_ack` and `carry_status` need three messages: DTP-03, DTP-22.
"""


@pytest.mark.deep
@pytest.mark.parametrize(
    ("repair", "constants", "broken", "length"), WITHOUT, ids=[case[0] for case in WITHOUT]
)
def test_no_repair_is_idle(repair: str, constants: dict[str, Any], broken: str, length: int) -> None:
    bound = program(DtpChecked, repairs="all", without=[repair], **constants)
    trace = check(bound, properties=[broken])[broken].trace
    assert trace is not None
    assert len(trace) == length


def test_every_repair_is_left_out_once() -> None:
    assert {*(case[0] for case in WITHOUT), "keep_early_ack", "carry_status"} == set(REPAIRS)


class Silent(DtpChecked):
    """A holder that never answers a REQ."""

    @action(fairness="weak", per="packet")
    def answer_holding(self, packet: Annotated[Request, In("network")]) -> None:
        require(self.is_idle() and self.holding[packet.to])
        self.network -= {packet}


def test_a_holder_that_answers_nothing_is_noticed() -> None:
    """DTP-16, without NULLs: with them the one who lost something is named in the end, and then answered."""
    constants = QUIET | {"nulls": 0, "losses": 1, "unlimited": True}
    lengths = {
        spec: [
            len(verdict.trace) if verdict.trace is not None else 0
            for verdict in check(
                program(spec, repairs="all", **constants), properties=["Recovers", "UniformAgreement"]
            ).verdicts
        ]
        for spec in (DtpChecked, Silent)
    }
    assert lengths == {DtpChecked: [0, 0], Silent: [4, 3]}


def test_an_old_null_gives_the_token_twice() -> None:
    """DTP-01 as it happens: the holder of a quiet group passes the token, gets it back, and its first pass,
    sent again, arrives.
    """
    p, q = Process(0), Process(1)
    there, back = Null(q, p, 0, q, 0), Null(p, q, 0, p, 0)
    steps = [
        Step("pass_null", (p, q)), Step("receive_null", (there,)), Step("pass_null", (q, p)),
        Step("resend_pass", (p,)),
        Step("receive_null", (back,)), Step("receive_null", (there,)),
    ]  # fmt: skip
    bound = program(DtpChecked, processes=2, messages=1, losses=0, timeouts=1, nulls=1)
    trace = replay(bound, bound.reference.initial()[0], steps)
    assert [bound.reference.holds(state, "OneHolder") for state in trace.states] == [True] * 6 + [False]


def test_a_late_request_for_what_was_removed_is_answered_by_nothing() -> None:
    """P2 got what it asked for, and says so; p1 removes it as stable before the first REQ arrives."""
    (p, q, r), (m, x) = (Process(k) for k in range(3)), (Message(0), Message(1))
    late = AskNumber(q, r, 0, 1)
    steps = [
        Step("broadcast", (p, m)), Step("acknowledge", (p, m, q)), Step("broadcast", (q, x)),
        Step("receive_next_message", (Msg(q, m),)), Step("receive_next_message", (Msg(r, m),)),
        Step("receive_next_ack", (Ack(q, p, m, 1, q),)), Step("acknowledge", (q, x, r)),
        Step("receive_early_ack", (Ack(r, q, x, 2, r),)),
        Step("receive_next_ack", (Ack(r, p, m, 1, q),)), Step("repeat_request", (r,)),
        Step("answer_transferring", (AskMessage(q, r, 1, x),)), Step("answer_transferring", (late,)),
    ]  # fmt: skip
    bound = program(DtpChecked, repairs="all", **EARLY | {"senders": 2, "timeouts": 1})
    *_, before, after = replay(bound, bound.reference.initial()[0], steps).states
    network = [variable.name for variable in bound.declaration.variables].index("network")
    assert not bound.reference.evaluate(before, "has_ack", q, 1, m)
    assert after[network] == before[network] - {late}


READINGS: list[tuple[str, dict[str, Any], set[str]]] = [
    ("lowest", NULLS | {"tie": "lowest"}, set()),
    ("heard", NULLS | {"transfer": "heard"}, set()),
    ("buffered", NULLS | {"resending": "buffered", "nulls": 0}, set()),
    ("buffered, with nulls", NULLS | {"resending": "buffered"}, {"Validity", "TokenHeld", "Acknowledged"}),
    ("procedures", NULLS | {"reset_own": "procedures"}, {"Acknowledged", "AnswerAtHand"}),
    ("kept", PAIR | {"early": "kept", "nulls": 0}, set()),
    ("delivered", NULLS | F_1 | {"notified": "delivered"}, {"Validity", "TokenHeld"}),
]


@pytest.mark.deep
@pytest.mark.parametrize(
    ("constants", "violated"), [case[1:] for case in READINGS], ids=[case[0] for case in READINGS]
)
def test_what_the_readings_come_to_in_the_repaired_protocol(
    constants: dict[str, Any], violated: set[str]
) -> None:
    assert failed(check(program(DtpChecked, repairs="all", **constants))) == violated


@pytest.mark.deep
def test_the_reference_sees_what_the_generated_code_sees() -> None:
    bound = program(DtpChecked, repairs="all", **NULLS | {"nulls": 1})
    fast, slow = explore(bound), explore(bound, engine="reference")
    assert failed(fast) == failed(slow) == set()
    assert (fast.exploration.states, fast.exploration.transitions) == (
        slow.exploration.states,
        slow.exploration.transitions,
    )
    assert fast.exploration.fired == slow.exploration.fired


@pytest.mark.deep
def test_every_update_is_delivered_on_every_fair_run() -> None:
    """Theorem 2, as repaired. Where a process may name itself, the lasso waits for a lost token."""
    kept = check(program(DtpLive, repairs="all", **NULLS))["EveryMessageDelivered"]
    lost = check(program(DtpLive, repairs="all", without=["pass_to_another"], **NULLS))[
        "EveryMessageDelivered"
    ]
    assert kept.outcome is Outcome.HOLDS
    assert lost.trace is not None
    assert lost.trace.loop is not None


@pytest.mark.deep
def test_an_update_is_overtaken_by_one_that_came_later_unless_the_oldest_is_selected() -> None:
    """DTP-18: `an unacknowledged MSG` in BUF, and nothing says which."""
    found = {
        selected: check(
            program(DtpOrdered, repairs="all", selected=selected, **PAIR), properties=["OldestFirst"]
        )["OldestFirst"].outcome
        for selected in ("any", "oldest")
    }
    assert found == {"any": Outcome.VIOLATED, "oldest": Outcome.HOLDS}


@pytest.mark.deep
def test_survivors_hold_what_was_delivered_but_only_with_the_repair() -> None:
    """Section 4.2, F = 1: F + 1 processes have what is delivered, unless R_i[i] runs ahead of the updates
    (DTP-05, DTP-29).
    """
    constants = QUIET | F_1 | {"crashes": 1}
    spec: type[Spec] = DtpCrashing
    kept = check(program(spec, repairs="all", **constants), properties=["SurvivorHolds"])
    lost = check(
        program(spec, repairs="all", without=["advance_on_delivery"], **constants),
        properties=["SurvivorHolds"],
    )
    assert kept["SurvivorHolds"].outcome is Outcome.HOLDS
    assert lost["SurvivorHolds"].outcome is Outcome.VIOLATED


BOUNDS = {"AckBound", "StableInTime", "OnlyTheLatest", "OneWithoutANumber"}


@pytest.mark.deep
@pytest.mark.parametrize(
    ("without", "unproved"),
    [
        ((), set()),
        pytest.param(("monotone_status",), set(), marks=pytest.mark.deep),
        (("advance_on_delivery",), BOUNDS),
    ],
)
def test_the_invariants_behind_the_bounds_imply_one_another(
    without: tuple[str, ...], unproved: set[str]
) -> None:
    """Claims DTP-22 and DTP-23. Two processes with one update need no monotone R."""
    one: dict[str, Any] = {"processes": 2, "messages": 1, "losses": 1, "unlimited": True, "nulls": 1}
    report = prove(program(DtpBounds, repairs="all", without=without, **one), properties=BOUNDS)
    assert {name for name in BOUNDS if report[name].evidence.kind is not EvidenceKind.PROVED} == unproved


@pytest.mark.deep
def test_the_bounds_are_proved_by_induction() -> None:
    proved, found = measure("bounds by induction")
    assert proved, found


@pytest.mark.deep
def test_no_walk_of_three_processes_leaves_the_bounds() -> None:
    """Claims DTP-22 and DTP-23, where there is no proof; without a repair walks leave them."""
    kept, found = measure("buffers on walks")
    assert kept, found
