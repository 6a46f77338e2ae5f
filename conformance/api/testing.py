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
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar

from antiphon.conformance.compare.bindings import Refused
from antiphon.conformance.compare.bindings.plain import CALL_SECONDS, declared
from antiphon.conformance.compare.bindings.sans_io import SansIO
from antiphon.programs import program
from antiphon.spec.lang import Program, Spec
from antiphon.spec.lang.errors import ArgumentError

__all__ = ["Refused", "SansIO", "binding"]

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

    Two methods more, `snapshot()`, which gives something immutable, and `restore(kept)`, let every state of
    the system be walked; without them each transition is taken after one way to its state. With `offers()`,
    which gives (action, *arguments) of the `internal` actions, it is compared what it would do by itself.

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
    if isinstance(spec, Program):
        bound = spec.with_constants(**constants) if constants else spec
    else:
        bound = program(spec, repairs=repairs, without=without, **constants)
    return declared(bound, exempt=exempt, internal=internal, call_seconds=call_seconds)
