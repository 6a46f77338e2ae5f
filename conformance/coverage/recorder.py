"""Recorder of what runs exercise of an implementation: branches of its code, and state classes.

A recorder changes nothing in a run: probes set bytes (`branches`), and a core or a binding is wrapped in one
that looks at the snapshots and passes every call on.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from antiphon.conformance.compare.bindings import Binding, Effect, Guarded
from antiphon.conformance.compare.bindings.binding import trait
from antiphon.conformance.compare.bindings.foreign import ForeignBinding
from antiphon.conformance.coverage.branches import recording
from antiphon.conformance.coverage.classes import class_text, state_class
from antiphon.conformance.coverage.handlers import handlers_of
from antiphon.conformance.coverage.modules import path_of
from antiphon.impl.protocols.core import Implementation, ProtocolCore, Send
from antiphon.impl.tracing import Tracer
from antiphon.spec.lang import Step

__all__ = ["Recorder", "Seen"]


@dataclass
class Seen:
    """Branches, state classes and handlers that runs have exercised.

    `branches` has a byte for each branch of each file, 1 if it was taken; `classes` has the classes as text;
    `handlers` has the names of those of a program behind an adapter.
    """

    branches: dict[str, bytes] = field(default_factory=dict)
    classes: frozenset[str] = frozenset()
    handlers: frozenset[str] = frozenset()

    def union(self, other: Seen) -> Seen:
        """Return what these runs or the others have exercised."""
        branches = dict(self.branches)
        for file, taken in other.branches.items():
            mine = branches.get(file, bytes(len(taken)))
            branches[file] = bytes(map(int.__or__, mine, taken))
        return Seen(branches, self.classes | other.classes, self.handlers | other.handlers)


class Recorder:
    """Recorder of the runs that are taken within `recording`.

    `news` is True if a branch was taken or a class seen for the first time, and was not `known` either, since
    `news` was last set to False. It is kept only for cores (`around`).
    """

    def __init__(self, modules: Sequence[ModuleType], known: Seen = Seen()) -> None:  # noqa: B008 - not changed
        self.modules, self._known = modules, known
        self._taken: list[bytearray] = []
        self._files: list[str] = []
        self._before: list[bytes] = []
        self._classes: set[Hashable] = set()
        self._texts: set[str] = set()
        self._handlers: set[str] = set()
        self.news = False

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Context in which runs are recorded."""
        with recording(self.modules) as hits:
            self._files = [path_of(module) for module in self.modules]
            self._taken = list(hits.values())
            self._before = [bytes(taken) for taken in self._taken]
            yield

    @property
    def seen(self) -> Seen:
        """Return what the recorded runs have exercised."""
        branches = {file: bytes(taken) for file, taken in zip(self._files, self._taken, strict=True)}
        return Seen(branches, frozenset(self._texts), frozenset(self._handlers))

    def _look(self, state: object) -> None:
        """Record the class of a state."""
        found = state_class(state)
        if found not in self._classes:
            self._classes.add(found)
            text = class_text(state)
            self._texts.add(text)
            self.news = self.news or text not in self._known.classes

    # Cores of groups ----------------------------------------------------------------------------------------

    def around(self, implementation: Implementation[Any]) -> Implementation[Any]:
        """Return the implementation with cores whose states are recorded."""

        def made(me: int, members: int, tracer: Tracer) -> ProtocolCore[Any]:
            return _Watched(self, implementation.core(me, members, tracer))

        resilient = implementation.resilient
        again = None if resilient is None else lambda holders: self.around(resilient(holders))
        return implementation._replace(core=made, resilient=again)

    def rests(self, snapshot: Hashable) -> None:
        """Record the snapshot of a core that has taken all its possible steps."""
        self._look(snapshot)
        if self._taken != self._before:
            known = self._known.branches
            for file, taken, before in zip(self._files, self._taken, self._before, strict=True):
                earlier = known.get(file, bytes(len(taken)))
                self.news = self.news or any(
                    hit and not old and not first
                    for hit, old, first in zip(taken, before, earlier, strict=True)
                )
            self._before = [bytes(taken) for taken in self._taken]

    # Bindings -----------------------------------------------------------------------------------------------

    def bound(self, binding: Binding) -> Binding:
        """Return a binding whose states are recorded: the snapshots of processes, or the variables of a
        binding that is the whole system; of programs behind an adapter what they are given and report.
        """
        inner = binding.binding if isinstance(binding, Guarded) else binding
        if isinstance(inner, ForeignBinding):
            inner.watched_by(self)
            return binding
        return _Bound(inner, self)

    def after(self, binding: Binding, me: int, snapshot: Any) -> None:
        """Record the state of a process of a binding after a step."""
        self._look(binding.project(me, snapshot) if trait(binding, "whole") else snapshot)


    # Programs behind an adapter -----------------------------------------------------------------------------

    def given(self, message: Mapping[str, Any]) -> None:
        """Record the handler that a message to a program meets."""
        self._handlers.update(handlers_of(message))

    def told(self, state: Mapping[str, Any]) -> None:
        """Record the state that a program reports."""
        self._look(state)


class _Watched:
    """Wrapper of a core that shows its snapshots to a recorder and passes all calls on."""

    def __init__(self, recorder: Recorder, core: ProtocolCore[Any]) -> None:
        self._recorder, self._core = recorder, core

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)

    def outputs(self) -> list[Send[Any]]:
        """Return the messages that the core sends, and record its snapshot."""
        sends = self._core.outputs()
        self._recorder.rests(self._core.snapshot())
        return sends


class _Bound(Guarded):
    """Guarded binding that shows the states after its steps to a recorder."""

    def __init__(self, binding: Binding, recorder: Recorder) -> None:
        super().__init__(binding)
        self._recorder = recorder

    def start(self, me: int) -> Effect:
        """Return the initial effect of process `me`, and record its snapshot."""
        effect = super().start(me)
        self._recorder.after(self, me, effect.after)
        return effect

    def perform(self, me: int, snapshot: Any, step: Step, datagram: bytes | None) -> Effect:
        """Let process `me` take the step; return the effect, and record its snapshot."""
        effect = super().perform(me, snapshot, step, datagram)
        self._recorder.after(self, me, effect.after)
        return effect
