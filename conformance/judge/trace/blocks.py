"""Fast reader for lines as `LogWriter` writes them: it reads many at a time, with the results of `lines`.

1. It reads the events of messages and datagrams, which are nearly all of a long log, in the one
   spelling that our writer has, with numbers below 10^18 and digests of 16 bytes. Everything else is left to
   `decode_line`, which knows all that is allowed.
2. A block is read whole or not at all: one pattern has to match every line of it.

This module knows one spelling of six kinds of events. It knows no file, and finds no fault.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from antiphon.conformance.judge.trace.schema import (
    Broadcast,
    CoreBroadcast,
    CoreDeliver,
    Deliver,
    Event,
    Receive,
    Send,
)

_NATURAL: Final = rb"(0|[1-9][0-9]{0,17})"
_LINE: Final = re.compile(
    rb'^\{"kind":"((?:core-)?((d)eliver|broadcast)|(s)end|receive)","i":'
    + _NATURAL
    + rb',"(?(2)m|d)":"'
    + _NATURAL
    + rb":"
    + _NATURAL
    + rb'"(?(3),"number":([1-9][0-9]{0,17})|)(?(2),"digest":"([0-9a-f]{32})"|)(?(4),"to":'
    + _NATURAL
    + rb"|)\}\n",
    re.MULTILINE,
)

MESSAGES: Final[Mapping[bytes, Callable[[int, str, str], Event]]] = {
    b"broadcast": Broadcast,
    b"core-broadcast": CoreBroadcast,
}
DELIVERIES: Final[Mapping[bytes, Callable[[int, str, int, str], Event]]] = {
    b"deliver": Deliver,
    b"core-deliver": CoreDeliver,
}


class Block(NamedTuple):
    """Block of events on consecutive lines, by columns; `line` and `i` are of the first of them.

    An identifier has two parts, `sources` and `counts`. A field that a kind does not have is b"".
    """

    line: int
    i: int
    kinds: tuple[bytes, ...]
    sources: tuple[bytes, ...]
    counts: tuple[bytes, ...]
    numbers: tuple[bytes, ...]
    digests: tuple[bytes, ...]
    peers: tuple[bytes, ...]

    @property
    def lines(self) -> range:
        """Return the numbers of the lines."""
        return range(self.line, self.line + len(self.kinds))

    def events(self) -> Iterator[Event]:
        """Return the events of the block, in their order."""
        for i, (kind, source, count, number, digest, peer) in enumerate(zip(*self[2:], strict=True), self.i):
            name = f"{source.decode()}:{count.decode()}"
            if kind in DELIVERIES:
                yield DELIVERIES[kind](i, name, int(number), digest.decode())
            elif kind in MESSAGES:
                yield MESSAGES[kind](i, name, digest.decode())
            else:
                yield Send(i, name, int(peer)) if peer else Receive(i, name)


def block_of(line: int, i: int, text: bytes, lines: int) -> Block | None:
    """Decode `lines` whole lines as a block; `line` is the number of the first one and `i` its expected
    index. Return None unless all lines are events in the writer's spelling, each with the expected index.
    """
    found = _LINE.findall(text)
    if len(found) != lines:
        return None
    kinds, _, _, _, indices, *others = zip(*found, strict=True)
    return Block(line, i, kinds, *others) if list(map(int, indices)) == list(range(i, i + lines)) else None
