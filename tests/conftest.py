"""Every test run is reproducible: Hypothesis derives its examples from the test itself, unless the deep
profile is asked for.
"""

import gc
import itertools
import os
import signal
import socket
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of a Java that starts fast and lives for a minute."""

UNCOMPILED = (
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote "
    "-Dspark.sql.codegen.wholeStage=false -Dspark.sql.codegen.factoryMode=NO_CODEGEN"
)
"""Options with which Spark's classes are not verified, and it writes and compiles no class for each query."""

SLOW = [hypothesis.HealthCheck.too_slow]
"""Health check that fails on a busy machine through no fault of a test."""

hypothesis.settings.register_profile(
    "derandomized",
    derandomize=True,
    deadline=None,
    print_blob=True,
    max_examples=20,
    suppress_health_check=SLOW,
)
hypothesis.settings.register_profile(
    "deep", deadline=None, print_blob=True, max_examples=2000, suppress_health_check=SLOW
)
hypothesis.settings.load_profile("derandomized")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--rewrite` writes golden files anew instead of comparing with them."""
    parser.addoption(
        "--rewrite",
        action="store_true",
        help="write golden files anew; read the difference before you commit it",
    )
    parser.addoption("--browser", help="run what needs a browser, with this one; any: one that is found")
    parser.addoption("--pictures", help="a folder for pictures of what the browser shows")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what is marked `deep`, and most cases of what is marked `sampled`, to `make check-deep`, and what
    is marked `browser` to `make check-browser`.

    Spark's tests come first, so that one worker has them all, and one Java.
    """
    items.sort(key=lambda item: "/spark/" not in item.nodeid)
    if config.getoption("--browser") is None:
        needing = [item for item in items if item.get_closest_marker("browser")]
        items[:] = [item for item in items if not item.get_closest_marker("browser")]
        config.hook.pytest_deselected(items=needing)
    if config.getoption("--hypothesis-profile", None) == "deep":
        return
    cases: Counter[str] = Counter()
    late: set[pytest.Item] = set()
    for item in items:
        if item.get_closest_marker("deep"):
            late.add(item)
        elif sampled := item.get_closest_marker("sampled"):
            test = item.nodeid.partition("[")[0]
            if cases[test] % sampled.args[0]:
                late.add(item)
            cases[test] += 1
    items[:] = [item for item in items if item not in late]
    config.hook.pytest_deselected(items=list(late))


def pytest_configure(config: pytest.Config) -> None:
    """Leave the constants in the house's texts to the deep profile. To find them Hypothesis parses every
    module that is loaded: it takes each worker seconds, and depends on the tests that ran before.

    A shell that runs the tests in the background ignores Ctrl-C for them; what they start must hear it.

    Java lives too short here for its better compiler and its parallel collector to pay, and for Spark's code
    for each query, which the deep profile has. Garbage collection does not pay while tests are collected,
    which stay.
    """
    gc.disable()
    if config.getoption("--hypothesis-profile", None) != "deep":
        providers._get_local_constants = lambda: providers._local_constants
        os.environ.setdefault("SPARK_SUBMIT_OPTS", f"{SHORT_LIVED} {UNCOMPILED}")
    os.environ.setdefault("SPARK_SUBMIT_OPTS", SHORT_LIVED)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are processors, since some tests wait: for clocks, processes or Java."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    """Exempt loaded modules and collected tests from garbage collection, and collect less often: programs
    make many objects that live long.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


def pytest_sessionfinish() -> None:
    """Collect garbage once more, and not five times, as pytest would."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says where the time went, by room, so that growth is seen; what other programs take beside us counts
    too.
    """
    seconds: Counter[str] = Counter()
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        if type(report) is pytest.TestReport:
            seconds[report.nodeid.split("/")[1]] += report.duration
    shares = [f"{room} {spent:.0f}" for room, spent in seconds.most_common() if spent >= 0.5]
    if shares:
        terminalreporter.write_line(f"seconds by room: {', '.join(shares)}; {seconds.total():.0f} in all")


@pytest.fixture(scope="session")
def often(request: pytest.FixtureRequest) -> Callable[[int, int], int]:
    """Give the number of random cases of a test: the first with `make test`, the second with `make
    check-deep`.
    """
    is_deep = request.config.getoption("--hypothesis-profile", None) == "deep"
    return lambda quick, deep: deep if is_deep else quick


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with the file of that name in `golden`, beside the test, or write it with --rewrite."""
    directory = request.path.parent / "golden"

    def compare(name: str, text: str) -> None:
        file = directory / name
        if request.config.getoption("--rewrite"):
            directory.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert text == file.read_text(encoding="utf-8"), (
            f"{file} differs; look at it, then run with --rewrite"
        )

    return compare


@pytest.fixture(scope="session")
def free_ports() -> Callable[[int], list[int]]:
    """Ports of 127.0.0.1 on which no process listens, in the number asked for; the processes of a test bind
    them.

    They lie beneath those that the system gives out for port 0, so that no socket of another test takes one
    meanwhile; where this process begins among them its number says.
    """
    given_out = Path("/proc/sys/net/ipv4/ip_local_port_range")
    first = int(given_out.read_text(encoding="ascii").split()[0]) if given_out.exists() else 32_768
    share = range(max(first - 20_000, 1_024), first)
    begin = os.getpid() * 64 % len(share)
    order = filter(_is_free, itertools.cycle((*share[begin:], *share[:begin])))
    return lambda count: list(itertools.islice(order, count))


def _is_free(port: int) -> bool:
    with suppress(OSError), socket.socket(type=socket.SOCK_DGRAM) as one, socket.socket() as other:
        one.bind(("127.0.0.1", port))
        other.bind(("127.0.0.1", port))
        return True
    return False
