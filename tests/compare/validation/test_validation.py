"""Logs of real runs are explained by a behaviour of a specification, or it is said where and why not.

The search is held against a brute force of all sequences of steps, on small logs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.conformance.compare.validation import (
    Log,
    Observation,
    ObservationError,
    Validation,
    read_logs,
    validate,
)
from antiphon.conformance.compare.validation.observations import Steps, fits
from antiphon.model.bounds import Bounds
from antiphon.model.verdict import Outcome
from antiphon.spec.examples.raft import Raft, Role, Server, Vote
from antiphon.spec.lang import (
    Between,
    Const,
    In,
    Index,
    Map,
    Program,
    Set,
    Spec,
    SpecError,
    State,
    Transition,
    action,
    environment,
    everywhere,
    invariant,
    program,
    record,
    require,
    step_invariant,
)

HOLDS, VIOLATED, UNKNOWN = Outcome.HOLDS, Outcome.VIOLATED, Outcome.UNKNOWN


class Node(Index, size="nodes", ordered=True):
    """A node."""


@record
class Parcel:
    """From one to another."""

    sender: Node
    to: Node


class Post(Spec):
    """Nodes send parcels, of which the network may lose some; each counts what it has got."""

    nodes: Const[int] = 2
    network: Set[Parcel] = Set()
    got: Map[Node, Annotated[int, Between(0, 9)]] = everywhere(0)

    @action
    def send(self, n: Node, to: Node) -> None:
        """A parcel goes out."""
        require(n != to)
        require(Parcel(n, to) not in self.network)
        self.network |= {Parcel(n, to)}

    @action
    def receive(self, parcel: Annotated[Parcel, In("network")]) -> None:
        """A parcel comes in."""
        require(self.got[parcel.to] < 9)
        self.network -= {parcel}
        self.got[parcel.to] += 1

    @environment
    def lose(self, parcel: Annotated[Parcel, In("network")]) -> None:
        """A parcel does not come in."""
        self.network -= {parcel}

    @invariant
    def Even(self) -> bool:
        """The first has got no more than one."""
        return all(self.got[n] < 2 for n in self.each(Node) if n.index == 0)


def logs(bound: Program, *told: list[dict[str, Any]]) -> list[Log]:
    """A log for each list of observations."""
    steps = Steps(bound)
    return [
        Log(file, tuple(steps.observation(item, file, n) for n, item in enumerate(items, 1)))
        for file, items in ((f"{k}.ndjson", items) for k, items in enumerate(told))
    ]


def ask(*told: list[dict[str, Any]], nodes: int = 2, **more: Any) -> Validation:
    bound = program(Post, nodes=nodes)
    return validate(bound, logs(bound, *told), **more)


def send(n: int, to: int, **more: Any) -> dict[str, Any]:
    return {"action": "send", "args": {"n": n, "to": to}, **more}


def receive(sender: int, to: int, **more: Any) -> dict[str, Any]:
    return {"action": "receive", "args": {"parcel": {"sender": sender, "to": to}}, **more}


# Explained -------------------------------------------------------------------------------------------------


def test_a_log_is_explained_by_steps_that_replay() -> None:
    found = ask([send(0, 1), {"state": {"got": {1: 0}}}, receive(0, 1, state={"got": {"1": 1}})])
    assert (found.outcome, found.lines, found.hidden) == (HOLDS, 3, 0)
    assert found.trace is not None
    assert [str(step) for step in found.trace.steps] == [
        "send(Node(0), Node(1))", "receive(Parcel(sender=Node(0), to=Node(1)))",
    ]  # fmt: skip
    assert found.trace.initial


@pytest.mark.parametrize(
    ("line", "ways"),
    [
        ({"action": "send"}, 2),
        ({"action": "send", "args": {"to": lambda to: to == 1}}, 1),
        ({"action": ["send", "lose"], "state": {"network": [{"sender": 1, "to": 0}]}}, 1),
        ({"action": "send", "state": {"network": lambda network: len(network) == 1}}, 2),
        ({"action": "send", "stay": True}, 3),
        ({"state": {"got": [0, 0]}}, 1),
        ({"before": {"network": []}}, 1),
    ],
)
def test_a_line_may_tell_little_and_then_several_steps_explain_it(line: dict[str, Any], ways: int) -> None:
    assert ask([line], every=True).ways == ways


def test_steps_that_no_line_tells_of_are_taken_within_their_budget() -> None:
    told = [send(0, 1), send(0, 1), send(0, 1)]
    assert ask(told).outcome is VIOLATED
    assert ask(told, hidden={"lose": 1}).outcome is VIOLATED
    found = ask(told, hidden={"lose": 2})
    assert (found.outcome, found.hidden) == (HOLDS, 2)
    assert found.trace is not None
    assert [step.action for step in found.trace.steps] == ["send", "lose", "send", "lose", "send"]
    with pytest.raises(ObservationError, match=r"no action 'loose'.*did you mean 'lose'"):
        ask(told, hidden={"loose": 1})


def test_a_log_may_begin_in_the_middle() -> None:
    told = [receive(0, 1, state={"got": {1: 6}})]
    assert ask(told).outcome is VIOLATED
    found = ask(told, start={"got": {"0": 0, "1": 5}, "network": [{"sender": 0, "to": 1}]})
    assert found.outcome is HOLDS
    assert found.trace is not None
    assert not found.trace.initial
    with pytest.raises(ObservationError, match=r"the beginning: got = .*, which is none of its values"):
        ask(told, start={"got": [0, 99]})
    with pytest.raises(ObservationError, match=r"no variable 'gott'.*did you mean 'got'"):
        ask(told, start={"gott": [0, 0]})


# Several logs ----------------------------------------------------------------------------------------------


def test_several_logs_are_put_in_an_order_that_the_specification_allows() -> None:
    """The order in which logs are named has no effect; the lines of each log stay in order."""
    first, second = [receive(1, 0), send(0, 1)], [send(1, 0), receive(0, 1)]
    for told in ((first, second), (second, first)):
        found = ask(*told)
        assert found.outcome is HOLDS
        assert found.trace is not None
        assert [step.action for step in found.trace.steps] == ["send", "receive", "send", "receive"]
    waits = ask(first, list(reversed(second)))
    assert waits.outcome is VIOLATED
    assert waits.failure is not None
    assert [seen.place for seen in waits.failure.lines] == ["0.ndjson:1", "1.ndjson:1"]


def test_a_line_that_receives_comes_after_the_one_that_sends() -> None:
    """The specification alone would allow another order."""
    one = [{"state": {"network": []}}, send(0, 1, sends="m")]
    other = [{"state": {"network": []}, "receives": ["m"]}]
    found = ask(one, other)
    assert found.outcome is VIOLATED
    assert found.failure is not None
    assert found.failure.explained == 2
    assert [seen.place for seen in found.failure.lines] == ["1.ndjson:1"]
    free: list[dict[str, Any]] = [{"state": {"network": []}}]
    assert ask(one, free).outcome is HOLDS
    late = ask([{"state": {"got": {0: 1}}}, {"state": {}, "sends": 7}], [{"receives": 7, "state": {}}])
    assert "what it receives is sent at 0.ndjson:2, which is not explained yet" in obstacles(late)


# Not explained ---------------------------------------------------------------------------------------------


def obstacles(found: Validation) -> list[str]:
    assert found.failure is not None
    return [str(item) for stuck in found.failure.stuck for _, why in stuck.lines for item in why]


def test_the_false_guard_of_every_step_is_named() -> None:
    found = ask([send(0, 1), {"action": "send", "args": {"n": 0}}])
    assert found.outcome is VIOLATED
    assert found.reason == "no behaviour explains 0.ndjson:2; 1 of 2 observations are explained"
    assert found.failure is not None
    assert (found.failure.explained, found.failure.states) == (1, 1)
    twice, same = sorted(obstacles(found))
    assert twice.startswith("send: requires Parcel(n, to) not in self.network (")
    assert twice.endswith(": send(p0, p1)") or "send(n0, n1)" in twice
    assert "requires n != to" in same


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (receive(0, 1, state={"got": {1: 2}}), "receive: after it got[n1] is 1, and the log says 2: "),
        (receive(0, 1, state={"got": {1: 99}}), "and the log says 99, which is no value of got[n1]"),
        (receive(1, 0), "receive: requires parcel in self.network"),
        (receive(0, 1, before={"got": {1: 1}}), "before it got[n1] is 0, and the log says 1"),
        ({"action": "receive", "args": {"parcel": {"to": 0}}}, "self.network has no such parcel"),
        ({"state": {"got": {1: lambda n: n > 3}}}, "got[n1] is 0, which is not what the map asks"),
        ({"state": {"got": {7: 1}}}, "got[7] is nothing, and the log says 1"),
        ({"action": "send", "args": {"n": 7}}, "send: n is told as 7, which is none of its values"),
    ],
)
def test_what_a_line_tells_otherwise_is_said(line: dict[str, Any], told: str) -> None:
    found = ask([send(0, 1), line])
    assert found.outcome is VIOLATED
    (why,) = obstacles(found)
    assert told in why


def test_all_states_in_which_the_system_may_be_are_known() -> None:
    """Three nodes; of the first send nothing is told but that it was one."""
    found = ask([{"action": "send"}, send(0, 0)], nodes=3)
    assert found.failure is not None
    assert found.failure.states == 6
    assert len({stuck.state for stuck in found.failure.stuck}) == 6
    assert len(obstacles(found)) == 6


def test_a_step_that_leaves_the_domains_is_an_error_of_the_constants_at_that_line() -> None:
    """A log may be longer than the bounds of the specification."""

    class Short(Wheel):
        """A wheel that turns too far."""

        def turn(self, by: Annotated[int, Between(1, 3)]) -> None:
            self.at += by

    bound = program(Short, spokes=4)
    with pytest.raises(SpecError, match=r"0.ndjson:2, turn\(3\): self.at = 6 leaves its domain"):
        validate(bound, logs(bound, [{"action": "turn", "args": {"by": 3}}] * 2))


def test_arguments_that_another_action_has_do_not_matter() -> None:
    """A map gives all that a line tells, whatever kind of line it is; and in a look at the state too."""
    bound = program(Post)
    more = {"to": 1, "parcel": lambda parcel: 1 / 0}
    told = [{"action": "send", "args": {"n": 0, **more}}, {"state": {"got": {0: 0}}, "args": more}]
    assert validate(bound, logs(bound, told)).outcome is HOLDS


class Dial(Spec):
    """A dial with many places."""

    places: Const[int] = 5_000
    at: Annotated[int, Between(0, "places")] = 0

    @action
    def turn(self, to: Annotated[int, Between(0, "places")]) -> None:
        """To another place."""
        require(to != self.at)
        self.at = to


def test_an_argument_that_is_not_told_is_tried_first_with_the_numbers_that_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bound, tried = program(Dial), list[State]()
    taken = Steps.taken
    monkeypatch.setattr(Steps, "taken", lambda *given: tried.append(given[1]) or taken(*given))
    told = [{"action": "turn", "state": {"at": at}} for at in (4_000, 7, 4_999)]
    found = validate(bound, logs(bound, told))
    assert (found.outcome, len(tried)) == (HOLDS, 3)


@pytest.mark.parametrize("told", [[], [[]], [[], []]])
def test_of_empty_logs_nothing_is_known(told: list[list[dict[str, Any]]]) -> None:
    assert ask(*told).outcome is UNKNOWN


def test_of_logs_of_which_one_is_empty_nothing_is_known() -> None:
    """A log that was lost, or that the map leaves out, may hold what no behaviour explains."""
    found = ask([{"action": "send"}], [])
    assert found.outcome is UNKNOWN
    assert found.reason.startswith("nothing is known of a whole log: there is no observation in ")


@pytest.mark.parametrize("told", [{}, {"stay": True}, {"action": [], "state": {}, "sends": []}])
def test_an_observation_that_says_nothing_is_an_error_at_its_line(told: dict[str, Any]) -> None:
    with pytest.raises(ObservationError, match=r"0.ndjson:1: the observation says nothing: a map"):
        ask([told])


def test_a_search_that_is_stopped_knows_nothing() -> None:
    told = [{"action": "send"}] * 3 + [send(0, 0)]
    found = ask(told, nodes=3, bounds=Bounds(states=20))
    assert found.outcome is UNKNOWN
    assert "the bound of 20 states ended the search" in found.reason


# Properties ------------------------------------------------------------------------------------------------


def test_a_property_that_is_false_in_all_explanations_is_violated() -> None:
    found = ask([send(1, 0), receive(1, 0)] * 2)
    assert (found.outcome, found.ways, found.broken) == (VIOLATED, 1, {"Even": 1})
    assert found.reason == "4 observations explained in 1 way; false: Even in all"


def test_a_property_that_is_false_in_some_explanations_is_unknown() -> None:
    """The receiver of the second parcel is not logged."""
    told = [send(1, 0), receive(1, 0), send(1, 0), send(0, 1), {"action": "receive"}]
    found = ask(told, every=True)
    assert (found.outcome, found.ways, found.broken) == (UNKNOWN, 2, {"Even": 1})
    assert found.reason == "5 observations explained in 2 ways; false: Even in 1"


def test_of_a_prefix_no_property_is_judged() -> None:
    found = ask([send(1, 0), receive(1, 0), send(1, 0), receive(1, 0), receive(0, 1)])
    assert (found.outcome, found.broken) == (VIOLATED, {})
    assert "no behaviour explains 0.ndjson:5" in found.reason


class Forward(Post):
    """Post that is only sent forward."""

    @step_invariant
    def Fewer(self, before: Forward) -> bool:
        """A step takes no parcel away that a node has not got."""
        return len(self.network) >= len(before.network)


def test_what_only_steps_break_is_judged_on_explanations_too() -> None:
    """The second parcel may have been lost or got; that it was got breaks it as well."""
    bound = program(Forward)
    told = [send(0, 1), {"action": ["receive", "lose", "send"]}]
    found = validate(bound, logs(bound, told), every=True)
    assert (found.outcome, found.ways, found.broken) == (UNKNOWN, 3, {"Fewer": 2})


@pytest.mark.parametrize(
    ("name", "value", "wanted", "is_so"),
    [
        ("messages", Vote(1, Server(0), Server(1)), {"#record": "Vote", "voter": 0}, True),
        ("messages", Vote(1, Server(0), Server(1)), {"#record": "RequestVote"}, False),
        ("messages", Vote(1, Server(0), Server(1)), {"voter": 1}, False),
        ("messages", Vote(1, Server(0), Server(1)), {"entries": []}, False),
        ("log", (1, 2), [1, 2], True),
        ("log", (1, 2), [1], False),
        ("log", (1, 2), [1, 2, 2], False),
        ("log", (1, 2), [1, 1], False),
        ("role", Role.LEADER, "LEADER", True),
        ("role", Role.LEADER, Role.FOLLOWER, False),
        ("voted_for", None, None, True),
        ("voted_for", Server(0), None, False),
        ("voted_for", None, 0, False),
        ("voted_for", Server(1), 1, True),
    ],
)
def test_a_value_is_as_told_as_far_as_that_goes(
    name: str, value: object, wanted: object, *, is_so: bool
) -> None:
    domain = program(Raft, entries=3).domains[name]
    assert fits(domain.parts[0 if name == "messages" else 1], value, wanted) is is_so


# Against brute force ---------------------------------------------------------------------------------------


def brute(bound: Program, told: list[Observation], lost: int) -> tuple[int, int, set[State]]:
    """Number of behaviours that explain all lines, the most lines that one explains, and the states there."""
    steps = Steps(bound)
    ends: dict[int, set[State]] = {}

    def go(state: State, done: int, left: int) -> int:
        ends.setdefault(done, set()).add(state)
        if done == len(told):
            return 1
        ways = 0
        for transition in bound.reference.successors(state):
            if _is_told(steps, transition, told[done]):
                ways += go(transition.state, done + 1, left)
            if transition.step.action == "lose" and left:
                ways += go(transition.state, done, left - 1)
        return ways

    ways = sum(go(start, 0, lost) for start in bound.reference.initial())
    most = max(ends)
    return ways, most, ends[most]


def _is_told(steps: Steps, transition: Transition, seen: Observation) -> bool:
    """True if a step is one that a line logs; compares numbers alone."""
    step, got = transition.step, transition.state[1]
    names = [item.name for item in steps.methods[step.action].parameters]
    given = dict(zip(names, step.arguments, strict=True))
    return (
        step.action in seen.actions
        and all(given[name].index == value for name, value in seen.arguments.items())
        and all(got[node : node + 1] == (count,) for node, count in seen.after.get("got", {}).items())
    )


LINES = st.one_of(
    st.fixed_dictionaries(
        {
            "action": st.just("send"),
            "args": st.dictionaries(st.sampled_from(["n", "to"]), st.integers(0, 2)),
        }
    ),
    st.fixed_dictionaries({"action": st.sampled_from(["receive", "lose"])}),
    st.fixed_dictionaries(
        {
            "action": st.just(["send", "receive"]),
            "state": st.dictionaries(st.just("got"), st.dictionaries(st.integers(0, 2), st.integers(0, 2))),
        }
    ),
)


@settings(max_examples=12, deadline=None)
@given(st.lists(LINES, min_size=1, max_size=3), st.integers(0, 1))
def test_ways_prefix_and_states_are_those_of_brute_force(told: list[dict[str, Any]], lost: int) -> None:
    bound = program(Post, nodes=3)
    (log,) = logs(bound, told)
    ways, most, states = brute(bound, list(log.observations), lost)
    found = validate(bound, [log], hidden={"lose": lost} if lost else {}, every=True)
    assert (found.ways or 0) == ways
    assert (found.trace is not None) is (ways > 0)
    if not ways:
        assert found.failure is not None
        assert found.failure.explained == most
        assert found.failure.states == len(states)


COUNTS = st.dictionaries(st.integers(0, 1), st.integers(0, 1))
LOOKS = st.fixed_dictionaries({"state": st.fixed_dictionaries({"got": COUNTS})})


@settings(max_examples=15, deadline=None)
@given(st.lists(st.lists(LINES | LOOKS, min_size=1, max_size=3), min_size=2, max_size=2))
def test_of_several_logs_as_many_lines_are_explained_as_by_brute_force(
    told: list[list[dict[str, Any]]],
) -> None:
    """Looks are taken as soon as they agree: that costs no explanation."""
    bound = program(Post)
    both = logs(bound, *told)
    steps, most = Steps(bound), 0

    def go(state: State, done: tuple[int, ...]) -> None:
        nonlocal most
        most = max(most, sum(done))
        for number, log in enumerate(both):
            if done[number] == len(log.observations):
                continue
            seen = log.observations[done[number]]
            further = tuple(n + (k == number) for k, n in enumerate(done))
            if not seen.actions and steps.agrees(state, seen.after):
                go(state, further)
            for transition in bound.reference.successors(state):
                if _is_told(steps, transition, seen):
                    go(transition.state, further)

    go(bound.reference.initial()[0], (0, 0))
    found = validate(bound, both)
    if not found.lines:
        return
    explained = found.lines if found.failure is None else found.failure.explained
    assert explained == most
    assert (found.trace is not None) is (most == found.lines)


# Reading ---------------------------------------------------------------------------------------------------


def written(tmp_path: Path, *lines: object) -> Path:
    file = tmp_path / "run.ndjson"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return file


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"act": "send"}, r"run.ndjson:1: an observation has no 'act'; .*did you mean 'args'|known: action"),
        ({"action": "sent"}, r"run.ndjson:1: no action 'sent'; .*did you mean 'send'"),
        ({"action": "send", "args": {"m": 1}}, r"run.ndjson:1: args: no 'm'; known: n, to"),
        ({"state": {"gott": 1}}, r"run.ndjson:1: state: no 'gott'; .*did you mean 'got'"),
        ({"state": 3}, "state is 3; it is a dict"),
        (3, "3 is no observation"),
    ],
)
def test_an_observation_that_means_nothing_is_refused_with_its_place(
    tmp_path: Path, line: object, told: str
) -> None:
    with pytest.raises(ObservationError, match=told):
        read_logs(program(Post), [written(tmp_path, line)])


def test_a_map_says_of_a_line_nothing_one_thing_or_several(tmp_path: Path) -> None:
    file = tmp_path / "run.txt"
    file.write_text("noise\nn0 posts to n1, which gets it\n\n")

    def observe(line: str) -> list[dict[str, Any]] | None:
        return [send(0, 1), receive(0, 1)] if "posts" in line else None

    (log,) = read_logs(program(Post), [file], observe)
    assert [(seen.line, seen.actions) for seen in log.observations] == [(2, ("send",)), (2, ("receive",))]
    assert validate(program(Post), [log]).outcome is HOLDS
    damaged = tmp_path / "run.ndjson"
    damaged.write_text('{"action": "send"}\n{"action": \n')
    with pytest.raises(ObservationError, match=r"run.ndjson:2: not JSON"):
        read_logs(program(Post), [damaged])
    damaged.write_text('{"action": "send"}\n' + "[" * 9000 + "]" * 9000 + "\n")
    with pytest.raises(ObservationError, match=r"run.ndjson:2: not JSON"):
        read_logs(program(Post), [damaged])


def test_a_log_may_begin_with_the_mark_of_its_encoding(tmp_path: Path) -> None:
    """Windows writes it before the first line of UTF-8, where its shell redirects output."""
    file = tmp_path / "run.ndjson"
    file.write_text('{"action": "send"}\r\n', encoding="utf-8-sig")
    (log,) = read_logs(program(Post), [file])
    assert [(seen.line, seen.actions) for seen in log.observations] == [(1, ("send",))]


def state(got: list[int], *parcels: tuple[int, int]) -> dict[str, Any]:
    return {
        "got": {"#map": [[f"n{k}", count] for k, count in enumerate(got)]},
        "network": {"#set": [{"sender": f"n{a}", "to": f"n{b}"} for a, b in parcels]},
    }


def test_a_trace_of_another_tool_is_a_log_whose_states_are_whole(tmp_path: Path) -> None:
    """Apalache and Quint write such traces; the report names a state that does not follow, and the guards
    that forbid it.
    """
    names = ["init", "send", "send", "receive", "send"]
    sent = state([0, 0], (0, 1))
    states = [state([0, 0]), sent, sent, state([0, 1]), state([0, 1], (1, 0))]
    data = {
        "#meta": {"format": "ITF"},
        "vars": ["got", "network", "mbt::actionTaken"],
        "states": [item | {"mbt::actionTaken": name} for item, name in zip(states, names, strict=True)],
    }
    file = tmp_path / "run.itf.json"
    file.write_text(json.dumps(data))
    bound = program(Post)
    found = validate(bound, read_logs(bound, [file]))
    assert found.outcome is HOLDS
    assert found.trace is not None
    assert len(found.trace) == 3
    file.write_text(json.dumps(data).replace("receive", "lose"))
    found = validate(bound, read_logs(bound, [file]))
    assert found.outcome is VIOLATED
    assert found.failure is not None
    assert [(seen.line, seen.actions) for seen in found.failure.lines] == [(3, ("lose",))]
    assert "lose: after it got is (0, 0), and the log says" in obstacles(found)[0]


class Wheel(Spec):
    """A wheel that turns."""

    spokes: Const[int] = 7
    at: Annotated[int, Between(0, "spokes")] = 0

    @action
    def turn(self, by: Annotated[int, Between(1, 3)]) -> None:
        """By a few spokes."""
        self.at = (self.at + by) % (self.spokes + 1)


def turns(count: int) -> Iterator[Mapping[str, Any]]:
    at = 0
    for k in range(count):
        at = (at + 1 + k % 3) % 8
        yield {"action": "turn", "state": {"at": at}}


@pytest.mark.deep
def test_ten_thousand_lines_are_explained_in_seconds() -> None:
    """Less than ten; and where one line is lost, the next that cannot follow is told as soon."""
    bound = program(Wheel)
    told = list(turns(10_000))
    found = validate(bound, logs(bound, told))  # type: ignore[arg-type]
    assert found.outcome is HOLDS
    assert found.seconds < 10
    del told[5_001:5_003]
    found = validate(bound, logs(bound, told))  # type: ignore[arg-type]
    assert found.failure is not None
    assert found.failure.explained == 5_001
