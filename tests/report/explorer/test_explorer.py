"""The explorer shows the states of the specification, whoever asks and in whatever order."""

import asyncio
import base64
import hashlib
import html
import json
import os
import re
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Annotated, Any

import pytest
from tests.report.explorer.files import content
from tests.report.explorer.runs import walked

import antiphon
from antiphon.conformance.report.explorer import Walk, saved_page
from antiphon.conformance.report.explorer import saved as saving
from antiphon.conformance.report.explorer import server as serving
from antiphon.conformance.report.explorer import walk as walking
from antiphon.conformance.report.explorer.beside import Beside
from antiphon.conformance.report.explorer.pictures import windows
from antiphon.conformance.report.explorer.server import application
from antiphon.conformance.report.explorer.walk import NUMBERED_MAX, Followed, WalkError, digest_of_run
from antiphon.model.bounds import Bounds
from antiphon.model.notation import compact_step
from antiphon.model.trace import Trace
from antiphon.spec.lang import (
    Between,
    Program,
    Set,
    Spec,
    SpecError,
    action,
    eventually,
    fair,
    invariant,
    record,
    require,
)

TOKEN = "a-token"


@pytest.fixture(scope="module")
def figure5() -> Program:
    return antiphon.program("figure-5", processes=2, messages=1, repairs=["start_token"])


@pytest.fixture(scope="module")
def counterexample(figure5: Program) -> Trace:
    found = antiphon.check(figure5).counterexample
    assert found is not None
    return found


@pytest.fixture
def walk(figure5: Program) -> Walk:
    return Walk(figure5, "figure-5", ["--processes", "2"])


def values(view: dict[str, Any]) -> dict[str, str]:
    return {field["where"]: field["value"] for field in view["fields"]}


def changed(view: dict[str, Any]) -> dict[str, str]:
    return {field["where"]: field["before"] for field in view["fields"] if field["before"] is not None}


def test_the_steps_of_a_node_are_those_of_the_reference(walk: Walk, figure5: Program) -> None:
    start = walk.starts[0]
    view = walk.view(start)
    (state,) = figure5.reference.initial()
    assert [one["step"] for one in view["enabled"]] == list(
        map(compact_step, figure5.reference.enabled(state))
    )
    assert not changed(view)
    after = walk.view(walk.take(start, 0))
    assert after["step"] == view["enabled"][0]["step"]
    assert changed(after)
    assert {where: values(view)[where] for where in changed(after)} == changed(after)
    assert walk.view(start)["enabled"][0]["known"] == after["node"]
    assert walk.take(start, 0) == after["node"]


def test_a_step_is_named_by_its_action_and_not_by_the_state_that_it_reaches() -> None:
    walk = Walk(antiphon.program("die-hard"), "die-hard")
    start = walk.starts[0]
    first = walk.view(walk.take(start, 0))
    back = next(one for one in first["enabled"] if one["step"].startswith("empty"))
    again = walk.view(walk.take(first["node"], back["choice"]))
    assert values(again) == values(walk.view(start))
    assert again["node"] != start
    assert [walk.label(node)["step"] for node in walk.way_to(again["node"])] == [
        "the start", first["step"], back["step"],
    ]  # fmt: skip


def test_a_way_is_opened_by_numbers_and_by_names(walk: Walk, counterexample: Trace) -> None:
    names = list(map(compact_step, counterexample.steps))
    start = walk.start(0)
    found = walk.follow(start, names=names)
    way = [start, *found.way]
    assert (len(found.way), found.missing, found.left) == (len(names), "", 0)
    assert "UniformIntegrity" in walk.label(way[-1])["broken"]
    assert walk.add_trace(counterexample) == way
    choices = []
    for before, name in zip(way, names, strict=False):
        choices.append([one["step"] for one in walk.view(before)["enabled"]].index(name))
    assert walk.follow(start, choices).way == way[1:]
    assert walk.follow(start, names=[names[0], "nothing()"]) == Followed(way[1:2], "nothing()")
    assert walk.follow(start, [0], ["nothing()"]).way == [walk.take(start, 0)]
    with pytest.raises(WalkError, match="no step number 99"):
        walk.follow(start, [99])
    with pytest.raises(WalkError, match="no initial state number 7"):
        walk.start(7)


def test_a_long_way_is_followed_in_parts_and_its_steps_are_those_of_the_reference() -> None:
    run = walked(300)
    names = list(map(compact_step, run.steps))
    walk, other = (Walk(run.program, "alternating-bit") for _ in range(2))
    whole = walk.follow(walk.start(0), names=names)
    assert [walk.state_of(node) for node in whole.way] == list(run.states[1:])
    node, parts = other.start(0), []
    while True:
        part = other.follow(node, names=names[sum(map(len, parts)) :], seconds=0.0)
        parts.append(part.way)
        node = part.way[-1]
        if not part.left:
            break
    assert len(parts) == 300
    assert [other.state_of(node) for part in parts for node in part] == list(run.states[1:])


def test_of_two_steps_with_one_name_the_number_decides() -> None:
    @record
    class Red:
        of: Annotated[int, Between(0, 1)]

    @record
    class Blue:
        of: Annotated[int, Between(0, 1)]

    @record
    class Ball:
        colour: Red | Blue

    class Urn(Spec):
        taken: Set[Ball] = frozenset()

        @action
        def take(self, ball: Ball) -> None:
            """Take a ball, once."""
            require(ball not in self.taken)
            self.taken = self.taken | {ball}

    walk = Walk(antiphon.program(Urn), "Urn")
    start = walk.start(0)
    texts = [one["step"] for one in walk.view(start)["enabled"]]
    twice = [place for place, text in enumerate(texts) if texts.count(text) > 1]
    assert len(twice) == 4
    for place in twice:
        (node,) = walk.follow(start, [place], [texts[place]]).way
        assert node == walk.take(start, place)


def test_what_is_disabled_has_its_guard(walk: Walk) -> None:
    found = walk.disabled(walk.starts[0])
    (request,) = [one for one in found if one["action"] == "request"][:1]
    assert "self.holder == p" in request["guard"]
    assert re.search(r"figure5\.py:\d+", request["at"])
    assert request["steps"] == ["request(p0)", "request(p1)"]


def steps_to(walk: Walk, node: int, there: Callable[[dict[str, str]], bool]) -> int:
    """The fewest steps from a node to a state with such values: the states after each number of steps."""
    states, known, steps = {walk.state_of(node)}, set(), 0
    while not any(there(values(walk.view_of(state, ()))) for state in states):
        known |= states
        states = {one.state for state in states for one in walk.successors(state)} - known
        assert states
        steps += 1
    return steps


def test_a_search_begins_where_one_stands(walk: Walk) -> None:
    start = walk.starts[0]
    way, told = walk.find(start, "len(self.delivered_queue[Process(1)]) > 0")
    assert told.startswith(f"{len(way) - 1} step")
    assert values(walk.view(way[-1]))["delivered_queue[p1]"] == "{m0}"
    further, told = walk.find(way[1], "len(self.delivered_queue[Process(1)]) > 0")
    assert further[:2] == way[:2]
    assert told.startswith(f"{len(further) - 2} step")
    other, told = walk.find(way[1], "self.holder == Process(1) and self.lost == 1")
    least = steps_to(walk, way[1], lambda now: (now["holder"], now["lost"]) == ("p1", "1"))
    assert (len(other) - 2, least > 3) == (least, True)
    assert told.startswith(f"{least} steps from here")
    nowhere, told = walk.find(start, "len(self.network) > 1000")
    assert nowhere == []
    assert re.fullmatch(
        r"there is no such state: [\d,]+ states were seen from here, and there are no others", told
    )
    with pytest.raises(WalkError, match="nothing"):
        walk.find(start, "self.nothing")


def test_a_search_that_a_bound_ended_says_so(walk: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "FIND", Bounds(states=5))
    assert walk.find(walk.starts[0], "len(self.network) > 1000") == (
        [],
        "none was found: 7 states were seen from here; the search is not complete: the bound of 5 states",
    )


def test_one_walks_on_while_a_search_goes_on(walk: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    start, answered = walk.starts[0], []

    class Slow(walking.Search):
        def run(self) -> None:
            other = Thread(target=lambda: answered.append(walk.take(start, 0)), daemon=True)
            other.start()
            other.join(5)
            assert answered
            super().run()

    monkeypatch.setattr(walking, "Search", Slow)
    way, told = walk.find(start, "True")
    assert (way, told) == ([start], "0 steps from here; 1 state was seen")
    assert walk.way_to(answered[0])[:-1] == [start]


def test_a_watched_expression_is_evaluated_in_every_state(walk: Walk) -> None:
    start = walk.starts[0]
    watched = [
        "len(self.network) == 0",
        "len(self.network)",
        "self.delivered_queue[Process(0)]",
        "max(len(self.delivered_queue[p]) for p in self.each(Process))",
        "{p for p in self.each(Process) if self.holder == p}",
        "max(len(self.network) for m in self.delivered_queue[Process(0)])",
    ]
    for expression in watched:
        walk.watch(expression)
    after = walk.take(start, 0)
    assert walk.about()["watched"] == watched
    assert walk.values([start, after], watched) == [
        [True, False], ["0", "1"], ["{}", "{m0}"], ["0", "1"], ["{}", "{}"], [None, "1"],
    ]  # fmt: skip
    walk.forget("len(self.network) == 0")
    assert walk.watched == watched[1:]
    for wrong, told in (
        ("1 +", "no expression of Python"),
        ("self.nothing", "has no 'nothing'"),
        ("__import__('os').getcwd()", "cannot be called in a specification"),
        ("[m for m in self.each(Message)]", "a list is mutable"),
    ):
        with pytest.raises(WalkError, match=told):
            walk.watch(wrong)
        assert wrong not in walk.watched


def test_a_pinned_state_stands_beside(walk: Walk) -> None:
    start = walk.starts[0]
    one = walk.take(start, 0)
    two = walk.take(one, 0)
    differing = {
        where for where, value in values(walk.view(two)).items() if values(walk.view(start))[where] != value
    }
    assert set(changed(walk.view(two, before=start))) == differing


def test_a_false_invariant_says_which_part_is_false() -> None:
    walk = Walk(antiphon.program("chang-roberts"), "chang-roberts")
    assert walk.view(walk.starts[0])["false"] == []

    class Broken(Spec):
        count: bool = False

        @action
        def rise(self) -> None:
            """Raise the count, once."""
            require(not self.count)
            self.count = True

        @invariant
        def Low(self) -> bool:
            return not self.count

    broken = Walk(antiphon.program(Broken), "Broken")
    view = broken.view(broken.take(broken.starts[0], 0))
    assert view["false"][0]["name"] == "Low"
    assert "self.count" in view["false"][0]["because"][0]
    drawn = broken.picture(view["node"])["svg"]
    assert "✗ Low" in drawn
    assert "self.count" in drawn
    assert "✗" not in broken.picture(broken.starts[0])["svg"]


def test_the_picture_is_the_diagram_of_the_way(walk: Walk, counterexample: Trace) -> None:
    way = walk.add_trace(counterexample)
    drawn = walk.picture(way[-1])["svg"]
    assert drawn.startswith("<svg")
    assert "UniformIntegrity" in drawn
    assert "receive_request" in drawn
    assert "receive_request" not in walk.picture(way[3])["svg"]


def test_a_long_way_is_drawn_in_windows_whose_steps_keep_their_numbers() -> None:
    run = walked(200)
    walk = Walk(run.program, "alternating-bit")
    way = walk.add_trace(run)
    assert list(windows(200))[-2:] == [(121, 180), (151, 200)]
    assert list(windows(7)) == [(1, 7)]
    assert list(windows(0)) == [(1, 0)]
    drawn = walk.picture(way[180], 121)
    assert (drawn["first"], drawn["last"], len(drawn["rows"])) == (121, 180, 61)
    assert drawn["rows"] == sorted(drawn["rows"])
    told = re.findall(r">([^<>]+)</text>", drawn["svg"])
    assert "... 120 rows before" in told
    assert {str(number) for number in range(121, 181)} <= set(told)
    assert not {"119", "181"} & set(told)
    assert "Message(1, d0), sent at step 123, received" in drawn["svg"]
    assert "Message(1, d0), sent earlier, received" in walk.picture(way[180], 124)["svg"]
    start = walk.picture(way[0])
    assert (start["first"], start["last"], len(start["rows"])) == (1, 0, 1)
    for node, first in ((way[180], 120), (way[3], 5), (way[3], 0)):
        with pytest.raises(WalkError, match="there is no diagram of the steps"):
            walk.picture(node, first)


def test_a_diagram_that_grows_is_the_one_that_is_drawn_at_once() -> None:
    for name, steps in (("figure-5", 12), ("ewd840", 6), ("sequencer", 12)):
        walk, program = Walk(antiphon.program(name), name), antiphon.program(name)
        way = [walk.start(0)]
        for number in range(steps):
            enabled = walk.view(way[-1])["enabled"]
            if not enabled:
                break
            way.append(walk.take(way[-1], number * 7919 % len(enabled)))
            drawn = walk.picture(way[-1])
            other = Walk(program, name)  # it draws all steps at once
            names = [walk.label(node)["step"] for node in way[1:]]
            assert drawn == other.picture(other.follow(other.start(0), names=names).way[-1]), (name, number)
        assert walk.picture(way[2])["last"] == 2


def test_who_crashed_before_a_window_has_no_line_in_it() -> None:
    program = antiphon.program("dtp-crashing")
    walk = Walk(program, "dtp-crashing")
    node = walk.starts[0]
    (crash,) = [one["choice"] for one in walk.view(node)["enabled"] if one["step"] == "crash(p1)"]
    node = walk.take(node, crash)
    for number in range(120):
        steps = [one for one in walk.view(node)["enabled"] if not one["fault"] and not one["stays"]]
        if not steps:
            break
        node = walk.take(node, steps[number % len(steps)]["choice"])
    drawn = walk.picture(node, max(1, len(walk.way_to(node)) - 20))
    assert "crashed" in re.findall(r">([^<>]+)</text>", drawn["svg"])


def test_the_loop_of_a_run_is_in_its_diagram() -> None:
    app = application(Walk(antiphon.program(Turning), "Turning"), TOKEN)
    (found,) = asked(app, "check", {})["properties"]
    last, loop = asked(app, "trace", {"name": found["run"]})[-1]["node"], found["told_run"]["loop"]
    question = {"node": last, "first": 1}
    assert "for ever" in asked(app, "picture", {**question, "loop": loop})["svg"]
    assert "for ever" not in asked(app, "picture", question)["svg"]


def test_a_specification_draws_its_states() -> None:
    ring = Walk(antiphon.program("ewd840"), "ewd840")
    assert "<svg" in ring.view(ring.starts[0])["drawn"]
    views = Walk(antiphon.program("irbp-two-views", repairs="all"), "irbp-two-views")
    assert "regular view" in views.view(views.starts[0])["drawn"]

    class Careless(Spec):
        count: bool = False

        @action
        def rise(self) -> None:
            """Raise the count."""
            self.count = True

        def draw(self) -> str:
            return str(1 / 0)

    program = antiphon.program(Careless)
    careless = Walk(program, "Careless")
    assert "ZeroDivisionError" in careless.view(careless.starts[0])["drawn"]
    with pytest.raises(SpecError, match="draw raises"):
        program.reference.drawn(program.reference.initial()[0])
    with pytest.raises(SpecError, match="has no method draw"):
        antiphon.program("die-hard").reference.drawn(())
    assert antiphon.check(program).outcome.value == "unknown"


def test_an_implementation_walks_beside_until_it_differs() -> None:
    binding = antiphon.binding("rbp", fault="delivers-without-body")
    difference = antiphon.lockstep(binding).difference
    assert difference is not None
    walk = Walk(binding.program, "rbp", (), Beside(antiphon.binding("rbp", fault="delivers-without-body")))
    way = walk.add_trace(difference.trace)
    views = [walk.view(node) for node in way]
    assert [bool(view["difference"]) for view in views] == [False] * (len(way) - 1) + [True]
    shown = views[0]["implementation"]
    assert shown
    assert all(values(views[0])[where] == value for where, value in shown.items())
    last = views[-1]["implementation"]
    assert {where for where, value in last.items() if values(views[-1])[where] != value} == set()
    behind = walk.view(walk.take(way[-1], 0))
    assert (behind["difference"], behind["implementation"]) == (views[-1]["difference"], {})
    right = Walk(binding.program, "rbp", (), Beside(antiphon.binding("rbp")))
    assert not any(right.view(node)["difference"] for node in right.add_trace(difference.trace))


def test_a_value_that_differs_stands_beside_where_the_two_part() -> None:
    binding = antiphon.binding("sequencer", fault="names-the-coordinator", processes=3, messages=2, views=2)
    difference = antiphon.lockstep(binding).difference
    assert difference is not None
    assert difference.what == "variable log"
    walk = Walk(binding.program, "sequencer", (), Beside(binding))
    last = walk.view(walk.add_trace(difference.trace)[-1])
    there = last["implementation"]
    apart = {where for where, value in values(last).items() if there.get(where, value) != value}
    assert "log" in {where.partition("[")[0] for where in apart}


def test_the_steps_of_a_run_have_their_numbers_unless_it_is_long(walk: Walk, counterexample: Trace) -> None:
    way = walk.add_trace(counterexample)
    choices = [walk.label(node)["choice"] for node in way]
    assert choices[0] == -1
    other = Walk(walk.program, "figure-5")
    followed = other.follow(other.start(0), choices[1:]).way
    assert [other.label(node)["step"] for node in followed] == [walk.label(node)["step"] for node in way[1:]]
    assert [other.label(node)["choice"] for node in followed] == choices[1:]
    run = walked(NUMBERED_MAX + 1)
    long = Walk(run.program, "alternating-bit")
    assert {long.label(node)["choice"] for node in long.add_trace(run)} == {-1}


def test_several_initial_states_are_told_by_what_distinguishes_them() -> None:
    ring = Walk(antiphon.program("ewd840", nodes=2), "ewd840")
    about = ring.about()
    assert (len(about["starts"]), len(about["beginnings"])) == (32, 32)
    assert about["beginnings"][3] == "color[n0] = BLACK, token_at = n1"
    assert values(ring.view(ring.starts[3]))["token_at"] == "n1"
    page, _ = saved_page(ring, states_max=10)
    there = [node >= 0 for node in content(page)["about"]["starts"]]
    assert (len(there), there.count(True), there[0]) == (32, 10, True)


def test_a_run_that_begins_elsewhere_adds_no_initial_state() -> None:
    program = antiphon.program("die-hard")
    (start,) = program.reference.initial()
    first, second, *_ = program.reference.successors(next(iter(program.reference.successors(start))).state)
    jug = Walk(program, "die-hard")
    way = jug.add_trace(Trace(program, first.state, (second,), initial=False))
    assert jug.starts == [0]
    assert way[0] != 0


def test_runs_that_a_check_finds_are_there_to_jump_to(walk: Walk) -> None:
    app = application(walk, TOKEN)
    about, found = asked(app, "about", {}), asked(app, "check", {})
    assert about["traces"] == {}
    by_name = {one["name"]: one for one in found["properties"]}
    assert by_name["UniformIntegrity"]["outcome"] == "violated"
    assert by_name["AllDelivered"]["told_run"]["steps"] == 2
    assert by_name["Validity"]["run"] == ""
    labels = asked(app, "trace", {"name": by_name["UniformIntegrity"]["run"]})
    assert "UniformIntegrity" in labels[-1]["broken"]
    assert set(asked(app, "about", {})["traces"]) == {one["run"] for one in found["properties"] if one["run"]}


class Turning(Spec):
    """A wheel that may turn for ever between two places, and never stop."""

    place: bool = False
    stopped: bool = False

    @action
    def turn(self) -> None:
        """Go to the other place."""
        require(not self.stopped)
        self.place = not self.place

    @action
    def stop(self) -> None:
        """Stop, which nobody has to."""
        self.stopped = True

    def is_stopped(self) -> bool:
        """Return True when it has stopped."""
        return self.stopped

    turns = fair("turn")
    stops = eventually("is_stopped")


def test_a_check_finds_the_loop_of_what_does_not_come() -> None:
    app = application(Walk(antiphon.program(Turning), "Turning"), TOKEN)
    (found,) = asked(app, "check", {})["properties"]
    assert (found["name"], found["outcome"]) == ("stops", "violated")
    assert found["told_run"]["loop"] is not None
    assert asked(app, "about", {})["traces"][found["run"]] == found["told_run"]


# One file -----------------------------------------------------------------------------------------------


def test_a_file_has_all_states_and_their_steps(walk: Walk, counterexample: Trace) -> None:
    page, told = saved_page(walk, {"twice": counterexample})
    data = content(page)
    states = antiphon.check(walk.program).exploration
    assert told == f"all {len(data['views'])} reachable states are in it"
    assert states.states <= len(data["views"])
    assert not re.search(r"""(src|href)=["'](?!#|data:)""", page)
    assert "import " not in page.partition('id="data"')[0]
    node = data["about"]["starts"][0]
    for step in counterexample.steps:
        (taken,) = [one for one in data["views"][node]["enabled"] if one["step"] == compact_step(step)]
        node = taken["to"]
    assert data["traces"]["twice"][-1]["node"] == node
    assert len(data["disabled"]) == len(data["views"])


def test_a_notebook_shows_the_same_file_in_a_frame(counterexample: Trace, tmp_path: Path) -> None:
    page = antiphon.explore(counterexample)
    assert page.states in repr(page)
    shown = page._repr_html_()
    assert shown.startswith("<iframe ")
    assert 'sandbox="allow-scripts"' in shown
    framed = re.search(r"srcdoc='([^']*)'", shown)
    assert framed is not None
    assert html.unescape(framed[1]) == page.html
    page.save(tmp_path / "run.html")
    assert (tmp_path / "run.html").read_text(encoding="utf-8") == page.html
    assert content(antiphon.explore("die-hard").html)["about"]["name"] == "die-hard"


def test_a_file_of_too_many_states_says_what_is_in_it(
    walk: Walk, counterexample: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "STATES_MAX", 40)
    page, told = saved_page(walk, {"twice": counterexample})
    assert told == "the states of the runs alone are in it: there are too many others"
    data = content(page)
    assert len(data["views"]) == len(set(counterexample.states))
    assert data["about"]["contents"] == told
    monkeypatch.setattr(saving, "BYTES_MAX", 120_000)
    page, told = saved_page(walk)
    assert len(page.encode()) <= 120_000
    assert re.fullmatch(r"the first \d+ states are in it, in breadth-first order; there are more", told)
    assert any(one["to"] == -1 for view in content(page)["views"] for one in view["enabled"])


def test_a_file_watches_what_it_was_written_with_and_can_load_nothing(walk: Walk) -> None:
    watched = ["len(self.network) == 0", "self.network"]
    for expression in watched:
        walk.watch(expression)
    page, _ = saved_page(walk)
    data = content(page)
    networks = [values(view)["network"] for view in data["views"]]
    assert data["values"] == {watched[0]: [text == "{}" for text in networks], watched[1]: networks}
    assert data["about"]["watched"] == watched
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    script = re.search(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    assert policy is not None
    assert script is not None
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    assert policy[1].startswith(f"default-src 'none'; script-src 'sha256-{digest}';")


def test_a_run_that_is_too_large_is_cut_at_its_begin(walk: Walk, counterexample: Trace) -> None:
    page, told = saved_page(walk, {"twice": counterexample}, states_max=1, bytes_max=85_000)
    assert len(page.encode()) <= 85_000
    labels = content(page)["traces"]["twice"]
    there = [label["node"] >= 0 for label in labels]
    assert there[-1]
    assert not all(there)
    assert told.startswith(f"the last {len(content(page)['views']):,} of 9 states of the runs are in it")


def test_the_diagram_of_a_file_knows_where_its_rows_begin(walk: Walk, counterexample: Trace) -> None:
    (picture,) = content(saved_page(walk, {"twice": counterexample})[0])["pictures"]["twice"]
    drawn = zlib.decompress(base64.urlsafe_b64decode(picture["svg"] + "=="), wbits=-15).decode()
    assert drawn == walk.picture(walk.add_trace(counterexample)[-1])["svg"]
    assert len(picture["rows"]) == len(counterexample) + 1
    assert picture["rows"] == sorted(picture["rows"])
    assert picture["bottom"] > picture["rows"][-1]


@pytest.mark.deep
def test_the_command_tells_how_far_a_file_is_and_ends_when_it_is_interrupted(tmp_path: Path) -> None:
    file = tmp_path / "large.html"
    command = [str(Path(sys.executable).parent / "antiphon"), "explore", "vsc", "--html", str(file)]
    terminal, told = os.openpty()
    known = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(command, stderr=told, stdout=subprocess.PIPE, env=known) as process:
        os.close(told)
        seen = b""
        while b"states described" not in seen:
            seen += os.read(terminal, 1000)
        process.send_signal(signal.SIGINT)
        with suppress(OSError):  # the end of a terminal
            while more := os.read(terminal, 1000):
                seen += more
        assert process.wait(20) == 130
    os.close(terminal)
    assert b"states found, at most 3,000 are wanted" in seen
    assert b"interrupted" in seen
    assert b"Traceback" not in seen
    assert list(tmp_path.iterdir()) == []


# The server ---------------------------------------------------------------------------------------------


def request(
    walk: Walk, path: str, given: Any = None, *, host: str = "127.0.0.1:8000", traces: Any = None
) -> tuple[int, dict[str, str], bytes]:
    """Ask an application of the walk."""
    return send(application(walk, TOKEN, traces), path, given, host=host)


def send(
    app: Any, path: str, given: Any = None, *, host: str = "127.0.0.1:8000"
) -> tuple[int, dict[str, str], bytes]:
    """Ask an application itself, without a socket."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"" if given is None else json.dumps(given).encode()}

    async def sends(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "root_path": "",
        "method": "GET" if given is None else "POST", "path": path, "raw_path": path.encode(),
        "query_string": b"", "headers": [(b"host", host.encode())], "server": ("127.0.0.1", 8000),
        "client": ("127.0.0.1", 1),
    }  # fmt: skip
    asyncio.run(app(scope, receive, sends))
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:])


def test_only_who_knows_the_token_and_the_host_is_answered(walk: Walk) -> None:
    status, headers, body = request(walk, f"/{TOKEN}/")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b"explorer.css" in body
    assert "default-src 'none'" in headers["content-security-policy"]
    for name in ("explorer.css", "explorer.js", "remote.js", "elements.js", "address.js", "watches.js"):
        assert request(walk, f"/{TOKEN}/{name}")[0] == 200
    assert request(walk, "/")[0] == 404
    assert request(walk, "/another-token/")[0] == 404
    for host in ("evil.example:8000", "127.0.0.1.evil.example:8000", "evil-localhost:8000", ":8000", ""):
        assert request(walk, f"/{TOKEN}/", host=host)[0] == 403, host
    assert request(walk, f"/{TOKEN}/", host="localhost:8000")[0] == 200


def asked(app: Any, question: str, given: Any) -> Any:
    """Ask an application that lives on."""
    status, _, body = send(app, f"/{TOKEN}/ask/{question}", given)
    assert status == 200, body
    return json.loads(body)


def ask(walk: Walk, question: str, given: Any, traces: Any = None) -> tuple[int, Any]:
    status, _, body = request(walk, f"/{TOKEN}/ask/{question}", given, traces=traces)
    return status, json.loads(body) if body.startswith((b"{", b"[", b"null")) else body


def test_questions_are_answered_and_errors_are_sentences(walk: Walk, counterexample: Trace) -> None:
    runs = {"twice": counterexample}
    status, about = ask(walk, "about", {}, runs)
    assert (status, about["name"], about["traces"]) == (
        200,
        "figure-5",
        {"twice": {"steps": 8, "loop": None, "digest": digest_of_run(counterexample)}},
    )
    start = about["starts"][0]
    assert ask(walk, "view", {"node": start})[1]["node"] == start
    assert ask(walk, "take", {"node": start, "choice": 0})[1]["step"].startswith("broadcast")
    assert ask(walk, "take", {"node": start, "choice": 77}) == (
        400, {"error": "there is no step number 77 here: 3 are enabled"},
    )  # fmt: skip
    assert ask(walk, "view", {})[0] == 400
    assert ask(walk, "nothing", {})[0] == 404
    assert [one["step"] for one in ask(walk, "trace", {"name": "twice"}, runs)[1]][1:] == list(
        map(compact_step, counterexample.steps)
    )
    questions = [{"question": "view", "given": {"node": start}}, {"question": "view", "given": {"node": 999}}]
    one, other = ask(walk, "several", {"questions": questions})[1]
    assert one == {"answer": ask(walk, "view", {"node": start})[1]}
    assert "there is no state number 999" in other["error"]
    assert ask(walk, "several", {"questions": [{"question": "nothing", "given": {}}]})[0] == 400
    status, drawn = ask(walk, "picture", {"node": start, "first": 1})
    assert (status, drawn["svg"][:4]) == (200, "<svg")
    assert ask(walk, "picture", {"node": 99999, "first": 1})[0] == 400


def test_an_address_of_another_specification_is_walked_by_names(walk: Walk, counterexample: Trace) -> None:
    names = list(map(compact_step, counterexample.steps))
    about = walk.about()
    given = {"start": 0, "choices": [], "names": names, "digest": about["digest"]}
    same = ask(walk, "open", given)[1]
    assert (len(same["way"]), same["told"]) == (len(names) + 1, "")
    other = ask(walk, "open", {**given, "digest": "0"})[1]
    assert "taken by their names" in other["told"]
    assert len(other["way"]) == len(names) + 1
    short = ask(walk, "open", {**given, "names": [names[0], "gone()"], "digest": "0"})[1]
    assert "Step 2 of the address, gone(), is not enabled" in short["told"]
    by_number = ask(walk, "open", {**given, "choices": [0], "names": ["anything()"]})[1]
    assert by_number["way"][-1]["step"] == walk.label(walk.take(walk.starts[0], 0))["step"]


def test_an_address_is_followed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "OPENED_S", 0.0)
    run = walked(20)
    app = application(Walk(run.program, "alternating-bit"), TOKEN)
    names = list(map(compact_step, run.steps))
    given = {"start": 0, "choices": [], "digest": asked(app, "about", {})["digest"]}
    found = asked(app, "open", {**given, "names": names})
    way = found["way"]
    while found["left"]:
        assert len(way) + found["left"] == 21
        found = asked(app, "open", {**given, "names": names[len(way) - 1 :], "after": way[-1]["node"]})
        way += found["way"]
    assert [one["step"] for one in way[1:]] == names
    lost = {**given, "names": ["gone()"], "after": way[-1]["node"]}
    assert "Step 21 of the address, gone(), is not enabled" in asked(app, "open", lost)["told"]


def test_a_run_has_a_digest_of_its_begin_and_its_steps(counterexample: Trace, figure5: Program) -> None:
    same = Trace(figure5, counterexample.start, counterexample.transitions, "another name")
    shorter = Trace(figure5, counterexample.start, counterexample.transitions[:-1])
    ring = antiphon.program("ewd840", nodes=2)
    first, other = (Trace(ring, state, ()) for state in ring.reference.initial()[:2])
    assert digest_of_run(same) == digest_of_run(counterexample)
    assert len({digest_of_run(one) for one in (counterexample, shorter, first, other)}) == 4
    page, _ = saved_page(Walk(figure5, "figure-5"), {"twice": counterexample}, states_max=10)
    told = content(page)["about"]["traces"]["twice"]
    assert told == {"steps": 8, "loop": None, "digest": digest_of_run(counterexample), "before": 0}


def test_the_command_writes_a_file_and_refuses_what_excludes_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from antiphon.conformance.cli import main

    file = tmp_path / "ring.html"
    assert main(["explore", "ewd840", "--set", "nodes=2", "--html", str(file)]) == 0
    assert "all 54 reachable states are in it" in capsys.readouterr().out
    assert "<svg" in content(file.read_text(encoding="utf-8"))["views"][0]["drawn"]
    for words, told in (
        ([], "say what to explore"),
        (["ewd840", "--fault", "x"], "--fault is a mistake of an implementation"),
        (["ewd840", "--binding", "rbp"], "--binding brings its own specification"),
    ):
        assert main(["explore", *words]) == 64
        assert told in capsys.readouterr().err
