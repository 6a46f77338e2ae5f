"""Two-phase commit: a transaction manager asks resource managers to prepare, and commits when all have.

Source: J. Gray, L. Lamport, "Consensus on Transaction Commit", ACM TODS 31(1), 2006, appendix A (the TLA+
module TwoPhase), whose state counts are public: 288 states for 3 resource managers, 8,832 for 5, 296,448 for
7.

Messages are a set that only grows, so that loss, duplication and reordering come free. The decision of the
transaction manager is the message that it has sent; a resource manager may obey the same message again.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from antiphon.spec.lang import (
    Const,
    In,
    Index,
    Map,
    Set,
    Spec,
    action,
    everywhere,
    invariant,
    record,
    require,
    witness,
)


class RM(Index, size="managers", symmetric=True):
    """A resource manager."""


class Status(Enum):
    """Status of a resource manager."""

    WORKING = "working"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"


class Phase(Enum):
    """Phase of the transaction manager."""

    INIT = "init"
    COMMITTED = "committed"
    ABORTED = "aborted"


@record
class Prepared:
    """Message: `rm` is prepared to commit."""

    rm: RM


@record
class Commit:
    """Order of the transaction manager: commit."""


@record
class Abort:
    """Order of the transaction manager: abort."""


class TwoPhase(Spec):
    """Two-phase commit without failures of the transaction manager."""

    managers: Const[int] = 3

    status: Map[RM, Status] = everywhere(Status.WORKING)
    phase: Phase = Phase.INIT
    prepared: Set[RM] = Set()
    messages: Set[Prepared | Commit | Abort] = Set()

    # The transaction manager --------------------------------------------------------------------------------

    @action
    def learn_prepared(self, message: Annotated[Prepared, In("messages")]) -> None:
        """Note at the transaction manager that a resource manager is prepared."""
        require(self.phase is Phase.INIT)
        self.prepared |= {message.rm}

    @action
    def commit(self) -> None:
        """Decide to commit, when all resource managers are prepared."""
        require(self.phase is Phase.INIT and all(r in self.prepared for r in self.each(RM)))
        self.phase = Phase.COMMITTED
        self.messages |= {Commit()}

    @action
    def abort(self) -> None:
        """Decide to abort, as long as the transaction manager has not committed."""
        require(self.phase is Phase.INIT)
        self.phase = Phase.ABORTED
        self.messages |= {Abort()}

    # Resource managers --------------------------------------------------------------------------------------

    @action
    def prepare(self, r: RM) -> None:
        """Prepare a resource manager that works, which says so to the transaction manager."""
        require(self.status[r] is Status.WORKING)
        self.status[r] = Status.PREPARED
        self.messages |= {Prepared(r)}

    @action
    def choose_abort(self, r: RM) -> None:
        """Abort a resource manager that works; it tells nobody."""
        require(self.status[r] is Status.WORKING)
        self.status[r] = Status.ABORTED

    @action
    def obey_commit(self, r: RM) -> None:
        """Commit resource manager r, once the transaction manager has ordered it."""
        require(Commit() in self.messages)
        self.status[r] = Status.COMMITTED

    @action
    def obey_abort(self, r: RM) -> None:
        """Abort resource manager r, once the transaction manager has ordered it."""
        require(Abort() in self.messages)
        self.status[r] = Status.ABORTED

    # Properties ---------------------------------------------------------------------------------------------

    @invariant
    def consistent(self) -> bool:
        """Invariant: no resource manager has aborted while another has committed."""
        return not any(
            self.status[a] is Status.ABORTED and self.status[b] is Status.COMMITTED
            for a in self.each(RM)
            for b in self.each(RM)
        )

    @witness
    def all_committed(self) -> bool:
        """Witness: all resource managers have committed."""
        return all(self.status[r] is Status.COMMITTED for r in self.each(RM))
