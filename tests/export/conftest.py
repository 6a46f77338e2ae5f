"""A Promela model run without SPIN: just enough of the language for what is exported, read from the text
alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

TOKENS = re.compile(r"\s*(->|&&|\|\||==|!=|<=|>=|<<|>>|[A-Za-z_]\w*|\d+|[-+*/%&|^~!<>():])")
BINARY = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
"""The operators of C, from weak to strong."""

State = dict[str, int]
Value = Callable[[State], int]


def divided(left: int, right: int) -> int:
    """C's quotient: towards zero."""
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


WORK: dict[str, Callable[[int, int], int]] = {
    "|": lambda a, b: a | b, "^": lambda a, b: a ^ b, "&": lambda a, b: a & b, "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b, ">": lambda a, b: a > b, "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b, "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": divided,
    "%": lambda a, b: a - b * divided(a, b),
}  # fmt: skip


class Reader:
    """Reads one expression of Promela."""

    def __init__(self, text: str, constants: dict[str, int]) -> None:
        self.tokens = TOKENS.findall(text)
        assert "".join(self.tokens) == re.sub(r"\s", "", text), text
        self.constants, self.at = constants, 0

    def whole(self) -> Value:
        found = self.level(0)
        assert self.at == len(self.tokens), self.tokens[self.at :]
        return found

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def level(self, number: int) -> Value:
        if number == len(BINARY):
            return self.unary()
        left = self.level(number + 1)
        while self.peek() in BINARY[number]:
            left = joined(self.take(), left, self.level(number + 1))
        return left

    def unary(self) -> Value:
        token = self.take()
        if token in "!-~":
            inner = self.unary()
            return {"!": lambda s: int(not inner(s)), "-": lambda s: -inner(s), "~": lambda s: ~inner(s)}[
                token
            ]
        if token == "(":
            inner = self.level(0)
            if self.peek() == "->":
                self.take()
                then = self.level(0)
                assert self.take() == ":"
                otherwise = self.level(0)
                found: Value = lambda s: then(s) if inner(s) else otherwise(s)  # noqa: E731
            else:
                found = inner
            assert self.take() == ")"
            return found
        if token.isdigit():
            return lambda _: int(token)
        if token in ("true", "false"):
            return lambda _: int(token == "true")
        if token in self.constants:
            return lambda _: self.constants[token]
        return lambda s: s[token]


def joined(operator: str, left: Value, right: Value) -> Value:
    if operator == "&&":
        return lambda s: int(bool(left(s)) and bool(right(s)))
    if operator == "||":
        return lambda s: int(bool(left(s)) or bool(right(s)))
    return lambda s: int(WORK[operator](left(s), right(s)))


@dataclass
class PromelaRun:
    """Results of a breadth-first walk over a model; `stored` counts the state in which an initial state is
    chosen, as SPIN does.
    """

    stored: int = 0
    transitions: int = 0
    broken: set[str] = field(default_factory=set)


def arrow(text: str) -> tuple[str, str]:
    """Texts before and after the first arrow outside parentheses."""
    depth = 0
    for position in range(len(text)):
        depth += (text[position] == "(") - (text[position] == ")")
        if depth == 0 and text.startswith(" -> ", position):
            return text[:position], text[position + 4 :]
    raise AssertionError(text)


class Interpreter:
    """One model; scratch variables start at a value that no model writes, so that reading one before it is
    written would show.
    """

    def __init__(self, text: str) -> None:
        self.constants = {
            name: int(value) for name, value in re.findall(r"^#define (\w+) (\d+)$", text, flags=re.MULTILINE)
        }
        declared = re.findall(r"^unsigned (\w+) : (\d+)(?: = (\d+))?;$", text, flags=re.MULTILINE)
        self.widths = {name: int(width) for name, width, _ in declared}
        self.first = {name: int(value or 0) for name, _, value in declared}
        body = text[text.index("active proctype") :]
        start, _, loop = body.partition("end:\n  do\n")
        self.starts = [self.option(line) for line in start.splitlines() if line.startswith("  :: ")]
        self.options = [self.option(line) for line in loop.splitlines() if line.startswith("  :: ")]

    def option(self, line: str) -> list[tuple[str, str, Value]]:
        """The statements of an option: conditions, assignments and assertions, and `if` as a condition that
        changes nothing when false.
        """
        inner = re.fullmatch(r"  :: d_step \{ (.*) \}", line)
        assert inner, line
        text = inner.group(1)
        if "; if :: " in text:
            head, _, rest = text.partition("; if :: ")
            late, text = arrow(rest.removesuffix(" :: else fi"))
            statements = [self.statement(part) for part in head.split("; ")]
            return [
                *statements,
                ("unless", "", Reader(late, self.constants).whole()),
                *map(self.statement, text.split("; ")),
            ]
        guard, rest = arrow(text)
        return [("if", "", Reader(guard, self.constants).whole()), *map(self.statement, rest.split("; "))]

    def statement(self, text: str) -> tuple[str, str, Value]:
        if text in ("skip", "true"):
            return "if", "", lambda _: 1
        if text.startswith("assert("):
            number = next((name for name in self.constants if re.search(rf"\b{name}\b", text)), "")
            return "assert", number, Reader(text[7:-1], self.constants).whole()
        name, sign, value = text.partition(" = ")
        assert sign, text
        return "set", name, Reader(value, self.constants).whole()

    def run_option(
        self, option: list[tuple[str, str, Value]], state: tuple[int, ...], broken: set[str]
    ) -> tuple[int, ...] | None:
        present = dict(zip(self.widths, state, strict=True))
        for kind, name, value in option:
            found = value(present)
            if kind in ("if", "unless") and not found:
                return None if kind == "if" else state
            if kind == "assert" and not found:
                broken.add(name.removesuffix("_is_broken"))
            if kind == "set":
                fits = name not in self.widths or 0 <= found < 1 << self.widths[name]
                assert fits or "specification" in broken, (name, found)
                present[name] = found if fits else found % (1 << self.widths[name])
        return tuple(present[name] for name in self.widths)

    def run(self) -> PromelaRun:
        found = PromelaRun()
        begin = tuple(self.first.values())
        starts = [self.run_option(option, begin, found.broken) for option in self.starts]
        found.transitions = len(starts)
        states = list(dict.fromkeys(start for start in starts if start is not None)) or [begin]
        seen = set(states)
        for state in states:
            for option in self.options:
                after = self.run_option(option, state, found.broken)
                if after is not None:
                    found.transitions += 1
                    if after not in seen:
                        seen.add(after)
                        states.append(after)
        found.stored = len(states) + bool(self.starts)
        return found


@pytest.fixture
def run_promela() -> Callable[[Any], PromelaRun]:
    """Runs the text of an exported model."""
    return lambda model: Interpreter(model.text).run()
