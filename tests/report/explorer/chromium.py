"""A headless Chromium, driven by its debugging protocol over two pipes: clicked and typed at."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

READY = "document.documentElement?.dataset.ready === 'true'"
"""Condition that the explorer has shown its first state."""

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

KEYS = {
    "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Enter": 13, "Escape": 27, "Home": 36,
    "End": 35, "Backspace": 8, "Tab": 9, " ": 32,
    "PageUp": 33, "PageDown": 34,
}  # fmt: skip
"""Keys that are no signs, with the numbers by which browsers know them."""


STOPWATCH = """if (!window.timed) {
  let begun = 0, state = 0, done = null;
  window.timed = () => { window.took = new Promise((resolve) => { done = resolve; }); };
  document.addEventListener('keydown', () => { begun = performance.now(); state = 0; }, true);
  new MutationObserver(() => { if (!state) state = performance.now() - begun; })
    .observe(document.getElementById('way-title'), {childList: true});
  new MutationObserver(() => {
    if (state && document.documentElement.dataset.whole) done([state, performance.now() - begun]);
  }).observe(document.documentElement, {attributes: true, attributeFilter: ['data-whole']});
}"""
"""Script that notes the milliseconds from each key to the state, and until all of the step is there."""


@dataclass(frozen=True)
class Took:
    """Seconds from each key until the state is there, and until its diagram and disabled steps are, too."""

    states: list[float]
    wholes: list[float]


class Wrong(AssertionError):
    """The page is not as it has to be."""


def found_browser(named: str | None = None) -> str:
    """The program of a browser. Raises Wrong where there is none: what needs it has not been tested then."""
    found = next(filter(None, map(shutil.which, [named] if named else PROGRAMS)), None)
    if found is None:
        raise Wrong(
            f"no browser: {named or ', '.join(PROGRAMS)} is not on this machine; "
            "on Debian: apt-get install chromium-headless-shell"
        )
    return found


class Browser:
    """A headless Chromium. One window at a time is driven; those before it stay open."""

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
        self.process = subprocess.Popen(
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
        self.requests: list[str] = []
        self._context: dict[str, Any] = {}

    def close(self) -> None:
        """End the browser."""
        self._session = ""
        with suppress(Wrong, OSError):
            self.call("Browser.close")
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
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
            self._note(answer)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise Wrong(f"{method}: {answer['error']['message']}")
                found: dict[str, Any] = answer["result"]
                return found

    def _note(self, answer: dict[str, Any]) -> None:
        """Keep what the page throws, what the browser complains of, and what is loaded."""
        given = answer.get("params", {})
        match answer.get("method"):
            case "Runtime.exceptionThrown":
                self.errors.append(str(given["exceptionDetails"].get("exception", {}).get("description")))
            case "Log.entryAdded" if given["entry"]["level"] == "error":
                self.errors.append(f"{given['entry']['text']} {given['entry'].get('url', '')}")
            case "Network.requestWillBeSent":
                self.requests.append(given["request"]["url"])

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
        self,
        address: str,
        *,
        dark: bool = False,
        colours: bool = True,
        width: int = 1400,
        height: int = 1000,
        offline: bool = False,
        ready: str = READY,
    ) -> None:
        """Open a new window, and wait until the page is ready."""
        self._session, self._context = "", {}
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Page", "Log", "Network"):
            self.call(f"{domain}.enable")
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        if not colours:
            self.call("Emulation.setEmulatedVisionDeficiency", type="achromatopsia")
        if offline:
            self.call(
                "Network.emulateNetworkConditions",
                offline=True,
                latency=0,
                downloadThroughput=0,
                uploadThroughput=0,
            )
        self.requests.clear()
        self.call("Page.navigate", url=address)
        self.until(ready)

    def enter_frame(self, is_it: Callable[[str], bool]) -> None:
        """Evaluate in a frame of the page from now on, that of this address."""
        frames = self.call("Page.getFrameTree")["frameTree"].get("childFrames", [])
        frame = next(one["frame"]["id"] for one in frames if is_it(one["frame"]["url"]))
        found = self.call("Page.createIsolatedWorld", frameId=frame)
        self._context = {"contextId": found["executionContextId"]}

    def leave_frame(self) -> None:
        """Evaluate in the page itself again."""
        self._context = {}

    def run(self, script: str) -> Any:
        """Evaluate JavaScript in the page."""
        given = {"expression": script, "awaitPromise": True, "returnByValue": True, **self._context}
        answer = self.call("Runtime.evaluate", **given)
        if "exceptionDetails" in answer:
            raise Wrong(f"{script}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def until(self, condition: str, seconds: float = 20.0) -> None:
        """Wait until a condition is true in the page."""
        end = time.monotonic() + seconds
        while not self.run(condition):
            if time.monotonic() > end:
                said = str(self.run("document.body.innerText"))[:600]
                raise Wrong(f"this is never true: {condition}; the page says {said}")
            time.sleep(0.005)

    def text(self, selector: str) -> str:
        """The text that an element shows."""
        return str(self.run(f"document.querySelector({json.dumps(selector)}).innerText"))

    def count(self, selector: str) -> int:
        """Number of elements that match."""
        return int(self.run(f"document.querySelectorAll({json.dumps(selector)}).length"))

    def each(self, selector: str, expression: str) -> list[Any]:
        """The value of an expression over `one`, for each element."""
        found: list[Any] = self.run(
            f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => {expression})"
        )
        return found

    def key(self, name: str) -> None:
        """Press a key and let it go."""
        code = KEYS.get(name, ord(name.upper()) if len(name) == 1 else 0)
        given: dict[str, Any] = {"key": name, "windowsVirtualKeyCode": code}
        if len(name) == 1 or name == "Enter":
            given["text"] = "\r" if name == "Enter" else name
        self.call("Input.dispatchKeyEvent", type="keyDown", **given)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=code)

    def click(self, selector: str) -> None:
        """Click into the middle of an element, wherever that is; what lies above it gets the click."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.until(f"{element} !== null")
        place = (
            f"(() => {{ const one = {element}; one.scrollIntoView({{block: 'nearest'}}); "
            "const box = one.getBoundingClientRect(); "
            "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        before, now = None, self.run(place)
        while before != now:  # what comes late moves things, and nobody clicks at what moves
            time.sleep(0.05)
            before, now = now, self.run(place)
        x, y = now
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def timed(self, keys: Iterable[str]) -> Took:
        """Press keys that lead to other steps, each when all of the step before is there, and time them."""
        self.until("document.documentElement.dataset.whole === 'true'")
        self.run(STOPWATCH)
        rows = []
        for key in keys:
            self.run("timed()")
            self.key(key)
            rows.append(self.run("took"))  # waits for it: who asks again and again keeps the page busy
        return Took([state / 1000 for state, _ in rows], [whole / 1000 for _, whole in rows])

    def first_paint(self) -> float:
        """Return the seconds from the opening of this window until it showed the state."""
        found = "performance.getEntriesByName('ready')"
        self.until(f"{found}.length > 0 && performance.getEntriesByName('first-contentful-paint').length > 0")
        entries = f"[...{found}, ...performance.getEntriesByName('first-contentful-paint')]"
        return float(self.run(f"Math.max(...{entries}.map((one) => one.startTime))")) / 1000

    def write(self, text: str) -> None:
        """Type into the field that has the focus."""
        self.call("Input.insertText", text=text)

    def picture(self, file: Path) -> None:
        """Write a picture of the window."""
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """Run `antiphon explore`, and yield the address of its page."""
    command = [str(Path(sys.executable).parent / "antiphon"), "explore", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
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
        process.stdout.close()
