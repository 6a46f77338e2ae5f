"""Wrong and odd Python made from specifications: what the front end must answer with a located error, or
read.

Mutations replace, swap, drop and wrap nodes of a text without regard for types, and sprinkle constructs that
the language lacks.
"""

from __future__ import annotations

import ast
import copy
import random

ODD_EXPRESSIONS = (
    "lambda x: x", "[1, 2]", "{1: 2}", "[x for x in self.queue]", "{x: 1 for x in self.queue}", "(y := 1)",
    "f'{self.n}'", "'text'", "b'x'",
    "1.5", "1j", "...", "self", "self.nothing", "self.each", "self.each(Q)", "self.each(self)",
    "self.each(1)", "Q", "Color", "Color.pink",
    "Color['red']", "Q(0).index.index", "Ping", "Ping()", "Ping(*self.queue)", "Ping(q=Q(0), n=0, z=1)",
    "Pong(Color.red, maybe=None)",
    "self.count", "self.grid", "self.grid[Q(0)]", "self.b.real", "self.n.bit_length()", "self.queue[-1]",
    "self.queue[::2]", "self.queue[0:1]",
    "self.queue * 2", "self.smalls + self.smalls", "self.smalls.union({1})", "len(self.count)", "len(3)",
    "sum([1, 2])", "sum(self.queue)",
    "max()", "max(1)", "max(1, 2, 3)", "min(x for x in self.each(Q))", "next(iter(self.queue))",
    "next(x for x in self.qs_seen)", "next()",
    "sorted(self.queue)", "range(3)", "isinstance(self.n, int)", "isinstance(self.pair, Q)",
    "isinstance(self.pair)", "present(None)",
    "present(self.n)", "present()", "everywhere(0)", "Set(0)", "Set()", "Set(self.each(Q))",
    "Set(x for x in self.queue)", "Seq((1, 2))",
    "tuple(self.queue)", "None", "not None", "-self.b", "~self.n", "+self.n", "self.n / 2", "self.n ** 2",
    "self.n << 1", "self.n @ self.n",
    "self.n and self.b", "self.q or self.who", "self.b == 0", "self.n is 1", "self.q == Color.red",
    "self.n in self.count", "1 in 2", "() == ()",
    "{1, Color.red}", "{{1}}", "{self.count}", "(self.n, self.b)", "self.f1(0)", "self.f1()", "self.act0()",
    "self.judge(1)", "self.start",
    "self.ready(self.who)", "self.do(self.who, 0)", "require(True)", "emit(1)", "expect(True, 'x')",
    "super().f1(0)", "print(1)", "open",
    "__import__('os')", "self.__class__", "self.__dict__", "type(self)", "Random", "Random.n",
    "int(self.b)", "bool(self.n)", "any(self.queue)", "any(True for _ in self.queue)",
    "all(x for x in self.each(Annotated[int, Between(0, 2)]))",
    "all(True for x in self.each(Annotated[int, Between(0, 'nope')]))", "all(True for x, y in self.queue)",
    "any(True for self in self.queue)",
    "await self.n", "(yield)", "x0", "undefined", "self.who < self.who", "P(0) < P(1)", "{*self.queue}",
    "self.top + self.loud", "self.fixed * 2",
    "0 < self.n < self.who", "None if self.b else None", "None is None", "self.q is self.q",
    "self.known[self.who][0]", "self.slot[None]",
    "self.grid[0, 0]", "Q(-1)", "Q('a')", "Q(0, 1)", "Ping.q", "Annotated", "self.n if self.q else 0",
    "9999999999999999999999", "self.top // 0",
)  # fmt: skip

ODD_STATEMENTS = (
    "pass", "...", "'doc'", "1", "self.n", "self.n == 1", "while True: pass", "assert self.b", "del self.n",
    "global n", "import os", "raise ValueError",
    "try:\n    pass\nexcept ValueError:\n    pass", "with self.b: pass", "def inner(): pass",
    "class Inner: pass",
    "match self.pair:\n    case Ping(): pass",
    "self.n: int = 1", "local: int = 1", "local: Small", "local: Q | None = None", "local: Set[Q] = Set()",
    "local: nonsense = 1", "x = y = 1",
    "x, y = 1, 2", "[x] = self.queue", "self = 1", "self.n.x = 1", "self.pair.n = 1", "self.queue[0] = 1",
    "self.top = 1", "self.nothing = 1",
    "self.count = self.count", "self.count = 0", "self.grid = everywhere(0)",
    "self.grid = everywhere(everywhere(True))", "x = self.count",
    "x = None", "x = Set()", "x = ()", "self.n = True", "self.b = 1", "self.n = -1", "self.n = None",
    "self.q = None", "self.color = 'red'",
    "self.n /= 2", "self.n |= 1", "self.smalls += {1}", "self.queue += 1", "self.queue += self.queue",
    "self.queue -= (1,)", "self.q += 1",
    "self.count += 1", "x += 1", "self.smalls.add(1)", "require(self.b)", "require()", "require(self.n)",
    "require(self.b, 'why')", "emit(self.pair)",
    "emit(Happened(0, None))", "emit(Q(0))", "emit()", "expect(self.b, 'Calm')", "expect(self.b)",
    "expect(self.b, self.n)",
    "expect(self.b, 'Calm', None)", "expect(self.b, property='Calm', clash=Happened(0, None))",
    "self.do(self.who, 0)", "self.do(0)", "self.do()",
    "self.do(q=self.who, n=0)", "self.be_owner(self.who)", "self.act0()", "self.f1(0)",
    "self.ready(self.who)",
    "return", "return None", "return 1",
    "return self.b", "return self.count", "return Set()", "for x in self.count: pass", "for x in 3: pass",
    "for x in range(3): pass",
    "for x in self.each(P):\n    self.who = Q(x.index)", "for x in self.each(P):\n    return",
    "for x in self.each(P):\n    emit(Happened(0, None))",
    "for x in self.each(P):\n    self.n += 1", "for x in self.each(P):\n    self.do(self.who, 0)",
    "for x in self.packets:\n    self.pair = x",
    "for x in self.queue:\n    break", "for x in self.queue:\n    pass\nelse:\n    pass",
    "for self.n in self.queue: pass",
    "for x in self.queue:\n    require(self.b)\n    self.b = True",
    "for x in self.queue:\n    y = x\nself.n = y",
    "if self.b:\n    y = 1\nself.n = y",
    "if self.b:\n    y = 1\nelse:\n    y = self.who", "if self.b:\n    y = 1\nelse:\n    y = 2\nself.n = y",
    "if self.n: pass", "if self.q: pass",
    "nonlocal n", "lambda: 1", "print(self.n)", "@action\ndef inner(self): pass", "super().__init__()",
    "self.each(Q)", "async def f(): pass",
)  # fmt: skip


class Mutator(ast.NodeTransformer):
    """Changes a few nodes of method bodies."""

    def __init__(self, rng: random.Random, donors: list[ast.expr]) -> None:
        self.rng, self.donors, self.calm = rng, donors, rng.choice((1, 4, 12, 40))

    def hit(self, one_in: int) -> bool:
        """True once in `one_in` times, or less often in a calm text."""
        return self.rng.randrange(one_in * self.calm) == 0

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.FunctionDef):
            node.body = [self.visit(part) for part in node.body]  # type: ignore[misc]
        else:
            node = self.generic_visit(node)
        if (
            isinstance(node, ast.expr)
            and not isinstance(getattr(node, "ctx", None), ast.Store)
            and self.hit(60)
        ):
            return (
                copy.deepcopy(self.rng.choice(self.donors))
                if self.rng.random() < 0.5
                else _expression(self.rng.choice(ODD_EXPRESSIONS))
            )
        if isinstance(node, ast.FunctionDef) and self.hit(4):
            node.body.insert(self.rng.randrange(len(node.body)), _statement(self.rng.choice(ODD_STATEMENTS)))
        if isinstance(node, ast.If | ast.For) and self.hit(4):
            node.body.insert(self.rng.randrange(len(node.body)), _statement(self.rng.choice(ODD_STATEMENTS)))
        if isinstance(node, ast.FunctionDef) and len(node.body) > 1 and self.hit(10):
            node.body.pop(self.rng.randrange(len(node.body)))
        return node


def _expression(text: str) -> ast.expr:
    return ast.parse(f"async def f(self):\n    return ({text})").body[0].body[0].value  # type: ignore[attr-defined,no-any-return]


def _statement(text: str) -> ast.stmt:
    inside = "\n".join("    " + line for line in text.splitlines())
    found = ast.parse(f"async def f(self):\n{inside}").body[0].body  # type: ignore[attr-defined]
    return found[0] if len(found) == 1 else ast.If(test=ast.Constant(value=True), body=found, orelse=[])


def mutated(text: str, rng: random.Random) -> str:
    """The text with a few changes in the bodies and declarations of its last class."""
    tree = ast.parse(text)
    spec = tree.body[-1]
    donors = [
        node
        for node in ast.walk(spec)
        if isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", None), ast.Store)
    ]
    mutator = Mutator(rng, donors)
    for position, node in enumerate(spec.body):  # type: ignore[attr-defined]
        if isinstance(node, ast.FunctionDef):
            spec.body[position] = mutator.visit(node)  # type: ignore[attr-defined]
        elif isinstance(node, ast.AnnAssign) and rng.randrange(200) == 0:
            field = rng.choice(("annotation", "value"))
            setattr(node, field, _expression(rng.choice(ODD_EXPRESSIONS)))
    return ast.unparse(ast.fix_missing_locations(tree))
