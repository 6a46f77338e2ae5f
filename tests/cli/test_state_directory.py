"""A directory for the states of a search is refused before work is lost: unwritable, full, in use, without
its arrays, or with damaged ones.
"""

from pathlib import Path

import pytest
from tests.cli.conftest import Run

from antiphon.conformance.cli.output import UsageProblem
from antiphon.conformance.cli.state_directory import kept_in

FOUR = ("check", "two-phase", "--set", "managers=4", "--directory")


@pytest.fixture
def begun(antiphon: Run, tmp_path: Path) -> Path:
    """The directory of a search that a bound ended."""
    assert antiphon(*FOUR, tmp_path, "--max-states", "100").code == 2
    return tmp_path


def test_a_search_goes_on_where_another_ended(antiphon: Run, begun: Path) -> None:
    answer = antiphon(*FOUR, begun)
    assert answer.code == 0
    assert "1,568 states" in answer.out


@pytest.mark.parametrize("array", ["states", "parents"])
def test_arrays_that_are_gone_are_named(antiphon: Run, begun: Path, array: str) -> None:
    (begun / array).unlink()
    answer = antiphon(*FOUR, begun)
    assert answer.code == 64
    assert f"{array}: is not what the search left here; remove the directory to begin anew" in answer.err


def test_damaged_arrays_are_no_verdict(antiphon: Run, begun: Path) -> None:
    with (begun / "states").open("r+b") as states:
        states.write(b"\xff" * 64)
    answer = antiphon(*FOUR, begun)
    assert answer.code == 64
    assert "states: is not what the search left here; remove the directory to begin anew" in answer.err


def test_a_checkpoint_of_other_constants_is_refused(antiphon: Run, begun: Path) -> None:
    answer = antiphon("check", "two-phase", "--set", "managers=3", "--directory", begun)
    assert answer.code == 64
    assert "was left by another specification, other constants or another version" in answer.err


def test_one_search_at_a_time(antiphon: Run, begun: Path) -> None:
    with kept_in(begun):
        answer = antiphon(*FOUR, begun)
    assert answer.code == 64
    assert "another search is using it" in answer.err


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="is full: 8 MiB are free"), kept_in(tmp_path):
        raise MemoryError(f"{tmp_path} is full: 8 MiB are free")
    with pytest.raises(MemoryError, match="more than"), kept_in(tmp_path):
        raise MemoryError("more than that")


def test_what_an_earlier_search_did_not_look_for_has_no_verdict(antiphon: Run, tmp_path: Path) -> None:
    """The states that it has seen are not looked at again: this property is violated in one of them."""
    figure = ("check", "figure-5", "--processes", "2", "--messages", "1", "--repair", "start_token")
    directory = ("--directory", tmp_path, "--property")
    assert antiphon(*figure, *directory, "BroadcastOnce").code == 0
    answer = antiphon(*figure, *directory, "UniformIntegrity")
    assert answer.code == 64
    assert "looked for BroadcastOnce and not for UniformIntegrity; remove the directory" in answer.err
    assert antiphon(*figure, *directory, "BroadcastOnce").code == 0
