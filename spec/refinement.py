"""A refinement is a protocol, an abstract machine, and for each variable of the machine a helper that
computes it from the state of the protocol.

1. The mapping is text of the specification language: a subclass of the protocol that `refines` the machine,
   with one helper for each variable of the machine, of the same name. A helper of a map takes its keys (`def
   learned(self, p: Process) -> Set[Assigned]`), or gives the map. A variable that no helper names is the
   protocol's variable of that name.
2. Every transition of the protocol must then be, seen through the mapping, a finite sequence of steps of the
   abstract machine: none (a stutter), one, or several where a handler does several things at once (a queue
   that is delivered as a whole). They are searched for; a mapping with `explain` proposes them, which takes
   less time.
3. The events that both machines know must be the same, each process's in the same order.
4. Every initial state of the protocol must be an initial state of the machine.

Whatever steps and events of the abstract machine promise about safety, the protocol then keeps. Liveness does
not carry over: stuttering for ever is allowed.

Nothing here explores; `antiphon.model.refinement` checks it on the state graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from antiphon.spec.lang import Program, Spec, SpecError, Step, ir, program
from antiphon.spec.lang.mapping import machine_of
from antiphon.spec.lang.types import Record, evaluate_size
from antiphon.spec.lang.walk import nodes

Explain = Callable[[Mapping[str, Any], Mapping[str, Any], tuple[Any, ...]], tuple[Step, ...]]
"""Function that proposes the machine's steps for a change, from its state before, its state after and the
protocol's events.
"""


@dataclass(frozen=True)
class Refinement:
    """A stated mapping of `concrete` (a protocol with the mapping's helpers) to `abstract`.

    Attributes:
        concrete: the protocol, with the mapping's helpers.
        abstract: the machine.
        events: the records that are compared; None for those that both emit.
        explain: proposes the steps of the machine that a change could be; None: they are searched for.
        sizes: constants of the machine, and of the mapping, that differ from their defaults; numbers are
            expressions over the protocol's constants. A constant that both have is the protocol's.
        bounds: constants within which the protocol is explored when nobody says otherwise.
        monitor: a specification of the protocol beside the machine, in which the refinement is a property, so
            that the native engine can check it; its constants are the protocol's.
    """

    concrete: type[Spec]
    abstract: type[Spec]
    events: tuple[type, ...] | None = None
    explain: Explain | None = None
    sizes: Mapping[str, int | bool | str] = field(default_factory=dict)
    bounds: Mapping[str, int | bool | str] = field(default_factory=dict)
    monitor: type[Spec] | None = None

    def bind(self, bound: Program) -> tuple[Program, Program]:
        """Return the protocol and the abstract machine under the constants of `bound`, a program of the
        protocol.

        Raises:
            SpecError: `bound` is a program of another specification, or a size cannot be computed.
        """
        if bound.spec is not self.concrete:
            raise SpecError(f"{bound.name} is not {self.concrete.__name__}, which this refinement maps")
        sizes = {
            name: size if isinstance(size, bool) else evaluate_size(size, bound.constants)
            for name, size in self.sizes.items()
        }
        protocol = bound.with_constants(**sizes)
        machine = program(self.abstract)
        return protocol, machine.with_constants(
            **{name: value for name, value in protocol.constants.items() if name in machine.constants}
        )

    def monitored(self, bound: Program) -> Program:
        """Return the monitor under the constants of `bound`, a program of the protocol.

        Raises:
            SpecError: there is none.
        """
        if self.monitor is None:
            raise SpecError(
                f"{self.concrete.__name__} states no monitor, and machine code runs nothing else",
                instead="the engine `generated`",
            )
        return program(self.monitor).with_constants(**bound.constants)


def refinement_stated_by(spec: type[Spec]) -> Refinement | None:
    """Return the refinement that a class states by `refines=`, or None."""
    machine = machine_of(spec)
    return None if machine is None else Refinement(spec, machine)


def shared_events(concrete: Program, abstract: Program) -> tuple[type, ...]:
    """Return the records that both programs emit."""
    emitted = [
        {
            node.event.type.python
            for node in nodes((module.initials, module.actions, module.procedures, module.handlers))
            if isinstance(node, ir.Emit) and isinstance(node.event.type, Record)
        }
        for module in (concrete.module, abstract.module)
    ]
    return tuple(emitted[0] & emitted[1])
