"""Cores keep copies of memory; a bus keeps the copies coherent: modified, exclusive, shared, invalid.

Sources: M. Papamarcos, J. Patel, "A low-overhead coherence solution for multiprocessors with private cache
memories", ISCA 1984; problem `cache` of mypyvy.

One core at a time uses the bus. A request on the bus stays there until every other core has answered.
"""

from __future__ import annotations

from enum import Enum

from antiphon.spec.lang import (
    Const,
    Index,
    Map,
    Set,
    Spec,
    action,
    everywhere,
    initial,
    invariant,
    record,
    require,
    witness,
)


class Core(Index, size="cores", symmetric=True):
    """A processor with a cache."""


class Address(Index, size="addresses", symmetric=True):
    """A place in memory."""


class Value(Index, size="values", symmetric=True):
    """Value at an address."""


class Line(Enum):
    """State of a cached copy: modified, exclusive, shared or invalid."""

    INVALID = "invalid"
    SHARED = "shared"
    EXCLUSIVE = "exclusive"
    MODIFIED = "modified"


@record
class Cell:
    """Pair of a core and an address."""

    core: Core
    address: Address


@record
class Write:
    """Request of a core to write a value to an address."""

    core: Core
    address: Address
    value: Value


class CacheCoherence(Spec):
    """Cache coherence: reads and writes that miss, and writes to shared lines, go over the bus."""

    cores: Const[int] = 2
    addresses: Const[int] = 1
    values: Const[int] = 2

    memory: Map[Address, Value | None] = everywhere(None)
    copy: Map[Core, Map[Address, Value | None]] = everywhere(everywhere(None))
    line: Map[Core, Map[Address, Line]] = everywhere(everywhere(Line.INVALID))
    busy: bool = False
    reading: Set[Cell] = Set()
    writing: Set[Write] = Set()
    asked_to_share: Set[Cell] = Set()
    asked_to_give_up: Set[Cell] = Set()
    asked_to_forget: Set[Cell] = Set()
    on_bus: Set[Value] = Set()

    @initial
    def begin(self, memory: Map[Address, Value | None]) -> None:
        """Begin with any values in memory."""
        require(all(memory[a] is not None for a in self.each(Address)))
        self.memory = memory

    @action
    def read_miss(self, c: Core, a: Address) -> None:
        """Ask all other cores for a copy, at a core that has none and reads."""
        require(self.line[c][a] is Line.INVALID and not self.busy)
        self.busy = True
        self.reading |= {Cell(c, a)}
        self.asked_to_share |= {Cell(d, a) for d in self.each(Core) if d != c}

    @action
    def has_none_to_share(self, c: Core, a: Address) -> None:
        """Answer a reading core, at a core that has no copy to share."""
        require(Cell(c, a) in self.asked_to_share and self.line[c][a] is Line.INVALID)
        self.asked_to_share -= {Cell(c, a)}

    @action
    def share(self, c: Core, a: Address, v: Value) -> None:
        """Put a copy on the bus for a reading core; write the copy back if it was modified, and keep it as
        shared.
        """
        require(Cell(c, a) in self.asked_to_share and self.line[c][a] is not Line.INVALID)
        require(self.copy[c][a] == v)
        self.asked_to_share -= {Cell(c, a)}
        if self.line[c][a] is Line.MODIFIED:
            self.memory[a] = v
        self.line[c][a] = Line.SHARED
        self.on_bus |= {v}

    @action
    def read_shared(self, c: Core, a: Address, v: Value) -> None:
        """End a read when all cores have answered, with the copy that is on the bus."""
        require(Cell(c, a) in self.reading and len(self.asked_to_share) == 0 and v in self.on_bus)
        self.copy[c][a] = v
        self.line[c][a] = Line.SHARED
        self.on_bus = Set()
        self.reading -= {Cell(c, a)}
        self.busy = False

    @action
    def read_memory(self, c: Core, a: Address) -> None:
        """End a read when all cores have answered, with the value in memory, since no core has a copy."""
        require(Cell(c, a) in self.reading and len(self.asked_to_share) == 0 and len(self.on_bus) == 0)
        self.copy[c][a] = self.memory[a]
        self.line[c][a] = Line.EXCLUSIVE
        self.reading -= {Cell(c, a)}
        self.busy = False

    @action
    def write_miss(self, c: Core, a: Address, v: Value) -> None:
        """Ask all other cores to give up their copies, at a core that has none and writes."""
        require(self.line[c][a] is Line.INVALID and not self.busy)
        self.busy = True
        self.writing |= {Write(c, a, v)}
        self.asked_to_give_up |= {Cell(d, a) for d in self.each(Core) if d != c}

    @action
    def has_none_to_give_up(self, c: Core, a: Address) -> None:
        """Answer a writing core, at a core that has no copy to give up."""
        require(Cell(c, a) in self.asked_to_give_up and self.line[c][a] is Line.INVALID)
        self.asked_to_give_up -= {Cell(c, a)}

    @action
    def give_up(self, c: Core, a: Address, v: Value) -> None:
        """Give up a copy for a writing core; write it back first if it was modified."""
        require(Cell(c, a) in self.asked_to_give_up and self.line[c][a] is not Line.INVALID)
        require(self.copy[c][a] == v)
        self.asked_to_give_up -= {Cell(c, a)}
        if self.line[c][a] is Line.MODIFIED:
            self.memory[a] = v
        self.line[c][a] = Line.INVALID
        self.on_bus |= {v}

    @action
    def write_after_miss(self, c: Core, a: Address, v: Value) -> None:
        """End a write when all cores have answered: the writing core has the only copy."""
        require(self.line[c][a] is Line.INVALID and Write(c, a, v) in self.writing)
        require(len(self.asked_to_give_up) == 0)
        self.copy[c][a] = v
        self.line[c][a] = Line.MODIFIED
        self.on_bus = Set()
        self.writing -= {Write(c, a, v)}
        self.busy = False

    @action
    def write_exclusive(self, c: Core, a: Address, v: Value) -> None:
        """Write the only copy, without asking anybody."""
        require(self.line[c][a] is Line.EXCLUSIVE and not self.busy)
        self.copy[c][a] = v
        self.line[c][a] = Line.MODIFIED

    @action
    def write_shared(self, c: Core, a: Address, v: Value) -> None:
        """Begin to write a shared copy: ask all other cores to forget theirs."""
        require(self.line[c][a] is Line.SHARED and not self.busy)
        self.busy = True
        self.writing |= {Write(c, a, v)}
        self.asked_to_forget |= {Cell(d, a) for d in self.each(Core) if d != c}

    @action
    def forget(self, c: Core, a: Address) -> None:
        """Forget a copy, for a core that writes a shared one."""
        require(Cell(c, a) in self.asked_to_forget)
        self.asked_to_forget -= {Cell(c, a)}
        self.line[c][a] = Line.INVALID

    @action
    def write_after_all_forgot(self, c: Core, a: Address, v: Value) -> None:
        """End a write to a shared copy when all cores have answered: the writing core has the only copy."""
        require(self.line[c][a] is Line.SHARED and Write(c, a, v) in self.writing)
        require(len(self.asked_to_forget) == 0)
        self.copy[c][a] = v
        self.line[c][a] = Line.MODIFIED
        self.writing -= {Write(c, a, v)}
        self.busy = False

    @action
    def evict_modified(self, c: Core, a: Address) -> None:
        """Make room at a core, and write the modified copy back."""
        require(self.line[c][a] is Line.MODIFIED and not self.busy)
        self.memory[a] = self.copy[c][a]
        self.line[c][a] = Line.INVALID

    @action
    def evict(self, c: Core, a: Address) -> None:
        """Make room at a core by dropping a copy that is not modified."""
        require(self.line[c][a] in (Line.SHARED, Line.EXCLUSIVE) and not self.busy)
        self.line[c][a] = Line.INVALID

    @invariant
    def Coherence(self) -> bool:
        """Invariant: a copy that is valid and not modified equals the value in memory."""
        return all(
            self.line[c][a] in (Line.INVALID, Line.MODIFIED) or self.copy[c][a] == self.memory[a]
            for c in self.each(Core)
            for a in self.each(Address)
        )

    @witness
    def modified(self) -> bool:
        """Witness: some core writes."""
        return any(self.line[c][a] is Line.MODIFIED for c in self.each(Core) for a in self.each(Address))


class CacheCoherenceProof(CacheCoherence):
    """Invariants of the proof: the holder of the only copy, and facts while the bus is in use."""

    def only(self, c: Core, a: Address) -> bool:
        """Return True if the core has the only copy: its line is exclusive or modified."""
        return self.line[c][a] in (Line.EXCLUSIVE, Line.MODIFIED)

    @invariant
    def SomethingIsThere(self) -> bool:
        """Invariant: every address in memory and every valid copy has a value."""
        return all(
            self.memory[a] is not None
            and all(
                self.line[c][a] is Line.INVALID or self.copy[c][a] is not None for c in self.each(Core)
            )
            for a in self.each(Address)
        )

    @invariant
    def OnlyCopy(self) -> bool:
        """Invariant: a core whose line is exclusive or modified has the only copy."""
        return all(
            c == d or not self.only(c, a) or self.line[d][a] is Line.INVALID
            for a in self.each(Address)
            for c in self.each(Core)
            for d in self.each(Core)
        )

    @invariant
    def BusIsInUse(self) -> bool:
        """Invariant: the bus is in use while a core reads or writes over it, has a request to answer, or has
        put a value on it.
        """
        return self.busy or (
            len(self.reading) == 0
            and len(self.writing) == 0
            and len(self.asked_to_share) == 0
            and len(self.asked_to_give_up) == 0
            and len(self.asked_to_forget) == 0
            and len(self.on_bus) == 0
        )

    @invariant
    def OneUsesTheBus(self) -> bool:
        """Invariant: at most one core reads or writes over the bus."""
        return (
            len(self.reading) <= 1
            and len(self.writing) <= 1
            and (len(self.reading) == 0 or len(self.writing) == 0)
        )

    @invariant
    def AskedForReading(self) -> bool:
        """Invariant: during a read only other cores than the reader are requested to share its line, and no
        core writes.
        """
        return (len(self.asked_to_share) == 0 or len(self.writing) == 0) and all(
            r.address == asked.address and r.core != asked.core
            for asked in self.asked_to_share
            for r in self.reading
        )

    @invariant
    def AskedForWriting(self) -> bool:
        """Invariant: during a write only other cores than the writer are requested to give up or to forget
        the line, and no core reads.
        """
        return (
            (len(self.asked_to_give_up) == 0 and len(self.asked_to_forget) == 0) or len(self.reading) == 0
        ) and all(
            all(
                asked.address == w.address
                and asked.core != w.core
                and self.line[w.core][w.address] is Line.INVALID
                for asked in self.asked_to_give_up
            )
            and all(
                asked.address == w.address
                and asked.core != w.core
                and self.line[w.core][w.address] is Line.SHARED
                for asked in self.asked_to_forget
            )
            for w in self.writing
        )

    @invariant
    def ReaderHasNoCopy(self) -> bool:
        """Invariant: a core that reads over the bus has no copy of the line; a core that writes over the bus
        has none, or a shared copy.
        """
        return all(self.line[r.core][r.address] is Line.INVALID for r in self.reading) and all(
            self.line[w.core][w.address] in (Line.INVALID, Line.SHARED) for w in self.writing
        )

    @invariant
    def WhoAnsweredShares(self) -> bool:
        """Invariant: a core that has answered a reader has no copy of the line, or a shared copy whose value
        is on the bus.
        """
        return all(
            c == r.core
            or Cell(c, r.address) in self.asked_to_share
            or self.line[c][r.address] is Line.INVALID
            or (
                self.line[c][r.address] is Line.SHARED
                and any(self.copy[c][r.address] == v for v in self.on_bus)
            )
            for r in self.reading
            for c in self.each(Core)
        )

    @invariant
    def BusHasWhatIsInMemory(self) -> bool:
        """Invariant: a value on the bus for a reader equals that in memory, and every valid copy has that
        value.
        """
        return all(
            self.memory[r.address] == v
            and all(
                self.line[c][r.address] is Line.INVALID or self.copy[c][r.address] == v
                for c in self.each(Core)
            )
            for r in self.reading
            for v in self.on_bus
        )

    @invariant
    def WhoAnsweredHasNone(self) -> bool:
        """Invariant: a core that has answered a writer has no copy of the line."""
        return all(
            c == w.core
            or Cell(c, w.address) in self.asked_to_give_up
            or Cell(c, w.address) in self.asked_to_forget
            or self.line[c][w.address] is Line.INVALID
            for w in self.writing
            for c in self.each(Core)
        )

    @invariant
    def NothingOnBusForSharedWrites(self) -> bool:
        """Invariant: a core that writes to a shared copy gets nothing over the bus."""
        return all(
            self.line[w.core][w.address] is not Line.SHARED or len(self.on_bus) == 0 for w in self.writing
        )
