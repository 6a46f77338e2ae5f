"""Environment of figure 25: wrong suspicions, ACKs of excluded processes, and a list that one process
installs late. None of this is a fault of the protocol.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, Const, action, environment, initial, mutation, require
from antiphon.spec.protocols.rbp_resilient.figure25 import Body, Number, RbpResilient, Sequenced
from antiphon.spec.services import Process


class RbpFaults(RbpResilient):
    """Figure 25 with up to `suspicions` wrong suspicions and `strays` stray ACKs.

    A token list has one version here. A packet with another one is a `stray`: a NULL acknowledgement of a
    process that was excluded. With `late` the last process installs the list after the others have begun to
    use it.
    """

    suspicions: Const[int] = 0
    strays: Const[int] = 0
    late: Const[bool] = False
    suspected: Annotated[int, Between(0, "suspicions")] = 0
    strayed: Annotated[int, Between(0, "strays")] = 0

    @initial
    def start(self) -> None:
        """Begin as printed; with `late` the last process has not installed the list."""
        super().start()
        if self.late:
            self.installed[Process(self.processes - 1)] = False

    @action(fairness="weak")
    def install(self, p: Process) -> None:
        """Install the token list at p, which begins the protocol later than other processes."""
        require(not self.installed[p])
        self.installed[p] = True

    @environment
    def suspect_sequencer(self, p: Process) -> None:
        """Suspect the sequencer wrongly (lines 38-40 and 48-50)."""
        require(self.suspected < self.suspicions and self.is_active(p) and not self.reforming[p])
        require(self.awaits_sequencer(p) and not self.down[self.predecessor(p)])
        self.suspected += 1
        self.give_up_sequencer(p)

    @environment
    def suspect_successor(self, p: Process) -> None:
        """Suspect the successor wrongly (lines 55-57 and 62-64)."""
        after = self.successor(p)
        require(self.suspected < self.suspicions and self.is_active(p) and not self.reforming[p])
        require(self.passed[p] is not None and after is not None)
        if after is not None:
            require(not self.down[after])
            self.suspected += 1
            self.give_up_successor(p)

    @environment
    def crash(self, p: Process) -> None:
        """Crash p, which stops for ever; messages on their way to p are lost."""
        super().crash(p)
        self.network -= {packet for packet in self.network if packet.to == p}

    @environment
    def stray(self, p: Process, sender: Process, k: Number) -> None:
        """Deliver a stray ACK of an excluded process to p: NULL with number k, naming the sender's successor
        in the old list.
        """
        require(self.strayed < self.strays and self.is_active(p) and p != sender)
        self.strayed += 1
        if self.records_ack(False):
            self.take_ack(p, sender, Sequenced(None, k))


@mutation("of the messages without a number the one that was broadcast last gets the next one")
class SelectLast(RbpResilient):
    """Planted fault in RBP, line 59: the sequencer numbers the newest message without a number. Correct code
    numbers the oldest. Breaks `OldestFirst`.
    """

    @action(fairness="weak")
    def sequence(self, p: Process) -> None:
        """Sequence the last message without a number, where line 59 takes the first."""
        require(self.can_sequence(p))
        body = next(
            (
                one
                for one in self.each(Body)
                if self.is_left(p, one)
                and not any(
                    self.is_left(p, later) for later in self.each(Body) if later.message > one.message
                )
            ),
            None,
        )
        if body is not None:
            self.holding[p] = False
            self.send_token(p, body, self.last_number[p] + 1)

    def is_left(self, p: Process, body: Body) -> bool:
        """Return True if p has the message of `body` but knows no number for it."""
        return body in self.received[p] and not self.is_numbered(p, body)
