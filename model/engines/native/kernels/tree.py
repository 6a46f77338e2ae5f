"""Tree compression: a state of many words is kept as one word, the root of a tree whose nodes states share;
these functions become machine code like those of `runtime`.

A node is two words. A leaf has two words of the state; any other node has the numbers of up to four nodes,
32 bits each. Equal nodes are stored once. The root is one word, the numbers of the two nodes below it, and
has no number itself. A state is kept as its root, which determines it (Laarman, van de Pol and Weber 2011,
"Parallel recursive state compression for free"). Two states that differ in one word differ only in the nodes
from there to the root: one node in states of up to four words, two in states of up to sixteen.

Half of the words stand below each side of the root. A thread keeps the state that it has read last as its
words and the numbers of all its nodes (`PATH`): reading another one, and storing a successor, touches only
the differences. The nodes on both sides of the root are the most numerous, and spread over memory: those of
many successors are prefetched (`ASKS`) before the first is looked for.

Nodes are numbered in the order in which threads come to them, which may change from run to run: so may roots,
but nothing that is made of them, since equal states, and only those, have equal roots in a run. The first
thread takes the free slot (`compare_swap`) before it gives the number; others wait for that moment.

The functions are in the subset of `lower`, except those that go through a tree (`text`): they are LLVM text
for its number of words. This file knows nothing of the table of states.
"""

# mypy: disable-error-code="no-any-return"
# ruff: noqa: F821, RET503 - the operations of memory are declared below; an endless loop needs no return

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import pairwise, zip_longest
from typing import Any

from antiphon.model.engines.native.kernels.fields import (
    ASK_COUNT,
    ASKS,
    NODE_COUNT,
    NODE_SLOTS,
    NODE_TABLE,
    NODES,
    OUT,
    PATH,
)

BUSY = 1
FIRST = 2
"""Value of a slot: 0 when free, `BUSY` while its node is given a number, else 32 bits of hash, and the number
plus `FIRST`.
"""
ASK_WORDS = 4
"""Number of words of a request: the two words of a node, their hash, and the place of its number."""
NODE_WORDS = 2
MOST_BELOW = 4
REFERENCE = (1 << 32) - 1
HASH = REFERENCE << 32
SPREAD = 0x9E3779B97F4A7C15
MIX = 0xD6E8FEB86659FD93

word: Any
set_word: Any
set_half: Any
load_acquire: Any
store_release: Any
compare_swap: Any
fetch_add: Any
high_product: Any
prefetch: Any
compress: Any


def hash_node(first: int, second: int) -> int:
    """Return 32 bits of hash, in the upper half of a word."""
    left = first ^ SPREAD
    right = second ^ MIX
    return (((left * right) ^ high_product(left, right)) * SPREAD) & HASH


def find_node(context: int, first: int, second: int, hashed: int) -> int:
    """Return the number of a node with this hash; make the node if there is none."""
    table = word(context, NODE_TABLE)
    slots = word(context, NODE_SLOTS)
    nodes = word(context, NODES)
    position = high_product(hashed, slots)
    while 1:
        slot = load_acquire(table, position)
        if slot == 0:
            slot = compare_swap(table, position, 0, BUSY)
            if slot == 0:
                number = fetch_add(word(context, NODE_COUNT), 0, 1)
                set_word(nodes, number * NODE_WORDS, first)
                set_word(nodes, number * NODE_WORDS + 1, second)
                store_release(table, position, hashed | (number + FIRST))
                return number
        if slot != BUSY:
            if slot & HASH == hashed:
                known = nodes + ((slot & REFERENCE) - FIRST) * 8 * NODE_WORDS
                if (word(known, 0) ^ first) | (word(known, 1) ^ second) == 0:
                    return (slot & REFERENCE) - FIRST
            position += 1
            if position == slots:
                position = 0


def node(context: int, first: int, second: int) -> int:
    """Return the number of the node with these two words; make the node if there is none."""
    return find_node(context, first, second, hash_node(first, second))


def enter_nodes(context: int, first: int, last: int) -> int:
    """Enter the nodes first..last - 1, which are known, into a larger table."""
    table = word(context, NODE_TABLE)
    slots = word(context, NODE_SLOTS)
    nodes = word(context, NODES)
    number = first
    while number < last:
        hashed = hash_node(word(nodes, number * NODE_WORDS), word(nodes, number * NODE_WORDS + 1))
        position = high_product(hashed, slots)
        while word(table, position) != 0:
            position += 1
            if position == slots:
                position = 0
        set_word(table, position, hashed | (number + FIRST))
        number += 1
    return 0


def end_roots(context: int) -> int:
    """Find or make the requested nodes, all of them step by step, so that memory latencies overlap."""
    asks = word(context, ASKS)
    last = asks + word(context, ASK_COUNT) * 8 * ASK_WORDS
    table = word(context, NODE_TABLE)
    slots = word(context, NODE_SLOTS)
    ask = asks
    while ask < last:
        hashed = hash_node(word(ask, 0), word(ask, 1))
        set_word(ask, 2, hashed)
        prefetch(table + high_product(hashed, slots) * 8)
        ask += 8 * ASK_WORDS
    ask = asks
    while ask < last:
        slot = load_acquire(table, high_product(word(ask, 2), slots))
        if slot > BUSY:
            prefetch(word(context, NODES) + ((slot & REFERENCE) - FIRST) * 8 * NODE_WORDS)
        ask += 8 * ASK_WORDS
    ask = asks
    while ask < last:
        set_half(word(ask, 3), 0, find_node(context, word(ask, 0), word(ask, 1), word(ask, 2)))
        ask += 8 * ASK_WORDS
    set_word(context, ASK_COUNT, 0)
    return 0


def root_of(context: int, state: int) -> int:
    """Return the root of a state, when no other request is pending."""
    row = word(context, OUT)
    compress(context, state, row)
    end_roots(context)
    return word(row, 0)


FUNCTIONS = (hash_node, find_node, node, enter_nodes, end_roots, root_of)
EXPORTED = ("enter_nodes", "root_of")

Part = tuple[int, int]
"""Range of the words below a node: the first, and the one behind the last."""


def text(words: int) -> str:
    """Return the LLVM text of `compress` and `decompress` for states of so many words.

    `i64 @compress(i64 context, i64 state, i64 row)` begins the root of a state: it writes the numbers of both
    sides as they are in the state read last, and requests the nodes of those that differ, whose numbers
    `end_roots` will write; nodes below them are looked up at once. `i64 @decompress(i64 context, i64 root)`
    reads a state and returns the address of its words, which stay valid until the next state is read.
    """
    return _Compress(words).text() + _Decompress(words).text()


def sides(words: int) -> tuple[Part, Part]:
    """Return the words below the two sides of the root."""
    middle = (words + 1) // 2
    return (0, middle), (middle, words)


def below(part: Part) -> tuple[Part, ...]:
    """Return the parts below a node; none for a leaf. They are leaves if four are enough, else four parts
    with equally many leaves.
    """
    first, last = part
    leaves = -(-(last - first) // NODE_WORDS)
    if leaves == 1:
        return ()
    count = min(leaves, MOST_BELOW)
    cuts = [min(last, first + leaves * number // count * NODE_WORDS) for number in range(count + 1)]
    return tuple(pairwise(cuts))


def parts(words: int) -> tuple[Part, ...]:
    """Return all nodes of the tree of a state below its root; each node comes before the nodes below it."""
    found = list(sides(words))
    for part in found:
        found += below(part)
    return tuple(found)


class _Text:
    """Writer of a function over trees; the path holds the words of the state, and then the numbers of its
    nodes.
    """

    def __init__(self, words: int) -> None:
        self.words, self.lines, self.count, self.block = words, list[str](), 0, "entry"
        self.numbers = {part: words + place for place, part in enumerate(parts(words))}

    def begin(self) -> None:
        """Begin the function with the loads that every function over trees needs."""
        self.context = self.emit("inttoptr i64 %context to ptr")
        self.path = self.pointer(self.field(PATH))

    def emit(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def at(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.block = label

    def label(self) -> str:
        self.count += 1
        return f"l{self.count}"

    def pointer(self, address: str) -> str:
        return self.emit(f"inttoptr i64 {address} to ptr")

    def field(self, number: int) -> str:
        return self.load(self.context, number)

    def load(self, base: str, index: int | str) -> str:
        return self.emit(f"load i64, ptr {self.emit(f'getelementptr i64, ptr {base}, i64 {index}')}")

    def store(self, value: str, base: str, index: int) -> None:
        self.lines.append(
            f"  store i64 {value}, ptr {self.emit(f'getelementptr i64, ptr {base}, i64 {index}')}"
        )


class _Compress(_Text):
    def text(self) -> str:
        self.begin()
        state = self.pointer("%state")
        self.new = [self.load(state, word) for word in range(self.words)]
        self.changes = [
            self.emit(f"xor i64 {value}, {self.load(self.path, word)}") for word, value in enumerate(self.new)
        ]
        known = [self.load(self.path, self.numbers[part]) for part in sides(self.words)]
        left = self.emit(f"shl i64 {known[0]}, 32")
        self.store(self.emit(f"or i64 {left}, {known[1]}"), self.pointer("%row"), 0)
        asks, count = self.pointer(self.field(ASKS)), self.field(ASK_COUNT)
        for part, offset in zip(sides(self.words), (4, 0), strict=True):
            differs, node = self.unless_known(part, partial(self.node, part))
            place = self.emit(f"mul i64 {count}, {ASK_WORDS}")
            ask = self.emit(f"getelementptr i64, ptr {asks}, i64 {place}")
            self.store(node[0], ask, 0)
            self.store(node[1], ask, 1)
            self.store(self.emit(f"add i64 %row, {offset}"), ask, 3)
            count = self.emit(f"add i64 {count}, {self.emit(f'zext i1 {differs} to i64')}")
        self.store(count, self.context, ASK_COUNT)
        self.lines.append("  ret i64 0")
        head = "define internal i64 @compress(i64 %context, i64 %state, i64 %row) nounwind {\nentry:"
        return "\n".join([head, *self.lines, "}\n"])

    def unless_known(self, part: Part, make: Callable[[], tuple[str, ...]]) -> tuple[str, tuple[str, ...]]:
        """Emit a test whether a part of the state differs from the same part of the state read last. If it
        does, the results of `make` are used, else the number that the part had.
        """
        changed, after, known = self.label(), self.label(), self.load(self.path, self.numbers[part])
        differs = self.emit(f"icmp ne i64 {self.joined(self.changes[slice(*part)])}, 0")
        before = self.block
        self.lines.append(f"  br i1 {differs}, label %{changed}, label %{after}")
        self.at(changed)
        made = make()
        end = self.block
        self.lines.append(f"  br label %{after}")
        self.at(after)
        return differs, tuple(self.emit(f"phi i64 [{known}, %{before}], [{value}, %{end}]") for value in made)

    def node(self, part: Part) -> tuple[str, str]:
        """Return the two words of a part's node."""
        under = below(part)
        if under:
            numbers = [self.number(one) for one in under]
            halves = [self.emit(f"shl i64 {number}, 32") for number in numbers[::2]]
            values = [self.joined(each) for each in zip_longest(halves, numbers[1::2], fillvalue="0")]
        else:
            values = self.new[slice(*part)]
        first, second = (*values, "0")[:NODE_WORDS]
        return first, second

    def number(self, part: Part) -> str:
        """Return the number of a part's node."""

        def asked() -> tuple[str, ...]:
            first, second = self.node(part)
            return (self.emit(f"call i64 @node(i64 %context, i64 {first}, i64 {second})"),)

        return self.unless_known(part, asked)[1][0]

    def joined(self, values: Sequence[str]) -> str:
        """Return the bitwise "or" of the values."""
        return reduce(lambda left, right: self.emit(f"or i64 {left}, {right}"), values)


class _Decompress(_Text):
    def text(self) -> str:
        self.begin()
        self.nodes = self.pointer(self.field(NODES))
        self.read(sides(self.words), ["%root"])
        self.lines.append(f"  ret i64 {self.emit(f'ptrtoint ptr {self.path} to i64')}")
        head = "define internal i64 @decompress(i64 %context, i64 %root) nounwind {\nentry:"
        return "\n".join([head, *self.lines, "}\n"])

    def read(self, under: Sequence[Part], values: Sequence[str]) -> None:
        """Write the parts below a node, whose words are `values`, into the path."""
        numbers = [
            half for value in values for half in (f"lshr i64 {value}, 32", f"and i64 {value}, {REFERENCE}")
        ]
        for part, number in zip(under, numbers, strict=False):
            wanted, changed, after = self.emit(number), self.label(), self.label()
            same = self.emit(f"icmp eq i64 {wanted}, {self.load(self.path, self.numbers[part])}")
            self.lines.append(f"  br i1 {same}, label %{after}, label %{changed}")
            self.at(changed)
            self.store(wanted, self.path, self.numbers[part])
            place = self.emit(f"mul i64 {wanted}, {NODE_WORDS}")
            node = self.emit(f"getelementptr i64, ptr {self.nodes}, i64 {place}")
            content = [self.load(node, word) for word in range(NODE_WORDS)]
            if below(part):
                self.read(below(part), content)
            else:
                for word, value in zip(range(*part), content, strict=False):
                    self.store(value, self.path, word)
            self.lines.append(f"  br label %{after}")
            self.at(after)
