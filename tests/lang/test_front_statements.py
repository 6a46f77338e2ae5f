"""Each statement, method and mark becomes what is meant, and what is declared arrives in the module."""

from __future__ import annotations

import pytest
from tests.lang.texts import HEADER, STATE, module_of, spec_of, statements_of

from antiphon.spec.lang import ir, types
from antiphon.spec.lang.dump import dump
from antiphon.spec.lang.front import read

BODIES = [
    ("self.b = True", ["b := True"]),
    ("self.count[p] = self.n", ["count[p] := (read n)"]),
    ("self.grid[self.who][p] = True", ["grid[(read who)][p] := True"]),
    ("self.grid[self.who] = everywhere(False)", ["grid[(read who)] := (everywhere False : map[P, bool])"]),
    ("self.grid[self.who] = self.grid[Q(0)]", ["grid[(read who)] := (lookup (read grid) (makeindex 0 : Q))"]),
    ("self.count = everywhere(1)", ["count := (everywhere 1 : map[P, int[0..top]])"]),
    ("self.n += 1", ["n := (arithmetic + (read n) 1)"]),
    ("self.count[p] -= 1", ["count[p] := (arithmetic - (lookup (read count) p) 1)"]),
    ("self.qs_seen |= {self.who}", ["qs_seen := (setbinary | (read qs_seen) (setliteral [(read who)] : set[Q]))"]),
    ("self.qs_seen = Set({self.who})", ["qs_seen := (setliteral [(read who)] : set[Q])"]),
    ("self.qs_seen = Set(x for x in self.each(Q))", ["qs_seen := (gather [<x: Q in Q>] x : set[Q])"]),
    ("self.queue += (self.n, 0)",
     ["queue := (append (append (read queue) (read n) : sequence[int[0..top], 3]) 0 : sequence[int[0..top], 4])"]),
    ("self.queue = ()", ["queue := (makesequence [] : sequence[int[0..top], 0])"]),
    ("self.q = None", ["q := None"]),
    ("self.some = self.pair", ["some := (read pair)"]),
    ("x = self.n\nself.n = x", ["let x: int = (read n)", "n := x"]),
    ("x: Q | None = None\nself.q = x", ["let x: optional[Q] = None", "q := x"]),
    ("x: int = 1\nself.n = x", ["let x: int = 1", "n := x"]),
    ("if self.b:\n    x = 1\nelse:\n    x = self.n\nself.n = x",
     ["when (read b)", "  let x: int = 1", "otherwise", "  let x: int = (read n)", "n := x"]),
    ("if self.b:\n    return\nself.b = True", ["when (read b)", "  return", "b := True"]),
    ("if self.b:\n    self.n = 0\nelif self.loud:\n    self.n = 1",
     ["when (read b)", "  n := 0", "otherwise", "  when (constant loud)", "    n := 1"]),
    ("for x in self.each(Q):\n    y = x.index\n    self.n = y",
     ["each <x: Q in Q>", "  let y: int = (indexnumber x)", "  n := y"]),
    ("for x in self.queue:\n    self.n = x\nfor x in self.queue:\n    self.n = x",
     ["each <x: int[0..top] in (read queue)>", "  n := x", "each <x_2: int[0..top] in (read queue)>", "  n := x_2"]),
    ("for x in self.qs_seen:\n    self.grid[x][p] = True", ["each <x: Q in (read qs_seen)>", "  grid[x][p] := True"]),
    ("require(self.b)\nself.n = 0", ["require (read b) 'self.b'", "n := 0"]),
    ("emit(Happened(self.n))", ["emit (makerecord [(read n)] : Happened)"]),
    ('expect(self.b, "Calm")', ["expect 'Calm' (read b) 'self.b'"]),
    ('expect(self.b, "Calm", Happened(0))', ["expect 'Calm' (read b) clash (makerecord [0] : Happened) 'self.b'"]),
    ("self.put(self.who, self.n + 1)", ["perform put((read who), (arithmetic + (read n) 1))"]),
    ("self.be_owner(q=self.who)\nself.b = True", ["perform be_owner((read who))", "b := True"]),
    ("pass\n...\n'a remark'\nself.b = True", ["b := True"]),
]  # fmt: skip


@pytest.mark.parametrize(("python", "meant"), BODIES)
def test_a_body_becomes_its_statements(python: str, meant: list[str]) -> None:
    assert statements_of(python, "p: P") == meant


def test_parameters_in_a_set_become_a_first_guard_and_guards_on_the_actor_come_next() -> None:
    module = module_of("""
@guard
def up(self, q: Q) -> bool:
    return q in self.qs_seen
@action(fairness="weak")
def take(self, q: Q, m: Annotated[Ping, In("packets")]) -> None:
    require(self.b)
@environment
def lose(self, q: Q) -> None:
    self.b = True
""")
    take, lose = module.actions
    assert [item.text for item in take.body if isinstance(item, ir.Require)] == [
        "m in self.packets",
        "self.up(q)",
        "self.b",
    ]
    assert (take.fairness, take.fault) == (ir.Fairness.WEAK, False)
    assert (lose.fairness, lose.fault) == (ir.Fairness.NONE, True)
    assert len(lose.body) == 1
    assert take.parameters[1].type == take.parameters[1].type
    assert isinstance(take.parameters[1].type, types.Record)


def test_helpers_predicates_handlers_and_initial_states_have_their_places() -> None:
    module = module_of('''
def find(self, n: Small) -> Small:
    """The first."""
    for x in self.queue:
        if x > n:
            return x
    return n
@on(Happened)
def judge(self, event: Happened) -> None:
    expect(event.n == 0, "Calm")
@initial
def start(self, q: Q) -> None:
    self.who = q
@invariant
def safe(self) -> bool:
    return not self.b
@witness
def seen(self) -> bool:
    return self.safe() and self.b
@obligation
def done(self) -> bool:
    if self.b:
        return True
    return self.n == 0
''')
    assert [item.name for item in module.functions] == ["twice", "owner", "find", "safe"]
    assert module.functions[2].doc == "The first."
    assert [item.name for item in module.procedures] == ["put", "be_owner"]
    assert [(item.name, item.event) for item in module.handlers] == [("judge", "Happened")]
    assert [item.name for item in module.initials] == ["start"]
    assert [(item.name, item.kind.value) for item in module.predicates] == [
        ("safe", "invariant"), ("seen", "witness"), ("done", "obligation"),
    ]  # fmt: skip
    assert module.properties == ("Calm",)


def test_constants_keep_what_they_say() -> None:
    found = {item.name: item for item in module_of("").constants}
    assert (found["ps"].role, found["ps"].default, found["ps"].type) == ("constant", 2, ir.INTEGER)
    assert (found["loud"].type, found["loud"].default) == (ir.BOOL, True)


def test_defaults_become_initial_expressions() -> None:
    lines = dump(module_of("")).splitlines()
    assert "variable q: optional[Q] = None" in lines
    assert "variable who: Q = (makeindex 0 : Q)" in lines
    assert "variable pair: union[Ping, Pong] = (makerecord [0, None] : Pong)" in lines
    assert (
        "variable grid: map[Q, map[P, bool]] = (everywhere (everywhere False : map[P, bool]) : map[Q, map[P, bool]])"
        in lines
    )


def test_every_node_knows_its_place() -> None:
    cls, place = spec_of(
        STATE + "\n    @action\n    def step(self) -> None:\n        self.b = «self.b and self.loud\n"
    )
    assign = read(cls).actions[0].body[0]
    assert isinstance(assign, ir.Assign)
    assert assign.value.at == place


def test_generic_parts_are_read_with_the_types_of_the_composition() -> None:
    cls, _ = spec_of("""
M = TypeVar("M")
class Channel(Spec, Generic[M]):
    held: Set[M] = Set()
    def any_held(self) -> bool:
        return any(m in self.held for m in self.each(M))
    @environment
    def lose(self, m: Annotated[M, In("held")]) -> None:
        self.held -= {m}
class Middle(Channel[M]):
    "Passes the type on."
class T(Middle[Ping | Tag]):
    qs: Const[int] = 2
    top: Const[int] = 1
""")
    module = read(cls)
    assert "quantify any [<m: union[Ping, Tag] in union[Ping, Tag]>]" in dump(module)
    assert "action lose(m: union[Ping, Tag]) fault" in dump(module)


def test_parts_compose_by_inheritance_and_the_last_word_counts() -> None:
    cls, _ = spec_of("""
class Base(Spec):
    size: Const[int] = 2
    open: bool = False
    @action
    def go(self) -> None:
        self.open = True
    def ready(self) -> bool:
        return True
class Left(Base):
    left: bool = False
class Right(Base):
    right: bool = False
    @action
    def turn(self) -> None:
        require(self.ready())
        self.right = True
class T(Left, Right):
    size = 3
    left = True
    def ready(self) -> bool:
        return self.left
    def go(self) -> None:
        self.open = not self.open
""")
    module = read(cls)
    assert [item.name for item in module.variables] == ["open", "right", "left"]
    assert {item.name: item.default for item in module.constants} == {"size": 3}
    assert [item.name for item in module.actions] == ["go", "turn"]
    text = dump(module)
    assert "open := (not (read open))" in text
    assert "variable left: bool = True" in text
    assert "return (read left)" in text


def test_a_specification_inside_a_function_sees_its_surroundings() -> None:
    cls, _ = spec_of("""
def make(limit):
    Near = Annotated[int, Between(0, 2)]
    class Mark(Enum):
        on, off = range(2)
    class Inside(Spec):
        near: Near = 0
        mark: Mark = Mark.on
        @action
        def step(self, n: Near) -> None:
            require(n < limit and self.mark is Mark.on)
            self.near = n
    return Inside
T = make(2)
""")
    lines = dump(read(cls)).splitlines()
    assert "action step(n: int[0..2])" in lines
    assert any("(compare < n 2)" in line and "Mark.on" in line for line in lines)


def test_reading_twice_gives_equal_modules_and_equal_text() -> None:
    one, two = (
        module_of("@action\ndef go(self) -> None:\n    self.b = True"),
        module_of("\n\n@action\ndef go(self) -> None:\n    self.b = True"),
    )
    assert dump(one) == dump(two)
    assert dump(one).startswith("antiphon.ir 1\nmodule T\n")
    assert one.actions[0].at != two.actions[0].at


def test_the_header_is_python() -> None:
    assert compile(HEADER + STATE, "<header>", "exec").co_consts
