"""Hints for an unknown name: the known names, and the one that is most like it.

Every message that refuses a name ends with these words, so that all messages read alike.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

WORDS: list[str] = []
"""Words of the language; the package `antiphon.spec.lang` adds its exports."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the hint "; did you mean 'rbp'?", or "" if no known name is like `name`."""
    near = nearest(name, known)
    return f"; did you mean {near!r}?" if near else ""


def known_names(name: str, known: Iterable[str]) -> str:
    """Return all known names and the hint: "known: dtp, rbp; did you mean 'rbp'?"."""
    names = list(known)
    return f"known: {', '.join(names) or 'none'}{did_you_mean(name, names)}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that was most likely meant, or "".

    It is the name with the fewest typing errors between: a letter too many, a missing letter, a wrong letter,
    or two swapped ("rpb" for "rbp"), at most one in three letters. If there is none, it is the name with most
    of the same letters, or the one that begins with the given text ("Sequence" for "Seq").
    """
    names, most = list(dict.fromkeys(known)), max(1, len(name) // 3)
    plain = {other: _plain(other) for other in (name, *names)}
    # A distance is at least the difference of the lengths; a name may be as long as a line of a log.
    like = [other for other in names if abs(len(plain[other]) - len(plain[name])) <= most]
    slips = {other: distance(plain[name], plain[other]) for other in like}
    few = min(slips.values(), default=most + 1)
    if few <= most:
        fewest = [other for other in like if slips[other] == few and few < len(other)]
        if fewest:
            return max(fewest, key=lambda other: _likeness(name, other))
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return close[0]
    short = [other for other in names if min(len(other), len(name)) > 2 and _begins_alike(name, other)]
    return min(short, key=lambda other: abs(len(other) - len(name)), default="")


def distance(one: str, other: str) -> int:
    """Return the number of letters to add, to drop, to change or to swap with the next, from one word to the
    other.

    Source: Damerau (1964), in the form in which no letter is changed twice (optimal string alignment).
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, wanted in enumerate(other, 1):
            least = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                least = min(least, last[j - 2] + 1)
            row.append(least)
    return row[-1]


def _likeness(name: str, other: str) -> tuple[bool, bool, float]:
    """Return the sort key for names of equal distance: whether they have the same letters, whether they have
    the same first letter, and how alike they are.
    """
    ratio = difflib.SequenceMatcher(None, name, other).ratio()
    return sorted(name) == sorted(other), name[:1] == other[:1], ratio


def _plain(name: str) -> str:
    """Return the name without differences that people overlook: capitals, hyphens and underscores."""
    return name.casefold().replace("-", "_")


def _begins_alike(one: str, other: str) -> bool:
    one, other = _plain(one), _plain(other)
    return one.startswith(other) or other.startswith(one)
