"""Runtime of an exploration: it stores states, looks them up, and numbers them; `lower` makes machine code of
these functions.

A block of states is explored in three phases, each of which all threads may run at once, without a lock and
without an atomic operation:

1. `expand`: a thread finds the successors of its part of the block and writes them to its own buffer, with
    their hashes, in order.
2. `insert`: the table is divided into regions by hash, one a thread; a thread enters what falls into its
    region, of all buffers, in order.
3. `settle`: what was entered first is new; a thread numbers the new states of its own buffer, beginning where
    the buffers before it end.

With one thread, and with two (`pipeline`), only one thread enters at a time: there `absorb` does 2 and 3 at
once.

Of two equal successors the first in order of discovery is kept, whatever the number of threads. So numbers,
parents and traces do not depend on it.

A state is kept as a row: its words, or with `TREE` the one word that stands for them (`tree`).

The table is open addressing with linear probing within a region. A slot is 0 when free. By `MODE` it holds
the whole row plus one (`DIRECT`: states below 2^63), 32 bits of the hash and the number of the state plus one
(`WHOLE`: the row of that state is then compared), a byte of the hash, never 0, and the number plus one
(`TREE`: a cache line has twelve numbers of 32 bits, and behind them sixteen bytes for those of the hash,
which are compared at once), or the hash alone (`FINGERPRINT`). While a block is explored, a number with
`PROVISIONAL` is a place in the buffers instead.

With `SYMMETRIC` each successor is put in canonical form (`orbits`) before anything else is asked of it.

The parents of later states have no smaller numbers. So only each `EVERY`th state has its parent stored: the
parent of a state in between lies between two stored ones, where `origin` finds it.

Most successors are seen again soon: a thread remembers `RECENTLY` of those that it has seen lately, and skips
them. It keeps `SEEN` words of each: the hash, and the row, unless the row is a single word, which the hash
determines.

Steps in the sleep set of a state are counted and not taken (`sleep` says which, and why); where successors
are made once more, nothing sleeps.

The functions are in the subset of `lower`, with those of `orbits`, `tree` and `edges`; `W` (words a state),
`ROW` (words a row), `BYTES` (bytes a slot), `RECENTLY`, `SEEN`, `EVERY`, `MODE`, `NUMBERED` (slots have the
numbers of states), `SYMMETRIC`, `COLUMNS`, `SLEEP` (words a sleep set, 0 for none) and `ORDINAL` (steps have
ordinals) are constants of a kernel; `successors` is generated beside them.
"""

# mypy: disable-error-code="no-any-return"
# ruff: noqa: F821, RET503, SIM102 - the operations of memory are declared below, not defined; an endless loop needs no return after it

from __future__ import annotations

from typing import Any

from antiphon.model.engines.native.kernels import edges, orbits, tree
from antiphon.model.engines.native.kernels.fields import (
    ASK_COUNT,
    ASLEEP,
    BUFFER,
    BUFFERS,
    CAPACITY,
    CODES,
    CONTEXTS,
    COUNTS,
    DIRECT,
    EXPLORED,
    FINGERPRINT,
    FOUND,
    FREE,
    FROM,
    HASHES,
    LENGTHS,
    LISTS,
    MOST,
    NODE_COUNT,
    NODE_LIMIT,
    NUMBER,
    ORDINALS,
    OUT,
    PARENTS,
    PRINTS,
    RECENT,
    REGION,
    RING,
    SCRATCH,
    SIFTED,
    SLEEPING,
    SLEEPY,
    SLOTS,
    STATES,
    TABLE,
    THREADS,
    TRANSITIONS,
    TREE,
    USED,
    WHOLE,
)

PROVISIONAL = 1 << 31
REFERENCE = (1 << 32) - 1
TAG = REFERENCE << 32
FAR, NEAR = 24, 10
MULTIPLIER = 0x9E3779B97F4A7C15
FINISHER = 0xD6E8FEB86659FD93
WRONG = 2
BROKEN_SHIFT = 8
ALL_NUMBERS = (1 << 12) - 1
TAGS = 48
LINE = 64
ALL = (1 << 64) - 1
SIFTED_TOGETHER = 128
MARKS = 256

W: int
ROW: int
BYTES: int
RECENTLY: int
SEEN: int
EVERY: int
MODE: int
NUMBERED: bool
SLEEP: int
ORDINAL: bool
SYMMETRIC: bool
word: Any
half: Any
byte: Any
set_word: Any
set_half: Any
set_byte: Any
copy_words: Any
prefetch: Any
high_product: Any
count_bits: Any
first_bit: Any
equal_words: Any
equal_bytes: Any
successors: Any
canonical: Any
compress: Any
end_roots: Any
decompress: Any


def hash_row(row: int) -> int:
    """Return the 64-bit hash of a row, never 0 in mode FINGERPRINT. For rows of one word it is one to one.

    For more words two at a time are multiplied, so that the multiplications overlap (wyhash's way).
    """
    value = 0
    index = 0
    while index + 1 < ROW:
        left = word(row, index) ^ (MULTIPLIER * (index + 1))
        right = word(row, index + 1) ^ (FINISHER * (index + 1))
        value = value ^ (left * right) ^ high_product(left, right)
        index += 2
    if index < ROW:
        last = (MULTIPLIER ^ word(row, index)) * MULTIPLIER
        value = value ^ last ^ (last >> 32)
    if ROW != 1:
        value = value ^ (value >> 32)
    value = value * FINISHER
    value = value ^ (value >> 29)
    if MODE == FINGERPRINT:
        if value == 0:
            return 1
    return value


def same(left: int, right: int) -> int:
    """Return 1 if two states are equal."""
    differs = 0
    index = 0
    while index < W:
        differs = differs | (word(left, index) ^ word(right, index))
        index += 1
    if differs != 0:
        return 0
    return 1


def same_rows(left: int, right: int) -> int:
    """Return 1 if two rows are equal."""
    index = 0
    while index < ROW:
        if word(left, index) != word(right, index):
            return 0
        index += 1
    return 1


def row_of(context: int, number: int) -> int:
    """Return the address of the row of a known state."""
    return word(context, STATES) + number * 8 * ROW


def state_of(context: int, number: int) -> int:
    """Return the address of the words of a known state, valid until this thread asks for those of another
    state.
    """
    if MODE == TREE:
        return decompress(context, word(word(context, STATES), number))
    return row_of(context, number)


def note(context: int, state: int, code: int, status: int) -> int:
    """Remember the first state and step of each kind of finding: an error of the specification, or a broken
    property.
    """
    found = word(context, FOUND)
    if status & WRONG:
        if word(found, 0) == 0:
            set_word(found, 0, state + 1)
            set_word(found, 1, code)
        return 0
    broken = status >> BROKEN_SHIFT
    entry = 2
    while broken != 0:
        if broken & 1 and word(found, entry) == 0:
            set_word(found, entry, state + 1)
            set_word(found, entry + 1, code)
        broken = broken >> 1
        entry += 2
    return 0


def copy(target: int, source: int) -> int:
    """Write a state in the place of another."""
    copy_words(target, source, W)
    return 0


def copy_row(target: int, source: int) -> int:
    """Write a row in the place of another."""
    copy_words(target, source, ROW)
    return 0


def take(context: int, state: int, out: int, parent: int, code: int, status: int) -> int:
    """Accept the successor that a step has written at `out`, and return the address for the next successor. A
    step that changes nothing is counted, and its successor is not kept.
    """
    if status != 1:
        note(context, parent, code, status)
        if status & WRONG:
            return out
    counts = word(context, COUNTS)
    set_word(counts, code, word(counts, code) + 1)
    set_word(context, TRANSITIONS, word(context, TRANSITIONS) + 1)
    if SYMMETRIC:
        canonical(context, out)
    if same(state, out):
        if SLEEP:
            mark(context, code)
        return out
    place = word(context, USED)
    if SLEEP:
        put_to_sleep(context, code, word(context, SLEEPY) + place * 8 * SLEEP)
        mark(context, code)
    set_half(word(context, FROM), place, parent)
    set_word(context, USED, place + 1)
    if MODE == TREE:
        compress(context, out, word(context, BUFFER) + place * 8)
        return out
    return out + 8 * W


def ordinal_of(context: int, code: int) -> int:
    """Return the position of a step among the bits of sleep sets."""
    if ORDINAL:
        return byte(word(context, ORDINALS), code)
    return code


def mark(context: int, code: int) -> int:
    """Note that a step was taken from the state that is being expanded."""
    ordinal = ordinal_of(context, code)
    explored = word(context, EXPLORED) + (ordinal >> 6) * 8
    set_word(explored, 0, word(explored, 0) | (1 << (ordinal & 63)))
    return 0


def put_to_sleep(context: int, code: int, target: int) -> int:
    """Write the sleep set of the successor that a step leads to: those steps, taken or sleeping in the
    present state, that are independent of this step.
    """
    explored = word(context, EXPLORED)
    free = word(context, FREE) + ordinal_of(context, code) * 8 * SLEEP
    index = 0
    while index < SLEEP:
        set_word(target, index, word(explored, index) & word(free, index))
        index += 1
    return 0


def sift(context: int) -> int:
    """Remove from the buffer the recently seen successors, and list the rest by region: many at a time, so
    that memory latencies overlap.
    """
    first = word(context, SIFTED)
    used = word(context, USED)
    buffer = word(context, BUFFER)
    recent = word(context, RECENT)
    if MODE == TREE:
        end_roots(context)
    hashes = word(context, HASHES)
    place = first
    while place < used:
        hashed = hash_row(buffer + place * 8 * ROW)
        set_word(hashes, place, hashed)
        prefetch(recent + (hashed & (RECENTLY - 1)) * 8 * SEEN)
        place += 1
    lengths = word(context, LENGTHS)
    lists = word(context, LISTS)
    capacity = word(context, CAPACITY)
    threads = word(context, THREADS)
    kept = first
    place = first
    while place < used:
        hashed = word(hashes, place)
        fresh = remember(recent, buffer + place * 8 * ROW, hashed)
        move_row(context, kept, place)
        set_word(hashes, kept, hashed)
        set_word(word(context, SLOTS), kept, 0)
        region = high_product(hashed, threads)
        length = word(lengths, region)
        set_half(lists, region * capacity + length, kept)
        set_word(lengths, region, length + fresh)
        kept += fresh
        place += 1
    set_word(context, USED, kept)
    set_word(context, SIFTED, kept)
    return 0


def remember(recent: int, row: int, hashed: int) -> int:
    """Remember a row; return 1 if it was not seen recently, else 0. The code has no unpredictable branch.

    If `recent`, the address of the memory, is 0, no row counts as seen.
    """
    if recent == 0:
        return 1
    entry = recent + (hashed & (RECENTLY - 1)) * 8 * SEEN
    differs = word(entry, 0) ^ hashed
    set_word(entry, 0, hashed)
    if ROW != 1:
        index = 0
        while index < ROW:
            differs = differs | (word(entry + 8, index) ^ word(row, index))
            set_word(entry + 8, index, word(row, index))
            index += 1
    fresh = 1
    if differs == 0:
        fresh = 0
    return fresh


def move_row(context: int, kept: int, place: int) -> int:
    """Move a successor within the buffer to the place `kept`, with its parent and its sleep set."""
    rows = word(context, BUFFER)
    parents = word(context, FROM)
    sleepy = word(context, SLEEPY)
    copy_words(rows + kept * 8 * ROW, rows + place * 8 * ROW, ROW)
    set_half(parents, kept, half(parents, place))
    copy_words(sleepy + kept * 8 * SLEEP, sleepy + place * 8 * SLEEP, SLEEP)
    return 0


def tell(context: int, sleeping: int) -> int:
    """Write, for each step, whether it sleeps in the state that is being expanded: the first byte is a mark,
    and the byte of a sleeping step equals it.
    """
    asleep = word(context, ASLEEP)
    codes = word(context, CODES)
    mine = byte(asleep, 0) + 1
    if mine == MARKS:
        mine = 1
        index = 0
        while index < word(context, MOST):
            set_byte(asleep, index, 0)
            index += 1
    set_byte(asleep, 0, mine)
    index = 0
    while index < SLEEP:
        left = word(sleeping, index)
        while left != 0:
            set_byte(asleep, half(codes, index * 64 + first_bit(left)) + 1, mine)
            left = left & (left - 1)
        index += 1
    return asleep


def find_successors(context: int, number: int, faults: int) -> int:
    """Add the successors of a known state to the buffer; without `faults`, not those by steps of the environment."""
    used = word(context, USED)
    out = word(context, BUFFER) + used * 8 * ROW
    if MODE == TREE:
        out = word(context, OUT)
    sleeping = 0
    if SLEEP:
        explored = word(context, EXPLORED)
        sleeping = explored + 8 * SLEEP
        if word(context, RECENT) != 0:
            sleeping = word(context, SLEEPING) + (number & word(context, RING)) * 8 * SLEEP
        slept = 0
        index = 0
        while index < SLEEP:
            set_word(explored, index, word(sleeping, index))
            slept += count_bits(word(sleeping, index))
            index += 1
        set_word(context, TRANSITIONS, word(context, TRANSITIONS) + slept)
        if ORDINAL:
            sleeping = tell(context, sleeping)
    successors(context, state_of(context, number), out, number, faults, sleeping)
    if word(context, RECENT) == 0 or word(context, USED) - word(context, SIFTED) >= SIFTED_TOGETHER:
        sift(context)
    return word(context, USED)


def expand(context: int, first: int, last: int) -> int:
    """Find the successors of the states first..last - 1; return the number of the first state whose
    successors may have no room.
    """
    state = first
    while state < last and has_room(context):
        find_successors(context, state, 1)
        state += 1
    sift(context)
    return state


def has_room(context: int) -> int:
    """Return 1 if there is room for the successors of a state."""
    if word(context, USED) + word(context, MOST) > word(context, CAPACITY):
        return 0
    if MODE == TREE:
        if word(word(context, NODE_COUNT), 0) > word(context, NODE_LIMIT):
            return 0
    return 1


def home(context: int, hashed: int) -> int:
    """Return the slot at which the search for a hash begins: the first slot of a cache line, counted from the
    start of its region. It is determined by the part of the hash that a slot of eight bytes keeps.
    """
    if MODE == WHOLE:
        hashed = hashed & TAG
    position = high_product(hashed * word(context, THREADS), word(context, REGION))
    return position & (ALL - (LINE // BYTES - 1))


def tag_of(hashed: int) -> int:
    """Return the part of a hash that a slot keeps beside the number of a state."""
    if MODE == TREE:
        return (((hashed & 65535) * 255 >> 16) + 1) << 32
    return hashed & TAG


def free_at(table: int, position: int) -> int:
    """Return the free slots of the cache line that begins at a position: a bit for each slot."""
    if MODE == TREE:
        return equal_bytes(table + position * BYTES + TAGS, 0) & ALL_NUMBERS
    return equal_words(table + position * BYTES, ALL, 0)


def alike_at(table: int, position: int, wanted: int) -> int:
    """Return the taken slots of the cache line that begins at a position which keep the same part of a hash
    as `wanted`: a bit for each slot.
    """
    if MODE == TREE:
        return equal_bytes(table + position * BYTES + TAGS, wanted >> 32)
    if NUMBERED:
        return equal_words(table + position * BYTES, TAG, wanted) & (free_at(table, position) ^ 255)
    return equal_words(table + position * BYTES, ALL, wanted)


def number_at(table: int, position: int) -> int:
    """Return the number of the state that a slot of the table holds."""
    if MODE == TREE:
        return half(table, position)
    return word(table, position) & REFERENCE


def set_slot(table: int, position: int, value: int) -> int:
    """Store a number or fingerprint in a slot of the table."""
    if MODE == TREE:
        set_half(table, position, value)
        set_byte(table + position // (LINE // BYTES) * LINE + TAGS, position % (LINE // BYTES), value >> 32)
        return 0
    set_word(table, position, value)
    return 0


def enter(context: int, mine: int, region: int, place: int) -> int:
    """Enter the successor number `place` of the buffer of `mine` into a region of the table; return 1 if it
    is new, 0 if it is known.
    """
    position = free_slot(context, mine, region, place)
    slots = word(context, REGION)
    if position == slots:
        return 0
    value = PROVISIONAL | (word(mine, NUMBER) * word(context, CAPACITY) + place)
    set_slot(word(context, TABLE) + region * slots * BYTES, position, content(mine, place, value))
    set_word(word(mine, SLOTS), place, region * slots + position + 1)
    return 1


def free_slot(context: int, mine: int, region: int, place: int) -> int:
    """Return the slot of a region for the successor number `place` of the buffer of `mine`, or the number of
    slots when it is known.
    """
    row = word(mine, BUFFER) + place * 8 * ROW
    hashed = word(word(mine, HASHES), place)
    table = word(context, TABLE) + region * word(context, REGION) * BYTES
    return search(context, table, home(context, hashed), content(mine, place, 0), row)


def content(mine: int, place: int, reference: int) -> int:
    """Return what a slot of the table holds for the successor number `place` of the buffer of `mine`."""
    if MODE == DIRECT:
        return word(word(mine, BUFFER), place) + 1
    if MODE == FINGERPRINT:
        return word(word(mine, HASHES), place)
    return tag_of(word(word(mine, HASHES), place)) | reference


def search(context: int, table: int, position: int, wanted: int, row: int) -> int:
    """Search the table for a row. Return the first free slot from `position` on, or the number of slots if
    the row is found before it; all slots of a cache line are compared at once.
    """
    slots = word(context, REGION)
    while 1:
        alike = alike_at(table, position, wanted)
        if NUMBERED:
            while alike != 0:
                if same_rows(row_in(context, number_at(table, position + first_bit(alike))), row):
                    return slots
                alike = alike & (alike - 1)
        elif alike != 0:
            return slots
        free = free_at(table, position)
        if free != 0:
            return position + first_bit(free)
        position += LINE // BYTES
        if position == slots:
            position = 0


def row_in(context: int, number: int) -> int:
    """Return the address of the row of the state whose number a slot holds."""
    if number & PROVISIONAL:
        return word(context, BUFFERS) + (number & (PROVISIONAL - 1)) * 8 * ROW
    return row_of(context, number - 1)


def ask(context: int, region: int, hashed: int) -> int:
    """Prefetch the row of the first state with this hash, before the hash is searched for."""
    table = word(context, TABLE) + region * word(context, REGION) * BYTES
    position = home(context, hashed)
    alike = alike_at(table, position, tag_of(hashed))
    if alike != 0:
        number = number_at(table, position + first_bit(alike))
        if number & PROVISIONAL == 0:
            row = row_of(context, number - 1)
            prefetch(row)
            if ROW > 1:
                prefetch(row + 8 * ROW - 8)
    return 0


def insert(context: int, region: int) -> int:
    """Enter the listed successors that belong to a region of the table, from the buffers of all threads in
    order. Afterwards the length of each list is the number of its new successors.
    """
    threads = word(context, THREADS)
    capacity = word(context, CAPACITY)
    slots = word(context, REGION)
    table = word(context, TABLE) + region * slots * BYTES
    thread = 0
    while thread < threads:
        fresh = 0
        mine = word(word(context, CONTEXTS), thread)
        places = word(mine, LISTS) + 4 * region * capacity
        hashes = word(mine, HASHES)
        length = word(word(mine, LENGTHS), region)
        index = 0
        while index < length:
            if index + FAR < length:
                prefetch(table + home(context, word(hashes, half(places, index + FAR))) * BYTES)
            if NUMBERED:
                if index + NEAR < length:
                    ask(context, region, word(hashes, half(places, index + NEAR)))
            fresh += enter(context, mine, region, half(places, index))
            index += 1
        set_word(word(mine, LENGTHS), region, fresh)
        thread += 1
    return 0


def absorb(context: int, number: int) -> int:
    """Enter and number the new states of the only buffer, from `number` on, and empty it, in place of
    `insert` and `settle` of several threads.
    """
    used = word(context, USED)
    hashes = word(context, HASHES)
    table = word(context, TABLE)
    place = 0
    while place < used:
        if place + FAR < used:
            prefetch(table + home(context, word(hashes, place + FAR)) * BYTES)
        if NUMBERED:
            if place + NEAR < used:
                ask(context, 0, word(hashes, place + NEAR))
        position = free_slot(context, context, 0, place)
        if position != word(context, REGION):
            set_slot(table, position, content(context, place, number + 1))
            keep_state(context, place, number)
            number += 1
        place += 1
    empty(context)
    return number


def settle(context: int, number: int) -> int:
    """Number the new states of this thread's buffer, from `number` on, and empty the buffer."""
    slots = word(context, SLOTS)
    used = word(context, USED)
    table = word(context, TABLE)
    place = 0
    while place < used:
        if NUMBERED:
            if place + FAR < used:
                prefetch(table + word(slots, place + FAR) * BYTES)
        slot = word(slots, place)
        if slot != 0:
            keep_state(context, place, number)
            number += 1
            if NUMBERED:
                set_half(table, (slot - 1) * (BYTES // 4), number)
        place += 1
    empty(context)
    return number


def keep_state(context: int, place: int, number: int) -> int:
    """Store the successor number `place` of this thread's buffer as a known state with this number."""
    copy_row(row_of(context, number), word(context, BUFFER) + place * 8 * ROW)
    if number % EVERY == 0:
        set_half(word(context, PARENTS), number // EVERY, half(word(context, FROM), place))
    sleeping = word(context, SLEEPING) + (number & word(context, RING)) * 8 * SLEEP
    copy_words(sleeping, word(context, SLEEPY) + place * 8 * SLEEP, SLEEP)
    if MODE == FINGERPRINT:
        set_word(word(context, PRINTS), number, word(word(context, HASHES), place))
    return 0


def origin(context: int, number: int, first: int, last: int) -> int:
    """Return the first of the states first..last - 1 that leads to a known state; `last` when none does."""
    state = first
    while state < last:
        empty(context)
        used = find_successors(context, state, 1)
        place = 0
        while place < used:
            if same_rows(word(context, BUFFER) + place * 8 * ROW, row_of(context, number)):
                empty(context)
                return state
            place += 1
        state += 1
    empty(context)
    return last


def empty(context: int) -> int:
    """Empty the buffer of this thread."""
    set_word(context, USED, 0)
    set_word(context, SIFTED, 0)
    set_word(context, ASK_COUNT, 0)
    region = 0
    while region < word(context, THREADS):
        set_word(word(context, LENGTHS), region, 0)
        region += 1
    return 0


def known_hash(context: int, number: int) -> int:
    """Return the hash of a known state; with fingerprints it is all that is stored."""
    if MODE == FINGERPRINT:
        return word(word(context, PRINTS), number)
    return hash_row(row_of(context, number))


def rebuild(context: int, region: int, first: int, last: int) -> int:
    """Enter those of the states first..last - 1 that belong to a region into the table, from the array of
    states.
    """
    slots = word(context, REGION)
    threads = word(context, THREADS)
    table = word(context, TABLE) + region * slots * BYTES
    number = first
    while number < last:
        if number + FAR < last:
            ahead = known_hash(context, number + FAR)
            if high_product(ahead, threads) == region:
                prefetch(table + home(context, ahead) * BYTES)
        hashed = known_hash(context, number)
        number += 1
        if high_product(hashed, threads) != region:
            continue
        value = tag_of(hashed) | number
        if MODE == DIRECT:
            value = word(row_of(context, number - 1), 0) + 1
        if MODE == FINGERPRINT:
            value = hashed
        place_at(table, slots, home(context, hashed), value)
    return 0


def move(context: int, region: int, old: int, first: int, last: int) -> int:
    """Move the slots first..last - 1 of a region of a smaller table, which begins at `old`, in order, so that
    both are passed once.
    """
    slots = word(context, REGION)
    table = word(context, TABLE) + region * slots * BYTES
    scratch = word(context, SCRATCH)
    position = first
    while position < last:
        value = word(old, position)
        position += 1
        if value != 0:
            hashed = value
            if MODE == DIRECT:
                set_word(scratch, 0, value - 1)
                hashed = hash_row(scratch)
            place_at(table, slots, home(context, hashed), value)
    return 0


def place_at(table: int, slots: int, position: int, value: int) -> int:
    """Put a value that is not in the table into the first free slot from `position` on, where a cache line
    begins.

    Slots of eight bytes are read one after the other: the line was written just before, and could not be read
    as a whole at once.
    """
    if MODE == TREE:
        while free_at(table, position) == 0:
            position += LINE // BYTES
            if position == slots:
                position = 0
        set_slot(table, position + first_bit(free_at(table, position)), value)
        return 0
    while word(table, position) != 0:
        position += 1
        if position == slots:
            position = 0
    set_word(table, position, value)
    return 0


def lookup(context: int, row: int, hashed: int) -> int:
    """Return the number of a state plus one, 0 when it is not known (modes WHOLE and TREE)."""
    region = high_product(hashed, word(context, THREADS))
    slots = word(context, REGION)
    table = word(context, TABLE) + region * slots * BYTES
    position = home(context, hashed)
    while 1:
        alike = alike_at(table, position, tag_of(hashed))
        while alike != 0:
            number = number_at(table, position + first_bit(alike))
            if number & PROVISIONAL == 0 and same_rows(row_of(context, number - 1), row):
                return number
            alike = alike & (alike - 1)
        if free_at(table, position) != 0:
            return 0
        position += LINE // BYTES
        if position == slots:
            position = 0


def read(context: int, first: int, last: int, out: int) -> int:
    """Write the words of the states first..last - 1 to `out`, state after state."""
    number = first
    while number < last:
        copy(out + (number - first) * 8 * W, state_of(context, number))
        number += 1
    return 0


FUNCTIONS = (
    hash_row, same, same_rows, row_of, state_of, note, copy, copy_row, *orbits.FUNCTIONS, *tree.FUNCTIONS, ordinal_of, mark, put_to_sleep, take, sift, remember, move_row, tell, find_successors, expand, has_room, home,
    tag_of, free_at, alike_at, number_at, set_slot, enter, free_slot, content, search, row_in, ask, insert, absorb, settle,
    keep_state, origin, empty, known_hash, rebuild, move, place_at, lookup, read,
    *edges.FUNCTIONS,
)  # fmt: skip
EXPORTED = (
    "hash_row", "expand", "insert", "absorb", "settle", "origin", "empty", "rebuild", "move", "lookup", "read", *orbits.EXPORTED,
    *edges.EXPORTED,
)  # fmt: skip
