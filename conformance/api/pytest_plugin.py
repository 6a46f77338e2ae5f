"""The pytest plugin: a fixture `antiphon`, whose questions fail a test, and three options.

pytest loads it in every run of every project where antiphon is installed. So it must import nothing of this
package before the fixture is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

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
        "--antiphon-save", metavar="DIR", help="where a failure leaves its trace, its picture and its page"
    )


@pytest.fixture
def antiphon(request: pytest.FixtureRequest) -> Questions:
    """Fixture with the questions of `import antiphon`; a violated or unknown answer fails the test."""
    from antiphon.in_tests import Questions  # here: a run that asks nothing pays for nothing

    return Questions(request)
