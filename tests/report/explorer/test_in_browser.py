"""The explorer in a headless Chromium: what a person clicks is clicked, what a person types is typed."""

import json
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.report.explorer.chromium import Browser, serving
from tests.report.explorer.runs import walked

import antiphon
from antiphon.conformance.report.answers import Answer, of_report
from antiphon.conformance.report.page import page
from antiphon.model.export import save

pytestmark = pytest.mark.browser

FIGURE_5 = ("figure-5", "--processes", "2", "--messages", "1", "--repair", "start_token")

LOG = [
    {"action": "time_out", "args": {"s": 0}, "state": {"term": {"0": 1}}},
    {"action": "vote", "args": {"s": 1, "request": {"candidate": 0}}},
    {"action": "become_leader", "args": {"s": 0}, "before": {"term": {"0": 1}}},
]

TURNING = '''
from typing import Annotated

from antiphon.spec.lang import AtMost, Seq, Spec, action, eventually, fair, require


class Turning(Spec):
    """A wheel that turns, and writes down where it was; nobody has to stop it."""

    place: bool = False
    stopped: bool = False
    marks: Annotated[Seq[bool], AtMost(60)] = ()

    @action
    def mark(self) -> None:
        """Write down the place, often."""
        require(len(self.marks) == 0)
        self.marks = MANY

    @action
    def turn(self) -> None:
        """Go to the other place."""
        require(not self.stopped)
        self.place = not self.place

    @action
    def stop(self) -> None:
        """Stop."""
        self.stopped = True

    def is_stopped(self) -> bool:
        """Return True when it has stopped."""
        return self.stopped

    turns = fair("turn")
    stops = eventually("is_stopped")
'''.replace("MANY", f"({'True, ' * 60})")


HEATED = """
from typing import Annotated

from antiphon.spec.lang import Between, Spec, action, require


class Lamp(Spec):
    # A lamp that grows warm, which no log tells.

    lit: bool = False
    heat: Annotated[int, Between(0, 2)] = 0

    @action
    def press(self) -> None:
        self.lit = not self.lit

    @action
    def warm(self) -> None:
        require(self.heat < 2)
        self.heat += 1
"""


def at(browser: Browser, number: int) -> None:
    """Wait until the page stands at a step, and has shown all that belongs to it."""
    browser.until(f"document.getElementById('way-title').textContent.startsWith('Way: step {number} of')")


def step_of(browser: Browser) -> int:
    found = re.match(r"Way: step (\d+) of", browser.text("#way-title"))
    assert found is not None
    return int(found[1])


def notice(browser: Browser) -> str:
    return str(browser.run("document.getElementById('notice').textContent"))


def address(browser: Browser) -> str:
    """The address, when it holds the place that is shown."""
    browser.until("document.documentElement.dataset.addressed === 'true'")
    return str(browser.run("location.href"))


@contextmanager
def figure_5(browser: Browser, *more: str) -> Iterator[str]:
    with serving(*FIGURE_5, *more) as there:
        browser.window(there)
        at(browser, 0)
        yield there


def test_one_steps_goes_back_and_forth_and_branches(browser: Browser) -> None:
    with figure_5(browser):
        first = browser.text("#enabled li button")
        browser.click("#enabled li button")
        at(browser, 1)
        assert first in browser.text("#way [aria-current]")
        assert browser.count("tr.changed") > 0
        for key, there in (
            ("ArrowDown", 1),
            ("ArrowRight", 2),
            ("ArrowLeft", 1),
            ("f", 2),
            ("Home", 0),
            ("End", 2),
        ):
            browser.key(key)
            at(browser, there)
        browser.key("Backspace")
        at(browser, 1)
        taken = browser.text("#way [data-index='2']")
        other = next(
            number for number in (1, 2, 3) if browser.text(f"#enabled li:nth-child({number})") not in taken
        )
        browser.key(str(other))
        at(browser, 2)
        assert "⎇ 2" in browser.text("#way [data-index='1']")
        assert browser.text("#way [data-index='2']") != taken
        assert "walk 1 (2 steps)" in browser.text("#runs")
        browser.click("#way [data-index='0']")
        at(browser, 0)
        browser.run(
            "{ const list = document.getElementById('runs'); list.value = 'walk 1'; list.onchange(); }"
        )
        browser.until(f"document.querySelector(\"#way [data-index='2']\").innerText === {json.dumps(taken)}")


def test_disabled_steps_are_grey_and_say_which_guard_is_false(browser: Browser) -> None:
    with figure_5(browser):
        browser.until("document.querySelectorAll('#disabled li').length > 3")
        texts = browser.each("#disabled li", "one.innerText")
        request = next(text for text in texts if text.startswith("request("))
        assert "request(p0), request(p1)" in request
        assert "requires self.holder == p and self.stage is Stage.waiting" in request
        assert re.search(r"figure5\.py:\d+", request)
        colours = [
            browser.each(selector, "getComputedStyle(one).color")[0]
            for selector in ("#disabled .steps", "#enabled button")
        ]
        assert colours[0] != colours[1]
        browser.key("d")
        browser.until("document.getElementById('disabled').hidden")
        browser.click("#why")
        browser.until("document.querySelectorAll('#disabled li').length > 3")


def test_the_shortest_way_from_here_is_found_and_expressions_are_watched(browser: Browser) -> None:
    with figure_5(browser):
        browser.key("1")
        at(browser, 1)
        first = browser.text("#way [data-index='1']")
        browser.key("w")
        browser.write("len(self.network) == 0")
        browser.key("Enter")
        browser.until("document.querySelectorAll('#watched .line').length === 1")
        assert browser.text("#watched .line") == "●○"
        browser.key("w")
        browser.write("self.nothing")
        browser.key("Enter")
        browser.until("document.getElementById('notice').textContent.includes('nothing')")
        assert [error.rpartition("/")[2] for error in browser.errors] == ["watch"]
        browser.errors.clear()
        browser.key("Escape")
        browser.click("#find-text")
        browser.write("len(self.delivered_queue[Process(1)]) > 0")
        browser.click("#find button")
        browser.until("document.getElementById('notice').textContent.includes('from here')")
        assert browser.text("#way [data-index='1']") == first
        found = step_of(browser)
        assert found > 1
        browser.until(f"document.querySelector('#watched .line').innerText.length === {found + 1}")
        assert "{m0}" in browser.text("#fields")
        browser.run("document.getElementById('find-text').value = ''")
        browser.click("#find-text")
        browser.write("len(self.network) > 1000")
        browser.key("Enter")
        browser.until("document.getElementById('notice').textContent.startsWith('there is no such state')")
        assert step_of(browser) == found
        browser.click("#watched button")
        browser.until("document.querySelectorAll('#watched li').length === 0")


def test_a_link_opens_at_the_same_state_in_another_window(browser: Browser) -> None:
    with figure_5(browser):
        for number in (1, 2, 3):
            browser.key("1")
            at(browser, number)
        link, shown = address(browser), browser.text("#fields")
        assert re.search(
            r"#a1;spec=figure-5;o=[^;]*start_token[^;]*;h=[0-9a-f]{12};t=0\.0\.0\.0;n=broadcast", link
        )
        browser.window(link)
        at(browser, 3)
        assert browser.text("#fields") == shown
        assert notice(browser) == ""
        browser.window(re.sub(r";h=\w+", ";h=0123456789ab", link))
        at(browser, 3)
        assert browser.text("#fields") == shown
        assert "has changed" in notice(browser)
        assert "by their names" in notice(browser)
        lost = re.sub(r";h=\w+", ";h=0123456789ab", link).rpartition("~")[0] + "~gone(p0)"
        browser.window(lost)
        at(browser, 2)
        assert "gone(p0), is not enabled" in notice(browser)
        other = re.sub(r";h=\w+", ";h=0123456789ab", link)
        browser.window(other.replace("messages%3D1", "messages%3D2"))
        at(browser, 3)
        assert notice(browser).startswith("This address is of figure-5 --set processes=2 --set messages=2")
        assert notice(browser).endswith("Its steps were taken as far as they are enabled here.")
        browser.window(other.replace("spec=figure-5", "spec=rbp"))
        at(browser, 0)
        assert "This address is of rbp" in notice(browser)


def test_a_colleague_opens_the_place_and_a_changed_specification_is_told(
    browser: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "wheel.py"
    file.write_text(TURNING, encoding="utf-8")
    with serving(f"{file}:Turning") as there:
        browser.window(there)
        for number, name in enumerate(("mark", "turn", "turn"), 1):
            texts = browser.each("#enabled button", "one.innerText")
            browser.key(str(1 + next(k for k, text in enumerate(texts) if text.startswith(name))))
            at(browser, number)
        link, shown = address(browser), browser.text("#fields")
    file = tmp_path / "colleague" / "wheel.py"
    file.parent.mkdir()
    file.write_text(TURNING, encoding="utf-8")
    with serving(f"{file}:Turning") as elsewhere:
        assert elsewhere != there
        browser.window(elsewhere + "#" + link.partition("#")[2])
        at(browser, 3)
        assert (browser.text("#fields"), notice(browser)) == (shown, "")
    file.write_text(
        TURNING.replace("not self.stopped)", "not self.stopped and not self.place)"), encoding="utf-8"
    )
    with serving(f"{file}:Turning") as elsewhere:
        browser.window(elsewhere + "#" + link.partition("#")[2])
        at(browser, 2)
        assert "The specification has changed since this address was made" in notice(browser)
        assert "Step 3 of the address, turn(), is not enabled" in notice(browser)


def test_an_initial_state_is_chosen_among_several(
    browser: Browser, tmp_path: Path, pictures: Path | None
) -> None:
    words = ["ewd840", "--set", "nodes=2"]
    file = tmp_path / "ring.html"
    explored(*words, "--html", str(file))
    with serving(*words) as there:
        for page in (there, file.as_uri()):
            browser.window(page)
            at(browser, 0)
            assert browser.text("#starts-title") == "Initial states: 32 (i)"
            assert "token_at = n0" in browser.text("#starts [aria-current]")
            assert "initial state 1 of 32" in browser.text("#way [data-index='0']")
            first = browser.text("#fields")
            browser.click("#starts [data-index='3']")
            browser.until("document.querySelector('#starts [aria-current]').dataset.index === '3'")
            assert "color[n0] = BLACK, token_at = n1" in browser.text("#starts [aria-current]")
            assert browser.text("#fields") != first
            assert ";t=3;" in address(browser)
            if pictures:
                browser.picture(pictures / f"starts-{page.partition(':')[0]}.png")
            browser.key("I")
            browser.until("document.querySelector('#starts [aria-current]').dataset.index === '2'")
            for _ in range(29):
                browser.key("i")
            browser.until("document.querySelector('#starts [aria-current]')?.dataset.index === '31'")
            browser.key("1")
            at(browser, 1)
            assert not browser.run("document.getElementById('starts-part').checkVisibility()")
            link, shown = address(browser), browser.text("#fields")
            browser.window(link)
            at(browser, 1)
            assert browser.text("#fields") == shown
            assert "initial state 32 of 32" in browser.text("#way [data-index='0']")


def test_messages_of_queues_are_arrows_and_the_diagram_grows(browser: Browser, pictures: Path | None) -> None:
    with serving("sequencer") as there:
        browser.window(there)
        for number, name in enumerate(("send(p1, m0)", "receive_forward(p0, p1)", "receive_data(p2, p0)"), 1):
            names = browser.each("#enabled button", "one.innerText.split(String.fromCharCode(10))[0].trim()")
            browser.key(str(1 + [each.removeprefix("▸ ") for each in names].index(name)))
            at(browser, number)
            browser.until("document.documentElement.dataset.whole === 'true'")
        told = browser.each("#picture title", "one.textContent")
        assert sorted(told) == [
            "Data(1, 1, m0), sent at step 2, flying",
            "Data(1, 1, m0), sent at step 2, received",
            "Forward(1, m0), sent at step 1, received",
        ]
        assert not browser.run("document.getElementById('windows').checkVisibility()")
        if pictures:
            browser.picture(pictures / "queues.png")


def test_earlier_steps_of_a_long_way_are_drawn(
    browser: Browser, long_run: Path, tmp_path: Path, pictures: Path | None
) -> None:
    def drawn() -> set[str]:
        browser.until("document.documentElement.dataset.whole === 'true'")
        return set(browser.each("#picture text", "one.textContent"))

    file = tmp_path / "long.html"
    explored("--trace", str(long_run), "--html", str(file))
    with serving("--trace", str(long_run)) as there:
        for page in (there, file.as_uri()):
            browser.window(page)
            begin = drawn()
            assert browser.text("#windows-told") == "steps 1 to 60 of 10,000"
            if page == there:
                assert {"1", "60"} <= begin
            else:
                assert begin == set()
                assert "This file has the diagram of this run from step" in browser.text("#picture")
            assert browser.run("document.getElementById('earlier').disabled")
            browser.key("End")
            at(browser, 10_000)
            told = "document.getElementById('windows-told').textContent"
            browser.until(f"{told} === 'steps 9,961 to 10,000 of 10,000'")
            assert {"9961", "10000"} <= drawn()
            browser.key(",")
            browser.until(f"{told} === 'steps 9,931 to 9,990 of 10,000'")
            assert {"9931", "9990"} <= drawn()
            browser.click("#earlier")
            browser.until(f"{told} === 'steps 9,901 to 9,960 of 10,000'")
            browser.key(".")
            browser.until(f"{told} === 'steps 9,931 to 9,990 of 10,000'")
            if pictures:
                browser.picture(pictures / f"windows-{page.partition(':')[0]}.png")
            browser.key("ArrowLeft")
            at(browser, 9_999)
            browser.until(f"{told} === 'steps 9,961 to 10,000 of 10,000'")
            assert browser.count("#picture .later") == 1


def test_an_initial_state_is_found_again_in_a_changed_specification(browser: Browser) -> None:
    with serving("ewd840", "--set", "nodes=2") as there:
        link = there + "#a1;spec=ewd840;o=--set nodes=2;h=0123456789ab;t=0;b="
        browser.window(link + "color%5Bn0%5D%20%3D%20BLACK%2C%20token_at%20%3D%20n1")
        assert browser.run("document.querySelector('#starts [aria-current]').dataset.index") == "3"
        assert "has changed" in notice(browser)
        browser.window(link + "color%5Bn0%5D%20%3D%20GREEN")
        assert browser.run("document.querySelector('#starts [aria-current]').dataset.index") == "0"
        assert "It has no initial state with color[n0] = GREEN: this is another." in notice(browser)


def test_the_address_holds_ten_thousand_steps(browser: Browser) -> None:
    with serving("die-hard") as there:
        browser.window(there)
        for number in range(1, 331):
            browser.key("1")
            at(browser, number)
        link, shown = address(browser), browser.text("#fields")
        assert re.search(r";z=[\w-]{20,}$", link)
        browser.window(link)
        at(browser, 330)
        assert (browser.text("#fields"), notice(browser)) == (shown, "")
        steps = [number * 7919 // 5 % 3 for number in range(10_000)]
        digest = re.search(r";h=\w+", link)
        assert digest is not None
        browser.window(f"{there}#a1;spec=die-hard;o={digest[0]};t=0.{'.'.join(map(str, steps))}")
        at(browser, 10_000)
        link, shown = address(browser), browser.text("#fields")
        assert len(link) < 20_000
        browser.window(re.sub(r";h=\w+", ";h=0123456789ab", link))
        at(browser, 10_000)
        assert browser.text("#fields") == shown
        assert "All steps of the address are still enabled" in notice(browser)
        place = link.partition("#")[2]
        browser.key("1")
        at(browser, 10_001)
        assert address(browser) != link
        assert browser.text("#address-told") == ""
    painted = []
    for _ in range(3):
        with serving("die-hard") as there:
            browser.window(f"{there}#{place}")
            painted.append(browser.first_paint())
            at(browser, 10_000)
            assert (browser.text("#fields"), notice(browser)) == (shown, "")
    assert min(painted) < 1.0


def test_an_address_that_the_browser_does_not_take_is_told(browser: Browser) -> None:
    with figure_5(browser):
        browser.run("history.replaceState = () => { throw new Error('too many'); }")
        browser.key("1")
        browser.until("document.getElementById('address-told').textContent.includes('has not taken it yet')")
        browser.run("delete history.replaceState")
        browser.until("document.getElementById('address-told').textContent === ''")
        assert ";t=0.0;" in address(browser)
        browser.window(browser.run("location.href").partition("#")[0] + "#a1;spec=figure-5;z=broken")
        at(browser, 0)
        assert notice(browser) == "This address cannot be read: it is cut off, or another program changed it."


def test_the_title_and_the_rows_of_a_run_change_together(
    browser: Browser, counterexamples: list[Path]
) -> None:
    with serving("--trace", str(counterexamples[0]), "--trace", str(counterexamples[2])) as there:
        browser.window(there)
        at(browser, 0)
        browser.run(
            """{
            const [list, way] = ['runs', 'way'].map((name) => document.getElementById(name));
            const ask = window.fetch;
            window.fetch = (...given) => new Promise((go) => setTimeout(go, 150)).then(() => ask(...given));
            window.seen = new Set();
            const look = () => {
              way.dispatchEvent(new Event('scroll'));
              const told = document.getElementById('way-title').textContent;
              window.seen.add(`${told}, ${way.querySelectorAll('.row').length} rows, ${list.value}`);
            };
            look();
            setInterval(look, 5);
            list.value = 'AllDelivered.itf.json';
            list.onchange();
            list.value = 'UniformIntegrity.itf.json';
            }"""
        )
        browser.until("document.getElementById('way-title').textContent === 'Way: step 0 of 2'")
        browser.until("document.documentElement.dataset.whole === 'true'")
        assert browser.run("[...window.seen]") == [
            "Way: step 0 of 8, 9 rows, UniformIntegrity.itf.json",
            "Way: step 0 of 2, 3 rows, AllDelivered.itf.json",
        ]


def test_a_check_leads_to_counterexamples_and_witnesses(browser: Browser) -> None:
    with figure_5(browser):
        browser.key("c")
        browser.until("document.querySelectorAll('#properties button').length > 1")
        told = browser.text("#properties")
        assert "✗ UniformIntegrity" in told
        assert "✓ AllDelivered reached after 2 steps" in told
        browser.key("Enter")
        browser.until("document.getElementById('way-title').textContent === 'Way: step 0 of 8'")
        browser.key("End")
        at(browser, 8)
        assert "✗ UniformIntegrity" in browser.text("#way [aria-current]")
        browser.until("document.getElementById('picture').textContent.includes('receive_request')")
        browser.click("#properties li:last-child button")
        browser.until("document.getElementById('way-title').textContent === 'Way: step 0 of 2'")


def test_the_loop_of_a_liveness_trace_goes_round_and_long_values_unfold(
    browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "wheel.py").write_text(TURNING, encoding="utf-8")
    with serving(f"{tmp_path}/wheel.py:Turning") as there:
        browser.window(there)
        browser.key("c")
        browser.until("document.querySelectorAll('#properties button').length === 1")
        browser.click("#properties button")
        browser.until("document.getElementById('notice').textContent.includes('for ever')")
        browser.until("document.querySelectorAll('#way .row').length > 1")
        steps = int(browser.text("#way-title").rpartition(" ")[2])
        browser.key("End")
        at(browser, steps)
        assert steps > 0
        loop = int(browser.run("document.getElementById('notice').textContent.match(/from step (\\d+)/)[1]"))
        assert "↻" in browser.text(f"#way [data-index='{loop}']")
        browser.key("f")
        at(browser, loop)
        browser.key("Home")
        at(browser, 0)
        browser.key("l")
        at(browser, loop)
        named = [text.partition("\n")[0] for text in browser.each("#enabled button", "one.innerText")]
        mark = 1 + next((number for number, text in enumerate(named) if text.startswith("mark")), -1)
        if mark:
            browser.key(str(mark))
        browser.until("document.querySelectorAll('td .value').length > 0")
        assert "characters" in browser.text("td .value")
        browser.click("td .value")
        browser.until("document.querySelector('td .value').getAttribute('aria-expanded') === 'true'")
        assert browser.text("td .value").count("True") == 60
        assert browser.run("document.activeElement.className") == "value"
        browser.key("u")
        browser.key("u")
        browser.until("document.querySelector('td .value').getAttribute('aria-expanded') === 'false'")


def test_a_pinned_state_stands_beside_and_changes_can_be_alone(browser: Browser) -> None:
    with figure_5(browser):
        for key, there in (("1", 1), ("1", 2), ("p", 2), ("Home", 0)):
            browser.key(key)
            at(browser, there)
        browser.until("document.getElementById('columns').innerText.includes('pinned')")
        differing = browser.count("tr.changed")
        assert differing > 1
        browser.key("x")
        browser.until(f"document.querySelectorAll('#fields tr').length === {differing}")
        browser.click("#only")
        browser.click("#filter")
        browser.write("network")
        browser.until("document.querySelectorAll('#fields tr').length === 1")
        browser.key("Escape")
        browser.click("#pin")
        browser.until("document.getElementById('columns').innerText.includes('before')")


def test_several_runs_stand_side_by_side(
    browser: Browser, counterexamples: list[Path], pictures: Path | None
) -> None:
    words = [word for file in counterexamples for word in ("--trace", str(file))]
    with serving(*words) as there:
        browser.window(there)
        browser.key("s")
        browser.run("document.querySelectorAll('#besides input').forEach((one) => one.click())")  # at once
        browser.until("document.querySelectorAll('#way-head span').length === 4")
        browser.key(" ")
        browser.until("document.querySelectorAll('#way-head span').length === 3")
        assert browser.each("#besides input", "one.checked") == [False, True, True]
        assert browser.run("document.querySelector('#besides').contains(document.activeElement)")
        browser.key("Escape")
        browser.key("End")
        at(browser, 8)
        browser.until("document.querySelectorAll('#columns th').length === 4")
        assert browser.run("document.querySelectorAll('#way .row:nth-child(2) > span').length") == 3
        red = browser.each("#way .row > span.broken", "[one.parentElement.dataset.index, one.innerText]")
        assert [index for index, _ in red] == ["2"]
        assert red[0][1].startswith("≠ ")
        assert browser.count("td.differs") > 0
        assert "(ended)" in browser.text("#way")
        if pictures:
            browser.until("document.querySelector('#picture svg') !== null")
            browser.picture(pictures / "side-by-side.png")


def test_an_implementation_stands_beside_and_the_first_difference_is_red(
    browser: Browser, tmp_path: Path, pictures: Path | None
) -> None:
    sizes = {"processes": 3, "messages": 2, "views": 2}
    difference = antiphon.lockstep(
        antiphon.binding("sequencer", fault="names-the-coordinator", **sizes)
    ).difference
    assert difference is not None
    save(difference.trace, tmp_path / "differs.itf.json")
    words = [
        "--binding",
        "sequencer",
        "--fault",
        "names-the-coordinator",
        "--trace",
        str(tmp_path / "differs.itf.json"),
    ]
    with serving(*words) as there:
        browser.window(there)
        at(browser, 0)
        assert "implementation" in browser.text("#columns")
        assert browser.text("#difference") == ""
        assert browser.count("td.differs") == 0
        browser.key("End")
        at(browser, len(difference.trace))
        assert "The implementation differs" in browser.text("#difference")
        assert browser.count("td.differs") > 0
        colour = browser.run("getComputedStyle(document.querySelector('td.differs')).color")
        assert colour == browser.run("getComputedStyle(document.getElementById('difference')).color")
        if pictures:
            browser.until("document.querySelector('#picture svg') !== null")
            browser.picture(pictures / "implementation.png")


def written(tmp_path: Path, lines: list[dict[str, object]]) -> Path:
    log = tmp_path / "run.ndjson"
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return log


def test_a_log_is_walked_with_the_states_in_which_the_system_may_be(
    browser: Browser, tmp_path: Path, pictures: Path | None
) -> None:
    with serving("raft", "--observed", str(written(tmp_path, LOG)), "--hidden", "update_term:1") as there:
        browser.window(there)
        at(browser, 0)
        assert "1 state" in browser.text("#log [data-index='0']")
        browser.key("n")
        at(browser, 2)
        assert "3 states" in browser.text("#log [aria-current]")
        assert "The system may be in 3 states after" in browser.text("#possible")
        assert "1 in 1; 0 in 2" in browser.text("#fields")
        assert "hidden" in browser.text("#way [aria-current]")
        browser.key("]")
        browser.key("]")
        browser.until("document.querySelector('#possible [aria-pressed=true]').innerText === '3 ✗'")
        assert "is not possible here" in browser.text("#kept-back")
        assert "requires" in browser.text("#kept-back")
        browser.until("document.querySelector('#picture svg') !== null")
        link, shown = address(browser), browser.text("#fields")
        browser.key("[")
        browser.until("document.querySelector('#possible [aria-pressed=true]').innerText === '2'")
        browser.click("#log [data-index='3']")
        browser.until("document.querySelector('#log [aria-current]').dataset.index === '3'")
        browser.key("N")
        browser.until("document.querySelector('#log [aria-current]').dataset.index === '2'")
        browser.key("1")
        browser.until("document.getElementById('possible').hidden")
        assert re.search(r";line=1;x=\w{12};state=2;v=\w{12};n=time_out", link)
        browser.window(link)
        assert browser.text("#fields") == shown
        if pictures:
            browser.until("document.querySelector('#picture svg') !== null")
            browser.picture(pictures / "log.png")


def test_a_log_that_is_not_explained_says_what_keeps_its_line_back(browser: Browser, tmp_path: Path) -> None:
    with serving(
        "raft", "--observed", str(written(tmp_path, [LOG[0], LOG[2]])), "--hidden", "update_term:1"
    ) as there:
        browser.window(there)
        assert "no behaviour explains" in browser.text("#log-told")
        assert "✗ not explained" in browser.text("#log [data-index='2']")
        assert "3 states" in browser.text("#log [aria-current]")
        kept = browser.text("#kept-back")
        assert "run.ndjson:2 is not possible here" in kept
        assert "become_leader(s0)" in kept
        assert "✗ requires 2 * votes > self.servers" in kept
        assert re.search(r"raft\.py:\d+", kept)


def test_a_place_in_a_log_is_found_again_or_the_nearest_is_shown(browser: Browser, tmp_path: Path) -> None:
    spec, press = tmp_path / "lamp.py", {"action": "press"}
    log = written(tmp_path, [press, {**press, "state": {"lit": False}}])
    words = (f"{spec}:Lamp", "--observed", str(log), "--hidden", "warm:2")

    def opened(place: str) -> tuple[str, str, str]:
        with serving(*words) as there:
            browser.window(f"{there}#{place}")
            line = browser.run("document.querySelector('#log [aria-current]').dataset.index")
            return line, browser.text("#fields"), notice(browser)

    spec.write_text(HEATED, encoding="utf-8")
    with serving(*words) as there:
        browser.window(there)
        browser.key("n")
        browser.until("document.querySelectorAll('#possible button').length === 3")
        browser.key("]")
        browser.key("]")
        browser.until("document.querySelector('#possible [aria-pressed=true]').innerText === '3'")
        shown = browser.text("#fields")
        place = address(browser).partition("#")[2]
        assert "heat\t2" in shown
    assert opened(place) == ("1", shown, "")
    spec.write_text(HEATED.replace("    lit:", "    worn: bool = False\n    lit:"), encoding="utf-8")
    line, fields, told = opened(place)
    assert (line, "heat\t2" in fields) == ("1", True)
    assert told == (
        "The specification has changed since this address was made. "
        "The state was found again by the names of its steps."
    )
    spec.write_text(HEATED.replace("heat < 2", "heat < 1"), encoding="utf-8")
    line, fields, told = opened(place)
    assert (line, "heat\t1" in fields) == ("1", True)
    assert "The system cannot be in the state of this address here: this is state 2 of 2" in told
    spec.write_text(HEATED, encoding="utf-8")
    written(tmp_path, [{"action": "warm"}, press])
    line, fields, told = opened(place)
    assert (line, "heat\t2" in fields) == ("2", True)
    assert told == "The log has changed since this address was made: its line stands elsewhere."


def test_another_run_of_the_same_name_is_told(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "run.itf.json"
    save(walked(310), file)
    with serving("--trace", str(file)) as there:
        browser.window(there)
        browser.key("End")
        at(browser, 310)
        browser.key("1")
        at(browser, 311)
        place, shown = address(browser).partition("#")[2], browser.text("#fields")
    for steps, told in (
        (310, ""),
        (320, "run.itf.json is another run than when this address was made: this is its step 310."),
        (305, "this is its step 305. It has no step 310."),
    ):
        save(walked(steps), file)
        with serving("--trace", str(file)) as there:
            browser.window(f"{there}#{place}")
            at(browser, min(steps, 310) + 1)
            assert told in notice(browser)
            assert bool(told) == bool(notice(browser))
            if not told:
                assert browser.text("#fields") == shown


def test_values_of_watched_expressions_are_shown_with_their_changes(
    browser: Browser, counterexamples: list[Path], tmp_path: Path, pictures: Path | None
) -> None:
    file, queue = tmp_path / "watched.html", "self.delivered_queue[Process(1)]"
    words = ["--trace", str(counterexamples[0]), "--watch", queue, "--watch", "len(self.network)"]
    explored(*words, "--html", str(file))
    with serving("--trace", str(counterexamples[0])) as there:
        for page in (there, file.as_uri()):
            browser.window(page)
            at(browser, 0)
            for expression in (queue, "len(self.network)") if page == there else ():
                browser.key("w")
                browser.write(expression)
                browser.key("Enter")
            browser.until("document.querySelectorAll('#watched .changes').length === 2")
            assert browser.text("#watched li > b") == "{}"
            rows = browser.each("#watched > li:first-child .changes li", "one.innerText")
            assert [row.split() for row in rows] == [["0–5", "{}"], ["6–8", "{m0}"]]
            browser.click("#watched > li:first-child .changes li:nth-child(2) button")
            at(browser, 6)
            browser.until("document.querySelector('#watched li > b').innerText === '{m0}'")
            assert "● changed, before: {}" in browser.text("#watched > li")
            assert "{m0}" in browser.text("#watched .changes [aria-current]")
            if pictures:
                browser.picture(pictures / f"watched-{page.partition(':')[0]}.png")


def explored(*words: str) -> None:
    """Write a file by the command."""
    command = [str(Path(sys.executable).parent / "antiphon"), "explore", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def test_a_file_is_walked_without_a_network(
    browser: Browser, counterexamples: list[Path], tmp_path: Path, pictures: Path | None
) -> None:
    file = tmp_path / "twice.html"
    runs = ["--trace", str(counterexamples[0]), "--trace", str(counterexamples[1])]
    explored(*runs, "--watch", "len(self.network) == 0", "--html", str(file))
    assert file.stat().st_size < 5_000_000
    browser.window(file.as_uri(), offline=True)
    at(browser, 0)
    assert "All 281 reachable states are in this file" in browser.text("#contents")
    browser.key("End")
    at(browser, 8)
    assert "✗ UniformIntegrity" in browser.text("#way [aria-current]")
    assert browser.count("tr.changed") > 0
    browser.until("document.querySelectorAll('#picture svg:not(:has(.later))').length === 1")
    browser.until("document.querySelectorAll('#disabled li').length > 0")
    assert "requires" in browser.text("#disabled")
    browser.key("Home")
    at(browser, 0)
    browser.until("document.querySelector('#picture .later') !== null")
    browser.key("1")
    at(browser, 1)
    if pictures:
        browser.until("document.querySelector('#picture .later') !== null")
        browser.picture(pictures / "file.png")
    browser.key("1")
    at(browser, 2)
    browser.until("document.getElementById('picture').textContent.includes('This way is none of them')")
    link, shown = address(browser), browser.text("#fields")
    assert not browser.run("getComputedStyle(document.getElementById('find')).display !== 'none'")
    browser.key("s")
    browser.click("#besides label:nth-child(2) input")
    browser.until("document.querySelectorAll('#columns th').length === 3")
    signs = browser.text("#watched .line")
    assert (len(signs), signs[0]) == (3, "●")
    assert browser.count("#watched button") == 0
    assert [one for one in browser.requests if not one.startswith(("file:", "data:"))] == []
    assert len(browser.requests) == 1
    browser.window(link, offline=True)
    at(browser, 2)
    assert (browser.text("#fields"), notice(browser)) == (shown, "")
    changed = re.sub(r";h=\w+;t=[\d.]+", ";h=0123456789ab;t=0.5.5", link)
    assert changed != link
    browser.window(changed, offline=True)  # other numbers: the names lead there
    at(browser, 2)
    assert browser.text("#fields") == shown
    assert "has changed" in notice(browser)
    assert "were taken by their names" in notice(browser)


def test_a_file_of_the_runs_alone_says_so_and_a_log_is_walked_in_it(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "log.html"
    words = ["--observed", str(written(tmp_path, LOG)), "--hidden", "update_term:1", "--html", str(file)]
    explored("raft", *words)
    browser.window(file.as_uri(), offline=True)
    assert "alone are in this file: there are too many others" in browser.text("#contents")
    browser.key("n")
    at(browser, 2)
    assert "3 states" in browser.text("#log [aria-current]")
    browser.key("]")
    browser.key("]")
    browser.until("document.querySelector('#possible [aria-pressed=true]').innerText === '3 ✗'")
    assert "is not possible here" in browser.text("#kept-back")
    assert "not in this file" in browser.text("#enabled")
    browser.run(
        "{ const list = document.getElementById('runs'); list.value = 'the explanation'; list.onchange(); }"
    )
    browser.until("document.getElementById('way-title').textContent === 'Way: step 0 of 4'")


def test_a_report_is_walked_in_its_frame(browser: Browser, tmp_path: Path, pictures: Path | None) -> None:
    program = antiphon.program("figure-5", processes=2, messages=1, repairs=["start_token"])
    text = page(Answer("check", (of_report("figure-5", antiphon.check(program), "again"),)), "1")
    (tmp_path / "report.html").write_text(text, encoding="utf-8")
    browser.window(
        (tmp_path / "report.html").as_uri(), ready="document.querySelector('iframe') !== null", offline=True
    )
    browser.click("details summary")
    browser.until("document.querySelector('iframe').getBoundingClientRect().height > 300")
    browser.run("document.querySelector('iframe').scrollIntoView()")
    browser.enter_frame(lambda url: url == "about:srcdoc")
    at(browser, 0)
    browser.run("document.querySelector('#enabled li button').click()")
    at(browser, 1)
    assert (
        browser.run("(() => { try { return String(parent.document.title); } catch { return 'no'; } })()")
        == "no"
    )
    browser.leave_frame()
    if pictures:
        browser.picture(pictures / "report.png")


def test_a_specification_draws_its_states(browser: Browser, pictures: Path | None) -> None:
    for words in (["ewd840"], ["irbp-two-views", "--repair", "all"]):
        with serving(*words) as there:
            browser.window(there)
            browser.until("document.querySelector('#own svg') !== null")
            before = browser.run("document.getElementById('own').innerHTML")
            for number in (1, 2, 3):
                browser.key("1")
                at(browser, number)
            assert browser.run("document.getElementById('own').innerHTML") != before
            if pictures:
                browser.until("document.documentElement.dataset.whole === 'true'")
                browser.picture(pictures / f"draws-{words[0]}.png")


def test_everything_is_reached_by_the_keyboard(browser: Browser, counterexamples: list[Path]) -> None:
    with serving("--trace", str(counterexamples[0]), "--trace", str(counterexamples[1])) as there:
        browser.window(there)
        browser.until("document.querySelectorAll('#disabled li').length > 0")
        able = "button:not(.row), input, select, summary"
        shown = browser.each(able, "one.checkVisibility() ? one.id || one.innerText : ''")
        wanted = set(filter(None, shown))
        reached = set()
        for _ in range(len(wanted) + 30):
            browser.key("Tab")
            reached.add(browser.run("document.activeElement.id || document.activeElement.innerText"))
        assert wanted - reached == set()
        browser.run("document.querySelector('#enabled .chosen').focus()")
        browser.key("Enter")
        at(browser, 1)
        assert browser.run("document.querySelector('#enabled').contains(document.activeElement)")
        browser.run("document.activeElement.blur()")
        browser.key("?")
        told = browser.text("#help")
        for key in "kjfldxupwcrsnNyiIgGo":
            assert re.search(rf"\b{key}\b", told), key
        browser.key("r")
        assert browser.run("document.activeElement.id") == "runs"
        browser.key("Escape")
        browser.key("/")
        assert browser.run("document.activeElement.id") == "find-text"


def test_any_row_of_a_list_is_reached_by_the_keyboard(
    browser: Browser, long_run: Path, tmp_path: Path, pictures: Path | None
) -> None:
    def cursor() -> int:
        named = browser.run("document.activeElement.getAttribute('aria-activedescendant')")
        return int(str(named).rpartition("-")[2])

    with serving("--trace", str(long_run)) as there:
        browser.window(there)
        browser.key("g")
        assert browser.run("document.activeElement.id") == "way"
        for keys, row in (
            (["ArrowDown", "ArrowDown"], 2), (["ArrowUp"], 1), (["End"], 10_000), (["Home"], 0),
            (list("7421"), 7421),
        ):  # fmt: skip
            for key in keys:
                browser.key(key)
            assert cursor() == row
            assert step_of(browser) == 0
        browser.key("PageDown")
        assert cursor() > 7423
        browser.key("PageUp")
        assert cursor() == 7421
        if pictures:
            browser.picture(pictures / "cursor.png")
        browser.key("Enter")
        at(browser, 7421)
        browser.key("ArrowDown")
        browser.key("Enter")
        at(browser, 7422)
        browser.key("Escape")
        browser.key("ArrowLeft")
        at(browser, 7421)
    words = ["--observed", str(written(tmp_path, LOG)), "--hidden", "update_term:1"]
    with serving("raft", *words) as there:
        browser.window(there)
        browser.key("G")
        browser.key("3")
        browser.key("Enter")
        browser.until("document.querySelector('#log [aria-current]').dataset.index === '3'")
        browser.key("Home")
        browser.key("Enter")
        browser.until("document.querySelector('#log [aria-current]').dataset.index === '0'")


def light(colour: str) -> float:
    """The relative luminance of `rgb(r, g, b)`, as WCAG defines it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("look", ["light", "dark", "narrow", "grey"])
def test_it_is_readable_light_dark_narrow_and_without_colour(
    browser: Browser, counterexamples: list[Path], look: str, pictures: Path | None
) -> None:
    with serving("--trace", str(counterexamples[0])) as there:
        browser.window(
            there, dark=look == "dark", colours=look != "grey", width=420 if look == "narrow" else 1400
        )
        browser.key("End")
        at(browser, 8)
        browser.until("document.querySelector('#picture svg') !== null")
        browser.until("document.querySelectorAll('#disabled li').length > 0")
        if pictures:
            browser.picture(pictures / f"{look}.png")
        marks = browser.each("#picture g > g > path", "one.getAttribute('d')")  # those of the legend
        assert len(marks) == len(set(marks)) == 3  # the kinds of messages
        assert browser.run("document.documentElement.scrollWidth <= innerWidth")
        paper = light(browser.run("getComputedStyle(document.body).backgroundColor"))
        for selector in ("body", "#disabled .steps", "#disabled .note", "#constants", "#way .broken"):
            ink = light(browser.each(selector, "getComputedStyle(one).color")[0])
            assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) >= 4.5, selector
        for selector, sign in (
            ("tr.changed td", "●"), ("#enabled .chosen", "▸"), ("#disabled .guard", "✗"),
            ("#way [aria-current] > span", "▸"),
        ):  # fmt: skip
            assert browser.each(selector, "getComputedStyle(one, '::before').content")[0].strip('" ') == sign


def test_a_file_of_ten_thousand_steps_is_walked_as_fast(
    browser: Browser, long_run: Path, tmp_path: Path
) -> None:
    file = tmp_path / "long.html"
    explored("--trace", str(long_run), "--html", str(file))
    assert file.stat().st_size <= 5_000_000
    painted = []  # what else the machine does makes one of them slow, and not all
    for _ in range(3):
        browser.window(file.as_uri(), offline=True)
        painted.append(browser.first_paint())
    browser.key("End")
    at(browser, 10_000)
    took = browser.timed(["ArrowLeft"] * 30)
    assert min(painted) < 1.0
    assert statistics.median(took.states) < 0.05
    assert statistics.median(took.wholes) < 0.05


def test_ten_thousand_steps_are_walked_without_waiting(browser: Browser, long_run: Path) -> None:
    with serving("--trace", str(long_run)) as there:
        painted = []
        for _ in range(3):
            browser.window(there)
            painted.append(browser.first_paint())
        browser.key("End")
        at(browser, 10_000)
        took = browser.timed(["ArrowLeft"] * 30)
        at(browser, 9_970)
        assert browser.count("#way .row") < 100
        browser.until("location.hash.includes(';run=long.itf.json;r=') && location.hash.endsWith(';at=9970')")
        browser.key("w")
        browser.write("len(self.messages) == 0")
        browser.key("Enter")
        browser.until("document.querySelector('#watched .line')?.innerText.length === 400")
        browser.key("w")
        browser.write("len(self.messages)")
        browser.key("Enter")
        browser.until("document.querySelector('#watched .changes button') !== null")
        first = int(browser.text("#watched .changes button").partition("–")[0])
        browser.click("#watched .changes button")
        at(browser, first)
        assert 9_600 < first < 9_970
    assert min(painted) < 1.0
    assert statistics.median(took.states) < 0.05
    assert statistics.median(took.wholes) < 0.05
