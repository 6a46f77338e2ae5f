"""What a process of the ring waits for when it waits for nothing: the end of the token's rest."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Timer"]


class Timer(StrEnum):
    """The one timer of the ring."""

    PASS_IDLE = "pass_idle"
    """`when no LTM has a message to multicast, the token continues to circulate`: not at once."""
