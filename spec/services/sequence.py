"""The smallest machine of total order broadcast: messages enter one sequence, which everybody delivers.

The machine has all properties that define total order broadcast. A planted fault for each property shows that
none of them follows from the others (Barchet-Estefanel 2002, section 2.1).
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    AtMost,
    Const,
    Map,
    Seq,
    Set,
    action,
    constraint,
    emit,
    environment,
    everywhere,
    expect,
    mutation,
    on,
    require,
    witness,
)
from antiphon.spec.services.events import Broadcast, Crash, Deliver, Group, Message, Process
from antiphon.spec.services.order import Count, Numbered, Numbering, TotalOrderBroadcast


class SequenceMachine(Group):
    """Machine of one sequence of messages: submit a message, accept it into the sequence, deliver at a
    process the next message of the sequence; crash a process.

    State: `submitted` the messages that were broadcast, `sequence` those that were accepted, `reached[p]` how
    many of them p has delivered, `gone[p]` whether p has crashed.
    """

    submitted: Set[Message] = Set()
    sequence: Annotated[Seq[Message], AtMost("messages")] = ()
    reached: Map[Process, Count] = everywhere(0)
    gone: Map[Process, bool] = everywhere(False)

    @action
    def submit(self, p: Process, m: Message) -> None:
        """Broadcast m at p."""
        require(not self.gone[p] and m not in self.submitted)
        self.submitted |= {m}
        emit(Broadcast(p, m))

    @action
    def accept(self, m: Message) -> None:
        """Put m at the end of the sequence."""
        require(m in self.submitted and m not in self.sequence)
        self.sequence += (m,)

    @action
    def deliver(self, p: Process) -> None:
        """Deliver, at p, the next message of the sequence."""
        require(not self.gone[p] and self.reached[p] < len(self.sequence))
        m = self.message_at(p)
        self.reached[p] += 1
        emit(Deliver(p, m))

    def message_at(self, p: Process) -> Message:
        """Return the message that p delivers next."""
        return self.sequence[self.reached[p]]

    @environment
    def crash(self, p: Process) -> None:
        """Crash p."""
        require(not self.gone[p])
        self.gone[p] = True
        emit(Crash(p))

    @witness
    def EverybodyHasEverything(self) -> bool:
        """Witness: every process has delivered every message."""
        return all(self.reached[p] == self.messages for p in self.each(Process))

    def is_last(self, p: Process) -> bool:
        """Return True if p is the last process, the one at which the planted faults act."""
        return p.index == self.processes - 1


@mutation("the last process delivers the sequence backwards, when it is complete")
class Backwards(SequenceMachine):
    """Planted fault in the sequence machine: the last process delivers the complete sequence backwards.
    Breaks `TotalOrder`, prefix order and the uniform forms.
    """

    @action
    def deliver(self, p: Process) -> None:
        """Deliver the next message at p; the last process waits until the sequence is complete."""
        require(not self.is_last(p) or len(self.sequence) == self.messages)
        super().deliver(p)

    def message_at(self, p: Process) -> Message:
        """Return the message that p delivers next; the last process begins at the end of the sequence."""
        if self.is_last(p):
            return self.sequence[max(0, len(self.sequence) - 1 - self.reached[p])]
        return super().message_at(p)


@mutation("a process delivers the last message again")
class Again(SequenceMachine):
    """Planted fault in the sequence machine: a process delivers its last message again. Breaks `Integrity`
    and its uniform form.
    """

    @action
    def deliver_again(self, p: Process) -> None:
        """Fault: deliver at p the message again that p delivered last."""
        require(not self.gone[p] and self.reached[p] > 0)
        emit(Deliver(p, self.sequence[max(0, self.reached[p] - 1)]))


@mutation("the last process passes over a message at the end")
class PassedOver(SequenceMachine):
    """Planted fault in the sequence machine: the last process skips the last message. Breaks `Agreement` and
    its uniform form.
    """

    @action
    def pass_over(self, p: Process) -> None:
        """Fault: skip the last message at p, the last process, when the sequence has all messages."""
        require(self.is_last(p) and not self.gone[p])
        require(len(self.sequence) == self.messages and self.reached[p] == self.messages - 1)
        self.reached[p] += 1


@mutation("messages are dropped before they are accepted")
class NotAccepted(SequenceMachine):
    """Planted fault in the sequence machine: a submitted message is dropped before it is accepted. Breaks
    `Validity`.
    """

    dropped: Set[Message] = Set()

    @action
    def drop(self, m: Message) -> None:
        """Fault: drop m, so that it is never accepted into the sequence."""
        require(m in self.submitted and m not in self.sequence and m not in self.dropped)
        self.dropped |= {m}

    @action
    def accept(self, m: Message) -> None:
        """Put m into the sequence, unless m was dropped."""
        require(m not in self.dropped)
        super().accept(m)


@mutation("a process delivers the message that would be the last, and crashes with it")
class TakenToTheGrave(SequenceMachine):
    """Planted fault in the sequence machine: a process delivers the last message, and crashes before any
    other process gets it. Breaks `UniformAgreement`, and not `Agreement`.
    """

    withheld: Set[Message] = Set()

    @environment
    def deliver_and_crash(self, p: Process, m: Message) -> None:
        """Deliver at p a message that no other process ever has, and crash p."""
        require(not self.gone[p] and m not in self.submitted)
        require(len(self.sequence) == self.messages - 1 and self.reached[p] == self.messages - 1)
        self.gone[p] = True
        self.submitted |= {m}
        self.withheld |= {m}
        emit(Broadcast(p, m))
        emit(Deliver(p, m))
        emit(Crash(p))

    @action
    def accept(self, m: Message) -> None:
        """Put m into the sequence, unless m was lost with a crashed process."""
        require(m not in self.withheld)
        super().accept(m)


@mutation("a message is broadcast twice")
class BroadcastAgain(SequenceMachine):
    """Planted fault in the sequence machine: a message is broadcast twice. Breaks `BroadcastOnce`."""

    @action
    def submit_again(self, p: Process, m: Message) -> None:
        """Submit once more a message that was submitted before."""
        require(not self.gone[p] and m in self.submitted)
        emit(Broadcast(p, m))


@mutation("the first to deliver delivers the second message, and crashes with it")
class BeginsLater(SequenceMachine):
    """Planted fault in the sequence machine: the first process to deliver begins with the second message, and
    crashes. Breaks `UniformPrefixOrder`.
    """

    @environment
    def begin_later(self, p: Process) -> None:
        """Fault: deliver the last message at p first, before any other process has delivered a message, and
        crash p.
        """
        require(not self.gone[p] and len(self.sequence) == self.messages)
        require(all(self.reached[q] == 0 for q in self.each(Process)))
        self.gone[p] = True
        emit(Deliver(p, self.sequence[len(self.sequence) - 1]))
        emit(Crash(p))


@mutation("a process that nobody waits for delivers the last message first, and crashes with it")
class BeginsAtTheEnd(SequenceMachine):
    """Planted fault in the sequence machine: a process delivers the last message first, after others have
    begun, and crashes. Breaks `PrefixOrder`, and with it `UniformPrefixOrder`.
    """

    @environment
    def begin_at_the_end(self, p: Process) -> None:
        """Fault: deliver the last message at p first, after another live process has begun to deliver, and
        crash p.
        """
        require(not self.gone[p] and self.reached[p] == 0 and len(self.sequence) == self.messages)
        require(any(self.reached[q] > 0 and not self.gone[q] for q in self.each(Process)))
        self.gone[p] = True
        emit(Deliver(p, self.sequence[len(self.sequence) - 1]))
        emit(Crash(p))


@mutation("the first to deliver delivers the last two messages in the wrong order, and crashes with them")
class BackwardsToTheGrave(SequenceMachine):
    """Planted fault in the sequence machine: the first process to deliver delivers the last two messages in
    the wrong order, and crashes. Breaks `UniformTotalOrder`, and with it `UniformPrefixOrder`.
    """

    @environment
    def deliver_backwards(self, p: Process) -> None:
        """Fault: deliver the last two messages in the wrong order at p, before any other process has
        delivered a message, and crash p.
        """
        require(not self.gone[p] and len(self.sequence) == self.messages and self.messages > 1)
        require(all(self.reached[q] == 0 for q in self.each(Process)))
        self.gone[p] = True
        emit(Deliver(p, self.sequence[len(self.sequence) - 1]))
        emit(Deliver(p, self.sequence[max(0, len(self.sequence) - 2)]))
        emit(Crash(p))


class SequenceChecked(
    SequenceMachine,
    TotalOrderBroadcast,
    mutations=(
        Backwards, Again, PassedOver, NotAccepted, TakenToTheGrave, BeginsLater, BeginsAtTheEnd,
        BackwardsToTheGrave, BroadcastAgain,
    ),
):  # fmt: skip
    """The machine, judged by total order broadcast; up to `crashes` processes crash."""

    crashes: Const[int] = 1

    @constraint("crash")
    def may_crash(self) -> bool:
        """Bound: p crashes only if another process is up, which is left after the crash."""
        return sum(1 for p in self.each(Process) if self.gone[p]) < self.crashes

    @on(Deliver)
    def judge_silence(self, event: Deliver) -> None:
        """Check that a crashed process delivers nothing, which every definition takes for granted."""
        expect(not self.crashed[event.process], "SilentAfterCrash")


class NumberedMachine(SequenceMachine):
    """Sequence machine that delivers each message with its place in the sequence."""

    @action
    def deliver(self, p: Process) -> None:
        """Deliver the next message at p, after emitting its number."""
        super().deliver(p)
        emit(Numbered(p, self.sequence[max(0, self.reached[p] - 1)], self.number_at(p)))

    def number_at(self, p: Process) -> int:
        """Return the number of the message that p has delivered last, 0 if none."""
        return self.reached[p]


@mutation("the last process counts down")
class CountsDown(NumberedMachine):
    """Planted fault in the numbered machine: the last process numbers its deliveries downwards. Breaks
    `UniformNumbering`.
    """

    def number_at(self, p: Process) -> int:
        """Return the number for p's last delivery; the last process counts down."""
        return self.messages + 1 - self.reached[p] if self.is_last(p) else self.reached[p]


class NumberedChecked(NumberedMachine, Numbering, mutations=(CountsDown,)):
    """Machine that delivers messages with their numbers, judged by its numbers."""
