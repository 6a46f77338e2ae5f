"""Random well-typed specifications as Python text, and random states of them: what the readings of the language are compared on.

`source(seed)` is a text that the front end accepts and CPython runs; together, the texts of a few seeds hold every node kind of the
intermediate form (`assert_covered`). Checks may fail in a random step (a value leaves its domain, a division by zero): then every reading
must say so. Bodies of `any` and `all` over sets hold no check, because CPython iterates sets in an order of its own and stops early.

Imported by the tests of every reading: `from tests.lang.random_specs import program_of, random_states, random_steps`.
"""

from __future__ import annotations

import dataclasses
import linecache
import random
import sys
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from antiphon.spec.lang import Program, Spec, State, Step, ir, program

PREAMBLE = """\
from __future__ import annotations
from enum import Enum
from typing import Annotated
from antiphon.spec.lang import *

class P(Index, size="ps"):
    "Without order."

class Q(Index, size="qs", ordered=True):
    "In order."

class Color(Enum):
    red, green, blue = range(3)

Small = Annotated[int, Between(0, "top")]
Low = Annotated[int, Between(-2, 2)]

@record
class Ping:
    q: Q
    n: Small

@record
class Pong:
    color: Color
    maybe: Q | None

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
"""

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class Maker:
    """Writes one random specification."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.scope: list[tuple[str, str]] = []
        self.total = False
        self.functions: list[tuple[str, tuple[str, ...], str]] = []
        self.names = 0

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
        if name is not None and self.chance(45):
            return name
        makers = {
            "bool": self.boolean, "int": self.integer, "small": self.small, "color": self.color, "P": self.p, "Q": self.q, "Q?": self.maybe_q,
            "packet": self.packet, "ping": self.ping, "set:Q": self.set_q, "set:small": self.set_small, "set:packet": self.set_packet,
            "seq:small": self.queue,
        }  # fmt: skip
        return str(makers[sort](depth))

    def boolean(self, depth: int) -> str:
        if depth <= 0:
            return self.pick("self.b", "self.loud", "self.fixed", "True", "False")
        inner = depth - 1
        options = [
            lambda: f"(not {self.boolean(inner)})",
            lambda: f"({self.boolean(inner)} and {self.boolean(inner)})",
            lambda: f"({self.boolean(inner)} or {self.boolean(inner)})",
            lambda: f"({self.integer(inner)} {self.pick(*COMPARISONS)} {self.integer(inner)})",
            lambda: f"({self.integer(inner)} <= {self.integer(inner)} < {self.integer(inner)})",
            lambda: f"({self.q(inner)} {self.pick(*COMPARISONS)} {self.q(inner)})",
            lambda: f"({self.color(inner)} {self.pick('is', 'is not', '==', '!=')} {self.color(inner)})",
            lambda: f"({self.set_q(inner)} {self.pick(*COMPARISONS)} {self.set_q(inner)})",
            lambda: f"({self.q(inner)} {self.pick('in', 'not in')} {self.set_q(inner)})",
            lambda: f"({self.integer(inner)} {self.pick('in', 'not in')} self.smalls)",
            lambda: f"({self.small(0)} in {self.queue(inner)})",
            lambda: f"({self.packet(inner)} {self.pick('in', 'not in')} {self.set_packet(inner)})",
            lambda: f"({self.maybe_q(inner)} {self.pick('==', '!=')} {self.maybe_q(inner)})",
            lambda: "(self.q is not None and self.q == self.who)",
            lambda: f"(self.q is None or {self.boolean(inner)})",
            lambda: f"({self.boolean(inner)} if {self.boolean(inner)} else {self.boolean(inner)})",
            lambda: f"self.grid[{self.q(inner)}][{self.p(inner)}]",
            lambda: f"(({self.ping(0)} if {self.boolean(inner)} else Pong(Color.red, self.q)) {self.pick('==', '!=')} self.pair)",
            lambda: "isinstance(self.pair, Ping)",
            lambda: f"(isinstance(self.pair, Ping) and self.pair.n {self.pick(*COMPARISONS)} {self.integer(inner)})",
            lambda: f"({self.queue(inner)} == self.queue)",
            lambda: f"(self.color in {self.pick('{Color.red, Color.blue}', '(Color.green, Color.red)')})",
            lambda: self.quantify(inner),
            lambda: self.quantify(inner),
        ]
        called = self.call("bool", inner)
        if called is not None and self.chance(15):
            return called
        return str(self.rng.choice(options)())

    def quantify(self, depth: int) -> str:
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
            sources = [("Q", "self.each(Q)"), ("small", "self.each(Small)"), ("small", "self.queue"), ("Q", "self.line")]
            if not ordered:
                sources += [("P", "self.each(P)"), ("Q", "self.qs_seen"), ("packet", "self.packets"), ("small", "self.smalls")]
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
            return self.pick("self.n", "self.low", "self.top", "0", "1", "2", "-1", self.local("small") or "self.n")
        inner = depth - 1
        options = [
            lambda: f"({self.integer(inner)} {self.pick('+', '-', '*')} {self.integer(inner)})",
            lambda: f"({self.integer(inner)} {self.pick('//', '%')} {self.pick('2', '3', 'self.top')})",
            lambda: f"(-({self.small(inner)}))",
            lambda: f"len({self.pick('self.smalls', 'self.packets', 'self.queue', 'self.qs_seen')})",
            lambda: f"{self.q(inner)}.index",
            lambda: f"self.count[{self.p(inner)}]",
            lambda: f"({self.integer(inner)} if {self.boolean(inner)} else {self.integer(inner)})",
            lambda: f"{self.pick('min', 'max')}({self.integer(inner)}, {self.integer(inner)})",
            lambda: "(self.pair.n if isinstance(self.pair, Ping) else 0)",
            lambda: "(self.q.index if self.q is not None else -1)",
            lambda: f"{self.ping(inner)}.n",
            lambda: self.reduce(inner, self.pick("sum", "min", "max")),
            lambda: self.small(inner),
        ]
        if not self.total:
            options += [
                lambda: f"({self.integer(inner)} {self.pick('//', '%')} {self.loose(inner)})",
                lambda: self.pick("self.queue[0]", "self.queue[self.n]"),
                lambda: "present(self.slot[self.n]).index",
                lambda: f"{self.pick('min', 'max')}({self.reduced(inner)})",
            ]
        called = self.call("int", inner)
        if called is not None and self.chance(15):
            return called
        return str(self.rng.choice(options)())

    def reduced(self, depth: int) -> str:
        before = list(self.scope)
        generators, _ = self.generators(depth)
        text = f"{self.integer(min(depth, 1))} {generators}"
        self.scope = before
        return text

    def reduce(self, depth: int, word: str) -> str:
        inside = self.reduced(depth)
        return f"sum({inside})" if word == "sum" else f"{word}(({inside}), default={self.integer(0)})"

    def small(self, depth: int) -> str:
        """An integer that is certainly a Small."""
        if depth <= 0:
            return self.local("small") or self.pick("self.n", "0")
        return str(self.pick("self.n", f"self.count[{self.p(0)}]", f"{self.ping(depth - 1)}.n", self.local("small") or "self.n"))

    def stored(self, depth: int) -> str:
        """An integer for a place that checks it: mostly in range."""
        return f"({self.integer(depth)}) % (self.top + 1)" if self.total or self.chance(75) else self.loose(depth)

    def loose(self, depth: int) -> str:
        """An integer that may be anything, but is no literal that the front end could judge."""
        return f"({self.integer(depth)} + {self.pick('self.low', 'self.n', 'self.who.index')})"

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
        options = ["self.who", f"Q(({self.integer(depth - 1)}) % self.qs)", f"{self.ping(depth - 1)}.q", name or "self.who"]
        if not self.total:
            options += ["present(self.q)", f"Q({self.loose(0)})", self.first(depth - 1, ""), "self.line[0]"]
        return str(self.rng.choice(options))

    def maybe_q(self, depth: int) -> str:
        if depth <= 0:
            return str(self.pick("self.q", "self.who"))
        options = ["self.q", self.q(depth - 1), f"({self.q(depth - 1)} if {self.boolean(depth - 1)} else None)", self.first(depth - 1, "None")]
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
        return self.local("ping") or f"Ping({self.q(depth)}, {self.small(depth) if self.total else self.stored(min(depth, 1))})"

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
        other = self.pick(f"{{{self.q(depth - 1)}, {self.q(0)}}}", self.set_q(depth - 1))
        return str(self.pick(f"({self.set_q(depth - 1)} {self.pick('|', '&', '-', '^')} {other})", f"Set({{{self.q(0)}}})"))

    def set_small(self, depth: int) -> str:
        if depth <= 0 or self.chance(30):
            return "self.smalls"
        more = self.pick("&", "-", "^"), self.pick("self.smalls", f"{{{self.small(1)}, {self.small(0)}}}")
        return f"(self.smalls {more[0]} {more[1]})"

    def set_packet(self, depth: int) -> str:
        if depth <= 0 or self.chance(40):
            return "self.packets"
        return f"(self.packets {self.pick('|', '&', '-', '^')} {{{self.packet(depth - 1)}, {self.ping(0)}}})"

    def queue(self, depth: int) -> str:
        if depth <= 0 or self.chance(40):
            return "self.queue"
        return str(self.pick("self.queue[1:]", f"(self.queue + ({self.small(0)},))", f"({self.small(0)}, {self.small(1)})"))

    def call(self, sort: str, depth: int) -> str | None:
        known = [item for item in self.functions if item[2] == sort]
        if not known or self.total:
            return None
        name, parameters, _ = self.rng.choice(known)
        given = [self.stored(depth) if kind == "small" else self.expression(kind, depth) for kind in parameters]
        return f"self.{name}({', '.join(given)})"

    # Statements ------------------------------------------------------------------------------------------

    def update(self, depth: int, pad: str, *, events: bool = True) -> list[str]:
        """An assignment, a branch, a loop, an event, a call."""
        simple = [
            lambda: f"self.b = {self.boolean(depth)}",
            lambda: f"self.n = {self.stored(depth)}",
            lambda: f"self.n {self.pick('+=', '-=')} 1",
            lambda: f"self.low = ({self.integer(depth)}) % 3 - 1",
            lambda: f"self.color = {self.color(depth)}",
            lambda: f"self.q = {self.pick(self.maybe_q(depth), 'None')}",
            lambda: f"self.who = {self.q(depth)}",
            lambda: f"self.pair = {self.packet(depth)}",
            lambda: f"self.packets {self.pick('|=', '-=', '^=')} {{{self.packet(depth)}}}",
            lambda: f"self.packets |= {{Ping({self.q(0)}, x0) for x0 in self.each(Small) if x0 < {self.integer(0)}}}",
            lambda: f"self.smalls |= {{{self.stored(depth)}}}",
            lambda: f"self.smalls = Set({{{self.stored(depth)}, {self.small(0)}}})",
            lambda: f"self.smalls &= {self.set_small(depth)}",
            lambda: f"self.qs_seen {self.pick('|=', '&=', '-=', '^=')} {self.set_q(depth)}",
            lambda: f"self.qs_seen = Set({self.pick('', 'self.each(Q)', '{self.who}')})",
            lambda: f"self.queue += ({self.stored(depth)},)",
            lambda: "self.queue = self.queue[1:]",
            lambda: f"self.queue = {self.pick('()', f'({self.stored(depth)},)')}",
            lambda: f"self.line = self.line[1:] + ({self.q(depth)},)",
            lambda: f"self.count[{self.p(0)}] = {self.stored(depth)}",
            lambda: f"self.count = everywhere({self.small(0)})",
            lambda: f"self.grid[{self.q(depth)}] = {self.pick(f'self.grid[{self.q(0)}]', f'everywhere({self.boolean(0)})')}",
            lambda: f"self.grid[{self.q(depth)}][{self.p(0)}] = {self.boolean(depth)}",
            lambda: f"self.known[{self.q(0)}] {self.pick('|=', '-=')} {{{self.q(depth)}}}",
            lambda: f"self.slot[{self.stored(depth)}] = {self.maybe_q(depth)}",
            lambda: f"self.slot[{self.loose(0)}] = {self.maybe_q(depth)}",
        ]
        kind = self.rng.randrange(100)
        if kind < 60 or depth <= 0:
            return [pad + str(self.rng.choice(simple)())]
        if kind < 75:
            return self.branch(depth, pad, events)
        if kind < 90:
            return self.loop(depth, pad, events)
        if events and kind < 96:
            return [f"{pad}emit(Happened({self.small(0)}, {self.maybe_q(1)}))"]
        return [f"{pad}self.do({self.q(depth)}, {self.stored(depth)})"] if events else [pad + str(self.rng.choice(simple)())]

    def updates(self, depth: int, pad: str, *, events: bool = True) -> list[str]:
        return [line for _ in range(self.pick(1, 2, 3)) for line in self.update(depth, pad, events=events)]

    def branch(self, depth: int, pad: str, events: bool) -> list[str]:
        deeper = pad + "    "
        before = list(self.scope)
        if self.chance(30):
            name = self.fresh("v")
            lines = [f"{pad}{name} = {self.pick('self.q', self.first(1, 'None'))}", f"{pad}if {name} is not None:"]
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
            sort, over = self.pick(("Q", "self.each(Q)"), ("small", "self.queue"), ("Q", "self.line"), ("small", "self.each(Small)"))
            self.scope.append((name, sort))
            lines = [f"{pad}for {name} in {over}:", *self.updates(depth - 1, pad + "    ", events=events)]
        else:
            deeper = pad + "    "
            over, body = self.pick(
                ("self.each(P)", f"self.count[{name}] = {self.small(0)}"),
                ("self.each(P)", f"self.count[{name}] = (self.count[{name}] + 1) % (self.top + 1)"),
                ("self.each(P)", f"if {name} in self.ps_seen:\n{deeper}    self.grid[self.who][{name}] = not self.grid[self.who][{name}]"),
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
        types = {"small": "Small", "Q": "Q", "P": "P", "bool": "bool", "int": "int", "Q?": "Q | None"}
        given = "".join(f", {parameter}: {types[kind]}" for parameter, kind in parameters)
        lines = [f"    def {name}(self{given}) -> {types[sort]}:", '        """A value."""']
        self.scope = list(parameters)
        form = self.rng.randrange(4)
        if form == 0:
            lines += [f"        if {self.boolean(1)}:", f"            return {self.expression(sort, 1)}"]
        elif form == 1:
            bound = self.fresh("v")
            lines += [f"        {bound} = {self.expression('small', 1)}", f"        {self.fresh('unused')} = {self.integer(1)}"]
            self.scope.append((bound, "small"))
        elif form == 2:
            bound = self.fresh("x")
            self.scope.append((bound, "small"))
            lines += [f"        for {bound} in self.{self.pick('queue', 'each(Small)')}:", f"            if {self.boolean(1)}:"]
            lines += [f"                return {self.expression(sort, 1)}"]
            self.scope.pop()
        else:
            bound = self.fresh("v")
            lines += [f"        if {self.boolean(1)}:", f"            {bound} = {self.small(1)}", "        else:"]
            lines += [f"            {bound} = {self.small(0)}"]
            self.scope.append((bound, "small"))
        lines.append(f"        return {self.expression(sort, 2)}")
        self.scope = []
        self.functions.append((name, tuple(kind for _, kind in parameters), sort))
        return [*lines, ""]

    def action(self, number: int) -> list[str]:
        mark = self.pick("@action", '@action(fairness="weak")', "@environment")
        given = self.pick(
            (), (("q", "Q", "Q"),), (("p", "P", "P"),), (("n", "small", "Small"), ("p", "P", "P")),
            (("m", "packet", 'Annotated[Ping | Pong, In("packets")]'),), (("ping", "ping", 'Annotated[Ping, In("packets")]'),),
        )  # fmt: skip
        text = "".join(f", {name}: {kind}" for name, _, kind in given)
        self.scope = [(name, sort) for name, sort, _ in given]
        lines = [f"    {mark}", f"    def act{number}(self{text}) -> None:"]
        if self.chance(60):
            bound = self.fresh("v")
            sort = self.pick("small", "Q", "set:Q", "int")
            lines.append(f"        {bound} = {self.expression(sort, 2)}")
            self.scope.append((bound, sort))
        if self.chance(50):
            lines.append(f"        require({self.boolean(1)} or budget({self.boolean(2)}))")
        if self.chance(20):
            lines += ["        self.guard(self.who)"]
        if self.chance(15):
            lines += [f"        if {self.boolean(1)}:", *self.updates(1, " " * 12), "            return"]
        lines += self.updates(2, " " * 8)
        self.scope = []
        return [*lines, ""]

    def text(self) -> str:
        """The whole specification."""
        lines = [
            PREAMBLE.format(
                loud=self.pick("True", "False"), b=self.pick("True", "False"), low=self.pick("-1", "2"), q=self.pick("None", "Q(0)"),
                smalls=self.pick("{0}", "()", "{0, 1}"), queue=self.pick("()", "(0,)", "(0, 1)"),
            )
        ]  # fmt: skip
        for sort in ("int", "bool", "Q?", "bool"):
            lines += self.function(sort, self.fresh("f"), self.pick((("n", "small"),), (("q", "Q"), ("n", "small")), (("p", "P"),)))
        lines += ["    @gate", "    def ready(self, q: Q) -> bool:", '        """Q may act."""']
        lines += [f"        return {self.pick('q not in self.known[q]', 'self.loud or q != self.who')}", ""]
        test = self.pick("q == self.who", "q.index <= self.n", "not self.b or self.loud")
        lines += ["    def guard(self, q: Q) -> None:", f"        require({test})", ""]
        self.scope = [("q", "Q"), ("n", "small")]
        lines += ["    def do(self, q: Q, n: Small) -> None:", f"        if {self.boolean(1)}:", "            return"]
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
            lines += [f"    @{mark}", f"    def {mark}_{self.pick('a', 'b')}(self) -> bool:", f"        return {self.boolean(3)}", ""]
        lines += ['    again = always_eventually("ready")', '    once = eventually("ready")', '    answered = leads_to("ready", "ready")', ""]
        return "\n".join(lines)


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
        yield tuple(domain.value(rng.randrange(domain.cardinality)) for domain in bound.domains.values())


def random_steps(bound: Program, state: State, rng: random.Random, count: int) -> Iterator[Step]:
    """`count` steps with arguments from their domains, and from the state where a parameter ranges over a set of it; few are enabled."""
    methods = bound.declaration.marked("action", "environment")
    for _ in range(count):
        method = rng.choice(methods)
        arguments = []
        for parameter in method.parameters:
            domain = bound.domain(parameter.type)
            held = [item for item in state[bound.variables.index(parameter.within)] if domain.contains(item)] if parameter.within else []
            held.sort(key=domain.rank)
            arguments.append(rng.choice(held) if held and rng.random() < 0.9 else domain.value(rng.randrange(domain.cardinality)))
        yield Step(method.name, tuple(arguments))


def nodes(part: object) -> Iterator[object]:
    """Every node within a module or node of the intermediate form, itself included."""
    pending = [part]
    while pending:
        one = pending.pop()
        if isinstance(one, ir.Node | ir.Module):
            yield one
            pending.extend(getattr(one, item.name) for item in dataclasses.fields(one))
        elif isinstance(one, tuple):
            pending.extend(one)


ABSTRACT = (ir.Node, ir.Expression, ir.Statement, ir.Definition)


def all_kinds() -> set[str]:
    """Every node kind of the intermediate form, with one entry for each operator of those that have some."""
    kinds = {
        item.__name__
        for item in vars(ir).values()
        if isinstance(item, type) and issubclass(item, ir.Node) and item not in ABSTRACT
    }
    for family in (ir.Comparison, ir.Operation, ir.SetOperation, ir.Quantifier, ir.Reduction, ir.PredicateKind, ir.PromiseKind):
        kinds |= {f"{family.__name__}.{member.name}" for member in family}
    return kinds


def covered(modules: Iterable[ir.Module]) -> set[str]:
    """The node kinds that occur in these modules."""
    found: set[str] = set()
    for module in modules:
        for node in nodes(module):
            found.add(type(node).__name__)
            for name in ("operator", "quantifier", "reduction", "kind"):
                value = getattr(node, name, None)
                if value is not None:
                    found.add(f"{type(value).__name__}.{value.name}")
    return found


def assert_covered(modules: Iterable[ir.Module]) -> None:
    """Together these modules hold every node kind and operator."""
    missing = all_kinds() - covered(modules)
    assert not missing, f"no random specification here holds {', '.join(sorted(missing))}"
