"""While a search runs a person sees states, rate, transitions, depth, queue and memory on one line, on a terminal only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from antiphon.model.bounds import Progress, resident_mb


@contextmanager
def progress_bar(title: str, console: Console | None = None) -> Iterator[Callable[[Progress], None] | None]:
    """A progress line for `check(..., progress=...)`; gives None when the console is no terminal.

    The bar shows which share of the states found is expanded: it is full when the search is complete.
    """
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = [
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[states]:,} states, {task.fields[rate]:,.0f}/s, {task.fields[transitions]:,} transitions"),
        TextColumn("depth {task.fields[depth]}, queue {task.fields[queue]:,}, {task.fields[memory]:,.0f} MiB"),
        TimeElapsedColumn(),
    ]
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None, states=0, rate=0.0, transitions=0, depth=0, queue=0, memory=0.0)

        def show(progress: Progress) -> None:
            bar.update(
                task,
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
