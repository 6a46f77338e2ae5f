"""Settings of runs of foreign programs. This module knows ranges and names, and not what they do."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from antiphon.conformance.adapters.messages import Ability
from antiphon.conformance.adapters.node import REPLY_SECONDS
from antiphon.conformance.judge.history import RELIABLE_BROADCAST, properties_of
from antiphon.conformance.run.swarm.settings import FaultKind

KINDS: Final = (
    FaultKind.LOSS, FaultKind.DUPLICATION, FaultKind.REORDERING, FaultKind.DELAY, FaultKind.PARTITION,
    FaultKind.PAUSE, FaultKind.CRASH, FaultKind.LEAVE,
)  # fmt: skip
"""Kinds of faults that a run can have. A node that crashes is started again, one that leaves is not."""

NEEDED: Final[dict[FaultKind, Ability]] = {FaultKind.CRASH: "disk", FaultKind.LEAVE: "views"}
"""Ability of a program that is needed for a kind of fault to be drawn, where the kinds are not named."""

NODES_MAX: Final = 64


class Settings(Struct, frozen=True, kw_only=True):
    """Settings of runs.

    `nodes`: the number of processes. `messages`: how many are broadcast in a run. `only`: kinds of faults,
    each of which every run then has, and of which each must have happened; without them a run draws some.
    `promise`: what the program promises. `settle_s`: seconds after the last fault in which everything must be
    delivered, in the time of the nodes. `reply_s`: seconds that a node may take for a reply.

    Raises:
        ValueError: a setting is out of its range.
    """

    nodes: int = 3
    messages: int = 20
    only: tuple[FaultKind, ...] = ()
    promise: tuple[str, ...] = (RELIABLE_BROADCAST,)
    settle_s: float = 10.0
    reply_s: float = REPLY_SECONDS

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        properties_of(self.promise)
        if not 1 <= self.nodes <= NODES_MAX:
            raise ValueError(f"nodes is {self.nodes}: there are 1 to {NODES_MAX}")
        if self.messages < 1:
            raise ValueError(f"messages is {self.messages}: a run broadcasts at least 1")
        if strange := [kind for kind in self.only if kind not in KINDS]:
            raise ValueError(f"only is {strange[0]}: a foreign program meets {', '.join(KINDS)}")
        for name, seconds in (("settle_s", self.settle_s), ("reply_s", self.reply_s)):
            if not seconds > 0:
                raise ValueError(f"{name} is {seconds:g}: it is more than 0")
