"""Binding of Chandra and Toueg's figure 6 and the membership's consensus, with corresponding names.

| figure 6                | specification `ChandraTouegByMessage` | `Consensus`, its snapshot     |
|-------------------------|---------------------------------------|-------------------------------|
| estimate_p, ts_p, r_p   | estimate, timestamp, round            | estimate, timestamp, round    |
| where p stands          | phase                                 | phase                         |
| what p has received     | inbox                                 | estimates, proposals, replies |
| state_p = decided       | taken                                 | decision                      |
| D_p                     | suspected[p]                          | suspected                     |
| in flight               | network                               | the encoded messages          |

The detector and crashes belong to the environment: a suspicion is handed to the process, a crash is not
reported to it. Messages are encoded as a change of the list encodes them, with the sender beside them, which
a link knows. No shell drives a consensus: a view change does, and takes the steps that `settle` takes.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from msgspec import msgpack

from antiphon.conformance.compare.bindings.binding import Bound, Effect, Refused, Stimulus, told_faults
from antiphon.conformance.compare.bindings.chandra_toueg_faults import FAULTS
from antiphon.conformance.compare.bindings.links import Link
from antiphon.impl.membership import consensus
from antiphon.impl.membership.consensus import Consensus, Snapshot
from antiphon.spec.lang import Step, program
from antiphon.spec.protocols.chandra_toueg import by_message as packets
from antiphon.spec.protocols.chandra_toueg import figure6 as spec
from antiphon.spec.protocols.chandra_toueg.by_message import ChandraTouegByMessage
from antiphon.spec.services import Crash, Process
from antiphon.spec.services.consensus import Decide, Propose, Value
from antiphon.spec.services.detectors import Suspect, Trust

__all__ = ["CHANDRA_TOUEG", "ChandraTouegBinding"]

_encoder = msgpack.Encoder()
_decoder = msgpack.Decoder(tuple[int, consensus.Message[int]])

_EVERYTHING_SENT = "all that was ever sent; what can still be read is in network and inbox"

_PHASES = {
    consensus.Phase.IDLE: spec.Phase.idle,
    consensus.Phase.LOOPING: spec.Phase.looping,
    consensus.Phase.GATHERING: spec.Phase.gathering,
    consensus.Phase.WAITING: spec.Phase.waiting,
    consensus.Phase.COUNTING: spec.Phase.counting,
}


class ChandraTouegBinding:
    """Binding of figure 6, message by message, and the members of one consensus, or faulty ones by their
    name.
    """

    channel = "network"
    links: tuple[Link, ...] = ()
    ordered = True
    internal = ("begin_round", "gather", "adopt", "refuse", "count")
    exempt: Mapping[str, str] = {
        "estimates": _EVERYTHING_SENT,
        "proposals": _EVERYTHING_SENT,
        "replies": _EVERYTHING_SENT,
        "proposal": "what the service has heard the application propose",
        "down": "who has crashed, which nobody tells a process",
        "crashed": "who has crashed, as the service has heard it",
        "false_so_far": "counts wrong suspicions, which the environment makes",
    }

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        """Make the binding with these constants, and members, those of a planted fault if it is named."""
        self.program = program(ChandraTouegByMessage, **constants)
        self.members = int(self.program.constants["processes"])
        self.restores = 0
        kind = Consensus if fault is None else FAULTS[fault]
        self._cores: list[Consensus[int]] = [kind(me, self.members) for me in range(self.members)]
        self._probes: list[Consensus[int]] = [kind(me, self.members) for me in range(self.members)]
        self._fresh = [core.snapshot() for core in self._cores]
        self._standing: list[Hashable] = list(self._fresh)

    def start(self, me: int) -> Effect:
        """Return a member that has proposed nothing."""
        core = self._cores[me]
        core.restore(self._fresh[me])
        return self._effect(core, ())

    def stimulus(self, step: Step) -> Stimulus:
        """Return the process and the packet that a step concerns: the receiver of a message, else the process
        that is its first argument.
        """
        if step.action == "receive":
            packet: Any = step.arguments[0]
            return Stimulus(packet.to.index, packet)
        me: Any = step.arguments[0]
        return Stimulus(me.index)

    def perform(self, me: int, snapshot: Any, step: Step, datagram: bytes | None) -> Effect:
        """Take the step in the consensus of `me`, set to a snapshot; return the effect."""
        core = self._cores[me]
        if self._standing[me] != snapshot:
            core.restore(snapshot)
            self.restores += 1
        self._standing[me] = None
        before = core.decision
        events = self._act(core, step, datagram)
        if core.decision is not None and before is None:
            events = (*events, Decide(Process(me), Value(core.decision)))
        return self._effect(core, events)

    def _act(self, core: Consensus[int], step: Step, datagram: bytes | None) -> tuple[object, ...]:
        """Take the step in a consensus. Return the events that the specification's environment emits with it,
        such as a suspicion.
        """
        match step:
            case Step("propose", (Process() as p, Value(index=value) as v)):
                core.propose(value)
                return (Propose(p, v),)
            case Step("suspect" | "detect", (Process() as p, Process(index=of) as q)):
                core.suspect(core.suspected | {of})
                return (Suspect(p, q),)
            case Step("trust", (Process() as p, Process(index=of) as q)):
                core.suspect(core.suspected - {of})
                return (Trust(p, q),)
            case Step("crash", (Process() as p,)):
                return (Crash(p),)
            case Step("receive"):
                assert datagram is not None, "a message comes in a datagram"
                core.receive(*_decoder.decode(datagram))
                return ()
        if not getattr(core, step.action)():
            raise Refused(f"process {core.me} has nothing to do for {step.action}")
        return ()

    def drive(self, me: int, snapshot: Any, step: Step | None, datagram: bytes | None) -> None:
        """Do nothing: no shell drives a consensus."""

    def offers(self, me: int, snapshot: Snapshot[int]) -> frozenset[Step]:
        """Return the steps that `Consensus.settle` would take now."""
        found: set[Step] = set()
        probe = self._probes[me]
        probe.restore(snapshot)
        for action in self.internal:
            if getattr(probe, action)():
                if action != "begin_round" or snapshot.round < int(self.program.constants["rounds"]):
                    found.add(Step(action, (Process(me), *self._looked_at(action, snapshot, probe))))
                probe.restore(snapshot)
        return frozenset(found)

    def _looked_at(self, action: str, snapshot: Snapshot[int], after: Consensus[int]) -> tuple[object, ...]:
        """Return the messages that a process used from its inbox in a step, for the step's arguments; `after`
        is the consensus after the step.
        """
        at = snapshot.round
        match action:
            case "gather":
                came = {sender: sent for of, sender, sent in snapshot.estimates if of == at}
                value = after.snapshot().estimate
                same = [sender for sender, sent in came.items() if sent.value == value] or list(came)
                chosen = min(same, key=lambda sender: (-came[sender].timestamp, sender))
                return frozenset(map(Process, came)), self._estimate(chosen, came[chosen])
            case "adopt":
                return tuple(spec.Proposal(at, Value(value)) for of, value in snapshot.proposals if of == at)
            case "count":
                return (frozenset(Process(sender) for of, sender, _ in snapshot.replies if of == at),)
        return ()

    def project(self, me: int, snapshot: Snapshot[int]) -> Mapping[str, object]:
        """Return the values of the snapshot in the specification's terms."""
        del me
        decision = None if snapshot.decision is None else Value(snapshot.decision)
        return {
            "estimate": None if snapshot.estimate is None else Value(snapshot.estimate),
            "timestamp": snapshot.timestamp,
            "round": snapshot.round,
            "phase": _PHASES[snapshot.phase],
            "suspected": tuple(q in snapshot.suspected for q in range(self.members)),
            "inbox": frozenset(
                [self._estimate(sender, sent) for _, sender, sent in snapshot.estimates]
                + [spec.Proposal(at, Value(value)) for at, value in snapshot.proposals]
                + [spec.Reply(Process(sender), at, adopted) for at, sender, adopted in snapshot.replies]
            ),
            "cast": frozenset(),
            "taken": frozenset() if decision is None else frozenset({decision}),
            "decision": decision,
        }

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """Raise an error: every compared variable is a map over processes."""
        raise AssertionError(f"{variable} is no map over processes: {shares}")

    # Messages -----------------------------------------------------------------------------------------------

    def _estimate(self, sender: int, sent: consensus.Estimate[int]) -> spec.Estimate:
        return spec.Estimate(Process(sender), sent.round, Value(sent.value), sent.timestamp)

    def _packet(self, sender: int, to: int, message: consensus.Message[int]) -> packets.Packet:
        content: object
        match message:
            case consensus.Estimate():
                content = self._estimate(sender, message)
            case consensus.Proposal():
                content = spec.Proposal(message.round, Value(message.value))
            case consensus.Decide():
                content = packets.Decided(Value(message.value))
            case consensus.Ack() | consensus.Nack():
                content = spec.Reply(Process(sender), message.round, isinstance(message, consensus.Ack))
        return packets.Packet(Process(to), content)

    def _effect(self, core: Consensus[int], events: tuple[object, ...]) -> Effect:
        """Return the effect on a member since the last effect: its snapshot, and the messages that it
        sends.
        """
        sent = tuple(
            (self._packet(core.me, to, message), _encoder.encode((core.me, message)))
            for to, message in core.outputs()
        )
        after = self._standing[core.me] = core.snapshot()
        return Effect(after, sent, events)


CHANDRA_TOUEG = Bound(
    ChandraTouegBinding,
    small={"processes": 3, "values": 2, "crashes": 0, "false_suspicions": 1, "rounds": 1},
    every={"crashes": 1, "false_suspicions": 2, "rounds": 2},
    random={"processes": 3, "values": 2, "crashes": 1, "false_suspicions": 2, "rounds": 2},
    faults=told_faults(FAULTS),
    never=frozenset({"receive_cast", "receive_last_cast"}),
)
"""Binding of the consensus of a membership."""
