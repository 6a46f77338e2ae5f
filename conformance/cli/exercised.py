"""Recording of what runs exercise, for the commands that take runs and add it to a file (`--coverage`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from antiphon.conformance.cli import output
from antiphon.conformance.compare.bindings import Binding, Guarded, bound_protocol
from antiphon.conformance.compare.bindings.foreign import ForeignBinding
from antiphon.conformance.coverage.document import (
    CoverageError,
    CoverageFile,
    Exercise,
    Method,
    added,
    changed,
    code_of,
    exercise,
    joined,
    named,
    read,
)
from antiphon.conformance.coverage.modules import modules_of
from antiphon.conformance.coverage.recorder import Recorder, Seen
from antiphon.conformance.report.words import counted
from antiphon.conformance.run.swarm import Settings, core_of, joins_always
from antiphon.impl.registry import LISTED
from antiphon.model.engines import transitions_of
from antiphon.model.notation import compact_step
from antiphon.spec.lang import Program, State, Step

__all__ = [
    "is_of_program", "known", "names_of", "of_present_code", "recorded", "recorded_program", "write",
    "write_runs",
]  # fmt: skip


@contextmanager
def recorded(file: Path | None, protocol: str, binding: Binding) -> Iterator[tuple[Binding, Recorder | None]]:
    """Context in which the runs of a binding are recorded, if there is a file for it. Yield the binding to
    run, and the recorder or None.

    Raises:
        UsageProblem: the file exists, and is no coverage of this protocol, or is about other code.
    """
    if file is None:
        yield binding, None
        return
    modules = [] if _is_foreign(binding) else _modules_beside(protocol, binding)
    _known(file, protocol, modules)
    recorder = Recorder(modules)
    with recorder.recording():
        yield recorder.bound(binding), recorder


@contextmanager
def recorded_program(file: Path | None, program: str) -> Iterator[Recorder | None]:
    """Context in which runs of a program behind an adapter can be shown to the recorder that is yielded; None
    if there is no file for it.

    Raises:
        UsageProblem: the file exists, and is no coverage of this program.
    """
    if file is not None:
        _known(file, program, ())
    yield None if file is None else Recorder(())


def known(file: Path, protocol: str, settings: Settings) -> Seen:
    """Return what the file of `--coverage` has, for runs of groups; nothing if there is no such file.

    Raises:
        UsageProblem: it is no coverage of this protocol, or is about other code.
    """
    return _known(file, protocol, _modules(protocol, settings))


def of_present_code(file: Path, protocol: str) -> CoverageFile:
    """Return what a file of `--coverage` has about the code as it is now.

    Raises:
        UsageProblem: it is no coverage of this protocol, or its code has changed since.
    """
    try:
        document = read(file, protocol)
    except CoverageError as error:
        raise output.UsageProblem(str(error)) from error
    if is_of_program(document):
        return document
    bound = bound_protocol(protocol)
    modules = _modules_beside(protocol, bound.bind(**bound.small))
    if protocol in LISTED:  # a swarm has recorded groups whose members change
        modules += modules_of(core_of(protocol, join=True))
    if gone := changed(document, code_of(modules)):
        more = f" and {counted(len(gone) - 1, 'file')} more" if len(gone) > 1 else ""
        raise output.UsageProblem(
            f"{file}: {gone[0]}{more}: changed since the runs, so that lines and branches are others; remove "
            f"{file}, and run again with --coverage {file}"
        )
    return document


def is_of_program(document: CoverageFile) -> bool:
    """Return True if a document is about a program behind an adapter, of which no code is here."""
    return any(each.method.startswith("adapter") for each in document.exercised)


def _is_foreign(binding: Binding) -> bool:
    return isinstance(binding.binding if isinstance(binding, Guarded) else binding, ForeignBinding)


def _modules_beside(protocol: str, binding: Binding) -> list[ModuleType]:
    """Return the modules of the code that a binding compares with its specification."""
    made = bound_protocol(protocol).implementation
    return modules_of(binding if made is None else made(None), binding.members)


def _modules(protocol: str, settings: Settings) -> list[ModuleType]:
    return modules_of(core_of(protocol, join=settings.join or joins_always(protocol)), settings.members)


def _known(file: Path, protocol: str, modules: Iterable[ModuleType]) -> Seen:
    if not file.exists():
        return Seen()
    try:
        present = CoverageFile(protocol=protocol, code=code_of(modules))
        return joined([read(file, protocol), present]).seen()
    except CoverageError as error:
        raise output.UsageProblem(f"--coverage {error}") from error


def names_of(program: Program, taken: Iterable[tuple[State, Step]]) -> Iterator[tuple[str, str]]:
    """Yield the action and the name of each transition of a program."""
    edges = transitions_of(program)
    for state, step in taken:
        yield step.action, named(edges.pack(state), compact_step(step))


def write(file: Path | None, protocol: str, recorder: Recorder | None, entry: Exercise) -> None:
    """Add an entry, and the code of the recorder, to the file of `--coverage`, if there is one.

    Raises:
        UsageProblem: the file is about other code, or cannot be written.
    """
    if file is None or recorder is None:
        return
    _write(file, CoverageFile(protocol=protocol, code=code_of(recorder.modules), exercised=[entry]))


def write_runs(
    method: Method,
    file: Path,
    protocol: str,
    settings: Settings,
    seen: Seen,
    runs: int,
    model: tuple[Mapping[str, int | bool | str], Mapping[str, int], set[tuple[str, str]]] | None,
) -> None:
    """Add what runs of groups have exercised to the file of `--coverage`. `model` are the constants of the
    model whose transitions were counted, how often each action was taken, and the names of the transitions.

    Raises:
        UsageProblem: the file is about other code, or cannot be written.
    """
    modules = _modules(protocol, settings)
    constants, actions, names = ({}, {}, set[tuple[str, str]]()) if model is None else model
    entry = exercise(method, seen, constants=constants, runs=runs, actions=actions, transitions=names)
    _write(file, CoverageFile(protocol=protocol, code=code_of(modules), exercised=[entry]))


def _write(file: Path, more: CoverageFile) -> None:
    try:
        added(file, more)
    except CoverageError as error:
        raise output.UsageProblem(f"--coverage {error}") from error
    except OSError as error:
        raise output.UsageProblem(f"--coverage {file}: cannot be written: {error.strerror}") from error
