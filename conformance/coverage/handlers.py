"""Handlers of a program in any language, by what it is given: each kind of step, of request and of datagram.

Nobody here puts probes into such a program, so that its branches are not known. Each kind of message has a
handler in it, which can be seen from outside. This module does not know how a program is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from antiphon.conformance.adapters.messages import CLIENT, STARTER, US

__all__ = ["handlers_of"]

_OF_ALL = ("init", "antiphon.snapshot", "antiphon.restore")
"""Requests that say nothing of a protocol."""


def handlers_of(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield the name of the handler that a message to a node meets, such as `tick`, or `receive order` for a
    datagram of that type; none for a message that any program gets.
    """
    body = message["body"]
    if message["src"] not in (US, STARTER, CLIENT):
        yield f"receive {body['type']}"
    elif body["type"] == "antiphon.step":
        do = body["do"]
        for name, given in (msgspec.json.decode(do) if isinstance(do, msgspec.Raw) else do).items():
            yield f"receive {given['body']['type']}" if name == "receive" else name
    elif body["type"] not in _OF_ALL:
        yield body["type"]
