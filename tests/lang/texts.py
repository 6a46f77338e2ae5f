"""Small specifications for tests: a state with one variable of each type, and methods that a test writes.

A text may hold one mark `«`; it is taken out, and its place is where an error is expected.
"""

from __future__ import annotations

import itertools

from tests.lang.random_specs import load

from antiphon.spec.lang import Location, Spec, ir
from antiphon.spec.lang.dump import dump
from antiphon.spec.lang.front import read

HEADER = """\
from __future__ import annotations
import dataclasses
from enum import Enum
from typing import Annotated, Generic, TypeVar
from antiphon.spec.lang import *

class P(Index, size="ps"): "Without order."
class Twin(Index, size="ps", symmetric=True): "Interchangeable."
class Q(Index, size="qs", ordered=True): "In order."
class Color(Enum): red, green, blue = range(3)
class Size(Enum): small, large = range(2)
Small = Annotated[int, Between(0, "top")]
BOTH = (Color.red, Color.green)
WARM = frozenset({Color.red})
LIMIT = 2
@record
class Ping:
    q: Q
    n: Small
@record
class Pong:
    n: Small
    maybe: Q | None
@record
class Tag: pass
@record
class Happened:
    n: Small
START = Tag()
def outside(n: int) -> int:
    return n
"""

STATE = """
class T(Spec):
    ps: Const[int] = 2
    qs: Const[int] = 2
    top: Const[int] = 3
    loud: Const[bool] = True
    fixed: Const[bool] = False
    DEPTH = 1
    b: bool = False
    n: Small = 0
    color: Color = Color.red
    size: Size = Size.small
    q: Q | None = None
    who: Q = Q(0)
    pair: Ping | Pong = Pong(0, None)
    some: Ping | Pong | None = None
    packets: Set[Ping | Pong] = Set()
    smalls: Set[Small] = Set()
    qs_seen: Set[Q] = Set()
    ps_seen: Set[P] = Set()
    twin: Twin | None = None
    queue: Annotated[Seq[Small], AtMost(2)] = ()
    line: Annotated[Seq[Q | None], AtMost(2)] = ()
    low: Annotated[int, Between(-2, 2)] = 0
    count: Map[P, Small] = everywhere(0)
    grid: Map[Q, Map[P, bool]] = everywhere(everywhere(False))
    slot: Map[Small, Q | None] = everywhere(None)

    def twice(self, n: Small) -> int:
        return n * 2
    def owner(self, q: Q) -> Q | None:
        return self.q
    def put(self, q: Q, n: Small) -> None:
        self.n = n
    def be_owner(self, q: Q) -> None:
        require(q == self.who)
"""

_numbers = itertools.count()


def unmarked(text: str, file: str) -> tuple[str, Location | None]:
    """The text without its mark, and the place of the mark."""
    before, mark, after = text.partition("«")
    if not mark:
        return text, None
    return before + after, Location(file, before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)


def spec_of(text: str, name: str = "T") -> tuple[type[Spec], Location | None]:
    """The class of a text after HEADER, and the place of its mark."""
    file = f"<test {next(_numbers)}>"
    whole, place = unmarked(HEADER + text, file)
    return load(whole, name, file), place


def with_methods(methods: str) -> tuple[type[Spec], Location | None]:
    """The standard state with these methods (indented by nothing)."""
    inside = "\n".join("    " + line if line else line for line in methods.strip("\n").splitlines())
    return spec_of(STATE + "\n" + inside + "\n")


def with_body(body: str, parameters: str = "") -> tuple[type[Spec], Location | None]:
    """The standard state with one action `step`."""
    inside = "\n".join("    " + line for line in body.strip("\n").splitlines())
    given = f", {parameters}" if parameters else ""
    return with_methods(f"@action\ndef step(self{given}) -> None:\n{inside}")


def module_of(text: str) -> ir.Module:
    """The intermediate form of the standard state with these methods."""
    return read(with_methods(text)[0])


def statements_of(body: str, parameters: str = "") -> list[str]:
    """The dumped lines of the action `step`, without its own indentation."""
    lines = dump(read(with_body(body, parameters)[0])).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("action step"))
    return [line[2:] for line in itertools.takewhile(lambda line: line.startswith("  "), lines[start + 1 :])]


def value_of(expression: str, parameters: str = "") -> str:
    """The dumped form of a boolean expression."""
    return statements_of(f"self.b = {expression}", parameters)[-1].removeprefix("b := ")
