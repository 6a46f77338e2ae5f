"""Random well-typed specifications as Python text, and random states of them: what the readings of the
language are compared on.

`source(seed)` is a text that the front end accepts and CPython runs; together, the texts of a few seeds hold
every node kind of the intermediate form. Checks may fail in a random step (a value leaves its domain, a
division by zero): then every reading must say so. Bodies of `any` and `all` over sets hold no check, because
CPython iterates sets in an order of its own and stops early.

Imported by the tests of every reading: `from tests.lang.random_specs import program_of, random_states,
random_steps`.
"""

from __future__ import annotations

import linecache
import random
import re
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from antiphon.spec.lang import Program, Spec, State, Step, ir, program
from antiphon.spec.lang.assignment import frozen

PREAMBLE = """\
from __future__ import annotations
from enum import Enum
from typing import Annotated, Self
from antiphon.spec.lang import *

class P(Index, size="ps"):
    "Without order."

class Q(Index, size="qs", ordered=True):
    "In order."

class Color(Enum):
    red, green, blue = range(3)

Small = Annotated[int, Between(0, "top")]
Low = Annotated[int, Between(-2, 2)]
Row = Map[P, bool]

@record
class Ping:
    q: Q
    n: Small

@record
class Pong:
    color: Color
    maybe: Q | None

@record
class Stamp:
    q: Q
    row: Row

@record
class Happened:
    n: Small
    q: Q | None

class Random(Spec):
    ps: Const[int] = 2
    qs: Const[int] = 2
    top: Const[int] = 3
    loud: Const[bool] = {loud}
    fixed: Const[bool] = False

    b: bool = {b}
    n: Small = 0
    low: Low = {low}
    color: Color = Color.red
    q: Q | None = {q}
    who: Q = Q(0)
    pair: Ping | Pong = Pong(Color.green, None)
    packets: Set[Ping | Pong] = Set()
    smalls: Set[Small] = Set({smalls})
    qs_seen: Set[Q] = Set()
    ps_seen: Set[P] = Set()
    queue: Annotated[Seq[Small], AtMost(2)] = {queue}
    line: Annotated[Seq[Q], AtMost("qs")] = ()
    count: Map[P, Small] = everywhere(0)
    grid: Map[Q, Map[P, bool]] = everywhere(everywhere(False))
    known: Map[Q, Set[Q]] = everywhere(Set())
    slot: Map[Small, Q | None] = everywhere(None)
    last: Row | None = None
    stamps: Set[Stamp] = Set()
    rows: Annotated[Seq[Row], AtMost(2)] = ()
"""

COMPARE = "«== or != or < or <= or > or >=»"

BOOLEANS = (
    "(not «bool»)", "(«bool» and «bool»)", "(«bool» or «bool»)", f"(«int» {COMPARE} «int»)",
    "(«int» <= «int» < «int»)", f"(«Q» {COMPARE} «Q»)",
    "(«color» «is or is not or == or !=» «color»)", f"(«set:Q» {COMPARE} «set:Q»)",
    "(«Q» «in or not in» «set:Q»)",
    "(«int» «in or not in» self.smalls)", "(«small 0» in «seq:small»)",
    "(«packet» «in or not in» «set:packet»)", "(«Q?» «== or !=» «Q?»)",
    "(self.q is not None and self.q == self.who)", "(self.q is None or «bool»)",
    "(«bool» if «bool» else «bool»)", "self.grid[«Q»][«P»]",
    "((«ping 0» if «bool» else Pong(Color.red, self.q)) «== or !=» self.pair)", "isinstance(self.pair, Ping)",
    f"(isinstance(self.pair, Ping) and self.pair.n {COMPARE} «int»)", "(«seq:small» == self.queue)",
    "(self.queue[:len(«seq:small»)] == «seq:small»)",
    "(«row» «== or !=» «row»)", "(«counts» «== or !=» «counts»)", "«row»[«P»]", "(«row» in self.rows)",
    "(«row» == self.last)", "(self.last is not None and self.last[«P»])",
    "(«stamp» «in or not in» self.stamps)",
    "(self.color in «{Color.red, Color.blue} or (Color.green, Color.red)»)", "«quantified»", "«quantified»",
)  # fmt: skip
INTEGERS = (
    "(«int» «+ or - or *» «int»)", "(«int» «// or %» «2 or 3 or self.top»)", "(-(«small»))",
    "len(«self.smalls or self.packets or self.queue or self.qs_seen»)", "«Q».index",
    "self.count[«P»]", "«counts»[«P»]",
    "(«int» if «bool» else «int»)",
    "«min or max»(«int», «int»)", "(self.pair.n if isinstance(self.pair, Ping) else 0)",
    "(self.q.index if self.q is not None else -1)",
    "«ping».n", "«reduction»", "«small»",
)  # fmt: skip
PARTIAL_INTEGERS = (
    "(«int» «// or %» «loose»)", "«self.queue[0] or self.queue[self.n] or self.queue[-1]»",
    "present(self.slot[self.n]).index",
    "(1 if present(self.last)[«P»] else 0)",
    "«min or max»(«terms»)",
)  # fmt: skip
"""Expressions that may fail."""
QUEUES = (
    "self.queue[1:]", "(self.queue + (‹small 0›,))", "(‹small 0›, ‹small 1›)", "self.queue[:-1]",
    "self.queue[‹small 0›:2]", "self.queue[:‹small 0›]", "(self.queue[-1:] + self.queue[:1])",
    "tuple(reversed(self.queue))", "tuple(x0 for x0 in self.queue if x0 < ‹int 0›)",
)  # fmt: skip
ASSIGNMENTS = (
    "self.b = «bool»", "self.n = «stored»", "self.n «+= or -=» 1", "self.low = («int») % 3 - 1",
    "self.low = sum(x0 for x0 in range(len(self.queue)))",
    "self.color = «color»",
    "self.q = «‹Q?› or None»", "self.who = «Q»", "self.pair = «packet»",
    "self.packets «|= or -= or ^=» {«packet»}",
    "self.packets |= {Ping(«Q 0», x0) for x0 in self.each(Small) if x0 < «int 0»}",
    "self.smalls |= {«stored»}",
    "self.smalls = Set({«stored», «small 0»})", "self.smalls &= «set:small»",
    "self.qs_seen «|= or &= or -= or ^=» «set:Q»",
    "self.qs_seen = Set(« or self.each(Q) or {self.who}»)", "self.queue += («stored»,)",
    "self.queue = self.queue[1:]", "self.queue = «seq:small»", "self.queue += «seq:small»",
    "self.queue = self.queue[-1:] + self.queue[:1]",
    "self.line = tuple(«‹Q 0› for x0 in self.queue or x0 for x0 in self.each(Q) if ‹bool 0›»)",
    "self.queue = «() or (‹stored›,)»", "self.line = self.line[1:] + («Q»,)", "self.count[«P 0»] = «stored»",
    "self.count = everywhere(«small 0»)",
    "self.grid[«Q»] = «self.grid[‹Q 0›] or everywhere(‹bool 0›)»", "self.grid[«Q»][«P 0»] = «bool»",
    "self.known[«Q 0»] «|= or -=» {«Q»}",
    "self.slot[«stored»] = «Q?»", "self.slot[«loose 0»] = «Q?»",
    "self.grid[«Q»] «= ‹row› or |= {‹P›: ‹bool›}»", "self.grid |= {«Q»: «row 0», «Q 0»: «row»}",
    "self.count «= ‹counts› or = {x0: ‹stored› for x0 in self.each(P)} or |= {‹P›: ‹stored›, ‹P 0›: 0}»",
    "self.slot |= {«stored»: «Q?», «loose 0»: «Q?»}", "self.stamps «|= or -=» {«stamp»}",
    "self.last = «‹row› or None or everywhere(‹bool›)»", "self.rows «+= (‹row›,) or = (‹row›, ‹row 0›)»",
)  # fmt: skip
"""Expressions with holes: «sort» is an expression of a sort, as deep as the depth or the number beside it
allows; one alternative is taken after the holes ‹sort› in all of them are filled.
"""
HOLE, INNER = re.compile("«([^»]*)»"), re.compile("‹([^›]*)›")


class Maker:
    """Writes one random specification."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.scope: list[tuple[str, str]] = []
        self.total = False
        self.functions: list[tuple[str, tuple[str, ...], str]] = []
        self.due: list[str] = []
        self.names = 0
        self.makers: dict[str, Callable[[int], str]] = {
            "bool": self.boolean, "int": self.integer, "small": self.small, "color": self.color, "P": self.p,
            "Q": self.q, "Q?": self.maybe_q,
            "packet": self.packet, "ping": self.ping, "set:Q": self.set_q, "set:small": self.set_small,
            "set:packet": self.set_packet, "row": self.row, "counts": self.counts, "stamp": self.stamp,
            "seq:small": self.queue, "stored": self.stored, "loose": self.loose, "terms": self.terms,
            "reduction": self.reduction,
            "quantified": self.quantified,
        }  # fmt: skip

    def fill(self, text: str, depth: int) -> str:
        """The text with its holes filled, from left to right."""
        return HOLE.sub(
            lambda hole: self._choice(hole[1], depth) if " or " in hole[1] else self._part(hole[1], depth),
            text,
        )

    def _choice(self, alternatives: str, depth: int) -> str:
        return str(
            self.pick(
                *(
                    INNER.sub(lambda hole: self._part(hole[1], depth), one)
                    for one in alternatives.split(" or ")
                )
            )
        )

    def _part(self, hole: str, depth: int) -> str:
        sort, _, own = hole.partition(" ")
        return self.makers[sort](int(own) if own else depth)

    # Choices ---------------------------------------------------------------------------------------------

    def pick(self, *options: Any) -> Any:
        return self.rng.choice(options)

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def local(self, sort: str) -> str | None:
        found = [name for name, kind in self.scope if kind == sort]
        return self.rng.choice(found) if found else None

    # Expressions by sort ---------------------------------------------------------------------------------

    def expression(self, sort: str, depth: int) -> str:
        name = self.local(sort)
        return name if name is not None and self.chance(45) else self.makers[sort](depth)

    def boolean(self, depth: int) -> str:
        if depth <= 0:
            return str(self.pick("self.b", "self.loud", "self.fixed", "True", "False"))
        called = self.call("bool", depth - 1)
        return (
            called
            if called is not None and self.chance(15)
            else self.fill(self.rng.choice(BOOLEANS), depth - 1)
        )

    def quantified(self, depth: int) -> str:
        word = self.pick("any", "all")
        before, total = list(self.scope), self.total
        generators, over_set = self.generators(depth)
        self.total = self.total or over_set
        text = f"{word}({self.boolean(min(depth, 1))} {generators})"
        self.scope, self.total = before, total
        return text

    def generators(self, depth: int, *, ordered: bool = False) -> tuple[str, bool]:
        """One or two `for`, and whether one ranges over a set; the names stay in scope."""
        text, over_set = "", False
        for _ in range(self.pick(1, 1, 2)):
            name = self.fresh("x")
            sources = [
                ("Q", "self.each(Q)"),
                ("small", "self.each(Small)"),
                ("small", "self.queue"),
                ("Q", "self.line"),
                ("small", "reversed(self.queue)"),
                ("int", "range(len(self.queue))"),
                ("int", "range(1, self.n)"),
            ]
            if not ordered:
                sources += [
                    ("P", "self.each(P)"),
                    ("Q", "self.qs_seen"),
                    ("packet", "self.packets"),
                    ("small", "self.smalls"),
                ]
            sort, over = self.rng.choice(sources)
            if over in ("self.qs_seen", "self.packets", "self.smalls"):
                over_set = True
            text += f" for {name} in {over}"
            self.scope.append((name, sort))
            if self.chance(40):
                total, self.total = self.total, self.total or over_set
                text += f" if {self.boolean(min(depth, 1))}"
                self.total = total
        return text.strip(), over_set

    def integer(self, depth: int) -> str:
        if depth <= 0:
            return str(
                self.pick(
                    "self.n", "self.low", "self.top", "0", "1", "2", "-1", self.local("small") or "self.n"
                )
            )
        called = self.call("int", depth - 1)
        options = INTEGERS if self.total else INTEGERS + PARTIAL_INTEGERS
        return (
            called
            if called is not None and self.chance(15)
            else self.fill(self.rng.choice(options), depth - 1)
        )

    def terms(self, depth: int) -> str:
        before = list(self.scope)
        generators, _ = self.generators(depth)
        text = f"{self.integer(min(depth, 1))} {generators}"
        self.scope = before
        return text

    def reduction(self, depth: int) -> str:
        word, inside = self.pick("sum", "min", "max"), self.terms(depth)
        return f"sum({inside})" if word == "sum" else f"{word}(({inside}), default={self.integer(0)})"

    def small(self, depth: int) -> str:
        """An integer that is certainly a Small."""
        if depth <= 0:
            return self.local("small") or str(self.pick("self.n", "0"))
        return str(
            self.pick(
                "self.n",
                f"self.count[{self.p(0)}]",
                f"{self.ping(depth - 1)}.n",
                self.local("small") or "self.n",
            )
        )

    def stored(self, depth: int) -> str:
        """An integer for a place that checks it: mostly in range."""
        return (
            f"({self.integer(depth)}) % (self.top + 1)"
            if self.total or self.chance(75)
            else self.loose(depth)
        )

    def loose(self, depth: int) -> str:
        """An integer that may be anything, but is no literal that the front end could judge."""
        return self.fill("(«int» + «self.low or self.n or self.who.index»)", depth)

    def color(self, depth: int) -> str:
        if depth <= 0:
            return str(self.pick("self.color", "Color.red", "Color.green", "Color.blue"))
        return f"({self.color(depth - 1)} if {self.boolean(depth - 1)} else {self.color(0)})"

    def p(self, depth: int) -> str:
        del depth
        return self.local("P") or self.pick("P(0)", "P(1)")

    def q(self, depth: int) -> str:
        name = self.local("Q")
        if depth <= 0:
            return name or str(self.pick("self.who", "Q(0)", "Q(1)"))
        options = [
            "self.who",
            f"Q(({self.integer(depth - 1)}) % self.qs)",
            f"{self.ping(depth - 1)}.q",
            name or "self.who",
        ]
        if not self.total:
            options += ["present(self.q)", f"Q({self.loose(0)})", self.first(depth - 1, ""), "self.line[0]"]
        return str(self.rng.choice(options))

    def maybe_q(self, depth: int) -> str:
        if depth <= 0:
            return str(self.pick("self.q", "self.who"))
        options = [
            "self.q",
            self.q(depth - 1),
            f"({self.q(depth - 1)} if {self.boolean(depth - 1)} else None)",
            self.first(depth - 1, "None"),
        ]
        if not self.total:
            options.append(f"self.slot[{self.loose(0)}]")
        called = self.call("Q?", depth - 1)
        return called if called is not None and self.chance(20) else str(self.rng.choice(options))

    def first(self, depth: int, default: str) -> str:
        before = list(self.scope)
        name = self.fresh("x")
        over = self.pick("self.each(Q)", "self.line", f"self.each(Q) if {name} in self.qs_seen")
        over, _, test = over.partition(" if ")
        self.scope.append((name, "Q"))
        more = f" and {test}" if test else ""
        text = f"{name} for {name} in {over} if {self.boolean(min(depth, 1))}{more}"
        self.scope = before
        return f"next(({text}), {default})" if default else f"next({text})"

    def ping(self, depth: int) -> str:
        return (
            self.local("ping")
            or f"Ping({self.q(depth)}, {self.small(depth) if self.total else self.stored(min(depth, 1))})"
        )

    def total_map(self, sort: str, depth: int) -> str:
        """A map by the value of each key."""
        before, name = list(self.scope), self.fresh("x")
        self.scope.append((name, "P"))
        text = f"Map({{{name}: {self.makers[sort](depth)} for {name} in self.each(P)}})"
        self.scope = before
        return text

    def row(self, depth: int) -> str:
        if depth <= 0:
            return self.local("row") or f"self.grid[{self.q(0)}]"
        chosen = self.fill("(«row» if «bool» else «row 0»)", depth - 1)
        changed = self.fill("(«row» | {«P»: «bool»})", depth - 1)
        options = [changed, chosen, self.total_map("bool", min(depth - 1, 1)), f"{self.stamp(0)}.row"]
        called = self.call("row", depth - 1)
        return str(called if called is not None and self.chance(20) else self.rng.choice(options))

    def counts(self, depth: int) -> str:
        if depth <= 0:
            return "self.count"
        changed = self.fill("(self.count | {«P»: «loose»})", depth - 1)
        return str(self.pick(changed, self.total_map(self.pick("small", "loose"), depth - 1), "self.count"))

    def stamp(self, depth: int) -> str:
        name = self.local("stamp")
        return name if name is not None and self.chance(60) else self.fill("Stamp(«Q», «row»)", depth)

    def packet(self, depth: int) -> str:
        name = self.local("packet")
        pong = f"Pong({self.color(depth)}, maybe={self.maybe_q(min(depth, 1))})"
        return str(self.pick("self.pair", name or "self.pair", self.ping(depth), pong))

    def set_q(self, depth: int) -> str:
        if depth <= 0:
            return str(self.pick("self.qs_seen", f"self.known[{self.q(0)}]"))
        if self.chance(30):
            before = list(self.scope)
            generators, _ = self.generators(depth - 1)
            self.scope.append(("self.who", "Q"))
            text = f"{{{self.q(0)} {generators}}}"
            self.scope = before
            return text
        other = self.fill("«{‹Q›, ‹Q 0›} or ‹set:Q›»", depth - 1)
        return str(
            self.pick(
                f"({self.set_q(depth - 1)} {self.pick('|', '&', '-', '^')} {other})", f"Set({{{self.q(0)}}})"
            )
        )

    def set_small(self, depth: int) -> str:
        return (
            "self.smalls"
            if depth <= 0 or self.chance(30)
            else self.fill("(self.smalls «& or - or ^» «self.smalls or {‹small 1›, ‹small 0›}»)", 1)
        )

    def set_packet(self, depth: int) -> str:
        return (
            "self.packets"
            if depth <= 0 or self.chance(40)
            else self.fill("(self.packets «| or & or - or ^» {«packet», «ping 0»})", depth - 1)
        )

    def queue(self, depth: int) -> str:
        if depth <= 0 or self.chance(40):
            return "self.queue"
        return self.fill(f"«{' or '.join(QUEUES)}»", depth)

    def call(self, sort: str, depth: int) -> str | None:
        known = [item for item in self.functions if item[2] == sort]
        if not known or self.total:
            return None
        name, parameters, _ = self.rng.choice(known)
        given = [
            self.stored(depth) if kind == "small" else self.expression(kind, depth) for kind in parameters
        ]
        return f"self.{name}({', '.join(given)})"

    # Statements ------------------------------------------------------------------------------------------

    def update(self, depth: int, pad: str, *, events: bool = True) -> list[str]:
        """An assignment, a branch, a loop, an event, a call."""
        kind = self.rng.randrange(100)
        if kind < 60 or depth <= 0:
            return [pad + self.fill(self.rng.choice(ASSIGNMENTS), depth)]
        if kind < 75:
            return self.branch(depth, pad, events)
        if kind < 90:
            return self.loop(depth, pad, events)
        if not events:
            return [pad + self.fill(self.rng.choice(ASSIGNMENTS), depth)]
        return [
            pad
            + self.fill("emit(Happened(«small 0», «Q? 1»))" if kind < 96 else "self.do(«Q», «stored»)", depth)
        ]

    def updates(self, depth: int, pad: str, *, events: bool = True) -> list[str]:
        return [line for _ in range(self.pick(1, 2, 3)) for line in self.update(depth, pad, events=events)]

    def branch(self, depth: int, pad: str, events: bool) -> list[str]:
        deeper = pad + "    "
        before = list(self.scope)
        if self.chance(30):
            name = self.fresh("v")
            lines = [
                f"{pad}{name} = {self.pick('self.q', self.first(1, 'None'))}",
                f"{pad}if {name} is not None:",
            ]
            self.scope.append((name, "Q"))
        elif self.chance(30):
            name = self.fresh("v")
            lines = [f"{pad}{name} = self.pair", f"{pad}if isinstance({name}, Ping):"]
            self.scope.append((name, "ping"))
        else:
            lines = [f"{pad}if {self.boolean(depth - 1)}:"]
        lines += self.updates(depth - 1, deeper, events=events)
        self.scope = list(before)
        if self.chance(50):
            lines += [f"{pad}else:", *self.updates(depth - 1, deeper, events=events)]
        self.scope = before
        return lines

    def loop(self, depth: int, pad: str, events: bool) -> list[str]:
        before = list(self.scope)
        name = self.fresh("x")
        if self.chance(50):
            sort, over = self.pick(
                ("Q", "self.each(Q)"),
                ("small", "self.queue"),
                ("Q", "self.line"),
                ("small", "self.each(Small)"),
            )
            self.scope.append((name, sort))
            lines = [f"{pad}for {name} in {over}:", *self.updates(depth - 1, pad + "    ", events=events)]
        else:
            deeper = pad + "    "
            over, body = self.pick(
                ("self.each(P)", f"self.count[{name}] = {self.small(0)}"),
                ("self.each(P)", f"self.count[{name}] = (self.count[{name}] + 1) % (self.top + 1)"),
                (
                    "self.each(P)",
                    (
                        f"if {name} in self.ps_seen:\n{deeper}    self.grid[self.who][{name}] = not "
                        f"self.grid[self.who][{name}]"
                    ),
                ),
                ("self.qs_seen", f"self.known[{name}] |= {{{name}}}"),
                ("self.smalls", f"self.slot[{name}] = {self.maybe_q(0)}"),
                ("self.packets", "self.b = True"),
                ("self.packets", f"if isinstance({name}, Pong):\n{deeper}    self.qs_seen |= {{self.who}}"),
            )
            lines = [f"{pad}for {name} in {over}:", deeper + body]
        self.scope = before
        return lines

    # Methods ---------------------------------------------------------------------------------------------

    def function(self, sort: str, name: str, parameters: tuple[tuple[str, str], ...]) -> list[str]:
        types = {"small": "Small", "Q?": "Q | None", "row": "Row"}
        given = "".join(f", {parameter}: {types.get(kind, kind)}" for parameter, kind in parameters)
        lines = [f"    def {name}(self{given}) -> {types.get(sort, sort)}:", '        """A value."""']
        self.scope = list(parameters)
        form = self.rng.randrange(4)
        if form == 0:
            lines += [f"        if {self.boolean(1)}:", f"            return {self.expression(sort, 1)}"]
        elif form == 1:
            bound = self.fresh("v")
            lines += [
                f"        {bound} = {self.expression('small', 1)}",
                f"        {self.fresh('unused')} = {self.integer(1)}",
            ]
            self.scope.append((bound, "small"))
        elif form == 2:
            bound = self.fresh("x")
            self.scope.append((bound, "small"))
            lines += [
                f"        for {bound} in self.{self.pick('queue', 'each(Small)')}:",
                f"            if {self.boolean(1)}:",
            ]
            lines += [f"                return {self.expression(sort, 1)}"]
            self.scope.pop()
        else:
            bound = self.fresh("v")
            lines += [
                f"        if {self.boolean(1)}:",
                f"            {bound} = {self.small(1)}",
                "        else:",
            ]
            lines += [f"            {bound} = {self.small(0)}"]
            self.scope.append((bound, "small"))
        lines.append(f"        return {self.expression(sort, 2)}")
        self.scope = []
        self.functions.append((name, tuple(kind for _, kind in parameters), sort))
        return [*lines, ""]

    def action(self, number: int) -> list[str]:
        mark = self.pick("@action", '@action(fairness="weak")', "@environment")
        if mark != "@environment":
            self.due.append(f"act{number}")
        given = self.pick(
            (), (("q", "Q", "Q"),), (("p", "P", "P"),), (("n", "small", "Small"), ("p", "P", "P")),
            (("m", "packet", 'Annotated[Ping | Pong, In("packets")]'),),
            (("ping", "ping", 'Annotated[Ping, In("packets")]'),), (("row", "row", "Row"),),
            (("stamp", "stamp", 'Annotated[Stamp, In("stamps")]'),),
        )  # fmt: skip
        text = "".join(f", {name}: {kind}" for name, _, kind in given)
        self.scope = [(name, sort) for name, sort, _ in given]
        lines = [f"    {mark}", f"    def act{number}(self{text}) -> None:"]
        if self.chance(60):
            bound = self.fresh("v")
            sort = self.pick("small", "Q", "set:Q", "int", "row")
            lines.append(f"        {bound} = {self.expression(sort, 2)}")
            self.scope.append((bound, sort))
        if self.chance(50):
            lines.append(f"        require({self.boolean(1)} or budget({self.boolean(2)}))")
        if self.chance(20):
            lines += ["        self.be_owner(self.who)"]
        if self.chance(15):
            lines += [f"        if {self.boolean(1)}:", *self.updates(1, " " * 12), "            return"]
        lines += self.updates(2, " " * 8)
        self.scope = []
        return [*lines, ""]

    def temporal(self, *, assumed: bool = False) -> str:
        """A formula of an implication; one that is assumed may be about the first state."""
        goal, premise = (self.pick('"ready"', '"is_owner"', '"is_low"') for _ in range(2))
        forms = ["always", "eventually", "always_eventually", "eventually_always"]
        made = [f"{form}({goal})" for form in forms]
        return self.pick(*made, f"leads_to({premise}, {goal})", *([goal] if assumed else []))

    def promise(self) -> str:
        """Text of a fairness promise for some actions together, at the parts where a predicate is true."""
        due = [f'"{name}"' for name in self.due]
        where = self.pick("", ', where="is_low"')
        return ", ".join(due[:2]) + where + self.pick("", ', fairness="strong"')

    def text(self) -> str:
        """The whole specification."""
        lines = [
            PREAMBLE.format(
                loud=self.pick("True", "False"), b=self.pick("True", "False"), low=self.pick("-1", "2"),
                q=self.pick("None", "Q(0)"),
                smalls=self.pick("{0}", "()", "{0, 1}"), queue=self.pick("()", "(0,)", "(0, 1)"),
            )
        ]  # fmt: skip
        for sort in ("int", "bool", "Q?", "row", "bool"):
            given = ((("n", "small"),), (("q", "Q"), ("n", "small")), (("p", "P"),), (("row", "row"),))
            lines += self.function(sort, self.fresh("f"), self.pick(*given))
        lines += ["    @guard", "    def ready(self, q: Q) -> bool:", '        """Q may act."""']
        lines += [f"        return {self.pick('q not in self.known[q]', 'self.loud or q != self.who')}", ""]
        test = self.pick("q == self.who", "q.index <= self.n", "not self.b or self.loud")
        lines += ["    def be_owner(self, q: Q) -> None:", f"        require({test})", ""]
        self.scope = [("q", "Q"), ("n", "small")]
        lines += [
            "    def do(self, q: Q, n: Small) -> None:",
            f"        if {self.boolean(1)}:",
            "            return",
        ]
        lines += [*self.updates(1, " " * 8, events=False), ""]
        lines += ["    @on(Happened)", "    def judge(self, event: Happened) -> None:"]
        self.scope = [("event.n", "small")]
        lines += [f'        expect({self.boolean(1)}, "Order", Happened({self.small(0)}, {self.maybe_q(0)}))']
        lines += [f'        expect({self.boolean(1)}, "Calm")']
        lines += [*self.updates(1, " " * 8, events=False), ""]
        self.scope = [("q", "Q")]
        lines += ["    @initial", "    def start(self, q: Q, n: Small) -> None:", "        require(n <= 1)"]
        lines += ["        self.who = q", "        self.n = n"]
        lines += [*self.updates(1, " " * 8, events=False), ""]
        for number in range(4):
            lines += self.action(number)
        for mark in ("invariant", "witness", "obligation"):
            lines += [
                f"    @{mark}",
                f"    def {mark}_{self.pick('a', 'b')}(self) -> bool:",
                f"        return {self.boolean(3)}",
                "",
            ]
        lines += [
            '    again = always_eventually("ready")',
            '    once = eventually("ready")',
            '    answered = leads_to("ready", "ready")',
            "",
            "    def is_owner(self, q: Q) -> bool:",
            '        """Whose turn it is."""',
            "        return q == self.who",
            "",
            "    def is_low(self) -> bool:",
            '        """Of the number."""',
            "        return self.n <= 1",
            "",
            "    @step_invariant",
            "    def moves(self, before: Self) -> bool:",
            '        """Of a step."""',
            f"        return before.n <= self.n or before.is_low() or ({self.boolean(2)})",
            "",
            "    @step_invariant",
            "    def stays(self, before: Self) -> bool:",
            '        """Of another variable."""',
            f"        if before.b and ({self.boolean(1)}):",
            "            return True",
            f"        return ({self.boolean(2)}) == ({earlier(self.boolean(2))})",
            "",
            '    settled = eventually_always("is_owner")',
            *([f"    progress = fair({self.promise()})"] if self.due else []),
            f"    where = implies({self.temporal(assumed=True)}, {self.temporal()})",
            f'    both = implies("is_low", implies({self.temporal(assumed=True)}, {self.temporal()}))',
        ]
        return "\n".join(lines)


def earlier(text: str) -> str:
    """An expression about the state before a step."""
    return re.sub(r"\bself\.(?!each\b)", "before.", text)


# What tests take -------------------------------------------------------------------------------------


def source(seed: int) -> str:
    """The text of the random specification number `seed`."""
    return Maker(seed).text()


def load(text: str, name: str = "Random", file: str = "<random>") -> type[Spec]:
    """The class `name` of a text, which tools can read back like a file."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = ModuleType(f"random_spec_{file.strip('<>').replace(' ', '_')}")
    sys.modules[module.__name__] = module
    exec(compile(text, file, "exec"), vars(module))
    made = vars(module)[name]
    assert isinstance(made, type)
    assert issubclass(made, Spec)
    return made


def program_of(seed: int, **constants: int | bool | str) -> Program:
    """The random specification number `seed`, bound."""
    return program(load(source(seed), file=f"<random {seed}>"), **constants)


def random_states(bound: Program, rng: random.Random, count: int) -> Iterator[State]:
    """`count` states, each variable anywhere in its domain."""
    for _ in range(count):
        yield tuple(
            frozen(domain.value(rng.randrange(domain.cardinality)), domain)
            for domain in bound.domains.values()
        )


def random_steps(bound: Program, state: State, rng: random.Random, count: int) -> Iterator[Step]:
    """`count` steps with arguments from their domains, and from the state where a parameter ranges over a set
    of it; few are enabled.
    """
    methods = bound.declaration.marked("action", "environment")
    for _ in range(count):
        method = rng.choice(methods)
        arguments = []
        for parameter in method.parameters:
            domain = bound.domain(parameter.type)
            held = (
                [item for item in state[bound.variables.index(parameter.within)] if domain.contains(item)]
                if parameter.within
                else []
            )
            held.sort(key=domain.rank)
            arguments.append(
                rng.choice(held)
                if held and rng.random() < 0.9
                else domain.value(rng.randrange(domain.cardinality))
            )
        yield Step(method.name, tuple(arguments))


ABSTRACT = (ir.Node, ir.Expression, ir.Statement, ir.Definition)
"""Kinds of nodes that no node has."""
