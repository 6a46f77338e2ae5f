"""The base of a plain binding whose code takes messages and gives messages, without sockets.

It keeps the messages in flight, passes each through the code's own encoding, collects events, and makes
snapshots of whatever the binding holds, so that every state of the code is walked.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, ClassVar, Self

from antiphon.conformance.compare.bindings.binding import Refused
from antiphon.conformance.compare.bindings.freezing import freeze, thaw

__all__ = ["SansIO"]


class SansIO:
    """Base class of a binding of code without sockets.

    A subclass puts what the code sends into `network` with `send`, and takes it out with `receive`. All its
    attributes are part of the snapshot. `__init__` of the subclass need not call this one's.

    Attributes:
        network: the messages in flight. They have a hash.
        encode: the code's function from a message to bytes. Without it messages arrive as they were sent.
        decode: the code's function from bytes to a message.
    """

    encode: ClassVar[Callable[[Any], bytes] | None] = None
    decode: ClassVar[Callable[[bytes], Any] | None] = None
    network: set[Any]

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Begin with an empty network."""
        made = super().__new__(cls)
        made.network = set()
        made._events = []
        return made

    _events: list[Any]

    def send(self, *messages: Hashable) -> None:
        """Put messages into the network."""
        self.network.update(messages)

    def receive(self, message: Hashable, *, stays: bool = False) -> Any:
        """Take a message out of the network, and return it as it arrives: encoded and decoded. One that
        `stays` may arrive again.

        Raises:
            Refused: it is not in the network.
        """
        if message not in self.network:
            raise Refused(f"{message} is not in the network")
        if not stays:
            self.network.remove(message)
        cls = type(self)
        data = message if cls.encode is None else cls.encode(message)
        return data if cls.decode is None else cls.decode(data)  # type: ignore[arg-type]

    def emit(self, *events: object) -> None:
        """Record events of this step, which the specification must emit too."""
        self._events += events

    def collected(self, answer: Any) -> Any:
        """Return the events of the step that ends: those that its method returned, then the recorded ones."""
        events, self._events = self._events, []
        if not events:
            return answer
        returned = () if answer is None else answer if isinstance(answer, list | tuple) else (answer,)
        return [*returned, *events]

    def snapshot(self) -> Hashable:
        """Return all attributes, frozen."""
        return freeze(vars(self))

    def restore(self, kept: Hashable) -> None:
        """Set the attributes to those of a snapshot."""
        vars(self).clear()
        vars(self).update(thaw(kept))
