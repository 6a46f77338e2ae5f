"""Links: packets that travel in order, in a queue from one process to another, or in a log that all read.

Each holds packets with the datagrams that stand for them, as `spec/environment/fifo.py` holds packets. The
content of a link is one immutable value, so that it can be numbered like a process's snapshot. A packet of a
set needs no link: it is taken by its content, not by its position.

This module must not know any protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["Content", "Link", "Log", "Part", "Queue"]

Content = tuple[Any, ...]
"""Content of a link: for a queue the packets with their datagrams; for a log everything that was sent, and
how much of it each process has taken.
"""

Part = tuple[str, tuple[int, ...]]
"""Part of a variable: its name, and the numbers of the keys of one value."""


class Queue(NamedTuple):
    """Queue `variable[sender][to]`: the packets that `sender` has sent to `to` and `to` has not taken, oldest
    first.
    """

    variable: str
    sender: int
    to: int

    @property
    def empty(self) -> Content:
        """Return the content of an empty queue."""
        return ()

    def put(self, content: Content, packet: object, datagram: bytes) -> Content:
        """Return the content with one more packet at the end."""
        return (*content, (packet, datagram))

    def head(self, content: Content, reader: int) -> bytes:
        """Return the datagram at the head of the queue, which arrives next."""
        del reader
        datagram: bytes = content[0][1]
        return datagram

    def take(self, content: Content, reader: int) -> Content:
        """Return the content of the queue without its oldest packet."""
        del reader
        return content[1:]

    def entries(self, content: Content) -> Content:
        """Return the packets with their datagrams."""
        return content

    def values(self, content: Content) -> Iterator[tuple[Part, object]]:
        """Yield the queue's part of its variable and the value there: the packets in order."""
        yield (self.variable, (self.sender, self.to)), tuple(packet for packet, _ in content)


class Log(NamedTuple):
    """Log `variable[sender]`: everything that `sender` has multicast; `heard[sender][q]` counts how much of
    it process q has taken.

    The sender's own copy is taken as it is sent.
    """

    variable: str
    heard: str
    sender: int
    readers: int

    @property
    def empty(self) -> Content:
        """Return the content of an empty log."""
        return ((), (0,) * self.readers)

    def put(self, content: Content, packet: object, datagram: bytes) -> Content:
        """Return the content with one more packet at the end, which the sender has."""
        entries, heard = content
        return ((*entries, (packet, datagram)), _counted(heard, self.sender))

    def head(self, content: Content, reader: int) -> bytes:
        """Return the datagram that process `reader` takes next from the log."""
        entries, heard = content
        datagram: bytes = entries[heard[reader]][1]
        return datagram

    def take(self, content: Content, reader: int) -> Content:
        """Return the content after `reader` has taken the next packet."""
        entries, heard = content
        return (entries, _counted(heard, reader))

    def entries(self, content: Content) -> Content:
        """Return the packets with their datagrams."""
        entries: Content = content[0]
        return entries

    def values(self, content: Content) -> Iterator[tuple[Part, object]]:
        """Yield the log's parts of its variables and their values: the multicast packets, and how many each
        process has taken.
        """
        entries, heard = content
        yield (self.variable, (self.sender,)), tuple(packet for packet, _ in entries)
        yield (self.heard, (self.sender,)), heard


Link = Queue | Log


def _counted(heard: tuple[int, ...], reader: int) -> tuple[int, ...]:
    return (*heard[:reader], heard[reader] + 1, *heard[reader + 1 :])
