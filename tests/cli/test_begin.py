"""`antiphon demo` and `antiphon init`: what a stranger asks first."""

import shlex
from pathlib import Path

from tests.cli.conftest import Run

from antiphon.conformance.cli.demo import ASKED, SENTENCE
from antiphon.conformance.cli.starter import FILES


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


def test_a_directory_that_cannot_be_had_is_wrong_usage(antiphon: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    answer = antiphon("init", tmp_path / "file" / "project")
    assert (answer.code, "cannot be written" in answer.err) == (64, True)
