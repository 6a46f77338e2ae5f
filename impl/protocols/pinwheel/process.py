"""Core of Pinwheel: the holder numbers all that it has, and messages report how far their sender has
delivered.

The rules and the table of names stand in `antiphon.impl.protocols.updates`. Beyond these:

| paper                                | here                                                    |
|--------------------------------------|---------------------------------------------------------|
| hgsn_i, R_i[k]                       | `_status`, `_heard[k]`                                  |
| who has the token                    | `_holder`, by the ACKs up to `_acknowledged`            |
| m outstanding messages (section 5)   | `window`                                                |
| `g <= min({R_i[k] | 1 <= k <= n})`   | `_stable`                                               |

Where the paper leaves a choice, the last ACK that a holder can give passes the token; one that nobody needs
stays where it is, since every update comes to its holder.

Repairs: none. The two paragraphs need none over the reliable queues that they suppose.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 3, second paragraph, and section 5, second paragraph, of F. Cristian and
S. Mishra, "The Pinwheel asynchronous atomic broadcast protocols", 1995.
"""

from __future__ import annotations

from collections.abc import Hashable

from msgspec import Struct

from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.pinwheel.messages import Ack, Message, Msg
from antiphon.impl.protocols.updates import Updates
from antiphon.impl.tracing import NULL_TRACER, Tracer

__all__ = ["DEFAULTS", "Core", "Settings"]


class Settings(Struct, frozen=True, kw_only=True):
    """Settings of a core; they are the same at all members."""

    window: int = 2
    """Largest number of own updates without a number."""


DEFAULTS = Settings()
"""The default settings."""


class Core(Updates):
    """Core of Pinwheel at process `me`; `antiphon.impl.protocols.core` tells a shell how to use it."""

    protocol = "pinwheel"

    def __init__(
        self, me: int, members: int, settings: Settings = DEFAULTS, *, tracer: Tracer = NULL_TRACER
    ) -> None:
        """Begin with the token at process 0 and no deliveries.

        Raises:
            InvalidMembership: fewer than two members, or `me` is not one of them.
            ValueError: `window` is not positive.
        """
        super().__init__(me, members, settings.window, tracer)
        self._heard = [0] * members
        self._holder = 0

    @property
    def holding(self) -> bool:
        """Return True if the last known ACK names this process as holder."""
        return self._holder == self.me

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Handle one message of another member."""
        del now
        if isinstance(message, Ack):
            self._receive_ack(sender, message)
        elif self._receive_msg(sender, message):
            self._hear(sender, message.status)
            self._collect()

    def _learn(self, giver: int, message: Ack) -> None:
        """Learn the next ACK: its number is the hgsn of its sender (`the gsn assigned to the message by LTM_i
        is equal to hgsn_i`), and it says who has the token.
        """
        super()._learn(giver, message)
        self._hear(giver, message.number)
        self._holder = (giver + 1) % self.members if message.passes else giver

    def _advance(self) -> None:
        """Set this process's own hgsn to the last gsn that it has delivered."""
        super()._advance()
        self._hear(self.me, self._status)

    def _hear(self, process: int, status: int) -> None:
        """Set the hgsn of another process to the received one, if that is higher (`maintains hgsn_j it has
        received from LTM_j`).
        """
        if status > self._heard[process]:
            self._heard[process] = status

    def _giver(self) -> int:
        """Return the holder of the token, which assigns the next number."""
        return self._holder

    def _last_possible(self) -> int:
        """Return the largest gsn that can have been assigned: in one round each process can number all
        outstanding updates.
        """
        return self._acknowledged + self.members * self.members * self.window

    def _unnumbered_max(self) -> int:
        """Return the largest number of updates of one source without a known gsn: its window, and one for
        each gsn that can have been assigned and is not known here.
        """
        return (self.members * self.members + 1) * self.window

    def _stable(self) -> int:
        """Return the last stable gsn: a message is stable if `g <= min({R_i[k] | 1 <= k <= n})`."""
        return min(self._heard)

    def _msg(self, identifier: Identifier, payload: bytes) -> Msg:
        return Msg(identifier, payload, self._status)

    def _ack(self, number: int, identifier: Identifier) -> Ack:
        return Ack(number, identifier, sum(self._obtained) == sum(self._numbered) + 1)

    def _own(self) -> Hashable:
        return (self._holder, tuple(self._heard))

    def _resume(self, own: tuple[int, tuple[int, ...]]) -> None:
        self._holder, self._heard = own[0], list(own[1])
