"""Scripted runs: a script of steps leads to a state, and all continuations without faults are explored.

Such a run decides a claim where the whole state space is too large: the script is executed, and the states
after it are explored completely.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from antiphon.model.engines import transitions_of
from antiphon.model.engines.over_transitions import TransitionSpace
from antiphon.model.explore.search import Search
from antiphon.model.notation import compact_step
from antiphon.spec.lang import Disabled, Program, State, program
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
"""Script: the body of m0 does not get to p0, and neither does p0's request for it to p1; then m1 is numbered,
and no message names m0 any more.
"""


class _Script:
    """Script of a run of DTP under construction: its steps as text. Updates are numbered in the order of
    their broadcasts, ACKs by gsn.
    """

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.updates = 0
        self._acks: list[str] = []

    def broadcast(self, p: int) -> int:
        """Add the step in which process p broadcasts the next update; return the number of the update."""
        self.steps.append(f"broadcast(p{p}, m{self.updates})")
        self.updates += 1
        return self.updates - 1

    def acknowledge(self, p: int, update: int, next_holder: int) -> None:
        """Add the step in which process p assigns the next gsn to an update, and passes the token to
        `next_holder`.
        """
        self._acks.append(f"p{p}, m{update}, {len(self._acks) + 1}, p{next_holder}")
        self.steps.append(f"acknowledge(p{p}, m{update}, p{next_holder})")

    def receive(self, p: int, *updates: int) -> None:
        """Add the steps in which the MSGs of these updates arrive at process p."""
        self.steps += [f"receive_next_message(Msg(p{p}, m{update}))" for update in updates]

    def receive_acks(self, p: int, numbers: range) -> None:
        """Add the steps in which the ACKs of these gsns arrive at process p."""
        self.steps += [f"receive_next_ack(Ack(p{p}, {self._acks[number - 1]}))" for number in numbers]


def fullest_buffer(n: int) -> tuple[tuple[str, ...], int]:
    """Return a run of DTP with n processes, three at least, with all repairs and no loss, after which p0 has
    as many MSGs as possible; and the number of updates.

    1. Each of p0 to p(n-2) gives its own update a gsn. The last process reports no receipt, so that p0 must
      keep these n - 1 MSGs, with their ACKs.
    2. The last process and then p1 to p(n-2) give a gsn each, and their ACKs are late at p0: n - 1 MSGs more.
    3. From each process p0 has one more MSG, which has no gsn yet: n MSGs.
    """
    run, last = _Script(), n - 1
    first: list[int] = []
    for p in range(last):
        update = run.broadcast(p)
        run.receive(p, *first)
        run.receive_acks(p, range(1, p + 1))
        run.acknowledge(p, update, p + 1)
        first.append(update)
    silent = run.broadcast(last)
    second = {p: run.broadcast(p) for p in range(1, last)}
    run.receive(0, *first[1:])
    run.receive_acks(0, range(2, n))
    own = run.broadcast(0)
    run.receive(last, *first, own, second[1])
    run.receive_acks(last, range(1, n))
    run.acknowledge(last, second[1], 1)
    late = [second[1]]
    for p in range(1, last):
        run.receive(p, *first[p + 1 :], *(late if p > 1 else ()))
        run.receive_acks(p, range(p + 2, n + p))
        update = run.broadcast(p) if p == 1 else second[p]
        run.acknowledge(p, update, (p + 1) % last)
        late.append(update)
    waiting = [run.broadcast(p) for p in range(1, last)]
    run.receive(0, *late, *waiting, silent)
    return tuple(run.steps), run.updates


def idle_round(number: int) -> tuple[str, ...]:
    """Return the script of a round of DTP among three processes: p0 sends and acknowledges an update, and the
    token comes back to p0 by two NULLs. All messages arrive but the NULL of p1 at p0.
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
    """Return the state after the steps of a script, each in the compact notation.

    Raises:
        LookupError: a step is not enabled; the message lists the enabled ones.
    """
    state = bound.reference.initial()[0]
    for number, wanted in enumerate(script, 1):
        after = _after(bound, state, wanted)
        if after is None:
            enabled = ", ".join(map(compact_step, bound.reference.enabled(state)))
            raise LookupError(f"step {number}, {wanted}, is not enabled; enabled are {enabled}")
        state = after
    return state


def _after(bound: Program, state: State, wanted: str) -> State | None:
    """Return the state after the enabled step whose compact notation is `wanted`, or None."""
    action = wanted.partition("(")[0]
    if not any(method.name == action for method in bound.declaration.marked("action", "environment")):
        return None
    machine = bound.reference
    for step in machine.candidates(state, action):
        if compact_step(step) == wanted:
            with suppress(Disabled):
                return machine.apply(state, step).state
    return None


def ahead(bound: Program, state: State, predicate: str) -> tuple[int, bool]:
    """Count the states reachable from `state` without faults, and stop when the predicate is true in one.
    Return the count, and whether it became true.

    Raises:
        SpecError: the specification has an error in a reached state.
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
    """Test whether a body that was lost, with the one request for it, before another message was numbered,
    still arrives in figure 16.
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


def fullest_buffers() -> tuple[bool, str]:
    """Test whether a process of DTP, among three and among four with all repairs and no loss, keeps the 3n -
    2 MSGs and n - 1 ACKs that are the most there can be.
    """
    good, found = True, []
    for n in (3, 4):
        script, updates = fullest_buffer(n)
        bound = program(
            DtpChecked, repairs="all", processes=n, messages=updates, losses=0, timeouts=0, nulls=0
        )
        messages, acks = _buffer_sizes(bound, follow(bound, script), 0)
        good = good and (messages, acks) == (3 * n - 2, n - 1)
        found.append(
            f"after {len(script)} steps of {n} processes, no loss among them, one keeps {messages} MSGs and "
            f"{acks} ACKs; 2n - 1 is {2 * n - 1}, 3n - 2 is {3 * n - 2}"
        )
    return good, "; ".join(found)


def idle_rounds() -> tuple[bool, str]:
    """Test whether a process of DTP, among three without a loss, keeps one MSG and one ACK more after each
    round when an ACK does not carry the status of its sender, and nothing when it does.
    """
    growth = []
    for without in ((), ("carry_status",)):
        bound = program(
            DtpChecked, repairs="all", without=without, processes=3, messages=4, losses=0, timeouts=0, nulls=2
        )
        growth.append(
            [
                _buffer_sizes(
                    bound, follow(bound, [step for k in range(rounds) for step in idle_round(k + 1)]), 0
                )
                for rounds in (2, 4)
            ]
        )
    return growth == [[(0, 0), (0, 0)], [(2, 2), (4, 4)]], (
        f"after 2 and 4 rounds of {len(idle_round(1))} steps, no loss among them, a process keeps "
        f"{growth[1][0][0]} and {growth[1][1][0]} MSGs, {growth[1][0][1]} and {growth[1][1][1]} ACKs; where "
        f"every ACK carries the status, {growth[0][0][0]} and {growth[0][1][0]}"
    )


def _buffer_sizes(bound: Program, state: State, process: int) -> tuple[int, int]:
    """Return the numbers of MSGs and ACKs in the buffer of a process of DTP."""
    buffer, acks = (state[bound.variables.index(name)][process] for name in ("buffer", "acks"))
    return len(buffer), sum(ack is not None for ack in acks)
