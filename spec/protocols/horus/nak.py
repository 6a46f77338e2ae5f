"""NAK: numbers casts, requests missing ones, and says LOST_MESSAGE if no member has one any more.

Source: van Renesse, Birman, Friedman, Hayden, Karr 1995: "it pushes a sequence number on each outgoing
message, that the receiver can check. If the receiver detects message loss, it sends back a negative
acknowledgement (NAK). The NAK layer buffers some messages for retransmission, and will retransmit if the
message is still buffered. If not, it will send a place holder that will result in a LOST_MESSAGE event when
received. Each endpoint will occasionally multicast its protocol status, so buffered messages may be flushed,
and window-based flow control may be implemented."

What is decided here, because the text is silent:
1. "some messages" are the last `buffer` of each member, without those that every member of the view has
   acknowledged by its status.
2. A message that comes early is kept. A place holder that comes early is not; it is asked for again.
3. A NAK asks for the first missing number, as often as it takes: whenever it is missing and no NAK for it is
   in flight.
4. A status that would tell its receiver nothing new is not sent: it would change nothing.
Detection of failures by missing status is not modelled: it needs a clock, and its result is MBRSHIP's
business.
"""

from __future__ import annotations

from antiphon.spec.lang import Const, Map, Set, action, emit, everywhere, on, require
from antiphon.spec.protocols.horus.boundaries import (
    ComCast,
    ComReceive,
    ComSend,
    ComView,
    Data,
    Envelope,
    LastPlace,
    NakCast,
    NakLost,
    NakReceive,
    Negative,
    NextPlace,
    Place,
    PlaceHolder,
    Status,
    Unit,
)
from antiphon.spec.protocols.horus.com import Com
from antiphon.spec.services import Process


class Nak(Com):
    """The layer NAK.

    State: `oldest[p]` the first of p's casts that it still buffers, `expected[p][q]` the number that p needs
    next from q, `known[p][q]` the highest number that p knows q to have used, `early[p][q]` what came too
    early, `acknowledged[p][q]` what q said it has of p's.
    """

    buffer: Const[int] = 2

    oldest: Map[Process, NextPlace] = everywhere(1)
    expected: Map[Process, Map[Process, NextPlace]] = everywhere(everywhere(1))
    known: Map[Process, Map[Process, LastPlace]] = everywhere(everywhere(0))
    early: Map[Process, Map[Process, Set[Unit]]] = everywhere(everywhere(Set()))
    acknowledged: Map[Process, Map[Process, LastPlace]] = everywhere(everywhere(0))

    # Downwards ----------------------------------------------------------------------------------------------

    @on(NakCast)
    def number(self, call: NakCast) -> None:
        """Push a sequence number and buffer the message; the oldest one falls out of a full buffer."""
        p = call.process
        k = self.cast[p] + 1
        self.cast[p] = k
        if k - self.oldest[p] >= self.buffer:
            self.oldest[p] += 1
        emit(ComCast(p, Data(Unit(p, k))))

    # Upwards ------------------------------------------------------------------------------------------------

    def stream(self, source: Process | None) -> Process:
        """Return the process to whose sequence a header belongs; if COM pushes no address, all senders look
        like one.
        """
        return source if source is not None else Process(0)

    @on(ComReceive)
    def examine(self, call: ComReceive) -> None:
        """Receive a packet: take its NAK header off, and do what the kind of the header demands."""
        p = call.process
        q = self.stream(call.source)
        header = call.header
        if isinstance(header, Data):
            self.take_in(p, q, header.unit)
        elif isinstance(header, PlaceHolder):
            self.give_up(p, q, header.place)
        elif isinstance(header, Negative):
            self.answer(p, q, header.place)
        else:
            self.note(p, q, header)

    def take_in(self, p: Process, q: Process, unit: Unit) -> None:
        """Take in a message of q: drop an old one, keep an early one, and pass up what is next."""
        if unit.place >= self.expected[p][q]:
            self.known[p][q] = max(self.known[p][q], unit.place)
            if not any(other.place == unit.place for other in self.early[p][q]):
                self.early[p][q] |= {unit}
            self.pass_up(p, q)

    def pass_up(self, p: Process, q: Process) -> None:
        """Pass up the messages of q that are next, in order, up to the first gap."""
        for k in self.each(Place):
            author = next((r for r in self.each(Process) if Unit(r, k) in self.early[p][q]), None)
            if k == self.expected[p][q] and author is not None:
                self.early[p][q] -= {Unit(author, k)}
                self.expected[p][q] = k + 1
                emit(NakReceive(p, q, Unit(author, k)))

    def give_up(self, p: Process, q: Process, k: Place) -> None:
        """Give up the next number, whose place holder has come: LOST_MESSAGE goes up."""
        if k == self.expected[p][q]:
            self.expected[p][q] = k + 1
            emit(NakLost(p, q, k))
            self.pass_up(p, q)

    def answer(self, p: Process, q: Process, k: Place) -> None:
        """Answer a NAK with the message if it is still buffered, else with a place holder."""
        if k >= self.oldest[p]:
            emit(ComSend(p, q, Data(Unit(p, k))))
        else:
            emit(ComSend(p, q, PlaceHolder(k)))

    def note(self, p: Process, q: Process, status: Status) -> None:
        """Record, from a status of q, how many of p's casts q has, and how many casts q has made."""
        self.acknowledged[p][q] = max(self.acknowledged[p][q], status.received)
        self.known[p][q] = max(self.known[p][q], status.sent)
        self.release(p)

    @on(ComView)
    def forget(self, call: ComView) -> None:
        """Note that a member left the view, so that its acknowledgement is no longer waited for."""
        self.release(call.process)

    def release(self, p: Process) -> None:
        """Release from p's buffer the casts of p that every other member of the view has received."""
        self.oldest[p] = max(self.oldest[p], self.held_by_all(p) + 1)

    def held_by_all(self, p: Process) -> LastPlace:
        """Return how many of p's casts every other member of the view has received, as far as p knows."""
        return min(
            (self.acknowledged[p][q] for q in self.each(Process) if q != p and q not in self.outside[p]),
            default=self.cast[p],
        )

    # Timers -------------------------------------------------------------------------------------------------

    @action(fairness="weak")
    def ask(self, p: Process, q: Process) -> None:
        """Send a negative acknowledgement for the first number that p misses from q."""
        k = self.expected[p][q]
        require(p != q and k <= self.known[p][q] and q not in self.outside[p])
        require(k <= self.casts and Envelope(q, self.address(p), Negative(k)) not in self.network)
        emit(ComSend(p, q, Negative(k)))

    def news(self, p: Process) -> Status:
        """Return the part of p's status that is the same for every reader: the number of p's own casts.
        `tell` adds the field `received`, which differs by reader.
        """
        return Status(0, self.cast[p])

    def has_news(self, p: Process, q: Process) -> bool:
        """Return True if the status of p would change anything at q."""
        return self.acknowledged[q][p] < self.expected[p][q] - 1 or self.known[q][p] < self.news(p).sent

    @action(fairness="weak")
    def tell(self, p: Process) -> None:
        """Multicast p's status; each envelope holds the part that its receiver reads."""
        require(any(q != p and q not in self.outside[p] and self.has_news(p, q) for q in self.each(Process)))
        for q in self.each(Process):
            if q != p and q not in self.outside[p] and self.has_news(p, q):
                emit(ComSend(p, q, Status(self.expected[p][q] - 1, self.news(p).sent)))


class Unnumbered(Com):
    """Layer in NAK's place without numbers: it hands up whatever COM hands up."""

    @on(NakCast)
    def pass_down(self, call: NakCast) -> None:
        """Cast a message without a sequence number; the unit's place only names the cast, and no receiver
        reads it.
        """
        p = call.process
        self.cast[p] += 1
        emit(ComCast(p, Data(Unit(p, self.cast[p]))))

    @on(ComReceive)
    def pass_on(self, call: ComReceive) -> None:
        """Pass up every unit that comes, without regard to its number."""
        header = call.header
        source = call.source
        if source is not None and isinstance(header, Data):
            emit(NakReceive(call.process, source, header.unit))
