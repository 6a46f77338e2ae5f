"""Each expression of Python that the language has becomes the node that is meant."""

from __future__ import annotations

import pytest
from tests.lang.texts import statements_of, value_of

from antiphon.spec.lang import SpecError

VALUES = [
    ("True", "True"),
    ("self.b", "(read b)"),
    ("self.loud", "(constant loud)"),
    ("self.fixed", "(constant fixed)"),
    ("not self.b", "(not (read b))"),
    ("self.b and self.loud and True", "(and [(read b), (constant loud), True])"),
    ("self.b or not self.loud", "(or [(read b), (not (constant loud))])"),
    ("self.color is Color.red", "(compare == (read color) Color.red)"),
    ("self.color is not Color.red", "(compare != (read color) Color.red)"),
    ("self.color in BOTH", "(member (read color) (makesequence [Color.red, Color.green] : sequence[Color, 2]))"),
    ("self.color in WARM", "(member (read color) (setliteral [Color.red] : set[Color]))"),
    ("self.color not in {Color.red}", "(not (member (read color) (setliteral [Color.red] : set[Color])))"),
    ("self.n < LIMIT", "(compare < (read n) 2)"),
    ("self.n < self.DEPTH", "(compare < (read n) 1)"),
    ("0 <= self.n < 3", "(and [(compare <= 0 (read n)), (compare < (read n) 3)])"),
    ("self.n + 1 > self.top", "(compare > (arithmetic + (read n) 1) (constant top))"),
    ("self.n // 2 >= self.n % 2", "(compare >= (arithmetic // (read n) 2) (arithmetic % (read n) 2))"),
    ("-self.n == -1", "(compare == (arithmetic - 0 (read n)) -1)"),
    ("self.n * 2 - 1 != 0", "(compare != (arithmetic - (arithmetic * (read n) 2) 1) 0)"),
    ("self.q is None", "(compare == (read q) None)"),
    ("self.q is not None and self.q.index == 0",
     "(and [(compare != (read q) None), (compare == (indexnumber (present (read q) : Q)) 0)])"),
    ("self.q is None or self.q < self.who", "(or [(compare == (read q) None), (compare < (present (read q) : Q) (read who))])"),
    ("self.q == self.who", "(compare == (read q) (read who))"),
    ("present(self.q) == self.who", "(compare == (present (read q) : Q) (read who))"),
    ("Q(self.n) == self.who", "(compare == (makeindex (read n) : Q) (read who))"),
    ("self.who in self.qs_seen", "(member (read who) (read qs_seen))"),
    ("self.n + 1 in self.smalls", "(member (arithmetic + (read n) 1) (read smalls))"),
    ("self.n in self.queue", "(member (read n) (read queue))"),
    ("self.qs_seen <= {self.who}", "(compare <= (read qs_seen) (setliteral [(read who)] : set[Q]))"),
    ("{self.who} == self.qs_seen", "(compare == (setliteral [(read who)] : set[Q]) (read qs_seen))"),
    ("self.qs_seen == Set()", "(compare == (read qs_seen) (setliteral [] : set[Q]))"),
    ("(self.qs_seen | {self.who}) - self.qs_seen != self.qs_seen & self.qs_seen ^ self.qs_seen",
     ("(compare != (setbinary - (setbinary | (read qs_seen) (setliteral [(read who)] : set[Q])) (read qs_seen)) "
     "(setbinary ^ (setbinary & (read qs_seen) (read qs_seen)) (read qs_seen)))")),
    ("len(self.smalls) == len(self.queue)", "(compare == (size (read smalls)) (size (read queue)))"),
    ("Set(self.each(Q)) == self.qs_seen", "(compare == (gather [<element: Q in Q>] element : set[Q]) (read qs_seen))"),
    ("Ping(self.who, self.n) in self.packets",
     "(member (makerecord [(read who), (read n)] : Ping) (read packets))"),
    ("self.pair == Pong(maybe=None, n=0)", "(compare == (read pair) (makerecord [0, None] : Pong))"),
    ("START == Tag()", "(compare == (makerecord [] : Tag) (makerecord [] : Tag))"),
    ("self.pair.n == 0", "(compare == (field (read pair) n) 0)"),
    ("isinstance(self.pair, Ping) and self.pair.q == self.who",
     "(and [(isrecord (read pair) [Ping]), (compare == (field (present (read pair) : Ping) q) (read who))])"),
    ("not isinstance(self.pair, Ping) and self.pair.maybe is None",
     "(and [(not (isrecord (read pair) [Ping])), (compare == (field (present (read pair) : Pong) maybe) None)])"),
    ("isinstance(self.some, (Ping, Pong)) and self.some.n == 0",
     "(and [(isrecord (read some) [Ping, Pong]), (compare == (field (present (read some) : union[Ping, Pong]) n) 0)])"),
    ("isinstance(self.some, Ping | Pong)", "(isrecord (read some) [Ping, Pong])"),
    ("self.grid[self.who][p]", "(lookup (lookup (read grid) (read who)) p)"),
    ("self.slot[self.n + 1] is None", "(compare == (lookup (read slot) (arithmetic + (read n) 1)) None)"),
    ("self.queue[0] == self.queue[self.n]", "(compare == (item (read queue) 0) (item (read queue) (read n)))"),
    ("self.queue[1:] == ()", "(compare == (slice (read queue) 1 -) (makesequence [] : sequence[int[0..top], 0]))"),
    ("self.queue[:1] == self.queue[self.n:2]", "(compare == (slice (read queue) - 1) (slice (read queue) (read n) 2))"),
    ("self.queue[-1] == 0", "(compare == (item (read queue) (arithmetic - (size (read queue)) 1)) 0)"),
    ("self.queue[len(self.queue) - 1] == 0", "(compare == (item (read queue) (arithmetic - (size (read queue)) 1)) 0)"),
    ("self.queue[:-2] == ()",
     ("(compare == (slice (read queue) - (arithmetic - (size (read queue)) 2)) "
     "(makesequence [] : sequence[int[0..top], 0]))")),
    ("self.queue[:1] + self.queue == (self.n,) + self.queue",
     ("(compare == (concatenate (slice (read queue) - 1) (read queue) : sequence[int[0..top], 3]) "
     "(concatenate (makesequence [(read n)] : sequence[int[0..top], 1]) (read queue) : sequence[int[0..top], 3]))")),
    ("tuple(reversed(self.queue)) == self.queue", "(compare == (reverse (read queue)) (read queue))"),
    ("tuple(x for x in reversed(self.queue) if x > 0) == tuple(self.queue)",
     ("(compare == (collect <x: int[0..top] in (reverse (read queue)) if (compare > x 0)> x : sequence[int[0..top], 2]) "
     "(read queue))")),
    ("tuple(x for x in self.each(Small)) == tuple(self.each(Small))",
     ("(compare == (collect <x: int[0..top] in int[0..top]> x : sequence[int[0..top], (top) + 1]) "
     "(collect <item: int[0..top] in int[0..top]> item : sequence[int[0..top], (top) + 1]))")),
    ("all(self.queue[x] == 0 for x in range(len(self.queue)))",
     ("(quantify all [<x: int[0..1] in (range 0 (size (read queue)))>] "
     "(compare == (item (read queue) x) 0))")),
    ("any(x == 1 for x in range(len(self.queue) + 1))",
     "(quantify any [<x: int[0..2] in (range 0 (arithmetic + (size (read queue)) 1))>] (compare == x 1))"),
    ("any(x == 1 for x in range(self.n))", "(quantify any [<x: int[0..(top) - 1] in (range 0 (read n))>] (compare == x 1))"),
    ("any(x == 1 for x in range(self.top))", "(quantify any [<x: int[0..(top) - 1] in (range 0 (constant top))>] (compare == x 1))"),
    ("any(x == 1 for x in range(1, 3))", "(quantify any [<x: int[1..2] in (range 1 3)>] (compare == x 1))"),
    ("any(x == 1 for x in range(min(len(self.queue), len(self.line))))",
     ("(quantify any [<x: int[0..1] in (range 0 (choose (compare > (size (read queue)) (size (read line))) "
     "(size (read line)) (size (read queue)) : int))>] (compare == x 1))")),
    ("all(self.queue[x - 1] <= self.queue[x] for x in range(1, len(self.queue)))",
     ("(quantify all [<x: int[1..1] in (range 1 (size (read queue)))>] "
     "(compare <= (item (read queue) (arithmetic - x 1)) (item (read queue) x)))")),
    ("self.queue + (self.n,) == (self.n, 0)",
     ("(compare == (append (read queue) (read n) : sequence[int[0..top], 3]) "
     "(makesequence [(read n), 0] : sequence[int[0..top], 2]))")),
    ("(1 if self.b else 2) == self.n", "(compare == (choose (read b) 1 2 : int) (read n))"),
    ("(self.who if self.b else None) == self.q", "(compare == (choose (read b) (read who) None : optional[Q]) (read q))"),
    ("(self.q.index if self.q is not None else -1) < 0",
     "(compare < (choose (compare != (read q) None) (indexnumber (present (read q) : Q)) -1 : int) 0)"),
    ("any(self.grid[q][p] for q in self.each(Q))", "(quantify any [<q: Q in Q>] (lookup (lookup (read grid) q) p))"),
    ("all(m.n == 0 for m in self.packets if isinstance(m, Ping))",
     ("(quantify all [<m: union[Ping, Pong] in (read packets) if (isrecord m [Ping])>] "
     "(compare == (field (present m : Ping) n) 0))")),
    ("any(x < y for x in self.queue for y in self.each(Small) if x > 0 if y > 0)",
     ("(quantify any [<x: int[0..top] in (read queue)>, "
     "<y: int[0..top] in int[0..top] if (and [(compare > x 0), (compare > y 0)])>] (compare < x y))")),
    ("sum(1 for x in self.smalls) == 0", "(compare == (reduce sum [<x: int[0..top] in (read smalls)>] 1 -) 0)"),
    ("min(x for x in self.queue) == 0", "(compare == (reduce min [<x: int[0..top] in (read queue)>] x -) 0)"),
    ("max((x for x in self.queue), default=0) == 0", "(compare == (reduce max [<x: int[0..top] in (read queue)>] x 0) 0)"),
    ("max(self.n, 1) == 1", "(compare == (choose (compare < (read n) 1) 1 (read n) : int) 1)"),
    ("min(self.n, 1) == 1", "(compare == (choose (compare > (read n) 1) 1 (read n) : int) 1)"),
    ("next(x for x in self.queue) == 0", "(compare == (first [<x: int[0..top] in (read queue)>] x - : int) 0)"),
    ("next((x for x in self.each(Q) if x != self.who), None) is None",
     "(compare == (first [<x: Q in Q if (compare != x (read who))>] x None : optional[Q]) None)"),
    ("{x for x in self.each(Q) if x.index > 0} == self.qs_seen",
     "(compare == (gather [<x: Q in Q if (compare > (indexnumber x) 0)>] x : set[Q]) (read qs_seen))"),
    ("self.twice(self.n + 1) == 2", "(compare == (call twice [(arithmetic + (read n) 1)]) 2)"),
    ("self.owner(q=self.who) is None", "(compare == (call owner [(read who)]) None)"),
    ("any(True for x in self.each(Annotated[int, Between(1, LIMIT)]))", "(quantify any [<x: int[1..2] in int[1..2]>] True)"),
    ("any(True for x in self.each(Q | None))", "(quantify any [<x: optional[Q] in optional[Q]>] True)"),
]  # fmt: skip


@pytest.mark.parametrize(("python", "meant"), VALUES)
def test_an_expression_becomes_its_node(python: str, meant: str) -> None:
    assert value_of(python, "p: P") == meant


def test_names_of_comprehensions_are_made_unique() -> None:
    text = value_of("any(x == 0 for x in self.queue) and any(x == 1 for x in self.queue)")
    assert "<x: int[0..top]" in text
    assert "<x_2: int[0..top]" in text


def test_a_comprehension_may_reuse_the_name_of_a_local() -> None:
    lines = statements_of("x = self.n\nrequire(any(x for x in self.each(bool)) and x == 0)")
    assert lines[0] == "let x: int = (read n)"
    assert "<x_2: bool in bool>] x_2" in lines[1]
    assert "(compare == x 0)" in lines[1]


def test_a_require_narrows_what_follows() -> None:
    lines = statements_of("require(self.q is not None)\nself.who = self.q")
    assert lines[1] == "who := (present (read q) : Q)"


def test_a_local_copies_what_is_known_of_its_value() -> None:
    lines = statements_of("require(self.q is not None)\nx = self.q\nif x is not None:\n    self.who = x")
    assert lines[1:3] == ["let x: optional[Q] = (read q)", "when (compare != x None)"]


@pytest.mark.parametrize(
    "test",
    [
        "len(self.queue) >= 2", "1 < len(self.queue)", "len(self.queue) > 1", "len(self.queue) == 2",
        "not len(self.queue) < 2", "not len(self.queue) <= 1", "self.b and len(self.queue) == 2",
        "len(self.queue) >= 1 and len(self.queue) != 1",
    ],
)  # fmt: skip
def test_a_position_may_be_what_a_test_has_shown_not_to_be_negative(test: str) -> None:
    for body in (
        f"require({test})\nself.n = self.queue[len(self.queue) - 2]",
        f"self.n = self.queue[len(self.queue) - 2] if {test} else 0",
        f"if not ({test}):\n    return\nk = len(self.queue)\nself.n = self.queue[k - 2]",
    ):
        assert "(item (read queue) (arithmetic - " in statements_of(body)[-1]


@pytest.mark.parametrize(
    "body",
    [
        "require(self.n <= len(self.queue))\nself.queue = self.queue[len(self.queue) - self.n:]",
        "require(self.n > 0)\nself.queue = self.queue[:self.n - 1]",
        "require(self.n != 0)\nself.queue = self.queue[:self.n - 1]",
        "require(self.count[p] < self.n)\nself.n = self.queue[self.n - self.count[p]]",
        "self.n = self.queue[max(0, self.n - 1)]",
        "require(0 <= len(self.queue) - 2)\nself.n = self.queue[len(self.queue) - 2]",
        "for k in range(len(self.queue) - 1):\n    self.b = self.queue[k] == self.queue[k + 1]",
        "for k in range(len(self.queue)):\n    if k > 0:\n        self.b = self.queue[k - 1] == self.queue[k]",
    ],
)
def test_a_position_is_accepted_that_is_not_negative(body: str) -> None:
    assert statements_of(body, "p: P")


def test_what_was_shown_of_a_length_ends_with_a_write() -> None:
    shown = "require(len(self.queue) > 1)\nself.queue = self.queue[1:]\nself.n = self.queue[len(self.queue) - 2]"
    with pytest.raises(SpecError, match="may be negative"):
        statements_of(shown)


def test_a_test_of_the_last_item_narrows_it() -> None:
    lines = statements_of("require(self.line[-1] is not None)\nself.who = self.line[-1]")
    assert lines[1] == "who := (present (item (read line) (arithmetic - (size (read line)) 1)) : Q)"


def test_a_write_ends_what_a_test_has_shown() -> None:
    lines = statements_of("if self.q is not None:\n    self.n = self.q.index\n    self.q = None\n    self.b = self.q == self.who")
    assert lines[-1].strip() == "b := (compare == (read q) (read who))"


def test_a_set_may_be_written_with_elements_that_the_store_checks() -> None:
    assert statements_of("self.smalls |= {self.n + 1}") == [
        "smalls := (setbinary | (read smalls) (setliteral [(arithmetic + (read n) 1)] : set[int[0..top]]))"
    ]
