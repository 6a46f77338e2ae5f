"""`antiphon demo` and `antiphon init`: what a stranger asks first."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Run

from antiphon.conformance.cli.demo import ASKED, SENTENCE
from antiphon.conformance.cli.starter import FILES, requirement


def test_the_demo_shows_the_picture_of_the_readme(antiphon: Run) -> None:
    answer = antiphon("demo")
    assert answer.code == 0
    assert "8 steps and no loss are enough" in answer.out
    assert answer.out.count("» deliver m0") == 3
    assert "✗ UniformIntegrity" in answer.out
    assert ASKED in answer.out


def test_the_demo_quotes_and_asks_what_the_readme_does(antiphon: Run) -> None:
    readme = " ".join((Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8").split())
    assert ASKED in readme
    assert f'*"{SENTENCE}"*' in readme
    assert "UniformIntegrity" in antiphon(*shlex.split(ASKED)[1:]).out


def test_a_project_is_written_where_nothing_is_overwritten(antiphon: Run, tmp_path: Path) -> None:
    home = tmp_path / "new" / "project"
    answer = antiphon("init", home, "--json")
    assert (answer.code, answer.document.directory) == (0, str(home))
    assert answer.document.files == list(FILES)
    written = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    assert written == set(FILES)
    (home / "lock.py").write_text("mine\n", encoding="utf-8")
    again = antiphon("init", home)
    assert (again.code, "nothing is overwritten" in again.err) == (64, True)
    assert (home / "lock.py").read_text(encoding="utf-8") == "mine\n"


def test_one_file_that_is_there_keeps_all_from_being_written(antiphon: Run, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "requirements.txt").write_text("numpy\n", encoding="utf-8")
    answer = antiphon("init", here)
    assert answer.code == 64
    assert f"{here} has requirements.txt already" in answer.err
    assert [path.name for path in here.iterdir()] == ["requirements.txt"]


class Installed:
    """Distribution that was installed from somewhere."""

    version = "9.8"

    def __init__(self, **came: Any) -> None:
        self.came = json.dumps(came) if came else None

    def read_text(self, name: str) -> str | None:
        return self.came if name == "direct_url.json" else None


COMMIT = "0123456789abcdef0123456789abcdef01234567"
CAME: dict[str, tuple[dict[str, Any], str]] = {
    "the index": ({}, "antiphon==9.8"),
    "a repository": (
        {"url": "https://host/a.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
        f"antiphon @ git+https://host/a.git@{COMMIT}",
    ),
    "a part of a repository": (
        {"url": "ssh://h/a", "vcs_info": {"vcs": "git", "commit_id": COMMIT}, "subdirectory": "py"},
        f"antiphon @ git+ssh://h/a@{COMMIT}#subdirectory=py",
    ),
    "an archive": (
        {"url": "https://host/antiphon-9.8.tar.gz", "archive_info": {}}, "antiphon @ https://host/antiphon-9.8.tar.gz",
    ),
    "a wheel that is gone": ({"url": "file:///no/antiphon-9.8.whl", "archive_info": {}}, "antiphon==9.8"),
}  # fmt: skip


@pytest.mark.parametrize("where", CAME)
def test_the_project_needs_the_antiphon_that_wrote_it(
    antiphon: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Its place is what pip has noted by PEP 610, so that the CI of the project installs just that."""
    came, line = CAME[where]
    monkeypatch.setattr(requirement.metadata, "distribution", lambda _: Installed(**came))
    answer = antiphon("init", tmp_path / "p")
    assert (answer.code, "which is gone" in answer.err) == (0, "gone" in where)
    assert (tmp_path / "p" / "requirements.txt").read_text() == f"{line}\npytest\n"


def test_a_wheel_goes_along_and_a_folder_is_told(
    antiphon: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / "some where" / "antiphon-9.8-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.write_bytes(b"PK")
    installed = Installed(url=wheel.as_uri(), archive_info={"hash": "sha256=0"})
    monkeypatch.setattr(requirement.metadata, "distribution", lambda _: installed)
    answer = antiphon("init", tmp_path / "a b", "--json")
    assert answer.document.files[-1] == wheel.name
    assert (tmp_path / "a b" / wheel.name).read_bytes() == b"PK"
    assert (tmp_path / "a b" / "requirements.txt").read_text() == f"./{wheel.name}\npytest\n"
    folder = Installed(url=tmp_path.as_uri(), dir_info={"editable": True})
    monkeypatch.setattr(requirement.metadata, "distribution", lambda _: folder)
    answer = antiphon("init", tmp_path / "b c")
    assert "which a CI does not have" in answer.err
    assert f"cd '{tmp_path / 'b c'}' && python -m pytest" in answer.out


def test_a_directory_that_cannot_be_had_is_wrong_usage(antiphon: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    answer = antiphon("init", tmp_path / "file" / "project")
    assert (answer.code, "cannot be written" in answer.err) == (64, True)
