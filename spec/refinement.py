"""A refinement is a protocol, an abstract machine, and for each variable of the machine a helper that
computes it from the state of the protocol.

1. The mapping is text of the specification language: a subclass of the protocol with one helper for each
   variable of the abstract machine, of the same name. A helper of a map takes the key: `def learned(self, p:
   Process) -> Set[Assigned]`.
2. Every transition of the protocol must then be, seen through the mapping, a finite sequence of steps of the
   abstract machine: none (a stutter), one, or several where a handler does several things at once (a queue
   that is delivered as a whole).
3. The events that both machines know must be the same, each process's in the same order.
4. Every initial state of the protocol must be an initial state of the machine.

Whatever steps and events of the abstract machine promise about safety, the protocol then keeps. Liveness does
not carry over: stuttering for ever is allowed.

Nothing here explores; `antiphon.model.refinement` checks it on the state graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from antiphon.spec.lang import Program, Spec, SpecError, Step, program
from antiphon.spec.lang.types import evaluate_size

Explain = Callable[[Mapping[str, Any], Mapping[str, Any], tuple[Any, ...]], tuple[Step, ...]]
"""From the machine's state before, its state after and the protocol's events to the steps that would explain
the change.
"""


@dataclass(frozen=True)
class Refinement:
    """A stated mapping of `concrete` (a protocol with the mapping's helpers) to `abstract`.

    `sizes` gives constants of the abstract machine that the protocol does not have, numbers as expressions
    over the protocol's constants. `events` are the records that both emit. `explain` proposes the steps of
    the machine that a change could be. `bounds` are constants within which the protocol is explored when
    nobody says otherwise.
    """

    concrete: type[Spec]
    abstract: type[Spec]
    events: tuple[type, ...]
    explain: Explain
    sizes: Mapping[str, int | bool | str]
    bounds: Mapping[str, int | bool | str]

    def bind(self, bound: Program) -> tuple[Program, Program]:
        """The protocol and the abstract machine under the constants of `bound`, a program of the protocol.

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
