"""The browser of these tests. Where there is none they fail: `make check-browser` says that it needs one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.report.explorer.chromium import Browser, Wrong, found_browser
from tests.report.explorer.runs import walked

import antiphon
from antiphon.model.export import save


@pytest.fixture(scope="session")
def chromium(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    named = str(request.config.getoption("--browser"))
    try:
        program = found_browser(None if named == "any" else named)
    except Wrong as missing:
        pytest.fail(str(missing), pytrace=False)
    browser = Browser(program, str(tmp_path_factory.mktemp("profile")))
    yield browser
    browser.close()


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """The browser; a page that throws, or of which the browser complains, fails its test."""
    chromium.errors.clear()
    yield chromium
    # a window may still ask when the server of its test has ended
    assert [error for error in chromium.errors if "ERR_CONNECTION_" not in error] == []


@pytest.fixture(scope="session")
def pictures(request: pytest.FixtureRequest) -> Path | None:
    """Directory of `--pictures`, or None."""
    named = request.config.getoption("--pictures")
    if named is None:
        return None
    place = Path(str(named))
    place.mkdir(parents=True, exist_ok=True)
    return place


@pytest.fixture(scope="session")
def counterexamples(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two counterexamples of figure 5 and a witness, saved."""
    place = tmp_path_factory.mktemp("runs")
    program = antiphon.program("figure-5", processes=2, messages=1, repairs=["start_token"])
    report = antiphon.check(program)
    for name in ("UniformIntegrity", "Integrity", "AllDelivered"):
        trace = report[name].trace
        assert trace is not None
        save(trace, place / f"{name}.itf.json")
    return [place / f"{name}.itf.json" for name in ("UniformIntegrity", "Integrity", "AllDelivered")]


@pytest.fixture(scope="session")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 10,000 steps."""
    file = tmp_path_factory.mktemp("long") / "long.itf.json"
    save(walked(10_000), file)
    return file
