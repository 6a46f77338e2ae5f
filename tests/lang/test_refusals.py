"""Constructs that the language lacks are refused at their place, with the reason and the supported form."""

from __future__ import annotations

import pytest
from tests.lang.texts import spec_of, with_body, with_methods

from antiphon.spec.lang import SpecError, program
from antiphon.spec.lang.front import read

BODIES = [
    # Statements that the language lacks
    ("«while self.b:\n    pass", "`while` has no bound", "for ... in self.each"),
    ("for x in self.queue:\n    «break", "`break`", "return"),
    ("for x in self.queue:\n    «continue", "`continue`", "if ...:"),
    ("«assert self.b", "`assert`", "require"),
    ("«try:\n    pass\nexcept ValueError:\n    pass", "no exceptions", "if ..."),
    ("«raise ValueError", "no exceptions", "require"),
    ("«with self.b:\n    pass", "`with`", "statements"),
    ("«del self.b", "`del`", "self.variable"),
    ("«import os", "import", "above the class"),
    ("«def inner(): pass", "function inside a method", "helper method"),
    ("«class Inner: pass", "class inside a method", "beside"),
    ("«match self.pair:\n    case Ping(): pass", "`match`", "isinstance"),
    ("«self.n == 1", "has no effect", "require"),
    ("«len(self.queue)", "thrown away", "use the value"),
    ("«self.twice(1)", "thrown away", "x = self.twice"),
    ("for x in self.queue:\n    pass\nelse:\n    «pass", "for ... else", "after the loop"),
    ("return\n«self.b = True", "every path has returned", "leave it out"),
    # Expressions that the language lacks
    ("self.b = «[1] == [1]", "a list is mutable", "a tuple `(a, b)` for a sequence, a set `{a, b}`"),
    ("self.n = len(«[x for x in self.queue])", "a list is mutable", "set comprehension"),
    ("self.b = any(«[x == 0 for x in self.queue])", "a list is not in the language", "without brackets"),
    ("self.b = («lambda: True)()", "a lambda is no value of the language", "a helper method"),
    ("self.b = («x := True)", ":= binds", "a statement"),
    ("self.n = «{1: 2}[1]", "a map is total", "Map({key: value for key in self.each(Key)})"),
    ("m = «{x: 1 for x in self.each(Q)}", "a dict becomes a map only where it is stored", "Map({x: 1 for x in"),
    ("m = «Map({x: 1 for x in self.each(Q) if self.b})".replace("«Map(", "Map(«"), "a map is total", "in the value"),
    ("m = Map({x: 1 for x in «self.queue})", "its keys are all values of a type", "self.each(Key)"),
    ("m = Map({x: «None for x in self.each(Q)})", "every value would be None", "everywhere(None)"),
    ("m = Map(«self.count)", "the value of every key", "Map({key: value for key in self.each(Key)})"),
    ("self.b = «self.count <= self.count", "no order between the two", "all(self.count[key] <= self.count[key] for key in"),
    ("self.count = «self.count | self.count", "of maps only entries are changed", "self.count | {key: value}"),
    ("self.smalls = «self.smalls | {1: 2}", "is Set[an integer from 0 to top], and only a map", "map | {key: value}"),
    ("self.count |= {**«self.count}", "** is not in the language", "each key by itself"),
    ("«self.count.update(self.count)", "a map has no method update", "self.count | {key: value}"),
    ("self.n = «self.count.get(0)", "a map has no method get", "self.count[key] for key in self.each(Key)"),
    ("m = self.count\n«m[self.who] = 1", "only state changes", "m | {key: value}"),
    ("self.b = «f'{self.n}' == 'up'", "no strings", "Enum"),
    ("self.n = «self.n / 2", "/ gives a float", "//"),
    ("self.n = «self.n ** 2", "not in the language", "+, -, *"),
    ("self.n = «~self.n", "not in the language", "+, -"),
    ("self.n = «self.queue[self.n - 1]", "the position self.n - 1 may be negative",
     "a test before, such as self.n - 1 >= 0; max(0, self.n - 1); or self.queue[-1] for the last item"),
    ("self.n = «self.queue[len(self.queue) - 2]", "the position len(self.queue) - 2 may be negative", ">= 0"),
    ("self.queue = «self.queue[:self.low]", "the position self.low may be negative", "self.low >= 0"),
    ("self.queue = «self.queue[::-1]", "a slice has no step", "tuple(reversed(self.queue))"),
    ("«self.queue += self.n", "self.n is an integer from 0 to top, and a sequence grows by items", "self.queue + (item,)"),
    ("self.queue = «self.queue + self.line", "different items: Seq[an integer from 0 to top] and Seq[", "two sequences of one type"),
    ("self.queue = tuple(x for x in «self.smalls)", "a sequence has an order, and a set has none", "for x in self.each(...) if x in self.smalls"),
    ("self.b = tuple(0 for x in «self.each(P)) == self.queue", "a sequence has an order, and P has none", "ordered=True"),
    ("self.b = tuple(0 for x in «self.each(Set[Q])) == self.queue", "Set[Q] has none", "a set {... for ...}"),
    ("self.b = tuple(0 for x in «self.each(Ping)) == self.queue", "a sequence of every Ping is too long", "an Index"),
    ("self.queue = «tuple(x for x in self.queue for y in self.queue)", "made by one `for`", "a helper"),
    ("self.queue = tuple(«self.smalls)", "has no order", "tuple(x for x in self.each(...) if x in self.smalls)"),
    ("for x in «reversed(self.smalls):\n    self.n = x", "reversed takes a sequence, and self.smalls is Set", "a sequence"),
    ("for x in «reversed(self.each(Q)):\n    self.who = x", "reversed takes a sequence", "reversed(tuple(self.each(Q)))"),
    ("self.b = «reversed(self.queue) == self.queue", "not in the language", "tuple(reversed(self.queue))"),
    ("self.b = «self.queue <= self.queue", "no order between the two",
     "self.queue == self.queue[:len(self.queue)], if the first is to be a prefix of the second"),
    ("for x in «range(self.low, len(self.queue)):\n    self.n = x", "the position self.low may be negative", "max(0, self.low)"),
    ("for x in «range(0, len(self.queue), 2):\n    self.n = x", "range takes the first position and the length", "range(len(self.queue))"),
    ("for x in «enumerate(self.queue):\n    self.n = 1", "enumerate is not in the language", "for i in range(len(self.queue))"),
    ("self.queue = «self.queue.index(1)", "no methods", "any(self.queue[i] == x for i in range(len(self.queue)))"),
    ("«self.queue.pop()", "in place", "self.queue = self.queue[:-1]"),
    ("«self.queue.remove(1)", "in place", "tuple(x for x in self.queue if x != ...)"),
    ("self.b = «self.smalls.issubset({0})", "no methods", "<="),
    ("«self.smalls.add(1)", "in place", "|= {x}"),
    ("«self.queue.append(1)", "in place", "+= (x,)"),
    ("for x in «range(self.n * 2):\n    self.n = x", "the greatest value of self.n * 2 is not known", "self.each(Number)"),
    ("for x in «range(len(self.smalls)):\n    self.n = x", "the greatest value of len(self.smalls) is not known", "range(len(self.queue))"),
    ("for x in «sorted(self.queue):\n    self.n = x", "not in the language", "self.each"),
    ("self.n = «outside(1)", "outside the specification", "self.outside(...)"),
    ("self.n = «abs(self.n)", "abs is not", "x if x >= 0"),
    ("self.pair = «dataclasses.replace(self.pair, n=1)", "not in the language", "all its fields"),
    ("self.b = «super().up(0)", "super() means", "super().step(p)"),
    ("«self.step()", "marked", "a helper that both call"),
    ("self.b = «require(True)", "a statement", "line of its own"),
    ("self.b = «self.each(Q)", "stands only after `in`", "for p in"),
    # Types
    ("self.n = «True", "True is bool", "a value of an integer from 0 to top"),
    ("self.b = «1", "1 is the integer 1", "a value of bool"),
    ("self.n = «-1", "never in", "a value in it, or wider bounds where it is declared"),
    ("self.color = «Size.small", "Size.small is Size, and Color is needed", "a value of Color"),
    ("self.who = «self.q", "may be None", "present(...)"),
    ("self.n = «self.q.index", "self.q may be None", "test `is not None` first, or bind `x = present(...)` where i"),
    ("self.n = «self.q.index", "may be None", "is not None"),
    ("self.n = «self.who", "Q, and an integer", "self.who.index"),
    ("self.n = «1 + self.who", "arithmetic needs integers: self.who is Q", "self.who.index"),
    ("if «self.n:\n    pass", "not a bool", "self.n != 0"),
    ("if «self.q:\n    pass", "not a bool", "self.q is not None"),
    ("if «self.queue:\n    pass", "not a bool", "len(self.queue) > 0"),
    ("self.q = «self.q or self.who", "self.q is Q | None, not a bool", "self.q is not None"),
    ("self.n = self.n if «self.smalls else 0", "not a bool", "len("),
    ("self.b = «self.b == 0", "different sorts", "two values of one type"),
    ("self.b = «self.color == Size.small", "different sorts", "two values of one type"),
    ("self.b = «self.who == 0", "different sorts", "two values of one type"),
    ("self.b = «self.n is self.n", "identity", "=="),
    ("self.b = «self.n is None", "never None", "leave the test out"),
    ("self.b = «self.color < Color.green", "no order", "integers, members of an ordered Index, or sets of one type"),
    ("self.b = «p < p", "P has no order", "ordered=True"),
    ("self.b = «self.who in self.smalls", "never an element", "a value of its element type"),
    ("self.b = «self.n in self.count", "is a map", "compare its value: self.map[key] is not None"),
    ("self.b = self.color == «'red'", "a string", "Color.red"),
    ("self.b = self.color == «'pink'", "a string", "an Enum"),
    ("self.smalls |= «self.n", "self.n is an integer from 0 to top, and sets are joined with sets", "{self.n}"),
    ("self.b = «self.n & 1 == 0", "not for integers", "`and` between conditions, which binds after comparisons"),
    ("self.n = (1 if self.b else «self.who)", "self.who is Q, and an integer from 0 to top is needed", "self.who.index"),
    ("self.b = {«1, Color.red} == self.smalls",
     "1 may lie outside an integer from 0 to top, and nothing chec", "test membership of the element itself, or a parameter or bou"),
    ("self.b = self.smalls == {«self.n + 1}", "may lie outside", "membership"),
    ("self.b = «Set() == Set()", "not known here", "assign it to a variable, or compare its len with 0"),
    ("self.n = «self.n // 0", "division by zero", "a divisor that is not 0"),
    ("self.who = «Q(-1)", "numbered from 0", "Q(0)"),
    ("self.pair = Ping(self.who, 9 if self.b else «self.who)", "self.who is Q, and an integer from 0 to top is needed", "self.who.index"),
    ("self.pair = «Ping(self.who)", "also needs n", "Ping(q, n)"),
    ("self.pair = Ping(self.who, 0, z=«1)", "no free parameter", "Ping(q, n)"),
    ("self.n = «self.pair.q.index", "Pong has no field 'q'", "isinstance"),
    ("self.b = isinstance(self.pair, «Tag)", "self.pair is Ping | Pong, never a Tag", "one of its records"),
    ("self.b = isinstance(self.pair, «Tag)", "never a Tag", "one of its records"),
    ("self.b = isinstance(self.pair, «Q)", "no record", "isinstance"),
    ("self.put(self.who, «self.b)", "an integer from 0 to top is needed", "a value of an integer from 0 to top"),
    ("«self.put(self.who)", "also needs n", "self.put(q, n)"),
    ("emit(«self.who)", "an event is a record", "emit(Deliver(p, m))"),
    ("expect(self.b, «self.n)", "is a string", 'expect(condition, "Agreement")'),
    ("self.twin = «Twin(0)", "Twin is symmetric: no member is special", "a parameter of type Twin"),
    ("require(self.twin is not None and «self.twin.index == 0)", "Twin is symmetric", "=="),
    # Names
    ("self.b = «nothing", "means nothing here", "self.nothing, or a name of the module"),
    ("self.b = «self.nothing", "has no 'nothing'", "nothing: Type = value in the class"),
    ("self.b = «self.colour is Color.red", "did you mean 'color'?", "colour: Type = value in the class"),
    ("self.b = «self.twice == 1", "self.twice is a method", "self.twice(...)"),
    ("self.n = «self.twice", "is a method", "self.twice(...)"),
    ("self.color = «Color.pink", "Color has no 'pink'", "one of red, green, blue"),
    ("«self.nothing = 1", "T has no state variable 'nothing'; known: b, ", "nothing: Type = value in the class"),
    ("«self.top = 1", "is a constant", "a state variable"),
    ("«self.pair.n = 1", "a record is immutable", "a new record with all its fields, assigned to the variable"),
    ("«self.queue[0] = 1", "self.queue is Seq[an integer from 0 to top], which is immuta",
     "self.queue[:i] + (item,) + self.queue[i + 1:], assigned to the variable"),
    ("if self.b:\n    x = 1\nself.n = «x", "not bound on every way", "bind it on every branch before; a name bound in a loop ends "),
    ("for x in self.queue:\n    y = x\nself.n = «y", "not bound on every way", "ends with the turn"),
    ("«if self.b:\n    x = 1\nelse:\n    x = self.who", "in one branch", "two names"),
    # Locals and aliases
    ("x = 1\n«x = 2", "already bound", "next_x"),
    ("x = 1\n«x += 1", "fixed when bound", "sum(...)"),
    ("x = 1\nfor «x in self.queue:\n    pass", "already bound", "another name"),
    ("«x, y = 1, 2", "one target", "an assignment for each name; all on the right see the old st"),
    ("«x = y = 1", "one target", "two assignments"),
    ("«x = None", "always be None", "None itself, or x if ... else None"),
    ("x: Small = «self.n + 1", "may lie outside", "leave the type out"),
    # Guards and updates
    ("self.b = True\n«require(self.b)", "a guard after an update", "before the first assignment"),
    ("emit(Happened(0))\n«require(self.b)", "a guard after an update", "every require before the first assignment, emit or expect"),
    ("self.b = True\n«self.be_owner(self.who)", "a guard after an update", "every require before the first assignment, emit or expect"),
    ("for x in self.queue:\n    «require(x == 0)\n    self.b = True",
     "a guard after an update", "every require before the first assignment, emit or expect"),
    ("«require(self.b, self.loud)", "one condition", "require(a and b)"),
    ("«return self.b", "step gives no value", "def step(...) -> the type of the value"),
    # Order
    ("for x in self.each(P):\n    «self.n = self.count[x]", "may depend on the order", "ordered=True"),
    ("for x in self.each(P):\n    «emit(Happened(0))", "emit in a loop over P", "declare the Index ordered=True if its order has a meaning, o"),
    ("for x in self.each(P):\n    if self.count[x] == 0:\n        «return", "return in a loop", "any("),
    ("for x in self.packets:\n    «self.pair = x", "may depend on the order", "declare the Index ordered=True if its order has a meaning, o"),
    ("for x in self.each(P):\n    if self.count[x] > self.n:\n        «self.n = self.count[x]",
     "may depend on the order", "declare the Index ordered=True if its order has a meaning, o"),
    ("for x in self.each(P):\n    «self.count[x] = self.count[P(0)]",
     "may depend on the order", "declare the Index ordered=True if its order has a meaning, o"),
    ("for x in self.each(P):\n    «self.n += 1\n    self.b = self.n == 1",
     "may depend on the order", "declare the Index ordered=True if its order has a meaning, o"),
    ("self.n = next(x.n for x in «self.packets)", "a set has no order", "self.each"),
    ("self.n = next(0 for x in «self.each(P))", "has no order", "ordered=True"),
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("body", "reason", "instead"), BODIES)
def test_a_body_is_refused_where_it_is_wrong(body: str, reason: str, instead: str) -> None:
    cls, place = with_body(body, "p: P")
    with pytest.raises(SpecError) as caught:
        read(cls)
    error = caught.value
    assert reason in error.reason
    assert instead in error.instead
    assert error.at == place
    assert str(error).startswith(str(place))


METHODS = [
    ("def up(self) -> int:\n    «self.b = True\n    return 1", "a value helper only computes", "a procedure"),
    ("def up(self) -> int:\n    «require(self.b)\n    return 1", "require in a value helper", "an action or a procedure"),
    ("def up(self) -> int:\n    «emit(Happened(0))\n    return 1", "emit in a value helper", "an action or a procedure"),
    ("def up(self) -> int:\n    «self.put(self.who, 0)\n    return 1", "self.put, a procedure, in a value helper", "a procedure"),
    ("@invariant\ndef up(self) -> bool:\n    «self.b = True\n    return True", "a predicate only computes", "a procedure"),
    ("«def up(self) -> int:\n    if self.b:\n        return 1", "may end without a value", "on every path"),
    ("«def up(self):\n    pass", "says not what it gives", "-> None"),
    ("def up(self) -> Small:\n    return «self.n + 1", "may lie outside", "-> int"),
    ("def up(self) -> Small:\n    «return", "up gives an integer from 0 to top", "return value"),
    ("def up(self) -> None:\n    «return 1", "up gives no value", "the type of the value"),
    ("def up(self, *«more: Small) -> None:\n    pass", "* and ** are not", "by name"),
    ("def up(self, n: Small = «0) -> None:\n    pass", "has no default", "no default"),
    ("def up(self, «n) -> None:\n    pass", "has no type", "n: Process"),
    ("def up(self, «n: int) -> None:\n    pass", "a plain int has no bounds", "Between"),
    ("def up(self, «n: str) -> None:\n    pass", "class str is no type", "a record, an Index or an Enum"),
    ("def up(self, «n: Nothing) -> None:\n    pass", "name 'Nothing' is not defined", "a type of the module"),
    ("def up(self) -> int:\n    return «self.up()", "recursion: up -> up", "a loop"),
    ("def up(self) -> int:\n    return self.down()\ndef down(self) -> int:\n    return «self.up()", "recursion: up -> down -> up", "a loop"),
    ("def up(self) -> None:\n    «self.up()", "recursion: up -> up", "a loop"),
    ("@on(Happened)\ndef judge(self, event: Happened) -> None:\n    «emit(Happened(0))", "recursion: judge -> judge", "a loop"),
    ("@on(Happened)\ndef judge(self, event: Happened) -> None:\n    «require(self.b)", "a handler cannot stop", "expect"),
    ("@on(Happened)\ndef judge(self, event: Happened) -> None:\n    «self.be_owner(self.who)", "be_owner requires something", "expect"),
    ("@on(Happened)\n«def judge(self, event: Ping) -> None:\n    pass", "takes just that record", "def judge(self, event: Happened)"),
    ("@guard\n«def up(self, q: Q) -> Small:\n    return 0", "a value helper is a bool", "-> bool"),
    ("@guard\n«def up(self) -> bool:\n    return True\n@action\ndef go(self, q: Q) -> None:\n    self.b = True",
     "takes one parameter, the actor", "p: Process"),
    (
        "@guard\ndef up(self, p: Q) -> bool:\n    return not p in self.qs_seen\n@action\n«def bury(self, q: Q) -> None:\n    require(self.b)\n    require(q in self.qs_seen and q == self.who)\n    self.b = False",
        "can never be taken: it requires q in self.qs_seen",
        "another first parameter",
    ),
    ("@action\ndef up(self, q: Q) -> None:\n    self.b = True\n@action\n«def up(self) -> None:\n    self.b = False",
     "has 'up' twice, and Python keeps the second alone", "another name"),
    ("@invariant\n«def up(self) -> int:\n    return 1", "a predicate is a bool", "-> bool"),
    ("@invariant\n«def up(self, q: Q) -> bool:\n    return True", "takes no parameters", "self.each"),
    ("@action\n«def up(self) -> bool:\n    return True", "an action, which gives no value", "-> None"),
    ("@action\ndef up(self, «q: Annotated[Q, In(\"packets\")]) -> None:\n    pass", "names no set variable that may hold Q", "a set variable"),
    ("@action\ndef up(self, «q: Annotated[Q, In(\"qs_sen\")]) -> None:\n    pass", "did you mean 'qs_seen'?", "a set variable"),
    ("«def up(self, q: Annotated[Q, In(\"qs_seen\")]) -> None:\n    pass", "is for the parameters of actions", "the plain type"),
    ("def up(self) -> bool:\n    for x in self.each(P):\n        if self.count[x] == 0:\n            «return True\n    return False",
     "return in a loop over P", "any(... for ...)"),
    (("def pick(self, q: Q, m: Small) -> None:\n    «self.n = m\n@action\ndef go(self) -> None:\n"
     "    for x in self.each(P):\n        self.pick(self.who, self.count[x])"), "may depend on the order", "accumulate"),
]  # fmt: skip


@pytest.mark.parametrize(("methods", "reason", "instead"), METHODS)
def test_a_method_is_refused_where_it_is_wrong(methods: str, reason: str, instead: str) -> None:
    cls, place = with_methods(methods)
    with pytest.raises(SpecError) as caught:
        read(cls)
    assert reason in caught.value.reason
    assert instead in caught.value.instead
    assert caught.value.at == place


CLASSES = [
    ("class T(Spec):\n    n: bool = True\n    «n: bool = False", "T has 'n' twice", "another name"),
    ("class T(Spec):\n    «n: Small", "T.n has no value", "initial value"),
    ("class T(Spec):\n    «n: int = 0", "a plain int has no bounds", "Between"),
    ("class T(Spec):\n    «n: Seq[P] = ()", "needs its greatest length", "AtMost"),
    ("class T(Spec):\n    «n: Set[tuple[P, Q]] = Set()", "a tuple of several types", "@record"),
    ("class T(Spec):\n    ps: Const[int] = 1\n    «n: Set[P] = Set({0})", "T.n = 0, and P is needed", "P(0)"),
    ("class T(Spec):\n    ps: Const[int] = 1\n    «n: Map[P, bool] = {0: True}", "T.n = {0: True}, and Map", "@initial"),
    ("class T(Spec):\n    ps: Const[int] = 1\n    «n: Map[P, Map[P, bool]] = everywhere(False)",
     "T.n = everywhere(False), and each of its values is Map[P, bool]", "everywhere(everywhere(value))"),
    ("class T(Spec):\n    «n: str = ''", "class str is no type", "a record, an Index or an Enum"),
    ("class T(Spec):\n    «n: list[P] = []", "is no type of the language", "Map[K, V]"),
    ("class T(Spec):\n    «n: Map[Map[P, bool], bool] = everywhere(True)", "a map is no key", "a Set of these maps"),
    ("class T(Spec):\n    «n: P | Q = P(0)", "only records are joined", "records"),
    ("class T(Spec):\n    «n: Annotated[bool, Between(0, 1)] = False", "Between bounds an int", "Annotated[int"),
    ("class T(Spec):\n    «n: Annotated[int, Between(0, 1.5)] = 0", "is no size", "messages + 1"),
    ("class T(Spec):\n    «n: Annotated[int, Between(0, \"nope\")] = 0", "names 'nope'", "a constant"),
    ("class T(Spec):\n    «n: Nothing = 0", "name 'Nothing' is not defined", "a type of the module"),
    ("class T(Spec):\n    «n: Const[int] = \"a\"", "a constant is an int or a bool", "Const[int] = 3"),
    ("class T(Spec):\n    «each: bool = True", "this name is taken", "a name that begins with a letter"),
    ("class T(Spec):\n    b: bool = False\n    «p = eventually(\"b\")", "has no method 'b': b is a variable", "a method that gives a bool"),
    ("class T(Spec):\n    «b: bool = 0", "T.b = 0, and bool is needed", "a value of bool"),
    ("class T(Spec):\n    «n: Annotated[int, Between(0, 2)] = 3",
     "T.n = 3, and an integer from 0 to 2 is needed", "a value of an integer from 0 to 2"),
    ("class T(Spec):\n    qs: Const[int] = 1\n    «n: Map[Q, bool] = False", "T.n = False, and Map[Q, bool] is needed", "everywhere(value)"),
    ("class T(Spec):\n    ps: Const[int] = 1\n    «n: Twin = Twin(0)", "Twin is symmetric", "@initial"),
    ("class T(Spec):\n    b: bool = True\n    «def b(self) -> None:\n        pass", "the name of something else", "another name"),
    ("class A(Spec):\n    b: bool = True\nclass B(Spec):\n    «b: bool = True\nclass T(B, A):\n    pass",
     "two parts of one composed specification", "another name"),
    ("class A(Spec):\n    def f(self) -> None: pass\nclass B(Spec):\n    «def f(self) -> None: pass\nclass T(B, A):\n    pass",
     "two parts of one composed specification", "another name"),
    ("M = TypeVar(\"M\")\nclass A(Spec, Generic[M]):\n    «ms: Set[M] = Set()\nclass T(A):\n    pass",
     "type variable ~M is not bound", "Base[Message]"),
    ("@record\n«class Loop:\n    next: Loop | None\nclass T(Spec):\n    loop: Loop | None = None", "contains itself", "a set or sequence"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "reason", "instead"), CLASSES)
def test_a_declaration_is_refused_where_it_is_wrong(text: str, reason: str, instead: str) -> None:
    cls, place = spec_of(text + "\n")
    with pytest.raises(SpecError) as caught:
        read(cls)
    assert reason in caught.value.reason
    assert instead in caught.value.instead
    assert caught.value.at == place


def test_an_index_says_how_many_members_it_has() -> None:
    with pytest.raises(SpecError) as caught:
        spec_of("class Colour(Index): pass\nclass T(Spec):\n    «c: Colour | None = None\n")
    assert "class Colour(Index) does not say how many" in caught.value.reason
    assert caught.value.instead == 'class Colour(Index, size="processes")'
    assert caught.value.at is not None


def test_a_size_that_names_no_constant_is_refused_where_it_is_used() -> None:
    cls, place = spec_of("class T(Spec):\n    messages: Const[int] = 2\n    «n: Annotated[int, Between(0, 'mesages')] = 0\n")
    with pytest.raises(SpecError, match="known: messages; did you mean 'messages'") as caught:
        program(cls)
    assert caught.value.at == place
