"""Run of a group whose members change as a trace in ITF: what its applications see, event by event.

A state of the trace has variables of a machine of `antiphon.spec.services.group_machine`, as the members'
events make them: who is in which view, how many messages each has delivered, which number the last one has,
who has stopped, and how many messages were broadcast. `mbt::actionTaken` and `mbt::nondetPicks` say which
event led to it. Nothing here asks whether the machine allows the event: `antiphon replay` does.

1. A process of the trace is one run of a member, from its start to its crash, departure or exclusion; who
   comes back is another one.
2. Events stand in the order of virtual time. A run that has ended stops before the next event of any other.
3. A delivery of a message that nobody has broadcast, or with another payload, names no message of the
   machine, so that no step explains it.

This module knows members and their events, and no protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antiphon.conformance.run.swarm.changing.log import Log
from antiphon.impl.membership.member import Excluded, Left, View
from antiphon.impl.membership.membership import Event as Told
from antiphon.impl.protocols.core import Delivery
from antiphon.impl.transport.simulated_members import Life, SimulatedMembers
from antiphon.model.export.foreign import ACTION, PICKS

__all__ = ["Observed"]

MACHINE = "antiphon.spec.services.group_machine"


class Observed(Log):
    """Trace under construction."""

    def __init__(self, members: int) -> None:
        super().__init__(members)
        self._group: SimulatedMembers | None = None
        self._ordered = True
        self._known: list[Life] = []
        """The runs of members, in the order in which they were noticed: the processes of the trace."""
        self._sent: list[tuple[int, int, bytes]] = []
        """Process, number among its own and payload of each broadcast: the messages of the trace."""
        self._said: list[int] = []
        """Number of broadcasts of each process that were noted."""
        self._told: list[int] = []
        """Number of events of each process that were noted."""
        self._views: list[int] = []
        self._counts: list[int] = []
        self._reached: list[int] = []
        self._dead: list[bool] = []
        self._steps: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
        """Action, arguments and state after it."""

    def watch(self, group: SimulatedMembers) -> None:
        """Store the group of the run."""
        self._group, self._ordered = group, group.protocol.ordered

    def takes(self, process: int, life: Life, events: Sequence[Told]) -> None:
        """Note the broadcasts and the events of a run of a member."""
        super().takes(process, life, events)
        me = self._process(life)
        self._note_ends()
        while True:
            said = self._said[me]
            if said < len(life.sent) and life.sent_after[said] <= self._told[me]:
                self._said[me] += 1
                self._sent.append((me, said + 1, life.sent[said]))
                self._step("submit", {"p": me, "m": len(self._sent) - 1})
            elif self._told[me] < len(life.events):
                event = life.events[self._told[me]]
                self._told[me] += 1
                self._note(me, event)
            else:
                return

    def trace(self, name: str) -> dict[str, Any]:
        """Return the run as ITF data.

        The specification with its constants stands in `#meta`, so that a replay needs no other name.
        """
        assert self._group is not None, "the run is over"
        self._note_ends()
        processes, messages = max(1, len(self._known)), max(1, len(self._sent))
        views = max([1, *self._views])
        start = {"current_view": {}, "count": {}, "dead": {}, "submitted": 0}
        if self._ordered:
            start["reached"] = {}
        states = [("", {}, start), *self._steps]
        return {
            "#meta": {
                "format": "ITF",
                "description": f"{name}: what the applications of a group see, {len(self._steps)} events",
                "source": name,
                "specification": f"{MACHINE}:{'OrderedGroup' if self._ordered else 'UnorderedGroup'}",
                "constants": {
                    "processes": processes, "messages": messages, "views": views, "joiners": processes,
                },
            },
            "vars": [*start, ACTION, PICKS],
            "states": [
                {"#meta": {"index": index}}
                | {each: _as_itf(value, processes, each == "dead") for each, value in state.items()}
                | {ACTION: action, PICKS: {each: _some(value) for each, value in picks.items()}}
                for index, (action, picks, state) in enumerate(states)
            ],
        }  # fmt: skip

    # What is noted ------------------------------------------------------------------------------------------

    def _process(self, life: Life) -> int:
        """Return the number of a run of a member, a new one for a new run."""
        found = next((number for number, known in enumerate(self._known) if known is life), None)
        if found is not None:
            return found
        self._known.append(life)
        self._said.append(0)
        self._told.append(0)
        self._views.append(0)
        self._counts.append(0)
        self._reached.append(0)
        self._dead.append(False)
        return len(self._known) - 1

    def _note_ends(self) -> None:
        """Note that runs which are not alive any more have stopped."""
        for number, life in enumerate(self._known):
            if not life.alive and not self._dead[number]:
                self._stop(number)

    def _stop(self, me: int) -> None:
        self._dead[me] = True
        self._step("crash", {"p": me})

    def _note(self, me: int, event: Told) -> None:
        match event:
            case Delivery():
                self._counts[me] += 1
                self._reached[me] = event.number
                self._step("deliver", {"p": me, "m": self._message(event)})
            case View(number=number, members=members):
                if not self._views[me]:
                    self._reached[me] = self._known[me].machine.began_after
                self._views[me] = number
                named = {"#set": sorted(self._member(one.incarnation) for one in members)}
                self._step("install", {"p": me, "v": number, "members": named})
            case Excluded() | Left():
                self._stop(me)

    def _member(self, incarnation: bytes) -> int:
        """Return the number of the run that has this incarnation."""
        assert self._group is not None, "the group is there from the beginning"
        return self._process(
            next(life for life in self._group.all_lives if life.member.incarnation == incarnation)
        )

    def _message(self, delivered: Delivery[Any]) -> int | str:
        """Return the number of a delivered message; of one that was not broadcast so, a text."""
        told = (self._member(delivered.source.incarnation), delivered.id, delivered.payload)
        return self._sent.index(told) if told in self._sent else f"{told[0]}:{told[1]}, never broadcast so"

    def _step(self, action: str, picks: dict[str, Any]) -> None:
        state = {
            "current_view": dict(enumerate(self._views)), "count": dict(enumerate(self._counts)),
            "dead": dict(enumerate(self._dead)), "submitted": len(self._sent),
        }  # fmt: skip
        if self._ordered:
            state["reached"] = dict(enumerate(self._reached))
        self._steps.append((action, picks, state))


def _as_itf(value: Any, processes: int, is_flag: bool) -> Any:
    """Return the value of a variable as ITF data: a map has an entry for each process of the whole run."""
    if not isinstance(value, dict):
        return {"#bigint": str(value)}
    missing = False if is_flag else 0
    return {"#map": [[process, _number(value.get(process, missing))] for process in range(processes)]}


def _number(value: Any) -> Any:
    return value if isinstance(value, bool) else {"#bigint": str(value)}


def _some(value: Any) -> dict[str, Any]:
    """Return a picked value as Quint writes it."""
    return {"tag": "Some", "value": value}
