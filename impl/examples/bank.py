"""A bank: money goes from account to account, and the sum of all accounts never changes.

    python -m antiphon.impl.examples.bank city --me 0 --members 127.0.0.1:7000 127.0.0.1:7001 127.0.0.1:7002
    python -m antiphon.impl.examples.bank city --bind 127.0.0.1:7000 --seeds 127.0.0.1:7000 --expect 1

The first form is a group whose members do not change; with the second one processes join, leave and fail.
Lines of standard input: `open ACCOUNT AMOUNT`, answered once with true, `move FROM TO AMOUNT`, `sum`, `dump`.
A transfer that was cut off, because its member was excluded, may have been made or not: `move` takes a fourth
word, a name for the transfer, under which it is made at most once however often it is asked for.
"""

from __future__ import annotations

import sys
from typing import Annotated

from msgspec import Meta, Struct, msgpack

from antiphon.impl.examples.replica import Replica, Source
from antiphon.impl.examples.shell import Refused, main
from antiphon.impl.group import Group
from antiphon.impl.joined import JoinedGroup

__all__ = ["Bank"]

Name = Annotated[str, Meta(max_length=1_000)]
Amount = Annotated[int, Meta(ge=0, le=2**53)]


class Open(Struct, frozen=True, tag=True):
    """Command: open an account with this amount, if there is none of this name."""

    account: Name
    amount: Amount


class Move(Struct, frozen=True, tag=True):
    """Command: move an amount from one account to another; under a name it takes effect once."""

    source: Name
    target: Name
    amount: Amount
    name: Name | None = None


class Sum(Struct, frozen=True, tag=True):
    """Command: add up all accounts at this place of the order."""


Command = Open | Move | Sum

_decoder: msgpack.Decoder[Command] = msgpack.Decoder(Command)


class _State(Struct, array_like=True):
    accounts: dict[str, int]
    made: dict[str, bool]
    """The transfers that have a name, and whether they were made."""


class Bank(Replica[int]):
    """One copy of all accounts."""

    def __init__(self, group: Group | JoinedGroup) -> None:
        super().__init__(group)
        self._state = _State({}, {})

    @property
    def accounts(self) -> dict[str, int]:
        """Amounts on the accounts, in this copy."""
        return self._state.accounts

    async def open(self, account: str, amount: int) -> bool:
        """Open an account; return False if there is one of this name."""
        return bool(await self.execute(msgpack.encode(Open(account, amount))))

    async def move(self, source: str, target: str, amount: int, name: str | None = None) -> bool:
        """Move money, once under each name; return False if an account is missing or has too little."""
        return bool(await self.execute(msgpack.encode(Move(source, target, amount, name))))

    async def sum(self) -> int:
        """Add up all accounts, after every transfer that was answered before this call."""
        return await self.execute(msgpack.encode(Sum()))

    def apply(self, command: bytes, number: int, source: Source) -> int:  # noqa: ARG002
        """Execute one command."""
        match _decoder.decode(command):
            case Open(account, amount):
                if account in self.accounts:
                    return False
                self.accounts[account] = amount
                return True
            case Move(name=name) as move:
                if name is None:
                    return self._moved(move)
                if name not in self._state.made:
                    self._state.made[name] = self._moved(move)
                return self._state.made[name]
            case Sum():
                return sum(self.accounts.values())

    def _moved(self, move: Move) -> bool:
        if move.target not in self.accounts or self.accounts.get(move.source, -1) < move.amount:
            return False
        self.accounts[move.source] -= move.amount
        self.accounts[move.target] += move.amount
        return True

    def dump(self) -> bytes:
        """Return the accounts and the transfers that have a name."""
        return msgpack.encode(self._state)

    def restore(self, state: bytes) -> None:
        """Replace the accounts and the named transfers by those in `state`."""
        self._state = msgpack.decode(state, type=_State)

    async def answer(self, words: list[str]) -> object:
        """Execute a line of the shell and return its result. Raises `Refused`."""
        match words:
            case ["open", account, amount] if amount.isdecimal():
                return await self.open(account, int(amount))
            case ["move", source, target, amount, *name] if amount.isdecimal() and len(name) <= 1:
                return await self.move(source, target, int(amount), *name)
            case ["sum"]:
                return await self.sum()
            case ["dump"]:
                return {"applied": self.applied, "accounts": self.accounts}
        raise Refused("open ACCOUNT AMOUNT, move FROM TO AMOUNT [NAME], sum, dump")


if __name__ == "__main__":
    sys.exit(main(Bank))
