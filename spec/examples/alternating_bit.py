"""One bit tells a new value from one that is sent again, over channels that lose.

The sender sends a value with a bit again and again until the bit comes back; the receiver acknowledges the
last bit that it saw, again and again. Both channels keep order and lose anything.

`OneAtATime` is the abstract purpose of the protocol: a value is sent, received, acknowledged, and then the
next one is sent. `AlternatingBitIsOneAtATime` states that the protocol refines it. All variables of the
machine are variables of the protocol, so the mapping defines none. The steps of the channels are stutters,
and so is every message and every acknowledgement that comes twice.

Source: L. Lamport, "Specifying Systems" (2002), chapter 14; the TLA+ modules AlternatingBit and ABCorrectness
of the public TLA+ examples.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    AtMost,
    Between,
    Const,
    Index,
    Seq,
    Spec,
    action,
    constraint,
    environment,
    initial,
    leads_to,
    record,
    require,
    witness,
)


class Data(Index, size="values"):
    """Value that the sender sends."""


Bit = Annotated[int, Between(0, 1)]


@record
class Message:
    """Message: a value with the bit of its turn."""

    bit: Bit
    value: Data


class Ends(Spec):
    """State of the two ends: the sender's value, its bit, and the bit that came back; the receiver's last bit
    and last value.
    """

    values: Const[int] = 2

    sender_bit: Bit = 0
    acknowledged: Bit = 0
    receiver_bit: Bit = 0
    sent: Data = Data(0)
    received: Data = Data(0)

    @initial
    def begin(self, bit: Bit, sent: Data, received: Data) -> None:
        """Begin with no value in flight."""
        self.sender_bit = bit
        self.acknowledged = bit
        self.receiver_bit = bit
        self.sent = sent
        self.received = received


class OneAtATime(Ends):
    """Abstract machine of one value at a time: the value is sent, received, and acknowledged, before the next
    is sent.
    """

    @action
    def send(self, d: Data) -> None:
        """Send the value d, once the value before it was acknowledged."""
        require(self.acknowledged == self.sender_bit)
        self.sent = d
        self.sender_bit = 1 - self.sender_bit

    @action(fairness="weak")
    def receive(self) -> None:
        """Receive the value that was sent last."""
        require(self.receiver_bit != self.sender_bit)
        self.receiver_bit = self.sender_bit
        self.received = self.sent

    @action(fairness="weak")
    def learn(self) -> None:
        """Note at the sender that the value was received."""
        require(self.receiver_bit != self.acknowledged)
        self.acknowledged = self.receiver_bit

    @witness
    def HasArrived(self) -> bool:
        """Witness: a value has arrived, and the sender does not know yet."""
        return self.receiver_bit == self.sender_bit and self.acknowledged != self.sender_bit


class AlternatingBit(Ends):
    """The protocol: two channels, of which the exploration keeps at most `length` messages each."""

    length: Const[int] = 2

    messages: Annotated[Seq[Message], AtMost("length")] = ()
    acknowledgements: Annotated[Seq[Bit], AtMost("length")] = ()

    @constraint("send_new_value", "send_again")
    def HasRoomForMessage(self) -> bool:
        """Bound: the channel of messages has room for one more."""
        return len(self.messages) < self.length

    @constraint("send_acknowledgement")
    def HasRoomForAcknowledgement(self) -> bool:
        """Bound: the channel of acknowledgements has room for one more."""
        return len(self.acknowledgements) < self.length

    @action
    def send_new_value(self, d: Data) -> None:
        """Send the new value d with the other bit, once the value before it was acknowledged."""
        require(self.acknowledged == self.sender_bit)
        self.sent = d
        self.sender_bit = 1 - self.sender_bit
        self.messages += (Message(self.sender_bit, d),)

    @action(fairness="weak")
    def send_again(self) -> None:
        """Send the last value again, as long as it is not acknowledged."""
        require(self.acknowledged != self.sender_bit)
        self.messages += (Message(self.sender_bit, self.sent),)

    @action(fairness="strong")
    def receive_message(self) -> None:
        """Receive the first message of the channel, whether its value is new or repeated."""
        require(len(self.messages) > 0)
        self.receiver_bit = self.messages[0].bit
        self.received = self.messages[0].value
        self.messages = self.messages[1:]

    @action(fairness="weak")
    def send_acknowledgement(self) -> None:
        """Acknowledge the last value that came, at any time."""
        self.acknowledgements += (self.receiver_bit,)

    @action(fairness="strong")
    def receive_acknowledgement(self) -> None:
        """Receive the first acknowledgement of the channel."""
        require(len(self.acknowledgements) > 0)
        self.acknowledged = self.acknowledgements[0]
        self.acknowledgements = self.acknowledgements[1:]

    @environment
    def lose_message(self, i: Annotated[int, Between(0, "length - 1")]) -> None:
        """Lose any message of the channel."""
        require(i < len(self.messages))
        self.messages = self.messages[:i] + self.messages[i + 1 :]

    @environment
    def lose_acknowledgement(self, i: Annotated[int, Between(0, "length - 1")]) -> None:
        """Lose any acknowledgement of the channel."""
        require(i < len(self.acknowledgements))
        self.acknowledgements = self.acknowledgements[:i] + self.acknowledgements[i + 1 :]

    @witness
    def ComesTwice(self) -> bool:
        """Witness: a value has arrived, and is on its way once more."""
        arrived = self.receiver_bit == self.sender_bit and self.acknowledged != self.sender_bit
        return arrived and len(self.messages) == 2

    def is_under_way(self, d: Data) -> bool:
        """Return True if value d is sent and not yet acknowledged."""
        return self.sent == d and self.sender_bit != self.acknowledged

    def has_come(self, d: Data) -> bool:
        """Return True if d is the last value that arrived."""
        return self.received == d

    sent_is_received = leads_to("is_under_way", "has_come")


class AlternatingBitIsOneAtATime(AlternatingBit, refines=OneAtATime):
    """Refinement: the variables of the two ends are those of the machine `OneAtATime`."""
