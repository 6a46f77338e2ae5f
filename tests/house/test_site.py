"""The pages of the site: every page has a place in it, and no link leads nowhere."""

import importlib.util
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ELSEWHERE = {"docs/ledger-strength.md", "docs/swarm-faults.md", "tests/README.md"}
"""Pages that others link to, and that the navigation leaves out: generated ledgers."""


@pytest.fixture(scope="module")
def site(root: Path) -> ModuleType:
    """The script that makes the site."""
    spec = importlib.util.spec_from_file_location("make_site", root / "docs" / "make_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def places(entries: Any) -> set[str]:
    """The pages that a navigation names."""
    if isinstance(entries, str):
        return {entries}
    values = entries.values() if isinstance(entries, dict) else entries
    return set().union(*map(places, values))


def test_every_page_is_in_the_navigation(site: ModuleType, root: Path) -> None:
    settings = tomllib.loads((root / "docs" / "zensical.toml").read_text(encoding="utf-8"))
    named = places(settings["project"]["nav"])
    pages = {str(site.place(page)) for page in site.pages() if page.parts[:2] != ("docs", "decisions")}
    assert named - {"docs/decisions/README.md"} == pages - ELSEWHERE


def test_no_page_has_a_dead_link(
    site: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "PAGES", tmp_path)
    site.lay_out()
    assert (tmp_path / "index.md").read_text(encoding="utf-8").startswith("# Antiphon")
    assert (tmp_path / "source" / "spec" / "services" / "ordering.py.md").exists()


@pytest.mark.parametrize("link", ["missing.md", "tutorial.md#no-such-heading", "../no/such/file.py"])
def test_a_dead_link_is_named(site: ModuleType, root: Path, link: str) -> None:
    page = root / "docs" / "glossary.md"
    with pytest.raises(site.DeadLink, match=f"docs/glossary.md links to {link}"):
        "".join(site.with_links(f"[a page]({link})", page.relative_to(root), set(site.pages())))


def test_the_links_of_a_page_of_html_are_found(site: ModuleType) -> None:
    page = site.Links('<a href="there.html#part">x</a><img src="picture.svg"><h2 id="part">y</h2>')
    assert (page.links, page.names) == (["there.html#part", "picture.svg"], {"part"})
