"""Reliable broadcast of one message among processes of which some are Byzantine.

Sources: T. K. Srikanth, S. Toueg, "Simulating authenticated broadcasts to derive simple fault-tolerant
algorithms", Distributed Computing 2(2), 1987, figure 7; T. H. Tran, I. Konnov, J. Widder, the TLA+ module
bcastByz of the public TLA+ examples, 2016, with 14,424 reachable states for 4 processes, one of them faulty.

A correct process that has heard of the broadcast (V1) sends ECHO to all; so does a process that has heard
ECHO from N - 2T processes; a process that has heard ECHO from N - T accepts. As in the module there is no
broadcaster: the initial knowledge of correct processes shows whether the broadcaster is correct. Messages of
faulty processes can be received by everybody at any time. A step receives any messages that were sent, and
reacts to all received ones as the figure says; the names of actions and properties are those of the module.
"""

from __future__ import annotations

from enum import Enum

from antiphon.spec.lang import (
    Const,
    Index,
    Map,
    Set,
    Spec,
    action,
    always,
    eventually,
    everywhere,
    fair,
    implies,
    initial,
    invariant,
    leads_to,
    require,
    witness,
)


class Process(Index, size="processes", symmetric=True):
    """A process, correct or faulty."""


class Control(Enum):
    """Control state: a process has heard nothing, or the broadcast, has sent ECHO, or has accepted."""

    V0 = "V0"
    V1 = "V1"
    SE = "SE"
    AC = "AC"


class BcastByz(Spec):
    """The algorithm of figure 7, for one round."""

    processes: Const[int] = 4
    tolerated: Const[int] = 1
    faulty: Const[int] = 1

    correct: Set[Process] = Set()
    pc: Map[Process, Control] = everywhere(Control.V0)
    received: Map[Process, Set[Process]] = everywhere(Set())
    sent: Set[Process] = Set()

    @initial
    def start(self, correct: Set[Process], informed: Set[Process]) -> None:
        """Choose any processes as correct, all others being faulty, and any as having heard of the
        broadcast.
        """
        require(len(correct) == self.processes - self.faulty)
        self.correct = correct
        for p in self.each(Process):
            self.pc[p] = Control.V1 if p in informed else Control.V0

    # What is there to be received ---------------------------------------------------------------------------

    def from_correct_senders(self, new: Set[Process]) -> bool:
        """Return True if all these ECHO messages come from correct processes that have sent ECHO."""
        return new <= self.sent

    def from_any_sender(self, new: Set[Process]) -> bool:
        """Return True if all these ECHO messages can be received: each sender has sent ECHO, or is faulty."""
        return all(q in self.sent or q not in self.correct for q in new)

    def heard(self, p: Process, new: Set[Process]) -> int:
        """Return the number of processes from which P has heard ECHO, those in `new` included."""
        return len(self.received[p] | new)

    # Figure 7 -----------------------------------------------------------------------------------------------

    @action
    def upon_v1(self, p: Process, new: Set[Process]) -> None:
        """Send ECHO at a process that has heard of the broadcast: the first `if` of the figure."""
        require(p in self.correct and self.from_any_sender(new))
        require(self.pc[p] is Control.V1)
        self.received[p] |= new
        self.pc[p] = Control.SE
        self.sent |= {p}

    @action
    def upon_non_faulty(self, p: Process, new: Set[Process]) -> None:
        """Send ECHO at a process that has certainly heard ECHO from a correct process: the third `if`."""
        require(p in self.correct and self.from_any_sender(new))
        require(self.pc[p] is Control.V0 or self.pc[p] is Control.V1)
        require(self.heard(p, new) >= self.processes - 2 * self.tolerated)
        require(self.heard(p, new) < self.processes - self.tolerated)
        self.received[p] |= new
        self.pc[p] = Control.SE
        self.sent |= {p}

    @action
    def upon_accept_not_sent_before(self, p: Process, new: Set[Process]) -> None:
        """Send ECHO and accept at a process that has heard ECHO from enough processes: the second and third
        `if`.
        """
        require(p in self.correct and self.from_any_sender(new))
        require(self.pc[p] is Control.V0 or self.pc[p] is Control.V1)
        require(self.heard(p, new) >= self.processes - self.tolerated)
        self.received[p] |= new
        self.pc[p] = Control.AC
        self.sent |= {p}

    @action
    def upon_accept_sent_before(self, p: Process, new: Set[Process]) -> None:
        """Accept at a process that has heard ECHO from enough processes: the second `if`."""
        require(p in self.correct and self.from_any_sender(new))
        require(self.pc[p] is Control.SE)
        require(self.heard(p, new) >= self.processes - self.tolerated)
        self.received[p] |= new
        self.pc[p] = Control.AC

    progress = fair(
        "upon_v1", "upon_non_faulty", "upon_accept_not_sent_before", "upon_accept_sent_before",
        where="from_correct_senders",
    )  # fmt: skip
    """Fairness: some correct process takes a step if it can do so without a message of a faulty process."""

    # Properties ---------------------------------------------------------------------------------------------

    @invariant
    def FCConstraints(self) -> bool:
        """Invariant: at most the tolerated number of processes is faulty."""
        return len(self.correct) >= self.processes - self.tolerated

    def all_correct_heard(self) -> bool:
        """Return True if every correct process has heard of the broadcast."""
        return all(self.pc[p] is Control.V1 for p in self.correct)

    def no_correct_heard(self) -> bool:
        """Return True if no correct process has heard of the broadcast."""
        return all(self.pc[p] is Control.V0 for p in self.correct)

    def some_accepts(self) -> bool:
        """Return True if a correct process has accepted."""
        return any(self.pc[p] is Control.AC for p in self.correct)

    def none_accepts(self) -> bool:
        """Return True if no correct process has accepted."""
        return not self.some_accepts()

    def all_accept(self) -> bool:
        """Return True if every correct process has accepted."""
        return all(self.pc[p] is Control.AC for p in self.correct)

    CorrLtl = implies("all_correct_heard", eventually("all_accept"))
    """If a correct process broadcasts, every correct process accepts."""
    RelayLtl = leads_to("some_accepts", "all_accept")
    """If a correct process accepts, every correct process accepts."""
    UnforgLtl = implies("no_correct_heard", always("none_accepts"))
    """If no correct process has heard of a broadcast, none accepts."""

    @witness
    def Accepted(self) -> bool:
        """Witness: some run ends with every correct process having accepted."""
        return self.all_accept()
