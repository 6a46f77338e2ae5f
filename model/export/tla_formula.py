"""Lines of a formula of TLA+: conjuncts, each below the definitions that it may need.

A definition that is used once is written in place of its name; an unused one is left out.

This file knows nothing of the intermediate form.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class Line:
    """Part of a formula: a definition (`name` is given) or a conjunct."""

    text: str
    name: str = ""


def formula(lines: Sequence[Line], values: Sequence[str], indent: int) -> list[str]:
    """Return conjuncts and definitions as lines of a formula. Each definition comes before the first conjunct
    that may need it.
    """
    lines, values = _inlined(lines, values)
    pad = " " * indent
    made: list[str] = []
    definitions: list[Line] = []

    def opened() -> None:
        nonlocal pad
        if definitions:
            made.append(f"{pad}/\\ LET {definitions[0].name} == {_bare(definitions[0].text)}")
            made.extend(f"{pad}       {line.name} == {_bare(line.text)}" for line in definitions[1:])
            made.append(f"{pad}   IN")
            pad += "     "
            definitions.clear()

    for line in lines:
        if line.name:
            definitions.append(line)
        else:
            opened()
            made.append(f"{pad}/\\ {_bare(line.text)}")
    opened()
    made.extend(f"{pad}/\\ {value}" for value in values)
    return made


_WORD = re.compile(r'(?<![.\w"])(?:(?<=\\in )[A-Za-z_]\w*(?![\w"])|[A-Za-z_]\w*(?![\w"])(?! \|->))')
"""Used names: words outside strings that are no field name before `|->`, and every set after `in`."""


def _inlined(lines: Sequence[Line], values: Sequence[str]) -> tuple[list[Line], list[str]]:
    """Return the lines and values without definitions that are used once or never: the text of a definition
    replaces its one use.
    """
    texts = [*(line.text for line in lines), *values]
    uses = [Counter(_WORD.findall(text)) for text in texts]
    total, places = Counter[str](), dict[str, set[int]]()
    for place, counted in enumerate(uses):
        total.update(counted)
        for word in counted:
            places.setdefault(word, set()).add(place)
    gone: set[int] = set()
    for number, line in enumerate(lines):
        if not line.name or total[line.name] > 1:
            continue
        gone.add(number)
        for word in uses[number]:
            places[word].discard(number)
        if total[line.name] == 0:
            total.subtract(uses[number])
            continue
        (target,) = places[line.name]
        text = f"({texts[number]})" if texts[number].startswith("IF ") else texts[number]
        texts[target] = _replaced(texts[target], line.name, text)
        uses[target].update(uses[number])
        for word in uses[number]:
            places[word].add(target)
    kept = [Line(texts[number], line.name) for number, line in enumerate(lines) if number not in gone]
    return kept, [_bare_value(text) for text in texts[len(lines) :]]


def _bare_value(text: str) -> str:
    """Return `x' = (y)` without the parentheses, unless y is a comparison or the like.

    Without them `x' = y = z` would have no meaning, and a conjunction would be cut after its first part.
    """
    left, sign, right = text.partition(" = ")
    if not sign or not left.rstrip("'").isidentifier():
        return text
    bare = _bare(right)
    loose = _LOOSE.search(_outside(bare)) is not None and not bare.startswith(_TO_THE_END)
    return f"{left}{sign}({bare})" if loose else f"{left}{sign}{bare}"


_LOOSE = re.compile(r" (/\\|\\/|=>|=|#|<|<=|>|>=|\\in|\\subseteq) ")
"""Operators that bind no tighter than an equation."""
_TO_THE_END = ("IF ", "LET ", "\\E ", "\\A ")
"""Beginnings of expressions that extend to the end of their text, and need no parentheses."""


def _outside(text: str) -> str:
    """Return a text without the parts inside its parentheses, brackets and braces."""
    depth, kept = 0, ""
    for sign in text:
        depth -= sign in ")]}"
        kept += sign if depth == 0 else ""
        depth += sign in "([{"
    return kept


def _bare(text: str) -> str:
    """Return a text without parentheses around the whole of it."""
    while text.startswith("(") and text.endswith(")"):
        depth = 0
        for position, sign in enumerate(text):
            depth += (sign == "(") - (sign == ")")
            if depth == 0 and position < len(text) - 1:
                return text
        text = text[1:-1]
    return text


def _replaced(text: str, name: str, by: str) -> str:
    return _WORD.sub(lambda found: by if found[0] == name else found[0], text)
