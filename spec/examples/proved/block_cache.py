"""A cache of blocks over a disk loses nothing in a crash but what was not yet synchronized.

Sources: T. Hance, A. Lattuada, C. Hawblitzel, J. Howell, R. Johnson, B. Parno, "Storage systems are
distributed systems (so verify them that way!)", OSDI 2020; problem `block_cache_system` of mypyvy.

A block is written to a location of the disk that nobody uses, never over its old content; a table says at
which location each block is. There are three tables: the *current* one, the *frozen* one that is being
written while the current one already goes on, and the *persistent* one, which the disk finds after a crash.
The disk answers requests in any order, and in a crash a location that is being written holds anything.

`Store` is what the user may rely on: content that was written is there, and after a crash all content is as
it was when the last synchronization that has ended began. `BlockCache` does each step of the store where it
promises it.
"""

from __future__ import annotations

from antiphon.spec.lang import (
    Const,
    Index,
    Map,
    Set,
    Spec,
    action,
    environment,
    everywhere,
    initial,
    invariant,
    record,
    require,
    witness,
)


class Block(Index, size="blocks", symmetric=True):
    """Name of a block, which stays when the block moves on the disk."""


class Content(Index, size="contents", symmetric=True):
    """Content of a block."""


class Location(Index, size="locations", symmetric=True):
    """Location of the disk: room for one block and, apart from it, for one table."""


class Request(Index, size="requests", symmetric=True):
    """Number of a request to the disk, until its answer."""


@record
class Row:
    """Row of a table on the disk: the location of a block, by the table at location `table`."""

    table: Location
    block: Block
    location: Location


@record
class Write:
    """Write of a block to a location, whose answer the cache awaits."""

    block: Block
    location: Location


class Store(Spec):
    """Store of blocks that forgets in a crash what it has not saved."""

    blocks: Const[int] = 1
    contents: Const[int] = 2

    current: Map[Block, Content | None] = everywhere(None)
    snapshot: Map[Block, Content | None] = everywhere(None)
    saved: Map[Block, Content | None] = everywhere(None)
    saving: bool = False

    def put(self, b: Block, c: Content) -> None:
        """Give a block a content."""
        self.current[b] = c

    def begin_to_save(self) -> None:
        """Begin to save what all blocks hold now."""
        self.snapshot = self.current
        self.saving = True

    def save(self) -> None:
        """Save what the blocks held when the saving began."""
        self.saved = self.snapshot
        self.saving = False

    def forget(self) -> None:
        """Forget what was not saved."""
        self.current = self.saved
        self.saving = False


class BlockCache(Store):
    """Cache of blocks, with its disk."""

    locations: Const[int] = 2
    requests: Const[int] = 1

    # The memory, which a crash clears.
    cached: Map[Block, Content | None] = everywhere(None)
    dirty: Set[Block] = Set()
    current_at: Map[Block, Location | None] = everywhere(None)
    frozen_dirty: Set[Block] = Set()
    frozen_at: Map[Block, Location | None] = everywhere(None)
    persistent_at: Map[Block, Location | None] = everywhere(None)
    synchronizing: bool = False
    frozen_table: Location | None = None
    reading: Map[Request, Block | None] = everywhere(None)
    writing: Map[Request, Write | None] = everywhere(None)
    writing_table: Set[Request] = Set()

    # The disk; its first block, which is written in one step, has the location of the persistent table.
    content: Map[Location, Content | None] = everywhere(None)
    rows: Set[Row] = Set()
    persistent_table: Location | None = None
    reads: Map[Request, Location | None] = everywhere(None)
    writes: Map[Request, Location | None] = everywhere(None)
    table_writes: Map[Request, Location | None] = everywhere(None)

    @initial
    def format(self, table: Location) -> None:
        """Format the disk: any location has the persistent table, which is empty."""
        self.persistent_table = table

    # Reading and writing blocks -----------------------------------------------------------------------------

    @action
    def write(self, b: Block, c: Content) -> None:
        """Write a block that is in the cache, unless its old content is still to be written to the disk for
        the synchronization.
        """
        require(not self.synchronizing or b not in self.frozen_dirty)
        require(self.cached[b] is not None)
        self.cached[b] = c
        self.dirty |= {b}
        self.current_at[b] = None
        self.put(b, c)

    @action
    def allocate(self, b: Block, c: Content) -> None:
        """Write a block that is nowhere yet."""
        require(self.cached[b] is None and self.current_at[b] is None and b not in self.dirty)
        require(not self.synchronizing or (self.frozen_at[b] is None and b not in self.frozen_dirty))
        self.cached[b] = c
        self.dirty |= {b}
        self.put(b, c)

    @action
    def read(self, i: Request, b: Block) -> None:
        """Ask the disk for a block that is not in the cache."""
        require(self.current_at[b] is not None and self.cached[b] is None)
        require(all(self.reading[other] != b for other in self.each(Request)))
        require(self.reads[i] is None)
        self.reading[i] = b
        self.reads[i] = self.current_at[b]

    @action
    def read_done(self, i: Request, b: Block, c: Content) -> None:
        """Answer a read: the block enters the cache."""
        at = self.reads[i]
        require(self.reading[i] == b and at is not None and self.content[at] == c)
        self.cached[b] = c
        self.reading[i] = None
        self.reads[i] = None

    @action
    def evict(self, b: Block) -> None:
        """Make room in the cache by dropping a block that is on the disk."""
        require(self.cached[b] is not None and b not in self.dirty)
        self.cached[b] = None

    @action
    def write_back(self, i: Request, b: Block, at: Location) -> None:
        """Write a block to a location that no table names; current and frozen table point to it, if they
        waited for that.
        """
        require(all(self.persistent_at[other] != at for other in self.each(Block)))
        require(all(self.current_at[other] != at for other in self.each(Block)))
        require(all(self.frozen_at[other] != at for other in self.each(Block)))
        require(self.cached[b] is not None)
        require(self.writing[i] is None and self.writes[i] is None)
        self.content[at] = self.cached[b]
        self.writes[i] = at
        self.writing[i] = Write(b, at)
        if b in self.dirty:
            self.dirty -= {b}
            self.current_at[b] = at
        if self.synchronizing and b in self.frozen_dirty:
            self.frozen_dirty -= {b}
            self.frozen_at[b] = at

    @action
    def write_back_done(self, i: Request) -> None:
        """Answer a write of a block."""
        require(self.writing[i] is not None and self.writes[i] is not None)
        self.writing[i] = None
        self.writes[i] = None

    # Synchronizing ------------------------------------------------------------------------------------------

    @action
    def freeze(self) -> None:
        """Begin to synchronize: freeze the current table, unless a frozen one is just being written."""
        require(len(self.writing_table) == 0)
        self.frozen_at = self.current_at
        self.frozen_dirty = self.dirty
        self.synchronizing = True
        self.frozen_table = None
        self.begin_to_save()

    @action
    def write_table(self, i: Request, table: Location) -> None:
        """Write the frozen table beside the persistent one, when all its blocks are on the disk."""
        require(self.synchronizing and len(self.frozen_dirty) == 0 and self.frozen_table is None)
        require(self.persistent_table != table)
        require(all(self.writing[other] is None for other in self.each(Request)))
        require(self.table_writes[i] is None)
        self.rows -= {row for row in self.rows if row.table == table}
        self.rows |= {
            Row(table, b, at)
            for b in self.each(Block)
            for at in self.each(Location)
            if self.frozen_at[b] == at
        }
        self.table_writes[i] = table
        self.writing_table |= {i}
        self.frozen_table = table

    @action
    def write_table_done(self, i: Request) -> None:
        """Answer the write of the table."""
        require(i in self.writing_table and self.frozen_table is not None)
        require(self.table_writes[i] == self.frozen_table)
        self.writing_table -= {i}
        self.table_writes[i] = None

    @action
    def end(self) -> None:
        """End the synchronization when the table is on the disk: it becomes the persistent one."""
        require(self.synchronizing and self.frozen_table is not None and len(self.writing_table) == 0)
        self.persistent_at = self.frozen_at
        self.persistent_table = self.frozen_table
        self.synchronizing = False
        self.frozen_table = None
        self.save()

    # The world ----------------------------------------------------------------------------------------------

    @environment
    def crash(
        self,
        found: Map[Block, Location | None],
        torn_table: Map[Block, Location | None],
        torn: Map[Location, Content | None],
    ) -> None:
        """Crash, and begin again with the persistent table as it is found on the disk. A table that was being
        written is torn and names any locations, a block that was being written has any content.
        """
        require(
            all(
                (found[b] == at) == (Row(table, b, at) in self.rows)
                for table in self.each(Location)
                for b in self.each(Block)
                for at in self.each(Location)
                if self.persistent_table == table
            )
        )
        self.rows -= {
            row
            for row in self.rows
            if any(self.table_writes[i] == row.table for i in self.each(Request))
        }
        self.rows |= {
            Row(table, b, at)
            for table in self.each(Location)
            for b in self.each(Block)
            for at in self.each(Location)
            if torn_table[b] == at and any(self.table_writes[i] == table for i in self.each(Request))
        }
        self.content = Map(
            {
                at: torn[at] if any(self.writes[i] == at for i in self.each(Request)) else self.content[at]
                for at in self.each(Location)
            }
        )
        self.cached = everywhere(None)
        self.dirty = Set()
        self.current_at = found
        self.persistent_at = found
        self.synchronizing = False
        self.frozen_table = None
        self.reading = everywhere(None)
        self.writing = everywhere(None)
        self.writing_table = Set()
        self.reads = everywhere(None)
        self.writes = everywhere(None)
        self.table_writes = everywhere(None)
        self.forget()

    # What is promised ---------------------------------------------------------------------------------------

    @invariant
    def CachedIsCurrent(self) -> bool:
        """Invariant: a block in the cache has the content that was written last, or saved before a crash."""
        return all(self.cached[b] is None or self.cached[b] == self.current[b] for b in self.each(Block))

    @invariant
    def NothingIsLost(self) -> bool:
        """Invariant: a block with a content is in the cache, or the current table names its location."""
        return all(
            self.current[b] is None or self.cached[b] is not None or self.current_at[b] is not None
            for b in self.each(Block)
        )

    @invariant
    def SavesWhileSynchronizing(self) -> bool:
        """Invariant: the store saves as long as the cache synchronizes."""
        return self.synchronizing == self.saving

    @witness
    def something_is_saved(self) -> bool:
        """Witness: some run writes, synchronizes and crashes."""
        return any(self.saved[b] is not None and self.current[b] is None for b in self.each(Block)) or any(
            self.saved[b] is not None and self.cached[b] is None for b in self.each(Block)
        )


class BlockCacheProof(BlockCache):
    """Invariants of the proof: what each of the three tables names is on the disk.

    A location that a table names is not written to while the table does: `write_back` takes another. So what
    is on the disk under the current, the frozen and the persistent table stays what it was when the location
    entered the table. The frozen table is written when all writes of blocks are answered, and takes the place
    of the persistent one when its own write is answered. So nothing under the persistent table is being
    written, and a crash tears nothing of it.
    """

    @invariant
    def Formatted(self) -> bool:
        """Invariant: some location has the persistent table."""
        return self.persistent_table is not None

    @invariant
    def DirtyIsInCache(self) -> bool:
        """Invariant: a dirty block is in the cache, and the current table has no location of it."""
        return all(self.cached[b] is not None and self.current_at[b] is None for b in self.dirty)

    @invariant
    def CleanIsOnDisk(self) -> bool:
        """Invariant: a block in the cache that is not dirty has a location in the current table."""
        return all(
            self.cached[b] is None or b in self.dirty or self.current_at[b] is not None
            for b in self.each(Block)
        )

    def holds(self, at: Location, c: Content | None) -> bool:
        """Return True if there is something at a location, and it is c."""
        return self.content[at] is not None and self.content[at] == c

    @invariant
    def CurrentTable(self) -> bool:
        """Invariant: at the location that the current table has for a block is its current content."""
        return all(
            self.holds(at, self.current[b])
            for b in self.each(Block)
            for at in self.each(Location)
            if self.current_at[b] == at
        )

    @invariant
    def PersistentTable(self) -> bool:
        """Invariant: at the location that the persistent table has for a block is its saved content; of any
        other block nothing is saved.
        """
        return all(
            self.holds(at, self.saved[b])
            for b in self.each(Block)
            for at in self.each(Location)
            if self.persistent_at[b] == at
        ) and all(self.persistent_at[b] is not None or self.saved[b] is None for b in self.each(Block))

    @invariant
    def FrozenTable(self) -> bool:
        """Invariant: during a synchronization, at the location that the frozen table has for a block is its
        content in the snapshot; of any other block there is nothing in the snapshot, unless it is dirty.
        """
        return not self.synchronizing or (
            all(
                self.holds(at, self.snapshot[b])
                for b in self.each(Block)
                for at in self.each(Location)
                if self.frozen_at[b] == at
            )
            and all(
                self.frozen_at[b] is not None or b in self.frozen_dirty or self.snapshot[b] is None
                for b in self.each(Block)
            )
        )

    @invariant
    def FrozenIsDirty(self) -> bool:
        """Invariant: during a synchronization, a block that the frozen table waits for is dirty, has no
        location in that table, and is in the cache as it is in the snapshot.
        """
        return not self.synchronizing or all(
            b in self.dirty and self.frozen_at[b] is None and self.cached[b] == self.snapshot[b]
            for b in self.frozen_dirty
        )

    @invariant
    def PersistentTableIsOnDisk(self) -> bool:
        """Invariant: the persistent table in memory is the one on the disk."""
        return all(
            (self.persistent_at[b] == at) == (Row(t, b, at) in self.rows)
            for t in self.each(Location)
            for b in self.each(Block)
            for at in self.each(Location)
            if self.persistent_table == t
        )

    @invariant
    def FrozenTableIsOnDisk(self) -> bool:
        """Invariant: a frozen table that was written belongs to a synchronization, waits for no block, is
        beside the persistent one, and is the one on the disk.
        """
        return self.frozen_table is None or (
            self.synchronizing
            and len(self.frozen_dirty) == 0
            and self.frozen_table != self.persistent_table
            and all(
                (self.frozen_at[b] == at) == (Row(t, b, at) in self.rows)
                for t in self.each(Location)
                for b in self.each(Block)
                for at in self.each(Location)
                if self.frozen_table == t
            )
        )

    @invariant
    def OneTableIsWritten(self) -> bool:
        """Invariant: at most one table is being written, the frozen one."""
        return len(self.writing_table) <= 1 and (
            len(self.writing_table) == 0 or self.frozen_table is not None
        )

    @invariant
    def DiskWritesTheFrozenTable(self) -> bool:
        """Invariant: the disk writes only a table whose answer the cache awaits, the frozen one."""
        return all(
            self.table_writes[i] is None
            or (i in self.writing_table and self.table_writes[i] == self.frozen_table)
            for i in self.each(Request)
        )

    @invariant
    def DiskWritesWhatIsAwaited(self) -> bool:
        """Invariant: the disk writes a block only to a location for which the cache awaits an answer."""
        return all(
            any(self.writing[i] == Write(b, at) for b in self.each(Block))
            for i in self.each(Request)
            for at in self.each(Location)
            if self.writes[i] == at
        )

    @invariant
    def NothingNamedIsWritten(self) -> bool:
        """Invariant: nothing is being written to a location that the persistent table names, or a frozen one
        that was written.
        """
        return all(
            self.writing[i] != Write(b, at)
            for i in self.each(Request)
            for b in self.each(Block)
            for at in self.each(Location)
            for named in self.each(Block)
            if self.persistent_at[named] == at
            or (self.frozen_table is not None and self.frozen_at[named] == at)
        )

    @invariant
    def ReadsAreAsked(self) -> bool:
        """Invariant: the disk reads what the cache awaits: the location of a block in the current table."""
        return all(
            (self.reading[i] is None) == (self.reads[i] is None)
            and all(
                self.reads[i] == self.current_at[b] and self.cached[b] is None
                for b in self.each(Block)
                if self.reading[i] == b
            )
            for i in self.each(Request)
        )

    @invariant
    def OneReadABlock(self) -> bool:
        """Invariant: a block is read by one request at a time."""
        return all(
            i == j or self.reading[i] is None or self.reading[i] != self.reading[j]
            for i in self.each(Request)
            for j in self.each(Request)
        )
