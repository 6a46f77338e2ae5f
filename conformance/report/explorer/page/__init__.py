"""Files of the page."""

from __future__ import annotations

from importlib import resources


def page_file(name: str) -> str:
    """Return the text of a file of the page."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
