"""The explorer in a real browser, timed: a run of 10,000 steps, and specifications with large states.

    python benchmarks/explorer_in_browser.py [--browser chromium-headless-shell] [--steps 10000] [--rounds 5]

Needs Chromium (on Debian: apt-get install chromium-headless-shell) and the extra `explore`. A step is timed
from the key to the state on the page; `all of it` is until the diagram and the disabled steps stand there
too. The first paint is timed from the opening of the window. What a person clicks is tested by
`make check-browser`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.report.explorer.chromium import Browser, Wrong, found_browser, serving
from tests.report.explorer.runs import walked

from antiphon.model.export import save

PAINT_S, STEP_S = 1.0, 0.05
"""Largest time until the first paint, and largest median time of a step."""

LARGE = (
    ("irbp-two-views", "--repair", "all"),
    ("horus-flush-stack",),
    ("vsc",),
    ("totem-ring",),
)
"""Specifications whose states have most parts."""

PAINTED = (
    "performance.getEntriesByName('first-contentful-paint').length > 0"
    " && document.documentElement.dataset.ready === 'true'"
)
WHOLE = "document.documentElement.dataset.whole === 'true'"


def stepped(browser: Browser, keys: list[tuple[str, int]]) -> tuple[list[float], list[float]]:
    """Press keys that lead to steps; return the seconds until each state, and until all of it is there."""
    states, wholes = [], []
    for key, number in keys:
        began = time.monotonic()
        browser.key(key)
        browser.until(f"document.getElementById('way-title').textContent.startsWith('Way: step {number} of')")
        states.append(time.monotonic() - began)
        browser.until(WHOLE)
        wholes.append(time.monotonic() - began)
    return states, wholes


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
        paints, states, wholes = [], [], []
        with serving("--trace", str(file)) as address:
            for _ in range(given.rounds):
                began = time.monotonic()
                browser.window(address, ready=PAINTED)
                paints.append(time.monotonic() - began)
                browser.key("End")
                keys = [("ArrowLeft", given.steps - number) for number in range(1, 31)]
                browser.until(WHOLE)
                state, whole = stepped(browser, keys)
                states += state
                wholes += whole
        step = statistics.median(states)
        slow = sorted(states)[len(states) * 95 // 100]
        print(
            f"{given.steps:,} steps: first paint {statistics.median(paints):.2f} s, "
            f"at most {max(paints):.2f} s; "
            f"a step {1000 * step:.0f} ms (95 of 100 within {1000 * slow:.0f} ms), "
            f"all of it {1000 * statistics.median(wholes):.0f} ms"
        )
        for words in LARGE:
            with serving(*words) as address:
                browser.window(address)
                state, whole = stepped(browser, [("1", number) for number in range(1, 16)])
                print(
                    f"{words[0]}: a step {1000 * statistics.median(state):.0f} ms, "
                    f"all of it {1000 * statistics.median(whole):.0f} ms"
                )
                step = max(step, statistics.median(state))
        browser.close()
    return 0 if max(paints) <= PAINT_S and step <= STEP_S else 1


if __name__ == "__main__":
    sys.exit(main())
