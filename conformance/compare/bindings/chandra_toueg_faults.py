"""Plausible mistakes in an implementation of Chandra and Toueg's consensus: members with one thing wrong.

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
    """Off by one (phases 2 and 4): half of the members count as a majority."""

    @property
    def _majority(self) -> int:
        return self.members // 2


class WaitsForOneMore(Consensus[int]):
    """Off by one (phases 2 and 4): one more than a majority is awaited."""

    @property
    def _majority(self) -> int:
        return self.members // 2 + 2


class IgnoresTimestamps(Consensus[int]):
    """Wrong choice (phase 2): the estimate of the first member is proposed, whatever its timestamp."""

    def gather(self) -> bool:
        """Take all for equally new."""
        before = self._estimates
        self._estimates = {key: Estimate(key[0], sent.value, 0) for key, sent in before.items()}
        done = super().gather()
        self._estimates = before
        return done


class TakesTheOldest(Consensus[int]):
    """Wrong sign (phase 2): the estimate with the smallest timestamp is proposed."""

    def gather(self) -> bool:
        """Turn the timestamps round."""
        before = self._estimates
        self._estimates = {key: Estimate(key[0], sent.value, -sent.timestamp) for key, sent in before.items()}
        done = super().gather()
        self._estimates = before
        return done


class ProposesItsOwn(Consensus[int]):
    """Wrong choice (phase 2): the coordinator proposes its own estimate."""

    def gather(self) -> bool:
        """Say the own one."""
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
    """Off by one (phase 2): the last member does not get the proposal."""

    def gather(self) -> bool:
        """Gather as usual, then drop the proposal to the last member."""
        done = super().gather()
        last = max(process for process in range(self.members) if process != self.me)
        self._outputs = [
            send
            for send in self._outputs
            if send.to != last or not isinstance(send.message, Proposal)
        ]
        return done


class KeepsItsTimestamp(Consensus[int]):
    """Forgotten update (phase 3): what is adopted keeps the timestamp of what was there before."""

    def adopt(self) -> bool:
        """Put the old one back."""
        before = self._timestamp
        done = super().adopt()
        self._timestamp = before
        return done


class AdoptsNothing(Consensus[int]):
    """Forgotten update (phase 3): the proposal is acknowledged, and not adopted."""

    def adopt(self) -> bool:
        """Put the old one back."""
        before = self._estimate
        done = super().adopt()
        self._estimate = before
        return done


class AcknowledgesSuspected(Consensus[int]):
    """Wrong answer (phase 3): who suspects the coordinator acknowledges what it has not received."""

    def _reply(self, reply: Ack | Nack) -> None:
        """Ack."""
        super()._reply(Ack(reply.round))


class NeverRefuses(Consensus[int]):
    """Missing branch (phase 3): a suspected coordinator is waited for."""

    def refuse(self) -> bool:
        """Wait."""
        return False


class RefusesFirst(Consensus[int]):
    """Wrong order (phase 3): who suspects the coordinator refuses, although its proposal has come."""

    def adopt(self) -> bool:
        """Refuse."""
        suspected = self.coordinator(self._round) in self.suspected
        if suspected and self.phase is Phase.WAITING and self.decision is None:
            self._reply(Nack(self._round))
            return True
        return super().adopt()


class SuspectsForEver(Consensus[int]):
    """Lost update (D_p): a suspicion that has ended is kept."""

    def suspect(self, suspected: frozenset[int]) -> None:
        """Forget nothing."""
        super().suspect(self.suspected | suspected)


class DecidesOnAnyAnswers(Consensus[int]):
    """Missing condition (phase 4): a majority of answers is taken for a majority of acks."""

    def count(self) -> bool:
        """Take each for an ack."""
        self._replies = dict.fromkeys(self._replies, True)
        return super().count()


class GivesUpOnOneNack(Consensus[int]):
    """Stricter than needed (phase 4): one nack is enough to begin another round."""

    def count(self) -> bool:
        """Take all for nacks where there is one."""
        if not all(self._replies.values()):
            self._replies = dict.fromkeys(self._replies, False)
        return super().count()


class DecidesInSilence(Consensus[int]):
    """Forgotten message (phase 4): who decides tells nobody."""

    def _decide(self, value: int) -> None:
        """Say nothing."""
        before = list(self._outputs)
        super()._decide(value)
        self._outputs = before


class TellsNobodyElse(Consensus[int]):
    """Half a broadcast (R-broadcast): who receives the decision does not send it on."""

    def receive(self, sender: int, message: Message[int]) -> None:
        """Drop the copies."""
        super().receive(sender, message)
        self._outputs = [send for send in self._outputs if not isinstance(send.message, Decide)]


class ForgetsWhatComesEarly(Consensus[int]):
    """Lost message (rounds): what comes for a later round is dropped."""

    def receive(self, sender: int, message: Message[int]) -> None:
        """Look at the round."""
        if isinstance(message, Decide) or message.round <= self._round:
            super().receive(sender, message)


class KeepsWhatComesLate(Consensus[int]):
    """Leak (rounds): what comes for an earlier round is kept."""

    def receive(self, sender: int, message: Message[int]) -> None:
        """Keep it."""
        if self.decision is None and not isinstance(message, Decide) and message.round < self._round:
            self._keep(sender, message)
        super().receive(sender, message)


class OneCoordinator(Consensus[int]):
    """Wrong turn (c_p): the coordinator of the first round has all rounds."""

    def coordinator(self, round_: int) -> int:
        """Give each round to one member."""
        del round_
        return 1 % self.members


class CountsFromNought(Consensus[int]):
    """Off by one (c_p): round 1 is that of member 0."""

    def coordinator(self, round_: int) -> int:
        """Begin with 0."""
        return (round_ - 1) % self.members


class GoesOnUndecided(Consensus[int]):
    """Forgotten state (decide): who has decided keeps what came, and reads it."""

    def _decide(self, value: int) -> None:
        """Keep all."""
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
