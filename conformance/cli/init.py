"""`antiphon init`: a small project that works, as a start for one's own."""

from __future__ import annotations

import shlex
import shutil
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.cli.starter import ABOUT, FILES
from antiphon.conformance.cli.starter.requirement import running
from antiphon.model.verdict import Outcome


def init(
    directory: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Where it is written; made if need be.", show_default=False),
    ],
    json: options.Json = False,
) -> int:
    """Write a small project that works: a specification, code, a binding, tests, a file for CI.

    It is green within ten seconds. A commented line of the code, made one, is a bug that turns it red.
    """
    there = [name for name in FILES if (directory / name).exists()]
    if there:
        raise output.UsageProblem(f"{directory} has {', '.join(there)} already; nothing is overwritten")
    output.writable_directory("DIR", directory)
    home = resources.files("antiphon.conformance.cli.starter")
    needs = running()
    for name, kept in FILES.items():
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        text = (home / kept).read_text(encoding="utf-8")
        file.write_text(text.replace("ANTIPHON", needs.line), encoding="utf-8")
    written = list(FILES)
    if needs.wheel is not None:
        shutil.copyfile(needs.wheel, directory / needs.wheel.name)
        written.append(needs.wheel.name)
    if needs.note:
        output.err().print(f"requirements.txt: {needs.line}; {needs.note}", style="yellow", soft_wrap=True)
    if json:
        return output.finish(documents.Init(outcome=Outcome.HOLDS, directory=str(directory), files=written))
    console = output.out()
    files = output.table("file", "what it is")
    for name, about in ABOUT.items():
        files.add_row(name, about)
    if needs.wheel is not None:
        files.add_row(needs.wheel.name, "this antiphon, which requirements.txt names")
    console.print(files)
    told = f"run its tests with: cd {shlex.quote(str(directory))} && python -m pytest"
    console.print(told, soft_wrap=True, highlight=False, markup=False)
    return 0
