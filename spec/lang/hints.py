"""An unknown name is answered with the known names, and with the one that is most like it.

Every message that refuses a name ends with these words, so that it reads the same in every room.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The hint "; did you mean 'rbp'?", or nothing when no known name is like `name`."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def known_names(name: str, known: Iterable[str]) -> str:
    """All known names and the hint: "known: dtp, rbp; did you mean 'rbp'?"."""
    names = list(known)
    return f"known: {', '.join(names) or 'none'}{did_you_mean(name, names)}"
