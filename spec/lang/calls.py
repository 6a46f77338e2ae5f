"""Calls of code that is not ours, in memory that outlives the process which makes them.

1. A process that forks another one for the work makes a `Record` before. In it the working process notes each
   call of foreign code before it begins, with the steps that led there.
2. The first process so knows, where the working one is killed or does not return, by which call.
3. It can then do the work again, in a process that knows these calls and does not make them: `begins` raises
   `Ended` instead.

Without a record nothing is noted. This file knows neither specifications nor implementations.
"""

from __future__ import annotations

import math
import mmap
import os
import struct
from typing import NamedTuple

from antiphon.spec.lang.foreign import end_process

GAVE_UP = 71
"""Exit code of a process that ends itself, since a call of foreign code does not return."""

_HEAD = struct.Struct("<QdII")
_SIZE = 1 << 18


class Ended(Exception):
    """Error: this call of foreign code has ended an earlier process; the message says how."""


class Call(NamedTuple):
    """Call of foreign code, with the steps that led there, each a line."""

    what: str
    steps: str


class Record:
    """Shared memory with the present call of foreign code, if there is one.

    Attributes:
        known: the calls that have ended a process, each with the words on how.
        lost_s: the seconds of these calls, which are not counted as those of the work.
        chance: a number drawn once, so that work that is done again is the same.
    """

    def __init__(self) -> None:
        self.known: dict[Call, str] = {}
        self.lost_s = 0.0
        self.chance = int.from_bytes(os.urandom(8)) % 10**6
        self._memory = mmap.mmap(-1, _SIZE)
        self._number = 0

    def write(self, call: Call | None, seconds: float = math.inf, words: str = "") -> None:
        """Note that a call begins that may take so many seconds, or with None that no call goes on; `words`
        say what is wrong with it.
        """
        self._number += 1
        told = b"" if call is None else "\0".join((*call, words)).encode(errors="replace")[-_ROOM:]
        self._memory[: _HEAD.size] = _HEAD.pack(0, 0.0, 0, 0)
        self._memory[_HEAD.size : _HEAD.size + len(told)] = told
        self._memory[: _HEAD.size] = _HEAD.pack(self._number, seconds, len(told), call is not None)

    def read(self) -> tuple[int, float, Call | None, str]:
        """Return the number of the present call, the seconds that it may take, the call, and the words on
        what is wrong with it.
        """
        number, seconds, length, goes_on = _HEAD.unpack(self._memory[: _HEAD.size])
        if not goes_on:
            return number, math.inf, None, ""
        told = self._memory[_HEAD.size : _HEAD.size + length].decode(errors="replace").split("\0")
        what, steps, words = (*told, "", "")[:3]
        return number, seconds, Call(what, steps), words

    def ended(self, code: int) -> None:
        """Note that the work is done, with this exit code, and that the process has nothing left to do."""
        self.write(Call("the end", ""), 0.0, str(code))


_ROOM = _SIZE - _HEAD.size

_records: list[Record] = []


def noted_in(record: Record) -> None:
    """Note the calls of this process in a record from now on."""
    _records[:] = [record]


def is_noted() -> bool:
    """Return True if calls of foreign code are noted."""
    return bool(_records)


def drawn() -> int:
    """Return a number below a million, drawn at random; the same each time where calls are noted."""
    return (_records[0] if _records else Record()).chance


def lost_s() -> float:
    """Return the seconds of the calls that have ended earlier processes."""
    return _records[0].lost_s if _records else 0.0


def some_ended() -> bool:
    """Return True if calls of foreign code have ended earlier processes."""
    return bool(_records and _records[0].known)


def begins(what: str, steps: str = "", seconds: float = math.inf) -> None:
    """Note that a call of foreign code begins, which may take so many seconds.

    Raises:
        Ended: it has ended an earlier process.
    """
    if _records:
        call = Call(what, steps)
        if call in _records[0].known:
            raise Ended(_records[0].known[call])
        _records[0].write(call, seconds)


def is_over() -> None:
    """Note that no call of foreign code goes on."""
    if _records:
        _records[0].write(None)


def give_up(words: str) -> None:
    """End this process, if calls are noted, because the present call does not return; `words` say so."""
    if _records:
        _, _, call, _ = _records[0].read()
        _records[0].write(call, 0.0, words)
        end_process(GAVE_UP)


def done(code: int) -> None:
    """Note that the work is done, with this exit code."""
    if _records:
        _records[0].ended(code)
