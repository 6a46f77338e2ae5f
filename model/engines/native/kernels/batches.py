"""Expansion of batches of states, whose successors are put in order, without a table of all states.

`expand_rows` makes the distinct successors of rows of states; `collect` takes rows from elsewhere. Both fill
a *set in order*: slots of two words, a hash and the place of its row plus one, 0 when free. The search for a
hash begins at the slot that the hash gives, and slots are sorted by hash: a row that meets a greater hash
takes its slot and moves it on. So rows leave the set in the order of their hashes (`in_order`), whatever the
order in which they came, and rows that come in order touch memory in order.

1. A set holds rows whose hashes lie in one of `PARTS` equal ranges, a partition (all hashes if `PARTS` is 1).
   The range is spread over all slots: the search for a hash begins at its share of the range. Behind the last
   slot there is room for rows that are moved on.
2. `new_rows` passes over the set and over sorted runs of known rows together, and returns the rows that are
   in none. Within a run it jumps by the distance of the hashes, and looks around.
3. Rows are compared whole wherever their hashes are equal.

The functions are in the subset of `lower`; `W` (words a state) is a constant of a kernel; `successors` is
generated beside them.
"""

# mypy: disable-error-code="no-any-return"
# ruff: noqa: ARG001, F821 - the operations of memory are declared below, not defined; `take` is called as the
# one that stores states

from __future__ import annotations

from typing import Any

from antiphon.model.engines.native.kernels.runtime import BROKEN_SHIFT, WRONG, hash_row, same

STATES, BUFFER, SET, SLOTS, PARTS, CAPACITY, MOST, USED, SIFTED = range(9)
"""Fields. Addresses: `STATES` of the rows to expand, `BUFFER` of collected rows, `SET` of the set's slots.
Numbers: `SLOTS` of slots before the room behind them, `PARTS` of partitions, `CAPACITY` of rows that fit the
buffer, `MOST` of a state's successors at most, `USED` of rows in the buffer, `SIFTED` of those in the set.
"""
COUNTS, FAULTS, MARKS, FOUND, HASHES, TRANSITIONS, STATUS, ACTIVE, ASKING = range(9, 18)
"""Fields. `COUNTS`: how often each step was taken. `FAULTS`: a byte a step, 1 for a fault. `MARKS`: a word a
row to expand (see `QUIET`). `FOUND`: for each kind of finding its first step plus one. `HASHES`: room for the
hashes of sifted rows. `TRANSITIONS`: their number. `STATUS`: the joined answers of the present state's steps.
`ACTIVE`: 1 if a step but a fault is possible. `ASKING`: 1 if successors are only looked up in the set.
"""
RUNS, RUN_COUNT, SPREAD = range(18, 21)
"""`RUNS`: the runs of known rows, four words each: the address, the number of rows, the row looked at last
and its hash. `RUN_COUNT`: how many runs. `SPREAD`: how many rows of the set belong to each partition.
"""
FIELDS = 21
QUIET = 1
"""Bit of a mark: nothing but faults is possible. The other bits are those of a step's answer: `WRONG`, and
from `BROKEN_SHIFT` on a bit for each broken property.
"""
SIFTED_TOGETHER = 128
AHEAD = 16
"""Number of slots by which memory is prefetched before a row of the set is copied."""

W: int
word: Any
byte: Any
set_word: Any
copy_words: Any
prefetch: Any
high_product: Any
successors: Any


def slot_of(context: int, hashed: int) -> int:
    """Return the address of the slot of the table at which the search for a hash begins."""
    position = high_product(hashed * word(context, PARTS), word(context, SLOTS))
    return word(context, SET) + position * 16


def note(context: int, code: int, status: int) -> int:
    """Remember the first step of each kind of finding: kind 0 is an error, kind p + 1 a break of property
    number p.
    """
    found = word(context, FOUND)
    if status & WRONG:
        if word(found, 0) == 0:
            set_word(found, 0, code + 1)
        return 0
    broken = status >> BROKEN_SHIFT
    kind = 1
    while broken != 0:
        if broken & 1 and word(found, kind) == 0:
            set_word(found, kind, code + 1)
        broken = broken >> 1
        kind += 1
    return 0


def take(context: int, state: int, out: int, parent: int, code: int, status: int) -> int:
    """Accept the successor that a step has written at `out`, and return the address for the next
    successor.
    """
    if status != 1:
        set_word(context, STATUS, word(context, STATUS) | status)
        note(context, code, status)
        if status & WRONG:
            return out
    if word(context, ASKING):
        if has(context, out):
            set_word(context, ACTIVE, 1)
        return out
    counts = word(context, COUNTS)
    set_word(counts, code, word(counts, code) + 1)
    set_word(context, TRANSITIONS, word(context, TRANSITIONS) + 1)
    set_word(context, ACTIVE, word(context, ACTIVE) | (1 ^ byte(word(context, FAULTS), code)))
    if same(state, out):
        return out
    set_word(context, USED, word(context, USED) + 1)
    return out + 8 * W


def has(context: int, row: int) -> int:
    """Return 1 if a row is in the set of collected rows."""
    hashed = hash_row(row)
    slot = slot_of(context, hashed)
    while word(slot, 1) != 0 and word(slot, 0) < hashed:
        slot += 16
    while word(slot, 1) != 0 and word(slot, 0) == hashed:
        if stands(context, slot, row):
            return 1
        slot += 16
    return 0


def stands(context: int, slot: int, row: int) -> int:
    """Return 1 if a slot with the hash of a row holds this row. For rows of one word the hash decides, since
    it is one to one.
    """
    if W == 1:
        return 1
    return same(word(context, BUFFER) + (word(slot, 1) - 1) * 8 * W, row)


def enter(context: int, hashed: int, row: int, place: int) -> int:
    """Put a row at this place of the buffer into the set; return 1 if it is new."""
    slot = slot_of(context, hashed)
    while word(slot, 1) != 0 and word(slot, 0) < hashed:
        slot += 16
    while word(slot, 1) != 0 and word(slot, 0) == hashed:
        if stands(context, slot, row):
            return 0
        slot += 16
    value = place + 1
    while word(slot, 1) != 0:
        other = word(slot, 0)
        moved = word(slot, 1)
        set_word(slot, 0, hashed)
        set_word(slot, 1, value)
        hashed = other
        value = moved
        slot += 16
    set_word(slot, 0, hashed)
    set_word(slot, 1, value)
    return 1


def sift(context: int) -> int:
    """Keep each row of the buffer once: many rows are processed at a time, so that memory latencies
    overlap.
    """
    first = word(context, SIFTED)
    used = word(context, USED)
    buffer = word(context, BUFFER)
    hashes = word(context, HASHES)
    place = first
    while place < used:
        hashed = hash_row(buffer + place * 8 * W)
        set_word(hashes, place - first, hashed)
        prefetch(slot_of(context, hashed))
        place += 1
    if W != 1:
        place = first
        while place < used:
            slot = slot_of(context, word(hashes, place - first))
            prefetch(buffer + word(slot, 1) * 8 * W - 8 * W)
            place += 1
    kept = first
    place = first
    while place < used:
        row = buffer + place * 8 * W
        fresh = enter(context, word(hashes, place - first), row, kept)
        if kept != place:
            copy_words(buffer + kept * 8 * W, row, W)
        kept += fresh
        place += 1
    set_word(context, USED, kept)
    set_word(context, SIFTED, kept)
    return 0


def expand_rows(context: int, first: int, last: int) -> int:
    """Find the successors of the rows first..last - 1, and mark each row; return the number of the first row
    whose successors may have no room.
    """
    state = first
    while state < last and word(context, USED) + word(context, MOST) <= word(context, CAPACITY):
        set_word(context, ACTIVE, 0)
        set_word(context, STATUS, 0)
        out = word(context, BUFFER) + word(context, USED) * 8 * W
        successors(context, word(context, STATES) + state * 8 * W, out, state, 1, 0)
        mark = word(context, STATUS) >> 1 << 1 | (1 ^ word(context, ACTIVE))
        set_word(word(context, MARKS), state, mark)
        if word(context, USED) - word(context, SIFTED) >= SIFTED_TOGETHER:
            sift(context)
        state += 1
    sift(context)
    return state


def lead_to(context: int, first: int, last: int) -> int:
    """Mark which of the rows first..last - 1 have a successor in the set, which stays as it is."""
    set_word(context, ASKING, 1)
    state = first
    while state < last:
        set_word(context, ACTIVE, 0)
        out = word(context, BUFFER) + word(context, USED) * 8 * W
        successors(context, word(context, STATES) + state * 8 * W, out, state, 1, 0)
        set_word(word(context, MARKS), state, word(context, ACTIVE))
        state += 1
    set_word(context, ASKING, 0)
    return state


def collect(context: int, rows: int, count: int) -> int:
    """Put `count` rows from elsewhere into the set, each once; return the size of the set."""
    used = word(context, USED)
    buffer = word(context, BUFFER)
    row = rows
    last = rows + count * 8 * W
    while row < last:
        copy_words(buffer + used * 8 * W, row, W)
        used += enter(context, hash_row(row), row, used)
        row += 8 * W
    set_word(context, USED, used)
    set_word(context, SIFTED, used)
    return used


def in_order(context: int, out: int, partitions: int) -> int:
    """Write the rows of the set to `out` in the order of their hashes, and count the rows of each
    partition.
    """
    slot = word(context, SET)
    buffer = word(context, BUFFER)
    left = word(context, USED)
    counts = word(context, SPREAD)
    while left != 0:
        prefetch(buffer + word(slot + 16 * AHEAD, 1) * 8 * W - 8 * W)
        if word(slot, 1) != 0:
            copy_words(out, buffer + (word(slot, 1) - 1) * 8 * W, W)
            out += 8 * W
            part = high_product(word(slot, 0), partitions)
            set_word(counts, part, word(counts, part) + 1)
            left = left - 1
        slot += 16
    return out


def in_run(context: int, run: int, hashed: int, row: int) -> int:
    """Return 1 if a row is in a sorted run; rows must be passed in the order of their hashes."""
    rows = word(run, 0)
    count = word(run, 1)
    at = word(run, 2)
    if at == count:
        return 0
    here = word(run, 3)
    if here < hashed:
        at = at + high_product((hashed - here) * word(context, PARTS), count)
        if at >= count:
            at = count - 1
        here = hash_row(rows + at * 8 * W)
        if here < hashed:
            while here < hashed:
                at += 1
                if at == count:
                    set_word(run, 2, count)
                    return 0
                here = hash_row(rows + at * 8 * W)
        else:
            while at > word(run, 2):
                before = hash_row(rows + (at - 1) * 8 * W)
                if before < hashed:
                    break
                here = before
                at = at - 1
        set_word(run, 2, at)
        set_word(run, 3, here)
    while here == hashed:
        if same(rows + at * 8 * W, row):
            return 1
        at += 1
        if at == count:
            return 0
        here = hash_row(rows + at * 8 * W)
    return 0


def new_rows(context: int, out: int) -> int:
    """Write the rows of the set that are in none of the runs to `out`, in the order of their hashes; return
    where they end.
    """
    run = word(context, RUNS)
    end = run + word(context, RUN_COUNT) * 32
    while run < end:
        set_word(run, 2, 0)
        if word(run, 1) != 0:
            set_word(run, 3, hash_row(word(run, 0)))
        run += 32
    slot = word(context, SET)
    buffer = word(context, BUFFER)
    left = word(context, USED)
    while left != 0:
        if word(slot, 1) != 0:
            row = buffer + (word(slot, 1) - 1) * 8 * W
            run = word(context, RUNS)
            while run < end:
                if in_run(context, run, word(slot, 0), row):
                    break
                run += 32
            if run == end:
                copy_words(out, row, W)
                out += 8 * W
            left = left - 1
        slot += 16
    return out


def join(left: int, left_count: int, right: int, right_count: int, out: int) -> int:
    """Merge two sorted runs that have no row in common."""
    left_end = left + left_count * 8 * W
    right_end = right + right_count * 8 * W
    left_hash = hash_row(left)
    right_hash = hash_row(right)
    while left < left_end and right < right_end:
        if left_hash <= right_hash:
            copy_words(out, left, W)
            left += 8 * W
            if left < left_end:
                left_hash = hash_row(left)
        else:
            copy_words(out, right, W)
            right += 8 * W
            if right < right_end:
                right_hash = hash_row(right)
        out += 8 * W
    while left < left_end:
        copy_words(out, left, W)
        left += 8 * W
        out += 8 * W
    while right < right_end:
        copy_words(out, right, W)
        right += 8 * W
        out += 8 * W
    return out


FUNCTIONS = (
    hash_row, same, slot_of, note, take, stands, has, enter, sift, expand_rows, lead_to, collect, in_order,
    in_run, new_rows, join,
)  # fmt: skip
EXPORTED = ("expand_rows", "lead_to", "collect", "in_order", "new_rows", "join")
