"""Every test run is reproducible: Hypothesis derives its examples from the test itself, unless the deep profile is asked for."""

import signal

import hypothesis
import pytest

hypothesis.settings.register_profile("derandomized", derandomize=True, deadline=None, print_blob=True)
hypothesis.settings.register_profile("deep", deadline=None, print_blob=True, max_examples=2000)
hypothesis.settings.load_profile("derandomized")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--rewrite` writes golden files anew instead of comparing with them."""
    parser.addoption("--rewrite", action="store_true", help="write golden files anew; read the difference before you commit it")


def pytest_configure() -> None:
    """A shell that runs the tests in the background ignores Ctrl-C for them; what they start must hear it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
