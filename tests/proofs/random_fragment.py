"""Random small specifications of the fragment as Python text: relations, maps, an order, majorities and
counters over two sorts, with invariants of which some are inductive.
"""

import random

PREAMBLE = '''
from __future__ import annotations
from enum import Enum
from typing import Annotated
from antiphon.spec.lang import *

class A(Index, size="many", symmetric=True):
    "Without order."

class B(Index, size="steps", ordered=True):
    "In order."

class Color(Enum):
    red, green, blue = range(3)

Number = Annotated[int, Between(0, "high")]

@record
class Pair:
    a: A
    b: B

class Random(Spec):
    many: Const[int] = 2
    steps: Const[int] = 2
    high: Const[int] = 2
    marked: Set[A] = Set()
    pairs: Set[Pair] = Set()
    color: Map[A, Color] = everywhere(Color.red)
    owner: A | None = None
    place: Map[A, B] = everywhere(B(0))
    count: Number = 0
    last: B | None = None
    up: bool = False
'''


class Maker:
    """Makes one text from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(f"fragment {seed}")

    def one(self, *texts: str) -> str:
        """One of some texts."""
        return self.random.choice(texts)

    def a(self, names: list[str]) -> str:
        """An A in scope."""
        return self.random.choice(names)

    def atom(self, a: list[str], b: list[str]) -> str:
        """A condition without quantifiers."""
        p, q = self.a(a), self.a(a)
        x, y = (self.a(b), self.a(b)) if b else ("B(0)", "B(0)")
        return self.one(
            f"{p} in self.marked", f"{p} == {q}", f"Pair({p}, {x}) in self.pairs", f"{x} < {y}",
            f"{x} <= {y}",
            f"self.color[{p}] is Color.{self.one('red', 'green', 'blue')}", f"self.owner == {p}",
            "self.owner is None", f"self.place[{p}] < {x}", f"self.place[{p}] == self.place[{q}]",
            f"{x} == self.last",
            f"self.count {self.one('<', '<=', '==', '>')} {self.one('0', '1', 'self.high')}",
            "self.up", "2 * len(self.marked) > self.many", f"len(self.marked) {self.one('<=', '>')} 1",
            f"2 * sum(1 for z in self.each(A) if Pair(z, {x}) in self.pairs) > self.many",
        )  # fmt: skip

    def condition(self, a: list[str], b: list[str], depth: int = 2) -> str:
        """A boolean expression."""
        choice = self.random.random()
        if depth == 0 or choice < 0.4:
            found = self.atom(a, b)
            return f"not ({found})" if self.random.random() < 0.3 else found
        if choice < 0.8:
            word = self.one(" and ", " or ")
            return "(" + word.join(self.condition(a, b, depth - 1) for _ in range(2)) + ")"
        word, name = self.one("any", "all"), f"v{depth}"
        if self.random.random() < 0.5:
            source = self.one("self.each(A)", "self.marked")
            return f"{word}({self.condition([*a, name], b, depth - 1)} for {name} in {source})"
        return f"{word}({self.condition(a, [*b, name], depth - 1)} for {name} in self.each(B))"

    def update(self) -> str:
        """A statement that changes the state, over p, q of A and x of B."""
        return self.one(
            "self.marked |= {p}", "self.marked -= {q}", "self.pairs |= {Pair(p, x)}",
            "self.pairs -= {Pair(q, x)}", "self.owner = p", "self.owner = None",
            f"self.color[p] = Color.{self.one('red', 'green', 'blue')}",
            "self.place[p] = x", "self.last = x", "self.last = self.place[q]", "self.up = not self.up",
            "self.count += 1", "self.count = 0",
            "self.pairs |= {Pair(z, x) for z in self.marked}",
            f"self.marked -= {{z for z in self.each(A) if {self.condition(['z', 'p'], ['x'], 1)}}}",
            "self.place = {z: self.place[q] if z == p else self.place[z] for z in self.each(A)}",
        )  # fmt: skip

    def action(self, number: int) -> list[str]:
        """An action with parameters p, q and x."""
        lines = ["    @action", f"    def act{number}(self, p: A, q: A, x: B) -> None:", '        "A step."']
        for _ in range(self.random.randint(0, 2)):
            lines.append(f"        require({self.condition(['p', 'q'], ['x'])})")
        updates = dict.fromkeys(self.update() for _ in range(self.random.randint(1, 3)))
        if self.random.random() < 0.4:
            lines.append(f"        if {self.condition(['p', 'q'], ['x'], 1)}:")
            lines += [f"            {line}" for line in updates]
        elif self.random.random() < 0.3:
            lines.append("        for z in self.each(A):")
            lines.append(f"            if {self.condition(['z', 'p'], ['x'], 1)}:")
            lines.append("                self.color[z] = Color.blue")
        else:
            lines += [f"        {line}" for line in updates]
        return lines

    def invariant(self, number: int) -> list[str]:
        """An invariant, universal at the outside."""
        body = self.one(
            f"all({self.condition(['s', 't'], [], 1)} for s in self.each(A) for t in self.each(A))",
            f"all({self.condition(['s'], ['w'], 1)} for s in self.each(A) for w in self.each(B))",
            f"all({self.atom(['s'], [])} or {self.atom(['s'], [])} for s in self.each(A))",
            "self.count >= 0", "self.owner is None or self.owner in self.marked", "len(self.marked) <= 1",
            "all(one.a != other.a or one.b == other.b for one in self.pairs for other in self.pairs)",
            "all(pair.a in self.marked for pair in self.pairs)",
        )  # fmt: skip
        head = ["    @invariant", f"    def inv{number}(self) -> bool:", '        "A property."']
        return [*head, f"        return {body}"]

    preamble = PREAMBLE

    def text(self) -> str:
        """Text of the specification."""
        lines = [line for number in range(self.random.randint(1, 3)) for line in self.action(number)]
        lines += [line for number in range(self.random.randint(1, 3)) for line in self.invariant(number)]
        return self.preamble + "\n".join(lines) + "\n"


class LogMaker(Maker):
    """Maker of texts with a log, which only grows, and a queue, which also loses its first item."""

    preamble = PREAMBLE + """
    log: Annotated[Seq[Pair], AtMost("high + 1")] = ()
    queue: Annotated[Seq[A], AtMost("many + 1")] = ()
    read: Map[A, Number] = everywhere(0)
"""

    def atom(self, a: list[str], b: list[str]) -> str:
        """A condition, of the log or the queue more often than not."""
        if self.random.random() < 0.4:
            return super().atom(a, b)
        p, x = self.a(a), self.a(b) if b else "B(0)"
        number = self.one("0", "1", "self.high", f"self.read[{p}]", "self.count")
        at = self.one("0", "self.count", f"self.read[{p}]")
        log, queue = ("for {} in range(len(self.log))", "for {} in range(len(self.queue))")
        return self.one(
            f"len(self.log) {self.one('<', '<=', '==', '>', '!=')} {number}",
            f"len(self.queue) {self.one('==', '>', '<=', '!=')} 0",
            f"Pair({p}, {x}) in self.log", f"{p} in self.queue",
            f"{self.one('any', 'all')}(e.a == {p} for e in self.log)",
            f"any(e == {p} for e in self.queue)",
            f"({at} < len(self.log) and self.log[{at}].a == {p})",
            f"(len(self.log) > 0 and self.log[-1].b <= {x})",
            f"(len(self.queue) > 0 and self.queue[0] == {p})",
            f"all(i >= j or self.log[i].b <= self.log[j].b {log.format('i')} {log.format('j')})",
            f"any(self.log[i].a == {p} {log.format('i')} if i < {number})",
            f"all(i == j or self.queue[i] != self.queue[j] {queue.format('i')} {queue.format('j')})",
        )  # fmt: skip

    def update(self) -> str:
        """A statement, about the log or the queue more often than not."""
        if self.random.random() < 0.4:
            return super().update()
        return self.one(
            "self.log += (Pair(p, x),)", "self.log += (Pair(p, x), Pair(q, x))", "self.log = ()",
            "self.queue += (p,)", "self.queue = self.queue[1:]", "self.read[p] += 1",
            "self.read[q] = len(self.log)",
            "self.marked |= {e.a for e in self.log}", "self.owner = self.queue[0]",
        )  # fmt: skip

    def invariant(self, number: int) -> list[str]:
        """An invariant, of the log more often than not."""
        if self.random.random() < 0.4:
            return super().invariant(number)
        body = self.one(
            "len(self.log) <= self.high", "all(self.read[s] <= len(self.log) for s in self.each(A))",
            "all(e.a in self.marked for e in self.log)",
            "all(i == j or self.queue[i] != self.queue[j] for i in range(len(self.queue)) "
            "for j in range(len(self.queue)))",
            "all(i >= j or self.log[i].b <= self.log[j].b for i in range(len(self.log)) "
            "for j in range(len(self.log)))",
            "all(s in self.marked or s not in self.queue for s in self.each(A))",
        )
        head = ["    @invariant", f"    def inv{number}(self) -> bool:", '        "A property."']
        return [*head, f"        return {body}"]


def source(seed: int) -> str:
    """The text of a seed."""
    return Maker(seed).text()


def source_with_logs(seed: int) -> str:
    """The text of a seed, with a log and a queue."""
    return LogMaker(seed).text()
