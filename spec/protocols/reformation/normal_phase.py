"""Normal phase: the sites of a token list between reformations, as little as Reformation needs: numbers are
given in turn, learned in order, acknowledged, and delivered when all of the list have them.

Source: Barchet-Estefanel 2002, sections 3.1.3 and 3.2.2, figure 25. In place of figure 25 stands what its
repaired text keeps (spec/protocols/rbp_resilient):
1. A site has all numbers up to its last: its `log`. It gives the next number when the one before was given by
   its predecessor on the list, and accepts thereby the token.
2. An acknowledgement is heard by whoever is on the list of its version, at any time, also after its sender
   has failed; what is missing is asked for on the list.
3. A message is stable when all of the list have it, which they tell by acknowledging; NULL, by which they
   tell it when there is nothing else to acknowledge, is not kept.
4. A message is broadcast where it is numbered first: that it was broadcast earlier, by whomever, changes
   nothing of what follows.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import AtMost, Between, Map, Seq, action, budget, emit, everywhere, record, require
from antiphon.spec.protocols.reformation.figures23_24 import Attempt, LastNumber, ListName, Reformation
from antiphon.spec.services.events import Broadcast, Deliver, Message, Process


@record
class Entry:
    """Entry with a number: a message, the list in which the number was given, and the giver."""

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
        """The holder of the token gives the next number to a message that has none: a new one, or one that
        was broadcast before.
        """
        require(self.holds_token(p) and budget(len(self.log[p]) < self.numbers))
        require(m.index <= self.broadcasts and not any(item.message == m for item in self.log[p]))
        self.log[p] += (Entry(m, self.current[p], p),)
        self.acknowledge(p)
        if m.index == self.broadcasts:
            self.broadcasts += 1
            emit(Broadcast(p, m))

    def holds_token(self, p: Process) -> bool:
        """P works in a list, has all its numbers that it knows of, and is named by the last of them; by none,
        it is the list's token site.
        """
        a = self.current[p]
        if not self.works(p):
            return False
        if len(self.log[p]) == 0 or self.log[p][-1].list != a:
            return self.is_site(p, a)
        return self.successor(self.log[p][-1].giver, a) == p

    def successor(self, p: Process, a: ListName) -> Process | None:
        """The site after p on the ring of list a."""
        after = next((q for q in self.each(Process) if q > p and q in self.members(a)), None)
        return (
            after
            if after is not None
            else next((q for q in self.each(Process) if q in self.members(a)), None)
        )

    def acknowledge(self, p: Process) -> None:
        """P has everything up to its last number, and tells its list."""
        self.acknowledged[p][self.current[p]] = len(self.log[p])

    @action(fairness="weak")
    def learn(self, p: Process, q: Process) -> None:
        """P hears the next number: by the acknowledgement that gave it, or from a site of its list."""
        require(p != q and self.works(p) and len(self.log[p]) < len(self.log[q]))
        require(self.is_of_list(p, q) and self.still_has(q, len(self.log[p])))
        self.log[p] += (self.log[q][len(self.log[p])],)
        self.acknowledge(p)

    def is_of_list(self, p: Process, q: Process) -> bool:
        """Return True if what q tells p has the version of p's list (section 3.2.3, last paragraph)."""
        given = self.log[q][len(self.log[p])].list == self.current[p]
        return given or (self.works(q) and not self.down[q] and self.current[q] == self.current[p])

    @action(fairness="weak")
    def deliver(self, p: Process) -> None:
        """The next message is stable, and delivered."""
        require(self.works(p) and self.last_delivered[p] < self.stable_up_to(p))
        k = self.last_delivered[p] + 1
        self.last_delivered[p] = k
        emit(Deliver(p, self.log[p][k - 1].message))

    def stable_up_to(self, p: Process) -> int:
        """The number up to which all of p's list have acknowledged in it."""
        a = self.current[p]
        return min((self.acknowledged[q][a] for q in self.each(Process) if q in self.members(a)), default=0)

    # What Reformation asks ----------------------------------------------------------------------------------

    def recent(self, p: Process) -> int:
        """Committed is what is stable: `At least one site must have all committed (stable) messages`."""
        return max(self.last_delivered[p], self.stable_up_to(p))

    def can_recover(self, j: Process, a: Attempt) -> bool:
        """The new sequencer updates the other processes (section 3.2.3). It answers while it is on the
        list.
        """
        return any(
            self.is_site(s, a) and (s == j or (self.answers(s, a) and self.still_has(s, len(self.log[j]))))
            for s in self.each(Process)
        )

    def answers(self, s: Process, a: Attempt) -> bool:
        """S is up, and belongs to list a or has committed it."""
        return not self.down[s] and (self.belongs[s] == a or self.current[s] == a)

    def still_has(self, s: Process, k: LastNumber) -> bool:
        """S has not collected what follows number k: it never collects."""
        return True

    def recover(self, j: Process, a: Attempt) -> None:
        """J takes over from the new token site."""
        for s in self.each(Process):
            if self.is_site(s, a):
                self.take_over(j, s)

    def take_over(self, j: Process, s: Process) -> None:
        """J adds what it misses of the log of s. Nothing is said of what it has and s has not."""
        self.log[j] += self.log[s][len(self.log[j]) :]

    def end(self, p: Process, a: Attempt) -> None:
        """P tells the new list what it has."""
        super().end(p, a)
        self.acknowledge(p)
