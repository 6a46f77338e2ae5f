"""Relabelling of a copy by its receiver: the layer below keeps the original message, and sends it again.

Source: B. Ban, "Design of SEQUENCER, a total order protocol using a sequencer", 2005, section "Overview", the
example.

What is modelled: one message of B (the second process), multicast by the coordinator A (the first).
`window[p]` is the sender that p's copy in NAKACK names, `None` where p has no copy. A process that lacks the
message asks those that have one; a copy that arrives is filed under the sender that it names. NAKACK reads
A's stream for A's message: a copy that names B is filed in a stream that nobody reads, and the message is
asked for from B.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import Losses
from antiphon.spec.lang import In, Map, action, emit, everywhere, record, require
from antiphon.spec.services import Broadcast, Deliver, Group, Message, Process


@record
class Copy:
    """The coordinator's message on its way to one process, as sent by `source`."""

    to: Process
    source: Process


@record
class Request:
    """Packet: `sender` asks the process `to` for the first message of `source`."""

    to: Process
    sender: Process
    source: Process


class SequencerCopy(Losses[Copy | Request], Group):
    """One message, relabelled by each process that delivers it."""

    window: Map[Process, Process | None] = everywhere(None)
    misfiled: Map[Process, bool] = everywhere(False)
    multicast: bool = False

    def unwrap(self, p: Process) -> None:
        """Relabel the message at p ("replaces M's sender address with B"), and pass it up."""
        self.relabel(p)
        emit(Deliver(p, Message(0)))

    def relabel(self, p: Process) -> None:
        """Relabel "on a (shallow) *copy* of M": the message that NAKACK keeps at p still names A (reading
        `relabelling`).
        """
        self.window[p] = Process(0)

    @action
    def send(self, p: Process) -> None:
        """Multicast, as coordinator, the message of the second process, and receive it at once."""
        require(p.index == 0 and not self.multicast)
        self.multicast = True
        emit(Broadcast(Process(1), Message(0)))
        self.network |= {Copy(q, p) for q in self.each(Process) if q != p}
        self.unwrap(p)

    @action(fairness="weak")
    def receive(self, packet: Annotated[Copy, In("network")]) -> None:
        """Receive a copy at its receiver: NAKACK files it under the sender that the copy names, and passes up
        the first message of A's stream, once.
        """
        p = packet.to
        self.network -= {packet}
        if packet.source.index != 0:
            self.misfiled[p] = True
        elif self.window[p] is None:
            self.unwrap(p)

    @action(fairness="weak")
    def ask(self, p: Process, q: Process) -> None:
        """Ask, at p, for the message that p lacks: p asks A, or B if p has received a copy that names B as
        its sender.
        """
        require(self.multicast and p != q and self.window[p] is None)
        require(q.index == (1 if self.misfiled[p] else 0))
        self.network |= {Request(q, p, q)}

    @action(fairness="weak")
    def answer(self, packet: Annotated[Request, In("network")]) -> None:
        """Answer a request to A with A's copy of the message; B, which has multicast nothing, sends none."""
        self.network -= {packet}
        kept = self.window[packet.to]
        if kept is not None and packet.to.index == 0:
            self.network |= {Copy(packet.sender, kept)}
