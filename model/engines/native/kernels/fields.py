"""Fields of the context of a thread: an array of words, whose address the functions around the steps get."""

from __future__ import annotations

STATES, PARENTS, TABLE, REGION, CONTEXTS, THREADS, BUFFERS, CAPACITY, MOST = range(9)
"""Common fields of all threads: addresses of the arrays of states (a row each) and of parents (32 bits, of
every `EVERY`th state), of the table; slots in a region; address of the contexts; how many threads; address of
the first buffer; how many successors fit a buffer; how many a state may have at most.
"""
BUFFER, HASHES, FROM, SLOTS, LISTS, LENGTHS, USED, COUNTS, FOUND, TRANSITIONS, NUMBER, RECENT = range(9, 21)
"""Fields of one thread: its buffer of successors, their hashes and parents, the slots that were
entered for them, the list of those of each region and its length; how many successors are in the buffer; how
often each step was taken; the first finding of each kind; how many transitions were seen; the number of the
thread; successors that it has seen lately (`runtime`), or 0: none are to be left out.
"""
EDGES, OFFSETS, OPEN, QUIET, REACH, ASKED, WANTED, PRINTS = range(21, 29)
"""Fields for what can be reached: numbers of successors (32 bits) of the states that are listed (32 bits) and
where those of each begin; a byte a state that says whether nothing but faults can happen, a word a state of
what it reaches; the bits that are asked about, and those that are true somewhere; the fingerprint of each
state (mode FINGERPRINT).
"""
ROUND, ORDERS, SCRATCH, EXCHANGES, FIRSTS = range(29, 34)
"""Fields for symmetry: the numbers of the exchanges that pass through all orders (a byte each), how many
orders there are, room for two states (`move` uses it, too); how many exchanges there are, and whether each is
the first of its set (a byte each).
"""
NODES, NODE_COUNT, NODE_TABLE, NODE_SLOTS, NODE_LIMIT, PATH, OUT, ASKS, ASK_COUNT = range(34, 43)
"""Fields for states that are kept as trees (`tree`): addresses of the nodes (two words each), of how many
there are, and of their table; its slots; with how many nodes no more successors are looked for until there is
room; the words of the state that a thread has read last, and the numbers of its nodes; the place where a
successor is written; the nodes that those which are not sifted ask for, and how many.
"""
SLEEPING, EXPLORED, SLEEPY, FREE, ORDINALS, CODES, ASLEEP, SIFTED, RING = range(43, 52)
"""Fields for sleep sets (`runtime`), of `SLEEP` words each: addresses of those of known states that wait, of
the steps that were taken from the state at hand, with room for its own sleep set, and of those of the
successors in the buffer; for each ordinal the steps that are independent of the one that has it. Where a
step's number is not its ordinal: the ordinal of each step (a byte), the step of each ordinal (32 bits), and a
byte for each step behind one with the mark of those that sleep in the state at hand. How many successors in
the buffer are sifted; which bits of a state's number say where its sleep set is.
"""
FIELDS = 52

DIRECT, WHOLE, FINGERPRINT, TREE, WALK, BATCH = range(6)
"""The ways in which a table keeps states; with `WALK` and `BATCH` there is no table (`walks`, `batches`)."""
