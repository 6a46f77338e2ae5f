"""Core of CM: the token holder gives one update its number, which passes the token on.

The rules and the table of names stand in `antiphon.impl.protocols.updates`. Beyond these:

| paper                                              | here                                    |
|----------------------------------------------------|-----------------------------------------|
| `the token is circulated … along the predefined path` | gsn g + 1 is given by process g mod n |
| one outstanding message (section 4.2, Flow control) | `window` is 1                          |
| `stable after … n-1 subsequent messages`           | `_stable`                               |

A token that nobody needs stays where it is, since every update comes to its holder.

Repairs: none. The paragraph needs none over the reliable queues that it supposes; where it leaves something
open, `updates` says what is done.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 3, first paragraph, of J. Chang and N. F. Maxemchuk, "Reliable broadcast
protocols", ACM Transactions on Computer Systems 2, 1984.
"""

from __future__ import annotations

from msgspec import Struct

from antiphon.impl.protocols.chang_maxemchuk.messages import Ack, Message, Msg
from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.updates import Updates
from antiphon.impl.tracing import NULL_TRACER, Tracer

__all__ = ["DEFAULTS", "Core", "Settings"]


class Settings(Struct, frozen=True, kw_only=True):
    """Settings of a core: CM has none."""


DEFAULTS = Settings()
"""The default settings."""


class Core(Updates):
    """Core of CM at process `me`; `antiphon.impl.protocols.core` tells a shell how to use it."""

    protocol = "chang-maxemchuk"

    def __init__(
        self, me: int, members: int, settings: Settings = DEFAULTS, *, tracer: Tracer = NULL_TRACER
    ) -> None:
        """Begin with the token at process 0.

        Raises:
            InvalidMembership: fewer than two members, or `me` is not one of them.
        """
        del settings
        super().__init__(me, members, 1, tracer)

    @property
    def holding(self) -> bool:
        """Return True if the last known gsn names this process as holder (`circulated among LTMs along the
        predefined path`).
        """
        return self._giver() == self.me

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Handle one message of another member."""
        del now
        if isinstance(message, Msg):
            self._receive_msg(sender, message)
        else:
            self._receive_ack(sender, message)

    def _giver(self) -> int:
        """Return the process that assigns the next gsn: each ACK passes the token to the next process (`along
        the predefined path`).
        """
        return self._acknowledged % self.members

    def _last_possible(self) -> int:
        """Return the largest gsn that can have been assigned: the next one that this process assigns itself,
        since no later one is assigned before.
        """
        return self._acknowledged + (self.me - self._acknowledged) % self.members

    def _unnumbered_max(self) -> int:
        """Return the largest number of updates of one source without a known gsn: one, and one for each gsn
        that can have been assigned and is not known here.
        """
        return self.members

    def _stable(self) -> int:
        """Return the last stable gsn: `U becomes stable after … n-1 subsequent messages are acknowledged`."""
        return self._acknowledged - (self.members - 1)

    def _msg(self, identifier: Identifier, payload: bytes) -> Msg:
        return Msg(identifier, payload)

    def _ack(self, number: int, identifier: Identifier) -> Ack:
        return Ack(number, identifier)
