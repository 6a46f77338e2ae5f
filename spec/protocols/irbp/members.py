"""Processes that join and leave iRBP by regular views. Section 4.4.5 of the report asks for this and does not
say how.

Source: Barchet-Estefanel 2002, section 4.4.5: "The most obvious events that require regular views are those
who explicitly force the modification of the membership group, i.e., the join and leave operations", and the
"fair" suicide: to "execute leave before committing suicide".

What is decided here, in the way of figure 32:
1. A process that leaves calls a view change and says so in its report. It takes part in the steps, and is not
   on the proposed list: so it delivers the same messages as the others, and stops at step 7.
2. A process that joins asks a member, which calls a view change. A member that proposes puts on the list the
   processes that have asked.
3. A process that joined begins with the ts and lastdelivered of the others. Earlier messages belong to the
   state that an application hands over, and are not delivered to it.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    Between,
    Const,
    Map,
    Set,
    action,
    emit,
    environment,
    everywhere,
    guard,
    initial,
    require,
)
from antiphon.spec.protocols.irbp.bounds import ViewsFinite
from antiphon.spec.protocols.irbp.figure32 import Phase
from antiphon.spec.protocols.irbp.normal_phase import LastNumber
from antiphon.spec.services import Install, Process, View


class JoinAndLeave(ViewsFinite):
    """iRBP, where up to `leaves` members leave, and the last `joiners` processes may join."""

    leaves: Const[int] = 1

    asked_to_leave: Annotated[int, Between(0, "leaves")] = 0
    leaving: Map[Process, bool] = everywhere(False)
    joining: Set[Process] = Set()
    begun_after: Map[View, LastNumber] = everywhere(0)

    @initial
    def start(self) -> None:
        """Begin with all processes but the joiners in the first list."""
        super().start()
        self.listed[1] -= {p for p in self.each(Process) if not self.begins_in_first(p)}

    @guard
    def is_member(self, p: Process) -> bool:
        """Return True if p is on the list that it uses."""
        return p in self.token_list(p)

    def is_active(self, p: Process) -> bool:
        """Return True if p is active, and a member."""
        return super().is_active(p) and self.is_member(p)

    @environment
    def ask_to_leave(self, p: Process) -> None:
        """Call a view change for a member p that wants to leave: R-Broadcast (reformation, i)."""
        require(self.asked_to_leave < self.leaves and self.is_member(p) and not self.is_gone(p))
        require(self.phase[p] == Phase.normal and not self.leaving[p] and self.version[p] < self.views)
        self.asked_to_leave += 1
        self.leaving[p] = True
        self.called[self.version[p]] = True

    @environment
    def ask_to_join(self, p: Process, q: Process) -> None:
        """Ask a member q to take p in; q calls a view change."""
        require(not self.begins_in_first(p) and p not in self.joining and not self.is_gone(p))
        require(self.is_member(q) and not self.is_gone(q))
        require(self.phase[q] == Phase.normal and self.version[q] < self.views)
        self.joining |= {p}
        self.called[self.version[q]] = True

    def members_of(self, p: Process, heard: Set[Process]) -> Set[Process]:
        """Return the members of the next list (step 3): without those that leave, with those that join."""
        return Set() | {
            q for q in self.each(Process) if (q in heard and not self.leaving[q]) or self.is_taken_in(q)
        }

    def is_taken_in(self, p: Process) -> bool:
        """Return True if p has asked to join, and was on no list yet."""
        return p in self.joining and not any(p in self.listed[v] for v in self.each(View))

    def enter(self, p: Process, members: Set[Process]) -> None:
        """Enter the list (step 7), and record the position at which new members begin."""
        super().enter(p, members)
        self.begun_after[self.version[p]] = self.last_number[p]

    @action(fairness="weak")
    def admit(self, v: View, p: Process) -> None:
        """Let p, which joins, begin with list v, which another member has installed."""
        require(not self.is_member(p) and not self.is_gone(p) and p in self.listed[v])
        self.version[p] = v
        self.last_delivered[p] = self.begun_after[v]
        self.last_number[p] = self.begun_after[v]
        self.begins[p] = self.first_of(self.listed[v]) == p
        emit(Install(p, v, self.listed[v]))
