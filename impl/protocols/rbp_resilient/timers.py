"""What a process of figure 25 waits for: answers, and as the holder of the token messages to number.

The figure says what is sent again and until when (lines 13-16, 36-38, 46-48, 53-55, 60-62) and that a holder
passes the token after a timeout (line 51), not how long these take; that is a matter of
`antiphon.impl.protocols.deadlines`.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Timer"]


class Timer(StrEnum):
    """The loops of figure 25 that wait, and its timeout."""

    RESEND = "resend"
    """Lines 13-16: the own message until it has a number."""
    RESEND_TOKEN = "resend_token"
    """Lines 53-55 and 60-62: the own ACK until a higher number is known."""
    REPEAT_REQUEST = "repeat_request"
    """Lines 36-38 and 46-48: requests until nothing is missing."""
    PASS_ON = "pass_on"
    """Line 51: the token without a message, while some message waits for its delivery."""
    PASS_NULL = "pass_null"
    """Line 51: the token without a message, when all were delivered."""
