"""The explorer in a real browser: what a person clicks is clicked, and the times of a long run are measured.

    python benchmarks/explorer_in_browser.py [--browser chromium-headless-shell] [--steps 10000]
    [--pictures DIR]

Needs Chromium (on Debian: apt-get install chromium-headless-shell) and the extra `explore`. The browser is
driven by
its debugging protocol over two pipes, so that nothing else is needed. The exit code is 1 if something is
not as it has
to be, and the first such thing is printed.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import antiphon
from antiphon.conformance.compare.bindings import bound_protocol
from antiphon.model.export import save
from antiphon.model.trace import replay

FAULT = "delivers-without-body"

READY = "document.documentElement?.dataset.ready === 'true'"
"""Condition that the explorer has shown its first state."""

PAINT_S, STEP_S = 1.0, 0.05
"""Largest time until the first paint of a long run, and largest median time of a step."""


class Wrong(Exception):
    """The page is not as it has to be."""


class Browser:
    """A headless Chromium with one window at a time."""

    def __init__(self, program: str, profile: str) -> None:
        commands, self._to = os.pipe()
        self._from, answers = os.pipe()
        os.set_inheritable(commands, True)
        os.set_inheritable(answers, True)

        def placed() -> None:
            os.dup2(commands, 3)
            os.dup2(answers, 4)

        flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
        ]
        self.process = subprocess.Popen(  # noqa: S603 - the browser that was named
            [program, *flags, "about:blank"],
            preexec_fn=placed,
            pass_fds=(3, 4, commands, answers),
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._number, self._left, self._session = 0, b"", ""
        self.errors: list[str] = []

    def close(self) -> None:
        """End the browser."""
        self._session = ""
        with suppress(Wrong, OSError):
            self.call("Browser.close")
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        os.close(self._to)
        os.close(self._from)

    def call(self, method: str, **given: Any) -> dict[str, Any]:
        """Call a method of the debugging protocol, and return its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": given}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("method") == "Runtime.exceptionThrown":
                self.errors.append(
                    str(answer["params"]["exceptionDetails"].get("exception", {}).get("description"))
                )
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise Wrong(f"{method}: {answer['error']['message']}")
                found: dict[str, Any] = answer["result"]
                return found

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            more = os.read(self._from, 1 << 20)
            if not more:
                raise Wrong("the browser has ended")
            self._left += more
        message, _, self._left = self._left.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def window(
        self, address: str, *, dark: bool = False, width: int = 1400, height: int = 1000, ready: str = READY
    ) -> None:
        """Open a new window, and wait until the page is ready."""
        self._session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Runtime.enable")
        self.call("Page.enable")
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.call("Page.navigate", url=address)
        self.until(ready)

    def run(self, script: str) -> Any:
        """Evaluate JavaScript in the page."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise Wrong(f"{script}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def until(self, condition: str, seconds: float = 20.0) -> None:
        """Wait until a condition is true in the page."""
        end = time.monotonic() + seconds
        while not self.run(condition):
            if time.monotonic() > end:
                said = self.run("document.body.innerText")[:600]
                raise Wrong(f"this is never true: {condition}; the page says {said}")
            time.sleep(0.005)

    def key(self, name: str) -> None:
        """Press a key."""
        event = f"new KeyboardEvent('keydown', {{key: {json.dumps(name)}, bubbles: true}})"
        self.run(f"document.body.dispatchEvent({event})")

    def click(self, selector: str) -> None:
        """Click an element."""
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def write(self, selector: str, text: str) -> None:
        """Write into a field, and send its form."""
        self.run(
            f"{{ const field = document.querySelector({json.dumps(selector)}); "
            f"field.value = {json.dumps(text)}; field.form.requestSubmit(); }}"
        )

    def picture(self, file: Path) -> None:
        """Write a picture of the whole page."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        file.write_bytes(base64.b64decode(data))


def step_of(browser: Browser) -> int:
    """The number of the step at which the page stands."""
    found = re.match(
        r"Way: step (\d+) of", str(browser.run("document.getElementById('way-title').textContent"))
    )
    if found is None:
        raise Wrong("the page has no way")
    return int(found[1])


def at(browser: Browser, number: int) -> None:
    """Wait until the page stands at a step."""
    browser.until(f"document.getElementById('way-title').textContent.startsWith('Way: step {number} of')")


def expect(condition: object, what: str) -> None:
    """Raise Wrong unless the condition is true."""
    if not condition:
        raise Wrong(what)


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """Run `antiphon explore`, and yield the address of its page."""
    command = [str(Path(sys.executable).parent / "antiphon"), "explore", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own command
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith("http://"):
                yield line.strip()
                break
        else:
            raise Wrong(f"{command} has printed no address")
    finally:
        process.terminate()
        process.wait(10)


def walks(browser: Browser, pictures: Path | None) -> None:
    """Walk figure 5 as a person does: steps, back, a branch, why not, search, watch, pin, a second window."""
    with serving("figure-5", "--processes", "2", "--messages", "1", "--repair", "start_token") as address:
        browser.window(address)
        at(browser, 0)
        expect(
            browser.run("document.querySelectorAll('#enabled li').length") > 0,
            "no step is enabled at the start",
        )
        browser.key("1")
        at(browser, 1)
        expect(browser.run("document.querySelectorAll('tr.changed').length") > 0, "a step changes nothing")
        browser.key("ArrowDown")
        browser.key("ArrowRight")
        at(browser, 2)
        browser.until("document.querySelector('#picture svg') !== null")
        browser.key("ArrowLeft")
        at(browser, 1)
        browser.key("f")
        at(browser, 2)
        browser.click("#why")
        browser.until("document.querySelectorAll('#disabled li').length > 0")
        expect(
            "requires" in browser.run("document.getElementById('disabled').innerText"), "no guard is named"
        )
        browser.write("#watch-text", "len(self.network) == 0")
        browser.until("document.querySelectorAll('#watched li').length === 1")
        browser.write("#watch-text", "self.nothing")
        browser.until("document.getElementById('notice').textContent.includes('nothing')")
        browser.write("#find-text", "len(self.delivered_queue[Process(1)]) > 0")
        browser.until("document.getElementById('notice').textContent.includes('from here')")
        browser.until("!/step [012] of/.test(document.getElementById('way-title').textContent)")
        found = step_of(browser)
        browser.key("p")
        browser.until("document.getElementById('other').textContent === 'pinned'")
        browser.key("ArrowLeft")
        at(browser, found - 1)
        expect(
            browser.run("document.querySelectorAll('tr.changed').length") > 0,
            "nothing differs from the pinned state",
        )
        browser.key("p")
        browser.key("End")
        at(browser, found)
        if pictures:
            browser.until("document.querySelector('#picture svg') !== null")
            browser.picture(pictures / "explorer.png")
        link = browser.run("location.href")
        shown = browser.run("document.getElementById('fields').innerText")
        browser.window(link, dark=True)
        at(browser, found)
        expect(
            browser.run("document.getElementById('fields').innerText") == shown,
            "a link opens at another state",
        )
        if pictures:
            browser.until("document.querySelector('#picture svg') !== null")
            browser.picture(pictures / "explorer-dark.png")
            browser.window(link, width=420)
            browser.picture(pictures / "explorer-narrow.png")
        changed = re.sub(r";h=\w+", ";h=0123456789ab", link)
        browser.window(changed)
        at(browser, found)
        notice = browser.run("document.getElementById('notice').textContent")
        expect("has changed" in notice, "an address of another specification is opened in silence")
        expect(not browser.errors, f"the page throws: {browser.errors}")


def beside(browser: Browser, place: Path, pictures: Path | None) -> None:
    """Show an implementation with a planted mistake beside its specification, up to their difference."""
    bound = bound_protocol("rbp")
    difference = antiphon.lockstep(bound.bind(fault=FAULT, **bound.small)).difference
    assert difference is not None
    save(difference.trace, place / "differs.itf.json")
    with serving("--binding", "rbp", "--fault", FAULT, "--trace", str(place / "differs.itf.json")) as address:
        browser.window(address)
        at(browser, 0)
        expect(browser.run("!document.getElementById('implementation').hidden"), "no implementation is shown")
        expect(
            browser.run("document.getElementById('difference').textContent === ''"), "the start is accused"
        )
        browser.key("End")
        at(browser, len(difference.trace))
        told = browser.run("document.getElementById('difference').textContent")
        expect("differs" in told, "a planted mistake is not seen")
        if pictures:
            browser.picture(pictures / "explorer-beside.png")
        expect(not browser.errors, f"the page throws: {browser.errors}")


def side_by_side(browser: Browser, place: Path, pictures: Path | None) -> None:
    """Lay two counterexamples of one specification side by side."""
    program = antiphon.program("figure-5", processes=2, messages=1, repairs=["start_token"])
    report = antiphon.check(program)
    first, second = [item.trace for item in report.verdicts if item.trace is not None][:2]
    save(first, place / "one.itf.json")
    save(second, place / "two.itf.json")
    with serving("--trace", str(place / "one.itf.json"), "--trace", str(place / "two.itf.json")) as address:
        browser.window(address)
        browser.run(
            "{ const list = document.getElementById('beside'); "
            "list.value = 'two.itf.json'; list.onchange(); }"
        )
        browser.until("document.getElementById('other').textContent.startsWith('beside')")
        expect(" | " in browser.run("document.getElementById('way').innerText"), "no second run is shown")
        browser.key("End")
        at(browser, len(first))
        if pictures:
            browser.picture(pictures / "explorer-two.png")
        expect(not browser.errors, f"the page throws: {browser.errors}")


def saved(browser: Browser, place: Path, pictures: Path | None) -> None:
    """Open a counterexample as one file, without network."""
    program = antiphon.program("figure-5", processes=2, messages=1, repairs=["start_token"])
    trace = antiphon.check(program).counterexample
    assert trace is not None
    save(trace, place / "twice.itf.json")
    command = [
        str(Path(sys.executable).parent / "antiphon"),
        "explore",
        "--trace",
        str(place / "twice.itf.json"),
    ]
    command += ["--html", str(place / "twice.html")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own command
    text = (place / "twice.html").read_text(encoding="utf-8")
    expect(len(text) < 5_000_000, "the file is too large")
    expect(not re.search(r"""(src|href)=["'](?!#|data:)""", text), "the file loads another one")
    browser.window((place / "twice.html").as_uri())
    at(browser, 0)
    browser.key("End")
    at(browser, len(trace))
    browser.key("d")
    browser.until("document.querySelectorAll('#disabled li').length > 0")
    browser.key("Home")
    at(browser, 0)
    browser.key("1")
    at(browser, 1)
    if pictures:
        browser.picture(pictures / "explorer-file.png")
    (place / "notebook.html").write_text(antiphon.explore(trace)._repr_html_(), encoding="utf-8")
    browser.window((place / "notebook.html").as_uri(), ready="document.querySelector('iframe') !== null")
    browser.run("new Promise((done) => setTimeout(done, 1000))")
    if pictures:
        browser.picture(pictures / "explorer-notebook.png")
    expect(not browser.errors, f"the page throws: {browser.errors}")


def long_run(browser: Browser, place: Path, steps: int) -> tuple[float, float]:
    """Open a run of many steps; return the seconds until its first paint, and the median of a step."""
    program = antiphon.program("alternating-bit")
    state, taken = program.reference.initial()[0], []
    start = state
    while len(taken) < steps:
        moves = [one for one in program.reference.successors(state) if one.state != state]
        move = moves[len(taken) * 7919 % len(moves)]
        taken.append(move.step)
        state = move.state
    save(replay(program, start, taken), place / "long.itf.json")
    with serving("--trace", str(place / "long.itf.json")) as address:
        began = time.monotonic()
        browser.window(address)
        painted = time.monotonic() - began
        browser.key("End")
        at(browser, steps)
        times = []
        for number in range(steps, steps - 30, -1):
            began = time.monotonic()
            browser.key("ArrowLeft")
            at(browser, number - 1)
            times.append(time.monotonic() - began)
        expect(not browser.errors, f"the page throws: {browser.errors}")
    return painted, sorted(times)[len(times) // 2]


def main() -> int:
    """Drive the browser; print the times."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--browser", default=shutil.which("chromium-headless-shell") or shutil.which("chromium")
    )
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--pictures", type=Path)
    given = parser.parse_args()
    if given.browser is None:
        print("needs Chromium: apt-get install chromium-headless-shell", file=sys.stderr)
        return 64
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        browser = Browser(given.browser, f"{directory}/profile")
        try:
            walks(browser, given.pictures)
            beside(browser, Path(directory), given.pictures)
            side_by_side(browser, Path(directory), given.pictures)
            saved(browser, Path(directory), given.pictures)
            painted, step = long_run(browser, Path(directory), given.steps)
        except Wrong as wrong:
            print(f"✗ {wrong}", file=sys.stderr)
            return 1
        finally:
            browser.close()
    print(
        f"✓ all that a person clicks; {given.steps:,} steps: first paint {painted:.2f} s, "
        f"a step {1000 * step:.0f} ms"
    )
    return 0 if painted <= PAINT_S and step <= STEP_S else 1


if __name__ == "__main__":
    sys.exit(main())
