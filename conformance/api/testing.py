"""Tests of one's own protocol: `binding` makes a class the implementation of a specification.

```python
@binding(Turnstile, processes=3)
class Real:
    def __init__(self, processes):
        self.doors = [Door() for _ in range(processes)]

    def enter(self, p):
        self.doors[p].enter()

    def state(self):
        return {"inside": [door.inside for door in self.doors]}
```

`antiphon.lockstep(Real)` then walks both, as does `antiphon lockstep file.py:Real`; under pytest there is a
fixture `antiphon`, whose questions fail a test. `Refused` says that a step cannot be taken. `SansIO` is a
base for code without sockets: it keeps messages in flight, encodes them, collects events and takes snapshots.
`adapter` makes a program in any language the implementation.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from antiphon.conformance.adapters.node import REPLY_SECONDS
from antiphon.conformance.compare.bindings import Bound, Refused
from antiphon.conformance.compare.bindings.foreign import Foreign, foreign_bound
from antiphon.conformance.compare.bindings.plain import CALL_SECONDS, declared
from antiphon.conformance.compare.bindings.sans_io import SansIO
from antiphon.programs import program
from antiphon.spec.lang import Program, Spec
from antiphon.spec.lang.errors import ArgumentError

__all__ = ["Refused", "SansIO", "adapter", "binding"]

C = TypeVar("C", bound=type)


def binding(
    spec: Program | type[Spec] | str,
    *,
    repairs: Iterable[str] | str = (),
    without: Iterable[str] | str = (),
    exempt: Mapping[str, str] | None = None,
    internal: Collection[str] = (),
    call_seconds: float = CALL_SECONDS,
    **constants: int | bool | str,
) -> Callable[[C], C]:
    """Let a class be an implementation of a specification, beside which it is walked.

    An object of the class is the whole system, fresh; `__init__` is given the constants whose names it has as
    parameters. For each action it has a method of that name, which is called with the arguments of the step:
    an index comes as its number, a record with numbers in it. What the method returns is what it emits. Then
    `state()` gives a dict of the variables, each as Python has it: True for a boolean, a number for an index,
    a list or a dict for a map, any collection for a set.

    The methods `snapshot()`, which returns something immutable, and `restore(kept)` let every state of the
    system be walked; without them each transition is taken after one way to its state. `offers()` returns the
    `internal` steps that the system would take by itself now, as (action, *arguments), to be compared.

    Args:
        spec: the specification: a class, a name of the catalogue, "file.py:Class", or a program.
        repairs: the names of repairs to switch on, or "all".
        without: repairs that are left out of them again.
        exempt: variables that are not compared, or "events", each with the reason in four words or more.
        internal: the actions that the system takes of its own accord.
        call_seconds: a call of the class that takes longer does not come back, which is a finding.
        **constants: constants and readings by name; the others keep their defaults.

    Raises:
        SpecError: no such specification or constant, or the class lacks a method.
    """
    if call_seconds <= 0:
        raise ArgumentError(f"call_seconds={call_seconds!r}: it is more than 0")
    bound = _program(spec, repairs, without, constants)
    return declared(bound, exempt=exempt, internal=internal, call_seconds=call_seconds)


def adapter(
    spec: Program | type[Spec] | str,
    command: str | Sequence[str],
    *,
    nodes: str = "",
    guarded: Collection[str] = (),
    repairs: Iterable[str] | str = (),
    without: Iterable[str] | str = (),
    exempt: Mapping[str, str] | None = None,
    reply_seconds: float = REPLY_SECONDS,
    **constants: int | bool | str,
) -> Bound:
    """Let a program in any language be an implementation of a specification, beside which it is walked.

    The program takes steps by JSON lines on its standard streams; docs/adapters.md has them. What this
    returns is a binding wherever a class under `binding` is one.

    Args:
        spec: the specification: a class, a name of the catalogue, "file.py:Class", or a program.
        command: the command that starts the program, as words or as one line of a shell without operators.
        nodes: the index whose members are processes of the program; without, one is the whole system.
        guarded: the actions that the program itself must refuse where they are not enabled.
        repairs: the names of repairs to switch on, or "all".
        without: repairs that are left out of them again.
        exempt: variables that are not compared, or "events", each with the reason in four words or more.
        reply_seconds: a program that takes longer for a reply does not answer, which is a finding.
        **constants: constants and readings by name; the others keep their defaults.

    Raises:
        SpecError: no such specification or constant.
    """
    words = tuple(shlex.split(command)) if isinstance(command, str) else tuple(command)
    if not words:
        raise ArgumentError(f"command={command!r}: it names a program")
    if reply_seconds <= 0:
        raise ArgumentError(f"reply_seconds={reply_seconds!r}: it is more than 0")
    foreign = Foreign(words, nodes, dict(exempt or {}), frozenset(guarded), reply_seconds)
    return foreign_bound(_program(spec, repairs, without, constants), foreign)


def _program(
    spec: Program | type[Spec] | str,
    repairs: Iterable[str] | str,
    without: Iterable[str] | str,
    constants: Mapping[str, int | bool | str],
) -> Program:
    if isinstance(spec, Program):
        return spec.with_constants(**constants) if constants else spec
    return program(spec, repairs=repairs, without=without, **constants)
