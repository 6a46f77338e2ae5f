"""Progress on a terminal: one line that goes away; nothing in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.text import Text

from antiphon.conformance.cli.output import err
from antiphon.model.bounds import Progress, Violated, Violation, resident_mb


@contextmanager
def proving(name: str, console: Console) -> Iterator[Callable[[Any], None] | None]:
    """Context that shows the progress of a proof for every n: the number of finished obligations, and the
    last of them.
    """
    with working(name, console) as tell:
        if tell is None:
            yield None
        else:
            yield lambda at: tell(
                f"{at.done} of {at.total} obligations; {at.last.step}: {at.last.property} {at.last.words()}"
            )


@contextmanager
def progress_bar(title: str, console: Console | None = None) -> Iterator[Callable[[Progress], None] | None]:
    """Context that shows the progress of a search: states, rate, transitions, depth, queue and memory. It
    yields None when the console is no terminal.

    The bar shows which share of the states found is expanded: it is full when the search is complete.
    """
    console = console or err()
    if not console.is_terminal:
        yield None
        return
    said = (
        "{task.fields[states]:,} states, {task.fields[rate]:,.0f}/s, {task.fields[transitions]:,} transitions"
    )
    columns = (
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=20), TextColumn(said),
        TextColumn("depth {task.fields[depth]}, queue {task.fields[queue]:,}"),
        TextColumn("{task.fields[memory]:,.0f} MiB"),
        TimeElapsedColumn(),
    )  # fmt: skip
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task(
            title, total=None, states=0, rate=0.0, transitions=0, depth=0, queue=0, memory=0.0
        )

        def show(progress: Progress) -> None:
            bar.update(
                task,
                description=f"{title}: {progress.phase}" if progress.phase else title,
                total=progress.states,
                completed=progress.states - progress.queue,
                states=progress.states,
                rate=progress.rate,
                depth=progress.depth,
                queue=progress.queue,
                transitions=progress.transitions,
                memory=resident_mb(),
            )

        yield show


@contextmanager
def searching(
    name: str, engine: str, console: Console | None = None
) -> Iterator[Callable[[Any], None] | None]:
    """Context that shows the progress of an engine's search: a bar, or with Z3 a line for each depth."""
    console = console or err()
    if engine != "z3":
        with progress_bar(name, console) as show:
            yield show
        return

    def deeper(progress: Any) -> None:
        told = f"depth {progress.depth}: {progress.clauses:,} clauses, {progress.seconds:.1f} s"
        console.print(told, style="bright_black")

    yield deeper if console.is_terminal else None


def found_in(name: str, console: Console) -> Violated:
    """Return a function that prints a line about a violated property of this specification, above any
    progress bar.
    """

    def tell(violation: Violation) -> None:
        console.print(Text.assemble(("✗ ", "bold red"), f"{name}: {violation}"), soft_wrap=True)

    return tell


@contextmanager
def claims_bar() -> Iterator[Callable[[int, int, str], None]]:
    """Context that shows the progress of the ledger: the running exploration, its number, and the number of
    all explorations.
    """
    with _bar("explorations", TextColumn("{task.completed} of {task.total}")) as update:
        yield lambda number, total, what: update(total=total, completed=number - 1, description=what[:60])


@contextmanager
def walk_bar(protocol: str) -> Iterator[Callable[[int, int, int], None]]:
    """Context that shows the progress of a lockstep walk: the number of transitions, and how many of the
    known pairs were walked.
    """
    said = "{task.fields[transitions]:,} transitions, {task.completed:,} of {task.total:,} pairs"
    with _bar(protocol, TextColumn(said), total=1, transitions=0) as update:
        yield lambda pairs, transitions, queue: update(
            total=pairs, completed=pairs - queue, transitions=transitions
        )


@contextmanager
def runs_bar(
    title: str, runs: int | None, console: Console | None = None
) -> Iterator[Callable[[int, int], None]]:
    """Context that shows how many random walks were taken, of how many if that is known."""
    said = TextColumn("{task.completed:,}" if runs is None else "{task.completed:,} of {task.total:,}")
    with _bar(title, said, total=runs, console=console) as update:
        yield lambda done, _: update(completed=done)


@contextmanager
def _bar(
    title: str,
    *columns: ProgressColumn,
    total: int | None = None,
    console: Console | None = None,
    **fields: Any,
) -> Iterator[Callable[..., None]]:
    """Context of a progress bar with a title, these columns and the time. It yields a function that changes
    the bar's fields.
    """
    console = console or err()
    whole = (TextColumn("{task.description}"), BarColumn(bar_width=20), *columns, TimeElapsedColumn())
    with Bar(*whole, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total, **fields)
        yield lambda **changed: bar.update(task, **changed)


@contextmanager
def working(title: str, console: Console) -> Iterator[Callable[[str], None] | None]:
    """Context that shows the progress of work in the words that the work passes; it yields None when the
    console is no terminal.
    """
    if not console.is_terminal:
        yield None
        return
    with console.status(title) as status:
        yield lambda told: status.update(f"{title}: {told}")
