"""Repairs of figure 32: for each the printed text, its replacement, and the claim that demands it."""

from __future__ import annotations

from antiphon.spec.lang import Map, Set, everywhere, repair
from antiphon.spec.protocols.irbp.figure32 import Phase, Proposal, ViewChange
from antiphon.spec.protocols.irbp.normal_phase import Number, Sequenced
from antiphon.spec.services import Message, Process


@repair(
    "step 6: what is stable and not delivered yet stays, and nothing comes that was delivered",
    answers="IRB-03",
)
class KeepStable(ViewChange):
    """Repair of figure 32, step 6. Printed: `stableQ ← Msg`, which loses stable messages. Repaired: stable
    messages that are not delivered yet stay, and delivered ones do not come back.
    """

    def stable_after(self, p: Process, messages: Set[Sequenced]) -> Set[Sequenced]:
        return Set() | {item for item in self.stable[p] | messages if item.number > self.last_delivered[p]}


@repair("steps 1, 3, 6: the bodies are sent, agreed upon and taken in with the numbers", answers="IRB-04")
class SendBodies(ViewChange):
    """Repair of figure 32, steps 1, 3 and 6. Printed: `send seqQ_k to all`, a list of pairs (B, seqnum)
    without the bodies (figure 25, line 26). Repaired: bodies are sent, agreed upon and taken in together with
    the numbers.
    """

    bodies: Map[Process, Set[Message]] = everywhere(Set())

    def send_report(self, p: Process) -> None:
        super().send_report(p)
        self.bodies[p] = self.received[p]

    def bodies_of(self, heard: Set[Process]) -> Set[Message]:
        return Set() | {m for q in heard for m in self.bodies[q]}

    def take_bodies(self, p: Process, bodies: Set[Message]) -> None:
        self.received[p] |= bodies - self.collected[p]


@repair(
    "step 3: Msg ends before the first number that nobody has reported, or whose body nobody has reported",
    answers="IRB-05",
    builds_on=(SendBodies,),
)
class CutHoles(SendBodies):
    """Repair of figure 32, step 3. Printed: Msg is `the union of the seqQ sets received`. Repaired: Msg ends
    before the first number that nobody has reported, or whose body nobody has reported.
    """

    def messages_of(self, p: Process, heard: Set[Process]) -> Set[Sequenced]:
        found = super().messages_of(p, heard)
        bodies = self.bodies_of(heard)
        return Set() | {
            item
            for item in found
            if all(
                any(
                    one.number == k
                    and (one.message is None or one.message in bodies or one.message in self.collected[p])
                    for one in found
                )
                or k <= self.settled(p)
                for k in self.each(Number)
                if k <= item.number
            )
        }


@repair("step 7: ts is the highest number of Msg, so that the next one follows it", answers="IRB-06")
class ContinueNumbers(ViewChange):
    """Repair of figure 32, step 7. Printed: nothing changes ts, the highest number up to which the process
    knew all numbers. Repaired: ts becomes the highest number of Msg, so that the next number follows it.
    """

    def go_on(self, p: Process, members: Set[Process]) -> None:
        super().go_on(p, members)
        self.last_number[p] = self.settled(p)


@repair(
    "steps 1-7: from its report until it installs the list a process takes no part in the normal phase",
    answers="IRB-07",
)
class Block(ViewChange):
    """Repair of figure 32. Printed: nothing stops the tasks of figure 25 during a view change. Repaired: a
    process takes no part in the normal phase from its report until it installs the list.
    """

    def is_active(self, p: Process) -> bool:
        return super().is_active(p) and self.phase[p] == Phase.normal


@repair("step 2: the reports of a majority of TL_i are awaited, whoever is suspected", answers="IRB-09")
class AwaitMajority(ViewChange):
    """Repair of figure 32, step 2. Printed: `wait until receive seqQ_i from p_i or p_i suspected`, which a
    process that suspects everybody passes alone. Repaired: a process proposes only with the reports of a
    majority of TL_i.
    """

    def may_propose(self, p: Process, heard: Set[Process]) -> bool:
        return super().may_propose(p, heard) and 2 * len(heard) > len(self.token_list(p))


@repair("step 7: what has become stable is delivered before the list is installed", answers="IRB-02")
class DeliverFirst(ViewChange):
    """Repair of figure 32, step 7. Printed: nothing orders deliveries and the installation of the list.
    Repaired: a process delivers everything stable before it installs the list.
    """

    def may_install(self, p: Process) -> bool:
        return super().may_install(p) and not any(self.can_deliver(p, item) for item in self.stable[p])


@repair(
    "steps 6-7: as in lines 77-78 the messages of stableQ leave recvQ; the rest leaves it too when the list "
    "is installed, and nothing is sent again",
    answers="IRB-11",
)
class ForgetReceived(ViewChange):
    """Repair of figure 32, steps 6 and 7. Printed: `stableQ ← Msg, seqQ ← {}`, and nothing about recvQ.
    Repaired: messages of stableQ leave recvQ (as in figure 25, lines 77-78); the installation of the list
    removes the rest, and nothing is sent again.
    """

    def take(self, p: Process, decided: Proposal) -> None:
        super().take(p, decided)
        mine = {m for m in self.received[p] if any(item.message == m for item in self.stable[p])}
        self.received[p] -= mine
        self.collected[p] |= mine

    def keep_received(self, p: Process) -> None:
        """Remove all messages of recvQ, and stop sending."""
        self.received[p] = Set()
        self.pending[p] = None


@repair(
    "step 3: what was reported without a number is numbered behind the rest, in the order of messages",
    answers="IRB-28",
    builds_on=(SendBodies, ForgetReceived),
)
class OrderReceived(ForgetReceived, SendBodies):
    """Repair of figure 32, step 3. Printed: a message without a number is in no seqQ, and so is lost.
    Repaired: such messages are numbered behind the others, in the order of messages.
    """

    def messages_of(self, p: Process, heard: Set[Process]) -> Set[Sequenced]:
        whole = super().messages_of(p, heard)
        last = max(self.settled(p), max((item.number for item in whole), default=0))
        rest = {m for m in self.bodies_of(heard) if not self.is_ordered(p, m, whole)}
        return whole | {Sequenced(m, last + sum(1 for other in rest if other <= m)) for m in rest}

    def is_ordered(self, p: Process, m: Message, messages: Set[Sequenced]) -> bool:
        """Return True if m has a number in Msg, or is known to be stable."""
        return m in self.collected[p] or any(item.message == m for item in messages)


REPAIRS = (
    KeepStable, SendBodies, CutHoles, ContinueNumbers, Block, AwaitMajority, DeliverFirst, ForgetReceived,
    OrderReceived,
)  # fmt: skip
"""All repairs of figure 32."""
