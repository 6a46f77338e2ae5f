"""A state of many words is kept as one: the root of a tree whose nodes states have in common; these functions
become machine code like those of `runtime`.

Two numbers of nodes, 32 bits each, make one word, the key of the node above them; the words of the state are
the keys of the leaves; equal keys are one node. Of two states that differ in one word only the nodes from
there to the root differ. The root has no number: it is what is kept of the state, and says the whole of it
(Laarman, van de Pol and Weber 2011, "Parallel recursive state compression for free").

Half of the words below a node stand below its left side. A thread keeps the state that it has read last as
keys and numbers of all its nodes (`PATH`; the words are the last keys): reading another one, and keeping a
successor, looks at what differs only. The nodes on both sides of the root are the most, and far in memory:
they are asked for when the next successor is there, and are fetched meanwhile.

Nodes are numbered in the order in which threads come to them, which may change from run to run: so may roots,
but nothing that is made of them, since equal states, and only those, have equal roots in a run. Who is first
takes the free slot (`compare_swap`) before it gives the number; others wait for that moment.

The functions are in the subset of `lower`, and the ways through a tree are text for its number of words. This
file knows nothing of the table of states.
"""

# mypy: disable-error-code="no-any-return"
# ruff: noqa: F821, RET503 - the operations of memory are declared below; an endless loop needs no return

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from antiphon.model.engines.native.fields import KEYS, NODE_SLOTS, NODE_TABLE, NODES, PATH, PENDING

BUSY = 1
FIRST = 2
"""A slot is 0 when free, `BUSY` while its node is given a number, else 32 bits of hash, and the number plus
`FIRST`.
"""
ASKED = 2
REFERENCE = (1 << 32) - 1
HASH = REFERENCE << 32
SPREAD = 0x9E3779B97F4A7C15
MIX = 0xD6E8FEB86659FD93

word: Any
set_word: Any
load_acquire: Any
store_release: Any
compare_swap: Any
fetch_add: Any
high_product: Any
prefetch: Any
compress: Any


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


def begin_root(context: int, state: int) -> int:
    """Begin the root of a state: its halves are known, or asked for when they have come from memory."""
    pending = word(context, PENDING)
    asked = compress(context, state, pending)
    set_word(pending, ASKED, asked)
    table = word(context, NODE_TABLE)
    slots = word(context, NODE_SLOTS)
    if asked & 1:
        prefetch(table + high_product(hash_key(word(pending, 0)), slots) * 8)
    if asked & 2:
        prefetch(table + high_product(hash_key(word(pending, 1)), slots) * 8)
    return 0


def has_pending(context: int) -> int:
    """Whether a root is begun that is not that of the state read last."""
    return word(word(context, PENDING), ASKED)


def end_root(context: int) -> int:
    """The root that was begun."""
    pending = word(context, PENDING)
    asked = word(pending, ASKED)
    left = word(pending, 0)
    if asked & 1:
        left = node(context, left)
    right = word(pending, 1)
    if asked & 2:
        right = node(context, right)
    set_word(pending, ASKED, 0)
    return (left << 32) | right


def root_of(context: int, state: int) -> int:
    """The root of a state."""
    begin_root(context, state)
    return end_root(context)


FUNCTIONS = (hash_key, node, enter_nodes, begin_root, has_pending, end_root, root_of)
EXPORTED = ("enter_nodes", "root_of")


def text(words: int) -> str:
    """The LLVM text of `compress` and `decompress` for states of so many words.

    `i64 @compress(i64 context, i64 state, i64 target)` writes what stands on both sides of a state's root:
    the number of a part that is as in the state read last, else its key, for which it asks for nodes from the
    leaves on; the answer tells which are keys, 1 the left, 2 the right. `i64 @decompress(i64 context, i64
    root)` reads a state, and is the address of its words, which stand there until the next one is read.
    """
    return _Compress(words).text() + _Decompress(words).text()


def halves(first: int, last: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """The words first..last - 1 that stand below a node, as those below its two sides."""
    middle = (first + last + 1) // 2
    return (first, middle), (middle, last)


class _Text:
    """Writes a function; `places` are those of the parts of a state, by their first and last word."""

    def __init__(self, words: int) -> None:
        self.words, self.lines, self.count, self.block = words, list[str](), 0, "entry"
        self.places: dict[tuple[int, int], int] = {}
        todo, nodes = [(0, words)], 0
        while todo:
            part = todo.pop(0)
            if part[1] - part[0] == 1:
                self.places[part] = words + part[0]
            else:
                nodes += 1
                self.places[part] = nodes
                todo += halves(*part)

    def begin(self) -> None:
        """Load what both functions need."""
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

    def key(self, part: tuple[int, int]) -> int:
        """Where the path has the key of a part."""
        return self.places[part]

    def number(self, part: tuple[int, int]) -> int:
        """Where the path has the number of a part."""
        return 2 * self.words + self.places[part]


class _Compress(_Text):
    def text(self) -> str:
        self.begin()
        state = self.pointer("%state")
        self.new = [self.load(state, word) for word in range(self.words)]
        self.differs: dict[tuple[int, int], str] = {}
        for word, value in enumerate(self.new):
            part = word, word + 1
            self.differs[part] = self.emit(f"xor i64 {value}, {self.load(self.path, self.key(part))}")
        for part in reversed(self.places):
            if part not in self.differs:
                left, right = halves(*part)
                self.differs[part] = self.emit(f"or i64 {self.differs[left]}, {self.differs[right]}")
        target, asked = self.pointer("%target"), "0"
        for side, part in enumerate(halves(0, self.words)):
            value, is_key = self.either(part)
            self.store(value, target, side)
            asked = self.emit(f"or i64 {asked}, {self.emit(f'select i1 {is_key}, i64 {1 << side}, i64 0')}")
        self.lines.append(f"  ret i64 {asked}")
        head = "define internal i64 @compress(i64 %context, i64 %state, i64 %target) nounwind {\nentry:"
        return "\n".join([head, *self.lines, "}\n"])

    def either(self, part: tuple[int, int], then: Callable[[str], str] = str) -> tuple[str, str]:
        """The number of a part that is as before, else `then` of its key; and whether it is the latter."""
        known, changed, after = self.load(self.path, self.number(part)), self.label(), self.label()
        before, differs = self.block, self.emit(f"icmp ne i64 {self.differs[part]}, 0")
        self.lines.append(f"  br i1 {differs}, label %{changed}, label %{after}")
        self.at(changed)
        made = then(self.new[part[0]] if part[1] - part[0] == 1 else self.joined(part))
        end = self.block
        self.lines.append(f"  br label %{after}")
        self.at(after)
        return self.emit(f"phi i64 [{known}, %{before}], [{made}, %{end}]"), differs

    def joined(self, part: tuple[int, int]) -> str:
        """The key of a part: the numbers of both halves."""
        left, right = (self.either(half, self.asked)[0] for half in halves(*part))
        return self.emit(f"or i64 {self.emit(f'shl i64 {left}, 32')}, {right}")

    def asked(self, key: str) -> str:
        return self.emit(f"call i64 @node(i64 %context, i64 {key})")


class _Decompress(_Text):
    def text(self) -> str:
        self.begin()
        self.nodes = self.pointer(self.field(KEYS))
        self.read((0, self.words), "%root")
        first = self.emit(f"getelementptr i64, ptr {self.path}, i64 {self.words}")
        self.lines.append(f"  ret i64 {self.emit(f'ptrtoint ptr {first} to i64')}")
        head = "define internal i64 @decompress(i64 %context, i64 %root) nounwind {\nentry:"
        return "\n".join([head, *self.lines, "}\n"])

    def read(self, part: tuple[int, int], key: str) -> None:
        """Write a part of the path that has this key."""
        self.store(key, self.path, self.key(part))
        if part[1] - part[0] == 1:
            return
        numbers = f"lshr i64 {key}, 32", f"and i64 {key}, {REFERENCE}"
        for half, number in zip(halves(*part), numbers, strict=True):
            wanted, changed, after = self.emit(number), self.label(), self.label()
            same = self.emit(f"icmp eq i64 {wanted}, {self.load(self.path, self.number(half))}")
            self.lines.append(f"  br i1 {same}, label %{after}, label %{changed}")
            self.at(changed)
            self.store(wanted, self.path, self.number(half))
            self.read(half, self.load(self.nodes, wanted))
            self.lines.append(f"  br label %{after}")
            self.at(after)
