"""Non-blocking atomic commitment with a failure detector: all correct processes commit, or all abort.

Sources: R. Guerraoui, "On the hardness of failure-sensitive agreement problems", Information Processing
Letters 79(2), 2001; T. H. Tran, I. Konnov, J. Widder, the TLA+ module nbacg_guer01 of the public TLA+
examples, 2016, with 24,922 reachable states for 3 processes.

As in the module messages are counted, not kept: the state says how many of the votes that were sent a process
has received. A vote of a process that crashes while it votes may be received by some and not by others, so
such votes are counted apart as possible ones. The processes that the failure detector tells of a failure are
chosen at first, and do not change. Steps of the module that change nothing, and only prevent deadlock, are
left out; the names of the properties are those of the module.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from antiphon.spec.lang import (
    Between,
    Const,
    Index,
    Map,
    Set,
    Spec,
    action,
    always,
    environment,
    eventually,
    everywhere,
    fair,
    implies,
    initial,
    invariant,
    require,
    witness,
)


class Process(Index, size="processes", symmetric=True):
    """A process that votes."""


class Status(Enum):
    """Status of a process: it will vote YES or NO, has voted (SENT), has decided, or has crashed (BYZ)."""

    YES = "YES"
    NO = "NO"
    SENT = "SENT"
    ABORT = "ABORT"
    COMMIT = "COMMIT"
    BYZ = "BYZ"


Votes = Annotated[int, Between(0, "processes")]
"""Number of votes."""


class NbacgGuer01(Spec):
    """Algorithm of non-blocking atomic commitment, with votes and a failure detector."""

    processes: Const[int] = 3

    sent_no: Votes = 0
    sent_yes: Votes = 0
    faulty_no: Votes = 0
    faulty_yes: Votes = 0
    received_yes: Map[Process, Votes] = everywhere(0)
    received_no: Map[Process, Votes] = everywhere(0)
    some_fail: Map[Process, bool] = everywhere(False)
    pc: Map[Process, Status] = everywhere(Status.YES)

    @initial
    def start(self, agree: Set[Process], told: Set[Process]) -> None:
        """Begin with any processes that will vote YES, and any processes that have a failure notice; all
        others will vote NO.
        """
        for p in self.each(Process):
            self.pc[p] = Status.YES if p in agree else Status.NO
            self.some_fail[p] = p in told

    @environment
    def crash(self, i: Process) -> None:
        """Crash a process; if it was about to vote, its vote may still be received."""
        require(self.pc[i] is not Status.BYZ)
        if self.pc[i] is Status.YES:
            self.faulty_yes += 1
        if self.pc[i] is Status.NO:
            self.faulty_no += 1
        self.pc[i] = Status.BYZ

    @action
    def receive_yes(self, i: Process) -> None:
        """Receive a vote YES."""
        require(self.pc[i] is Status.SENT and self.received_yes[i] < self.sent_yes + self.faulty_yes)
        self.received_yes[i] += 1

    @action
    def receive_no(self, i: Process) -> None:
        """Receive a vote NO."""
        require(self.pc[i] is Status.SENT and self.received_no[i] < self.sent_no + self.faulty_no)
        self.received_no[i] += 1

    @action
    def send_yes(self, i: Process) -> None:
        """Vote YES at a process that knows of no failure."""
        require(self.pc[i] is Status.YES and not self.some_fail[i])
        self.pc[i] = Status.SENT
        self.sent_yes += 1

    @action
    def send_no(self, i: Process) -> None:
        """Vote NO at a process that knows of no failure."""
        require(self.pc[i] is Status.NO and not self.some_fail[i])
        self.pc[i] = Status.SENT
        self.sent_no += 1

    @action
    def abort_no_yes(self, i: Process) -> None:
        """Abort without a vote at a process that knows of a failure."""
        require(self.some_fail[i])
        require(self.pc[i] is Status.YES or self.pc[i] is Status.NO)
        self.pc[i] = Status.ABORT

    @action
    def abort_sent(self, i: Process) -> None:
        """Abort at a process that has received a vote NO."""
        require(self.pc[i] is Status.SENT and self.received_no[i] > 0)
        self.pc[i] = Status.ABORT

    @action
    def commit(self, i: Process) -> None:
        """Commit at a process that has received YES from all."""
        require(self.pc[i] is Status.SENT and self.received_no[i] == 0)
        require(self.received_yes[i] >= self.processes)
        self.pc[i] = Status.COMMIT

    progress = fair(
        "receive_yes", "receive_no", "send_yes", "send_no", "abort_no_yes", "abort_sent", "commit"
    )
    """Something happens that is no crash, if it can."""

    # Properties ---------------------------------------------------------------------------------------------

    @invariant
    def AgrrLtl(self) -> bool:
        """Invariant: no two processes decide differently."""
        return not any(
            self.pc[i] is Status.COMMIT and self.pc[j] is Status.ABORT
            for i in self.each(Process)
            for j in self.each(Process)
        )

    def some_votes_no(self) -> bool:
        """Return True if some process will vote NO."""
        return any(self.pc[i] is Status.NO for i in self.each(Process))

    def nobody_commits(self) -> bool:
        """Return True if no process has committed."""
        return all(self.pc[i] is not Status.COMMIT for i in self.each(Process))

    def all_vote_yes(self) -> bool:
        """Return True if every process will vote YES and knows of no failure."""
        return all(self.pc[i] is Status.YES and not self.some_fail[i] for i in self.each(Process))

    def nobody_aborts(self) -> bool:
        """Return True if no process has aborted."""
        return all(self.pc[i] is not Status.ABORT for i in self.each(Process))

    def nobody_fails(self) -> bool:
        """Return True if no process has crashed, and none has a failure notice."""
        return all(self.pc[i] is not Status.BYZ and not self.some_fail[i] for i in self.each(Process))

    def all_decide(self) -> bool:
        """Return True if every process has committed or aborted."""
        return all(self.pc[i] is Status.COMMIT or self.pc[i] is Status.ABORT for i in self.each(Process))

    AbortValidityLtl = implies("some_votes_no", always("nobody_commits"))
    """If some process votes NO, no process commits."""
    CommitValidityLtl = implies("all_vote_yes", always("nobody_aborts"))
    """If every process votes YES and knows of no failure, no process aborts."""
    TerminationLtl = implies(always("nobody_fails"), eventually("all_decide"))
    """If no process fails, every process decides."""

    @witness
    def Committed(self) -> bool:
        """Witness: all processes commit in some run."""
        return all(self.pc[i] is Status.COMMIT for i in self.each(Process))
