"""An option has one name and one meaning, whichever command it is of; a former name answers with today's."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
import typer

from antiphon.conformance.cli.app import commands
from antiphon.conformance.cli.renamed import RENAMED

Run = Callable[..., Any]

TOLD_TWICE = {
    "--as": "a member is called so, and a trace is held against a specification",
    "--check": "errata looks at a folder, claims at the file that it writes",
    "--write": "errata writes a folder, claims a file",
    "--deep": "the gate asks the whole ledger instead, not besides",
    "--deliver": "a swarm can draw it, a member says which",
    "--every": "watch looks again after so many seconds, a proof is for every number",
    "--engine": "stack explores no specification",
    "--html": "explore writes what else it serves, the others a report",
    "--json": "a member prints a document a line",
    "--multicast": "a swarm plays it, a member needs the address",
    "--save": "a file for the one trace of a question, a folder for those of a swarm",
    "--sample": "always how many are drawn: of mutants, of paths, of runs",
}
"""Options of which two commands say something else, and why."""

FORMER = [
    (command, option, now) for option, of in sorted(RENAMED.items()) for command, now in sorted(of.items())
]


@pytest.fixture(scope="module")
def known() -> dict[str, dict[str, str]]:
    """The help text of each option of each command."""
    group: Any = typer.main.get_command(commands())
    return {
        name: {
            option: parameter.help or ""
            for parameter in command.params
            if parameter.param_type_name == "option" and parameter.name != "help"
            for option in parameter.opts
        }
        for name, command in group.commands.items()
    }


def test_an_option_has_one_name() -> None:
    group: Any = typer.main.get_command(commands())
    options = [item for command in group.commands.values() for item in command.params if item.name != "help"]
    assert [item.opts for item in options if item.param_type_name == "option" and len(item.opts) != 1] == []


def test_an_option_says_the_same_in_all_commands(known: dict[str, dict[str, str]]) -> None:
    """Two options of one name with different texts are two options, and one of them wants another name."""
    texts: defaultdict[str, set[str]] = defaultdict(set)
    for options in known.values():
        for option, text in options.items():
            texts[option].add(text)
    assert sorted(option for option, said in texts.items() if len(said) > 1) == sorted(TOLD_TWICE)


@pytest.mark.parametrize(("command", "option", "now"), FORMER)
def test_a_former_name_is_refused_with_the_one_of_today(
    antiphon: Run, known: dict[str, dict[str, str]], command: str, option: str, now: str
) -> None:
    assert option not in known[command]
    assert now in known[command]
    for given in ((option, "3"), (f"{option}=3",)):
        answer = antiphon(command, *given)
        assert answer.code == 64
        assert f"antiphon: {option} is now {now}\n" in answer.err
    assert antiphon(command, option, "3", "--json").document.message == f"{option} is now {now}"


def test_no_other_command_says_so(antiphon: Run) -> None:
    answer = antiphon("watch", "logs", "--lake", "lake", "--time", "3")
    assert answer.code == 64
    assert "No such option: --time" in answer.err
