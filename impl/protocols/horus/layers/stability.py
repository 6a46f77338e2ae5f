"""MBRSHIP on one list of a group whose members change: a view lasts as long as its list, and everybody learns
what all have.

The list is made, and ended, by the membership outside, which agrees on it; each list has layers of its own,
so that no message crosses the end of a view. What the flush needs of this layer is stability: which messages
all members of the view have, so that no flush has to bring them to anybody.

| paper                                                       | here                                     |
|-------------------------------------------------------------|------------------------------------------|
| `all members in the view that were also in the previous     | the change of the list delivers what any |
| view have delivered the same messages`                      | of a majority has that is not stable     |
| `stability information` (P14)                               | `received` of each header, `stable`      |

1. Casts of one member are counted from 1, except those that do not last (the token of TOTAL): these are worth
   nothing when the view has ended.
2. Every cast says how many of each member's the sender has. A member that has got something, and casts
   nothing, says it alone, once for all that came in one step.
3. At most `room` own casts are not known to be stable; the application waits then.

Source: van Renesse and others 1995, on MBRSHIP.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from antiphon.impl.protocols.core import Wait
from antiphon.impl.protocols.horus.layers.layer import Cast, Down, Layer, Receive, popped, pushed
from antiphon.impl.protocols.horus.messages import HorusViolation
from antiphon.impl.protocols.listeners import Upto

__all__ = ["Stability", "StabilitySnapshot"]


class _Header(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """Header that MBRSHIP pushes."""

    received: tuple[Upto, ...]
    """Number of lasting casts of each member that the sender has, its own too."""


class Lasting(_Header, frozen=True, tag=1):
    """Cast that is delivered in its view, or at its end."""

    body: bytes


class Passing(_Header, frozen=True, tag=2):
    """Cast that is worth nothing when the view has ended."""

    body: bytes


class Has(_Header, frozen=True, tag=3):
    """Report of the casts that the sender has, without a cast of its own."""


_DECODER: msgspec.msgpack.Decoder[Lasting | Passing | Has] = msgspec.msgpack.Decoder(Lasting | Passing | Has)


class StabilitySnapshot(NamedTuple):
    """The whole state of the layer MBRSHIP at one member."""

    received: tuple[tuple[int, ...], ...]
    told: tuple[int, ...]


class Stability(Layer):
    """Layer MBRSHIP of a list: it learns which casts all members have."""

    def __init__(self, me: int, members: int, room: int) -> None:
        """Make the layer: at most `room` own casts are not stable."""
        super().__init__(me, members)
        self._room = room
        self._received = [[0] * members for _ in range(members)]
        """`[p][q]` is the number of lasting casts of q that p has, as far as p has reported it."""
        self._told = [0] * members

    def stable(self, source: int) -> int:
        """Return the number of lasting casts of a member that all members have."""
        return min(counts[source] for counts in self._received)

    @property
    def full(self) -> bool:
        """Return True if as many own casts are on their way as may be."""
        return self._received[self.me][self.me] - self.stable(self.me) >= self._room

    def down(self, call: Down) -> None:
        """Push the numbers of casts that this member has, and cast the message; count a lasting one."""
        if isinstance(call, Cast) and call.lasting:
            self._received[self.me][self.me] += 1
            self._cast(Lasting(self._tell(), call.body))
        else:
            self._cast(Passing(self._tell(), call.body))

    def _cast(self, header: _Header) -> None:
        self.below(Cast(pushed(header)))

    def _tell(self) -> tuple[int, ...]:
        self._told = list(self._received[self.me])
        return tuple(self._told)

    def tell(self) -> None:
        """Cast a report of what this member has, if casts have come since its last report."""
        if self._told != self._received[self.me]:
            self._cast(Has(self._tell()))

    def up(self, call: Receive) -> None:
        """Pop the numbers of casts that the sender has, and hand up the body, if there is one."""
        header, origin = popped(_DECODER, call.body), call.origin
        if header is None or len(header.received) != self.members:
            self.violated(HorusViolation.MALFORMED, origin)
            return
        if header.received[self.me] > self._received[self.me][self.me]:
            self.violated(HorusViolation.NEVER_CAST, origin)
            return
        self._received[origin] = list(map(max, self._received[origin], header.received))
        if isinstance(header, Lasting):
            self._received[self.me][origin] += 1
        if not isinstance(header, Has):
            self.above(Receive(origin, header.body))

    @property
    def progress(self) -> int:
        """Measure of progress: the number of casts that the members are known to have, summed up."""
        return sum(map(sum, self._received))

    def waits(self) -> tuple[Wait, ...]:
        """Return the members that have not reported to have all lasting casts of this member."""
        own = self._received[self.me][self.me]
        late = [process for process in self.others if self._received[process][self.me] < own]
        return tuple(Wait(f"word of having cast {own}", process) for process in late)

    def snapshot(self) -> StabilitySnapshot:
        """Return the whole state."""
        return StabilitySnapshot(tuple(map(tuple, self._received)), tuple(self._told))

    def restore(self, snapshot: StabilitySnapshot) -> None:
        """Set the state to a snapshot."""
        self._received = [list(counts) for counts in snapshot.received]
        self._told = list(snapshot.told)
