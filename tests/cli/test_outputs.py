"""No outcome is lost to an output: what cannot be written is said before the work or after the report."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.cli import check, swarm
from antiphon.model.files import check_writable, write_whole

Run = Callable[..., Any]
ANTIPHON = [sys.executable, "-c", "import sys; from antiphon.conformance.cli import main; sys.exit(main())"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "cli_courier:Courier", "--save"),
        ("find", "cli_courier:Courier", "self.count == 1", "--save"),
        ("refine", "rbp", "--save"),
        ("simulate", "cli_courier:Courier", "--save"),
        ("lockstep", "rbp", "--save"),
        ("stateful", "rbp", "--save"),
        ("coverage", "rbp", "--lake", "lake", "--save"),
        ("export", "cli_courier:Courier", "--to", "tla", "--output"),
        ("replay", "none.itf.json", "--pytest"),
        ("show", "none.itf.json", "--svg"),
        ("swarm", "rbp", "--log"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_work(
    antiphon: Run, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "file").write_text("")
    place = tmp_path / "file" / "out"
    answer = antiphon(*arguments, place)
    assert answer.code == 64
    assert answer.out == ""
    assert answer.err.startswith(f"antiphon: {arguments[-1]} {place}: cannot be written: ")


def test_a_directory_is_no_file_to_write(antiphon: Run, tmp_path: Path) -> None:
    answer = antiphon("check", "two-phase", "--save", tmp_path)
    assert (answer.code, "Is a directory" in answer.err) == (64, True)


def test_a_violation_is_reported_though_its_file_fails(antiphon: Run) -> None:
    answer = antiphon("check", "cli_courier:Courier", "--save", "/dev/full")
    assert answer.code == 1
    assert "✗ violated  cli_courier:Courier" in answer.out
    assert "counterexample saved" not in answer.out
    assert "antiphon: --save /dev/full: not written: No space left on device\n" in answer.err
    data = antiphon("check", "cli_courier:Courier", "--save", "/dev/full", "--json").document
    assert (data.exit_code, data.saved) == (1, None)


def test_an_answer_that_is_right_and_not_saved_is_no_success(antiphon: Run) -> None:
    ask = ("find", "cli_courier:Courier", "self.count == 1", "--save", "/dev/full")
    answer = antiphon(*ask)
    assert answer.code == 70
    assert "✓ holds" in answer.out
    data = antiphon(*ask, "--json").document
    assert (data.exit_code, data.outcome.value) == (70, "holds")
    assert antiphon(*ask[:-2]).code == 0


def test_a_run_of_a_swarm_that_cannot_be_kept_is_reported(
    antiphon: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(swarm, "keep", full)
    answer = antiphon("swarm", "rbp", "--fault", "accepts-old-tokens", "--runs", 2, "--seed", 1, "--jobs", 1)
    assert answer.code == 1
    assert "not written: No space left on device" in answer.err
    assert "short: " not in answer.out


def test_what_holds_has_no_counterexample_to_save_and_says_so(antiphon: Run, tmp_path: Path) -> None:
    """A file of an earlier run is not left where it would be taken for an answer of this one."""
    file = tmp_path / "t.itf.json"
    ask = ("check", "two-phase", "--save", file)
    answer = antiphon(*ask)
    assert answer.code == 0
    assert answer.err == f"antiphon: --save {file}: no counterexample was found, so nothing is written\n"
    assert not file.exists()
    file.write_text("earlier")
    assert f"the file of an earlier run is {file}.old now" in antiphon(*ask, "--json").err
    assert not file.exists()
    assert (tmp_path / "t.itf.json.old").read_text() == "earlier"


def started(command: list[str], **streams: Any) -> subprocess.Popen[bytes]:
    """A command that was started."""
    return subprocess.Popen([*ANTIPHON, *command], stderr=subprocess.PIPE, **streams)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_verdict_does_not_depend_on_the_encoding_of_the_output(encoding: str) -> None:
    """Neither has the characters of a verdict; a traceback's exit code would be that of a violation."""
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    out, told = started(["check", "two-phase"], stdout=subprocess.PIPE, env=environment).communicate()
    assert (out.splitlines()[-1], told) == (rb"\u2713 holds  two-phase", b"")


def test_a_document_is_json_in_any_encoding(tmp_path: Path) -> None:
    spec = tmp_path / "rad.py"
    spec.write_text(
        "from antiphon.spec.lang import Spec, invariant\n\n\nclass Rad(Spec):\n    größe: bool = False\n\n"
        "    @invariant\n    def Läuft(self) -> bool:\n        return not self.größe\n",
        encoding="utf-8",
    )
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    running = started(["check", str(spec), "--json"], stdout=subprocess.PIPE, env=environment)
    (report,) = json.loads(running.communicate()[0])["reports"]
    assert report["verdicts"][0]["property"] == "Läuft"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["check", "die-hard", "--no-diagram"], 1),
        (["check", "two-phase"], 70),
        (["--help"], 70),
        (["--version"], 70),
    ],
)
def test_a_full_disk_under_standard_output_takes_no_verdict_away(command: list[str], code: int) -> None:
    with Path("/dev/full").open("wb") as full:
        running = started(command, stdout=full)
        _, told = running.communicate(timeout=60)
    assert running.returncode == code
    assert told.endswith(b"antiphon: standard output: cannot be written: No space left on device\n")
    assert b"Traceback" not in told
    assert b"Exception ignored" not in told


def test_a_reader_that_goes_away_takes_no_verdict_away() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    running = started(["check", "die-hard"], stdout=writing)
    os.close(writing)
    _, told = running.communicate(timeout=60)
    assert (running.returncode, b"Exception" in told) == (1, False)


def test_closed_streams_take_no_verdict_away(tmp_path: Path) -> None:
    command = f"{sys.executable} -c '{ANTIPHON[2]}' check die-hard >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], cwd=tmp_path, check=False).returncode == 1


@pytest.fixture
def small_files() -> Iterator[None]:
    """Limit all files to 100 bytes meanwhile, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("small_files")
def test_a_disk_that_fills_leaves_no_half_file_and_the_old_one_whole(tmp_path: Path) -> None:
    file = tmp_path / "file"
    write_whole(file, "old")
    with pytest.raises(OSError, match="too large"):
        write_whole(file, "x" * 200)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_keeps_its_mode_and_a_link_stays_one(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    check_writable(link)
    write_whole(link, "ümlaut")
    assert link.is_symlink()
    assert (file.read_text(encoding="utf-8"), file.stat().st_mode & 0o777) == ("ümlaut", 0o640)
    made = tmp_path / "made"
    write_whole(made, b"new")
    umask = os.umask(0)
    os.umask(umask)
    assert made.stat().st_mode & 0o777 == 0o666 & ~umask
    assert sorted(item.name for item in tmp_path.iterdir()) == ["file", "link", "made"]


def test_the_search_is_not_begun_for_a_file_that_cannot_be_written(
    antiphon: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explore(*_: object, **__: object) -> None:
        raise AssertionError("the search was begun")

    monkeypatch.setattr(check, "explore", explore)
    assert antiphon("check", "two-phase", "--save", "/nowhere/x.itf.json").code == 64
