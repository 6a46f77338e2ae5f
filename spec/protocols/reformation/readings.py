"""Readings of figures 23 and 24 and section 3.2.3: five sentences that can be read in several ways. The text
of figures23_24.py and normal_phase.py has the first reading of each.
"""

from __future__ import annotations

from antiphon.spec.lang import Set, ambiguity
from antiphon.spec.protocols.reformation.figures23_24 import Attempt, LastNumber, Reformation
from antiphon.spec.protocols.reformation.normal_phase import NormalPhase
from antiphon.spec.services.events import Process

majority = ambiguity(
    "majority",
    "static",
    about="`The list must have a majority of the processes`: of all processes, or of the originator's "
    "previous list",
)
committed = ambiguity(
    "committed",
    "stable",
    about="`the process with the most recent committed message`: committed is what is stable, as the "
    "Resiliency Test says in brackets, or what has a number",
)
invited = ambiguity(
    "invited",
    "group",
    about="`Broadcast an invitation to all sites in the broadcast group`: to all sites, or to those of the "
    "originator's previous list (section 3.2.3: `each process in the new token list`)",
)
leaving = ambiguity(
    "leaving",
    "forgets",
    about="`a version number greatest than its previous list`, of a site that has left a list on TIMEOUT_j: "
    "that of the list that it committed last, or the highest that it has voted for",
)
collection = ambiguity(
    "collection",
    "never",
    about="`the buffers from the processes will have at most the messages sequenced in the last turn of the "
    "token` (section 4.4): whether a site can still tell another what it has delivered",
)

resiliency = ambiguity(
    "resiliency",
    "total",
    about="how many sites of a list must have a message before it is delivered: all (figure 25), a majority "
    "of all processes, or only the one that delivers it (section 4.2)",
)


@majority.reading("dynamic")
class MajorityDynamic(Reformation):
    """Reading of the majority test: a majority of the list that the originator has committed last, not of all
    sites.
    """

    def has_majority(self, p: Process, responders: Set[Process]) -> bool:
        before = self.members(self.current[p])
        return 2 * len(responders & before) > len(before)


@committed.reading("sequenced")
class CommittedSequenced(NormalPhase):
    """Reading of `committed` in Reformation: a message is committed at a site when it has a number and the
    site has every earlier message.
    """

    def recent(self, p: Process) -> int:
        return len(self.log[p])


@invited.reading("old list")
class InvitedOldList(Reformation):
    """Reading of the invitation in Reformation: only sites that are members of the originator's present list
    accept an invitation.
    """

    def is_invited(self, j: Process, a: Attempt) -> bool:
        return super().is_invited(j, a) and any(
            self.has_begun(p, a) and j in self.members(self.current[p]) for p in self.each(Process)
        )


@leaving.reading("remembers")
class LeavingRemembers(Reformation):
    """Reading of leaving a list in Reformation: a site remembers the highest version that it has voted for,
    and refuses lower ones.
    """

    def passes_sequence_test(self, j: Process, a: Attempt) -> bool:
        return self.version(a) > self.highest[j]

    def join(self, j: Process, a: Attempt) -> None:
        super().join(j, a)
        self.highest[j] = max(self.highest[j], self.version(a))


@collection.reading("at delivery")
class CollectionAtDelivery(NormalPhase):
    """Reading of section 3.2.3: a site removes a message when it has delivered it, since all sites of its
    list have it then, and cannot send it to others any more.
    """

    def still_has(self, s: Process, k: LastNumber) -> bool:
        return k >= self.last_delivered[s]


@resiliency.reading("majority")
class ResiliencyMajority(NormalPhase):
    """Reading of resiliency: a message is delivered when a majority of all processes has acknowledged it."""

    def stable_up_to(self, p: Process) -> int:
        told = max(
            (k for k in self.each(LastNumber) if 2 * self.acknowledging(p, k) > self.processes), default=0
        )
        return min(len(self.log[p]), told)

    def acknowledging(self, p: Process, k: LastNumber) -> int:
        """Return the number of sites that have acknowledged number k in p's list."""
        return sum(1 for q in self.each(Process) if self.acknowledged[q][self.current[p]] >= k)


@resiliency.reading("none")
class ResiliencyNone(NormalPhase):
    """Reading of resiliency: a message is delivered at once."""

    def stable_up_to(self, p: Process) -> int:
        return len(self.log[p])


READINGS = (majority, committed, invited, leaving, collection, resiliency)
"""All readings."""
