"""Exit codes: verdicts are results; wrong usage is 64, our failure 70, an interruption 130, and none of them
looks like a verdict.
"""

import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer

from antiphon.conformance.cli import check
from antiphon.conformance.cli.app import HIDDEN, PANELS, commands
from antiphon.model.verdict import InternalError
from antiphon.spec.catalogue import names

Run = Callable[..., Any]
ANTIPHON = [sys.executable, "-c", "import sys; from antiphon.conformance.cli import main; sys.exit(main())"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "a command is missing"),
        (("chekc",), "No such command 'chekc'"),
        (("check", "--foo"), "No such option"),
        (
            ("check", "dpt"),
            f"'dpt'; known: {', '.join(names())}, or module:Class, or file.py; did you mean 'dtp'?",
        ),
        (("check", "."), ". is a directory"),
        (("check", "./"), ". is a directory"),
        (("lockstep", "/"), "/ is a directory"),
        (("check", ":Spec"), "specification ':Spec' names no module; write file.py:Class or module:Class"),
        (("check", "no_such_module:Spec"), "module 'no_such_module' cannot be imported"),
        (
            ("check", "cli_courier:Curier"),
            "its specifications: Courier, Letters, Loud, Stop; did you mean 'Courier'?",
        ),
        (("check", "cli_courier:Letter"), "is no specification"),
        (("check", "cli_curier.py"), "specification 'cli_curier.py': no such file"),
        (("check", "cli_misspelt:Spec"), "'invarient' is not defined; did you mean 'invariant'?"),
        (("check", "cli_courier.py:Curier"), "cli_courier.py has no 'Curier'; its specifications: "),
        (
            ("check", "cli_courier.py"),
            "has 4 specifications; say which: cli_courier.py:Letters, ",
        ),
        (("check", "rbp", "--set", "processes"), "write name=value"),
        (("check", "rbp", "--set", "processes=two"), "processes is an integer"),
        (("check", "rbp", "--set", "unlimited=1"), "unlimited is true or false"),
        (("check", "rbp", "--set", "proceses=2"), "did you mean 'processes'?"),
        (("check", "rbp", "--repair", "trak_numbers"), "did you mean 'track_numbers'?"),
        (("check", "rbp", "--reading", "nesting=both"), "its readings are printed, comment"),
        (("check", "rbp", "--property", "Total"), "has no property 'Total'"),
        (("check", "rbp", "--engine", "z3"), "say which, for example --max-depth 10"),
        (
            ("check", "rbp", "--engine", "z3", "--max-depth", "3", "--max-states", "5"),
            "bounds an explicit search",
        ),
        (("check", "rbp", "--engine", "spin"), "--engine"),
        (("check", "--processes", "3"), "name the specification"),
        (("check", "cli_courier:Courier", "--save", "nowhere/x.itf.json"), "cannot be written"),
        (("check", "rbp", "--processes", "2", "--set", "processes=3"), "processes is set twice: 2 and 3"),
        (
            ("check", "two-phase", "--directory", "/proc/states"),
            "--directory /proc/states: cannot be written",
        ),
        (
            ("find", "rbp", "True", "--engine", "z3", "--max-depth", "3", "--max-states", "5"),
            "bounds an explicit search",
        ),
        (("check", "rbp", "--partitions", "3"), "that all executors see: --lake DIR"),
        (("errata", "--check", "nowhere"), "--check nowhere: no such directory"),
        (("gate", "--log", "/proc/logs"), "--log /proc/logs: cannot be written"),
        (("simulate",), "SPEC"),
    ],
)
def test_wrong_usage_exits_with_64_and_names_the_culprit(
    antiphon: Run, arguments: tuple[str, ...], says: str
) -> None:
    answer = antiphon(*arguments)
    assert answer.code == 64
    assert says in answer.err
    if arguments:
        assert antiphon(*arguments, "--json").document.message in answer.err


def leaves(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """All commands, those of a family with its name before their own."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from leaves(command, f"{name} ")
        else:
            yield before + name, command


def test_every_option_stands_in_the_manual() -> None:
    """Each option of each command stands in its row of docs/command-line.md, or where the row sends the
    reader; and no other does.
    """
    text = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    section = text.partition("## Every option")[2].partition("\n## ")[0]
    rows = {line.split("`")[1]: line for line in section.splitlines() if line.startswith("| `")}
    everywhere = {"--help", "--json", "--save", "--no-diagram"}
    constants = {"--processes", "--messages", "--losses", "--timeouts", "--set"}
    variants = {"--repair", "--without", "--reading"}
    for name, command in leaves(typer.main.get_command(commands())):
        row = rows[name]
        said = set(re.findall(r"--[a-z-]+", row)) | everywhere
        said |= constants if "the constants" in row else set()
        said |= variants if "repairs and readings" in row else set()
        known = {
            option for parameter in command.params for option in parameter.opts if option.startswith("--")
        }
        assert known <= said, name
        assert set(re.findall(r"--[a-z-]+", row)) <= known, name


@pytest.mark.parametrize(
    "error",
    [RuntimeError("broken"), InternalError("generated code and the reference disagree"), MemoryError()],
)
def test_our_own_failure_exits_with_70_and_is_no_verdict(
    antiphon: Run, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(check, "explore", fail)
    answer = antiphon("check", "two-phase")
    assert answer.code == 70
    assert "it says nothing about what was checked" in answer.err
    assert "Please report it" in answer.err
    assert "holds" not in answer.out
    assert antiphon("check", "two-phase", "--json").document.kind == "failure"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("raise RuntimeError('boom')", "cli_odd.py:1: RuntimeError: boom"),
        ("import no_such_module", "cannot be imported: No module named 'no_such_module'"),
        ("def broken(:", "cli_odd.py:1:12: invalid syntax"),
        (
            "from antiphon.spec.lang import *\nclass S(Spec):\n    x: int = 0",
            "cli_odd.py:3:5: S.x: a plain int has no bounds",
        ),
    ],
)
def test_a_module_that_python_or_the_language_refuses_is_wrong_usage(
    text: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / "cli_odd.py").write_text(text, encoding="utf-8")
    refused = subprocess.run(
        [*ANTIPHON, "check", "cli_odd:S"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert refused.returncode == 64
    assert says in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_specification_without_properties_and_steps_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "cli_bare.py").write_text(
        "from antiphon.spec.lang import *\nclass S(Spec):\n    x: bool = False", encoding="utf-8"
    )
    bare = subprocess.run(
        [*ANTIPHON, "check", "cli_bare:S"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert bare.returncode == 2
    assert "nothing to judge: the specification has no property" in bare.stdout
    assert "no step is possible: no method is marked with @action" in bare.stdout
    assert "1 state, 0 transitions" in bare.stdout


def test_an_interruption_exits_with_130(antiphon: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(check, "explore", interrupt)
    assert antiphon("check", "two-phase", "--json").document.kind == "interrupted"
    assert antiphon("check", "two-phase").code == 130


def test_ctrl_c_ends_a_real_run_with_130(tmp_path: Path) -> None:
    told_when_loaded = (
        "import sys; from antiphon.conformance.cli import main; print('loaded', flush=True); sys.exit(main())"
    )
    check_slowly = [
        sys.executable,
        "-c",
        told_when_loaded,
        "check",
        "two-phase",
        "--set",
        "managers=8",
        "--engine",
        "reference",
    ]
    running = subprocess.Popen(check_slowly, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout is not None
    assert running.stdout.readline() == b"loaded\n"
    time.sleep(1.0)
    running.send_signal(signal.SIGINT)
    told, complaint = running.communicate(timeout=60)
    assert (running.returncode, complaint) == (130, b"antiphon: interrupted\n")
    assert b"not decided: interrupted" in told or not told


def test_help_and_version_exit_with_0(antiphon: Run) -> None:
    assert antiphon("--help").code == 0
    assert antiphon("check", "--help").code == 0
    assert antiphon("--version").out == f"antiphon {version('antiphon')}\n"


def test_the_list_of_commands_is_in_groups_without_the_projects_own(antiphon: Run) -> None:
    """The first commands are those that a newcomer needs; the commands that check this project are not
    listed.
    """
    listed = re.findall(r"^(?:╭─ (.*?) ─|│ ([a-z-]+)  )", antiphon("--help").out, re.MULTILINE)
    found: dict[str, tuple[str, ...]] = {}
    for title, name in listed:
        if title:
            found[title] = ()
        elif name:
            found[list(found)[-1]] += (name,)
    assert found.pop("Options") == ("--version", "--help")
    assert list(found.items()) == list(PANELS.items())
    for name in HIDDEN:
        assert antiphon(name, "--help").code == 0


def on_a_terminal(command: list[str], directory: Path) -> str:
    """Output of a command on a terminal, standard error included."""
    main, other = pty.openpty()
    with subprocess.Popen(
        command,
        cwd=directory,
        stdin=other,
        stdout=other,
        stderr=other,
        env={**os.environ, "TERM": "xterm-256color"},
    ) as running:
        os.close(other)
        written = b""
        while True:
            try:
                piece = os.read(main, 4096)
            except OSError:
                break
            written += piece
            if not piece:
                break
        running.wait(timeout=60)
    os.close(main)
    return written.decode()


def test_a_terminal_gets_progress_and_colour_and_a_file_gets_neither(tmp_path: Path) -> None:
    command = [*ANTIPHON, "check", "two-phase", "--set", "managers=5"]
    shown = on_a_terminal(command, tmp_path)
    assert "\x1b[" in shown
    assert "states/s" in shown or "depth" in shown
    kept = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "\x1b" not in kept.stdout
    assert kept.stderr == ""
    assert "8,832 states" in kept.stdout


def test_a_command_loads_nothing_large_before_it_needs_it() -> None:
    """A small model is checked in well under a second because only what it needs is loaded."""
    large = ("hypothesis", "llvmlite", "networkx", "numpy", "pandas", "pyarrow", "pyspark", "z3")
    told = f"import sys, antiphon.conformance.cli; print(*[name for name in {large} if name in sys.modules])"
    assert (
        subprocess.run(
            [sys.executable, "-c", told], capture_output=True, text=True, check=True
        ).stdout.split()
        == []
    )


def test_the_version_is_told_without_loading_what_parses(antiphon: Run) -> None:
    """The version appears at once: in under 0.3 seconds, most of them Python's."""
    told = "import sys; from antiphon.conformance.cli import main; main(['--version']); print(*sys.modules)"
    answer, modules = subprocess.run(
        [sys.executable, "-c", told], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert answer == antiphon("--version").out.strip()
    loaded = [name for name in modules.split() if name.startswith("antiphon.")]
    assert loaded == ["antiphon.conformance", "antiphon.conformance.cli"]
    assert not {"typer", "rich", "msgspec"} & set(modules.split())
