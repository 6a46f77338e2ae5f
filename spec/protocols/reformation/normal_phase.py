"""Normal phase of a token list between reformations, reduced to what Reformation needs: numbers are given in
turn, learned in order, acknowledged, and delivered when all of the list have them.

Source: Barchet-Estefanel 2002, sections 3.1.3 and 3.2.2, figure 25. The reduced phase keeps these properties
of the repaired figure 25 (spec/protocols/rbp_resilient):
1. A site has all numbers up to its last: its `log`. It gives the next number when the one before was given by
   its predecessor on the list, and accepts thereby the token.
2. Every site on the list of an acknowledgement's version hears it, at any time, also after its sender has
   failed; a site asks its list for missing numbers.
3. A message is stable when all of the list have it, as their acknowledgements say. A NULL, which acknowledges
   when there is nothing else to number, is not kept.
4. A message is broadcast where it is numbered first: an earlier broadcast, by whichever site, changes nothing
   of what follows.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import AtMost, Between, Map, Seq, action, budget, emit, everywhere, record, require
from antiphon.spec.protocols.reformation.figures23_24 import Attempt, LastNumber, ListName, Reformation
from antiphon.spec.services.events import Broadcast, Deliver, Message, Process


@record
class Entry:
    """Entry of a log under its number: a message, the list in which the number was given, and the site that
    gave it.
    """

    message: Message
    list: ListName
    giver: Process


class NormalPhase(Reformation):
    """Reformation, with an abstract normal phase before and after it."""

    log: Map[Process, Annotated[Seq[Entry], AtMost("numbers")]] = everywhere(())
    acknowledged: Map[Process, Map[ListName, LastNumber]] = everywhere(everywhere(0))
    last_delivered: Map[Process, LastNumber] = everywhere(0)
    broadcasts: Annotated[int, Between(0, "messages")] = 0

    # A number is given, learned and delivered ---------------------------------------------------------------

    @action
    def sequence(self, p: Process, m: Message) -> None:
        """Give the next number, as holder of the token, to a message without one: a new one, or one that was
        broadcast before.
        """
        require(self.holds_token(p) and budget(len(self.log[p]) < self.numbers))
        require(m.index <= self.broadcasts and not any(item.message == m for item in self.log[p]))
        self.log[p] += (Entry(m, self.current[p], p),)
        self.acknowledge(p)
        if m.index == self.broadcasts:
            self.broadcasts += 1
            emit(Broadcast(p, m))

    def holds_token(self, p: Process) -> bool:
        """Return True if p holds the token: p works in a list, has all numbers up to the last that it knows,
        and that last one names p. In a list without numbers the list's token site is the holder.
        """
        a = self.current[p]
        if not self.works(p):
            return False
        if len(self.log[p]) == 0 or self.log[p][-1].list != a:
            return self.is_site(p, a)
        return self.successor(self.log[p][-1].giver, a) == p

    def successor(self, p: Process, a: ListName) -> Process | None:
        """Return the site after p on the ring of list a."""
        after = next((q for q in self.each(Process) if q > p and q in self.members(a)), None)
        return (
            after
            if after is not None
            else next((q for q in self.each(Process) if q in self.members(a)), None)
        )

    def acknowledge(self, p: Process) -> None:
        """Acknowledge, at p, all entries of p's log in p's present list."""
        self.acknowledged[p][self.current[p]] = len(self.log[p])

    @action(fairness="weak")
    def learn(self, p: Process, q: Process) -> None:
        """Learn the next number at p: by the acknowledgement that gave it, or from a site of p's list."""
        require(p != q and self.works(p) and len(self.log[p]) < len(self.log[q]))
        require(self.is_of_list(p, q) and self.still_has(q, len(self.log[p])))
        self.log[p] += (self.log[q][len(self.log[p])],)
        self.acknowledge(p)

    def is_of_list(self, p: Process, q: Process) -> bool:
        """Return True if a message from q has the version of p's list (section 3.2.3, last paragraph)."""
        given = self.log[q][len(self.log[p])].list == self.current[p]
        return given or (self.works(q) and not self.down[q] and self.current[q] == self.current[p])

    @action(fairness="weak")
    def deliver(self, p: Process) -> None:
        """Deliver, at p, the message of the next number, which must be stable."""
        require(self.works(p) and self.last_delivered[p] < self.stable_up_to(p))
        k = self.last_delivered[p] + 1
        self.last_delivered[p] = k
        emit(Deliver(p, self.log[p][k - 1].message))

    def stable_up_to(self, p: Process) -> int:
        """Return the number up to which all sites of p's list have acknowledged in this list."""
        a = self.current[p]
        return min((self.acknowledged[q][a] for q in self.each(Process) if q in self.members(a)), default=0)

    # What Reformation asks ----------------------------------------------------------------------------------

    def recent(self, p: Process) -> int:
        """Return the number up to which messages are committed at p: those that are stable (`At least one
        site must have all committed (stable) messages`).
        """
        return max(self.last_delivered[p], self.stable_up_to(p))

    def can_recover(self, j: Process, a: Attempt) -> bool:
        """Return True if j can recover its missing messages in list a: j is the new token site, or the token
        site answers and still has those messages (section 3.2.3: the new sequencer updates the other
        processes).
        """
        return any(
            self.is_site(s, a) and (s == j or (self.answers(s, a) and self.still_has(s, len(self.log[j]))))
            for s in self.each(Process)
        )

    def answers(self, s: Process, a: Attempt) -> bool:
        """Return True if s can answer requests of sites on list a: s is up, and belongs to list a or has
        committed it.
        """
        return not self.down[s] and (self.belongs[s] == a or self.current[s] == a)

    def still_has(self, s: Process, k: LastNumber) -> bool:
        """Return True if s still has the messages after number k: it never removes any."""
        return True

    def recover(self, j: Process, a: Attempt) -> None:
        """Recover the missing messages at j from the new token site of list a."""
        for s in self.each(Process):
            if self.is_site(s, a):
                self.take_over(j, s)

    def take_over(self, j: Process, s: Process) -> None:
        """Copy to j the entries that it lacks from the log of s. The text does not mention entries that j has
        and s has not.
        """
        self.log[j] += self.log[s][len(self.log[j]) :]

    def end(self, p: Process, a: Attempt) -> None:
        """End the reformation at p, and acknowledge in the new list everything that p has."""
        super().end(p, a)
        self.acknowledge(p)
