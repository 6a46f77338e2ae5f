"""The layers around every protocol core: batches, pieces, packed datagrams, reliable queues, bounds.

From the application down to the network: `batches`, the core, its codec, and one of the carriers (`carrier`):
`packing`, or `links` where the core needs queues that lose and reorder nothing. `Endpoint` puts them
together. A core knows nothing of them, and stays what its specification says.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Layers"]


class Layers(NamedTuple):
    """Sizes of buffers and datagrams around a core, the same at every member."""

    datagram_bytes: int = 65_000
    """Largest size of a datagram in bytes. UDP over IPv4 carries 65,507, of which a shell needs some. On a
    network with smaller packets a datagram travels as several packets, and is lost with any of them."""
    ahead: int = 2
    """Largest number of own batches on their way at once."""
    buffer_bytes: int = 2**22
    """Largest number of bytes of a member's own messages that wait or are on their way; then `broadcast`
    waits.
    """
    queue_bytes: int = 2**22
    """Largest number of bytes that wait for one other member on a reliable queue; then no batch is made."""
    untaken_bytes: int = 2**24
    """Largest number of delivered bytes that an application may leave untaken; then no member sends anything.
    """
    message_bytes_max: int = 2**24
    """Largest size of a message in bytes."""
