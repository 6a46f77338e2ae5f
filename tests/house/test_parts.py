"""The page of what environments and services bring is today's."""

import runpy
from pathlib import Path


def test_the_page_of_parts_is_todays(root: Path) -> None:
    page = runpy.run_path(str(root / "docs" / "list_parts.py"))["page"]()
    assert (root / "docs" / "parts.md").read_text(encoding="utf-8") == page, "python docs/list_parts.py"
    for told in ("### Losses", "| constants | `losses = 1` |", "`UniformAgreement`, `Agreement` |"):
        assert told in page
