"""Notation for histories on one line: in `0: +a a b | 1: b a`, process 0 broadcasts a, then delivers a and b,
and process 1 delivers b and a.

A small notation for tests and documents. Each process is `number: words`, processes are separated by `|`.
`+m` is a broadcast, `+m@01` one for processes 0 and 1, `m` a delivery, `m=d` gives it the payload d, `m#7`
the number 7, `!` is a crash, `^` a return after it; `d>2` sends datagram d to process 2, `<d` receives it;
`(+m)` and `(m)` are the protocol's side of a broadcast and a delivery, `?2` reports a violation by process 2;
`[2=013]` installs view 2 with the members 0, 1 and 3, `[01]` enters the transitional configuration of 0 and
1; `*m` is the notice that m is safe; `1?x` proposes x in consensus 1, `1!x` decides it; `-2` suspects process
2, `=2` trusts it again, `-` is an alarm. A message is `source:id`, a datagram `sender:counter`, or either is
a letter: a is the first of process 0, b the first of process 1, and so on. Where no number is given, messages
are numbered in the order in which the text first delivers them.
"""

from __future__ import annotations

import re
from collections import defaultdict

from antiphon.conformance.judge.trace import (
    Alarm,
    Broadcast,
    CoreBroadcast,
    CoreDeliver,
    Crash,
    Decide,
    Deliver,
    End,
    Event,
    Install,
    Propose,
    Receive,
    Recover,
    Safe,
    Send,
    Suspect,
    Transitional,
    Trust,
    Violation,
    digest,
    message_id,
)

_WORD = re.compile(
    r"(?P<core>\(?)(?P<receive><?)(?P<broadcast>\+?)(?P<name>[a-z]|\d+:\d+)(=(?P<payload>\w+))?(#(?P<number>\d+))?(>(?P<to>\d+))?(@(?P<destinations>\d+))?\)?"
)

_OTHER = re.compile(
    r"\*(?P<safe>[a-z]|\d+:\d+)|(?P<consensus>\d+)(?P<act>[?!])(?P<value>\w+)|(?P<trust>[-=])(?P<process>\d+)|-"
)

_VIEW = re.compile(r"\[((?P<view>0|[1-9]\d*)=)?(?P<members>\d*)\]")


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
    if word in ("!", "^"):
        return Crash(i) if word == "!" else Recover(i)
    if word[0] == "?" and word[1:].isdigit():
        return Violation(i, int(word[1:]), "")
    view = _VIEW.fullmatch(word)
    if view is not None:
        members = tuple(map(int, view["members"]))
        return Install(i, int(view["view"]), members) if view["view"] else Transitional(i, members)
    if (other := _OTHER.fullmatch(word)) is not None:
        return _other_event(i, other)
    if match is None or (word[0] == "(") != (word[-1] == ")"):
        raise ValueError(
            f"{word!r} is none of +m, +m@processes, m, m=payload, m#number, (+m), (m), d>process, <d, "
            "?process, [view=members], [members], *m, consensus?value, consensus!value, -process, =process, "
            "-, !, ^"
        )
    name = _full(match["name"])
    if match["to"]:
        return Send(i, name, int(match["to"]))
    if match["receive"]:
        return Receive(i, name)
    payload = digest((match["payload"] or name).encode())
    if match["destinations"]:
        return Broadcast(i, name, payload, tuple(map(int, match["destinations"])))
    if match["broadcast"]:
        return (CoreBroadcast if match["core"] else Broadcast)(i, name, payload)
    number = int(match["number"] or numbers.setdefault(name, len(numbers) + 1))
    return (CoreDeliver if match["core"] else Deliver)(i, name, number, payload)


def _other_event(i: int, match: re.Match[str]) -> Event:
    """Return an event that no protocol of one group logs: of safe messages, consensus and failure
    detectors.
    """
    if match["safe"]:
        return Safe(i, _full(match["safe"]))
    if match["consensus"]:
        return (Propose if match["act"] == "?" else Decide)(i, int(match["consensus"]), match["value"])
    if match["process"]:
        return (Suspect if match["trust"] == "-" else Trust)(i, int(match["process"]))
    return Alarm(i)


def _full(name: str) -> str:
    """Return the full identifier of a message or datagram: a letter is replaced by the identifier for which
    it stands.
    """
    return message_id(ord(name) - ord("a"), 1) if name.isalpha() else name
