"""A state of many words is kept as one: the root of a tree whose nodes states have in common; these functions
become machine code like those of `runtime`.

Two numbers of nodes, 32 bits each, make one word, the key of the node above them; the words of the state are
the keys of the leaves; equal keys are one node. Of two states that differ in one word only the nodes from
there to the root differ. The root has no number: it is what is kept of the state, and says the whole of it
(Laarman, van de Pol and Weber 2011, "Parallel recursive state compression for free").

The root is place 1 of a state, the leaves are the places `W..2 * W - 1` in the order of the words, and what
stands below a place comes after it; what that is, says `BELOW`. A thread keeps the state that it has read
last as keys and numbers of all its nodes (`PATH`): reading another one, and keeping a successor, looks at
what differs only.

Nodes are numbered in the order in which threads come to them, which may change from run to run: so may roots,
but nothing that is made of them, since equal states, and only those, have equal roots in a run. Who is first
takes the free slot (`compare_swap`) before it gives the number; others wait for that moment.

The functions are in the subset of `lower`; `W` is a constant of a kernel. They know nothing of the table of
states.
"""

# mypy: disable-error-code="no-any-return"
# ruff: noqa: F821, RET503 - the operations of memory are declared below; an endless loop needs no return

from __future__ import annotations

from typing import Any

from antiphon.model.engines.native.fields import BELOW, KEYS, NODE_SLOTS, NODE_TABLE, NODES, PATH

BUSY = 1
FIRST = 2
"""A slot is 0 when free, `BUSY` while its node is given a number, else 32 bits of hash, and the number plus
`FIRST`.
"""
REFERENCE = (1 << 32) - 1
HASH = REFERENCE << 32
SPREAD = 0x9E3779B97F4A7C15
MIX = 0xD6E8FEB86659FD93

W: int
word: Any
set_word: Any
load_acquire: Any
store_release: Any
compare_swap: Any
fetch_add: Any
high_product: Any


def hash_key(key: int) -> int:
    """32 bits of hash, in the upper half of a word."""
    value = key * SPREAD
    value = (value ^ (value >> 32)) * MIX
    return (value ^ (value >> 32)) & HASH


def node(context: int, key: int) -> int:
    """The number of the node with a key; it is made where there is none."""
    table = word(context, NODE_TABLE)
    slots = word(context, NODE_SLOTS)
    keys = word(context, KEYS)
    hashed = hash_key(key)
    position = high_product(hashed, slots)
    while 1:
        slot = load_acquire(table, position)
        if slot == 0:
            slot = compare_swap(table, position, 0, BUSY)
            if slot == 0:
                number = fetch_add(word(context, NODES), 0, 1)
                set_word(keys, number, key)
                store_release(table, position, hashed | (number + FIRST))
                return number
        if slot != BUSY:
            if slot & HASH == hashed and word(keys, (slot & REFERENCE) - FIRST) == key:
                return (slot & REFERENCE) - FIRST
            position += 1
            if position == slots:
                position = 0


def enter_nodes(context: int, first: int, last: int) -> int:
    """Enter the nodes first..last - 1, which are known, into a larger table."""
    table = word(context, NODE_TABLE)
    slots = word(context, NODE_SLOTS)
    number = first
    while number < last:
        hashed = hash_key(word(word(context, KEYS), number))
        position = high_product(hashed, slots)
        while word(table, position) != 0:
            position += 1
            if position == slots:
                position = 0
        set_word(table, position, hashed | (number + FIRST))
        number += 1
    return 0


def compress(context: int, state: int) -> int:
    """The root of a state; cheap where the state is like the one read last."""
    keys = word(context, PATH)
    numbers = keys + 16 * W
    mine = numbers + 16 * W
    below = word(context, BELOW)
    place = 2 * W
    while place > W:
        place = place - 1
        key = word(state, place - W)
        if key == word(keys, place):
            set_word(mine, place, word(numbers, place))
        else:
            set_word(mine, place, node(context, key))
    while place > 2:
        place = place - 1
        key = (word(mine, word(below, 2 * place)) << 32) | word(mine, word(below, 2 * place + 1))
        if key == word(keys, place):
            set_word(mine, place, word(numbers, place))
        else:
            set_word(mine, place, node(context, key))
    return (word(mine, word(below, 2)) << 32) | word(mine, word(below, 3))


def decompress(context: int, root: int) -> int:
    """Read a state: the address of its words, which stand there until the next one is read."""
    keys = word(context, PATH)
    numbers = keys + 16 * W
    nodes = word(context, KEYS)
    below = word(context, BELOW)
    set_word(keys, 1, root)
    place = 1
    while place < W:
        key = word(keys, place)
        left = word(below, 2 * place)
        if key >> 32 != word(numbers, left):
            set_word(numbers, left, key >> 32)
            set_word(keys, left, word(nodes, key >> 32))
        right = word(below, 2 * place + 1)
        if key & REFERENCE != word(numbers, right):
            set_word(numbers, right, key & REFERENCE)
            set_word(keys, right, word(nodes, key & REFERENCE))
        place += 1
    return keys + 8 * W


FUNCTIONS = (hash_key, node, enter_nodes, compress, decompress)
EXPORTED = ("enter_nodes", "compress")
