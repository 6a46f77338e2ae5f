"""iRBP with both kinds of views: figures 32 and 34 in one group, started by two failure detectors.

Source: Barchet-Estefanel 2002, sections 4.4.3 to 4.4.5. Each figure is as its own file has it; this module
adds what the prose says of the two together.

| sections 4.4.3 to 4.4.5                              | here                                             |
|------------------------------------------------------|--------------------------------------------------|
| R-Broadcast (i-view, i), (reformation, i)            | `called[i]`, `reformed[i]`                       |
| p has R-delivered them                               | `begun[p]`                                       |
| p has ended step 2 of them                           | `awaited[p]`                                     |
| initial values of figure 34 and of figure 32         | `proposal[p]`, `regular_proposal[p]`             |
| the decisions of figure 34 and of figure 32          | `decision[i]`, `ruling[i]`                       |
| "an i-view is installed each time a suspect is raised" (aggressive) | `suspected`, `call` |
| "generate regular view changes" (conservative)        | `call_regular`, `misjudge`                       |
| regular view, and the group between two of them      | `regular[v]`, `group(p)`                         |
| "one or more processes keep messages while there is available space" | `kept[p]`, at most `room`         |
| "request message retransmissions"                    | `fetch`                                          |
| "no more in the buffers", suicide                    | `refuse`                                         |

What is decided, because the text is silent:
1. Whoever takes part in both changes adopts the decision that it learns first, and has no use for the other.
2. The conservative detector has longer timeouts: a process that it suspects wrongly is suspected by the
   aggressive one too. A process that it suspects rightly has stopped.
3. "When buffers are full": the lowest number makes room. A regular view empties the buffers.
4. A process that has gone on has answered the call of the view that it went on to; that it had answered the
   other call too is forgotten.
5. A regular view is announced to the application, an i-view is not: "During the existence of the i-views
   [...] the ordinary view remains v_i" (section 4.3.5).
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from antiphon.spec.lang import (
    Between,
    Const,
    Map,
    Set,
    action,
    environment,
    everywhere,
    require,
)
from antiphon.spec.protocols.irbp.figure32 import Phase, Proposal
from antiphon.spec.protocols.irbp.figure34 import IViewChange
from antiphon.spec.protocols.irbp.normal_phase import Number, Sequenced
from antiphon.spec.services import Process, View


class Kind(Enum):
    """Kind of a view: figure 34 installs i-views, figure 32 regular views."""

    intermediate, regular = range(2)


class TwoViews(IViewChange):
    """iRBP with i-views and regular views."""

    room: Const[int] = 0
    """Number of messages that a process keeps after their delivery; RBP keeps none (0)."""

    keepers: Const[int] = 3
    """Number of processes that keep messages after delivery: the first ones of the group."""

    misjudgements: Const[int] = 0
    """Number of times that the conservative detector is wrong."""

    misjudged: Annotated[int, Between(0, "misjudgements")] = 0
    reformed: Map[View, bool] = everywhere(False)
    begun: Map[Process, Set[Kind]] = everywhere(Set())
    awaited: Map[Process, Set[Kind]] = everywhere(Set())
    regular_proposal: Map[Process, Proposal | None] = everywhere(None)
    ruling: Map[View, Proposal | None] = everywhere(None)
    adopted: Map[Process, Kind | None] = everywhere(None)
    regular: Map[View, bool] = everywhere(False)
    kept: Map[Process, Set[Sequenced]] = everywhere(Set())

    # The group and its core ---------------------------------------------------------------------------------

    def group(self, p: Process) -> Set[Process]:
        """Return the last regular view: the core and the external processes."""
        v = max((v for v in self.each(View) if v <= self.version[p] and self.regular[v]), default=1)
        return self.listed[v]

    def is_external(self, p: Process) -> bool:
        """Return True if p is up, and not in the core."""
        return not self.is_gone(p) and not self.is_core(p)

    def draw(self) -> str:
        """Draw the lists as SVG, one row for each: its members in boxes, and below them the processes that
        use the list.

        A thick frame is a regular view, a thin one an i-view. An external process has a dashed frame.
        """
        parts: list[str] = []
        for row, v in enumerate(v for v in self.each(View) if v == 1 or self.listed[v]):
            y, name = 20 + 66 * row, "regular view" if v == 1 or self.regular[v] else "i-view"
            width = 3 if name == "regular view" else 1
            parts.append(f'<text x="6" y="{y + 17}">{v}: {name}</text>')
            for p in self.each(Process):
                x, on = 120 + 70 * p.index, p in self.listed[v]
                dash = "" if on else ' stroke-dasharray="3"'
                if on or (self.version[p] == v and self.is_external(p)):
                    parts.append(
                        f'<rect x="{x}" y="{y}" width="52" height="26" fill="none" stroke="#222" '
                        f'stroke-width="{width}"{dash}/><text x="{x + 16}" y="{y + 17}">p{p.index}</text>'
                    )
                if self.version[p] == v:
                    here = "gone" if self.is_gone(p) else "here"
                    parts.append(f'<text x="{x + 10}" y="{y + 42}" font-size="11">{here}</text>')
        size = f'viewBox="0 0 420 {40 + 66 * self.views}" width="420"'
        return f'<svg {size} font-family="sans-serif" font-size="13">{"".join(parts)}</svg>'

    # Regular views are called -------------------------------------------------------------------------------

    @action(fairness="weak")
    def call_regular(self, p: Process, q: Process) -> None:
        """Call a regular view upon a suspicion of the conservative detector: R-Broadcast (reformation, i)."""
        require(self.is_gone(q) and self.may_call_regular(p, q))
        self.reformed[self.version[p]] = True

    @environment
    def misjudge(self, p: Process, q: Process) -> None:
        """Suspect q wrongly by the conservative detector of p: R-Broadcast (reformation, i)."""
        require(not self.is_gone(q) and self.misjudged < self.misjudgements and self.may_call_regular(p, q))
        self.misjudged += 1
        self.reformed[self.version[p]] = True
        if self.may_begin(p, q):
            self.begin(p, q)

    def may_call_regular(self, p: Process, q: Process) -> bool:
        """Return True if p may call a regular view because of q: p is in the normal phase, watches q, and no
        regular view after p's present list has been called yet.
        """
        return (
            not self.is_gone(p)
            and p != q
            and self.phase[p] == Phase.normal
            and self.is_watched(p, q)
            and not self.reformed[self.version[p]]
            and self.has_view_left(p)
        )

    def is_watched(self, p: Process, q: Process) -> bool:
        """Return True if the conservative detector of p watches q: any process of the group
        (section 4.4.5).
        """
        return q in self.group(p)

    # Steps 1 to 5 of both figures ---------------------------------------------------------------------------

    def may_answer(self, p: Process, kind: Kind) -> bool:
        """Return True if p can R-deliver the call for a view of this kind: for the first time, before p
        adopts a decision.
        """
        return self.phase[p] != Phase.adopting and kind not in self.begun[p]

    @action(fairness="weak")
    def report(self, p: Process) -> None:
        """Send the ack for an i-view to all (figure 34, step 1)."""
        require(self.called[self.version[p]] and self.may_answer(p, Kind.intermediate))
        self.begin_change(p)
        self.begun[p] |= {Kind.intermediate}
        self.acknowledge(p)

    @action(fairness="weak")
    def report_regular(self, p: Process) -> None:
        """Send seqQ_k for a regular view to all (figure 32, step 1)."""
        require(self.reformed[self.version[p]] and self.may_answer(p, Kind.regular))
        self.begin_change(p)
        self.begun[p] |= {Kind.regular}
        self.send_report(p)

    def begin_change(self, p: Process) -> None:
        """Leave the normal phase, unless p has left it because of a call for the other kind of view."""
        if self.phase[p] == Phase.normal:
            self.phase[p] = Phase.changing

    def may_await(self, p: Process, heard: Set[Process], kind: Kind) -> bool:
        """Return True if p is in step 2 after the call for a view of this kind, and all processes in `heard`
        have answered the call.
        """
        return (
            kind in self.begun[p]
            and kind not in self.awaited[p]
            and all(self.has_answered(q, p, kind) for q in heard)
        )

    def has_answered(self, q: Process, p: Process, kind: Kind) -> bool:
        """Return True if q has answered the call for a view of this kind, in the view change in which p
        is.
        """
        if self.version[q] > self.version[p]:
            return self.regular[self.version[p] + 1] == (kind == Kind.regular)
        return kind in self.begun[q]

    def is_waiting(self, p: Process) -> bool:
        """Return True if p has answered a call, and adopted no decision yet (steps 1-5 of either figure)."""
        return self.phase[p] == Phase.changing or self.phase[p] == Phase.agreeing

    @action(fairness="weak", per="p")
    def propose(self, p: Process, heard: Set[Process]) -> None:
        """Propose an i-view (figure 34, steps 2-4)."""
        require(self.may_await(p, heard, Kind.intermediate))
        super().propose(p, heard)
        self.awaited[p] |= {Kind.intermediate}

    @action(fairness="weak", per="p")
    def propose_regular(self, p: Process, heard: Set[Process]) -> None:
        """Propose a regular view (figure 32, steps 2-4)."""
        require(self.is_waiting(p) and self.may_propose(p, heard) and self.may_await(p, heard, Kind.regular))
        self.phase[p] = Phase.agreeing
        self.awaited[p] |= {Kind.regular}
        if p in self.token_list(p) and self.is_undecided(p, Kind.regular):
            self.regular_proposal[p] = self.regular_value(p, self.regular_members(p, heard))

    @action(fairness="weak")
    def decide(self, p: Process) -> None:
        """Decide an i-view (figure 34, step 4)."""
        require(self.is_undecided(p, Kind.intermediate))
        super().decide(p)

    @action(fairness="weak")
    def decide_regular(self, p: Process) -> None:
        """Decide a regular view (figure 32, step 4)."""
        v = self.version[p]
        proposed = self.regular_proposal[p]
        require(proposed is not None and self.is_undecided(p, Kind.regular))
        require(self.has_regular_majority(p) and self.is_majority_up(p))
        self.ruling[v] = proposed
        for q in self.each(Process):
            self.regular_proposal[q] = None

    def has_regular_majority(self, p: Process) -> bool:
        """Return True if a majority of TL_i has begun the consensus of figure 32 (step 4)."""
        members = self.token_list(p)
        return 2 * sum(1 for q in members if self.takes_part_in_regular(q, p)) > len(members)

    def takes_part_in_regular(self, q: Process, p: Process) -> bool:
        """Return True if q has begun the consensus of figure 32."""
        return self.version[q] == self.version[p] and self.regular_proposal[q] is not None

    def regular_members(self, p: Process, heard: Set[Process]) -> Set[Process]:
        """Return the members of a regular view (step 3): `all processes that sent their seqQ`."""
        return Set() | {q for q in self.members_of(p, heard) if Kind.regular in self.begun[q]}

    def regular_value(self, p: Process, members: Set[Process]) -> Proposal:
        """Return the value to propose for a regular view (step 3): (TL_k, Msgs_k)."""
        return Proposal(members, self.messages_of(p, members), self.bodies_of(members))

    def is_undecided(self, p: Process, kind: Kind) -> bool:
        """Return True if no view of this kind is decided yet after p's list: each figure has its own
        `consensus among TL_i processes`.
        """
        v = self.version[p]
        return self.ruling[v] is None if kind == Kind.regular else self.decision[v] is None

    # Steps 5 to 7 of both figures ---------------------------------------------------------------------------

    @action(fairness="weak")
    def adopt(self, p: Process) -> None:
        """Adopt the decision on an i-view (figure 34, step 5)."""
        require(Kind.intermediate in self.awaited[p])
        super().adopt(p)
        self.adopted[p] = Kind.intermediate

    @action(fairness="weak")
    def adopt_regular(self, p: Process) -> None:
        """Adopt the decision on a regular view (figure 32, steps 5-6)."""
        require(self.phase[p] == Phase.agreeing and Kind.regular in self.awaited[p])
        decided = self.ruling[self.version[p]]
        require(decided is not None)
        if decided is not None:
            self.phase[p] = Phase.adopting
            self.adopted[p] = Kind.regular
            self.take(p, decided)

    @action(fairness="weak")
    def install(self, p: Process) -> None:
        """Install the list (figure 34, step 6, or figure 32, step 7)."""
        super().install(p)
        if not self.left[p]:
            self.begun[p] = Set()
            self.awaited[p] = Set()
            self.adopted[p] = None

    def is_regular(self, p: Process) -> bool:
        """Return True if p has adopted the decision of figure 32."""
        return self.adopted[p] == Kind.regular

    def decided(self, p: Process) -> Proposal | None:
        """Return the decision that p has adopted: that of figure 32 for a regular view, else that of figure
        34.
        """
        return self.ruling[self.version[p]] if self.is_regular(p) else super().decided(p)

    def has_else(self, p: Process) -> bool:
        """Return True if p installs a regular view: figure 32, step 7, has an `else`, and step 6 of figure 34
        only as repaired.
        """
        return self.is_regular(p) or super().has_else(p)

    def stay_outside(self, p: Process, members: Set[Process]) -> None:
        """Kill p if it is outside a regular view (figure 32, step 7: `else suicide`); outside an i-view run
        the `else` of figure 34.
        """
        if self.is_regular(p):
            self.leave(p)
        else:
            super().stay_outside(p, members)

    def go_on(self, p: Process, members: Set[Process]) -> None:
        """Go on with the new list, a regular view or an i-view."""
        super().go_on(p, members)
        self.proposal[p] = None
        self.regular_proposal[p] = None
        if self.is_regular(p):
            self.regular[self.version[p]] = True
            self.kept[p] = Set()

    def announce(self, p: Process, members: Set[Process]) -> None:
        """Tell the application of the view if it is a regular one, not if it is an i-view."""
        if self.is_regular(p):
            super().announce(p, members)

    # Delayed collection, retransmission, suicide ------------------------------------------------------------

    @action(fairness="weak")
    def deliver(self, p: Process, item: Sequenced) -> None:
        """Deliver a message; a process that keeps messages for others keeps the last `room` of them."""
        super().deliver(p, item)
        if p.index < self.keepers:
            self.kept[p] = Set() | {
                one for one in self.kept[p] | {item} if one.number > item.number - self.room
            }

    def first_missed(self, p: Process) -> Number | None:
        """Return the lowest number after lastdelivered_p whose message is not stable at p; None if there is
        none.
        """
        return next(
            (
                k
                for k in self.each(Number)
                if k > self.last_delivered[p] and not any(item.number == k for item in self.stable[p])
            ),
            None,
        )

    def has_kept(self, q: Process, k: Number | None) -> bool:
        """Return True if q has kept the message of number k, and can send it."""
        return any(item.number == k for item in self.stable[q] | self.kept[q])

    def may_ask(self, p: Process, q: Process) -> bool:
        """Return True if p is an external process of its group and may ask q: q is on the list of the group's
        ring, and the first message that p lacks is settled at q.
        """
        k = self.first_missed(p)
        return (
            self.is_external(p)
            and self.is_active(p)
            and self.is_with(q, p)
            and self.is_core(q)
            and k is not None
            and k <= self.settled(q)
        )

    @action(fairness="weak")
    def fetch(self, p: Process, q: Process, item: Sequenced) -> None:
        """Fetch at p, from q, which has kept it, the first message that p lacks."""
        require(self.may_ask(p, q) and item in self.stable[q] | self.kept[q])
        require(self.first_missed(p) == item.number)
        self.stable[p] |= {item}
        self.numbered[p] = Set() | {one for one in self.numbered[p] if one.number != item.number}
        self.drop_body(p, item.message)
        self.last_number[p] = max(self.last_number[p], self.contiguous(p))
        self.stop_sending(p)

    @action(fairness="weak")
    def refuse(self, p: Process, q: Process) -> None:
        """Refuse the message that p asks for: q answers "no more in the buffers", and p must
        commit suicide.
        """
        require(self.may_ask(p, q) and self.misses_body(p) and self.refuses(p, q))
        self.give_up(p)

    def refuses(self, p: Process, q: Process) -> bool:
        """Return True if q has not kept the message that p asks for."""
        return not self.has_kept(q, self.first_missed(p))

    def misses_body(self, p: Process) -> bool:
        """Return True if p lacks the body or the number of the first message that is not stable."""
        k = self.first_missed(p)
        return not any(item.number == k and self.has_body(p, item.message) for item in self.numbered[p])

    def give_up(self, p: Process) -> None:
        """Kill p, which cannot get its missing messages (section 4.4.3: `it is obligated to commit
        suicide`).
        """
        self.leave(p)

    def leaves_first(self) -> bool:
        """Return False: a process calls no view change before it gives up; section 4.4.3 mentions none."""
        return False
