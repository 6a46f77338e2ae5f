"""RBP's Reformation, as figures 23 and 24 print it: originators, slaves and the new token site agree on a new
token list in three phases.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels",
2002, section 3.2.3, figures 22 to 24 (after Chang and Maxemchuk 1984). The figures have no line numbers; a
step is cited by its figure and phase. What the sites do before and after Reformation is not in them: this
file asks for it by four helpers, which normal_phase.py answers: `recent`, `list_told`, `can_recover`,
`recover`.

| figures 23, 24                           | here                                                            |
|------------------------------------------|-----------------------------------------------------------------|
| an originator's reformation, restarted   | an `Attempt`, numbered in the order of their beginning          |
| Reformation Invitation, TL version number| `invitation[a]`: its originator and its version                 |
| Vote "Yes" of j, phase I                 | `votes[a][j]`, with what j has                                  |
| Vote "No", phase I                       | `refusals[a]`                                                   |
| New TL, New Token Site                   | `new_list[a]`                                                   |
| Vote "Yes", phase II                     | `agreements[a]`                                                 |
| a New Token                              | `tokens[a]`                                                     |
| the reformation list that j belongs to   | `belongs[j]`                                                    |
| the list that j has committed            | `current[j]`; 0 is the list of the beginning, all sites         |
| TL version number, as it is modified     | `highest[p]`                                                    |
| `Wait and Restart` in phase III          | stage `repeating`: the next invitation has the same number      |

What is abstracted, and why that is sound:
1. What was sent stays: nobody has to receive it, and who has received it may receive it again, later than
   anything else. So messages are lost, repeated, delayed and reordered without a budget.
2. An originator's timer may expire at any moment, so it goes on with any of the answers that were sent. What
   it does with an answer it does then: that an answer has come is no state.
3. "Abort" and the second "No" make a site do what its timer makes it do. They are not kept. A first "No"
   is kept: it can make an originator give up whose timer does not. The originator may also go on, since a
   "No" may be lost or late, so that "all responses" that come before its timer expires are those of the
   others: `announce` does not require that no "No" was sent. Answers that no originator will look at any
   more are not kept either.
4. A site that is in Reformation does nothing for its old list: "the reformation phase is blocking" (section
   3.2.3).

What is decided, because the figures are silent:
1. An originator is a member of its own list, and answers no invitation before it gives up.
2. A site's first version number is one more than the highest that it has committed or proposed, and so is
   a number that is modified. A site that joins the list of another meanwhile, or commits one, no longer
   restarts: it begins anew, with a number of its own.
3. The `Else` of figure 24, phase II, "Vote No", is aligned with the outer `If` ("New TL" is received); as
   there is nothing to vote on without a New TL, it is read as that of the inner one ("j still belongs").
4. `j` in phase III of figure 24 is k. A slave that commits before it knows of the others ends there.
5. The Else of figure 23, phase II, announces "Reformation Abort" to "all sites in the New TL". There is none
   there: the New TL is made in the branch that was not taken. It is read as all sites that were invited;
   as with every "Abort" (3 above), a timer does the same.
6. "No message committed by the old token list is lost. At least one site must have all committed (stable)
   messages" (section 3.2.3) is what the Resiliency Test of figure 23, phase II, asks. Nothing says by what an
   originator can tell, and it always holds: what is stable in a list all of its sites have, and the
   originator is a site of its old list that responds. The test stands as `is_resilient`, a guard that no
   run needs: some responder is the one that tells of most. Who has everything is decided by the choice of
   the new token site (`is_new_site`).
7. "The new sequencer must update the other processes" (section 3.2.3) is placed by the figures: a slave
   recovers in phase II of figure 24, and no line of figure 23 does. So the originator recovers nothing.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from antiphon.spec.environment import Crashes
from antiphon.spec.lang import (
    Between,
    Const,
    Map,
    Set,
    action,
    emit,
    environment,
    everywhere,
    record,
    require,
)
from antiphon.spec.services.events import Install, Process, View, Views

Attempt = Annotated[int, Between(1, "attempts")]
"""Number of an attempt: an invitation, and everything that follows from it."""

ListName = Annotated[int, Between(0, "attempts")]
"""Name of a token list: the attempt that it comes from. 0: the first list."""

LastNumber = Annotated[int, Between(0, "numbers")]


class Stage(Enum):
    """Stage of a site: normal, waiting to restart (waiting, repeating), or in a phase of a figure."""

    normal, waiting, repeating, inviting, announcing, invited, authorising = range(7)


@record
class Invitation:
    """Reformation Invitation to all sites: its originator, and the version number of its list."""

    originator: Process
    version: View


@record
class Knowledge:
    """Knowledge that a voter reports in its vote: the list in which it worked, and the number up to which it
    has that list's messages.
    """

    list: ListName
    number: LastNumber


@record
class TokenList:
    """New TL: its members, and which of them is the new token site."""

    members: Set[Process]
    site: Process


class Lists(Crashes, Views):
    """Constants that bound Reformation, and methods for a group that keeps its first list."""

    attempts: Const[int] = 2
    """Number of reformations that are begun, restarts included."""

    numbers: Const[int] = 2
    """Number of sequence numbers."""

    def list_of(self, p: Process) -> ListName:
        """Return the list that p has committed last; in this class 0, the first list."""
        return 0

    def members(self, a: ListName) -> Set[Process]:
        """Return the sites of list a; in this class all processes are on list 0, and nobody on any other."""
        return Set() | {q for q in self.each(Process) if a == 0}

    def works(self, p: Process) -> bool:
        """Return True if p works in its list; in this class p always does."""
        return True


class Reformation(Lists):
    """Reformation, figures 23 and 24."""

    begun: ListName = 0
    invitation: Map[Attempt, Invitation | None] = everywhere(None)
    votes: Map[Attempt, Map[Process, Knowledge | None]] = everywhere(everywhere(None))
    refusals: Map[Attempt, Set[Process]] = everywhere(Set())
    new_list: Map[Attempt, TokenList | None] = everywhere(None)
    agreements: Map[Attempt, Set[Process]] = everywhere(Set())
    tokens: Map[Attempt, bool] = everywhere(False)
    stage: Map[Process, Stage] = everywhere(Stage.normal)
    belongs: Map[Process, ListName] = everywhere(0)
    current: Map[Process, ListName] = everywhere(0)
    highest: Map[Process, View] = everywhere(1)

    # Lists --------------------------------------------------------------------------------------------------

    def list_of(self, p: Process) -> ListName:
        """Return the list that p has committed last."""
        return self.current[p]

    def version(self, a: ListName) -> int:
        """Return the version number of a list; the first has 1."""
        if a == 0:
            return 1
        sent = self.invitation[a]
        return sent.version if sent is not None else 1

    def members(self, a: ListName) -> Set[Process]:
        """Return the sites of list a; the first list, 0, has all sites."""
        if a == 0:
            return Set() | {q for q in self.each(Process)}
        made = self.new_list[a]
        return made.members if made is not None else Set()

    def has_begun(self, p: Process, a: ListName) -> bool:
        """Return True if p is the originator of attempt a."""
        if a == 0:
            return False
        sent = self.invitation[a]
        return sent is not None and sent.originator == p

    def is_site(self, p: Process, a: ListName) -> bool:
        """Return True if p is the token site of list a; of the first list p1 is."""
        if a == 0:
            return p == Process(0)
        made = self.new_list[a]
        return made is not None and made.site == p

    # The normal phase, seen from here -----------------------------------------------------------------------

    def works(self, p: Process) -> bool:
        """Return True if p is not in Reformation."""
        return self.stage[p] is Stage.normal

    def recent(self, p: Process) -> int:
        """Return the number of the most recent message that p knows to be committed (section 3.2.3); 0
        without a normal phase.
        """
        return 0

    def list_told(self, p: Process) -> ListName:
        """Return the list that a vote of p reports as the list whose messages p knows: as printed 0, no
        list.
        """
        return 0

    def can_recover(self, j: Process, a: Attempt) -> bool:
        """Return True: some site can give j its missing messages."""
        return True

    def recover(self, j: Process, a: Attempt) -> None:
        """Recover missing messages at j (figure 24, phase II, `Recover all missing messages`); a hook that
        does nothing without a normal phase.
        """

    # Figure 23: the originator ------------------------------------------------------------------------------

    @action
    def invite(self, p: Process) -> None:
        """Invite all sites (figure 23, phase I): p has detected a failure or recovery, maybe wrongly, or
        restarts.
        """
        require(self.works(p) or self.is_restarting(p))
        require(self.begun < self.attempts and self.next_version(p) <= self.views)
        a = self.begun + 1
        version = self.next_version(p)
        self.begun = a
        self.invitation[a] = Invitation(p, version)
        self.highest[p] = version
        self.belongs[p] = a
        self.stage[p] = Stage.inviting

    def next_version(self, p: Process) -> int:
        """Return the version number that p proposes: a new one, or, if p restarts from phase III, the one
        that it proposed last.
        """
        return self.highest[p] if self.stage[p] is Stage.repeating else self.modified_version(p)

    def modified_version(self, p: Process) -> int:
        """Return the modified version number (figure 23, phase II, `Modify TL version number`)."""
        return self.highest[p] + 1

    def is_restarting(self, p: Process) -> bool:
        """Return True if p has given up a reformation and waits (`Wait and Restart`)."""
        return self.stage[p] is Stage.waiting or self.stage[p] is Stage.repeating

    @action(fairness="weak")
    def announce(self, p: Process, responders: Set[Process], site: Process) -> None:
        """Announce the New TL (figure 23, phase II): `If (all responses = "yes" and pass Majority and
        Resiliency Tests)`, `New TL ← {all sites that responded}`, `Announce New TL`. The sites that responded
        are p and those that voted.
        """
        a = self.belongs[p]
        require(self.stage[p] is Stage.inviting and p in responders)
        require(all(q == p or self.has_voted(a, q) for q in responders))
        require(self.has_majority(p, responders))
        require(self.is_resilient(p, responders))
        require(self.is_new_site(p, responders, site))
        self.new_list[a] = TokenList(responders, site)
        self.stage[p] = Stage.announcing
        self.forget_answers(a)

    def is_heard(self, a: Attempt) -> bool:
        """Return True if the originator still waits for answers in attempt a, so that they are kept."""
        return any(self.has_begun(p, a) and self.belongs[p] == a for p in self.each(Process))

    def forget_answers(self, a: Attempt) -> None:
        """Forget the answers in attempt a's present phase, which no process will read any more."""
        self.votes[a] = everywhere(None)
        self.refusals[a] = Set()
        self.agreements[a] = Set()

    def has_voted(self, a: ListName, q: Process) -> bool:
        """Return True if a "Yes" of q has been sent."""
        return a > 0 and self.votes[a][q] is not None

    def has_majority(self, p: Process, responders: Set[Process]) -> bool:
        """Return True if the responders pass the Majority test: `The list must have a majority of the
        processes`.
        """
        return 2 * len(responders) > self.processes

    def is_resilient(self, p: Process, responders: Set[Process]) -> bool:
        """Return True if the responders pass the Resiliency test: `At least one site must have all committed
        (stable) messages`.
        """
        return any(self.is_greatest(p, responders, s) for s in responders)

    def is_new_site(self, p: Process, responders: Set[Process], site: Process) -> bool:
        """Return True if `site` may be the new sequencer (section 3.2.3): `the process with the greatest
        knowledge from the previous list, i.e., the process with the most recent committed message`.
        """
        return site in responders and self.is_greatest(p, responders, site)

    def is_greatest(self, p: Process, responders: Set[Process], s: Process) -> bool:
        """Return True if no responder reported more to p than s did."""
        return not any(self.tells_more(p, q, s) for q in responders)

    def tells_more(self, p: Process, q: Process, s: Process) -> bool:
        """Return True if q reported more to p than s did. For p itself its own knowledge is taken, since p
        sends itself no report.
        """
        mine = Knowledge(self.list_told(p), self.recent(p))
        a = mine if q == p else self.votes[self.belongs[p]][q]
        b = mine if s == p else self.votes[self.belongs[p]][s]
        return a is not None and b is not None and self.is_more(a, b)

    def is_more(self, a: Knowledge, b: Knowledge) -> bool:
        """Return True if a reports a more recent message than b."""
        return a.number > b.number

    @action(fairness="weak")
    def generate_token(self, p: Process) -> None:
        """Generate the New Token (figure 23, phase III) when all sites of the New TL have voted "Yes"; p
        passes it, and commits.
        """
        a = self.belongs[p]
        require(self.stage[p] is Stage.announcing)
        require(all(q == p or q in self.agreements[a] for q in self.members(a)))
        self.tokens[a] = True
        self.forget_answers(a)
        self.before_commit(p, a)
        self.end(p, a)

    def before_commit(self, p: Process, a: Attempt) -> None:
        """Do nothing before the commit: as printed the originator recovers nothing (figure 23, phase III)."""

    # Figure 24: the slave -----------------------------------------------------------------------------------

    @action(fairness="weak")
    def vote(self, j: Process, a: Attempt) -> None:
        """Vote "Yes" (figure 24, phase I); j belongs to the reformation list from now on."""
        require(self.is_invited(j, a) and self.may_join(j, a))
        if not self.has_voted(a, j) and self.is_heard(a):
            self.votes[a] |= {j: Knowledge(self.list_told(j), self.recent(j))}
        self.join(j, a)

    def join(self, j: Process, a: Attempt) -> None:
        """Join reformation list a at j."""
        self.belongs[j] = a
        self.stage[j] = Stage.invited

    @action(fairness="weak")
    def refuse(self, j: Process, a: Attempt) -> None:
        """Vote "No" (figure 24, phase I, `Else Vote "No"`)."""
        require(self.is_invited(j, a) and not self.may_join(j, a))
        require(j not in self.refusals[a] and not self.has_voted(a, j))
        self.refusals[a] |= {q for q in self.each(Process) if q == j and self.is_heard(a)}

    def is_invited(self, j: Process, a: Attempt) -> bool:
        """Return True if j is invited (figure 23, phase I, `Broadcast an invitation to all sites in the
        broadcast group`).
        """
        return self.invitation[a] is not None and not self.has_begun(j, a)

    def may_join(self, j: Process, a: Attempt) -> bool:
        """Return True if j may join (figure 24, phase I, `Sequence Test passes and j does not belong to any
        reformation list`).
        """
        return self.belongs[j] == 0 and self.passes_sequence_test(j, a)

    def passes_sequence_test(self, j: Process, a: Attempt) -> bool:
        """Return True if the version of attempt a is higher than that of the list that j has committed (`A
        site can only join a list with a version number greatest than its previous list`).
        """
        return self.version(a) > self.version(self.current[j])

    @action(fairness="weak")
    def agree(self, j: Process) -> None:
        """Agree to the New TL (figure 24, phase II): j still belongs to it, recovers all missing messages,
        votes "Yes" and commits. The new token site goes on to phase III.
        """
        a = self.belongs[j]
        require(self.stage[j] is Stage.invited and j in self.members(a))
        require(self.can_recover(j, a))
        self.recover(j, a)
        self.agreements[a] |= {q for q in self.each(Process) if q == j and self.is_heard(a)}
        self.end(j, a)
        if self.is_site(j, a):
            self.belongs[j] = a
            self.stage[j] = Stage.authorising

    def end(self, p: Process, a: Attempt) -> None:
        """End the reformation at a site (`Commit New TL; End of Reformation Phase`)."""
        self.current[p] = a
        self.highest[p] = max(self.highest[p], self.version(a))
        self.belongs[p] = 0
        self.stage[p] = Stage.normal
        emit(Install(p, self.version(a), self.members(a)))

    @action(fairness="weak")
    def accept_token(self, k: Process) -> None:
        """Accept the New Token (figure 24, phase III), if k still belongs to the list."""
        require(self.stage[k] is Stage.authorising and self.tokens[self.belongs[k]])
        self.belongs[k] = 0
        self.stage[k] = Stage.normal

    # Abort and the timers -----------------------------------------------------------------------------------

    @action(fairness="weak")
    def give_up(self, p: Process) -> None:
        """Give up at p (figures 23 and 24): "Abort" has come, or the message that p awaits will not come."""
        require(self.is_at_it(p) and self.waits_in_vain(p))
        self.withdraw(p)

    @environment
    def time_out(self, p: Process) -> None:
        """Time out too early at p (TIMEOUT_i, TIMEOUT_j or TIMEOUT_k)."""
        require(self.is_at_it(p) and not self.waits_in_vain(p) and not self.down[p])
        self.withdraw(p)

    def is_at_it(self, p: Process) -> bool:
        """Return True if p waits for an answer, for an announcement or for the token."""
        return self.stage[p] is not Stage.normal and not self.is_restarting(p)

    def waits_in_vain(self, p: Process) -> bool:
        """Return True if p waits in vain. An originator does after a "No", or for a site that cannot answer;
        a slave for an originator that has failed or given up, for a New TL without it, or for messages that
        nobody can give it.
        """
        a = self.belongs[p]
        if self.misses(p) and not any(b == a and self.can_recover(p, b) for b in self.each(Attempt)):
            return True
        if self.has_begun(p, a):
            return len(self.refusals[a]) > 0 or any(self.is_silent(q, p) for q in self.each(Process))
        if self.new_list[a] is not None and p not in self.members(a):
            return True
        return not self.tokens[a] and all(
            not self.has_begun(q, a) or self.has_left(q, a) for q in self.each(Process)
        )

    def is_silent(self, q: Process, p: Process) -> bool:
        """Return True if originator p has no answer of q and will get none: q has failed, or is in another
        list.
        """
        a = self.belongs[p]
        if self.stage[p] is Stage.announcing:
            return q in self.members(a) and q != p and q not in self.agreements[a] and self.has_left(q, a)
        return (
            q != p
            and not self.has_voted(a, q)
            and (self.down[q] or not any(b == a and self.may_join(q, b) for b in self.each(Attempt)))
        )

    def misses(self, p: Process) -> bool:
        """Return True if p must recover missing messages before it may work in the new list of its
        attempt.
        """
        return self.stage[p] is Stage.invited and p in self.members(self.belongs[p])

    def has_left(self, q: Process, a: ListName) -> bool:
        """Return True if q has failed, or no longer belongs to list a."""
        return self.down[q] or self.belongs[q] != a

    def withdraw(self, p: Process) -> None:
        """Withdraw from a reformation (`Leave the list that previously joined`, `Wait and Restart`)."""
        if self.has_begun(p, self.belongs[p]):
            self.forget_answers(self.belongs[p])
        self.belongs[p] = 0
        self.stage[p] = self.waits_as(p)

    def waits_as(self, p: Process) -> Stage:
        """Return the stage in which a site waits to restart: `Modify TL version number, Wait and Restart` in
        phase II of figure 23, `Wait and Restart` alone in its phase III. A slave has no version number to
        modify.
        """
        return Stage.repeating if self.stage[p] is Stage.announcing else Stage.waiting
