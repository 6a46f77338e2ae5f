"""Spelling of names in another language: names that it refuses are written otherwise, and all others stay as
they are.

1. A name is spelt with the letters, digits and underscores that every such language has: any other sign is
   written as `u` and its number (`ü` is `u00fc`).
2. A keyword of the other language gets the prefix `x_`; a name that is taken gets a number.
3. The spelling depends only on the names before it. Changes are listed in the head of the export.
"""

from __future__ import annotations

import re
from collections.abc import Callable


def spelt(name: str) -> str:
    """Return the name in plain letters, digits and underscores, beginning with a letter."""
    plain = re.sub(r"[^A-Za-z0-9_]", lambda sign: f"u{ord(sign[0]):04x}", name)
    return plain if re.match(r"[A-Za-z]", plain) else f"x_{plain}"


class Spelling:
    """Names of one export.

    Attributes:
        changed: the names that are written otherwise, and how.
    """

    def __init__(self, is_reserved: Callable[[str], bool]) -> None:
        self.changed: dict[str, str] = {}
        self._is_reserved = is_reserved
        self._taken: set[str] = set()

    def give(self, wanted: str, *, of: str = "") -> str:
        """Return a name like `wanted` that the other language accepts and that is not taken.

        Args:
            wanted: the preferred name.
            of: the name in the specification, listed in `changed` when its spelling is another.
        """
        name = spelt(wanted)
        if self._is_reserved(name):
            name = f"x_{name}"
        free, number = name, 1
        while free in self._taken:
            number += 1
            free = f"{name}_{number}"
        self._taken.add(free)
        if of and name != wanted:
            self.changed[of] = free
        return free

    def table(self) -> str:
        """Return the names whose spelling differs in the other language, in one line; empty if there are
        none.
        """
        return ", ".join(f"{ascii(of)[1:-1]} is {name}" for of, name in self.changed.items())
