"""A client of a replica: it speaks to its standard input, as a person would."""

from __future__ import annotations

import json
from asyncio.subprocess import Process
from typing import Any


class Client:
    """A client of one replica."""

    def __init__(self, process: Process) -> None:
        self.process = process

    async def ask(self, *words: object) -> Any:
        """The answer to one line."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(" ".join(map(str, words)).encode() + b"\n")
        answer = await self.process.stdout.readline()
        assert answer, (await self.process.stderr.read()).decode() if self.process.stderr else ""
        return json.loads(answer)
