"""Planted faults in the implementation of Chandra and Toueg's consensus: members with one plausible mistake
each.

`antiphon lockstep chandra-toueg --fault NAME` shows the shortest trace to where it differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from antiphon.impl.membership.consensus import (
    Ack,
    Consensus,
    Decide,
    Estimate,
    Message,
    Nack,
    Phase,
    Proposal,
)

__all__ = ["FAULTS"]


class HalfIsEnough(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (phases 2 and 4), off by one: half of the members count
    as a majority. Correct code waits for more than half.
    """

    @property
    def _majority(self) -> int:
        return self.members // 2


class WaitsForOneMore(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (phases 2 and 4), off by one: the coordinator waits for
    one member more than a majority. Correct code goes on with a majority.
    """

    @property
    def _majority(self) -> int:
        return self.members // 2 + 2


class IgnoresTimestamps(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (phase 2): the coordinator proposes the estimate of the
    first member. Correct code proposes one with the largest timestamp.
    """

    def gather(self) -> bool:
        """Propose as if all estimates had the same timestamp."""
        before = self._estimates
        self._estimates = {key: Estimate(key[0], sent.value, 0) for key, sent in before.items()}
        done = super().gather()
        self._estimates = before
        return done


class TakesTheOldest(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (phase 2), wrong sign: the coordinator proposes the
    estimate with the smallest timestamp. Correct code takes the largest.
    """

    def gather(self) -> bool:
        """Propose by negated timestamps."""
        before = self._estimates
        self._estimates = {key: Estimate(key[0], sent.value, -sent.timestamp) for key, sent in before.items()}
        done = super().gather()
        self._estimates = before
        return done


class ProposesItsOwn(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (phase 2): the coordinator proposes its own estimate.
    Correct code proposes one with the largest timestamp.
    """

    def gather(self) -> bool:
        """Propose the coordinator's own estimate."""
        own, count = self._estimate, len(self._outputs)
        if not super().gather():
            return False
        self._estimate = own
        assert own is not None, "it has gathered"
        self._outputs[count:] = [
            send._replace(message=Proposal(self._round, own)) for send in self._outputs[count:]
        ]
        self._proposals[self._round] = own
        return True


class LeavesOneOut(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (phase 2), off by one: the last member does not get the
    proposal. Correct code sends it to all.
    """

    def gather(self) -> bool:
        """Propose correctly, and then drop the proposal to the last member."""
        done = super().gather()
        last = max(process for process in range(self.members) if process != self.me)
        self._outputs = [
            send
            for send in self._outputs
            if send.to != last or not isinstance(send.message, Proposal)
        ]
        return done


class KeepsItsTimestamp(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (phase 3), forgotten update: an adopted estimate keeps
    the old timestamp. Correct code sets it to the round.
    """

    def adopt(self) -> bool:
        """Adopt the proposal, and restore the old timestamp."""
        before = self._timestamp
        done = super().adopt()
        self._timestamp = before
        return done


class AdoptsNothing(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (phase 3), forgotten update: a proposal is acknowledged
    and not adopted. Correct code does both.
    """

    def adopt(self) -> bool:
        """Acknowledge the proposal, and restore the old estimate."""
        before = self._estimate
        done = super().adopt()
        self._estimate = before
        return done


class AcknowledgesSuspected(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (phase 3), wrong answer: a member that suspects the
    coordinator sends an ack. Correct code sends a nack.
    """

    def _reply(self, reply: Ack | Nack) -> None:
        """Send an ack, whichever reply is correct."""
        super()._reply(Ack(reply.round))


class NeverRefuses(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (phase 3), missing branch: a member waits for a
    suspected coordinator. Correct code sends a nack.
    """

    def refuse(self) -> bool:
        """Return without refusing: the member waits."""
        return False


class RefusesFirst(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (phase 3), wrong order: a member that suspects the
    coordinator refuses, although it has the proposal. Correct code adopts a proposal that it has.
    """

    def adopt(self) -> bool:
        """Refuse, if the coordinator is suspected, before adopting."""
        suspected = self.coordinator(self._round) in self.suspected
        if suspected and self.phase is Phase.WAITING and self.decision is None:
            self._reply(Nack(self._round))
            return True
        return super().adopt()


class SuspectsForEver(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (D_p), lost update: an ended suspicion stays. Correct
    code takes over the detector's present suspicions.
    """

    def suspect(self, suspected: frozenset[int]) -> None:
        """Add new suspicions, and keep those that have ended."""
        super().suspect(self.suspected | suspected)


class DecidesOnAnyAnswers(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (phase 4), missing condition: a majority of any answers
    decides. Correct code needs a majority of acks.
    """

    def count(self) -> bool:
        """Count every answer as an ack."""
        self._replies = dict.fromkeys(self._replies, True)
        return super().count()


class GivesUpOnOneNack(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (phase 4), too strict: one nack ends the round. Correct
    code decides with a majority of acks.
    """

    def count(self) -> bool:
        """Count all answers as nacks if there is one."""
        if not all(self._replies.values()):
            self._replies = dict.fromkeys(self._replies, False)
        return super().count()


class DecidesInSilence(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (phase 4), forgotten message: a member that decides
    tells nobody. Correct code broadcasts the decision.
    """

    def _decide(self, value: int) -> None:
        """Decide, and send the decision to nobody."""
        before = list(self._outputs)
        super()._decide(value)
        self._outputs = before


class TellsNobodyElse(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (R-broadcast), half a broadcast: a receiver of the
    decision does not send it on. Correct code does, so that all get it.
    """

    def receive(self, sender: int, message: Message[int]) -> None:
        """Receive the decision, and drop the copies for others."""
        super().receive(sender, message)
        self._outputs = [send for send in self._outputs if not isinstance(send.message, Decide)]


class ForgetsWhatComesEarly(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (rounds), lost message: a message for a later round is
    dropped. Correct code keeps it.
    """

    def receive(self, sender: int, message: Message[int]) -> None:
        """Drop a message of a later round."""
        if isinstance(message, Decide) or message.round <= self._round:
            super().receive(sender, message)


class KeepsWhatComesLate(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (rounds), leak: a message of an earlier round is kept.
    Correct code drops it.
    """

    def receive(self, sender: int, message: Message[int]) -> None:
        """Keep a message of an earlier round."""
        if self.decision is None and not isinstance(message, Decide) and message.round < self._round:
            self._keep(sender, message)
        super().receive(sender, message)


class OneCoordinator(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (c_p), wrong turn: the first coordinator has all rounds.
    Correct code changes the coordinator every round.
    """

    def coordinator(self, round_: int) -> int:
        """Return the coordinator of the first round for every round."""
        del round_
        return 1 % self.members


class CountsFromNought(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus (c_p), off by one: round 1 belongs to member 0. Correct
    code gives it to member 1.
    """

    def coordinator(self, round_: int) -> int:
        """Return member (round - 1) modulo n as the coordinator."""
        return (round_ - 1) % self.members


class GoesOnUndecided(Consensus[int]):
    """Planted fault in Chandra and Toueg's consensus, forgotten state: a member that has decided keeps its
    messages, and reads them. Correct code drops them.
    """

    def _decide(self, value: int) -> None:
        """Decide, and keep the stored messages."""
        before = self._estimates, self._proposals, self._replies
        super()._decide(value)
        self._estimates, self._proposals, self._replies = before


FAULTS: Mapping[str, type[Consensus[Any]]] = {
    "half-is-enough": HalfIsEnough,
    "waits-for-one-more": WaitsForOneMore,
    "ignores-timestamps": IgnoresTimestamps,
    "takes-the-oldest": TakesTheOldest,
    "proposes-its-own": ProposesItsOwn,
    "leaves-one-out": LeavesOneOut,
    "keeps-its-timestamp": KeepsItsTimestamp,
    "adopts-nothing": AdoptsNothing,
    "acknowledges-suspected": AcknowledgesSuspected,
    "never-refuses": NeverRefuses,
    "refuses-first": RefusesFirst,
    "suspects-for-ever": SuspectsForEver,
    "decides-on-any-answers": DecidesOnAnyAnswers,
    "gives-up-on-one-nack": GivesUpOnOneNack,
    "decides-in-silence": DecidesInSilence,
    "tells-nobody-else": TellsNobodyElse,
    "forgets-what-comes-early": ForgetsWhatComesEarly,
    "keeps-what-comes-late": KeepsWhatComesLate,
    "one-coordinator": OneCoordinator,
    "counts-from-nought": CountsFromNought,
    "goes-on-undecided": GoesOnUndecided,
}
