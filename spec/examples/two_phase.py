"""Two-phase commit: a transaction manager asks resource managers to prepare, and commits when all have.

Source: J. Gray, L. Lamport, "Consensus on Transaction Commit", ACM TODS 31(1), 2006, appendix A (the TLA+
module TwoPhase), whose state counts are public: 288 states for 3 resource managers, 8,832 for 5, 296,448 for
7.

Messages are a set that only grows, so that loss, duplication and reordering come free. What the transaction
manager decides is what it has sent; a resource manager may obey the same message again.
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
    """`rm` is prepared to commit."""

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
        """The transaction manager hears that a resource manager is prepared."""
        require(self.phase is Phase.INIT)
        self.prepared |= {message.rm}

    @action
    def commit(self) -> None:
        """All are prepared: the transaction commits."""
        require(self.phase is Phase.INIT and all(r in self.prepared for r in self.each(RM)))
        self.phase = Phase.COMMITTED
        self.messages |= {Commit()}

    @action
    def abort(self) -> None:
        """The transaction manager may abort as long as it has not committed."""
        require(self.phase is Phase.INIT)
        self.phase = Phase.ABORTED
        self.messages |= {Abort()}

    # Resource managers --------------------------------------------------------------------------------------

    @action
    def prepare(self, r: RM) -> None:
        """A resource manager that works gets prepared and says so."""
        require(self.status[r] is Status.WORKING)
        self.status[r] = Status.PREPARED
        self.messages |= {Prepared(r)}

    @action
    def choose_abort(self, r: RM) -> None:
        """A resource manager that works may abort; nobody needs to be told."""
        require(self.status[r] is Status.WORKING)
        self.status[r] = Status.ABORTED

    @action
    def obey_commit(self, r: RM) -> None:
        """Commit the resource manager when the transaction manager has ordered it."""
        require(Commit() in self.messages)
        self.status[r] = Status.COMMITTED

    @action
    def obey_abort(self, r: RM) -> None:
        """Abort the resource manager when the transaction manager has ordered it."""
        require(Abort() in self.messages)
        self.status[r] = Status.ABORTED

    # Properties ---------------------------------------------------------------------------------------------

    @invariant
    def consistent(self) -> bool:
        """No resource manager has aborted while another has committed."""
        return not any(
            self.status[a] is Status.ABORTED and self.status[b] is Status.COMMITTED
            for a in self.each(RM)
            for b in self.each(RM)
        )

    @witness
    def all_committed(self) -> bool:
        """A transaction can commit everywhere."""
        return all(self.status[r] is Status.COMMITTED for r in self.each(RM))
