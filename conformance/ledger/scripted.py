"""Runs that are told step by step lead to a state; all that can still happen there without faults is seen.

Such a run decides a claim where the whole state space is too large: it is executed as it stands, and what
lies ahead is seen completely.
"""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.model.engines import transitions_of
from antiphon.model.engines.over_transitions import TransitionSpace
from antiphon.model.explore.search import Search
from antiphon.model.notation import compact_step
from antiphon.spec.lang import Program, State, program
from antiphon.spec.protocols.dtp.properties import DtpChecked
from antiphon.spec.protocols.rbp.properties import RbpChecked

_BODY = "(m0, (p1, 1))"

ASKED_ONCE = (
    "deliver(p0, Sequenced(none, 1))",
    "broadcast(p1, m0)",
    f"lose(Data(p0, {_BODY}))",
    "receive_ack(Ack(p1, none, 1, p1))",
    "deliver(p1, Sequenced(none, 1))",
    "accept(p1)",
    "sequence(p1)",
    "deliver(p1, Sequenced((p1, 1), 2))",
    "receive_ack(Ack(p0, (p1, 1), 2, p2))",
    "lose(Request(p1, p0, (p1, 1)))",
    f"receive_data(Data(p2, {_BODY}))",
    "receive_ack(Ack(p2, none, 1, p1))",
    "deliver(p2, Sequenced(none, 1))",
    "receive_ack(Ack(p2, (p1, 1), 2, p2))",
    "deliver(p2, Sequenced((p1, 1), 2))",
    "accept(p2)",
    "broadcast(p2, m1)",
    "sequence(p2)",
    "deliver(p2, Sequenced((p2, 1), 3))",
    "receive_ack(Ack(p1, (p2, 1), 3, p0))",
)
"""The body of m0 does not get to p0, and neither does p0's request for it to p1; then m1 is numbered, and
nobody speaks of m0 any more.
"""


SEVEN_MESSAGES = (
    "broadcast(p0, m0)",
    "acknowledge(p0, m0, p1)",
    "broadcast(p1, m1)",
    "receive_next_message(Msg(p1, m0))",
    "receive_next_ack(Ack(p1, p0, m0, 1, p1))",
    "acknowledge(p1, m1, p2)",
    "broadcast(p1, m2)",
    "broadcast(p2, m3)",
    "receive_next_message(Msg(p0, m1))",
    "receive_next_ack(Ack(p0, p1, m1, 2, p2))",
    "broadcast(p0, m4)",
    "receive_next_message(Msg(p2, m0))",
    "receive_next_message(Msg(p2, m1))",
    "receive_next_message(Msg(p2, m2))",
    "receive_next_message(Msg(p2, m4))",
    "receive_next_ack(Ack(p2, p0, m0, 1, p1))",
    "receive_next_ack(Ack(p2, p1, m1, 2, p2))",
    "acknowledge(p2, m2, p1)",
    "receive_next_ack(Ack(p1, p2, m2, 3, p1))",
    "broadcast(p1, m5)",
    "acknowledge(p1, m5, p0)",
    "broadcast(p1, m6)",
    "receive_next_message(Msg(p0, m2))",
    "receive_next_message(Msg(p0, m5))",
    "receive_next_message(Msg(p0, m6))",
    "receive_next_message(Msg(p0, m3))",
)
"""DTP with all repairs: two ACKs are late at p0, which keeps their MSGs, the two before them, which p2 has
not confirmed, and one of each process that has no gsn.
"""


def idle_round(number: int) -> tuple[str, ...]:
    """A round of DTP among three processes: p0 sends and acknowledges an update, and the token comes back to
    it by two NULLs. All arrives but the NULL of p1 at p0.
    """
    m = f"m{number - 1}"
    return (
        f"broadcast(p0, {m})",
        f"acknowledge(p0, {m}, p1)",
        f"receive_next_message(Msg(p1, {m}))",
        f"receive_next_ack(Ack(p1, p0, {m}, {number}, p1))",
        f"receive_next_message(Msg(p2, {m}))",
        f"receive_next_ack(Ack(p2, p0, {m}, {number}, p1))",
        "pass_null(p1, p2)",
        f"receive_null(Null(p2, p1, {number}, p2, 1))",
        "pass_null(p2, p0)",
        f"receive_null(Null(p0, p2, {number}, p0, 2))",
    )


def follow(bound: Program, script: Sequence[str]) -> State:
    """The state that the steps of a script lead to, each in the compact notation.

    Raises:
        LookupError: a step is not enabled when it is its turn; what is enabled is listed.
    """
    machine = bound.reference
    state = machine.initial()[0]
    for number, wanted in enumerate(script, 1):
        enabled = {compact_step(step): step for step in machine.enabled(state)}
        if wanted not in enabled:
            raise LookupError(f"step {number}, {wanted}, is not enabled; enabled are {', '.join(enabled)}")
        state = machine.apply(state, enabled[wanted]).state
    return state


def ahead(bound: Program, state: State, predicate: str) -> tuple[int, bool]:
    """How many states are found ahead of `state` without faults, until the predicate is true in one, and
    whether it is.

    Raises:
        SpecError: the specification has an error in a state on the way.
    """
    transitions = transitions_of(bound)
    space = TransitionSpace(transitions, [state], faults=False)
    test = transitions.predicate(predicate)
    search = Search(space, exhaustive=False, extra={predicate: lambda value: test(transitions.pack(value))})
    search.run()
    if space.failure is not None:
        raise space.failure
    return len(space), predicate in search.decided


def asked_once() -> tuple[bool, str]:
    """Whether a body that was lost, with the one request for it, before another message was numbered, still
    arrives in figure 16.
    """
    repairs = [
        item.name
        for item in program(RbpChecked).declaration.constants
        if item.repair and item.name != "repeat_requests"
    ]
    bound = program(
        RbpChecked, repairs=repairs, processes=3, messages=2, losses=2, unlimited=True, urgent=True
    )
    count, met = ahead(bound, follow(bound, ASKED_ONCE), "UniformAgreement")
    where = f"{count:,} states lie ahead without faults"
    return (
        met,
        (
            f"after {len(ASKED_ONCE)} steps, two of them losses, {where}, and p0 "
            f"{'has m0 in one' if met else 'has m0 in none'} of them"
        ),
    )


def seven_messages() -> tuple[bool, str]:
    """Whether a process of DTP, among three with all repairs and no loss, keeps the 3n - 2 MSGs and n - 1
    ACKs that are the most there can be.
    """
    bound = program(DtpChecked, repairs="all", processes=3, messages=7, losses=0, timeouts=0, nulls=0)
    messages, acks = _kept(bound, follow(bound, SEVEN_MESSAGES), 0)
    run = f"after {len(SEVEN_MESSAGES)} steps, no loss among them"
    found = f"{run}, a process keeps {messages} MSGs and {acks} ACKs; 2n - 1 is 5, 3n - 2 is 7"
    return (messages, acks) == (7, 2), found


def idle_rounds() -> tuple[bool, str]:
    """Whether a process of DTP, among three without a loss, keeps one MSG and one ACK more after each round
    when an ACK does not carry the status of its sender, and nothing when it does.
    """
    growth = []
    for without in ((), ("carry_status",)):
        bound = program(
            DtpChecked, repairs="all", without=without, processes=3, messages=4, losses=0, timeouts=0, nulls=2
        )
        growth.append(
            [
                _kept(bound, follow(bound, [step for k in range(rounds) for step in idle_round(k + 1)]), 0)
                for rounds in (2, 4)
            ]
        )
    return growth == [[(0, 0), (0, 0)], [(2, 2), (4, 4)]], (
        f"after 2 and 4 rounds of {len(idle_round(1))} steps, no loss among them, a process keeps "
        f"{growth[1][0][0]} and {growth[1][1][0]} MSGs, {growth[1][0][1]} and {growth[1][1][1]} ACKs; where "
        f"every ACK carries the status, {growth[0][0][0]} and {growth[0][1][0]}"
    )


def _kept(bound: Program, state: State, process: int) -> tuple[int, int]:
    """How many MSGs and ACKs the buffer of a process of DTP holds."""
    buffer, acks = (state[bound.variables.index(name)][process] for name in ("buffer", "acks"))
    return len(buffer), sum(ack is not None for ack in acks)
