"""Document of what runs have exercised, which `--coverage FILE` writes and `antiphon coverage` reads.

One file is about one protocol, or one program behind an adapter. Each method that adds to it has an entry for
each set of constants; runs of the same method and constants become one entry. Branches are numbers into the
list of a file's branches; a file whose text has changed since makes an error, because its lines are others
now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import ModuleType
from typing import Literal, TypeVar

import msgspec

from antiphon.conformance.coverage.branches import Branch, source_of
from antiphon.conformance.coverage.model import Row, key
from antiphon.conformance.coverage.modules import path_of
from antiphon.conformance.coverage.recorder import Seen

__all__ = [
    "Code",
    "Constants",
    "CoverageError",
    "CoverageFile",
    "Exercise",
    "Method",
    "added",
    "changed",
    "code_of",
    "exercise",
    "joined",
    "named",
    "named_row",
    "read",
]

N = TypeVar("N", int, str)

Method = Literal["lockstep", "stateful", "swarm", "cluster", "adapter lockstep", "adapter run"]

Constants = dict[str, int | bool | str]


class CoverageError(ValueError):
    """Error: a file is no such document, or is about another protocol or other code."""


class Code(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Code of a file: the digest of its text, and its branches as line, function and case."""

    digest: str
    branches: tuple[Branch, ...]


class Exercise(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Entry of a document: all that the runs of one method have exercised.

    Attributes:
        method: the method.
        constants: the constants of the model whose transitions are counted.
        specification: the specification of that model, if the file is about a program behind an adapter.
        runs: the number of runs; a walk is one.
        complete: True if every transition of the model was taken.
        actions: how often each action of the specification was taken.
        transitions: the names of the different transitions, by action, if not complete.
        branches: the numbers of the branches that were taken, by file.
        classes: the state classes.
        handlers: what a program behind an adapter was given, by the names of its handlers.
    """

    method: Method
    constants: Constants = {}
    specification: str = ""
    runs: int = 0
    complete: bool = False
    actions: dict[str, int] = {}
    transitions: dict[str, list[str]] = {}
    branches: dict[str, list[int]] = {}
    classes: list[str] = []
    handlers: list[str] = []

    @property
    def counts_transitions(self) -> bool:
        """Return True if the runs were taken within a model."""
        return bool(self.constants or self.specification or self.actions)

    @property
    def model(self) -> tuple[str, tuple[tuple[str, int | bool | str], ...]]:
        """Return the specification and the constants of the model whose transitions are counted."""
        return self.specification, tuple(sorted(self.constants.items()))

    @property
    def place(self) -> tuple[object, ...]:
        """Return the method and the model, which determine the entry."""
        return self.method, self.model


class CoverageFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Document of all that the runs of several methods have exercised of one protocol."""

    schema: Literal["antiphon.coverage"] = "antiphon.coverage"
    version: Literal[1] = 1
    protocol: str
    code: dict[str, Code] = {}
    exercised: list[Exercise] = []

    def seen(self) -> Seen:
        """Return the branches, state classes and handlers of all methods."""
        found = Seen()
        for each in self.exercised:
            branches = {
                file: bytes(at in taken for at in range(len(self.code[file].branches)))
                for file, taken in ((file, set(taken)) for file, taken in each.branches.items())
            }
            found = found.union(Seen(branches, frozenset(each.classes), frozenset(each.handlers)))
        return found


def named(state: int, step: str) -> str:
    """Return the short name of a transition: the digest of its packed state and its step."""
    return blake2b(key(state) + step.encode(), digest_size=6).hexdigest()


def named_row(row: Row) -> str:
    """Return the short name of a transition of a model."""
    return blake2b(row.before + row.step.encode(), digest_size=6).hexdigest()


def exercise(method: Method, seen: Seen, *, constants: Mapping[str, int | bool | str] | None = None,
             specification: str = "", runs: int = 1, complete: bool = False,
             actions: Mapping[str, int] | None = None,
             transitions: Iterable[tuple[str, str]] = ()) -> Exercise:  # fmt: skip
    """Return the entry of some runs; `transitions` are names with their actions."""
    by_action: dict[str, list[str]] = {}
    for action, name in sorted(set(transitions)):
        by_action.setdefault(action, []).append(name)
    return Exercise(
        method=method, constants=dict(constants or {}), specification=specification, runs=runs,
        complete=complete,
        actions=dict(sorted((actions or {}).items())), transitions=by_action,
        branches={
            file: [at for at, hit in enumerate(taken) if hit] for file, taken in sorted(seen.branches.items())
        },
        classes=sorted(seen.classes), handlers=sorted(seen.handlers),
    )  # fmt: skip


def read(file: Path, protocol: str) -> CoverageFile:
    """Read a document about a protocol.

    Raises:
        CoverageError: there is no such file, or it is no such document, or about another protocol.
    """
    try:
        found = msgspec.json.decode(file.read_bytes(), type=CoverageFile)
    except OSError as error:
        raise CoverageError(f"{file}: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise CoverageError(f"{file} is no coverage document: {error}") from error
    if found.protocol != protocol:
        raise CoverageError(f"{file} is about {found.protocol}, not {protocol}")
    for each in found.exercised:
        for path, taken in each.branches.items():
            if path not in found.code or not all(0 <= at < len(found.code[path].branches) for at in taken):
                raise CoverageError(f"{file} is no coverage document: it has branches that {path} has not")
    return found


def joined(files: Iterable[CoverageFile]) -> CoverageFile:
    """Return one document of several about one protocol.

    Raises:
        CoverageError: the text of a file of code differs between them.
    """
    code: dict[str, Code] = {}
    entries: dict[tuple[object, ...], Exercise] = {}
    protocol = ""
    for file in files:
        protocol = file.protocol
        for path, each in file.code.items():
            if code.setdefault(path, each).digest != each.digest:
                raise CoverageError(f"{path} has changed since: begin another file")
        for entry in file.exercised:
            known = entries.get(entry.place)
            entries[entry.place] = entry if known is None else _both(known, entry)
    return CoverageFile(protocol=protocol, code=code, exercised=[entries[place] for place in entries])


def code_of(modules: Iterable[ModuleType]) -> dict[str, Code]:
    """Return the code of modules, by path."""
    found: dict[str, Code] = {}
    for module in modules:
        source = source_of(module.__file__ or "")
        found[path_of(module)] = Code(source.digest, source.branches)
    return found


def changed(document: CoverageFile, present: Mapping[str, Code]) -> list[str]:
    """Return the paths of a document's code whose text is another at present, or that the protocol's code no
    longer has.
    """
    return [
        path
        for path, code in document.code.items()
        if path not in present or present[path].digest != code.digest
    ]


def added(file: Path, more: CoverageFile) -> CoverageFile:
    """Add to the document in a file, or begin it; return the whole document.

    Raises:
        CoverageError: as `read` and `joined`.
        OSError: the file cannot be written.
    """
    whole = joined([read(file, more.protocol), more]) if file.exists() else more
    text = msgspec.json.format(msgspec.json.encode(whole), indent=1)
    with NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}", delete=False) as part:
        part.write(text + b"\n")
    written = Path(part.name)
    written.chmod(0o644)
    written.replace(file)
    return whole


def _both(one: Exercise, other: Exercise) -> Exercise:
    return Exercise(
        method=one.method, constants=one.constants, specification=one.specification,
        runs=one.runs + other.runs,
        complete=one.complete or other.complete,
        actions=dict(sorted((Counter(one.actions) + Counter(other.actions)).items())),
        transitions=_unions(one.transitions, other.transitions),
        branches=_unions(one.branches, other.branches),
        classes=sorted({*one.classes, *other.classes}), handlers=sorted({*one.handlers, *other.handlers}),
    )  # fmt: skip


def _unions(one: dict[str, list[N]], other: dict[str, list[N]]) -> dict[str, list[N]]:
    found: dict[str, list[N]] = {}
    for name in sorted(set(one) | set(other)):
        items: set[N] = set(one.get(name, []))
        items.update(other.get(name, []))
        found[name] = sorted(items)
    return found
