"""A history fits on a line: `0: +a a b | 1: b a` says who broadcasts and who delivers what, in order.

A small notation for tests and documents. Each process is `number: words`, processes are separated
by `|`. `+m` is a broadcast, `m` a delivery, `m=d` gives it the payload d, `!` is a crash. A message
is `source:id`, or a letter: a is message 1 of process 0, b message 1 of process 1, and so on.
"""

from __future__ import annotations

import re
from collections import defaultdict

from antiphon.conformance.trace import Broadcast, Crash, Deliver, End, Event, digest, message_id

_WORD = re.compile(r"(?P<broadcast>\+?)(?P<message>[a-z]|\d+:\d+)(=(?P<payload>\w+))?")


def history(text: str) -> tuple[tuple[Event, ...], ...]:
    """Read a history from the notation; every log is ended, and numbers are positions.

    Raises:
        ValueError: a word is not in the notation; the message names it.
    """
    logs: dict[int, tuple[Event, ...]] = defaultdict(tuple)
    for part in filter(None, map(str.strip, text.split("|"))):
        process, colon, words = part.partition(":")
        if not colon or not process.strip().isdigit() or int(process) in logs:
            raise ValueError(
                f"{part!r} does not begin with the number of a process not seen before and a colon"
            )
        logs[int(process)] = _log(words.split())
    return tuple(logs[process] for process in range(max(logs, default=-1) + 1))


def _log(words: list[str]) -> tuple[Event, ...]:
    events: list[Event] = []
    delivered = 0
    for word in words:
        match = _WORD.fullmatch(word)
        if word == "!":
            events.append(Crash(len(events)))
        elif match is None:
            raise ValueError(f"{word!r} is none of +m, m, m=payload, !")
        else:
            message = match["message"]
            message = message_id(ord(message) - ord("a"), 1) if message.isalpha() else message
            payload = digest((match["payload"] or message).encode())
            if match["broadcast"]:
                events.append(Broadcast(len(events), message, payload))
            else:
                delivered += 1
                events.append(Deliver(len(events), message, delivered, payload))
    return (*events, End(len(events)))
