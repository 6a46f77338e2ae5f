"""Build the site of the documentation from the Markdown that stands in the repository.

Run as `make site`, which installs the generator. The site lies in `build/site/html`. Steps:

1. Copy each page, and each picture that a page shows, to `build/site/pages`.
2. Where a page links to a file of the project that is no page, write a page with the text of that file.
   Where it links to a directory, write a page that lists it. The site has no link into the repository.
3. Run the generator, then follow every link of what it wrote.

`--pages` stops after the second step. Both steps fail on a link whose target is missing, and name the page.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "build" / "site"
PAGES, HTML = SITE / "pages", SITE / "html"
SETTINGS = ROOT / "docs" / "zensical.toml"

LINK = re.compile(r"(\]\()([^)\s]+)(\))")
"""A link or a picture of Markdown: its target is the second group."""

LINKED = re.compile(r"\[([^]]*)\]\([^)]*\)")
FENCE = re.compile(r"^ *(```|~~~)")
NAMED = re.compile(r"^(```)(\w+) (\S+)$", re.MULTILINE)
"""The head of a code block with a language and a second word: the name of a file, or a mark for the tests."""

TEXT = {".py": "python", ".md": "markdown", ".toml": "toml", ".json": "json", ".txt": "text"}


class DeadLink(Exception):
    """A page links to what is not there."""


def pages() -> list[Path]:
    """The Markdown files of the site, relative to the repository."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "tests" / "README.md"]
    return sorted(path.relative_to(ROOT) for path in found)


def place(page: Path) -> Path:
    """The file of a page under `PAGES`: README.md is the first page of the site."""
    return Path("index.md") if page == Path("README.md") else page


def lay_out() -> None:
    """Write all pages, and the files that they need, to `PAGES`.

    Raises:
        DeadLink: a page links to a file that does not exist.
    """
    shutil.rmtree(PAGES, ignore_errors=True)
    known = pages()
    for page in known:
        text = (ROOT / page).read_text(encoding="utf-8")
        write(place(page), "".join(with_links(text, page, set(known))))


def with_links(text: str, page: Path, known: set[Path]) -> Iterator[str]:
    """The lines of a page, whose links lead to pages of the site; what else they need is written."""
    in_code = False
    for line in text.splitlines(keepends=True):
        if FENCE.match(line):
            in_code = not in_code
            yield NAMED.sub(titled, line)
        else:
            yield line if in_code else LINK.sub(lambda match: target(match, page, known), line)


def titled(match: re.Match[str]) -> str:
    """The head of a code block: the name of its file, where it has one, becomes its title."""
    fence, language, word = match.groups()
    return f'{fence} {language} title="{word}"' if "." in word else f"{fence} {language}"


def target(match: re.Match[str], page: Path, known: set[Path]) -> str:
    """One link of a page as the site has it."""
    before, link, after = match.groups()
    parts = urlsplit(link)
    if parts.scheme:
        return match[0]
    full = (ROOT / page.parent / unquote(parts.path)).resolve() if parts.path else ROOT / page
    if not full.exists() or not full.is_relative_to(ROOT):
        raise DeadLink(f"{page} links to {link}, and there is no such file")
    file = full.relative_to(ROOT)
    if file in known:
        goal = place(file)
        if parts.fragment and unquote(parts.fragment) not in anchors(file):
            raise DeadLink(f"{page} links to {link}, and {file} has no such heading")
    elif file.suffix in {".svg", ".png"}:
        goal = file
        (PAGES / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(full, PAGES / file)
    else:
        shown = Path(*(part.lstrip(".") for part in file.parts))  # the generator leaves hidden files out
        goal = Path("source", f"{shown}.md" if full.is_file() else f"{shown}/index.md")
        write(goal, listing(file) if full.is_dir() else source(file))
    # the generator writes one dash where a heading has several in a row
    fragment = "#" + re.sub("-+", "-", parts.fragment).strip("-") if parts.fragment else ""
    return f"{before}{relative(goal, place(page))}{fragment}{after}"


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of the headings of a page, as code hosts make them: lower case, a dash for each space."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    headings = [line.lstrip("#").strip() for line in lines if re.match(r"#{1,6} ", line)]
    plain = [LINKED.sub(r"\1", heading) for heading in headings]
    return frozenset(re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in plain)


def relative(goal: Path, page: Path) -> str:
    """The path from a page to another one."""
    return "/".join([".."] * (len(page.parts) - 1) + list(goal.parts))


def source(file: Path) -> str:
    """A page with the text of a file."""
    text = (ROOT / file).read_text(encoding="utf-8")
    fence = "`" * (2 + max((len(run) for run in re.findall(r"`+", text)), default=1))
    return f"# {file}\n\n{fence} {TEXT.get(file.suffix, 'text')}\n{text}{fence}\n"


def listing(directory: Path) -> str:
    """A page with the names of the files of a directory."""
    inside = sorted(path for path in (ROOT / directory).iterdir() if not path.name.startswith(("_", ".")))
    names = "".join(f"- `{path.name}{'/' * path.is_dir()}`\n" for path in inside)
    return f"# {directory}/\n\n{names}"


def write(path: Path, text: str) -> None:
    """Write a page of the site."""
    (PAGES / path).parent.mkdir(parents=True, exist_ok=True)
    (PAGES / path).write_text(text, encoding="utf-8")


class Links(HTMLParser):
    """The links of one page of the site, and the names of its places."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what a tag links to, and what it is called."""
        for name, value in attrs:
            if value and (name in {"href", "src"} and tag != "base"):
                self.links.append(value)
            if value and name in {"id", "name"}:
                self.names.add(value)


def dead_links() -> list[str]:
    """Each link of the site that leads nowhere, with its page."""
    parsed = {path: Links(path.read_text(encoding="utf-8")) for path in HTML.rglob("*.html")}
    dead = []
    for path, page in sorted(parsed.items()):
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            goal = goal / "index.html" if goal.is_dir() else goal
            there = goal.exists() and (
                not parts.fragment or goal not in parsed or unquote(parts.fragment) in parsed[goal].names
            )
            if not there:
                dead.append(f"{path.relative_to(HTML)}: {link}")
    return dead


def main() -> int:
    """Build the site; the exit code is 1 where a link is dead."""
    try:
        lay_out()
    except DeadLink as error:
        print(error, file=sys.stderr)
        return 1
    if "--pages" in sys.argv:
        return 0
    shutil.copyfile(SETTINGS, SITE / SETTINGS.name)
    generator = Path(sys.executable).parent / "zensical"
    subprocess.run(  # noqa: S603 - the generator beside this Python
        [generator, "build", "--clean", "-f", SITE / SETTINGS.name], check=True
    )
    dead = dead_links()
    print("\n".join(dead) or f"{sum(1 for _ in HTML.rglob('*.html'))} pages, no dead link: {HTML}/index.html")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
