"""Is every branch of every handler taken in the repaired models? Each `if` of an action or of a helper both
ways, seen by tracing the reference.

The models are explored with generated code, as far as MOST_STATES. Of the runs of a step with one effect,
those that come first, second, fourth, eighth and so on are executed by CPython itself, line by line. What
only a repair, a reading or a size decides is not asked for: `if self.old_token:` has one way in a model with
all repairs. What is never taken is listed with the reason why it cannot be.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

import pytest

from antiphon.model.engines import transitions_of
from antiphon.spec.lang import Program, Spec, State, Step, program
from antiphon.spec.protocols.dtp.properties import DtpChecked
from antiphon.spec.protocols.horus.fifo_stacks import DestinationSets, FragStack, NakStack
from antiphon.spec.protocols.horus.ordered_stacks import HorusChecked, HorusViews, TotalStack
from antiphon.spec.protocols.moving_sequencer.properties import MovingSequencerChecked
from antiphon.spec.protocols.rbp.properties import RbpChecked
from antiphon.spec.protocols.rbp_resilient.properties import RbpResilientChecked
from antiphon.spec.protocols.sequencer.properties import SequencerChecked, SequencerViews
from antiphon.spec.protocols.token_broadcast.properties import Figure2Checked, Figure5Checked
from antiphon.spec.protocols.total.properties import TotalChecked

MOST_STATES = 1500

JUDGED = ("invariant", "witness", "obligation", "on")
"""The marks of methods that judge, and do nothing."""

Place = tuple[str, int]
"""A file and a line."""

Branch = tuple[str, str, bool]
"""The method, the test of its `if`, and which way."""


class Branches:
    """The `if`s of the actions, handlers of packets and helpers of a protocol: where each is, which ways are
    possible, which were taken.
    """

    def __init__(self) -> None:
        self.tests: dict[Place, tuple[range, range, Branch]] = {}
        """By each line of a test: all its lines, those of the body, and the way into it."""
        self.files: set[str] = set()
        self.possible: set[Branch] = set()
        self.taken: set[Branch] = set()
        self.ahead: dict[str, set[Branch]] = {}
        self.called: dict[str, set[str]] = {}
        self.written: dict[str, str] = {}

    def read(self, bound: Program) -> None:
        """The `if`s of a protocol, which ways these constants leave open, and (`ahead`) which of them the
        steps of each action can take.
        """
        texts: dict[str, tuple[ast.AST, Place]] = {}
        waiting: list[str] = []
        for method in bound.declaration.methods:
            file = inspect.unwrap(method.function).__code__.co_filename
            if "/spec/protocols/" in file.replace("\\", "/"):
                lines, first = inspect.getsourcelines(method.function)
                tree = ast.parse(textwrap.dedent("".join(lines)))
                texts[method.name] = (tree, (file, first - 1))
                self.written[method.name] = method.function.__name__
                self.called[method.name] = {
                    node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
                } | {method.replaces}
                waiting += [method.name] if method.mark is not None and method.mark.kind not in JUDGED else []
        known: dict[str, set[Branch]] = {}
        closures = {name: self._closure(name, texts, known, bound.constants) for name in texts}
        open_here = set[Branch]().union(*(closures[name] for name in waiting))
        self.possible |= open_here
        steps = {method.name for method in bound.declaration.marked("action", "environment")}
        always = set[Branch]().union(
            *(
                closures[method.name]
                for method in bound.declaration.marked("guard", "on")
                if method.name in texts
            )
        )
        self.ahead = {name: (closures.get(name, set()) | always) & open_here for name in steps}

    def _closure(
        self,
        start: str,
        texts: Mapping[str, tuple[ast.AST, Place]],
        known: dict[str, set[Branch]],
        constants: Mapping[str, Any],
    ) -> set[Branch]:
        """The ways in a method and in all that it can call, by name or as `super()`."""
        found: set[Branch] = set()
        used, waiting = {start}, [start]
        while waiting:
            name = waiting.pop()
            if name not in known:
                tree, place = texts[name]
                self.files.add(place[0])
                known[name] = self._read(self.written[name], tree, place, constants)
            found |= known[name]
            waiting += [other for other in self.called[name] if other in texts and other not in used]
            used |= self.called[name]
        return found

    def _read(self, name: str, node: ast.AST, base: Place, constants: Mapping[str, Any]) -> set[Branch]:
        """The ways that the constants leave open in a part of a method."""
        ways, found = (True, False), set[Branch]()
        if isinstance(node, ast.If):
            file, offset = base
            body = range(node.body[0].lineno + offset, (node.body[-1].end_lineno or 0) + offset + 1)
            text = ast.unparse(node.test)
            written = range(node.lineno + offset, (node.test.end_lineno or node.lineno) + offset + 1)
            for line in written:
                self.tests[file, line] = (written, body, (name, text, True))
            known = decided(node.test, constants)
            ways = (True, False) if known is None else (bool(known),)
            found = {(name, text, way) for way in ways}
            inner = [*(node.body if True in ways else []), *(node.orelse if False in ways else [])]
        else:
            inner = list(ast.iter_child_nodes(node))
        return found.union(*(self._read(name, child, base, constants) for child in inner))

    def run(self, bound: Program, state: State | None, step: Step | None) -> None:
        """Execute one step, or the initial methods, and note the ways that it took."""
        found: set[Branch] = set()

        def enter(frame: FrameType, event: str, argument: Any) -> Any:
            return (
                _Frame(self, frame.f_code.co_filename, found).line
                if frame.f_code.co_filename in self.files
                else None
            )

        before = sys.gettrace()
        sys.settrace(enter)
        try:
            if state is None or step is None:
                bound.reference.initial()
            else:
                bound.reference.apply(state, step)
        finally:
            sys.settrace(before)
        self.taken |= found


def decided(test: ast.expr, constants: Mapping[str, Any]) -> Any:
    """The value of an expression if constants of the specification decide it, else None."""
    if isinstance(test, ast.Constant):
        return test.value
    if isinstance(test, ast.Attribute) and isinstance(test.value, ast.Name) and test.value.id == "self":
        return constants.get(test.attr)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = decided(test.operand, constants)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        values = [decided(value, constants) for value in test.values]
        ends = isinstance(test.op, ast.Or)
        if any(value is not None and bool(value) == ends for value in values):
            return ends
        return None if None in values else not ends
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.NotEq)):
        sides = [decided(test.left, constants), decided(test.comparators[0], constants)]
        return None if None in sides else (sides[0] == sides[1]) == isinstance(test.ops[0], ast.Eq)
    return None


class _Frame:
    """One call: the `if` whose test was evaluated last, until the next line shows which way it went."""

    def __init__(self, branches: Branches, file: str, found: set[Branch]) -> None:
        self.branches, self.file, self.found = branches, file, found
        self.open: tuple[range, range, Branch] | None = None

    def line(self, frame: FrameType, event: str, argument: Any) -> Any:
        number = frame.f_lineno
        if self.open is not None:
            written, body, (name, test, _) = self.open
            if event == "return" or number not in written:
                self.found.add((name, test, event != "return" and number in body))
                self.open = None
        if event == "line" and (self.file, number) in self.branches.tests:
            self.open = self.branches.tests[self.file, number]
        return self.line


def runs(bound: Program, branches: Branches) -> Iterator[tuple[State, Step]]:
    """States and steps to run: for each effect of a step the first, the second, the fourth and so on, while
    the step can still take a new way.
    """
    edges = transitions_of(bound)
    front = [edges.pack(state) for state in bound.reference.initial()]
    seen, effects = set(front), Counter[tuple[int, int]]()
    for packed in front:
        for number, after in edges.successors(packed):
            effects[number, packed ^ after] += 1
            met = effects[number, packed ^ after]
            if (
                met & (met - 1) == 0
                and not branches.ahead[(step := edges.step(number)).action] <= branches.taken
            ):
                yield edges.unpack(packed), step
            if after not in seen and len(seen) < MOST_STATES:
                seen.add(after)
                front.append(after)


def never_taken(models: list[tuple[type[Spec], dict[str, Any]]]) -> set[Branch]:
    """The branches that are possible in some repaired model of these, and that none takes. All are of one
    protocol.
    """
    branches = Branches()
    for spec, constants in models:
        bound = program(spec, repairs="all", **constants)
        branches.read(bound)
        branches.run(bound, None, None)
        for state, step in runs(bound, branches):
            branches.run(bound, state, step)
    return branches.possible - branches.taken


SEQUENCER: dict[str, Any] = {"processes": 3, "messages": 2}
TOTAL: dict[str, Any] = {"processes": 3, "messages": 2, "losses": 1, "patient": True, "assigned": True}
PAIR: dict[str, Any] = {
    "processes": 2,
    "messages": 2,
    "losses": 1,
    "crashes": 0,
    "reforms": True,
    "assigned": True,
}
RING: dict[str, Any] = {
    "processes": 3,
    "messages": 1,
    "losses": 1,
    "unlimited": True,
    "urgent": True,
    "assigned": True,
}
CALM: dict[str, Any] = {
    "processes": 2,
    "messages": 1,
    "passes": 4,
    "losses": 0,
    "crashes": 0,
    "unlimited": True,
    "urgent": True,
    "assigned": True,
}

LATE: dict[str, Any] = {"processes": 3, "losses": 0, "timeouts": 0, "tie": "lowest"}
LAYER: dict[str, Any] = {"processes": 3, "stride": 1}
FULL_STACK: dict[str, Any] = {"patient": True, "crashes": 1, "oracle": "one that waits"}

MODELS: dict[str, list[tuple[type[Spec], dict[str, Any]]]] = {
    "figure 2": [(Figure2Checked, {"processes": 3, "messages": 1, "losses": 1})],
    "figure 5": [(Figure5Checked, {"processes": 3, "messages": 1, "losses": 1})],
    "moving sequencer": [
        (MovingSequencerChecked, {"processes": 3, "messages": 1, "losses": 1, "urgent": True})
    ],
    "rbp": [
        (RbpChecked, {"processes": 2, "messages": 1, "losses": 1, "unlimited": True}),
        (RbpChecked, RING | {"unlimited": False, "timeouts": 1, "patient": True}),
        (RbpChecked, {"processes": 3, "messages": 2, "losses": 0, "timeouts": 0, "urgent": True}),
        (RbpChecked, {"processes": 4, "messages": 1, "losses": 0, "timeouts": 0, "urgent": True}),
    ],
    "rbp-resilient": [
        (RbpResilientChecked, CALM | {"losses": 1}),
        (RbpResilientChecked, CALM | {"unlimited": False, "timeouts": 1}),
        (RbpResilientChecked, CALM | {"losses": 1, "crashes": 1, "patient": True, "brief": False}),
        (RbpResilientChecked, CALM | {"suspicions": 1}),
        (
            RbpResilientChecked,
            CALM | {"processes": 3, "passes": 1, "crashes": 2, "patient": True, "brief": False},
        ),
        (RbpResilientChecked, CALM | {"late": True, "resilience": 2}),
        (RbpResilientChecked, CALM | {"strays": 1}),
    ],
    "sequencer": [
        (SequencerChecked, SEQUENCER | {"messages": 1, "crashes": 1, "views": 2}),
        (SequencerChecked, SEQUENCER | {"crashes": 0, "views": 2, "stops": 1, "unicast": "unordered"}),
        (SequencerChecked, SEQUENCER | {"crashes": 0, "views": 2, "handovers": True, "loopback": "queued"}),
        (
            SequencerViews,
            SEQUENCER | {"messages": 1, "crashes": 1, "joiners": 1, "views": 3, "reforms": True},
        ),
    ],
    "total": [
        (TotalChecked, TOTAL | {"first_ids": 2}),
        (TotalChecked, TOTAL | {"messages": 1, "losses": 0, "crashes": 2, "views": 3, "patient": False}),
        (TotalChecked, PAIR | {"suffix": "acknowledged", "views": 1}),
        (TotalChecked, TOTAL | {"joiners": 1, "crashes": 0}),
        (TotalChecked, PAIR | {"expected": 1}),
        (
            TotalChecked,
            PAIR | {"suffix": "acknowledged", "keeping": "until acknowledged", "early": "dropped"},
        ),
    ],
    "dtp": [
        (DtpChecked, {"processes": 2, "messages": 2, "losses": 1, "unlimited": True, "nulls": 1}),
        (DtpChecked, LATE | {"messages": 2, "senders": 1}),
        (DtpChecked, LATE | {"messages": 1, "senders": 1, "nulls": 1, "losses": 1, "timeouts": 1}),
        (DtpChecked, {"processes": 2, "messages": 1, "losses": 1, "unlimited": True, "nulls": 2}),
        (
            DtpChecked,
            {
                "processes": 2,
                "messages": 1,
                "losses": 1,
                "unlimited": True,
                "nulls": 1,
                "resilience": 1,
            },
        ),
    ],
    "horus nak": [
        (NakStack, {"processes": 2, "messages": 2, "casts": 2}),
        (NakStack, {"processes": 3, "messages": 2, "casts": 2, "patient": True}),
        (DestinationSets, {"processes": 3, "messages": 1, "casts": 1}),
    ],
    "horus frag": [(FragStack, {"processes": 2, "messages": 2, "casts": 4, "buffer": 2})],
    "horus total": [
        (TotalStack, LAYER | {"messages": 2, "crashes": 1}),
        (
            TotalStack,
            LAYER | {"messages": 3, "crashes": 0, "suspicions": 2, "stride": 2, "oracle": "one that waits"},
        ),
        (TotalStack, LAYER | {"messages": 1, "crashes": 1, "oracle": "next in rank"}),
    ],
    "horus, full stack": [
        (HorusChecked, FULL_STACK | {"processes": 2, "messages": 1, "casts": 3, "buffer": 3}),
        (HorusViews, FULL_STACK | {"processes": 3, "messages": 1, "casts": 2, "losses": 0}),
    ],
}

NARROWED = "the guard before it has said so; the type checker has not heard"

NEVER: dict[str, dict[Branch, str]] = {
    "figure 2": {},
    "figure 5": {
        ("request", "m is not None", False): NARROWED,
        ("deliver_missing", "m is not None", False): NARROWED,
    },
    "moving sequencer": {("sequence", "m is not None", False): NARROWED},
    "rbp": {
        ("resend", "own is not None", False): NARROWED,
        ("resend_token", "sent is not None", False): NARROWED,
        ("sequence", "body is not None", False): NARROWED,
        (
            "take_token",
            "self.last_number[p] > item.number",
            True,
        ): "line 38 does not see an old token: it was answered before (RBP-06)",
        (
            "receive_request",
            "body.identifier == packet.identifier",
            False,
        ): "a request to one who has two bodies lies deeper",
        (
            "receive_request_numbers",
            "packet.first <= item.number and item.number <= packet.last",
            False,
        ): "a request to one who knows more numbers than are asked for lies deeper",
    },
    "rbp-resilient": {
        ("resend", "own is not None", False): NARROWED,
        ("resend_token", "sent is not None", False): NARROWED,
        ("sequence", "body is not None", False): NARROWED,
        ("detect_successor", "after is not None", False): NARROWED,
        ("suspect_successor", "after is not None", False): NARROWED,
        (
            "take_message",
            "self.successor(p) == p",
            True,
        ): "nobody is its own successor in a ring of more than one (RBP-08)",
        (
            "take_ack",
            "item.number > self.last_number[p] + 1",
            True,
        ): "a process that is not named and misses a number lies deeper",
        (
            "take_token",
            "self.last_number[p] > item.number",
            True,
        ): "line 42 does not see an old token: it was answered before (RBP-06)",
        ("stray", "self.records_ack(False)", True): "an ACK of another list is dropped (RBP-19)",
    },
    "sequencer": {
        ("send", "to is not None", False): NARROWED,
    },
    "total": {
        ("ask", "to is not None and lowest is not None", False): NARROWED,
        ("synchronise", "k is not None", False): NARROWED,
        ("synchronise", "m is not None", False): NARROWED,
        (
            "change_view",
            "not is_next",
            False,
        ): "a sequencer that tells nobody is another reading of `announcing` (TOT-23)",
        (
            "receive_request",
            "self.is_sequencer(p)",
            False,
        ): "members that have the same list send requests to the sequencer only (TOT-01)",
    },
    "dtp": {
        (
            "answer",
            "item is not None",
            False,
        ): "a REQ that comes late for an ACK that was removed lies deeper; test_dtp goes there",
        ("receive_early_message", "j is not None", False): NARROWED,
        ("receive_next_message", "j is not None", False): NARROWED,
        ("resend_pass", "sent is not None", False): NARROWED,
        ("send_pass", "sent.number > 0", False): NARROWED,
    },
    "horus nak": {},
    "horus frag": {
        (
            "arrive",
            "self.accepts(envelope.to, envelope.source)",
            False,
        ): "destination sets do not change in this stack; in that of NAK they do"
    },
    "horus total": {("pass_token", "k is not None", False): NARROWED},
    "horus, full stack": {
        ("complete", "k is not None", False): NARROWED,
        ("pass_token", "k is not None", False): NARROWED,
    },
}
"""Branches that no repaired model takes, with the reason."""


LARGE = {"rbp-resilient", "total", "sequencer", "dtp", "horus total"}


@pytest.mark.deep
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.deep] * (name in LARGE)) for name in MODELS]
)
def test_every_branch_is_taken_in_some_repaired_model_or_told(name: str) -> None:
    assert never_taken(MODELS[name]) == set(NEVER[name])


def test_a_branch_that_no_model_takes_is_seen() -> None:
    """Two processes cannot miss a number that a later one shows."""
    few = never_taken(
        [(RbpChecked, {"processes": 2, "messages": 1, "losses": 0, "timeouts": 0, "urgent": True})]
    )
    assert ("take_token", "item.number > self.last_number[p] + 1", True) in few
    assert ("take_token", "item.number > self.last_number[p] + 1", False) not in few


def over_lines(one: bool, other: bool) -> bool:
    """A test that takes several lines."""
    if (
        one  # the comment keeps the formatter away
        and other
    ):
        one = False
    return one


def test_a_test_over_several_lines_is_seen_both_ways() -> None:
    branches = Branches()
    lines, first = inspect.getsourcelines(over_lines)
    branches.files.add(__file__)
    open_here = branches._read("over_lines", ast.parse("".join(lines)), (__file__, first - 1), {})
    assert {way for _, _, way in open_here} == {True, False}
    for given, way in (((True, True), True), ((True, False), False), ((False, True), False)):
        found: set[Branch] = set()
        sys.settrace(lambda frame, event, argument: _Frame(branches, __file__, found).line)  # noqa: B023
        over_lines(*given)
        sys.settrace(None)
        assert {taken for _, _, taken in found} == {way}


def test_what_constants_decide() -> None:
    constants = {"literal": False, "reading": "one", "size": 2}
    given = {
        "self.literal": False,
        "not self.literal": True,
        "self.literal and here": False,
        "self.reading == 'one' or here": True,
        "self.reading != 'one'": False,
        "self.literal or here": None,
        "here": None,
        "self.size == there": None,
    }
    assert {text: decided(ast.parse(text, mode="eval").body, constants) for text in given} == given
