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


SIX_MESSAGES = (
    "broadcast(p0, m0)",
    "acknowledge(p0, m0, p1)",
    "broadcast(p1, m1)",
    "broadcast(p2, m2)",
    "receive_next_message(Msg(p1, m2))",
    "receive_next_message(Msg(p1, m0))",
    "broadcast(p0, m3)",
    "receive_next_message(Msg(p1, m3))",
    "receive_next_message(Msg(p0, m2))",
    "receive_next_message(Msg(p2, m1))",
    "receive_next_message(Msg(p2, m0))",
    "receive_next_ack(Ack(p1, p0, m0, 1, p1))",
    "acknowledge(p1, m2, p2)",
    "receive_early_ack(Ack(p2, p1, m2, 2, p2))",
    "broadcast(p2, m4)",
    "receive_next_message(Msg(p1, m4))",
    "receive_next_message(Msg(p0, m4))",
    "receive_next_message(Msg(p0, m1))",
    "receive_next_message(Msg(p2, m3))",
    "receive_next_ack(Ack(p2, p0, m0, 1, p1))",
    "acknowledge(p2, m4, p0)",
    "broadcast(p2, m5)",
    "receive_next_message(Msg(p0, m5))",
)
"""DTP with all repairs: nobody tells p0 what others have, while it sends two updates, p1 one and p2 three."""


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


def six_messages() -> tuple[bool, str]:
    """Whether a process of DTP, among three with all repairs and no loss, keeps more than the 2n - 1 MSGs
    that the paper allows.
    """
    bound = program(DtpChecked, repairs="all", processes=3, messages=6, losses=0, timeouts=0, nulls=0)
    state = follow(bound, SIX_MESSAGES)
    kept = max(len(buffer) for buffer in state[bound.variables.index("buffer")])
    broken = not bound.reference.holds(state, "MessageBound")
    run = f"after {len(SIX_MESSAGES)} steps, no loss among them"
    return broken, f"{run}, a process keeps {kept} MSGs; 2n - 1 is 5"
