"""Common settings of all runs of a swarm; a run is determined by its core, its seed and these settings.

This module knows ranges and names of faults, not what they do.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, TypeAlias

from msgspec import Struct

__all__ = ["Around", "Budget", "Deliver", "FaultKind", "Settings"]

Around: TypeAlias = Literal["drawn", "always", "never"]
"""True if there are layers around the core; a core that needs queues always has them."""

Deliver: TypeAlias = Literal["drawn", "each", "usual"]
"""Rule of delivery: with as many holders as the run draws, where the protocol knows them; as each message
requests, where there are layers; or by the protocol's own rule.
"""


class FaultKind(StrEnum):
    """Kinds of faults of a run. Each run has each kind with probability one half, so that none hides another.

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
        """Return the kinds for a group whose members change, or for one whose members stay."""
        return tuple(kind for kind in cls if kind not in (_OF_FIXED if join else _OF_CHANGING))


_OF_FIXED = (FaultKind.LATE_START,)
_OF_CHANGING = (
    FaultKind.CRASH, FaultKind.RESTART, FaultKind.LEAVE, FaultKind.JOIN, FaultKind.FALSE_SUSPICION,
)  # fmt: skip


class Budget(Struct, frozen=True):
    """Faults that a bounded model allows a run: at most `losses` lost datagrams, each message broadcast by
    one of its `sources`, and `timers` that expire at any time, or late if the model counts them.
    """

    losses: int
    sources: tuple[tuple[int, ...], ...]
    timers: bool


class Settings(Struct, frozen=True, kw_only=True):
    """Settings of a swarm.

    `join`: members join, leave, crash and come back, as in groups of `Group.join`; else they stay. `faults`:
    the kinds of faults, of those for such a group. `sealed`: every datagram is encrypted, and duplicates are
    dropped. `multicast`: a message to all others is one datagram, which each link may lose. `planted`: the
    planted fault of the core. `bound_ms`: after the last fault a delivery must occur in each such time until
    everything is delivered. `steps_max`: a run with more steps is
    given up. `logs`: write the logs of every run. `within`: runs stay within this bounded model, as far as
    drawing can ensure it (`chance`), and no other faults are drawn.
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
        """Check the settings.

        Raises:
            ValueError: the message names the setting, its value and what is allowed.
        """
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
        """Raise ValueError if a setting is allowed only for groups whose members stay."""
        usual = Settings()
        for name in ("layers", "deliver", "sealed", "multicast", "planted", "within"):
            if getattr(self, name) != getattr(usual, name):
                raise ValueError(f"{name} is {getattr(self, name)}; groups whose members change have no such")
