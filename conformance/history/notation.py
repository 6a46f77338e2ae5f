"""A history fits on a line: `0: +a a b | 1: b a` says who broadcasts and who delivers what, in order.

A small notation for tests and documents. Each process is `number: words`, processes are separated
by `|`. `+m` is a broadcast, `m` a delivery, `m=d` gives it the payload d, `m#7` the number 7, `!` is a
crash; `d>2` sends datagram d to process 2, `<d` receives it; `(+m)` and `(m)` are the protocol's side of a
broadcast and a delivery, `?2` reports a violation by process 2; `[2=013]` installs view 2 with the members 0,
1 and 3, `[01]` enters the transitional configuration of 0 and 1. A message is `source:id`, a datagram
`sender:counter`, or either is a letter: a is the first of process 0, b the first of process 1, and so on.
Where no number is given, messages are numbered in the order in which the text first delivers them.
"""

from __future__ import annotations

import re
from collections import defaultdict

from antiphon.conformance.trace import (
    Broadcast,
    CoreBroadcast,
    CoreDeliver,
    Crash,
    Deliver,
    End,
    Event,
    Install,
    Receive,
    Send,
    Transitional,
    Violation,
    digest,
    message_id,
)

_WORD = re.compile(
    r"(?P<core>\(?)(?P<receive><?)(?P<broadcast>\+?)(?P<name>[a-z]|\d+:\d+)(=(?P<payload>\w+))?(#(?P<number>\d+))?(>(?P<to>\d+))?\)?"
)

_VIEW = re.compile(r"\[((?P<view>[1-9]\d*)=)?(?P<members>\d*)\]")


def history(text: str) -> tuple[tuple[Event, ...], ...]:
    """Read a history from the notation; every log is ended.

    Raises:
        ValueError: a word is not in the notation; the message names it.
    """
    logs: dict[int, tuple[Event, ...]] = defaultdict(tuple)
    numbers: dict[str, int] = {}
    for part in filter(None, map(str.strip, text.split("|"))):
        process, colon, words = part.partition(":")
        if not colon or not process.strip().isdigit() or int(process) in logs:
            raise ValueError(
                f"{part!r} does not begin with the number of a process not seen before and a colon"
            )
        events = [_event(i, word, numbers) for i, word in enumerate(words.split())]
        logs[int(process)] = (*events, End(len(events)))
    return tuple(logs[process] for process in range(max(logs) + 1 if logs else 0))


def _event(i: int, word: str, numbers: dict[str, int]) -> Event:
    match = _WORD.fullmatch(word)
    if word == "!":
        return Crash(i)
    if word[0] == "?" and word[1:].isdigit():
        return Violation(i, int(word[1:]), "")
    view = _VIEW.fullmatch(word)
    if view is not None:
        members = tuple(map(int, view["members"]))
        return Install(i, int(view["view"]), members) if view["view"] else Transitional(i, members)
    if match is None or (word[0] == "(") != (word[-1] == ")"):
        raise ValueError(
            f"{word!r} is none of +m, m, m=payload, m#number, (+m), (m), d>process, <d, ?process, "
            "[view=members], [members], !"
        )
    name = match["name"]
    name = message_id(ord(name) - ord("a"), 1) if name.isalpha() else name
    if match["to"]:
        return Send(i, name, int(match["to"]))
    if match["receive"]:
        return Receive(i, name)
    payload = digest((match["payload"] or name).encode())
    if match["broadcast"]:
        return (CoreBroadcast if match["core"] else Broadcast)(i, name, payload)
    number = int(match["number"] or numbers.setdefault(name, len(numbers) + 1))
    return (CoreDeliver if match["core"] else Deliver)(i, name, number, payload)
