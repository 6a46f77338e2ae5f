"""Cache of the answers of mutants, stored on disk as soon as they are known."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

import antiphon.model.mutation
from antiphon.conformance.ledger.strength import walked
from antiphon.conformance.ledger.strength.programs import digest_of
from antiphon.model.cache import Cache
from antiphon.model.mutation import Answer

__all__ = ["FORM", "Answers", "mutating_code", "walking_code"]

FORM = 2
"""Version of the form of the entries; a higher one discards all answers."""


class Answers:
    """Cache of answers about the mutants of a program, by a digest of everything that they depend on; `read`
    counts the answers that were found on disk.
    """

    def __init__(self, cache: Cache, *, fresh: bool = False) -> None:
        self.cache, self.fresh, self.read, self.asked = cache, fresh, 0, 0

    @staticmethod
    def private(*, fresh: bool = False) -> Answers:
        """Return the cache with the answers of this user's earlier runs."""
        return Answers(Cache.private("mutants"), fresh=fresh)

    def of(self, key: str) -> dict[str, Answer]:
        """Return all answers under a key, by mutant and property."""
        content = None if self.fresh else self.cache.get(key)
        if content is None:
            return {}
        try:
            return msgspec.json.decode(content, type=dict[str, Answer])
        except msgspec.DecodeError:
            return {}

    def put(self, key: str, answers: dict[str, Answer]) -> None:
        """Store all answers of a key."""
        self.cache.put(key, msgspec.json.encode(answers))


@cache
def mutating_code() -> str:
    """Return a digest of the code that tries mutants. The code that reads and explores specifications is left
    out: its results for the same meaning stay the same.
    """
    files = sorted(Path(antiphon.model.mutation.__path__[0]).glob("*.py"))
    return digest_of(*(file.read_text(encoding="utf-8") for file in files))


@cache
def walking_code() -> str:
    """Return a digest of the code that tries mutants by random walks and further exploration, where a program
    takes long.
    """
    return digest_of(Path(walked.__file__).read_text(encoding="utf-8"))
