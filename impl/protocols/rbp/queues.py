"""recvQ, seqQ and, in figure 25, stableQ: the messages that a process has, lacks, and has forgotten.

The figures ask four questions of the queues at every step; each is answered in constant amortised time, so
that a run of any length costs the same per message:

- "first msg s.t. (m, B) in recvQ and B not in seqQ" (line 46; 59 in figure 25): a queue of candidates,
  dropped from its head once numbered;
- the highest k such that all numbers 1..k are known (`ts`): moved forward as numbers come;
- the known numbers beyond that, and the bodies of numbered messages that never came: two small sets.

Figure 16 forgets nothing. What figure 25 collects leaves all queues. Two facts keep it known (lines 20 and 26
there), at the cost of one number for each source:

- all numbers 1..`last_number` were known, so one of them that is not here any more is over;
- a source broadcasts its next message when its last one has a number, so the messages that have numbers in
  1..`last_number` are its first `numbered` ones, and one of them that is not here any more is over.

How far ahead of what is known anything may lie is for the process to say: `Core` refuses what cannot be.
This module must not know about tokens, timers or other processes.

Source: Barchet-Estefanel 2002, section 3.1.3, figure 16, and section 3.2.2, figure 25.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Self

from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.rbp.messages import RbpViolation

__all__ = ["Queues"]


class Queues:
    """The bodies and the numbers that one process of a group knows."""

    def __init__(self, members: int) -> None:
        self.received: dict[Identifier, bytes] = {}
        """Queue recvQ: bodies that were not removed, in order of reception."""
        self.numbers: dict[int, Identifier | None] = {}
        """Queue seqQ: the message of each number; None is the NULL message."""
        self.number_of: dict[Identifier, int] = {}
        """Inverse of seqQ: the number of each message."""
        self.stable: dict[int, tuple[Identifier | None, bytes]] = {}
        """Queue stableQ: messages that were removed from the other queues before their delivery."""
        self.last_number = 0
        """Number ts: the highest k such that all numbers 1..k are or were known."""
        self.highest = 0
        """Highest known number."""
        self.last_message = 0
        """Highest known number of a message that is not NULL, as long as that message is here."""
        self.missing: dict[Identifier, int] = {}
        """Numbered messages whose body is missing, with their numbers."""
        self.numbered = [0] * members
        """Number of messages of each source that have a number in 1..last_number; they are its first ones."""
        self.bodies = 0
        """Number of bodies that have ever come."""
        self.first = 1
        """Lowest number that was not removed."""
        self._beyond: set[int] = set()
        self._candidates: deque[Identifier] = deque()

    @classmethod
    def of(
        cls,
        received: Iterable[tuple[Identifier, bytes]],
        waiting: Sequence[Identifier],
        numbers: Iterable[tuple[int, Identifier | None]],
        stable: Iterable[tuple[int, Identifier | None, bytes]],
        numbered: Sequence[int],
        last_number: int,
    ) -> Self:
        """Make queues with this content, which has the form of a snapshot."""
        queues = cls(len(numbered))
        queues.received = dict(received)
        queues.numbers = dict(numbers)
        queues.number_of = {name: number for number, name in queues.numbers.items() if name is not None}
        queues.stable = {number: (name, body) for number, name, body in stable}
        queues.last_number = last_number
        queues.highest = max(queues.numbers, default=0)
        messages = {**{at: name for at, (name, _) in queues.stable.items()}, **queues.numbers}
        queues.last_message = max((at for at, name in messages.items() if name is not None), default=0)
        queues.missing = {name: at for name, at in queues.number_of.items() if name not in queues.received}
        queues.numbered = list(numbered)
        queues._beyond = {number for number in queues.numbers if number > last_number}
        queues._candidates = deque(waiting)
        queues.first = min([last_number + 1, *queues.numbers])
        later = sum(1 for number in queues.number_of.values() if number > last_number)
        queues.bodies = sum(numbered) + later + len(waiting) - len(queues.missing)
        return queues

    def store(self, identifier: Identifier, payload: bytes) -> None:
        """Store a body that is not stored and was not removed (line 23; 24)."""
        self.received[identifier] = payload
        self.bodies += 1
        if identifier in self.number_of:
            del self.missing[identifier]
        else:
            self._candidates.append(identifier)

    def is_numbered(self, identifier: Identifier) -> bool:
        """Return True if the message has a number, also after its removal."""
        return identifier.id <= self.numbered[identifier.source] or identifier in self.number_of

    def is_collected(self, identifier: Identifier) -> bool:
        """Return True if the message was here with its number, and was removed."""
        return identifier.id <= self.numbered[identifier.source] and identifier not in self.number_of

    def knows(self, identifier: Identifier | None, number: int) -> bool:
        """Return True if this assignment is recorded, or concerns a message that was removed."""
        if number in self.numbers:
            return self.numbers[number] == identifier
        return number <= self.last_number and (identifier is None or self.is_collected(identifier))

    def conflict(self, identifier: Identifier | None, number: int) -> RbpViolation | None:
        """Return the violation in an assignment that contradicts the known ones, or None."""
        if number in self.numbers or number <= self.last_number:
            return RbpViolation.TWO_IDENTIFIERS
        if identifier is not None and self.is_numbered(identifier):
            return RbpViolation.TWO_NUMBERS
        return None

    def record(self, identifier: Identifier | None, number: int) -> None:
        """Add an assignment that is neither known nor contradictory (line 26), and move `last_number`."""
        self.numbers[number] = identifier
        if identifier is not None:
            self.number_of[identifier] = number
            self.last_message = max(self.last_message, number)
            if identifier not in self.received:
                self.missing[identifier] = number
        self.highest = max(self.highest, number)
        self._beyond.add(number)
        while self.last_number + 1 in self._beyond:
            self.last_number += 1
            self._beyond.remove(self.last_number)
            reached = self.numbers[self.last_number]
            if reached is not None:
                self.numbered[reached.source] += 1

    def body(self, number: int) -> bytes | None:
        """Return the body of the message with a known number: b"" for NULL, None if it has not come."""
        identifier = self.numbers[number]
        return b"" if identifier is None else self.received.get(identifier)

    def collect(self, number: int) -> tuple[Identifier | None, bytes]:
        """Remove a number that is at most `last_number`, and its body, from seqQ and recvQ (lines 77-78)."""
        identifier = self.numbers.pop(number)
        body = b""
        if identifier is not None:
            del self.number_of[identifier]
            body = self.received.pop(identifier)
        while self.first not in self.numbers and self.first <= self.last_number:
            self.first += 1
        return identifier, body

    @property
    def gap(self) -> bool:
        """Return True if a number below the highest is missing."""
        return self.last_number < self.highest

    @property
    def incomplete(self) -> bool:
        """Return True if a number below the highest, or the body of a known number, is missing."""
        return self.gap or bool(self.missing)

    def complete_to(self, number: int) -> bool:
        """Return True if all numbers 1..number, and their bodies, are stored or were (lines 36 and 44;
        48).
        """
        return self.last_number >= number and all(at > number for at in self.missing.values())

    def first_unnumbered(self) -> Identifier | None:
        """Return the first message without a number in order of reception (line 46; 59), or None."""
        candidates = self._candidates
        while candidates and self.is_numbered(candidates[0]):
            candidates.popleft()
        return candidates[0] if candidates else None

    def waiting(self) -> tuple[Identifier, ...]:
        """Return the messages without a number, in order of reception."""
        return tuple(name for name in self._candidates if not self.is_numbered(name))

    def known_numbers(self, first: int, last: int) -> list[int]:
        """Return the stored numbers in first..last in rising order (line 56; 68)."""
        return [number for number in range(first, last + 1) if number in self.numbers]

    def missing_bodies(self) -> list[Identifier]:
        """Return the messages to request, in the order of their numbers (lines 33 and 47)."""
        return sorted(self.missing, key=self.missing.__getitem__)
