"""Fields of the context of a thread: an array of words, whose address the functions around the steps get."""

from __future__ import annotations

STATES, PARENTS, TABLE, REGION, CONTEXTS, THREADS, BUFFERS, CAPACITY, MOST = range(9)
"""Common fields of all threads. Addresses: `STATES` (a row each), `PARENTS` (32 bits, of every `EVERY`th
state), `TABLE`, `CONTEXTS`, `BUFFERS` (the first). Numbers: `REGION` of slots in a region, `THREADS`,
`CAPACITY` of successors that fit a buffer, `MOST` of successors that a state may have.
"""
BUFFER, HASHES, FROM, SLOTS, LISTS, LENGTHS, USED, COUNTS, FOUND, TRANSITIONS, NUMBER, RECENT = range(9, 21)
"""Fields of one thread. `BUFFER`: its successors; `HASHES`, `FROM`: their hashes and parents; `SLOTS`: their
slots; `LISTS`, `LENGTHS`: for each region its successors, and how many; `USED`: how many are in the buffer;
`COUNTS`: how often each step was taken; `FOUND`: the first finding of each kind; `TRANSITIONS`: how many were
seen; `NUMBER`: of the thread; `RECENT`: successors seen lately (`runtime`), or 0 to skip none.
"""
EDGES, OFFSETS, OPEN, QUIET, REACH, ASKED, WANTED, PRINTS = range(21, 29)
"""Fields for reachability. `EDGES`: successors (32 bits) of the states that are listed in `OPEN` (32 bits);
`OFFSETS`: where those of each begin; `QUIET`: a byte a state, 1 if nothing but faults can happen; `REACH`: a
word a state, the bits that it reaches; `ASKED`: the bits that are asked about; `WANTED`: those that are true
somewhere; `PRINTS`: each state's fingerprint (mode FINGERPRINT).
"""
ROUND, ORDERS, SCRATCH, EXCHANGES, FIRSTS = range(29, 34)
"""Fields for symmetry. `ROUND`: the numbers of the exchanges that pass through all orders (a byte each);
`ORDERS`: how many orders; `SCRATCH`: room for two states (`move` uses it, too); `EXCHANGES`: how many
exchanges; `FIRSTS`: a byte for each, 1 if it is the first of its set.
"""
NODES, NODE_COUNT, NODE_TABLE, NODE_SLOTS, NODE_LIMIT, PATH, OUT, ASKS, ASK_COUNT = range(34, 43)
"""Fields for states kept as trees (`tree`). `NODES`: address of the nodes (two words each); `NODE_COUNT`:
address of their number; `NODE_TABLE`, `NODE_SLOTS`: their table, and its slots; `NODE_LIMIT`: number of nodes
at which a search waits for room; `PATH`: the words of the state read last, and the numbers of its nodes;
`OUT`: where a successor is written; `ASKS`, `ASK_COUNT`: the open requests for nodes, and how many.
"""
SLEEPING, EXPLORED, SLEEPY, FREE, ORDINALS, CODES, ASLEEP, SIFTED, RING = range(43, 52)
"""Fields for sleep sets (`runtime`), of `SLEEP` words each. `SLEEPING`: the sets of known states that wait;
`EXPLORED`: the steps taken from the present state, and room for its own set; `SLEEPY`: the sets of the
successors in the buffer; `FREE`: for each ordinal the steps independent of its step. Where a step's number is
not its ordinal: `ORDINALS`: each step's ordinal (a byte); `CODES`: each ordinal's step (32 bits); `ASLEEP`: a
mark byte, then a byte a step, equal to the mark if the step sleeps. `SIFTED`: how many successors in the
buffer are sifted; `RING`: the bits of a state's number that are the place of its set.
"""
FIELDS = 52

DIRECT, WHOLE, FINGERPRINT, TREE, WALK, BATCH = range(6)
"""The ways in which a table keeps states; with `WALK` and `BATCH` there is no table (`walks`, `batches`)."""
