"""Bans on file contents, and references between files: links, versions, packages, the lock."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

BANNED = {
    r"pyp[i]\.org|python[h]osted\.org|/simpl[e]/?\b": "name no package host: who installs decides where "
    "packages come from",
    r"/(?<![\w.~/-]/)(work|tmp|root|home|Users|opt)/": "no path of one machine: take it from an argument, "
    "pathlib or tempfile",
    r"\.\./share[d]\b": "the project stands alone",
    r"pytest\.(mark\.(skip|skipif|xfail)|skip|xfail|importorskip)\b": "a test passes or fails",
    r"NotImplemente[d]Error": "write an abstract method, or leave it out",
    r"pragma: no[ ]cover": "test it or remove it",
    r"^\s*(import|from) (pickle|dill|cloudpickle)\b": "no pickle in any file: msgspec",
    r"[TFX](?<!\w.)(?:OD[O]|IXM[E]|X[X])\b": "do it, or open an issue",
}
"""A pattern that no file may match, this one included, and what to do instead.

A pattern that begins with a letter or a sign is searched for ten times as fast as one that begins with a
boundary of words.
"""


def offences(text: str) -> list[str]:
    """Each banned pattern that stands in the text, with its line and the remedy."""
    return [
        f"line {text.count(chr(10), 0, match.start()) + 1}: {match.group(0).strip()!r}: {remedy}"
        for pattern, remedy in BANNED.items()
        for match in re.finditer(pattern, text, re.MULTILINE)
    ]


def broken_links(text: str, directory: Path) -> list[str]:
    """The links of a Markdown text to files that do not exist, or to headings that the file does not have."""
    broken = []
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        there = (directory / name).exists()
        if not there or (
            anchor and anchor not in anchors((directory / name).read_text(encoding="utf-8") if name else text)
        ):
            broken.append(target)
    return broken


def anchors(text: str) -> set[str]:
    """The anchors of a Markdown text's headings."""
    return {
        re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
        for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }


@pytest.fixture(scope="session")
def project(root: Path) -> dict[str, object]:
    """The [project] table of pyproject.toml."""
    table = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert isinstance(table, dict)
    return table


def test_no_file_says_what_is_banned(root: Path, texts: dict[Path, str]) -> None:
    found = [f"{path.relative_to(root)}, {line}" for path, text in texts.items() for line in offences(text)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "line",
    [
        "# TO~DO later", "open('/t~mp/x')", "@pytest.mark.sk~ip", "see ../sha~red/notes",
        "raise NotImplemented~Error", "import pick~le",
        "from pyp~i.org", "# pragma: no ~cover",
    ],
)  # fmt: skip
def test_a_planted_offence_is_found(line: str) -> None:
    """The tilde keeps this file clean."""
    assert not offences(line)
    assert offences(line.replace("~", ""))


def test_urls_and_relative_paths_are_no_offence() -> None:
    assert not offences("see https://example.org/home/x, docs/home/x.md and ./tmp/x")


def test_links_in_documents_resolve(root: Path, texts: dict[Path, str]) -> None:
    found = [
        f"{path.relative_to(root)}: {target}"
        for path, text in texts.items()
        if path.suffix == ".md"
        for target in broken_links(text, path.parent)
    ]
    assert not found, "\n".join(found)


def test_a_planted_broken_link_is_found(root: Path) -> None:
    assert broken_links("[a](nowhere.md)", root) == ["nowhere.md"]
    assert broken_links("# Here\n[a](#there) [b](#here)", root) == ["#there"]


def test_every_make_target_that_a_document_names_exists(root: Path, texts: dict[Path, str]) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    commands = r"(?:`|^#? *|&& )make ([a-z-]+)"
    named = {
        name
        for path, text in texts.items()
        if path.suffix == ".md"
        for name in re.findall(commands, text, re.MULTILINE)
    }
    assert {"check", "test"} <= named <= targets


def test_every_directory_with_modules_is_a_package(root: Path, modules: dict[str, Path]) -> None:
    """setup.py finds packages by their __init__.py: a directory without one would be left out in silence."""
    bare = {path.parent for path in modules.values() if not (path.parent / "__init__.py").exists()}
    assert not bare, (
        "add __init__.py with a one-sentence docstring to "
        f"{sorted(str(path.relative_to(root)) for path in bare)}"
    )


def test_the_tests_mirror_the_rooms(root: Path, modules: dict[str, Path]) -> None:
    """Every directory of tests but two has the name of a room, or of a package or module in one."""
    names = {
        "/".join(path.relative_to(root).with_suffix("").parts[1:]).removesuffix("/__init__")
        for path in modules.values()
    }
    tests = root / "tests"
    found = {str(file.parent.relative_to(tests)) for file in tests.rglob("test_*.py")}
    assert found - names - {"spec", "model", "impl", "conformance"} == {"house", "benchmarks"}


def test_no_test_file_is_imported(root: Path) -> None:
    """Shared code of tests stands in a conftest or in a module without tests."""
    texts = {file: file.read_text(encoding="utf-8") for file in (root / "tests").rglob("*.py")}
    found = [
        f"{file}: {line}"
        for file, text in texts.items()
        for line in re.findall(r"^(?:from|import) [\w.]*\btest_\w+.*", text, re.MULTILINE)
    ]
    assert not found, "\n".join(found)


def test_every_room_is_marked_as_typed(root: Path) -> None:
    table = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"][
        "package-dir"
    ]
    rooms = {f"antiphon.{room}": room for room in ("spec", "model", "impl", "conformance")}
    assert table == {"antiphon": "conformance/api"} | rooms
    assert all((root / room / "py.typed").exists() for room in table.values())


def test_the_version_stands_in_pyproject_and_agrees_elsewhere(
    root: Path, project: dict[str, object], modules: dict[str, Path]
) -> None:
    """Code asks importlib.metadata; the citation and the change log repeat the version and must agree."""
    version = str(project["version"])
    literals = [
        name
        for name, path in modules.items()
        if re.search(r"^__version__\s*=", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert not literals, f"ask importlib.metadata.version('antiphon') in {literals}"
    assert f"\nversion: {version}\n" in (root / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## {version}" in (root / "CHANGELOG.md").read_text(encoding="utf-8")


def locked(text: str) -> dict[str, tuple[str, int]]:
    """Each package of the lock with its pinned version and its number of hashes."""
    entries = re.findall(r"^([\w.-]+)==(\S+)(.*?)(?=^[\w.-]+==|\Z)", text, re.MULTILINE | re.DOTALL)
    return {name: (version, rest.count("--hash=sha256:")) for name, version, rest in entries}


def test_the_lock_answers_every_requirement_with_a_hash(root: Path, project: dict[str, object]) -> None:
    lock = locked((root / "requirements.lock").read_text(encoding="utf-8"))
    extras = project["optional-dependencies"]
    assert isinstance(extras, dict)
    assert isinstance(project["dependencies"], list)
    for text in [*project["dependencies"], *(line for extra in extras.values() for line in extra)]:
        requirement = Requirement(text)
        assert requirement.name in lock, f"{text} is not in requirements.lock: make lock"
        assert requirement.specifier.contains(lock[requirement.name][0]), (
            f"{text} is not what is locked: make lock"
        )
    assert {"uv", "setuptools"} <= set(lock)
    assert all(hashes for _, hashes in lock.values())


def test_the_lock_names_no_place_to_download_from(root: Path) -> None:
    text = (root / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in text
    assert "index" not in text


def test_the_sdist_holds_what_stands_at_the_root(root: Path, texts: dict[Path, str]) -> None:
    """A packager tests what is in it."""
    words = (root / "MANIFEST.in").read_text(encoding="utf-8").split()
    tops = {path.relative_to(root).parts[0] for path in texts}
    assert {name for name in tops if name not in words and name != ".ci"} == set()
    assert ".ci/run" in words
