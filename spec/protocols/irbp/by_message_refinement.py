"""Figure 32 message by message refines figure 32: through the mapping, each of its steps is one step of
figure 32, several in a row, or none.

The reception of a call, a report or a decision is a stutter in figure 32; steps 5 to 7 and the first NULL of
the next list are steps of their own. Figure 32 does not record proposals that are made after the decision. It
forgets a report as soon as the report's sender has installed the list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from antiphon.spec.lang import Set, Step, action, constraint, require
from antiphon.spec.protocols.irbp.bounds import IrbpBounded
from antiphon.spec.protocols.irbp.by_message import IrbpByMessage
from antiphon.spec.protocols.irbp.figure32 import Phase, Proposal
from antiphon.spec.protocols.irbp.normal_phase import Ack, Sequenced
from antiphon.spec.refinement import Refinement
from antiphon.spec.services import Broadcast, Crash, Message, Process
from antiphon.spec.services.detectors import Suspect


class Figure32(IrbpBounded):
    """Figure 32 as the abstract machine of this mapping: NULL takes any number, late messages are not
    distinguished from repeated ones, and recvQ has any order. `IrbpBounded` differs from it only to limit or
    to order explorations.
    """

    @constraint("pass_null")
    def spares_numbers(self, p: Process) -> bool:
        """Return True: NULL takes any number."""
        return True

    @constraint("pass_null")
    def is_wanted(self, p: Process) -> bool:
        """Return True: NULL may be passed at any time."""
        return True

    def is_sent_again(self, p: Process, m: Message) -> bool:
        """Return True: every message counts as sent again, so that `receive` takes late copies as well."""
        return True

    def is_told_again(self, p: Process, ack: Ack) -> bool:
        """Return True: every acknowledgement counts as sent again, so that `hear` takes late and repeated
        ones.
        """
        return True

    @action(fairness="weak")
    def sequence_any(self, p: Process, m: Message) -> None:
        """Give a number to any message without one, since any can be the first of recvQ (line 59)."""
        require(m in self.received[p] and not self.is_numbered(p, m) and self.holds_token(p))
        self.send_number(p, m)

    def may_install(self, p: Process) -> bool:
        """Return True if p may install the new list, or if p kills itself instead: the repair `deliver_first`
        delays only processes that install the list.
        """
        decided = self.decided(p)
        return super().may_install(p) or (decided is not None and p not in decided.members)


class ByMessageIsFigure32(IrbpByMessage):
    """Figure 32 message by message, with helpers that compute, from its state, the state of figure 32 that it
    refines.
    """

    def seen_report(self, p: Process) -> Set[Sequenced]:
        """Return the report of p; an empty set once p has installed the next list or is excluded."""
        return Set() if self.phase[p] == Phase.normal or self.left[p] else self.reported[p]

    def seen_proposal(self, p: Process) -> Proposal | None:
        """Return the proposal of p; None once p's list has a decision."""
        return None if self.decision[self.version[p]] is not None else self.proposal[p]


class Mapped(ByMessageIsFigure32, refines=Figure32):
    """Mapping of the message-by-message state to figure 32."""

    def reported(self, p: Process) -> Set[Sequenced]:  # type: ignore[override]
        """Return p's report as figure 32 has it: empty once p has installed the next list."""
        return self.seen_report(p)

    def proposal(self, p: Process) -> Proposal | None:  # type: ignore[override]
        """Return p's proposal as figure 32 has it: None once p's list has a decision."""
        return self.seen_proposal(p)


def steps_of_figure32(
    before: Mapping[str, Any], after: Mapping[str, Any], events: tuple[Any, ...]
) -> tuple[Step, ...]:
    """Return the steps of figure 32 that explain a change of one process, in order."""
    for event in events:
        match event:
            case Crash(process=p) if after["down"][p.index] and not before["down"][p.index]:
                return (Step("crash", (p,)),)
            case Suspect(process=p, suspected=q):
                return (Step("detect" if before["down"][q.index] else "suspect", (p, q)),)
            case Broadcast(process=p, message=m):
                return (Step("broadcast", (p, m)),)
    if before["called"] != after["called"]:
        return _call(before, after)
    if before["decision"] != after["decision"]:
        (value,) = set(after["decision"]) - set(before["decision"])
        return (Step("decide", (Process(before["proposal"].index(value)),)),)
    for at in range(len(before["version"])):
        steps = _steps_of(at, before, after)
        if steps:
            return steps
    return ()


def _call(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Step, ...]:
    """Return one call that explains the change. Figure 32 does not record the caller, so it is the first
    process that suspects a member of the ending list.
    """
    (version,) = (v + 1 for v, called in enumerate(after["called"]) if called != before["called"][v])
    return tuple(
        Step("call", (Process(p), q))
        for p, own in enumerate(before["version"])
        if own == version and before["phase"][p] is Phase.normal
        for q in sorted(before["listed"][version - 1])
        if before["suspected"][p][q.index]
    )[:1]


def _steps_of(at: int, before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Step, ...]:
    """Return the steps of one process, the one with index `at`, that explain its change."""
    p, version = Process(at), before["version"][at]
    if after["version"][at] > version or after["left"][at] != before["left"][at]:
        items = before["decision"][version - 1].messages | before["stable"][at]
        last = before["last_delivered"][at]
        rest = [item for item in items if item.number > last and not after["left"][at]]
        begins = any(ack.sender == p for ack in after["acks"] - before["acks"])
        waits = before["phase"][at] is Phase.changing
        return (
            *([Step("propose", (p, _have_reported(version, before)))] if waits else []),
            Step("adopt", (p,)),
            *(Step("deliver", (p, item)) for item in sorted(rest, key=lambda item: item.number)),
            Step("install", (p,)),
            *([Step("pass_null", (p,))] if begins else []),
        )
    if after["phase"][at] is Phase.changing and before["phase"][at] is Phase.normal:
        return (Step("report", (p,)),)
    if after["phase"][at] is Phase.agreeing and before["phase"][at] is Phase.changing:
        proposed = after["proposal"][at]
        heard = _have_reported(version, before) if proposed is None else proposed.members
        return (Step("propose", (p, heard)),)
    for item in after["stable"][at] - before["stable"][at]:
        return (Step("settle", (p, item)),)
    for item in before["stable"][at] - after["stable"][at]:
        return (Step("deliver", (p, item)),)
    for ack in after["acks"] - before["acks"]:
        if ack.sender == p:
            numbers = Step("sequence_any", (p, ack.message))
            return (Step("pass_null", (p,)) if ack.message is None else numbers,)
    for item in after["numbered"][at] - before["numbered"][at]:
        ack = next(
            ack
            for ack in before["acks"]
            if (ack.version, ack.number, ack.message) == (version, item.number, item.message)
        )
        return (Step("hear", (p, ack)),)
    return tuple(Step("receive", (p, m)) for m in after["received"][at] - before["received"][at])

def _have_reported(version: int, before: Mapping[str, Any]) -> frozenset[Process]:
    """Return the processes that have reported for the list `version`. They count as received by everybody,
    since figure 32 does not record whose reports a process has received.
    """
    return frozenset(
        Process(q)
        for q, other in enumerate(before["version"])
        if other > version or (other == version and before["phase"][q] is not Phase.normal)
    )


IRBP_BY_MESSAGE = Refinement(
    Mapped,
    Figure32,
    explain=steps_of_figure32,
    bounds={
        "processes": 3, "messages": 1, "highest": 4, "crashes": 1, "false_suspicions": 0, "views": 2,
        "announced": True, "detected_at_once": True, "assigned": True,
    },
)  # fmt: skip
