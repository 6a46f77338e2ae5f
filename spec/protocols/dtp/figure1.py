"""Stability of the first update: CM, Pinwheel and DTP side by side, on the same updates, as in figure 1.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 3, the text on figure 1. The drawing is lost; the text says that M1 is
stable after the fifth, the fourth and the third acknowledgement, and that four messages are stable in (c)
after the sixth.

What is modelled: as in the figure, one update at a time, sent by any process, received and acknowledged at
once by the holder of each protocol; all protocols begin with LTM_1. A MSG carries the number of
acknowledgements before it as hgsn of its sender, an ACK its own gsn. Which of several least active processes
DTP names is open.
"""

from __future__ import annotations

from typing import Annotated, Self

from antiphon.spec.lang import Between, Map, action, everywhere, invariant, require, step_invariant, witness
from antiphon.spec.services import Group, Process

Count = Annotated[int, Between(0, "messages")]


class Figure1(Group):
    """Model of the comparison of CM, Pinwheel and DTP (figure 1 of the paper): all three process one sequence
    of updates.
    """

    acknowledged: Count = 0
    pinwheel: Map[Process, Count] = everywhere(0)
    dynamic: Map[Process, Count] = everywhere(0)
    holder: Process = Process(0)
    stable_pinwheel: Count = 0
    stable_dynamic: Count = 0

    def raised(self, before: Count, p: Process, sender: Process, holder: Process) -> int:
        """Return R[p] after `holder` acknowledged an update of `sender`."""
        if p == holder:
            return self.acknowledged + 1
        return max(before, self.acknowledged) if p == sender else before

    @action
    def acknowledge(self, sender: Process, next_holder: Process) -> None:
        """Acknowledge the next update in each protocol; DTP names `next_holder`, a process with
        the least R.
        """
        require(self.acknowledged < self.messages)
        ring = Process(self.acknowledged % self.processes)
        require(
            all(
                self.raised(self.dynamic[next_holder], next_holder, sender, self.holder)
                <= self.raised(self.dynamic[p], p, sender, self.holder)
                for p in self.each(Process)
            )
        )
        number = self.acknowledged + 1
        if self.stable_pinwheel == 0 and all(
            self.raised(self.pinwheel[p], p, sender, ring) >= 1 for p in self.each(Process)
        ):
            self.stable_pinwheel = number
        if self.stable_dynamic == 0 and all(
            self.raised(self.dynamic[p], p, sender, self.holder) >= 1 for p in self.each(Process)
        ):
            self.stable_dynamic = number
        for p in self.each(Process):
            self.pinwheel[p] = self.raised(self.pinwheel[p], p, sender, ring)
        for p in self.each(Process):
            self.dynamic[p] = self.raised(self.dynamic[p], p, sender, self.holder)
        self.holder = next_holder
        self.acknowledged = number

    @invariant
    def StableIsKnown(self) -> bool:
        """Invariant: M1 is stable as soon as every R[p] is at least its number (section 3), and not
        before.
        """
        return (self.stable_pinwheel > 0) == all(self.pinwheel[p] >= 1 for p in self.each(Process)) and (
            self.stable_dynamic > 0
        ) == all(self.dynamic[p] >= 1 for p in self.each(Process))

    @step_invariant
    def TwoAreHeardOf(self, before: Self) -> bool:
        """Step invariant: an acknowledgement brings news of the update's sender and of the holder only."""
        ring = sum(1 for p in self.each(Process) if self.pinwheel[p] != before.pinwheel[p])
        return ring <= 2 and sum(1 for p in self.each(Process) if self.dynamic[p] != before.dynamic[p]) <= 2

    @witness
    def AsPrinted(self) -> bool:
        """Witness: as the text prints, M1 is stable after four ACKs in Pinwheel and three in DTP, and four
        updates after six.
        """
        return (
            self.acknowledged == 6
            and self.stable_pinwheel == 4
            and self.stable_dynamic == 3
            and min(self.dynamic[p] for p in self.each(Process)) == 4
        )

    @witness
    def PinwheelFirst(self) -> bool:
        """Witness: for some updates Pinwheel knows stability sooner than DTP."""
        return self.stable_pinwheel > 0 and self.stable_dynamic == 0
