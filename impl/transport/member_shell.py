"""Shell of a membership under asyncio: it moves bytes between a UDP socket and the machine, sets one timer,
and decides nothing.

1. The address of a member is in its `Member`; the address of a process that may be one is among the seeds. A
   datagram's sender is known by its incarnation (`sessions`), whatever address it comes from.
2. A datagram that the operating system refuses is a lost datagram, counted by kind in `faults`. If it reports
   that nobody listens at a member's port, the membership gets a hint.
3. The socket is shared (`shared_socket`): a shell begins and stops while the socket goes on.
4. Frames that come in one turn of the event loop are handled one by one and answered together, in the next
   turn: so a busy process makes fewer steps. Frames that wait unread are noted for the detector.
5. Whoever has the group's key, and not its name, may ask for the name. Such frames have sessions of their
   own, and do not reach the membership.

This module must not know a protocol, or who uses the events.
"""

from __future__ import annotations

from asyncio import get_running_loop
from collections.abc import Callable
from typing import cast

from antiphon.impl.errors import GroupClosed, Rejection
from antiphon.impl.membership.datagrams import group_named, look
from antiphon.impl.membership.member import Member
from antiphon.impl.membership.membership import Membership
from antiphon.impl.transport.addresses import Address
from antiphon.impl.transport.sealing import Keyring
from antiphon.impl.transport.sessions import MARK_BYTES, UNNAMED, Received, Sessions
from antiphon.impl.transport.shared_socket import SharedSocket
from antiphon.impl.transport.shell import Shell
from antiphon.impl.transport.wire import Rejected

__all__ = ["MemberShell"]


class MemberShell(Shell):
    """Shell of one membership: it carries the membership's datagrams from `open` to `stop`."""

    def __init__(
        self,
        membership: Membership,
        keys: Keyring | None,
        *,
        on_progress: Callable[[], None],
        on_failure: Callable[[Exception], None],
    ) -> None:
        """Make a shell. Without `keys`, anybody who reaches the socket can take part."""
        super().__init__(on_progress, on_failure)
        self.membership = membership
        self.me = membership.me
        self.group = membership.group
        self._sessions = Sessions(membership.group, membership.me.incarnation, keys)
        self._unnamed = Sessions(UNNAMED, membership.me.incarnation, keys)
        """Sessions with those who do not know the group's name."""
        self._socket: SharedSocket | None = None
        self._answers = False
        """True if `_answer` is scheduled."""
        self._read_at = 0.0
        """Last time at which no frame waited in the socket."""

    def open(self, socket: SharedSocket) -> None:
        """Take part in the group, with datagrams through an open socket.

        Raises:
            InvalidSetting: a group of this name is at this socket.
            GroupClosed: the shell was opened before, or the socket is not open.
        """
        if self._socket is not None:
            raise GroupClosed("a shell is opened once")
        socket.add(self)
        self._socket = socket
        self._begin()

    def broadcast(self, payload: bytes) -> int:
        """Broadcast a message, and return its count among the messages of this member.

        Raises as the membership's `broadcast`, and `GroupClosed` when not open.
        """
        if not self._runs:
            raise GroupClosed("the shell is not open")
        now = get_running_loop().time() * 1000.0
        membership = self.membership
        own = membership.broadcast(payload, now)
        if membership.epoch is not None and membership.epoch.endpoint.unsent:
            self._drain(now)
        return own

    def leave(self) -> None:
        """Ask the others for a view without this member."""
        self._step(self.membership.leave)

    def farewell(self) -> None:
        """Send the other members a notice that this process ends, since it has left and no other member needs
        it.
        """
        self._step(lambda _: self.membership.farewell())

    def flush(self) -> None:
        """Send the membership's pending datagrams."""
        self._step(lambda _: None)

    def rekey(self, keys: Keyring) -> None:
        """Replace the keys: the first key is used, all are accepted."""
        self._sessions.rekey(keys)
        self._unnamed.rekey(keys)

    def stop(self) -> None:
        """Stop at once, and leave the socket open for other groups. A second call does nothing."""
        super().stop()
        if self._socket is not None:
            self._socket.remove(self)

    # The socket's side --------------------------------------------------------------------------------------

    def knows(self, mark: bytes) -> bool:
        """Return True if frames with this mark are of this group."""
        return self._sessions.knows(mark) or self._unnamed.knows(mark)

    def frame_received(self, address: Address, frame: bytes) -> bool:
        """Handle a frame. Return True if a process of the group has sent it to this run of this process."""
        if not self._runs:
            return False
        try:
            effective = self._receive(address, frame, self._now())
        except Exception as error:  # noqa: BLE001 - as in a step
            self.stop()
            self._on_failure(error)
            return False
        if effective is not None and not self._answers:
            self._answers = True
            get_running_loop().call_soon(self._answer)
        return bool(effective)

    def _answer(self) -> None:
        """Send what follows from the frames that have come, and report progress."""
        self._answers = False
        now = self._now()
        if now - self._read_at > self.membership.timeouts.heartbeat_ms / 2:
            self._note_waiting(now)
        self.flush()

    def _receive(self, address: Address, frame: bytes, now: float) -> bool | None:
        """Return True if the frame was for this run; False if there may be something to answer; None for a
        frame without any effect.
        """
        received = self._sessions.received(address, frame, now)
        if isinstance(received, Received):
            self.membership.datagram_received(received.source, address, received.data, now)
            return True
        if self._unnamed.knows(frame[:MARK_BYTES]):
            self._answer_unnamed(address, frame, now)
        elif received is not None:
            self.membership.dropped[received.kind] += 1
            if received.kind is not Rejection.FOREIGN_INCARNATION:
                return None
            self.membership.addressed(address)
        return False

    def _answer_unnamed(self, address: Address, frame: bytes, now: float) -> None:
        """Send the group's name to whoever asks for it with the key."""
        received = self._unnamed.received(address, frame, now)
        if isinstance(received, Received) and received.data == look():
            self._unnamed.send(address, received.source, group_named(self.group), now)
        elif isinstance(received, Rejected):
            self.membership.dropped[received.kind] += 1
        assert self._socket is not None, "it is open"
        for to, data in self._unnamed.frames_to_send():
            self._socket.send(data, to, self.faults)

    def refused(self, kind: str, addresses: list[Address]) -> None:
        """Count an error of the operating system, and pass the addresses on at which nobody listens."""
        self.faults[kind] += 1
        epoch = self.membership.epoch
        if not self._runs or epoch is None:
            return
        now = self._now()
        for member in epoch.roster.members:
            if member.address in addresses:
                self.membership.hint(member, now)

    def socket_lost(self, error: Exception) -> None:
        """Stop, since the operating system has closed the socket."""
        self.stop()
        self._on_failure(error)

    # Steps --------------------------------------------------------------------------------------------------

    def _start(self, now: float) -> None:
        self.membership.start(now)

    def _tick(self, now: float) -> None:
        self._note_waiting(now)
        self.membership.tick(now)

    def _note_waiting(self, now: float) -> None:
        """Note whether frames wait in the socket: what others have said may be among them."""
        waits = self._socket is not None and self._socket.waiting
        if not waits:
            self._read_at = now
        self.membership.detector.read_up_to(self._read_at if waits else None)

    def _ring(self) -> None:
        """Take a step if something is due: a deadline may have been put off since the alarm was set."""
        deadline = self.membership.next_deadline()
        if self.membership.calm and deadline is not None and self._now() < deadline:
            self._alarm = None
            self._arm()
        else:
            super()._ring()

    def _next_deadline(self) -> float | None:
        return self.membership.next_deadline()

    def _send_all(self, now: float) -> None:
        send = self._sessions.send
        for to, data in self.membership.datagrams_to_send():
            if type(to) is Member:
                send((to.host, to.port), to.incarnation, data, now)
            else:
                send(cast(Address, to), None, data, now)
        if not self._runs:
            return
        socket, faults = self._socket, self.faults
        assert socket is not None, "it is open"
        for address, frame in self._sessions.frames_to_send():
            socket.send(frame, address, faults)
