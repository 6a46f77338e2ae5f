"""The pytest plugin: a fixture `antiphon`, whose questions fail a test, its options, and profiles: named
budgets, of which the command line chooses one.

pytest loads it in every run of every project where antiphon is installed. So it must import nothing of this
package before the fixture is used.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

Budgets = Mapping[str, int | float]
"""Values of arguments of questions, by name."""

PROFILE = pytest.StashKey[Budgets]()
"""Key of the chosen profile's budgets in the stash of pytest's configuration."""

QUESTIONS: pytest.StashKey[Questions] = pytest.StashKey()
"""Key of the questions of a test in its stash."""

BUDGETS = {
    "max_seconds": float, "max_memory_mb": int, "max_states": int, "max_depth": int, "max_transitions": int,
    "runs": int, "steps": int, "walks": int, "seed": int,
}  # fmt: skip
"""Arguments of questions that a profile may have, each with the function that reads its value."""

if TYPE_CHECKING:
    from antiphon.in_tests import Questions


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the options; each counts for all questions of the fixture, whatever a test says.

    pytest would also recompile every module of a package that has a plugin, so that failing assertions show
    more. This package has hundreds of modules and no assertion of a test in them, so that is switched off.
    """
    marked = getattr(getattr(pluginmanager, "rewrite_hook", None), "_must_rewrite", None)
    if isinstance(marked, set):
        marked.discard("antiphon")
    group = parser.getgroup("antiphon", "specifications, and implementations beside them")
    group.addoption(
        "--antiphon-max-seconds",
        type=float,
        metavar="S",
        help="stop each question after so many seconds; one that was stopped does not pass",
    )
    group.addoption("--antiphon-seed", type=int, metavar="N", help="number of the random runs")
    group.addoption(
        "--antiphon-profile", metavar="NAME", help="the budgets of this line of antiphon_profiles count"
    )
    parser.addini(
        "antiphon_profiles",
        "budgets of questions by name, a profile a line: ci: max_seconds=10 runs=50",
        type="linelist",
    )
    group.addoption(
        "--antiphon-save", metavar="DIR", help="where a failure leaves its trace, its picture and its page"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Read the profile that the command line chooses."""
    chosen = config.getoption("--antiphon-profile", None)
    profiles: dict[str, str] = {}
    for line in config.getini("antiphon_profiles") if chosen is not None else ():
        name, _, budgets = line.partition(":")
        profiles[name.strip()] = budgets
    if chosen is not None and chosen not in profiles:
        known = ", ".join(profiles) or "none"
        raise pytest.UsageError(
            f"--antiphon-profile {chosen}: no such line in the ini option antiphon_profiles; it has {known}"
        )
    config.stash[PROFILE] = {} if chosen is None else _budgets(chosen, profiles[chosen])


def _budgets(profile: str, text: str) -> Budgets:
    """Return the budgets of a profile: words like `max_seconds=10`."""
    found: dict[str, int | float] = {}
    for word in text.split():
        name, _, value = word.partition("=")
        if name not in BUDGETS:
            raise pytest.UsageError(
                f"antiphon_profiles: {profile}: no budget {name!r}; known: {', '.join(BUDGETS)}"
            )
        try:
            found[name] = BUDGETS[name](value)
        except ValueError as error:
            raise pytest.UsageError(f"antiphon_profiles: {profile}: {word}: {error}") from error
    return found


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Add the annotations for GitHub's runner to the report of a test that failed by a question.

    They are a section of the report, so that they reach the log from workers of xdist too.
    """
    made = yield
    report, questions = made.get_result(), item.stash.get(QUESTIONS, None)
    if questions is not None and report.when == "call" and report.failed:
        report.sections += [("for GitHub", text) for text in questions.told_github()]


@pytest.fixture
def antiphon(request: pytest.FixtureRequest) -> Questions:
    """Fixture with the questions of `import antiphon`; a violated or unknown answer fails the test."""
    from antiphon.in_tests import Questions  # here: a run that asks nothing pays for nothing

    made = Questions(request, request.config.stash[PROFILE])
    request.node.stash[QUESTIONS] = made
    return made
