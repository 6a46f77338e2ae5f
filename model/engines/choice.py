"""Choice of an engine by its name, in this one place.

The native engine is imported when it is first asked for: small models are explored faster than LLVM is
loaded.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from antiphon.model.engines.interface import Transitions, WholeSpace
from antiphon.model.engines.over_transitions import TransitionSpace
from antiphon.model.engines.python.machine import CompiledMachine
from antiphon.model.engines.python.transitions import PythonTransitions
from antiphon.model.engines.reference import MachineTransitions
from antiphon.spec.lang import Machine, Program, SpecError
from antiphon.spec.lang.hints import known_names


class Engine(Enum):
    """Engine of an exploration; `AUTO` is generated Python for a small space, else machine code."""

    AUTO = "auto"
    NATIVE = "native"
    GENERATED = "generated"
    REFERENCE = "reference"


ENGINES = tuple(engine.value for engine in Engine)
"""The names of all engines."""


@dataclass(frozen=True)
class StorageOptions:
    """The way in which the native engine keeps states.

    Attributes:
        threads: how many threads to use; None for as many as there are processors.
        fingerprints: keep 64 bits of each expanded state instead of the state.
        whole: keep states of three words and more whole, not as trees that share their nodes: faster, in
            three times the memory.
        symmetry: let one state stand for all that differ from it in the names of interchangeable members
            only.
        cone: keep only what matters to the properties that are asked, their cone of influence.
        directory: where the arrays live as files, so that a later search can go on; None for memory.
    """

    threads: int | None = None
    fingerprints: bool = False
    whole: bool = False
    symmetry: bool = False
    cone: bool = False
    directory: Path | None = None

    @property
    def native_only(self) -> bool:
        """Return True if an option is set that only the native engine has."""
        return self.fingerprints or self.whole or self.symmetry or self.cone or self.directory is not None


IN_MEMORY = StorageOptions()
"""Options for states in memory, with all processors."""


def engine_named(name: Engine | str) -> Engine:
    """Return the engine of this name; an `Engine` is returned unchanged.

    Raises:
        SpecError: there is none; the known ones are listed.
    """
    if isinstance(name, Engine):
        return name
    if name not in ENGINES:
        raise SpecError(f"unknown engine {name!r}; {known_names(str(name), ENGINES)}")
    return Engine(name)


def open_space(
    program: Program,
    engine: Engine,
    options: StorageOptions = IN_MEMORY,
    *,
    graph: bool = True,
    asked: Collection[str] = (),
) -> WholeSpace:
    """Return a fresh space of the program that holds its initial states; `AUTO` stands for the native engine.

    Args:
        program: the specification with its constants.
        engine: what explores.
        options: how states are kept.
        graph: whether `futures` and `successors` will be asked; without, native states of one word take less
            memory.
        asked: the properties whose cone of influence is kept, if the options ask for a cone.

    Raises:
        SpecError: the initial states cannot be computed, the engine lacks an option, or the program has no
            symmetry to use.
        Refused: the directory holds the search of another program.
    """
    if options.native_only and engine in (Engine.GENERATED, Engine.REFERENCE):
        raise SpecError(
            f"the engine {engine.value!r} knows neither fingerprints, reductions nor a directory, "
            "nor how states are kept",
            instead="the engine 'native'",
        )
    if options.whole and options.fingerprints:
        raise SpecError("fingerprints are kept instead of states", instead="whole states or fingerprints")
    if engine in (Engine.GENERATED, Engine.REFERENCE):
        return TransitionSpace(transitions_by(program, engine))
    from antiphon.model.engines.native.compiler.reduction import (
        Reduction,
    )  # here, because loading LLVM takes longer than most checks
    from antiphon.model.engines.native.driver.space import NativeSpace

    return NativeSpace(
        program,
        program.reference.initial(),
        threads=options.threads,
        graph=graph,
        fingerprints=options.fingerprints,
        reduction=Reduction(options.symmetry, frozenset(asked) if options.cone else None),
        directory=options.directory,
        trees=not options.whole,
    )


def transitions_of(program: Program, machine: Machine | None = None) -> Transitions:
    """Return all transitions of `program` on packed states: by generated functions, unless another machine is
    given.
    """
    if machine is None or isinstance(machine, CompiledMachine):
        return PythonTransitions(program)
    return MachineTransitions(program, machine)


def transitions_by(program: Program, engine: Engine) -> Transitions:
    """Return all transitions of `program` on packed states; every engine but the reference uses generated
    functions.
    """
    return transitions_of(program, program.reference if engine is Engine.REFERENCE else None)
