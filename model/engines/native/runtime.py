"""Between the steps the machine stores states, looks them up, and numbers them; `lower` makes machine code of
these functions.

A block of states is explored in three phases, each of which all threads may run at once, without a lock and without an atomic operation:

1. `expand`: a thread finds the successors of its part of the block and writes them to its own buffer, with their hashes, in order.
2. `insert`: the table is divided into regions by hash, one a thread; a thread enters what falls into its region, of all buffers, in order.
3. `settle`: what was entered first is new; a thread numbers the new states of its own buffer, beginning where the buffers before it end.

The winner of two equal successors is the first in order of discovery, whatever the number of threads; so are numbers, parents and traces.

The table is open addressing with linear probing within a region. A slot is 0 when free. By `MODE` it holds the whole state plus one (`DIRECT`:
states below 2^63), 32 bits of the hash and the number of the state plus one (`WHOLE`: what it finds is compared with the whole state), or
the hash alone (`FINGERPRINT`). While a block is explored, a number with `PROVISIONAL` is a place in the buffers instead.

With `SYMMETRIC` each successor is put in canonical form (`orbits`) before anything else is asked of it.

Parents rise with the number of the state. So that of every `EVERY`th state is enough: of another, `origin` finds it between those of two such.

Most successors are seen again soon: a thread remembers `RECENTLY` of those that it has seen lately, whole, and keeps them once.

The functions are in the subset of `lower`, with those of `orbits` and `edges`; `W` (words a state), `RECENTLY`, `EVERY`, `MODE`, `SYMMETRIC` and `COLUMNS` are
constants of a kernel; `successors` is generated beside them.
"""

# mypy: disable-error-code="no-any-return"
# ruff: noqa: F821, RET503, SIM102 - the operations of memory are declared below, not defined; an endless loop needs no return after it

from __future__ import annotations

from typing import Any

from antiphon.model.engines.native import edges, orbits
from antiphon.model.engines.native.fields import (
    BUFFER,
    BUFFERS,
    CAPACITY,
    CONTEXTS,
    COUNTS,
    DIRECT,
    FINGERPRINT,
    FOUND,
    FROM,
    HASHES,
    KNOWN,
    LENGTHS,
    LISTS,
    MOST,
    NUMBER,
    PARENTS,
    PRINTS,
    RECENT,
    REGION,
    SCRATCH,
    SLOTS,
    STATES,
    TABLE,
    THREADS,
    TRANSITIONS,
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

W: int
RECENTLY: int
EVERY: int
MODE: int
SYMMETRIC: bool
word: Any
half: Any
set_word: Any
set_half: Any
prefetch: Any
high_product: Any
successors: Any
canonical: Any


def hash_state(state: int) -> int:
    """64 bits of hash, never 0."""
    value = MULTIPLIER
    index = 0
    while index < W:
        value = (value ^ word(state, index)) * MULTIPLIER
        value = value ^ (value >> 32)
        index += 1
    value = value * FINISHER
    value = value ^ (value >> 32)
    value = value * FINISHER
    value = value ^ (value >> 29)
    if value == 0:
        return 1
    return value


def same(left: int, right: int) -> int:
    """Whether two states are equal."""
    index = 0
    while index < W:
        if word(left, index) != word(right, index):
            return 0
        index += 1
    return 1


def note(context: int, state: int, code: int, status: int) -> int:
    """Remember the first state and step of each kind of finding: an error of the specification, or a broken property."""
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
    index = 0
    while index < W:
        set_word(target, index, word(source, index))
        index += 1
    return 0


def take(context: int, state: int, out: int, parent: int, code: int, status: int) -> int:
    """Keep the successor at `out`; the place for the next one is returned. A step that changes nothing is counted and not kept."""
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
        return out
    hashed = hash_state(out)
    if word(context, RECENT) != 0:
        entry = word(context, RECENT) + (hashed & (RECENTLY - 1)) * 8 * (W + 1)
        if word(entry, W) == hashed and same(entry, out):
            return out
        copy(entry, out)
        set_word(entry, W, hashed)
    place = word(context, USED)
    set_word(word(context, HASHES), place, hashed)
    set_half(word(context, FROM), place, parent)
    set_word(word(context, SLOTS), place, 0)
    region = high_product(hashed, word(context, THREADS))
    lengths = word(context, LENGTHS)
    length = word(lengths, region)
    set_half(word(context, LISTS), region * word(context, CAPACITY) + length, place)
    set_word(lengths, region, length + 1)
    set_word(context, USED, place + 1)
    return out + 8 * W


def expand(context: int, first: int, last: int) -> int:
    """Find the successors of the states first..last - 1; where the buffer may not hold those of a state, its number is returned."""
    state = first
    states = word(context, STATES)
    while state < last:
        used = word(context, USED)
        if used + word(context, MOST) > word(context, CAPACITY):
            return state
        successors(context, states + state * 8 * W, word(context, BUFFER) + used * 8 * W, state, 1)
        state += 1
    return state


def home(context: int, hashed: int) -> int:
    """The slot at which the search for a hash begins, counted from the start of its region: what a slot keeps of the hash says it."""
    if MODE == WHOLE:
        return high_product((hashed & TAG) * word(context, THREADS), word(context, REGION))
    return high_product(hashed * word(context, THREADS), word(context, REGION))


def enter(context: int, mine: int, region: int, place: int) -> int:
    """Enter the successor number `place` of the buffer of `mine`, unless it is known; whether it is new is returned."""
    hashed = word(word(mine, HASHES), place)
    state = word(mine, BUFFER) + place * 8 * W
    slots = word(context, REGION)
    table = word(context, TABLE) + region * slots * 8
    position = home(context, hashed)
    wanted = hashed & TAG
    if MODE == DIRECT:
        wanted = word(state, 0) + 1
    if MODE == FINGERPRINT:
        wanted = hashed
    while 1:
        slot = word(table, position)
        if slot == 0:
            if MODE == WHOLE:
                wanted = wanted | PROVISIONAL | (word(mine, NUMBER) * word(context, CAPACITY) + place)
            set_word(table, position, wanted)
            set_word(word(mine, SLOTS), place, region * slots + position + 1)
            return 1
        if MODE == WHOLE:
            if slot & TAG == wanted:
                other = word(context, STATES) + ((slot & REFERENCE) - 1) * 8 * W
                if slot & PROVISIONAL:
                    other = word(context, BUFFERS) + (slot & (PROVISIONAL - 1)) * 8 * W
                if same(other, state):
                    return 0
        elif slot == wanted:
            return 0
        position += 1
        if position == slots:
            position = 0


def insert(context: int, region: int) -> int:
    """Enter what falls into a region, of the buffers of all threads in order; how many are new is returned."""
    threads = word(context, THREADS)
    capacity = word(context, CAPACITY)
    slots = word(context, REGION)
    table = word(context, TABLE) + region * slots * 8
    fresh = 0
    thread = 0
    while thread < threads:
        mine = word(word(context, CONTEXTS), thread)
        places = word(mine, LISTS) + 4 * region * capacity
        hashes = word(mine, HASHES)
        length = word(word(mine, LENGTHS), region)
        index = 0
        while index < length:
            if index + FAR < length:
                prefetch(table + home(context, word(hashes, half(places, index + FAR))) * 8)
            if MODE == WHOLE:
                if index + NEAR < length:
                    ahead = word(hashes, half(places, index + NEAR))
                    slot = word(table, home(context, ahead))
                    if slot != 0 and slot & TAG == ahead & TAG and slot & PROVISIONAL == 0:
                        prefetch(word(context, STATES) + ((slot & REFERENCE) - 1) * 8 * W)
            fresh += enter(context, mine, region, half(places, index))
            index += 1
        thread += 1
    return fresh


def fresh_states(context: int) -> int:
    """How many of the successors in this thread's buffer are new."""
    slots = word(context, SLOTS)
    used = word(context, USED)
    place = 0
    fresh = 0
    while place < used:
        if word(slots, place) != 0:
            fresh += 1
        place += 1
    return fresh


def settle(context: int, number: int) -> int:
    """Number the new states of this thread's buffer, from `number` on, and empty the buffer."""
    slots = word(context, SLOTS)
    used = word(context, USED)
    buffer = word(context, BUFFER)
    states = word(context, STATES) + number * 8 * W
    table = word(context, TABLE)
    place = 0
    while place < used:
        slot = word(slots, place)
        if slot != 0:
            state = buffer + place * 8 * W
            index = 0
            while index < W:
                set_word(states, index, word(state, index))
                index += 1
            states = states + 8 * W
            if number % EVERY == 0:
                set_half(word(context, PARENTS), number // EVERY, half(word(context, FROM), place))
            number += 1
            if MODE == WHOLE:
                set_word(table, slot - 1, (word(table, slot - 1) & TAG) | number)
            if MODE == FINGERPRINT:
                set_word(word(context, PRINTS), number - 1, word(table, slot - 1))
        place += 1
    empty(context)
    return number


def origin(context: int, number: int, first: int, last: int) -> int:
    """The first of the states first..last - 1 that leads to a known state; `last` when none does."""
    states = word(context, STATES)
    buffer = word(context, BUFFER)
    state = first
    while state < last:
        empty(context)
        successors(context, states + state * 8 * W, buffer, state, 1)
        used = word(context, USED)
        place = 0
        while place < used:
            if same(buffer + place * 8 * W, states + number * 8 * W):
                empty(context)
                return state
            place += 1
        state += 1
    empty(context)
    return last


def empty(context: int) -> int:
    """Forget what is in this thread's buffer."""
    set_word(context, USED, 0)
    region = 0
    while region < word(context, THREADS):
        set_word(word(context, LENGTHS), region, 0)
        region += 1
    return 0


def known_hash(context: int, number: int) -> int:
    """The hash of a known state; of fingerprints nothing else is left."""
    if MODE == FINGERPRINT:
        return word(word(context, PRINTS), number)
    return hash_state(word(context, STATES) + number * 8 * W)


def rebuild(context: int, region: int) -> int:
    """Enter the known states of a region into an empty table, from the array of states."""
    known = word(context, KNOWN)
    states = word(context, STATES)
    slots = word(context, REGION)
    threads = word(context, THREADS)
    table = word(context, TABLE) + region * slots * 8
    number = 0
    while number < known:
        if number + FAR < known:
            ahead = known_hash(context, number + FAR)
            if high_product(ahead, threads) == region:
                prefetch(table + home(context, ahead) * 8)
        hashed = known_hash(context, number)
        number += 1
        if high_product(hashed, threads) != region:
            continue
        value = (hashed & TAG) | number
        if MODE == DIRECT:
            value = word(states, number - 1) + 1
        if MODE == FINGERPRINT:
            value = hashed
        place_at(table, slots, home(context, hashed), value)
    return 0


def move(context: int, region: int, old: int, first: int, last: int) -> int:
    """Enter what is in the slots first..last - 1 of a region of a smaller table, which begins at `old`: in order, so that both are passed once."""
    slots = word(context, REGION)
    table = word(context, TABLE) + region * slots * 8
    scratch = word(context, SCRATCH)
    position = first
    while position < last:
        value = word(old, position)
        position += 1
        if value != 0:
            hashed = value
            if MODE == DIRECT:
                set_word(scratch, 0, value - 1)
                hashed = hash_state(scratch)
            place_at(table, slots, home(context, hashed), value)
    return 0


def place_at(table: int, slots: int, position: int, value: int) -> int:
    """Put a value that is not there into the first free slot from `position` on."""
    while word(table, position) != 0:
        position += 1
        if position == slots:
            position = 0
    set_word(table, position, value)
    return 0


def lookup(context: int, state: int, hashed: int) -> int:
    """The number of a state plus one, 0 when it is not known (mode WHOLE)."""
    region = high_product(hashed, word(context, THREADS))
    slots = word(context, REGION)
    table = word(context, TABLE) + region * slots * 8
    position = home(context, hashed)
    while 1:
        slot = word(table, position)
        if slot == 0:
            return 0
        if slot & PROVISIONAL == 0 and slot & TAG == hashed & TAG and same(word(context, STATES) + ((slot & REFERENCE) - 1) * 8 * W, state):
            return slot & REFERENCE
        position += 1
        if position == slots:
            position = 0


FUNCTIONS = (
    hash_state, same, note, copy, *orbits.FUNCTIONS, take, expand, home, enter, insert, fresh_states, settle, origin, empty, known_hash, rebuild, move,
    place_at, lookup, *edges.FUNCTIONS,
)  # fmt: skip
EXPORTED = (
    "hash_state", "expand", "insert", "fresh_states", "settle", "origin", "empty", "rebuild", "move", "lookup", *orbits.EXPORTED, *edges.EXPORTED,
)  # fmt: skip
