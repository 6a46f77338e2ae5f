"""The explorer in a real browser, timed: a run and an address of 10,000 steps, and specifications with large
states.

    python benchmarks/explorer_in_browser.py [--browser chromium-headless-shell] [--steps 10000] [--rounds 5]

Needs Chromium (on Debian: apt-get install chromium-headless-shell) and the extra `explore`. A step is timed
in the page, from the key to the state; `all of it` is until the diagram and the disabled steps are there. The
first paint is timed from the opening of the window until the state is shown. An address is opened cold: by a
server that was started for it, and that has taken none of its steps. The run and the addresses must keep the
bounds; the large specifications are printed. `make check-browser` tests what a person clicks.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.report.explorer.chromium import Browser, Took, Wrong, found_browser, serving
from tests.report.explorer.runs import walked

from antiphon.model.export import save

PAINT_S, STEP_S = 1.0, 0.05
"""Largest time until the first paint, and largest median time of a step with all of it, in seconds."""

LARGE = (
    ("irbp-two-views", "--repair", "all"),
    ("horus-flush-stack",),
    ("vsc",),
    ("totem-ring",),
)
"""Specifications whose states have most parts."""

ADDRESSED = ("die-hard", "alternating-bit")
"""Specifications of which an address of many steps is opened."""


def told(name: str, took: Took) -> float:
    """Print the times of steps; return the median until all of a step is there, in seconds."""
    state, whole = statistics.median(took.states), statistics.median(took.wholes)
    slow = sorted(took.wholes)[len(took.wholes) * 95 // 100]
    print(
        f"{name}: a step {1000 * state:.0f} ms, all of it {1000 * whole:.0f} ms "
        f"(95 of 100 within {1000 * slow:.0f} ms)"
    )
    return whole


def place_of(steps: int, name: str, browser: Browser) -> str:
    """Return the part of an address after `#` that holds so many steps of a specification, as the page writes
    it.
    """
    with serving(name) as address:
        browser.window(address)
        digest = re.search(r";h=\w+", wait(browser))
        assert digest is not None
        choices = ".".join(str(number * 7919 // 5 % 2) for number in range(steps))
        browser.window(f"{address}#a1;spec={name};o={digest[0]};t=0.{choices}")
        there = f"Way: step {steps} of {steps}"
        browser.until(f"document.getElementById('way-title').textContent === '{there}'", 60)
        return wait(browser).removeprefix("#")


def wait(browser: Browser) -> str:
    """Return what stands behind # in the address line, when it holds the place that is shown."""
    browser.until("document.documentElement.dataset.addressed === 'true'")
    return str(browser.run("location.hash"))


def main() -> int:
    """Drive the browser; print the times."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--browser")
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    try:
        program = found_browser(given.browser)
    except Wrong as missing:
        print(missing, file=sys.stderr)
        return 64
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        browser = Browser(program, f"{directory}/profile")
        file = Path(directory) / "long.itf.json"
        save(walked(given.steps), file)
        ways = {"back through it": ["ArrowLeft"] * 30, "new steps at its end": ["1", "2"] * 15}
        step, paints = 0.0, []
        with serving("--trace", str(file)) as address:
            for _ in range(given.rounds):
                browser.window(address)
                paints.append(browser.first_paint())
            print(
                f"{given.steps:,} steps: first paint {statistics.median(paints):.2f} s, "
                f"at most {max(paints):.2f} s"
            )
            for name, keys in ways.items():
                browser.window(address)
                browser.key("End")
                browser.until(f"document.getElementById('way-title').textContent.includes(' {given.steps} ')")
                step = max(step, told(name, browser.timed(keys * given.rounds)))
        for name in ADDRESSED:
            place, cold = place_of(given.steps, name, browser), []
            for _ in range(given.rounds):
                with serving(name) as address:
                    browser.window(f"{address}#{place}")
                    cold.append(browser.first_paint())
            print(
                f"an address of {given.steps:,} steps of {name}, opened cold: first paint "
                f"{statistics.median(cold):.2f} s, at most {max(cold):.2f} s"
            )
            paints = max(paints, cold, key=statistics.median)
        for words in LARGE:
            with serving(*words) as address:
                browser.window(address)
                told(words[0], browser.timed(["1"] * 15))
        browser.close()
    return 0 if statistics.median(paints) <= PAINT_S and step <= STEP_S else 1


if __name__ == "__main__":
    sys.exit(main())
