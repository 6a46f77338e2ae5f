"""Progress display of a run, on a terminal alone: the deliveries and the relay's counts.

This module only shows numbers that it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from antiphon.conformance.run.cluster.faults import Counts
from antiphon.conformance.run.cluster.settings import ClusterSettings

Display = Callable[[int, Counts], None]
"""Function that takes the deliveries so far, of all processes together, and the relay's counts."""


@contextmanager
def display(settings: ClusterSettings, console: Console | None) -> Iterator[Display]:
    """Show a progress bar on a terminal while the context lasts; do nothing without a terminal."""
    if console is None or not console.is_terminal:
        yield lambda *_: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("deliveries"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[relay]}"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        total = settings.messages * settings.processes
        task = bar.add_task(f"{settings.protocol} seed {settings.seed}", total=total, relay="")

        def show(delivered: int, counts: Counts) -> None:
            relay = f"{counts.dropped} dropped, {counts.duplicated} duplicated, {counts.reordered} reordered"
            bar.update(task, completed=delivered, relay=relay)

        yield show
