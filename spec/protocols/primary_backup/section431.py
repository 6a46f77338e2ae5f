"""Primary-backup replication: request, update, acknowledgements, reply.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels",
2002, section 4.3.1, second paragraph. Its figures 27 and 28 are drawings that are not available, so that only
what the prose says is modelled.

| section 4.3.1                               | here                                                       |
|---------------------------------------------|------------------------------------------------------------|
| the primary "performs the corresponding operation" | `handle`: it broadcasts the request, and delivers it |
| "sends to the backup server an update message"     | `Update`, to each backup                             |
| an "acknowledgement from all backups"       | `Ack`; `acked` are those that the primary has               |
| "returns the reply to the client"           | `reply`: the request is in `replied`                        |
| "one of the backup servers is chosen"       | `take_over`: any of them, and all know it at once           |

What is abstracted, and why that is sound: channels are reliable between processes that are up, and keep no
order; a client's request is there when the primary is ready for it. What is decided, because the text is
silent: a new primary begins anew, waits for no acknowledgement, and takes requests that it has not performed;
an update is performed whoever sent it.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import Crashes, InFlight
from antiphon.spec.lang import Between, In, Map, Set, action, emit, environment, everywhere, record, require
from antiphon.spec.services.events import Broadcast, Deliver, Message, Process


@record
class Update:
    """The change that a request makes, on its way to a backup."""

    to: Process
    sender: Process
    message: Message


@record
class Ack:
    """Acknowledgement: a backup is up to date with a request."""

    to: Process
    sender: Process
    message: Message


class PrimaryBackup(InFlight[Update | Ack], Crashes):
    """Primary-backup replication: one process is the primary, the others are its backups."""

    primary: Process = Process(0)
    performed: Map[Process, Set[Message]] = everywhere(Set())
    busy: Message | None = None
    acked: Set[Process] = Set()
    replied: Set[Message] = Set()
    handled: Annotated[int, Between(0, "messages")] = 0

    @action
    def handle(self, p: Process, m: Message) -> None:
        """Perform request m at the primary p, when no other request waits for its acknowledgements, and send
        the update to all backups.
        """
        require(p == self.primary and self.busy is None and m.index == self.handled)
        self.handled += 1
        self.busy = m
        self.acked = Set()
        emit(Broadcast(p, m))
        self.perform(p, m)
        self.network |= {Update(q, p, m) for q in self.each(Process) if q != p}

    def perform(self, p: Process, m: Message) -> None:
        """Perform request m at p."""
        self.performed[p] |= {m}
        emit(Deliver(p, m))

    @action(fairness="weak")
    def receive_update(self, packet: Annotated[Update, In("network")]) -> None:
        """Perform an update at a backup, and acknowledge it."""
        self.network -= {packet}
        if packet.message not in self.performed[packet.to]:
            self.perform(packet.to, packet.message)
        self.network |= {Ack(packet.sender, packet.to, packet.message)}

    @action(fairness="weak")
    def receive_ack(self, packet: Annotated[Ack, In("network")]) -> None:
        """Note at the primary that a backup is up to date."""
        self.network -= {packet}
        if packet.to == self.primary and self.busy == packet.message:
            self.acked |= {packet.sender}

    @action(fairness="weak")
    def reply(self, p: Process) -> None:
        """Reply to the client, once all backups have acknowledged."""
        m = self.busy
        require(p == self.primary and m is not None)
        require(self.has_acks(p))
        if m is not None:
            self.replied |= {m}
        self.busy = None
        self.acked = Set()

    def has_acks(self, p: Process) -> bool:
        """Return True if all backups have acknowledged."""
        return all(q in self.acked for q in self.each(Process) if q != p)

    @action(fairness="weak")
    def take_over(self, p: Process) -> None:
        """Choose a backup as the new primary, if the primary has failed."""
        require(self.down[self.primary])
        self.primary = p
        self.busy = None
        self.acked = Set()

    @environment
    def crash(self, p: Process) -> None:
        """Crash p, which stops for ever; nothing reaches p any more."""
        super().crash(p)
        self.network -= {packet for packet in self.network if packet.to == p}

    @environment
    def lose(self, packet: Annotated[Update | Ack, In("network")]) -> None:
        """Lose a message of a process that has crashed."""
        require(self.down[packet.sender])
        self.network -= {packet}
