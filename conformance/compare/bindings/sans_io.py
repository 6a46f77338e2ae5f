"""The base of a plain binding whose code takes messages and gives messages, without sockets.

It makes the code of each process, keeps the messages in flight, as a set or in queues between two processes,
passes each through the code's own encoding, collects events, and makes snapshots of whatever the binding
holds, so that every state of the code is walked.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, ClassVar, Self

from antiphon.conformance.compare.bindings.binding import Refused
from antiphon.conformance.compare.bindings.freezing import freeze, thaw

__all__ = ["SansIO"]


class SansIO:
    """Base class of a binding of code without sockets.

    A subclass puts what the code sends into `network` with `send`, and takes it out with `receive`. Where
    messages keep their order, there is a queue from each process to each instead: what `cores` have sent is
    put into the queues after each action, and `first` takes it out. All attributes are part of the snapshot.
    `__init__` of the subclass need not call this one's.

    Attributes:
        network: the messages in flight that no queue has. They have a hash.
        core: the code of one process, made from its number and the number of all processes: the constant
            `processes`.
        cores: the code of each process; without `core` the subclass makes them, or has none.
        encode: the code's function from a message to bytes. Without it messages arrive as they were sent.
        decode: the code's function from bytes to a message.
    """

    encode: ClassVar[Callable[[Any], bytes] | None] = None
    decode: ClassVar[Callable[[bytes], Any] | None] = None
    core: ClassVar[Callable[[int, int], Any] | None] = None
    cores: list[Any]
    network: set[Any]

    def __new__(cls, processes: int = 0, *_: Any, **__: Any) -> Self:
        """Begin with an empty network, and with the code of each process if the class has a `core`."""
        made = super().__new__(cls)
        made.network, made.cores = set(), []
        made._queues, made._events = {}, []
        if cls.core is not None:
            made.cores = [cls.core(process, processes) for process in range(processes)]
        return made

    _queues: dict[tuple[int, int], list[Any]]
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
        return self._arrived(message)

    def outputs(self, core: Any) -> Iterable[tuple[int, Any]]:
        """Return what a core has sent since it was last asked, each with its receiver: what `outputs` of the
        core returns, if it has that method.
        """
        return getattr(core, "outputs", tuple)()

    def put(self, sender: int, to: int, message: Any) -> None:
        """Put a message at the end of the queue from one process to another."""
        queues = {**self._queues, (sender, to): [*self._queues.get((sender, to), ()), message]}
        self._queues = dict(sorted(queues.items()))

    def first(self, sender: int, to: int) -> Any:
        """Take the first message out of the queue from one process to another, and return it as it arrives:
        encoded and decoded.

        Raises:
            Refused: the queue is empty.
        """
        message, *rest = self._queues.pop((sender, to), None) or [Refused]
        self.require(message is not Refused, f"nothing is under way from {sender} to {to}")
        for later in rest:
            self.put(sender, to, later)
        return self._arrived(message)

    def queues(self, meaning: Callable[[Any], object] = lambda sent: sent) -> list[list[list[object]]]:
        """Return the meaning of each queued message, for `state`: lists by sender, then by receiver."""
        every = range(len(self.cores))
        return [[[*map(meaning, self._queues.get((s, p), ()))] for p in every] for s in every]

    def require(self, condition: object, why: str = "the code does not take the step") -> None:
        """Refuse the step unless a condition is true.

        Raises:
            Refused: it is false.
        """
        if not condition:
            raise Refused(why)

    def _arrived(self, message: Any) -> Any:
        """Return a message as it arrives."""
        cls = type(self)
        data = message if cls.encode is None else cls.encode(message)
        return data if cls.decode is None else cls.decode(data)

    def emit(self, *events: object) -> None:
        """Record events of this step, which the specification must emit too."""
        self._events += events

    def collected(self, answer: Any) -> Any:
        """Return the events of the step that ends: those that its method returned, then the recorded ones.
        Put what the cores have sent in it into the queues.
        """
        for process, core in enumerate(self.cores):
            for to, message in self.outputs(core):
                self.put(process, to, message)
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
