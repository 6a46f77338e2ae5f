"""recvQ and seqQ of figure 16: the bodies and the numbers that a process has, and what is missing between.

The figure asks four questions of the two queues at every step; each is answered in constant amortised time,
so that a run of any length costs the same per message:

- "first msg s.t. (m, B) in recvQ and B not in seqQ" (line 46): a queue of candidates, dropped from its head
  once numbered;
- the highest k such that all numbers 1..k are known (`ts`, lines 28, 33, 40): moved forward as numbers come;
- the known numbers beyond that, and the bodies of numbered messages that never came: two small sets.

Figure 16 forgets nothing, so neither do the queues; stability, which lets a process forget, belongs to figure
25. How far ahead of what is known anything may lie is for the process to say: `Core` refuses what cannot be.
This module must not know about messages, tokens, timers or other processes.

Source: Barchet-Estefanel 2002, section 3.1.3, figure 16.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable

from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.rbp.violations import RbpViolation

__all__ = ["Queues"]


class Queues:
    """The bodies received and the numbers known by one process."""

    def __init__(self) -> None:
        self.received: dict[Identifier, bytes] = {}
        """recvQ: bodies in order of reception."""
        self.numbers: dict[int, Identifier | None] = {}
        """seqQ: which message has a number; None is the NULL message."""
        self.number_of: dict[Identifier, int] = {}
        """seqQ read the other way."""
        self.last_number = 0
        """ts: the highest k such that all numbers 1..k are known."""
        self.highest = 0
        """The highest number known."""
        self.missing: dict[Identifier, int] = {}
        """Numbered messages whose body has not come, with their numbers."""
        self.numbered: Counter[int] = Counter()
        """How many messages of each source have a number in 1..last_number; so many are its first ones."""
        self._beyond: set[int] = set()
        self._candidates: deque[Identifier] = deque()

    @classmethod
    def of(
        cls,
        received: Iterable[tuple[Identifier, bytes]],
        numbers: Iterable[tuple[int, Identifier | None]],
    ) -> Queues:
        """The queues with this content; the order of `received` is the order of reception."""
        queues = cls()
        for identifier, payload in received:
            queues.store(identifier, payload)
        for number, numbered in numbers:
            queues.record(numbered, number)
        return queues

    def store(self, identifier: Identifier, payload: bytes) -> None:
        """Add a body that is not there yet (line 23)."""
        self.received[identifier] = payload
        if identifier in self.number_of:
            del self.missing[identifier]
        else:
            self._candidates.append(identifier)

    def knows(self, identifier: Identifier | None, number: int) -> bool:
        """Whether this very assignment is known already."""
        return number in self.numbers and self.numbers[number] == identifier

    def conflict(self, identifier: Identifier | None, number: int) -> RbpViolation | None:
        """Why a new assignment cannot be true beside those already known, or None."""
        if (identifier is None) != (number == 1):
            return RbpViolation.MISPLACED_NULL
        if number in self.numbers:
            return RbpViolation.TWO_IDENTIFIERS
        if identifier in self.number_of:
            return RbpViolation.TWO_NUMBERS
        return None

    def record(self, identifier: Identifier | None, number: int) -> None:
        """Add an assignment neither known nor in conflict (line 26); move `last_number` (lines 36, 40)."""
        self.numbers[number] = identifier
        if identifier is not None:
            self.number_of[identifier] = number
            if identifier not in self.received:
                self.missing[identifier] = number
        if number > self.highest:
            self.highest = number
        self._beyond.add(number)
        while self.last_number + 1 in self._beyond:
            self.last_number += 1
            self._beyond.remove(self.last_number)
            reached = self.numbers[self.last_number]
            if reached is not None:
                self.numbered[reached.source] += 1

    @property
    def gap(self) -> bool:
        """Whether a number below the highest is missing."""
        return self.last_number < self.highest

    @property
    def incomplete(self) -> bool:
        """Whether a number below the highest, or the body of a known number, is missing."""
        return self.gap or bool(self.missing)

    def complete_to(self, number: int) -> bool:
        """Whether all numbers 1..number and the bodies of their messages are here (lines 36 and 44)."""
        return self.last_number >= number and all(at > number for at in self.missing.values())

    def first_unnumbered(self) -> Identifier | None:
        """The first message in order of reception that has no number (line 46), or None."""
        candidates = self._candidates
        while candidates and candidates[0] in self.number_of:
            candidates.popleft()
        return candidates[0] if candidates else None

    def known_numbers(self, first: int, last: int) -> list[int]:
        """The known numbers in first..last, rising (line 56)."""
        return [number for number in range(first, last + 1) if number in self.numbers]

    def missing_bodies(self) -> list[Identifier]:
        """The messages to request, in the order of their numbers (lines 30 and 41)."""
        return sorted(self.missing, key=self.missing.__getitem__)
