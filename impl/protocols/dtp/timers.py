"""What a process of DTP waits for, and what it does when its patience ends (section 4.2, Timeout)."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Timer"]


class Timer(StrEnum):
    """The timeouts of section 4.2, and its silence."""

    RESEND_MESSAGE = "resend_message"
    """`LTM_i multicasts the same MSG at every timeout until it receives an acknowledgment`."""
    RESEND_PASS = "resend_pass"
    """`LTM_i also multicasts the same ACK message at every timeout until` the token is passed on."""
    REPEAT_REQUEST = "repeat_request"
    """`LTM_i multicasts the REQ message at every timeout until it receives the requested message`."""
    PASS_NULL = "pass_null"
    """`If no new MSG arrives in T, LTM_i multicasts ACK(i, NULL, R_i[i], m)`."""
