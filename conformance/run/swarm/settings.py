"""The common settings of all runs of a swarm; a run itself follows from its core, its seed and these
settings.

This module knows ranges and names of faults, not what they do.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, TypeAlias

from msgspec import Struct

__all__ = ["Around", "Budget", "Deliver", "FaultKind", "Settings"]

Around: TypeAlias = Literal["drawn", "always", "never"]
"""True if the layers stand around the core: a core that needs queues has them always."""

Deliver: TypeAlias = Literal["drawn", "each", "usual"]
"""True if a message is delivered when so many members have it as is drawn for the run, where the protocol
knows that; as each message asks, where layers stand around the core; or as the protocol does of itself.
"""


class FaultKind(StrEnum):
    """The kinds of faults of a run. Each run has each kind with probability one half, so that none hides
    another.

    Source: Groce, Zhang, Eide, Chen and Regehr, "Swarm Testing", ISSTA 2012.
    """

    LOSS = "loss"
    DUPLICATION = "duplication"
    REORDERING = "reordering"
    DELAY = "delay"
    ONE_WAY_CUT = "one-way-cut"
    PARTITION = "partition"
    PAUSE = "pause"
    LATE_START = "late-start"
    SKEW = "clock-skew"
    JUMP = "clock-jump"
    IDLE = "idle"
    CRASH = "crash"
    RESTART = "restart"
    LEAVE = "leave"
    JOIN = "join"
    FALSE_SUSPICION = "false-suspicion"

    @classmethod
    def of(cls, *, join: bool) -> tuple[FaultKind, ...]:
        """The kinds that a group whose members change may meet, or one whose members stay."""
        return tuple(kind for kind in cls if kind not in (_OF_FIXED if join else _OF_CHANGING))


_OF_FIXED = (FaultKind.LATE_START,)
_OF_CHANGING = (
    FaultKind.CRASH, FaultKind.RESTART, FaultKind.LEAVE, FaultKind.JOIN, FaultKind.FALSE_SUSPICION,
)  # fmt: skip


class Budget(Struct, frozen=True):
    """The budget of a bounded model for a run: so many datagrams are lost at most, each message is broadcast
    by one of its `sources`, and `timers` ring at any time, or late, since the model counts how often.
    """

    losses: int
    sources: tuple[tuple[int, ...], ...]
    timers: bool


class Settings(Struct, frozen=True, kw_only=True):
    """One setting of a swarm.

    `join`: members join, leave, crash and come back, as in groups of `Group.join`; else they stay. Of
    `faults` those count that such a group may meet. `sealed`: every datagram is encrypted, duplicates go no
    further. `multicast`: what goes to all others is one datagram, which each link may lose. `planted` names
    the fault that the core shall have. After the last fault something has to be delivered in each `bound_ms`
    until everything is; with `join` the whole end has so long. A run that takes more than `steps_max` is
    given up. `logs`: keep them of every run. `within`: runs stay within this, as far as drawing can see to it
    (`chance`), and no other faults are drawn.
    """

    join: bool = False
    members: int = 3
    messages: int = 50
    faults: tuple[FaultKind, ...] = tuple(FaultKind)
    layers: Around = "drawn"
    deliver: Deliver = "drawn"
    sealed: bool = False
    multicast: bool = False
    planted: str | None = None
    bound_ms: float = 20_000.0
    steps_max: int = 20_000
    logs: bool = False
    within: Budget | None = None

    def __post_init__(self) -> None:
        """Raises ValueError, which names the setting, its value and what is allowed."""
        if self.members < 2:
            raise ValueError(f"members is {self.members}; a group has at least 2")
        if self.messages < 1:
            raise ValueError(f"messages is {self.messages}; a run without a message shows nothing")
        if not self.bound_ms > 0 or self.steps_max < 1:
            raise ValueError(f"bound_ms is {self.bound_ms}, steps_max {self.steps_max}; both are positive")
        if not set(self.faults) & set(FaultKind.of(join=self.join)):
            whose = "whose members change" if self.join else "whose members stay"
            raise ValueError(f"faults is {', '.join(self.faults)}; no group {whose} meets that")
        if self.join:
            self._see_what_joins()
        if self.deliver == "each" and self.layers == "never":
            raise ValueError("deliver is each, layers is never; without layers no message waits for holders")

    def _see_what_joins(self) -> None:
        """Raise ValueError if this is of groups alone whose members stay."""
        usual = Settings()
        for name in ("layers", "deliver", "sealed", "multicast", "planted", "within"):
            if getattr(self, name) != getattr(usual, name):
                raise ValueError(f"{name} is {getattr(self, name)}; groups whose members change have no such")
