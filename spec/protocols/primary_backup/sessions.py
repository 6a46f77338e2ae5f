"""Primary-backup over a group with views: updates count in one view, and clients have sessions.

Section 4.3 has one request at a time, executed at once by the primary. The paper leaves open who repeats a
request whose primary fails, and how its second execution is told from its first. Here is what this project
decided (docs/decisions/0034).

| section 4.3.1 and 4.3.2                        | here                                                      |
|------------------------------------------------|-----------------------------------------------------------|
| "performs the corresponding operation"         | `execute`: what would change is said, nothing has changed |
| "sends to the backup server an update message" | `submit`, with the view of the execution                  |
| an "acknowledgement from all backups"          | the delivery, which all of the view have or will have     |
| "returns the reply to the client"              | `settle`, where the update counts: `replies`              |
| "one of the backup servers is chosen"          | the first member of the view                              |

Clients are in the environment. A request comes to any replica, at any time, and again, also when its client
has gone on. Request 0 of a client asks for a session, whose name is the place of that request in the common
order. Other requests with an even number fail at the service.

The group is the machine of a group that delivers in one order, uniformly; it is walked by itself. A process
that joins takes record and state from those who form its view.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels",
2002, section 4.3; sessions and views of updates are ours.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from antiphon.spec.lang import (
    AtMost,
    Between,
    Const,
    In,
    Index,
    Map,
    Seq,
    Set,
    action,
    emit,
    environment,
    everywhere,
    expect,
    invariant,
    mutation,
    present,
    record,
    require,
    witness,
)
from antiphon.spec.services.events import Message, Process, View
from antiphon.spec.services.group_machine import OrderedGroup
from antiphon.spec.services.order import Count
from antiphon.spec.services.view_machine import BoundedMachine, UniformMachine


class Client(Index, size="clients"):
    """A client."""


Counter = Annotated[int, Between(0, "requests")]
"""Number of a request of one client; 0 asks for a session."""

Session = Annotated[int, Between(0, "messages")]
"""Name of a session: the place in the common order of the update that began it; 0 for none."""


class Outcome(Enum):
    """Result of a request."""

    answered, failed, forgotten = range(3)


@record
class Request:
    """Request of a client."""

    client: Client
    session: Session
    counter: Counter


@record
class Answer:
    """Result of a request: after how many others the state is changed by it, if it is."""

    client: Client
    session: Session
    counter: Counter
    outcome: Outcome
    after: Count


@record
class Update:
    """Broadcast of the primary: the result of a request that it has executed in this view."""

    view: View
    answer: Answer


@record
class Replied:
    """Event: the replica sends this answer."""

    process: Process
    answer: Answer


@record
class Named:
    """Event: the replica names the primary to a client."""

    process: Process
    client: Client
    primary: Process


class PrimaryBackupSessions(UniformMachine, OrderedGroup):
    """Replicas in a group with views, and clients that repeat their requests.

    State: `waiting[p]` are the requests without an answer at the primary p, `executing[p]` whether the first
    one was executed, `unsent[p]` the updates that p has still to broadcast. `recorded[p]` has the last answer
    of each client, the one that was answered longest ago first, `performed[p]` the requests that p's state
    consists of. `content[m]` is the update in a message, `sends[c]` the number of the request that client c
    sends, `session[c]` its session, `replies` what was answered.
    """

    clients: Const[int] = 2
    requests: Const[int] = 1
    kept: Const[int] = 2
    """Number of clients whose last answer is kept."""

    waiting: Map[Process, Annotated[Seq[Request], AtMost("clients")]] = everywhere(())
    executing: Map[Process, bool] = everywhere(False)
    unsent: Map[Process, Annotated[Seq[Update], AtMost("views")]] = everywhere(())
    recorded: Map[Process, Annotated[Seq[Answer], AtMost("clients")]] = everywhere(())
    performed: Map[Process, Annotated[Seq[Request], AtMost("messages")]] = everywhere(())
    content: Map[Message, Update | None] = everywhere(None)
    sends: Map[Client, Counter] = everywhere(0)
    session: Map[Client, Session] = everywhere(0)
    replies: Set[Answer] = Set()
    cut_record: Map[View, Annotated[Seq[Answer], AtMost("clients")]] = everywhere(())
    cut_state: Map[View, Annotated[Seq[Request], AtMost("messages")]] = everywhere(())

    def primary(self, p: Process) -> Process:
        """Return the first member of p's view."""
        return present(next((q for q in self.each(Process) if self.is_in_view_of(p, q)), None))

    def is_in_view_of(self, p: Process, q: Process) -> bool:
        """Return True if q is a member of p's view."""
        return any(v == self.current_view[p] and q in self.view_members[v] for v in self.each(View))

    def leads(self, p: Process) -> bool:
        """Return True if p executes requests."""
        return self.primary(p) == p

    # Requests -----------------------------------------------------------------------------------------------

    @environment
    def request(self, p: Process, c: Client, k: Counter) -> None:
        """Request k of client c comes to p, for the first time or again."""
        require(self.is_in_a_view(p) and k <= self.sends[c])
        last = self.last_answer(p, c)
        if last is not None and k <= last.counter:
            if k == last.counter:
                self.reply(p, last)
        elif self.leads(p):
            self.wait(p, Request(c, 0 if k == 0 else self.session[c], k))
            self.execute(p)
        else:
            emit(Named(p, c, self.primary(p)))

    def last_answer(self, p: Process, c: Client) -> Answer | None:
        """Return the answer that p has recorded for c."""
        return next((a for a in self.recorded[p] if a.client == c), None)

    def wait(self, p: Process, request: Request) -> None:
        """Let a request wait, in place of an earlier one of its client."""
        before = next((r for r in self.waiting[p] if r.client == request.client), None)
        if before is None:
            self.waiting[p] += (request,)
        elif request.counter >= before.counter:
            self.waiting[p] = tuple(request if r == before else r for r in self.waiting[p])

    def execute(self, p: Process) -> None:
        """Execute the first waiting request, if p is the primary and waits for no update."""
        if not self.executing[p] and len(self.waiting[p]) > 0 and self.leads(p):
            self.executing[p] = True
            request = self.waiting[p][0]
            outcome = self.outcome(p, request)
            after = len(self.performed[p]) if self.changes(request.counter, outcome) else 0
            answer = Answer(request.client, request.session, request.counter, outcome, after)
            for v in self.each(View):
                if v == self.current_view[p]:
                    self.unsent[p] += (Update(v, answer),)

    def outcome(self, p: Process, request: Request) -> Outcome:
        """Return the outcome of a request in p's present state."""
        last = self.last_answer(p, request.client)
        if request.counter == 0:
            return Outcome.answered
        if last is None or last.session != request.session:
            return Outcome.forgotten
        return Outcome.failed if request.counter % 2 == 0 else Outcome.answered

    def reply(self, p: Process, answer: Answer) -> None:
        """Send an answer to its client."""
        emit(Replied(p, answer))
        self.replies |= {answer}

    @environment
    def hear(self, answer: Annotated[Answer, In("replies")]) -> None:
        """Go on, at a client, with the answer to the request that it sends."""
        c = answer.client
        require(answer.counter == self.sends[c] and answer.outcome != Outcome.forgotten)
        require(answer.counter < self.requests)
        self.sends[c] += 1
        if answer.counter == 0:
            self.session[c] = answer.session

    # Updates ------------------------------------------------------------------------------------------------

    @action
    def submit(self, p: Process, m: Message) -> None:
        """Broadcast the first update that p has executed and not broadcast."""
        require(len(self.unsent[p]) > 0)
        super().submit(p, m)
        self.content[m] = self.unsent[p][0]
        self.unsent[p] = self.unsent[p][1:]

    @action
    def deliver(self, p: Process, m: Message) -> None:
        """Deliver an update at p."""
        super().deliver(p, m)
        self.settle(p, present(self.content[m]))

    def settle(self, p: Process, update: Update) -> None:
        """Perform an update at p and answer its client, if p is in the view of the update; else ignore it."""
        if self.counts(p, update):
            self.executing[p] = False
            given = update.answer
            answer = given if given.counter > 0 else self.named(given, self.reached[p])
            if self.changes(answer.counter, answer.outcome):
                expect(answer.after == len(self.performed[p]), "AsOfItsState")
                self.performed[p] += (Request(answer.client, answer.session, answer.counter),)
            if answer.outcome != Outcome.forgotten:
                others = tuple(a for a in self.recorded[p] if a.client != answer.client)
                self.recorded[p] = others[1:] if len(others) == self.kept else others
                self.recorded[p] += (answer,)
            self.answer_waiting(p, answer)
            self.execute(p)

    def counts(self, p: Process, update: Update) -> bool:
        """Return True if an update was executed in p's view."""
        return update.view == self.current_view[p]

    def named(self, answer: Answer, k: Session) -> Answer:
        """Return the answer that begins the session k."""
        return Answer(answer.client, k, answer.counter, answer.outcome, answer.after)

    def changes(self, k: Counter, outcome: Outcome) -> bool:
        """Return True if request k with this outcome changes the state of the service."""
        return k > 0 and outcome == Outcome.answered

    def answer_waiting(self, p: Process, answer: Answer) -> None:
        """Send the answer, if p has a request that waits for it."""
        if any(r.client == answer.client and r.counter == answer.counter for r in self.waiting[p]):
            self.waiting[p] = tuple(r for r in self.waiting[p] if r.client != answer.client)
            self.reply(p, answer)

    # Views --------------------------------------------------------------------------------------------------

    @action
    def install(self, p: Process, v: View, members: Set[Process]) -> None:
        """Install a view at p; if p joins, with the record and the state of those who form it."""
        joins = self.current_view[p] == 0
        forms = not self.has_formed(v)
        super().install(p, v, members)
        if self.joiners > 0 and forms:
            self.cut_record[v] = self.recorded[p]
            self.cut_state[v] = self.performed[p]
        if joins:
            self.recorded[p] = self.cut_record[v]
            self.performed[p] = self.cut_state[v]
        self.executing[p] = False
        if not self.leads(p):
            self.waiting[p] = ()
        self.execute(p)

    # Promises -----------------------------------------------------------------------------------------------

    @invariant
    def PerformedOnce(self) -> bool:
        """Invariant: a request changes a state once."""
        return all(
            self.performed[p][i] not in self.performed[p][:i]
            for p in self.each(Process)
            for i in range(len(self.performed[p]))
        )

    @invariant
    def OneState(self) -> bool:
        """Invariant: of two replicas one has performed what the other has, and more."""
        return all(
            self.performed[q][: len(self.performed[p])] == self.performed[p]
            or self.performed[p][: len(self.performed[q])] == self.performed[q]
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @invariant
    def OneAnswer(self) -> bool:
        """Invariant: all answers to a request are the same, unless its client is forgotten."""
        return not any(
            a.client == b.client and a.session == b.session and a.counter == b.counter and a != b
            for a in self.replies
            for b in self.replies
            if a.outcome != Outcome.forgotten and b.outcome != Outcome.forgotten
        )

    @invariant
    def AnsweredIsKept(self) -> bool:
        """Invariant: what was answered is in the state of everybody, but for those who are still in the view
        in which it was delivered, or in an earlier one.
        """
        return all(
            not self.changes(a.counter, a.outcome)
            or any(r.client == a.client and r.counter == a.counter for r in self.performed[p])
            or self.comes_yet(p, a)
            for a in self.replies
            for p in self.each(Process)
        )

    def comes_yet(self, p: Process, answer: Answer) -> bool:
        """Return True if somebody has delivered an update with this answer in a view that p has not left."""
        for m in self.each(Message):
            update = self.content[m]
            if update is not None and update.answer == answer and update.view >= self.current_view[p]:
                if any(self.delivery_view[q][m] == update.view for q in self.each(Process)):
                    return True
        return False

    @witness
    def PerformedByTheNext(self) -> bool:
        """Witness: a request that one primary has executed in vain is executed and answered by the next."""
        return any(
            self.changes(a.counter, a.outcome)
            and any(r.client == a.client and r.counter == a.counter for r in self.performed[Process(1)])
            and not any(r.client == a.client and r.counter == a.counter for r in self.performed[Process(0)])
            for a in self.replies
        )

    @witness
    def IgnoredAndMadeAgain(self) -> bool:
        """Witness: an update was delivered after its view, and its request was performed all the same."""
        return any(
            self.is_late(p, m) and self.performed_later(p, m)
            for p in self.each(Process)
            for m in self.each(Message)
        )

    def is_late(self, p: Process, m: Message) -> bool:
        """Return True if p has delivered an update after the view in which it was executed."""
        update = self.content[m]
        return update is not None and self.delivery_view[p][m] > update.view

    def performed_later(self, p: Process, m: Message) -> bool:
        """Return True if p has performed the request of an update."""
        update = self.content[m]
        return update is not None and any(
            r.client == update.answer.client and r.counter == update.answer.counter for r in self.performed[p]
        )

    @witness
    def Forgotten(self) -> bool:
        """Witness: a client learns that it was forgotten."""
        return any(a.outcome == Outcome.forgotten for a in self.replies)


# A fault for each promise -------------------------------------------------------------------------------


@mutation("an update counts in whatever view it comes")
class CountsInAnyView(PrimaryBackupSessions):
    """Planted fault in primary-backup: an update counts in a later view, too. Breaks `AsOfItsState`."""

    def counts(self, p: Process, update: Update) -> bool:
        """Return True: every update counts."""
        return True


@mutation("who is not in the record is new")
class NoSessions(PrimaryBackupSessions):
    """Planted fault in primary-backup: a client without a record counts as a new one, and its request is
    executed. Breaks `PerformedOnce`.
    """

    def outcome(self, p: Process, request: Request) -> Outcome:
        """Return the outcome as if the client had not been forgotten."""
        return Outcome.answered


@mutation("the primary answers when it has executed")
class AnswersAtOnce(PrimaryBackupSessions):
    """Planted fault in primary-backup: the primary answers before the update is delivered. Breaks
    `AnsweredIsKept`.
    """

    @action
    def submit(self, p: Process, m: Message) -> None:
        """Broadcast an update, and answer."""
        super().submit(p, m)
        update = present(self.content[m])
        self.reply(p, update.answer)


class PrimaryBackupSessionsChecked(
    BoundedMachine, PrimaryBackupSessions, mutations=(CountsInAnyView, NoSessions, AnswersAtOnce)
):
    """Primary-backup with sessions, its group bounded."""
