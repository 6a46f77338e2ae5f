"""Simulated members whose applications have a state, which is given and taken by the code of real groups.

`States` is driven by hand: its coroutines wait for nothing but the turn of an event loop, which here comes at
once. Time is virtual.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from antiphon.impl.errors import GroupFailed
from antiphon.impl.membership.member import Blocked, Unblocked, View
from antiphon.impl.membership.transfer import PIECE_BYTES
from antiphon.impl.protocols.core import Delivery
from antiphon.impl.states import JoinedEvent, States
from antiphon.impl.transport.simulated_members import Life, SimulatedMembers

LOOKS_MS = 20.0
"""Milliseconds between two looks whether another member has to be asked."""


SIZE = 10 * PIECE_BYTES
"""Number of bytes of the large text of a founder's state."""


class Texts:
    """An application with the texts of all messages, and with bytes that make its state large."""

    def __init__(self, size: int) -> None:
        self.texts = [bytes(range(256)) * (size // 256)] if size else []

    async def save(self) -> AsyncIterator[bytes]:
        """All, in one piece each."""
        for text in self.texts:
            yield len(text).to_bytes(8) + text

    async def load(self, pieces: AsyncIterator[bytes]) -> None:
        """All that another one has."""
        whole = b"".join([piece async for piece in pieces])
        self.texts = []
        while whole:
            size = 8 + int.from_bytes(whole[:8])
            self.texts.append(whole[8:size])
            whole = whole[size:]


class Application:
    """The application of one life: it takes events as `JoinedGroup` gives them."""

    def __init__(self, members: StatefulMembers, process: int, life: Life) -> None:
        self.life, self.process = life, process
        self.members = members
        self.store = Texts(0)
        self.states = States("g", members.timeouts, lambda: None, lambda: members.clock(process))
        self.states.store = self.store
        self.events: deque[JoinedEvent] = deque()
        self.begun = False
        self.resumed: list[int] = []
        """Numbers of bytes behind which another donor went on."""
        self.anew: list[str] = []
        """Reasons why another donor began again."""
        self.failed: GroupFailed | None = None
        self.loaded_size: int | None = None
        """Number of bytes of the state that came, or None."""

    def take(self, events: list[Any]) -> None:
        """Give and take states, and take events, as far as that goes."""
        machine, states = self.life.machine, self.states
        self.events += [one for one in events if isinstance(one, View | Delivery | Blocked | Unblocked)]
        view = next((one for one in events if isinstance(one, View)), None)
        if view is not None and not self.begun:
            self.begun = True
            if view.number == 1:
                self.store = states.store = self.members.make(self.process)
            states.begin(machine.began_after, first=view.number == 1)
        while self.begun and self.failed is None:
            run(states.give(machine.transfers))
            if states.awaited:
                self.note()
                if machine.transfers.state is not None:
                    self.loaded_size = sum(map(len, machine.transfers.state.pieces))
                try:
                    left = run(states.take(machine, self.events))
                except GroupFailed as failed:
                    self.failed = failed
                    return
                if left is None:
                    return
                self.events = deque(left)
            if not self.events:
                return
            event = self.events.popleft()
            if isinstance(event, Delivery):
                self.store.texts.append(event.payload)
            states.note(event, self.life.member)

    def note(self) -> None:
        """Note what the donor has said, before the log has it."""
        transfers = self.life.machine.transfers
        if transfers.resumed is not None:
            self.resumed.append(transfers.resumed)
        if transfers.anew is not None:
            self.anew.append(transfers.anew)


class StatefulMembers(SimulatedMembers):
    """Simulated members, each with an application."""

    def __init__(
        self,
        processes: int,
        seed: int,
        *,
        make: Callable[[int], Texts] = lambda _: Texts(SIZE),
        **settings: Any,
    ) -> None:
        """`make` gives the application of each founder; the others begin with nothing."""
        super().__init__(processes, seed, **settings)
        self.make = make
        self.applications: dict[bytes, Application] = {}
        self.at_piece: tuple[int, int, Callable[[int], None]] | None = None
        """Process, number of pieces, and function to call, once, with the donor when so many are here."""

    def application(self, process: int) -> Application:
        """The application of the last life of a process."""
        return self.applications[self.life(process).member.incarnation]

    def crash(self, process: int) -> None:
        """End a process; what it has sent, and has not arrived, is lost."""
        super().crash(process)
        self.cut |= {(process, other) for other in range(len(self.addresses))}

    def begin_again(self, process: int) -> None:
        """Start a process again; it is heard again."""
        self.cut = {(sender, to) for sender, to in self.cut if sender != process}
        super().begin_again(process)

    def process_of(self, incarnation: bytes | None) -> int:
        """The process whose last run has this incarnation."""
        runs = [lives[-1].member.incarnation if lives else None for lives in self.lives]
        return runs.index(incarnation)

    def _take(self, process: int, life: Life) -> None:
        seen = len(life.events)
        super()._take(process, life)
        incarnation = life.member.incarnation
        if incarnation not in self.applications:
            self.applications[incarnation] = Application(self, process, life)
            self.at(self.now, lambda: self._look(process, life))
        self.applications[incarnation].take(life.events[seen:])

    def after(self, process: int, life: Life) -> None:
        """Call what is to be called at a piece, before the process goes on."""
        transfers = life.machine.transfers
        if self.at_piece is not None and self.at_piece[0] == process and transfers.begun:
            _, pieces, then = self.at_piece
            if transfers.taken_bytes >= pieces * PIECE_BYTES:
                self.at_piece = None
                then(self.process_of(transfers.donor))
        super().after(process, life)

    def _look(self, process: int, life: Life) -> None:
        if life.alive:
            if not life.paused:
                self.after(process, life)
            self.at(self.now + LOOKS_MS, lambda: self._look(process, life))


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that waits for nothing but its turn."""
    while True:
        try:
            work.send(None)
        except StopIteration as end:
            return end.value
