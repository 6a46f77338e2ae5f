"""What a process of figure 16 waits for, and sends again when no answer comes.

The "do ... until" loops of figure 16 (lines 12-15, 34-44 and 47-49) say what is sent again and until when,
not how often; that is a matter of `antiphon.impl.protocols.deadlines`.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Timer"]


class Timer(StrEnum):
    """The loops of figure 16 that wait."""

    RESEND = "resend"
    """Lines 12-15: the own message until it has a number."""
    RESEND_TOKEN = "resend_token"
    """Lines 47-49: the own ACK until a higher number is known."""
    REPEAT_REQUEST = "repeat_request"
    """Lines 34-36 and 42-44: requests until nothing is missing."""
