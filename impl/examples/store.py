"""A replicated key-value store: every member has all of it, and writes happen in one order at all of them.

    python -m antiphon.impl.examples.store shop --me 0 --members 127.0.0.1:7000 127.0.0.1:7001 127.0.0.1:7002
    python -m antiphon.impl.examples.store shop --bind 127.0.0.1:7000 --seeds 127.0.0.1:7000 --expect 1

The first form is a group whose members do not change; with the second one processes join, leave and fail.

Lines of standard input: `put KEY VALUE`, `delete KEY`, `swap KEY OLD NEW`, `get KEY`, `read KEY`, `dump`. A
`get` is ordered like a write, so it sees every write that was answered before it, at whichever member; a
`read` looks at the own copy, which may be behind.
"""

from __future__ import annotations

import sys
from typing import Annotated

from msgspec import Meta, Struct, msgpack

from antiphon.impl.examples.replica import Replica, Source
from antiphon.impl.examples.shell import Refused, main
from antiphon.impl.group import Group
from antiphon.impl.joined import JoinedGroup

__all__ = ["Store"]

Text = Annotated[str, Meta(max_length=1_000)]


class Put(Struct, frozen=True, tag=True):
    """Command: give a key this value; with `expected`, only if its value is that one (None: no value)."""

    key: Text
    value: Text | None
    expected: tuple[Text | None] | None = None


class Get(Struct, frozen=True, tag=True):
    """Command: read the value of a key, at this command's place in the common order."""

    key: Text


Command = Put | Get

_decoder: msgpack.Decoder[Command] = msgpack.Decoder(Command)


class Store(Replica["str | bool | None"]):
    """One copy of the key-value store."""

    def __init__(self, group: Group | JoinedGroup) -> None:
        super().__init__(group)
        self.items: dict[str, str] = {}

    async def put(self, key: str, value: str | None) -> bool:
        """Give a key a value, or remove it (None); return True."""
        return bool(await self.execute(msgpack.encode(Put(key, value))))

    async def swap(self, key: str, old: str | None, new: str) -> bool:
        """Give a key a new value if its value is `old` (None: no value); return True if it was."""
        return bool(await self.execute(msgpack.encode(Put(key, new, (old,)))))

    async def get(self, key: str) -> str | None:
        """Return the value of a key; every write is included that was answered before this call."""
        value = await self.execute(msgpack.encode(Get(key)))
        return None if value is None else str(value)

    def apply(self, command: bytes, number: int, source: Source) -> str | bool | None:  # noqa: ARG002
        """Execute one command."""
        match _decoder.decode(command):
            case Get(key):
                return self.items.get(key)
            case Put(key, value, expected):
                if expected is not None and self.items.get(key) != expected[0]:
                    return False
                if value is None:
                    self.items.pop(key, None)
                else:
                    self.items[key] = value
                return True

    def dump(self) -> bytes:
        """Return the keys with their values."""
        return msgpack.encode(self.items)

    def restore(self, state: bytes) -> None:
        """Replace all keys and values by those in `state`."""
        self.items = msgpack.decode(state, type=dict[str, str])

    async def answer(self, words: list[str]) -> object:
        """Execute a command that a user has typed, word by word, and return its result. Raises `Refused`."""
        match words:
            case ["put", key, value]:
                return await self.put(key, value)
            case ["delete", key]:
                return await self.put(key, None)
            case ["swap", key, old, new]:
                return await self.swap(key, None if old == "-" else old, new)
            case ["get", key]:
                return await self.get(key)
            case ["read", key]:
                return self.items.get(key)
            case ["dump"]:
                return {"applied": self.applied, "items": self.items}
        raise Refused("put KEY VALUE, delete KEY, swap KEY OLD NEW (OLD may be -), get KEY, read KEY, dump")


if __name__ == "__main__":
    sys.exit(main(Store))
