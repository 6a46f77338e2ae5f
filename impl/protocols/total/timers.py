"""What a process of TOTAL waits for, and what it does when its patience ends."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Timer"]


class Timer(StrEnum):
    """The retransmission thread, and the two repairs that send again."""

    REQUEST_AGAIN = "request_again"
    """The first own message that was not passed up is requested again."""
    ASK = "ask"
    """`a resend request is sent to the sequencer` for each number below the lowest in the queue."""
    SEND_SUFFIX = "send_suffix"
    """`the sequencer handled retransmission`: what somebody has not acknowledged is sent again."""
