"""Readings of four sentences of figure 16 that have several meanings; figure16.py has the printed one."""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import In, action, ambiguity
from antiphon.spec.protocols.rbp.figure16 import Ack, Body, Number, Rbp
from antiphon.spec.services import Process

nesting = ambiguity(
    "nesting",
    "printed",
    about="which `if` the `else` of line 22 belongs to: that of line 20, as it is aligned in print, or that "
    "of line 19, so that a message "
    "that has no number yet is stored",
)
waiting = ambiguity(
    "waiting",
    "concurrent",
    about="whether a process that waits inside `when receive` (lines 34-49) receives other messages "
    "meanwhile",
)
asked = ambiguity(
    "asked",
    "the sequencer",
    about="whom a request goes to (lines 29, 31, 35, 43 name nobody; figure 12 says `to all`): the process "
    "that assigned the number which "
    "shows that something is missing, and so has everything up to it, or everybody",
)
answering = ambiguity(
    "answering",
    "named",
    about="who tells the sender of an old token what followed: the process that the token names (line 38), "
    "or the current sequencer (text)",
)


@nesting.reading("comment")
class NestingComment(Rbp):
    """Reading of RBP, line 22: the `else` belongs to the `if` of line 19, as the comment of figure 25, line
    24, needs (“include the message (m,B) in the receive queue”).
    """

    def take_message(self, p: Process, body: Body) -> None:
        if self.is_numbered(p, body.identifier):
            if self.is_toknext(p):
                self.tell_number(p, body.identifier)
        else:
            self.add_message(p, body)


@waiting.reading("blocking")
class WaitingBlocking(Rbp):
    """Reading of RBP, lines 34-49: a process inside a loop or a wait of `when receive` takes no other
    message.
    """

    def can_receive(self, p: Process) -> bool:
        return self.arriving[p] is None and not self.holding[p] and self.passed[p] is None


@asked.reading("all")
class AskedAll(Rbp):
    """Reading of RBP, lines 29, 31, 35 and 43: requests go to all processes, as in figure 12."""

    def is_asked(self, p: Process, q: Process, k: Number) -> bool:
        return q != p


@answering.reading("current")
class AnsweringCurrent(Rbp):
    """Reading of RBP, section 3.1.3 (“the acknowledgements must be retransmitted by the current sequencer”):
    the present holder answers an old token, also one that names another process.
    """

    @action(fairness="weak", per="packet")
    def receive_ack(self, packet: Annotated[Ack, In("network")]) -> None:
        super().receive_ack(packet)
        if self.holding[packet.to] and packet.next_holder is not None:
            self.tell_what_followed(packet.to, self.predecessor(packet.next_holder), packet.number)

    def retransmits_acks(self, p: Process, seqnum: Number) -> None:
        """Do nothing: in this reading only the present holder answers an old token (`receive_ack`)."""


READINGS = (nesting, waiting, asked, answering)
